//! What happened to a workflow within a minute, in numbers: what alerts, charts and metrics are made from.
//!
//! Numbers are added up as things happen and never worked out anew from executions, which go one day. A node
//! that dies loses what it has not written yet.

use std::collections::BTreeMap;
use std::time::Duration;

use crate::definition::WorkflowId;
use crate::execution::{Execution, Status};
use crate::time::Timestamp;

/// A minute.
pub const MINUTE: Duration = Duration::from_secs(60);
/// How long minutes are kept.
pub const MINUTES_KEPT: Duration = Duration::from_secs(14 * 24 * 60 * 60);
/// Points of one chart, at most.
pub const POINTS_MAX: usize = 1_500;

/// The numbers of a minute, or of several.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Minute {
    /// Executions that were accepted.
    pub started: u64,
    /// Those that ended well.
    pub completed: u64,
    /// Those that ended badly, with or without a dead letter.
    pub failed: u64,
    /// Of these, those with one.
    pub dead_lettered: u64,
    /// Those that people ended.
    pub cancelled: u64,
    /// Retries that were planned.
    pub retries: u64,
    /// Executions that completed after a retry.
    pub recovered: u64,
    /// Executions that failed after a retry.
    pub given_up: u64,
    /// Planned times that started something.
    pub fired: u64,
    /// Planned times at which nobody looked, and that were left out.
    pub missed: u64,
    /// How long the executions took that ended, from when they were accepted, all together, in milliseconds.
    pub duration_ms: u64,
    /// The longest of these.
    pub duration_max_ms: u64,
}

impl Minute {
    /// Adds others to these.
    pub fn add(&mut self, other: &Self) {
        for (number, more) in self.numbers_mut().into_iter().zip(other.numbers()) {
            *number = number.saturating_add(more);
        }
        self.duration_max_ms = self.duration_max_ms.max(other.duration_max_ms);
    }

    /// Takes others out of these again. What was the longest is not known any more, and stays.
    pub fn take_out(&mut self, other: &Self) {
        for (number, less) in self.numbers_mut().into_iter().zip(other.numbers()) {
            *number = number.saturating_sub(less);
        }
    }

    /// All that add up.
    fn numbers(&self) -> [u64; 11] {
        [
            self.started,
            self.completed,
            self.failed,
            self.dead_lettered,
            self.cancelled,
            self.retries,
            self.recovered,
            self.given_up,
            self.fired,
            self.missed,
            self.duration_ms,
        ]
    }

    fn numbers_mut(&mut self) -> [&mut u64; 11] {
        [
            &mut self.started,
            &mut self.completed,
            &mut self.failed,
            &mut self.dead_lettered,
            &mut self.cancelled,
            &mut self.retries,
            &mut self.recovered,
            &mut self.given_up,
            &mut self.fired,
            &mut self.missed,
            &mut self.duration_ms,
        ]
    }

    /// Whether nothing happened.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// What a commit did to an execution: made it, planned so many retries, or ended it.
    #[must_use]
    pub fn of(state: &Execution, is_new: bool, retries: u32) -> Self {
        let origin = state.origin.as_ref().filter(|_| is_new);
        let is_planned = origin.is_some_and(|origin| origin.trigger.scheduled_at.is_some());
        let mut minute = Self {
            started: u64::from(is_new),
            fired: u64::from(is_planned),
            retries: retries.into(),
            ..Self::default()
        };
        if !state.status.is_terminal() {
            return minute;
        }
        let was_retried = || u64::from(state.steps.values().any(|step| step.retries() > 0));
        match state.status {
            Status::Completed => {
                minute.completed = 1;
                minute.recovered = was_retried();
            }
            Status::Failed | Status::Dlq => {
                minute.failed = 1;
                minute.dead_lettered = u64::from(state.status == Status::Dlq);
                minute.given_up = was_retried();
            }
            _ => minute.cancelled = 1,
        }
        if let Some(origin) = &state.origin {
            let took = state.updated_at.since(origin.created_at).as_millis();
            minute.duration_ms = u64::try_from(took).unwrap_or(u64::MAX);
            minute.duration_max_ms = minute.duration_ms;
        }
        minute
    }

