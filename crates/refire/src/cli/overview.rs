//! `refire overview`: how much happened, how much is open, what is wrong, and what fires next.

use refire_client::model::{Overview, Page, TroubleEntry, TroubleList, UpcomingFire};
use serde::Serialize;

use crate::cli::archive::size;
use crate::cli::prelude::*;
use crate::cli::trigger::upcoming;

/// Triggers whose next planned time is shown.
const UPCOMING_SHOWN: u32 = 5;

/// Options of `refire overview`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire overview
  refire overview --range 7d
  refire overview --format json | jq -r '.trouble.items[].text'")]
pub(crate) struct OverviewArgs {
    /// How far back to look: 15m, 24h, 7d; at most 30d
    #[arg(long, value_name = "DURATION", default_value = "24h")]
    range: String,
}

/// All of it, for programs.
#[derive(Debug, Serialize)]
struct Everything {
    overview: Overview,
    trouble: TroubleList,
    upcoming: Page<UpcomingFire>,
}

/// Shows it.
pub(crate) async fn run(session: &Session, args: &OverviewArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let all = Everything {
        overview: client.overview(&args.range).await?,
        trouble: client.trouble().await?,
        upcoming: client.upcoming(UPCOMING_SHOWN).await?,
    };
    session.answer(&all, || screen(session, &all))
}

fn screen(session: &Session, all: &Everything) -> String {
    let now = session.now();
    let overview = &all.overview;
    let open = &overview.open;
    let facts = [
        ("executions", Some(executions(overview))),
        ("success", overview.success_rate.map(percent)),
        ("recovered", overview.retry_recovery.map(percent)),
        (
            "open",
            Some(format!(
                "{} running, {} retrying, {} waiting, {} paused, {} pending",
                open.running, open.retrying, open.waiting, open.paused, open.pending
            )),
        ),
        ("dead letters", Some(letters(overview))),
        (
            "triggers",
            Some(format!(
                "{} enabled, {} overdue",
                overview.triggers.enabled, overview.triggers.overdue
            )),
        ),
        (
            "workers",
            Some(format!(
                "{} active, {} idle, {} dead",
                overview.workers.active, overview.workers.idle, overview.workers.dead
            )),
        ),
        (
            "tasks",
            Some(format!(
                "{} pending, {} locked",
                overview.tasks.pending, overview.tasks.locked
            )),
        ),
        ("nodes", Some(format!("{} alive", overview.nodes.alive))),
        (
            "alerts",
            Some(format!(
                "{} firing, {} pending",
                overview.alerts.firing, overview.alerts.pending
            )),
        ),
        ("database", database(overview)),
    ];
    let head = heading(&format!("The last {}", clean(&overview.range)));
    let trouble = match all.trouble.items.as_slice() {
        [] => format!("  {}\n", good("nothing is wrong")),
        items => table(&TROUBLE, items, now).lines(2),
    };
    let upcoming = match all.upcoming.items.as_slice() {
        [] => String::new(),
        items => table(&upcoming::COLUMNS, items, now).lines(2),
    };
    Screen::new(format!("{head}\n"))
        .facts(13, facts)
        .section("Trouble", trouble)
        .section("Next", upcoming)
        .text()
}

const TROUBLE: [Column<TroubleEntry>; 3] = [
    text("SEVERITY", |one, _| status_cell(one.severity.name())),
    text("SINCE", |one, now| cell(relative(&one.since, now))),
    text("WHAT", |one, _| cell(&one.text)),
];

fn executions(overview: &Overview) -> String {
    let counts = &overview.executions;
    let more = if counts.exact { "" } else { "+" };
    let by: Vec<String> = counts
        .by_status
        .iter()
        .map(|(word, count)| format!("{count} {word}"))
        .collect();
    match by.is_empty() {
        true => "0".to_owned(),
        false => format!("{}{more}: {}", counts.total, by.join(", ")),
    }
}

fn letters(overview: &Overview) -> String {
    let letters = &overview.dead_letters;
    let archived = match letters.archived {
        0 => String::new(),
        count => format!(", {count} archived"),
    };
    format!(
        "{} pending, {} new{archived}",
        letters.pending, letters.new_in_range
    )
}

/// How large it is.
fn database(overview: &Overview) -> Option<String> {
    overview.storage.as_ref()?.bytes.map(size)
}

fn percent(share: f64) -> String {
    format!("{:.2}%", share * 100.0)
}
