//! One line of the report: words and figures for programs, with the goals beside them.

use std::fmt::{Display, Write as _};

use crate::machine;
use crate::sample::{Latency, Repeats};

/// What a figure should be.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Goal {
    AtLeast(f64),
    Below(f64),
}

impl Goal {
    fn is_met_by(self, value: f64) -> bool {
        match self {
            Self::AtLeast(least) => value >= least,
            Self::Below(bound) => value < bound,
        }
    }
}

impl Display for Goal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::AtLeast(least) => write!(f, ">={least}"),
            Self::Below(bound) => write!(f, "<{bound}"),
        }
    }
}

/// A line being put together. The first figure is the line's own: its spread is shown too.
pub(crate) struct Line {
    text: String,
    figures: Vec<(&'static str, f64)>,
    spread: Option<String>,
    goals: Vec<(&'static str, Goal)>,
}

impl Line {
    /// `B1 refire`: the table it belongs to and what was measured.
    pub(crate) fn new(table: &str, subject: &str) -> Self {
        Self {
            text: format!("{table} {subject}"),
            figures: Vec::new(),
            spread: None,
            goals: Vec::new(),
        }
    }

    /// `c=64`: under which circumstances.
    pub(crate) fn word(mut self, key: &str, value: impl Display) -> Self {
        let _ = write!(self.text, " {key}={value}");
        self
    }

    /// `req_s=20000`: the median of repeats.
    pub(crate) fn figure(mut self, key: &'static str, repeats: &Repeats) -> Self {
        let value = repeats.median();
        let _ = write!(self.text, " {key}={}", rounded(value));
        if self.figures.is_empty() {
            let (lowest, highest) = repeats.range();
            self.spread = Some(format!("{}..{}", rounded(lowest), rounded(highest)));
        }
        self.figures.push((key, value));
        self
    }

    /// `p50_ms=… p99_ms=…`
    pub(crate) fn latency(self, latency: &Latency) -> Self {
        self.figure("p50_ms", &latency.p50_ms)
            .figure("p99_ms", &latency.p99_ms)
    }

    /// What the figure of this name should be.
    pub(crate) fn goal(mut self, key: &'static str, goal: Goal) -> Self {
        self.goals.push((key, goal));
        self
    }

    /// The whole line.
    fn finish(self, load1: f64) -> String {
        let mut text = self.text;
        let _ = write!(text, " load1={load1:.1}");
        if let Some(spread) = self.spread {
            let _ = write!(text, " spread={spread}");
        }
        if self.goals.is_empty() {
            return text;
        }
        let goals: Vec<String> = self
            .goals
            .iter()
            .map(|(key, goal)| format!("{key}{goal}"))
            .collect();
        let missed: Vec<&str> = self
            .goals
            .iter()
            .filter(|(key, goal)| {
                let figure = self.figures.iter().find(|(name, _)| name == key);
                !figure.is_some_and(|(_, value)| goal.is_met_by(*value))
            })
            .map(|(key, _)| *key)
            .collect();
        let met = if missed.is_empty() { "yes" } else { "no" };
        let _ = write!(text, " goal={} met={met}", goals.join(","));
        if !missed.is_empty() {
            let _ = write!(text, " missed={}", missed.join(","));
        }
        text
    }

    /// Prints it, with the machine's load at this moment.
    pub(crate) fn print(self) {
        println!("{}", self.finish(machine::load1()));
    }
}

/// Three significant digits are more than a run can promise; small figures keep two decimals.
fn rounded(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        size if size >= 0.1 => format!("{value:.2}"),
        0.0 => "0".to_owned(),
        _ => format!("{value:.4}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_shows_medians_spread_and_goals() {
        let req_s: Repeats = [19_000.4, 21_000.0, 20_500.0].into_iter().collect();
        let line = Line::new("B1", "refire")
            .word("c", 64)
            .figure("req_s", &req_s)
            .figure("p99_ms", &30.04.into())
            .goal("req_s", Goal::AtLeast(20_000.0))
            .goal("p99_ms", Goal::Below(25.0));
        assert_eq!(
            line.finish(1.25),
            "B1 refire c=64 req_s=20500 p99_ms=30.0 load1=1.2 spread=19000..21000 \
             goal=req_s>=20000,p99_ms<25 met=no missed=p99_ms"
        );
    }

    #[test]
    fn a_goal_without_a_figure_or_of_no_number_is_missed() {
        let goal = |line: Line| line.goal("x", Goal::Below(1.0)).finish(0.0);
        assert!(goal(Line::new("a", "b")).ends_with("met=no missed=x"));
        let nothing = Line::new("a", "b").figure("x", &f64::NAN.into());
        assert!(goal(nothing).ends_with("met=no missed=x"));
        let fine = Line::new("a", "b").figure("x", &0.5.into());
        assert!(goal(fine).ends_with("met=yes"));
    }

    #[test]
    fn figures_are_rounded_to_what_they_can_promise() {
        let shown: Vec<String> = [12_345.6, 12.34, 1.234, 0.012_34, 0.0].map(rounded).into();
        assert_eq!(shown, ["12346", "12.3", "1.23", "0.0123", "0"]);
    }
}
