//! `refire trigger next`, `slots`, `backfill` and `history`: planned times and what became of them.

use clap::Args;
use comfy_table::Cell;
use refire_client::model::{
    BackfillRequest, BackfillResult, CronHistory, LedgerEntry, PlannedSlot,
};
use refire_core::time::Timestamp;

use super::local::{clock, clock_and_distance};
use crate::cli::ids;
use crate::cli::moment::{between, relative, span};
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{command, heading, status_cell};
use crate::cli::session::Session;
use crate::cli::table::{Grid, cell, maybe};
use crate::cli::when::moment;

const STATUSES: [&str; 5] = ["fired", "late", "skipped", "overdue", "recovered"];

/// Options of `trigger next`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger next trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger next trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --count 20 --format json | jq -r '.items[].local'")]
pub(crate) struct NextArgs {
    /// The trigger (trg_…)
    id: String,
    /// How many
    #[arg(long, short = 'n', value_name = "N", default_value_t = 5)]
    count: u32,
}

/// Options of `trigger slots`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger slots trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger slots trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --status skipped --limit 10")]
pub(crate) struct SlotsArgs {
    /// The trigger (trg_…)
    id: String,
    /// Only these
    #[arg(long, value_parser = STATUSES)]
    status: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `trigger backfill`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger backfill trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --from 24h --dry-run
  refire trigger backfill trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --from 2026-11-15T00:00:00Z --to 2026-11-16
  refire trigger backfill trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --from 2026-11-01 --to 2026-11-08 --all")]
pub(crate) struct BackfillArgs {
    /// The trigger (trg_…)
    id: String,
    /// From then on: a time such as 2026-11-15T09:30:00Z, a day (from 0:00 UTC), or how long ago
    #[arg(long, value_name = "TIME")]
    from: String,
    /// Up to then [default: now]
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Also what was started already
    #[arg(long)]
    all: bool,
    /// Only show what would be run
    #[arg(long)]
    dry_run: bool,
}

/// Options of `trigger history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger history report
  refire trigger history report --trigger trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --limit 10")]
pub(crate) struct HistoryArgs {
    /// The workflow's id
    workflow: String,
    /// Of this trigger (trg_…) [default: the workflow's oldest cron trigger]
    #[arg(long, value_name = "ID")]
    trigger: Option<String>,
    /// How many
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// The next planned times.
pub(super) async fn next(session: &Session, args: &NextArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let page = session.client()?.next_slots(id, args.count).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        say("no planned time will come any more");
        return Ok(Outcome::Done);
    }
    print(&planned(&page.items, session.now()))?;
    Ok(Outcome::Done)
}

fn planned(slots: &[PlannedSlot], now: Timestamp) -> String {
    let notes: Vec<String> = slots.iter().map(note).collect();
    let has_notes = notes.iter().any(|note| !note.is_empty());
    let heads = ["PLANNED", "", "NOTE"];
    let mut grid = Grid::new(if has_notes { &heads } else { &heads[..2] });
    for (slot, note) in slots.iter().zip(&notes) {
        let mut row = vec![
            cell(&clock(&slot.local)),
            cell(&relative(&slot.nominal, now)),
        ];
        if has_notes {
            row.push(cell(note));
        }
        grid.row(row);
    }
    grid.lines(0)
}

/// What the clock or the jitter does to a planned time.
fn note(slot: &PlannedSlot) -> String {
    let moved = match slot.kind.as_str() {
        "moved" => Some("the local time does not exist on that day".to_owned()),
        "repeated" => Some("the second time that hour comes".to_owned()),
        _ => None,
    };
    let delay = between(Some(&slot.nominal), Some(&slot.at)).filter(|ms| *ms > 0);
    let jitter = delay.map(|ms| format!("starts {} later", span(ms)));
    let notes: Vec<String> = moved.into_iter().chain(jitter).collect();
    notes.join("; ")
}

/// The ledger.
pub(super) async fn slots(session: &Session, args: &SlotsArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let status = args.status.as_deref();
    let client = session.client()?;
    let page = client.slots(id, status, Some(args.limit), None).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        say(match status {
            Some(_) => "none of its planned times became that",
            None => "no planned time has come yet; `refire trigger next` shows when one will",
        });
        return Ok(Outcome::Done);
    }
    print(&ledger(&page.items))?;
    if page.next_cursor.is_some() {
        say("there are more: use --limit");
    }
    Ok(Outcome::Done)
}

