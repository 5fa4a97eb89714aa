//! `refire dlq retry`: another try for an execution that failed for good.

use std::time::Duration;

use clap::{Args, ValueEnum};
use refire_client::Client;
use refire_client::model::{Raw, RetryLetter};
use refire_core::duration;

use crate::cli::execute::show_result;
use crate::cli::prelude::*;
use crate::cli::{editor, ids, input};

/// What surprises people who know the workflow's policy.
const NO_RETRIES: &str = "this retry is made once: the workflow's automatic retries do not apply";

/// Options of `dlq retry`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq retry dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --wait 30s
  refire dlq retry dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --from failed-step
  refire dlq retry dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --input '{\"customer_id\": 43}'
  EDITOR=nano refire dlq retry dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --edit

The new execution is made once: the workflow's automatic retries do not apply. If it succeeds, the dead letter is resolved; if not, it
is pending again.")]
pub(crate) struct RetryArgs {
    /// The dead letter (dlq_…)
    id: String,
    /// Another input: JSON, @file, or - for standard input [default: the original input]
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// Edit the input in $EDITOR first
    #[arg(long, conflicts_with = "input")]
    edit: bool,
    /// Where to start [default: start]
    #[arg(long, value_enum)]
    from: Option<From>,
    /// Wait this long for the result and show it, e.g. 30s
    #[arg(long, value_name = "DURATION", value_parser = duration::parse, allow_hyphen_values = true)]
    wait: Option<Duration>,
}

/// Where a retry begins.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum From {
    /// At the first step, with the newest definition
    Start,
    /// At the step that failed, with the original definition; completed steps are kept
    #[value(alias = "failed_step")]
    FailedStep,
}

/// Retries the letter.
pub(super) async fn run(session: &Session, args: &RetryArgs) -> anyhow::Result<Outcome> {
    let letter = ids::letter(&args.id)?;
    let client = session.client()?;
    let input = match &args.input {
        Some(argument) => Some(input::raw(&input::read(argument)?)?),
        None if args.edit => match edited(&client, letter).await? {
            Some(input) => Some(input),
            None => {
                say(
                    "the input was not changed, so nothing was retried; to retry with the \
                     original input, leave out --edit",
                );
                return Ok(Outcome::Refused);
            }
        },
        None => None,
    };
    let retry = RetryLetter {
        input,
        from: args.from.map(|from| match from {
            From::Start => "start".to_owned(),
            From::FailedStep => "failed_step".to_owned(),
        }),
        version: None,
    };
    let retried = client.retry_dead_letter(letter, &retry).await?;
    let id = &retried.execution_id;
    if let Some(wait) = args.wait {
        if !session.is_json() {
            say(id);
            say(NO_RETRIES);
        }
        let execution = until_over(session, &client, id, wait).await?;
        return show_result(session, &execution);
    }
    session.answer(&retried, || id.clone())?;
    if !session.is_json() {
        let show = command(&format!("refire executions show {id} --watch"));
        say(NO_RETRIES);
        say!("see {show}");
    }
    Ok(Outcome::Done)
}

async fn edited(client: &Client, id: &str) -> anyhow::Result<Option<Raw>> {
    let letter = client.dead_letter(id).await?.entry;
    editor::edit(&letter.id, letter.input_data.get())?
        .map(|json| input::raw(&json))
        .transpose()
}
