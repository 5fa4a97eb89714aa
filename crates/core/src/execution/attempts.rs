//! The attempts of an execution, each with how it began and ended, as its log tells them. What is under way
//! now is in rows beside the log, and for others to add.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Event, EventKind};
use crate::definition::StepId;
use crate::failure::Failure;
use crate::id::NodeId;
use crate::time::Timestamp;

/// Where an attempt stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AttemptStatus {
    /// It is to come, or nobody knows yet that it began.
    Planned,
    /// Its call was accepted, and the target may call back.
    Waiting,
    /// It is under way.
    Running,
    /// It succeeded.
    Completed,
    /// It failed.
    Failed,
    /// It died with its node.
    Lost,
    /// It was cut off, or never made: the execution ended.
    Cancelled,
}

/// One attempt of a step.
#[derive(Debug, Clone, PartialEq)]
pub struct Attempt {
    /// The step.
    pub step: StepId,
    /// Its number, from 1.
    pub number: u32,
    /// Where it stands.
    pub status: AttemptStatus,
    /// Whether it undoes another step.
    pub is_compensation: bool,
    /// Whether workers outside do it.
    pub is_task: bool,
    /// When it was planned.
    pub scheduled_at: Timestamp,
    /// When it was to begin, if not at once.
    pub due_at: Option<Timestamp>,
    /// The policy's wait before it.
    pub backoff_ms: Option<u64>,
    /// Whether somebody did not want to wait for it.
    pub is_early: bool,
    /// When it began.
    pub started_at: Option<Timestamp>,
    /// When it ended.
    pub ended_at: Option<Timestamp>,
    /// How long it took.
    pub duration_ms: Option<u64>,
    /// What it failed with.
    pub failure: Option<Failure>,
    /// The node that died during it.
    pub node: Option<NodeId>,
    /// The worker that fetched it.
    pub worker: Option<String>,
}

impl Attempt {
    /// Whether its end is still to come.
    #[must_use]
    pub fn is_open(&self) -> bool {
        matches!(
            self.status,
            AttemptStatus::Planned | AttemptStatus::Waiting | AttemptStatus::Running
        )
    }

    fn end(&mut self, status: AttemptStatus, at: Timestamp, duration_ms: Option<u64>) {
        self.status = status;
        self.ended_at = Some(at);
        let counted = || {
            let took = at.since(self.started_at?);
            u64::try_from(took.as_millis()).ok()
        };
        self.duration_ms = duration_ms.or_else(counted);
    }
}

/// All attempts, taken from the events of a log in their order.
#[derive(Debug, Default)]
pub struct Attempts {
    all: Vec<Attempt>,
    /// The place of each step's last attempt.
    last: BTreeMap<StepId, usize>,
    undoing: BTreeSet<StepId>,
    tasks: BTreeSet<StepId>,
}