fn ledger(entries: &[LedgerEntry]) -> String {
    let heads = ["PLANNED", "STATUS", "REASON", "AFTER", "EXECUTION"];
    let mut grid = Grid::new(&heads);
    for entry in entries {
        let planned = match entry.count {
            1 => clock(&entry.local),
            count => format!(
                "{} to {} ({count})",
                clock(&entry.local),
                clock(&entry.local_to)
            ),
        };
        let is_started = entry.execution_id.is_some();
        let after = between(Some(&entry.nominal), Some(&entry.at)).filter(|_| is_started);
        grid.row(vec![
            cell(&planned),
            status_cell(&entry.status),
            maybe(entry.reason.as_deref()),
            maybe(after.map(span).as_deref()),
            maybe(entry.execution_id.as_deref()),
        ]);
    }
    grid.lines(0)
}

/// Runs planned times of the past.
pub(super) async fn backfill(session: &Session, args: &BackfillArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let now = session.now();
    let to = args.to.as_deref().map(|text| moment("--to", text, now));
    let request = BackfillRequest {
        from: moment("--from", &args.from, now)?,
        to: to.transpose()?.unwrap_or_else(|| now.to_string()),
        only_missed: Some(!args.all),
        dry_run: args.dry_run,
    };
    let result = session.client()?.backfill(id, &request).await?;
    if session.is_json() {
        print_json(&result)?;
        return Ok(match result.error {
            Some(_) => Outcome::Refused,
            None => Outcome::Done,
        });
    }
    if let Some(first) = &result.ledger_from {
        say(&format!(
            "what was skipped before {} is not all known any more; --all runs every planned time",
            clock(first)
        ));
    }
    if result.count == 0 {
        say(match args.all {
            true => "nothing was planned in that time",
            false => "nothing was missed in that time; --all also runs what was started already",
        });
        return Ok(Outcome::Done);
    }
    print(&backfilled(&result))?;
    if args.dry_run {
        say(&format!("{} would be run; nothing was", result.count));
    } else {
        say(&format!("{} started", result.count));
    }
    if let Some(error) = result.error {
        anyhow::bail!("the rest was not started: {error}");
    }
    Ok(Outcome::Done)
}

fn backfilled(result: &BackfillResult) -> String {
    let mut grid = Grid::new(&["PLANNED", "EXECUTION"]);
    for slot in &result.slots {
        grid.row(vec![
            cell(&clock(&slot.nominal)),
            maybe(slot.execution_id.as_deref()),
        ]);
    }
    grid.lines(0)
}

/// What a cron trigger started.
pub(super) async fn history(session: &Session, args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let trigger = args.trigger.as_deref().map(ids::trigger).transpose()?;
    let client = session.client()?;
    let history = client
        .cron_history(&args.workflow, trigger, Some(args.limit))
        .await?;
    if session.is_json() {
        print_json(&history)?;
        return Ok(Outcome::Done);
    }
    let timing = history.cron_expression.as_deref().unwrap_or("schedule");
    let paused = if history.enabled { "" } else { ", paused" };
    let head = format!("{} ({}){paused}", timing, history.timezone);
    if history.history.is_empty() {
        say(&format!("{head}: nothing was started yet"));
    } else {
        print(&format!("{}\n\n{}", heading(&head), runs(&history)))?;
    }
    if let Some(next) = &history.next_execution {
        say(&format!(
            "next  {}",
            clock_and_distance(next, session.now())
        ));
    }
    if history.history.iter().any(|run| run.status == "dlq") {
        let list = command(&format!("refire dlq list --workflow {}", args.workflow));
        say(&format!("failed ones are kept: {list}"));
    }
    Ok(Outcome::Done)
}

fn runs(history: &CronHistory) -> String {
    let heads = ["SCHEDULED", "STATUS", "TOOK", "EXECUTION", "RESULT"];
    let mut grid = Grid::new(&heads).right(2);
    for run in &history.history {
        grid.row(vec![
            cell(&clock(&run.scheduled_at)),
            status_cell(&run.status),
            Cell::new(run.duration_ms.map(span).unwrap_or_default()),
            cell(&run.execution_id),
            maybe(run.result.as_deref()),
        ]);
    }
    grid.lines(0)
}
