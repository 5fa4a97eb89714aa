//! `refire retries`: executions that did not succeed at once.

use refire_client::model::RetriedExecution;
use refire_client::query::{Paging, RetriedQuery};

use crate::cli::prelude::*;

/// Commands about retries.
#[derive(Debug, Subcommand)]
pub(crate) enum RetriesCommand {
    /// List executions that were retried, newest first
    List(ListArgs),
}

/// Options of `retries list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire retries list
  refire retries list --workflow ship_order --limit 5")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: RetriedQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

const COLUMNS: [Column<RetriedExecution>; 8] = [
    text("EXECUTION", |one, _| cell(&one.execution_id)),
    text("WORKFLOW", |one, _| cell(&one.workflow_id)),
    text("STEP", |one, _| maybe(one.step_id.as_ref())),
    number("RETRIES", |one, _| {
        cell(format!("{}/{}", one.retry_count, one.max_retries))
    }),
    text("STATUS", |one, _| status_cell(one.status.name())),
    text("NEXT", |one, now| {
        maybe(one.next_retry_at.as_ref().map(|at| relative(at, now)))
    }),
    number("TOTAL", |one, _| cell(span(one.total_ms))),
    text("ERROR", |one, _| {
        maybe(one.error_message.as_ref().or(one.error_type.as_ref()))
    }),
];

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &RetriesCommand) -> anyhow::Result<Outcome> {
    let RetriesCommand::List(args) = command;
    let paging = Paging::first(args.limit);
    let page = session.client()?.retries(&args.query, &paging).await?;
    let nothing = "no retries: no execution has been retried so far.";
    session
        .list(&page, &COLUMNS, async || Ok(nothing.to_owned()))
        .await
}
