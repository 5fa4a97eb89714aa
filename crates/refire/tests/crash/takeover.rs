//! What a dead node held goes on elsewhere in time: told from the logs and from what the target saw.

use std::collections::HashMap;
use std::time::Duration;

use refire_core::time::Timestamp;

use crate::export::{Entry, Exported};
use crate::target::Call;

/// What a dead node had begins elsewhere within its lease and this.
pub(crate) const TAKEN_OVER_WITHIN: Duration = Duration::from_secs(5);

/// A node that lives is not so late, however busy its machine.
const LATE: Duration = Duration::from_secs(1);

/// The end of a node.
pub(crate) struct Death {
    /// Its id.
    pub(crate) node: String,
    pub(crate) at: Timestamp,
    /// How long the others wait for it.
    pub(crate) lease: Duration,
}

/// What was found when everything was in time.
#[derive(Debug, Default)]
pub(crate) struct Tally {
    /// Attempts that died with the node and were made again.
    pub(crate) lost: usize,
    /// The longest time from its end to the call that made one again.
    pub(crate) latest: Duration,
    /// Attempts that were planned before its end and called so late that nobody living can have held them.
    pub(crate) waited: usize,
}

/// An execution, one of its steps, and which attempt.
type Attempt<'a> = (&'a str, &'a str, u32);

impl Death {
    /// Fails with everything that began too late or not at all.
    #[track_caller]
    pub(crate) fn must_be_made_up_for(&self, executions: &[Exported], calls: &[Call]) -> Tally {
        let (tally, wrong) = self.account(executions, calls);
        assert!(wrong.is_empty(), "the node died at {}: {wrong:#?}", self.at);
        tally
    }

    fn account(&self, executions: &[Exported], calls: &[Call]) -> (Tally, Vec<String>) {
        let mut first: HashMap<Attempt<'_>, Timestamp> = HashMap::new();
        for call in calls {
            let attempt = (call.execution.as_str(), call.step.as_str(), call.attempt);
            let at = first.entry(attempt).or_insert(call.at);
            *at = call.at.min(*at);
        }
        let (mut tally, mut wrong) = (Tally::default(), Vec::new());
        for execution in executions {
            for entry in &execution.log {
                let (Some(step), Some(attempt)) = (entry.step.as_deref(), entry.attempt) else {
                    continue;
                };
                let called = |attempt| {
                    let call = first.get(&(execution.id.as_str(), step, attempt)).copied();
                    call.or_else(|| failed(execution, step, attempt))
                };
                let late = match entry.name.as_str() {
                    "STEP_LOST" if entry.node.as_ref() == Some(&self.node) => {
                        self.lost(execution, (step, attempt), entry, called, &mut tally)
                    }
                    "STEP_SCHEDULED" | "RETRY_SCHEDULED" if entry.at <= self.at => {
                        self.planned(execution, (step, attempt), entry, called, &mut tally)
                    }
                    _ => None,
                };
                wrong.extend(late.map(|late| format!("{} {step}: {late}", execution.id)));
            }
        }
        (tally, wrong)
    }

    /// Until when an attempt that is due then is begun.
    fn until(&self, due: Timestamp) -> Timestamp {
        due.max(self.at.plus(self.lease)).plus(TAKEN_OVER_WITHIN)
    }

    /// An attempt that died with the node: the next one is called in time.
    fn lost(
        &self,
        execution: &Exported,
        (step, attempt): (&str, u32),
        loss: &Entry,
        called: impl Fn(u32) -> Option<Timestamp>,
        tally: &mut Tally,
    ) -> Option<String> {
        if loss.at > self.until(self.at) {
            return Some(format!("#{attempt} was found lost at {}", loss.at));
        }
        // None if too many were lost.
        let next = plan(execution, step, attempt + 1)?;
        tally.lost += 1;
        // That it was found late is no excuse: only a wait is.
        let due = if next.due > next.at {
            next.due
        } else {
            self.at
        };
        match called(attempt + 1) {
            Some(at) if at <= self.until(due) => {
                tally.latest = tally.latest.max(at.since(self.at));
                None
            }
            at => Some(format!("#{attempt} was lost, the next call is {at:?}")),
        }
    }

