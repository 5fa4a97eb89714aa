//! What the log of the server says of triggers: that planned times were missed, that an expected success
//! is missing, and that it has come. Each is said once, by the node that has written it down.

use std::collections::HashMap;

use refire_core::definition::WorkflowId;
use refire_core::id::TriggerId;
use refire_core::minute::Minute;
use refire_core::time::Timestamp;
use refire_core::trigger::{Misfire, Missed, Outcome, Plan, SkipReason, Trigger};

/// Triggers of which it is remembered what was said; of the others it may be said again.
const KNOWN_MAX: usize = 10_000;

/// Triggers that are named in one look for having missed something; the others are counted.
const NAMED_MAX: u32 = 20;

/// What a step of a trigger is worth saying, once it is written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Report {
    trigger: TriggerId,
    workflow: WorkflowId,
    misfire: Misfire,
    missed: Option<Missed>,
    /// Planned times at which nobody looked, and that are left out.
    left_out: u64,
    /// Whether a success is missing or has come, and which was expected.
    watch: Option<(Outcome, Timestamp)>,
}

impl Report {
    /// None if the step is like any other.
    pub(super) fn of(trigger: &Trigger, plan: &Plan) -> Option<Self> {
        let is_watch = |outcome: Outcome| matches!(outcome, Outcome::Overdue | Outcome::Recovered);
        let watch = plan.entries.iter().find(|entry| is_watch(entry.outcome));
        let report = Self {
            trigger: trigger.id,
            workflow: trigger.workflow.clone(),
            misfire: trigger.settings.misfire,
            missed: plan.missed,
            left_out: left_out(plan),
            watch: watch.map(|entry| (entry.outcome, entry.nominal)),
        };
        let is_worth_it = report.missed.is_some() || report.left_out > 0 || report.watch.is_some();
        is_worth_it.then_some(report)
    }

    /// The workflow, and what of it was missed, for whoever counts that.
    pub(super) fn missed(&self) -> (&WorkflowId, Minute) {
        let minute = Minute {
            missed: self.left_out,
            ..Minute::default()
        };
        (&self.workflow, minute)
    }
}

fn left_out(plan: &Plan) -> u64 {
    let missed = Outcome::Skipped(SkipReason::Missed);
    let entries = plan.entries.iter().filter(|entry| entry.outcome == missed);
    entries.map(|entry| entry.count).sum()
}

/// What was said, so that a trigger which catches up step by step is named once.
#[derive(Debug, Default)]
pub(super) struct Said {
    /// The newest planned time that was said to be missed.
    up_to: HashMap<TriggerId, Timestamp>,
    /// Triggers that were named in this look.
    named: u32,
    /// Those that were not.
    not_named: u64,
}

impl Said {
    /// Says what is new in a report.
    pub(super) fn say(&mut self, report: &Report) {
        let Report {
            trigger, workflow, ..
        } = report;
        match report.watch {
            Some((Outcome::Overdue, expected)) => {
                tracing::warn!(%trigger, %workflow, %expected, "no success of a trigger in time; it is overdue");
            }
            Some((_, at)) => {
                tracing::info!(%trigger, %workflow, %at, "a success of a trigger that was overdue; it has recovered");
            }
            None => {}
        }
        if let Some(missed) = report.missed.filter(|missed| self.is_new(*trigger, missed)) {
            if self.named >= NAMED_MAX {
                self.not_named += 1;
                return;
            }
            self.named += 1;
            let Missed {
                from,
                to,
                count,
                dropped,
            } = missed;
            let (wanted, misfire) = (count - dropped, misfire_word(report.misfire));
            tracing::info!(
                %trigger, %workflow, %from, %to, misfire, wanted, skipped = dropped,
                "planned times of a trigger had passed for more than a minute"
            );
        }
    }

    /// A look is over: after a long downtime a great many triggers have missed something.
    pub(super) fn sum_up(&mut self) {
        if self.not_named > 0 {
            tracing::info!(
                triggers = self.not_named,
                "planned times of more triggers had passed for more than a minute; their ledgers tell"
            );
        }
        (self.named, self.not_named) = (0, 0);
    }

