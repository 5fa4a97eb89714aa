//! What is seen while it runs: a bar, the rate of the last second, errors. Only on a terminal.

use std::collections::VecDeque;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressStyle};
use tokio::time::Instant;

use super::figure::{grouped, latency, per_second};
use super::pace::Pace;
use super::tally::Tally;
use crate::cli::output::is_watched;
use crate::cli::prelude::*;

/// Steps of the bar.
const STEPS: u64 = 1_000;
/// The rate that is shown is that of this time.
const RATE_OVER: Duration = Duration::from_secs(1);

/// A bar for one phase.
pub(super) struct Progress {
    bar: ProgressBar,
    seen: VecDeque<(Instant, u64)>,
}

impl Progress {
    /// A bar, if somebody watches.
    pub(super) fn new(name: &str) -> Self {
        let bar = match is_watched() {
            true => ProgressBar::new(STEPS),
            false => ProgressBar::hidden(),
        };
        let style = ProgressStyle::with_template("{prefix} {bar:24.cyan/dim} {msg}");
        if let Ok(style) = style {
            bar.set_style(style.progress_chars("━━─"));
        }
        bar.set_prefix(name.to_owned());
        Self {
            bar,
            seen: VecDeque::new(),
        }
    }

    /// Shows how it stands.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "a share of the steps of a bar"
    )]
    pub(super) fn show(&mut self, pace: &Pace, tally: &Tally) {
        if self.bar.is_hidden() {
            return;
        }
        let answered = tally.requests.accepted + tally.requests.rejected;
        let rate = self.rate(answered);
        let errors = match tally.errors() {
            0 => dim("no errors"),
            1 => bad("1 error"),
            errors => bad(&format!("{} errors", grouped(errors))),
        };
        let p99 = match tally.latencies.len() {
            0 => String::new(),
            _ => format!("p99 {}  ", latency(tally.latencies.at(0.99))),
        };
        let time = clock(pace);
        self.bar
            .set_position((pace.share(answered) * STEPS as f64) as u64);
        self.bar
            .set_message(format!("{time}  {} req/s  {p99}{errors}", grouped(rate)));
    }

    /// Requests answered in the last second.
    fn rate(&mut self, answered: u64) -> u64 {
        let now = Instant::now();
        self.seen.push_back((now, answered));
        while self.seen.len() > 2 && now - self.seen[1].0 >= RATE_OVER {
            self.seen.pop_front();
        }
        let (since, before) = self.seen[0];
        per_second(answered - before, now - since)
    }

    /// Takes it away.
    pub(super) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

fn clock(pace: &Pace) -> String {
    let passed = span(millis(pace.begun().elapsed()) / 100 * 100);
    match pace.expected() {
        Some(expected) => format!("{passed} of {}", span(millis(expected))),
        None => passed,
    }
}
