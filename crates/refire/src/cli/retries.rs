//! `refire retries`: executions that did not succeed at once.

use clap::{Args, Subcommand};
use comfy_table::Cell;
use refire_client::query::{ExecutionQuery, Paging};

use super::moment::{relative, span};
use super::outcome::Outcome;
use super::output::{print, print_json, say};
use super::paint::status_cell;
use super::session::Session;
use super::table::{Grid, cell, maybe};

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
    query: ExecutionQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &RetriesCommand) -> anyhow::Result<Outcome> {
    let RetriesCommand::List(args) = command;
    let client = session.client()?;
    let page = client
        .retries(&args.query, &Paging::first(args.limit))
        .await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        say("no retries: no execution has been retried so far.");
        return Ok(Outcome::Done);
    }
    let heads = [
        "EXECUTION",
        "WORKFLOW",
        "STEP",
        "RETRIES",
        "STATUS",
        "NEXT",
        "TOTAL",
        "ERROR",
    ];
    let mut grid = Grid::new(&heads).right(3).right(6);
    for retried in &page.items {
        let next = retried
            .next_retry_at
            .as_deref()
            .map(|at| relative(at, session.now()));
        grid.row(vec![
            cell(&retried.execution_id),
            cell(&retried.workflow_id),
            maybe(retried.step_id.as_deref()),
            Cell::new(format!("{}/{}", retried.retry_count, retried.max_retries)),
            status_cell(retried.status.name()),
            cell(&next.unwrap_or_default()),
            cell(&span(retried.total_ms)),
            maybe(
                retried
                    .error_message
                    .as_deref()
                    .or(retried.error_type.as_deref()),
            ),
        ]);
    }
    print(&grid.lines(0))?;
    if page.next_cursor.is_some() {
        say("more exist: use --limit");
    }
    Ok(Outcome::Done)
}
