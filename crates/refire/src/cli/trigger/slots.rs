//! `refire trigger next`, `slots` and `backfill`: planned times and what became of them.

use clap::Args;
use refire_client::model::{
    BackfillRequest, BackfillResult, LedgerEntry, PlannedSlot, SlotKind, SlotStatus,
};
use refire_client::query::{Paging, Query, SlotQuery};
use refire_client::{Client, Error, every};
use refire_core::time::Timestamp;

use super::kind;
use super::local::clock;
use crate::cli::ids;
use crate::cli::moment::{between, relative, span};
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::status_cell;
use crate::cli::session::Session;
use crate::cli::table::{Grid, cell, maybe};
use crate::cli::when::moment;
use crate::codes;

/// Options of `trigger next`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger next trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger next trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --count 20 --format json | jq -r '.items[].local'")]
pub(crate) struct NextArgs {
    /// The trigger (trg_…)
    id: String,
    /// How many to show
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
    #[command(flatten)]
    query: SlotQuery,
    /// How many to show
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
    /// The start of the time range: a time (2026-11-15T09:30:00Z), a day (from 0:00 UTC), or how long
    /// ago (24h)
    #[arg(long, value_name = "TIME")]
    from: String,
    /// The end of the time range [default: now]
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Also run planned times that were started already
    #[arg(long)]
    all: bool,
    /// Only show what would run
    #[arg(long)]
    dry_run: bool,
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
        say("there are no more planned times");
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
    let moved = match slot.kind {
        SlotKind::Moved => Some("the local time does not exist on that day".to_owned()),
        SlotKind::Repeated => Some("second occurrence of that hour".to_owned()),
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
    let client = session.client()?;
    let paging = Paging::first(args.limit);
    let page = client.slots(id, &args.query, &paging).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        let trigger = client.trigger(id).await?;
        say(&kind::no_slots(&trigger, !args.query.is_empty()));
        return Ok(Outcome::Done);
    }
    let later = run_later(&client, id, &page.items).await?;
    print(&ledger(&page.items, &later))?;
    if page.next_cursor.is_some() {
        say("more exist: use --limit");
    }
    Ok(Outcome::Done)
}

/// The planned times that a person has run since, if some were skipped.
async fn run_later(
    client: &Client,
    id: &str,
    entries: &[LedgerEntry],
) -> anyhow::Result<Vec<Timestamp>> {
    if !entries.iter().any(is_skipped) {
        return Ok(Vec::new());
    }
    let query = SlotQuery {
        status: vec![SlotStatus::Late],
    };
    let late = every(async |paging| client.slots(id, &query, paging).await).await?;
    let run = late.items.iter().filter(|entry| is_backfill(entry));
    Ok(run.filter_map(|entry| entry.nominal.parse().ok()).collect())
}

fn is_skipped(entry: &LedgerEntry) -> bool {
    entry.status == SlotStatus::Skipped
}

fn is_backfill(entry: &LedgerEntry) -> bool {
    entry.reason.as_deref() == Some("backfill")
}

/// Why it became that, and how much of a skipped stretch a person has run since.
fn reason(entry: &LedgerEntry, later: &[Timestamp]) -> String {
    let reason = entry.reason.clone().unwrap_or_default();
    let time = |text: &str| text.parse::<Timestamp>();
    let (Ok(first), Ok(last)) = (time(&entry.nominal), time(&entry.to)) else {
        return reason;
    };
    let mut run: Vec<&Timestamp> = later
        .iter()
        .filter(|at| (first..=last).contains(*at))
        .collect();
    run.sort_unstable();
    run.dedup();
    match run.len() {
        count if count > 0 && is_skipped(entry) => format!("{reason}, {count} run later"),
        _ => reason,
    }
}

fn ledger(entries: &[LedgerEntry], later: &[Timestamp]) -> String {
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
        let is_watched = matches!(entry.status, SlotStatus::Overdue | SlotStatus::Recovered);
        let has_moment = entry.execution_id.is_some() || is_watched;
        let after = between(Some(&entry.nominal), Some(&entry.at)).filter(|_| has_moment);
        grid.row(vec![
            cell(&planned),
            status_cell(entry.status.name()),
            cell(&reason(entry, later)),
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
    let result = session.client()?.backfill(id, &request).await;
    let result = result.map_err(|error| paused(id, error))?;
    if session.is_json() {
        print_json(&result)?;
        return Ok(match result.error {
            Some(_) => Outcome::Refused,
            None => Outcome::Done,
        });
    }
    if let Some(first) = &result.ledger_from {
        say(&format!(
            "times skipped before {} are no longer completely known; use --all to run every planned time",
            clock(first)
        ));
    }
    if result.count == 0 {
        say(match args.all {
            true => "nothing was planned in that time",
            false => {
                "nothing was missed in that time; use --all to run times that were already started"
            }
        });
        return Ok(Outcome::Done);
    }
    print(&backfilled(&result))?;
    if args.dry_run {
        say(&format!("{} would run; nothing was started", result.count));
    } else {
        say(&format!("{} started", result.count));
    }
    if let Some(error) = result.error {
        anyhow::bail!("the rest was not started: {error}");
    }
    Ok(Outcome::Done)
}

/// The same with what to do, if the trigger is paused.
fn paused(id: &str, error: Error) -> Error {
    match error {
        Error::Problem(mut problem) if problem.code == codes::TRIGGER_DISABLED.code => {
            let enable = format!("; resume it first: refire trigger enable {id}");
            problem.detail.push_str(&enable);
            Error::Problem(problem)
        }
        other => other,
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(status: SlotStatus, reason: Option<&str>, from: u32, to: u32) -> LedgerEntry {
        let at = |minute: u32| format!("2026-11-16T12:{minute:02}:00.000000Z");
        LedgerEntry {
            nominal: at(from),
            to: at(to),
            count: u64::from(to - from) + 1,
            status,
            reason: reason.map(str::to_owned),
            execution_id: None,
            at: at(to + 5),
            local: at(from),
            local_to: at(to),
        }
    }

    #[test]
    fn a_stretch_says_how_much_of_it_was_run_later() {
        let run: Vec<Timestamp> = ["11", "12", "12", "30"]
            .iter()
            .map(|minute| format!("2026-11-16T12:{minute}:00Z").parse().unwrap())
            .collect();
        let skipped = entry(SlotStatus::Skipped, Some("missed"), 10, 20);
        assert_eq!(reason(&skipped, &run), "missed, 2 run later");
        assert_eq!(reason(&skipped, &[]), "missed");
        let backfilled = entry(SlotStatus::Late, Some("backfill"), 11, 11);
        assert_eq!(reason(&backfilled, &run), "backfill");
    }

    #[test]
    fn a_missing_success_says_how_late_it_was_noticed() {
        let text = ledger(&[entry(SlotStatus::Overdue, None, 10, 10)], &[]);
        let text = anstream::adapter::strip_str(&text).to_string();
        let row = text.lines().last().unwrap();
        assert!(row.ends_with("overdue          5m"), "{text}");
    }
}
