//! `refire stats`: how many executions started, ended and were retried, step by step.

use std::time::Duration;

use refire_client::model::{MinuteStats, StatsNumbers};
use refire_client::query::StatsQuery;
use refire_core::duration;

use crate::cli::prelude::*;

/// About so many lines are shown unless somebody asks for others.
const LINES: u64 = 24;

/// Options of `refire stats`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire stats
  refire stats --workflow ship_order --from 1h --step 5m
  refire stats --from 7d --step 1d --format json")]
pub(crate) struct StatsArgs {
    #[command(flatten)]
    query: StatsQuery,
}

/// A line of the table.
struct Line {
    at: String,
    numbers: StatsNumbers,
}

const COLUMNS: [Column<Line>; 9] = [
    text("FROM", |line, _| cell(&line.at)),
    number("STARTED", |line, _| Cell::new(line.numbers.started)),
    number("COMPLETED", |line, _| Cell::new(line.numbers.completed)),
    number("FAILED", |line, _| Cell::new(line.numbers.failed)),
    number("CANCELLED", |line, _| Cell::new(line.numbers.cancelled)),
    number("RETRIES", |line, _| Cell::new(line.numbers.retries)),
    number("RECOVERED", |line, _| Cell::new(line.numbers.recovered)),
    number("AVERAGE", |line, _| took(line.numbers.duration_avg_ms)),
    number("LONGEST", |line, _| {
        took(line.numbers.duration_max_ms.map(|ms| ms as f64))
    }),
];

fn took(ms: Option<f64>) -> Cell {
    match ms {
        Some(ms) => cell(span(ms.round().max(0.0) as u64)),
        None => cell(""),
    }
}

/// Shows it.
pub(crate) async fn run(session: &Session, args: &StatsArgs) -> anyhow::Result<Outcome> {
    let mut query = args.query.clone();
    let now = session.now();
    moments(&mut query.from, &mut query.to, now)?;
    if query.step.is_none() && !session.is_json() {
        query.step = Some(step(&query, now));
    }
    let stats = session.client()?.minute_stats(&query).await?;
    session.answer(&stats, || screen(session, &stats))
}

/// A step that gives about so many lines as fit on a screen.
fn step(query: &StatsQuery, now: Timestamp) -> String {
    let time = |text: &Option<String>| text.as_deref().and_then(|text| text.parse().ok());
    let to: Timestamp = time(&query.to).unwrap_or(now);
    let day = Duration::from_secs(24 * 60 * 60);
    let from: Timestamp = time(&query.from).unwrap_or_else(|| to.minus(day));
    let minutes = to.since(from).as_secs() / 60 / LINES;
    let nice = [1, 5, 10, 15, 30, 60, 180, 360, 1_440];
    let chosen = nice.into_iter().find(|nice| *nice >= minutes);
    let seconds = chosen.unwrap_or(1_440) * 60;
    duration::plain(Duration::from_secs(seconds))
}

fn screen(session: &Session, stats: &MinuteStats) -> String {
    let of = match &stats.workflow {
        Some(workflow) => format!(" of {}", clean(workflow)),
        None => String::new(),
    };
    let lines: Vec<Line> = stats
        .points
        .iter()
        .map(|point| Line {
            at: minute(&point.at),
            numbers: point.numbers.clone(),
        })
        .chain(std::iter::once(Line {
            at: "total".to_owned(),
            numbers: stats.total.clone(),
        }))
        .collect();
    let head = heading(&format!("Executions{of}, in steps of {}", stats.step));
    format!(
        "{head}\n{}",
        table(&COLUMNS, &lines, session.now()).lines(2)
    )
}

/// `2026-11-18 16:05`, in UTC.
fn minute(at: &str) -> String {
    let cut = at.get(..16).unwrap_or(at);
    cut.replace('T', " ")
}
