//! How much of an execution's time was paused before a given moment.
//!
//! An attempt's start is recorded together with its end, and pauses may have begun and ended in
//! between. So the ends of pauses are kept while a step may have begun between two of them.

use serde::{Deserialize, Serialize};

use super::state::{Execution, StepState};
use crate::limit;
use crate::time::Timestamp;

/// The end of a pause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PauseEnd {
    /// When it ended.
    pub at: Timestamp,
    /// How long the execution had been paused by then in all, in milliseconds.
    pub paused_ms: u64,
}

impl Execution {
    /// Total paused time until `now`, in milliseconds.
    #[must_use]
    pub fn paused_ms_until(&self, now: Timestamp) -> u64 {
        let open = self.paused_at.map_or(0, |since| whole_ms(since, now));
        self.paused_ms.saturating_add(open)
    }

    /// Total paused time until `moment`, after which pauses may have come and gone. `known` is
    /// the total at an earlier moment, such as when the step was scheduled.
    pub(super) fn paused_ms_at(&self, moment: Timestamp, known: u64) -> u64 {
        let last = self.last_pause();
        let mut total = known;
        for end in self.earlier_pauses.iter().chain(&last) {
            if moment < end.at {
                // Of this pause only what lies before the moment; that is nothing unless the
                // moment is within it.
                let length = end.paused_ms.saturating_sub(total);
                return total.saturating_add(length.saturating_sub(whole_ms(moment, end.at)));
            }
            total = total.max(end.paused_ms);
        }
        let open = self.paused_at.map_or(0, |since| whole_ms(since, moment));
        total.saturating_add(open)
    }

    /// Keeps the end of the last pause before the next one takes its place, if a step may have
    /// begun after it without a record yet.
    pub(super) fn keep_last_pause(&mut self) {
        let Some(last) = self.last_pause() else {
            return;
        };
        let needs_it = |step: &StepState| may_have_begun(step) && step.scheduled_at < last.at;
        if !self.steps.values().any(|step| needs_it(step)) {
            self.earlier_pauses.clear();
            return;
        }
        if self.earlier_pauses.len() >= limit::PAUSES_KEPT_MAX {
            // The oldest two count as one from here on.
            self.earlier_pauses.remove(0);
        }
        self.earlier_pauses.push(last);
    }

    /// Forgets the ends of pauses when no step needs them any more.
    pub(super) fn forget_pauses(&mut self) {
        if !self.earlier_pauses.is_empty() && !self.steps.values().any(|it| may_have_begun(it)) {
            self.earlier_pauses.clear();
        }
    }

    fn last_pause(&self) -> Option<PauseEnd> {
        let paused_ms = self.paused_ms;
        self.resumed_at.map(|at| PauseEnd { at, paused_ms })
    }
}

/// Whether the step's first attempt may be running: its start is recorded when it ends.
fn may_have_begun(step: &StepState) -> bool {
    step.is_live() && step.started_at.is_none()
}