    /// Whether these slots were not said to be missed before.
    fn is_new(&mut self, trigger: TriggerId, missed: &Missed) -> bool {
        if self.up_to.len() >= KNOWN_MAX && !self.up_to.contains_key(&trigger) {
            self.up_to.clear();
        }
        let before = self.up_to.insert(trigger, missed.to);
        before.is_none_or(|before| before < missed.from)
    }
}

/// The word for what becomes of planned times that have passed.
#[must_use]
pub fn misfire_word(misfire: Misfire) -> &'static str {
    match misfire {
        Misfire::FireOnce => "fire_once",
        Misfire::FireAll => "fire_all",
        Misfire::Skip => "skip",
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use refire_core::trigger::{State, created, plan};

    use super::*;

    const DAY: u64 = 24 * 3_600;

    fn at(seconds: u64) -> Timestamp {
        let begin: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        begin.plus(Duration::from_secs(seconds))
    }

    fn trigger(more: &str) -> Trigger {
        let settings = format!(r#"{{"trigger_type":"cron","cron_expression":"0 * * * *"{more}}}"#);
        let id = TriggerId::from_bytes([1; 16]);
        let workflow = WorkflowId::new("w").unwrap();
        Trigger::new(id, workflow, 1, true, &settings).unwrap()
    }

    /// One step: the state after it, and what it is worth saying.
    fn step(trigger: &Trigger, state: &State, now: Timestamp) -> (State, Option<Report>) {
        let plan = plan(trigger, state, now);
        (plan.state, Report::of(trigger, &plan))
    }

    #[test]
    fn what_is_caught_up_with_step_by_step_is_said_once() {
        let trigger = trigger(r#","misfire":"fire_all","misfire_max":3"#);
        let mut state = created(&trigger, at(0));
        let (mut said, mut news) = (Said::default(), Vec::new());
        for hours in [10, 10, 10, 30, 30, 30] {
            let (next, report) = step(&trigger, &state, at(hours * 3_600 + 1_800));
            state = next;
            let missed = report.and_then(|report| report.missed).unwrap();
            if said.is_new(trigger.id, &missed) {
                news.push((missed.count, missed.dropped));
            }
        }
        assert_eq!(news, [(10, 7), (20, 17)]);
    }

    #[test]
    fn what_is_on_time_is_not_worth_a_word() {
        let trigger = trigger("");
        let state = created(&trigger, at(0));
        assert_eq!(step(&trigger, &state, at(3_600)).1, None);
        assert_eq!(step(&trigger, &state, at(3_660)).1, None);
        assert!(step(&trigger, &state, at(3_661)).1.is_some());
    }

    #[test]
    fn a_success_that_is_missing_is_said() {
        let trigger = trigger(r#","dead_man":{"success_within":"1d"},"misfire":"skip""#);
        let state = created(&trigger, at(0));
        let (_, report) = step(&trigger, &state, at(DAY));
        let (outcome, expected) = report.unwrap().watch.unwrap();
        assert_eq!((outcome, expected), (Outcome::Overdue, at(DAY)));
    }

    #[test]
    fn of_a_crowd_some_are_named_and_the_others_counted() {
        let (_, report) = step(&trigger(""), &created(&trigger(""), at(0)), at(DAY));
        let report = report.unwrap();
        let mut said = Said::default();
        for number in 0..100_u128 {
            let trigger = TriggerId::from_bytes(number.to_be_bytes());
            said.say(&Report {
                trigger,
                ..report.clone()
            });
        }
        assert_eq!((said.named, said.not_named), (NAMED_MAX, 80));
        said.sum_up();
        assert_eq!((said.named, said.not_named), (0, 0));
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut said = Said::default();
        let missed = Missed {
            from: at(0),
            to: at(1),
            count: 2,
            dropped: 1,
        };
        for n in 0..=KNOWN_MAX as u128 {
            assert!(said.is_new(TriggerId::from_bytes(n.to_be_bytes()), &missed));
        }
        assert_eq!(said.up_to.len(), 1);
    }
}
