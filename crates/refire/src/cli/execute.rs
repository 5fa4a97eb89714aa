//! `refire execute`: starts an execution, and waits for it if asked to.

use std::time::Duration;

use refire_client::model::{Accepted, Execution, ExecutionStatus};
use refire_client::{Client, Execute};
use refire_core::duration;

use super::executions::{failure_lines, left_undone, next_commands};
use crate::cli::prelude::*;

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
    #[command(flatten)]
    start: StartArgs,
    /// 1 (first) to 10 (last) [default: 5]
    #[arg(long, value_name = "N", value_parser = priority)]
    priority: Option<u8>,
    /// Start after this delay, e.g. 10s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    delay: Option<Duration>,
}

/// What can be said with everything that starts an execution.
#[derive(Debug, Args)]
pub(crate) struct StartArgs {
    /// The input: JSON, @file, or - for standard input [default: {}]
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// Wait this long for the result and show it, e.g. 30s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    pub(crate) wait: Option<Duration>,
    /// A key: repeating the command with the same key starts no second execution
    #[arg(long, value_name = "KEY")]
    pub(crate) idempotency_key: Option<String>,
}

impl StartArgs {
    /// The input, if one was given.
    pub(crate) fn input(&self) -> anyhow::Result<Option<String>> {
        let input = self.input.as_deref().map(input::read).transpose()?;
        Ok(input.map(|json| json.as_str().to_owned()))
    }
}

fn priority(text: &str) -> Result<u8, String> {
    let number = text.parse().ok().filter(|number| (1..=10).contains(number));
    number.ok_or_else(|| "must be from 1 to 10".to_owned())
}

/// Starts the execution.
pub(crate) async fn run(session: &Session, args: &ExecuteArgs) -> anyhow::Result<Outcome> {
    let input = args.start.input()?;
    let client = session.client()?;
    let execute = Execute {
        input,
        idempotency_key: args.start.idempotency_key.clone(),
        priority: args.priority,
        delay: args.delay.map(duration::format),
    };
    let accepted = client.execute(&args.workflow, &execute).await?;
    let id = &accepted.execution_id;
    started(session, &client, &accepted, args.start.wait, || {
        // Whoever starts it again would start a second one.
        let show = show_command(id);
        say!("{id} was accepted and keeps running on the server: {show}");
    })
    .await
}

/// Says what was started, or waits for its end and shows that; `lost` is called if the wait fails.
pub(crate) async fn started(
    session: &Session,
    client: &Client,
    accepted: &Accepted,
    wait: Option<Duration>,
    lost: impl FnOnce(),
) -> anyhow::Result<Outcome> {
    let id = &accepted.execution_id;
    if accepted.duplicate {
        say!("{id} was already started with this idempotency key");
    }
    if let Some(wait) = wait {
        // The id first: who interrupts the wait can still look at the execution.
        if !session.is_json() {
            say(id);
        }
        let ended = until_over(session, client, id, wait).await;
        return show_result(session, &ended.inspect_err(|_| lost())?);
    }
    session.answer(accepted, || id.clone())?;
    if !session.is_json() {
        let word = status(accepted.status.name());
        say!("{word}; see {}", show_command(id));
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
            say!("{}{}", status("completed"), took.unwrap_or_default());
            // A completed execution always has an output; JSON's null is one.
            let output = execution
                .output
                .as_ref()
                .map_or("null", |output| output.get());
            if execution.status == ExecutionStatus::Completed {
                print(&pretty(output))?;
            }
        }
        Outcome::NotInTime => say!(
            "{} after the wait; it keeps running: {}",
            status(execution.status.name()),
            command(&format!("refire executions show {id} --watch"))
        ),
        Outcome::Failed | Outcome::Refused | Outcome::Misused | Outcome::Filtered => {
            say(&ending(execution));
            if let Some(error) = &execution.error {
                say(failure_lines(error, "").trim_end());
            }
            for line in left_undone(execution) {
                say(&line);
            }
            let next = Screen::new("").next(&next_commands(execution));
            say(next.trim());
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