fn whole_ms(from: Timestamp, to: Timestamp) -> u64 {
    u64::try_from(to.since(from).as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::definition::StepId;
    use crate::execution::apply_to;
    use crate::execution::event::{
        Event, EventKind, ExecutionPaused, ExecutionResumed, StepScheduled, StepStarted,
    };

    fn second(n: u64) -> Timestamp {
        Timestamp::from_micros(1_000_000_000).plus(Duration::from_secs(n))
    }

    /// A state that is told what happens, second by second.
    struct Told(Execution);

    impl Told {
        fn new(steps: &[&str]) -> Self {
            let mut told = Self(Execution::empty());
            for step in steps {
                told.schedule(0, step);
            }
            told
        }

        fn event(&mut self, at: u64, step: Option<&str>, kind: EventKind) -> &mut Self {
            let event = Event {
                sequence: self.0.version + 1,
                at: second(at),
                step: step.map(|id| StepId::new(id).unwrap()),
                attempt: step.map(|_| 1),
                backoff_ms: None,
                reason: None,
                kind,
            };
            apply_to(&mut self.0, &event);
            self
        }

        fn schedule(&mut self, at: u64, step: &str) -> &mut Self {
            let kind = EventKind::StepScheduled(StepScheduled { due_at: None });
            self.event(at, Some(step), kind)
        }

        fn paused(&mut self, from: u64, to: u64) -> &mut Self {
            let resumed = EventKind::ExecutionResumed(ExecutionResumed { by: None });
            self.pause(from).event(to, None, resumed)
        }

        fn pause(&mut self, from: u64) -> &mut Self {
            let paused = EventKind::ExecutionPaused(ExecutionPaused { by: None });
            self.event(from, None, paused)
        }

        /// It is recorded at `at` that the step began at `began`.
        fn began(&mut self, at: u64, step: &str, began: u64) -> &mut Self {
            let started_at = second(began);
            let kind = EventKind::StepStarted(StepStarted::at(started_at));
            self.event(at, Some(step), kind)
        }

        fn paused_before(&self, step: &str) -> u64 {
            let step = self.0.step(&StepId::new(step).unwrap()).unwrap();
            assert_eq!(step.paused_ms_before % 1_000, 0);
            step.paused_ms_before / 1_000
        }
    }

    const PAUSES: [(u64, u64); 3] = [(1, 3), (5, 6), (8, 12)];

    /// The seconds before `moment` that lie within a pause, counted one by one.
    fn counted(moment: u64) -> u64 {
        let is_paused = |at: &u64| PAUSES.iter().any(|(from, to)| (from..to).contains(&at));
        (0..moment).filter(is_paused).count() as u64
    }

    #[test]
    fn the_pauses_before_a_start_are_counted_up_to_it_wherever_it_lies() {
        for began in 0..=14 {
            let mut told = Told::new(&["a"]);
            for (from, to) in PAUSES {
                told.paused(from, to);
            }
            told.began(15, "a", began);
            assert_eq!(told.paused_before("a"), counted(began), "began at {began}");

            let mut told = Told::new(&["a"]);
            told.paused(1, 3)
                .paused(5, 6)
                .pause(8)
                .began(12, "a", began.min(12));
            let expected = counted(began.min(12));
            assert_eq!(
                told.paused_before("a"),
                expected,
                "and reported while paused"
            );
        }
    }

    #[test]
    fn each_step_counts_from_when_it_was_scheduled() {
        for began in 7..=14 {
            let mut told = Told::new(&["a"]);
            told.paused(1, 3)
                .paused(5, 6)
                .schedule(7, "b")
                .paused(8, 12);
            told.began(15, "b", began).began(15, "a", 4);
            assert_eq!(told.paused_before("a"), 2);
            assert_eq!(told.paused_before("b"), counted(began), "began at {began}");
        }
    }

    #[test]
    fn pauses_are_kept_only_while_a_step_may_need_them() {
        let mut told = Told::new(&["a"]);
        told.paused(1, 3);
        assert_eq!(told.0.earlier_pauses, [], "one pause needs no memory");
        told.paused(5, 6).paused(8, 12);
        assert_eq!(told.0.earlier_pauses.len(), 2);
        told.began(15, "a", 4);
        assert_eq!(told.0.earlier_pauses, []);
        told.paused(16, 17).paused(18, 19);
        assert_eq!(told.0.earlier_pauses, [], "its start is known");
    }

    #[test]
    fn more_pauses_than_are_kept_do_no_harm() {
        let mut told = Told::new(&["a"]);
        for n in 0..2 * limit::PAUSES_KEPT_MAX as u64 {
            told.paused(10 * n + 1, 10 * n + 2);
        }
        assert_eq!(told.0.earlier_pauses.len(), limit::PAUSES_KEPT_MAX);
        let mut late = Told(told.0.clone());
        late.began(1_000, "a", 605);
        assert_eq!(late.paused_before("a"), 61, "among those that are kept");
        told.began(1_000, "a", 0);
        assert_eq!(told.paused_before("a"), 0, "before all of them");
    }
}
