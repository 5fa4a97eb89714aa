//! `refire dlq retry`: another try for an execution that failed for good, or for many.

use std::time::Duration;

use clap::{Args, ValueEnum};
use refire_client::Client;
use refire_client::model::{BulkDeadLetters, Raw, RetryLetter};
use refire_core::duration;

use super::which_letters;
use crate::cli::bulk::follow::{self, Wish};
use crate::cli::bulk::which::{How, Which};
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
  refire dlq retry --workflow ship_order --error-type http_status --dry-run
  refire dlq retry --workflow ship_order --since 24h --rate 20 --transform '{\"merge\": {\"carrier\": \"dhl\"}}'

The new execution is made once: the workflow's automatic retries do not apply, except with --with-retries. If it succeeds, the dead
letter is resolved; if not, it is pending again. Several ids, or options that say which, make a bulk job.")]
pub(crate) struct RetryArgs {
    /// The dead letter (dlq_…), or several
    #[arg(value_name = "ID")]
    id: Vec<String>,
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
    /// Let the workflow's automatic retries apply
    #[arg(long)]
    with_retries: bool,
    #[command(flatten)]
    which: Which,
    /// How each input changes: {"merge": …} or {"template": …}, as JSON, @file, or - for standard input
    #[arg(
        long,
        value_name = "JSON|@FILE|-",
        allow_hyphen_values = true,
        help_heading = "Many at once"
    )]
    transform: Option<String>,
    #[command(flatten)]
    how: How,
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

impl From {
    fn name(self) -> String {
        match self {
            Self::Start => "start".to_owned(),
            Self::FailedStep => "failed_step".to_owned(),
        }
    }
}

/// Retries the letter, or many.
pub(super) async fn run(session: &Session, args: &RetryArgs) -> anyhow::Result<Outcome> {
    let is_plain = args.which.is_empty() && args.transform.is_none() && !args.how.dry_run;
    match args.id.as_slice() {
        [id] if is_plain => one(session, args, id).await,
        _ => many(session, args).await,
    }
}

async fn many(session: &Session, args: &RetryArgs) -> anyhow::Result<Outcome> {
    if args.input.is_some() || args.edit || args.wait.is_some() {
        let message = "--input, --edit and --wait are for one dead letter; for many, --transform \
                       changes the inputs";
        return Err(Usage(message.to_owned()).into());
    }
    let transform = match &args.transform {
        Some(argument) => Some(input::raw(&input::read(argument)?)?),
        None => None,
    };
    let wish = BulkDeadLetters {
        transform,
        from: args.from.map(From::name),
        retries: args.with_retries.then_some(true),
        ..which_letters(session, "retry", &args.id, &args.which)?
    };
    let wish = Wish::Letters(Box::new(wish));
    follow::run(session, wish, &args.how, "Retry").await
}

async fn one(session: &Session, args: &RetryArgs, id: &str) -> anyhow::Result<Outcome> {
    let letter = ids::letter(id)?;
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
        from: args.from.map(From::name),
        version: None,
        retries: args.with_retries.then_some(true),
    };
    let retried = client.retry_dead_letter(letter, &retry).await?;
    let id = &retried.execution_id;
    if let Some(wait) = args.wait {
        if !session.is_json() {
            say(id);
            say_once(args);
        }
        let execution = until_over(session, &client, id, wait).await?;
        return show_result(session, &execution);
    }
    session.answer(&retried, || id.clone())?;
    if !session.is_json() {
        let show = command(&format!("refire executions show {id} --watch"));
        say_once(args);
        say!("see {show}");
    }
    Ok(Outcome::Done)
}

fn say_once(args: &RetryArgs) {
    if !args.with_retries {
        say(NO_RETRIES);
    }
}

async fn edited(client: &Client, id: &str) -> anyhow::Result<Option<Raw>> {
    let letter = client.dead_letter(id).await?.entry;
    editor::edit(&letter.id, letter.input_data.get())?
        .map(|json| input::raw(&json))
        .transpose()
}
