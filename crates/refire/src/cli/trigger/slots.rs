//! `refire trigger next`, `slots` and `backfill`: planned times and what became of them.

use refire_client::model::{
    BackfillRequest, BackfilledSlot, LedgerEntry, PlannedSlot, SlotKind, SlotStatus,
};
use refire_client::query::{Paging, Query, SlotQuery};
use refire_client::{Client, Error, every};

use super::kind;
use super::local::clock;
use crate::cli::prelude::*;
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
  refire trigger slots trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --status skipped --from 7d")]
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
    let nothing = async || Ok("there are no more planned times".to_owned());
    session.list(&page, &PLANNED, nothing).await
}

const PLANNED: [Column<PlannedSlot>; 3] = [
    text("PLANNED", |slot, _| cell(clock(&slot.local))),
    text("", |slot, now| cell(relative(&slot.nominal, now))),
    optional("NOTE", |slot, _| cell(note(slot))),
];

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
    let mut query = args.query.clone();
    moments(&mut query.from, &mut query.to, session.now())?;
    let page = client.slots(id, &query, &paging).await?;
    if session.is_json() {
        return print_json(&page);
    }
    let later = run_later(&client, id, &page.items).await?;
    let explained = |entry: &LedgerEntry| (entry.clone(), reason(entry, &later));
    let explained = page.items.iter().map(explained).collect();
    let nothing = async || {
        let trigger = client.trigger(id).await?;
        Ok(kind::no_slots(&trigger, !args.query.is_empty()))
    };
    session.list(&page.with(explained), &LEDGER, nothing).await
}

/// An entry, and why it became what it is.
type Explained = (LedgerEntry, String);

const LEDGER: [Column<Explained>; 5] = [
    text("PLANNED", |(entry, _), _| {
        let first = clock(&entry.local);
        match entry.count {
            1 => cell(first),
            count => cell(format!("{first} to {} ({count})", clock(&entry.local_to))),
        }
    }),
    text("STATUS", |(entry, _), _| status_cell(entry.status.name())),
    text("REASON", |(_, reason), _| cell(reason)),
    text("AFTER", |(entry, _), _| {
        let is_watched = matches!(entry.status, SlotStatus::Overdue | SlotStatus::Recovered);
        let has_moment = entry.execution_id.is_some() || is_watched;
        let after = between(Some(&entry.nominal), Some(&entry.at)).filter(|_| has_moment);
        maybe(after.map(span))
    }),
    text("EXECUTION", |(entry, _), _| {
        maybe(entry.execution_id.as_ref())
    }),
];

const BACKFILLED: [Column<BackfilledSlot>; 2] = [
    text("PLANNED", |slot, _| cell(clock(&slot.nominal))),
    text("EXECUTION", |slot, _| maybe(slot.execution_id.as_ref())),
];

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
        ..SlotQuery::default()
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
        return Ok(Outcome::Refused.unless(result.error.is_none()));
    }
    if let Some(first) = &result.ledger_from {
        say!(
            "times skipped before {} are no longer completely known; use --all to run every planned time",
            clock(first)
        );
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
    print(&table(&BACKFILLED, &result.slots, now).lines(0))?;
    match args.dry_run {
        true => say!("{} would run; nothing was started", result.count),
        false => say!("{} started", result.count),
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
        let entries = [(entry(SlotStatus::Overdue, None, 10, 10), String::new())];
        let text = table(&LEDGER, &entries, Timestamp::from_micros(0)).lines(0);
        let text = anstream::adapter::strip_str(&text).to_string();
        let row = text.lines().last().unwrap();
        assert!(row.ends_with("overdue          5m"), "{text}");
    }
}
