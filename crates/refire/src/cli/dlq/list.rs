//! `refire dlq list` and `summary`.

use refire_client::model::{DeadLetter, DeadLetterGroup, DeadLetterSummary};
use refire_client::query::{LetterQuery, Paging, Query};

use crate::cli::prelude::*;

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
    let nothing = async || Ok(nothing(&args.query).to_owned());
    session.list(&page, &COLUMNS, nothing).await
}

const COLUMNS: [Column<DeadLetter>; 7] = [
    text("DEAD LETTER", |letter, _| cell(&letter.id)),
    text("WORKFLOW", |letter, _| cell(&letter.workflow_id)),
    text("STEP", |letter, _| maybe(letter.step_id.as_ref())),
    text("STATUS", |letter, _| status_cell(letter.status.name())),
    text("FAILED", |letter, now| {
        cell(relative(&letter.failed_at, now))
    }),
    number("RETRIES", |letter, _| {
        cell(format!("{}/{}", letter.retry_count, letter.max_retries))
    }),
    text("ERROR", |letter, _| cell(&letter.error_message)),
];

const GROUPS: [Column<DeadLetterGroup>; 4] = [
    number("COUNT", |group, _| Cell::new(group.count)),
    text("WORKFLOW", |group, _| cell(&group.workflow_id)),
    text("ERROR", |group, _| cell(&group.error_type)),
    text("CODE", |group, _| {
        faint(group.error_code.as_deref().unwrap_or_default())
    }),
];

fn nothing(query: &LetterQuery) -> &'static str {
    if query.is_empty() {
        "no open dead letters"
    } else {
        "no matching dead letters. `refire dlq list` shows all open ones."
    }
}

/// Counts letters.
pub(super) async fn summary(session: &Session, args: &SummaryArgs) -> anyhow::Result<Outcome> {
    let query = asked(&args.query, session.now())?;
    let summary = session.client()?.dead_letter_summary(&query).await?;
    if summary.count == 0 && !session.is_json() {
        say(nothing(&args.query));
        return Ok(Outcome::Done);
    }
    session.answer(&summary, || overview(session, &summary))
}

fn overview(session: &Session, summary: &DeadLetterSummary) -> String {
    let now = session.now();
    let age = |at: Option<&String>| at.map_or_else(|| "?".to_owned(), |at| relative(at, now));
    let head = heading(&counted(summary.count, "dead letter"));
    let oldest = age(summary.oldest.as_ref());
    let newest = age(summary.newest.as_ref());
    let groups = table(&GROUPS, &summary.groups, now).lines(0);
    format!("{head}, oldest {oldest}, newest {newest}\n\n{groups}")
}