    /// An attempt that somebody was to make, the dead node perhaps: it is called in time, or died with
    /// its node and is judged as that.
    fn planned(
        &self,
        execution: &Exported,
        (step, attempt): (&str, u32),
        plan: &Entry,
        called: impl Fn(u32) -> Option<Timestamp>,
        tally: &mut Tally,
    ) -> Option<String> {
        let is_lost = execution.log.iter().any(|entry| {
            let of = (entry.step.as_deref(), entry.attempt);
            entry.name == "STEP_LOST" && of == (Some(step), Some(attempt))
        });
        match called(attempt) {
            Some(at) if at <= self.until(plan.due) => {
                let is_late = at > self.at && at > plan.due.plus(LATE);
                tally.waited += usize::from(is_late);
                None
            }
            None if is_lost => None,
            at => {
                let due = plan.due;
                Some(format!("#{attempt} was due at {due} and called at {at:?}"))
            }
        }
    }
}

/// When an attempt failed. On a busy machine one may do so on its way, and the target never hears of it.
fn failed(execution: &Exported, step: &str, attempt: u32) -> Option<Timestamp> {
    let failed = execution.log.iter().find(|entry| {
        let of = (entry.step.as_deref(), entry.attempt);
        entry.name == "STEP_FAILED" && of == (Some(step), Some(attempt))
    });
    failed.map(|entry| entry.at)
}

/// The event that planned an attempt.
fn plan<'a>(execution: &'a Exported, step: &str, attempt: u32) -> Option<&'a Entry> {
    execution.log.iter().find(|entry| {
        let is_plan = matches!(entry.name.as_str(), "STEP_SCHEDULED" | "RETRY_SCHEDULED");
        is_plan && (entry.step.as_deref(), entry.attempt) == (Some(step), Some(attempt))
    })
}

/// The check itself is checked: it is content with a sound story, and sees each delay.
mod tests {
    use super::*;
    use crate::target::Outcome;

    const LEASE: Duration = Duration::from_secs(10);

    fn second(second: i64) -> Timestamp {
        Timestamp::from_millis(1_767_225_600_000 + second * 1_000)
    }

    fn death() -> Death {
        Death {
            node: "node_1".to_owned(),
            at: second(100),
            lease: LEASE,
        }
    }

    fn entry(at: i64, name: &str, attempt: u32) -> Entry {
        Entry {
            sequence: 1,
            name: name.to_owned(),
            step: Some("a".to_owned()),
            attempt: Some(attempt),
            at: second(at),
            due: second(at),
            node: (name == "STEP_LOST").then(|| "node_1".to_owned()),
            holder: None,
            word: None,
        }
    }

    fn execution(id: &str, log: Vec<Entry>) -> Exported {
        Exported {
            id: id.to_owned(),
            status: "completed".to_owned(),
            retries: None,
            letter: None,
            request: None,
            is_of_slot: false,
            log,
            replay: None,
        }
    }

    fn call(execution: &str, attempt: u32, at: i64) -> Call {
        Call {
            key: String::new(),
            execution: execution.to_owned(),
            step: "a".to_owned(),
            attempt,
            request: None,
            at: second(at),
            outcome: Outcome::Good,
        }
    }

    /// One attempt in flight, one that waits until long after the death, and one that was to be made
    /// at once.
    fn story() -> (Vec<Exported>, Vec<Call>) {
        let flight = vec![
            entry(99, "STEP_SCHEDULED", 1),
            entry(111, "STEP_LOST", 1),
            entry(111, "STEP_SCHEDULED", 2),
        ];
        let mut waits = entry(99, "RETRY_SCHEDULED", 2);
        waits.due = second(130);
        let executions = vec![
            execution("flight", flight),
            execution("waits", vec![waits]),
            execution("ready", vec![entry(100, "STEP_SCHEDULED", 1)]),
        ];
        let calls = vec![
            call("flight", 1, 99),
            call("flight", 2, 112),
            call("waits", 2, 130),
            call("ready", 1, 113),
        ];
        (executions, calls)
    }

    #[test]
    fn what_goes_on_in_time_is_counted() {
        let (executions, calls) = story();
        let tally = death().must_be_made_up_for(&executions, &calls);
        assert_eq!((tally.lost, tally.waited), (1, 1));
        assert_eq!(tally.latest, Duration::from_secs(12));
    }

    #[test]
    fn every_delay_is_seen() {
        type Delay = fn(&mut Vec<Exported>, &mut Vec<Call>);
        let delays: [Delay; 6] = [
            |_, calls| calls[1].at = second(116),
            |_, calls| drop(calls.remove(1)),
            |executions, _| executions[0].log[1].at = second(116),
            |_, calls| calls[2].at = second(136),
            |_, calls| calls[3].at = second(116),
            |_, calls| drop(calls.pop()),
        ];
        for (number, delay) in delays.into_iter().enumerate() {
            let (mut executions, mut calls) = story();
            delay(&mut executions, &mut calls);
            let (_, wrong) = death().account(&executions, &calls);
            assert_eq!(wrong.len(), 1, "{number}: {wrong:?}");
        }
    }
}