impl Attempts {
    /// Those of a whole log, in the order in which they were planned.
    #[must_use]
    pub fn of<'a>(log: impl IntoIterator<Item = &'a Event>) -> Vec<Attempt> {
        let mut attempts = Self::default();
        log.into_iter().for_each(|event| attempts.add(event));
        attempts.all
    }

    fn add(&mut self, event: &Event) {
        match &event.kind {
            EventKind::StepScheduled(scheduled) => self.plan(event, scheduled.due_at),
            EventKind::RetryScheduled(retry) => self.plan(event, Some(retry.due_at)),
            EventKind::CompensationStarted(_) => {
                self.undoing.extend(event.step.clone());
                self.plan(event, None);
            }
            EventKind::ExecutionCancelled(_)
            | EventKind::ExecutionCompleted(_)
            | EventKind::ExecutionFailed(_) => {
                let open = self.all.iter_mut().filter(|attempt| attempt.is_open());
                open.for_each(|attempt| attempt.end(AttemptStatus::Cancelled, event.at, None));
            }
            _ => self.change(event),
        }
    }

    fn plan(&mut self, event: &Event, due_at: Option<Timestamp>) {
        let (Some(step), Some(number)) = (event.step.clone(), event.attempt) else {
            return;
        };
        self.last.insert(step.clone(), self.all.len());
        self.all.push(Attempt {
            is_compensation: self.undoing.contains(&step),
            is_task: self.tasks.contains(&step),
            step,
            number,
            status: AttemptStatus::Planned,
            scheduled_at: event.at,
            due_at,
            backoff_ms: event.backoff_ms,
            is_early: false,
            started_at: None,
            ended_at: None,
            duration_ms: None,
            failure: None,
            node: None,
            worker: None,
        });
    }

    /// What an event says of its step's last attempt. Outputs that were carried over from another execution
    /// belong to none.
    fn change(&mut self, event: &Event) {
        let place = event.step.as_ref().and_then(|step| self.last.get(step));
        let Some(attempt) = place.and_then(|place| self.all.get_mut(*place)) else {
            return;
        };
        match &event.kind {
            EventKind::ExternalTaskCreated(_) => {
                attempt.is_task = true;
                self.tasks.insert(attempt.step.clone());
            }
            EventKind::TimerFired(fired) => attempt.is_early |= fired.early,
            EventKind::StepStarted(started) => {
                attempt.started_at = Some(started.started_at);
                attempt.status = match started.waits_until {
                    Some(_) => AttemptStatus::Waiting,
                    None => AttemptStatus::Running,
                };
            }
            EventKind::ExternalTaskLocked(locked) => attempt.worker.clone_from(&locked.worker_id),
            EventKind::StepCompleted(done) => {
                attempt.end(AttemptStatus::Completed, event.at, done.duration_ms);
            }
            EventKind::CompensationCompleted(_) => {
                attempt.end(AttemptStatus::Completed, event.at, None);
            }
            EventKind::StepFailed(failed) => {
                attempt.end(AttemptStatus::Failed, event.at, failed.duration_ms);
                attempt.failure = Some(failed.error.clone());
            }
            EventKind::StepLost(lost) => {
                attempt.end(AttemptStatus::Lost, event.at, None);
                attempt.node = lost.node;
            }
            EventKind::StepSkipped(_) if attempt.is_open() => {
                attempt.end(AttemptStatus::Cancelled, event.at, None);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::execution::decide::tests::fixture::{Run, retry_now};

    /// `a#1 failed, a#2 planned`
    fn told(run: &Run) -> String {
        let attempts = Attempts::of(&run.log);
        let told = attempts.iter().map(|one| {
            let undo = if one.is_compensation { " (undoes)" } else { "" };
            let early = if one.is_early { " early" } else { "" };
            format!("{}#{} {:?}{early}{undo}", one.step, one.number, one.status)
        });
        told.collect::<Vec<_>>().join(", ").to_lowercase()
    }

    #[test]
    fn each_has_how_it_went() {
        let mut run = Run::of(&["a", "b"]);
        run.fail("a", "503");
        assert_eq!(told(&run), "a#1 failed, a#2 planned");
        let attempts = Attempts::of(&run.log);
        let (first, second) = (&attempts[0], &attempts[1]);
        assert_eq!(first.failure.as_ref().unwrap().code.as_deref(), Some("503"));
        assert!(first.started_at.is_some() && first.ended_at >= first.started_at);
        assert_eq!((first.backoff_ms, second.backoff_ms), (None, Some(2_000)));
        assert_eq!(
            second.due_at,
            Some(second.scheduled_at.plus(std::time::Duration::from_secs(2),))
        );
        assert_eq!((second.started_at, second.ended_at), (None, None));
        run.send(retry_now())
            .begin("a")
            .lost("a")
            .ok("a", "1")
            .ok("b", "1");
        assert_eq!(
            told(&run),
            "a#1 failed, a#2 lost early, a#3 completed, b#1 completed"
        );
    }

    #[test]
    fn what_was_cut_off_or_undone_is_told() {
        let mut run = Run::of(&["a", "b | needs: []"]);
        run.fail("a", "503").begin("b").cancel();
        assert_eq!(told(&run), "a#1 failed, b#1 cancelled, a#2 cancelled");
        let cut = Attempts::of(&run.log);
        assert!(cut[1].started_at.is_some() && cut[2].started_at.is_none());
        let mut run = Run::of(&["a | compensate: undo", "b | needs: [a]", "undo"]);
        run.ok("a", "1")
            .fail("b", "400")
            .fail("undo", "503")
            .ok("undo", "1");
        assert_eq!(
            told(&run),
            "a#1 completed, b#1 failed, undo#1 failed (undoes), undo#2 completed (undoes)"
        );
    }

    #[test]
    fn tasks_have_their_workers() {
        let mut run = Run::of(&["a~"]);
        run.begin("a").fail("a", "worker");
        let attempts = Attempts::of(&run.log);
        assert!(attempts.iter().all(|one| one.is_task));
        assert_eq!(attempts.len(), 2);
        assert!(attempts[0].worker.is_some() && attempts[1].worker.is_none());
    }

    #[test]
    fn who_waits_for_a_callback_waits() {
        let mut run = Run::of(&["a^"]);
        run.ok("a", "1");
        assert_eq!(told(&run), "a#1 waiting");
    }
}
