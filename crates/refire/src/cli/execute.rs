//! `refire execute`: starts an execution, and waits for it if asked to.

use std::time::Duration;

use clap::Args;
use refire_client::Execute;
use refire_client::model::{Execution, ExecutionStatus};
use refire_core::duration;

use super::executions::{failure_lines, left_undone, next_commands};
use super::input;
use super::moment::span;
use super::outcome::Outcome;
use super::output::{print, print_json, say};
use super::paint::{command, status};
use super::pretty::pretty;
use super::session::Session;
use super::wait::until_over;

/// Options of `refire execute`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire execute customer_360_view --input '{\"customer_id\": 42}'
  refire execute customer_360_view --input @order.json --wait 30s
  jq .order event.json | refire execute ship_order --input - --idempotency-key order-1001")]
pub(crate) struct ExecuteArgs {
    /// The workflow's id
    workflow: String,
    /// The input: JSON, @file, or - for standard input [default: {}]
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// Wait this long for the result and show it, e.g. 30s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    wait: Option<Duration>,
    /// A key: repeating the command with the same key starts no second execution
    #[arg(long, value_name = "KEY")]
    idempotency_key: Option<String>,
    /// 1 (first) to 10 (last) [default: 5]
    #[arg(long, value_name = "N", value_parser = priority)]
    priority: Option<u8>,
    /// Start after this delay, e.g. 10s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    delay: Option<Duration>,
}

fn priority(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|number| (1..=10).contains(number));
    number.ok_or_else(|| "must be from 1 to 10".to_owned())
}

/// Starts the execution.
pub(crate) async fn run(session: &Session, args: &ExecuteArgs) -> anyhow::Result<Outcome> {
    let input = args.input.as_deref().map(input::read).transpose()?;
    let client = session.client()?;
    let execute = Execute {
        input: input.map(|json| json.as_str().to_owned()),
        idempotency_key: args.idempotency_key.clone(),
        priority: args.priority,
        delay: args.delay.map(duration::format),
    };
    let accepted = client.execute(&args.workflow, &execute).await?;
    let id = accepted.execution_id.clone();
    if accepted.duplicate {
        say(&format!(
            "{id} was already started with this idempotency key"
        ));
    }
    if let Some(wait) = args.wait {
        // The id first: who interrupts the wait can still look at the execution.
        if !session.is_json() {
            say(&id);
        }
        let execution = until_over(session, &client, &id, wait)
            .await
            .inspect_err(|_| {
                // Whoever starts it again would start a second one.
                let show = show_command(&id);
                say(&format!(
                    "{id} was accepted and keeps running on the server: {show}"
                ));
            })?;
        return show_result(session, &execution);
    }
    if session.is_json() {
        print_json(&accepted)?;
    } else {
        print(&id)?;
        say(&format!(
            "{}; see {}",
            status(accepted.status.name()),
            show_command(&id)
        ));
    }
    Ok(Outcome::Done)
}

/// The output of a completed execution is the data; everything else is talk.
pub(crate) fn show_result(session: &Session, execution: &Execution) -> anyhow::Result<Outcome> {
    let id = &execution.execution_id;
    let ended = execution.status.is_over();
    let outcome = if ended {
        Outcome::of_status(execution.status)
    } else {
        Outcome::NotInTime
    };
    if session.is_json() {
        print_json(execution)?;
        return Ok(outcome);
    }
    match outcome {
        Outcome::Done => {
            let took = execution.duration_ms.map(|ms| format!(" in {}", span(ms)));
            say(&format!(
                "{}{}",
                status("completed"),
                took.unwrap_or_default()
            ));
            // A completed execution always has an output; JSON's null is one.
            let output = execution
                .output
                .as_ref()
                .map_or("null", |output| output.get());
            if execution.status == ExecutionStatus::Completed {
                print(&pretty(output))?;
            }
        }
        Outcome::NotInTime => say(&format!(
            "{} after the wait; it keeps running: {}",
            status(execution.status.name()),
            command(&format!("refire executions show {id} --watch"))
        )),
        Outcome::Failed | Outcome::Refused | Outcome::Misused | Outcome::Filtered => {
            say(&ending(execution));
            if let Some(error) = &execution.error {
                say(failure_lines(error, "").trim_end());
            }
            for line in left_undone(execution) {
                say(&line);
            }
            say(next_commands(execution).trim_end());
        }
    }
    Ok(outcome)
}

/// How it ended badly, in a line.
fn ending(execution: &Execution) -> String {
    match &execution.dlq_entry_id {
        Some(letter) => format!("{}; saved as dead letter {letter}", status("failed")),
        None => status(execution.status.name()),
    }
}

fn show_command(id: &str) -> String {
    command(&format!("refire executions show {id}"))
}
