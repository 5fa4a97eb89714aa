//! `refire dlq list` and `summary`.

use clap::Args;
use comfy_table::Cell;
use refire_client::model::{DeadLetter, DeadLetterSummary};
use refire_client::query::{LetterQuery, Paging, Query};
use refire_core::time::Timestamp;

use crate::cli::moment::relative;
use crate::cli::outcome::{Outcome, Usage};
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{heading, status_cell};
use crate::cli::session::Session;
use crate::cli::table::{Grid, cell, faint, maybe};
use crate::cli::when::moments;

/// Options of `dlq list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq list
  refire dlq list --workflow ship_order --error-type http_status --from 24h
  refire dlq list --status resolved --limit 5 --format json | jq -r '.items[].id'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: LetterQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `dlq summary`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq summary
  refire dlq summary --from 7d --format json")]
pub(crate) struct SummaryArgs {
    #[command(flatten)]
    query: LetterQuery,
}

/// The query with its times worked out.
fn asked(query: &LetterQuery, now: Timestamp) -> Result<LetterQuery, Usage> {
    let mut query = query.clone();
    moments(&mut query.from, &mut query.to, now)?;
    Ok(query)
}

/// Lists letters.
pub(super) async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let query = asked(&args.query, session.now())?;
    let paging = Paging::first(args.limit);
    let page = session.client()?.dead_letters(&query, &paging).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        say(nothing(&args.query));
        return Ok(Outcome::Done);
    }
    print(&rows(session, &page.items))?;
    if page.next_cursor.is_some() {
        say("more exist: use --limit");
    }
    Ok(Outcome::Done)
}

fn nothing(query: &LetterQuery) -> &'static str {
    if query.is_empty() {
        "no open dead letters"
    } else {
        "no matching dead letters. `refire dlq list` shows all open ones."
    }
}

fn rows(session: &Session, letters: &[DeadLetter]) -> String {
    let heads = [
        "DEAD LETTER",
        "WORKFLOW",
        "STEP",
        "STATUS",
        "FAILED",
        "RETRIES",
        "ERROR",
    ];
    let mut grid = Grid::new(&heads).right(5);
    for letter in letters {
        grid.row(vec![
            cell(&letter.id),
            cell(&letter.workflow_id),
            maybe(letter.step_id.as_deref()),
            status_cell(letter.status.name()),
            cell(&relative(&letter.failed_at, session.now())),
            Cell::new(format!("{}/{}", letter.retry_count, letter.max_retries)),
            cell(&letter.error_message),
        ]);
    }
    grid.lines(0)
}

/// Counts letters.
pub(super) async fn summary(session: &Session, args: &SummaryArgs) -> anyhow::Result<Outcome> {
    let query = asked(&args.query, session.now())?;
    let summary = session.client()?.dead_letter_summary(&query).await?;
    if session.is_json() {
        print_json(&summary)?;
    } else if summary.count == 0 {
        say(nothing(&args.query));
    } else {
        print(&overview(session, &summary))?;
    }
    Ok(Outcome::Done)
}

fn overview(session: &Session, summary: &DeadLetterSummary) -> String {
    let now = session.now();
    let age = |at: Option<&String>| at.map_or_else(|| "?".to_owned(), |at| relative(at, now));
    let letters = if summary.count == 1 {
        "dead letter"
    } else {
        "dead letters"
    };
    let head = heading(&format!("{} {letters}", summary.count));
    let oldest = age(summary.oldest.as_ref());
    let newest = age(summary.newest.as_ref());
    let mut grid = Grid::new(&["COUNT", "WORKFLOW", "ERROR", "CODE"]).right(0);
    for group in &summary.groups {
        grid.row(vec![
            Cell::new(group.count),
            cell(&group.workflow_id),
            cell(&group.error_type),
            faint(group.error_code.as_deref().unwrap_or_default()),
        ]);
    }
    format!(
        "{head}, oldest {oldest}, newest {newest}\n\n{}",
        grid.lines(0)
    )
}