    /// Those that came to an end by themselves.
    #[must_use]
    pub fn ended(&self) -> u64 {
        self.completed + self.failed
    }
}

/// The beginning of the minute, or of the step of that length, that a moment is in.
#[must_use]
pub fn floor(at: Timestamp, step: Duration) -> Timestamp {
    let step = i64::try_from(step.as_micros()).unwrap_or(i64::MAX).max(1);
    Timestamp::from_micros(at.as_micros().div_euclid(step) * step)
}

/// The numbers of a workflow in one minute.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OfWorkflow {
    /// The workflow.
    pub workflow: WorkflowId,
    /// When the minute began.
    pub at: Timestamp,
    /// The numbers.
    pub minute: Minute,
}

/// Minutes as the points of a chart: one for each step from the one moment to the other, the last one that
/// begins before it, also where nothing happened.
#[must_use]
pub fn points<'a>(
    minutes: impl IntoIterator<Item = &'a OfWorkflow>,
    (from, to): (Timestamp, Timestamp),
    step: Duration,
) -> Vec<(Timestamp, Minute)> {
    let step = step.max(MINUTE);
    let mut points: BTreeMap<Timestamp, Minute> = BTreeMap::new();
    let mut at = floor(from, step);
    while at < to && points.len() < POINTS_MAX {
        points.insert(at, Minute::default());
        at = at.plus(step);
    }
    for one in minutes {
        if let Some(point) = points.get_mut(&floor(one.at, step)) {
            point.add(&one.minute);
        }
    }
    points.into_iter().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(minutes: i64, seconds: i64) -> Timestamp {
        Timestamp::from_millis((minutes * 60 + seconds) * 1_000)
    }

    fn completed(minute: i64, count: u64) -> OfWorkflow {
        OfWorkflow {
            workflow: WorkflowId::new("w").unwrap(),
            at: at(minute, 0),
            minute: Minute {
                completed: count,
                duration_ms: 10 * count,
                duration_max_ms: 10 + count,
                ..Minute::default()
            },
        }
    }

    #[test]
    fn numbers_add_up_and_the_longest_stays_the_longest() {
        let mut all = Minute::default();
        assert!(all.is_empty());
        all.add(&completed(0, 3).minute);
        all.add(&completed(0, 1).minute);
        assert_eq!((all.completed, all.duration_ms), (4, 40));
        assert_eq!(all.duration_max_ms, 13);
        all.take_out(&completed(0, 3).minute);
        assert_eq!((all.completed, all.duration_ms), (1, 10));
    }

    #[test]
    fn a_chart_has_a_point_for_each_step() {
        let minutes = [
            completed(0, 1),
            completed(4, 2),
            completed(5, 3),
            completed(11, 9),
        ];
        let found = points(&minutes, (at(0, 30), at(10, 0)), MINUTE * 5);
        let found: Vec<_> = found.iter().map(|(at, it)| (*at, it.completed)).collect();
        assert_eq!(found, [(at(0, 0), 3), (at(5, 0), 3)]);
        let many = points(&minutes, (at(0, 0), at(100_000, 0)), MINUTE);
        assert_eq!(many.len(), POINTS_MAX);
        assert_eq!(floor(at(-1, 59), MINUTE), at(-1, 0));
    }

    #[test]
    fn what_is_open_has_only_begun() {
        let mut state = Execution::empty();
        let minute = Minute::of(&state, true, 2);
        assert_eq!((minute.started, minute.retries, minute.ended()), (1, 2, 0));
        for (status, expected) in [
            (Status::Completed, (1, 0, 0, 0)),
            (Status::Failed, (0, 1, 0, 0)),
            (Status::Dlq, (0, 1, 1, 0)),
            (Status::Cancelled, (0, 0, 0, 1)),
        ] {
            state.status = status;
            let it = Minute::of(&state, false, 0);
            let found = (it.completed, it.failed, it.dead_lettered, it.cancelled);
            assert_eq!((it.started, found), (0, expected), "{status}");
        }
    }
}
