//! A model of the work table: what a store would hold after the effects of every commit.
//!
//! It exists to find the worst defect there can be: a step that may run but that nobody will ever
//! pick up.

use std::collections::BTreeMap;
use std::time::Duration;

use super::fixture::fetched;
use crate::callback::CallbackPut;
use crate::definition::StepId;
use crate::execution::{Began, Begun, Effect, Execution, Offer, StepState, Work};
use crate::time::Timestamp;

/// The rows of one execution: its work and tasks, and its callbacks.
#[derive(Debug, Clone, Default, PartialEq)]
pub(in crate::execution) struct WorkRows(
    BTreeMap<StepId, Row>,
    BTreeMap<(StepId, u32), CallbackPut>,
);

/// One row: work that is ready, timed or running.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::execution) struct Row {
    pub(in crate::execution) work: Work,
    /// Since when a node runs it, or a worker has it.
    pub(in crate::execution) begun: Option<Timestamp>,
    /// What there is to say if it is a task for workers.
    pub(in crate::execution) task: Option<Task>,
}

/// A task as its row has it.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::execution) struct Task {
    pub(in crate::execution) state: TaskState,
    pub(in crate::execution) timeout_at: Timestamp,
}

/// Whether workers may fetch a task that none of them has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(in crate::execution) enum TaskState {
    Open,
    Held,
    Retired,
}

impl Row {
    /// Whether it may begin, or has.
    pub(in crate::execution) fn is_open(&self) -> bool {
        let is_open = |task: &Task| task.state == TaskState::Open;
        self.begun.is_some() || self.task.as_ref().is_none_or(is_open)
    }

    pub(in crate::execution) fn is_retired(&self) -> bool {
        let is_retired = |task: &Task| task.state == TaskState::Retired;
        self.begun.is_none() && self.task.as_ref().is_some_and(is_retired)
    }
}

impl WorkRows {
    pub(in crate::execution) fn get(&self, step: &str) -> Option<&Row> {
        self.0.get(step)
    }

    pub(in crate::execution) fn rows(&self) -> impl Iterator<Item = &Row> {
        self.0.values()
    }

    /// The attempts in flight.
    pub(in crate::execution) fn begun(&self) -> Vec<Begun> {
        let begun = |row: &Row| {
            Some(Begun {
                step: row.work.step.clone(),
                attempt: row.work.attempt,
                began: match row.task {
                    None => Began::Called(row.begun?),
                    Some(_) => fetched(row.begun?),
                },
            })
        };
        self.rows().filter_map(begun).collect()
    }

    /// A node begins the step's work, when it is due.
    pub(in crate::execution) fn begin(&mut self, step: &str, now: Timestamp) {
        let row = self
            .0
            .get_mut(step)
            .unwrap_or_else(|| panic!("{step} has no work to begin"));
        row.begun.get_or_insert(now);
    }

    pub(in crate::execution) fn apply(&mut self, effects: &[Effect]) {
        for effect in effects {
            match effect {
                Effect::Schedule(work) => {
                    assert!(
                        !self.runs(work),
                        "{}#{} would run twice",
                        work.step,
                        work.attempt
                    );
                    self.put(work);
                }
                Effect::Hasten(work) => match self.0.get_mut(&work.step) {
                    // It was begun ahead of its time.
                    Some(row) if row.begun.is_some() => row.work.due_at = None,
                    _ => self.put(work),
                },
                Effect::Restore(work) => {
                    if !self.runs(work) {
                        self.put(work);
                    }
                }
                Effect::Withdraw { step } | Effect::Close { step, .. } => {
                    self.0.remove(step);
                }
                Effect::Offer(offer) | Effect::OfferNow(offer) => self.offer(offer),
                Effect::OfferAgain { step, later } => {
                    self.turn(Some(step), (TaskState::Held, TaskState::Open), *later);
                }
                Effect::Retire { step } => {
                    let change = (TaskState::Open, TaskState::Retired);
                    self.turn(Some(step), change, Duration::ZERO);
                }
                Effect::Hold => {
                    (self.0).retain(|_, row| row.begun.is_some() || row.task.is_some());
                    self.turn(None, (TaskState::Open, TaskState::Held), Duration::ZERO);
                }
                Effect::Callback { step, attempt, put } => {
                    let key = (step.clone(), *attempt);
                    let before = self.1.insert(key, put.clone());
                    let was_open = before.is_none_or(|before| before.is_open);
                    assert!(was_open, "{step}#{attempt}: nothing follows the last word");
                }
                Effect::Abort => {
                    self.0.clear();
                    self.1.values_mut().for_each(|row| row.is_open = false);
                }
                Effect::DeadLetter(_) | Effect::SettleLetter { .. } => {}
            }
        }
    }

    fn offer(&mut self, offer: &Offer) {
        let work = Work {
            step: offer.step.clone(),
            attempt: offer.attempt,
            due_at: Some(offer.available_at),
            is_retry: offer.attempt > 1,
        };
        assert!(!self.runs(&work), "{} would be done twice", work.step);
        let state = match offer.is_held {
            true => TaskState::Held,
            false => TaskState::Open,
        };
        let timeout_at = offer.timeout_at;
        let task = Some(Task { state, timeout_at });
        self.put(&work);
        self.0.entry(work.step).and_modify(|row| row.task = task);
    }

    /// Changes the tasks that nobody has, those of one step or all.
    fn turn(&mut self, step: Option<&StepId>, (from, to): (TaskState, TaskState), later: Duration) {
        for row in self.0.values_mut() {
            let is_meant = step.is_none_or(|step| *step == row.work.step) && row.begun.is_none();
            if let Some(task) = row
                .task
                .as_mut()
                .filter(|task| is_meant && task.state == from)
            {
                task.state = to;
                task.timeout_at = task.timeout_at.plus(later);
            }
        }
    }

    /// Whether a node runs that very attempt.
    fn runs(&self, work: &Work) -> bool {
        let row = self.0.get(&work.step);
        row.is_some_and(|row| row.begun.is_some() && row.work.attempt == work.attempt)
    }

    fn put(&mut self, work: &Work) {
        self.0.insert(
            work.step.clone(),
            Row {
                work: work.clone(),
                begun: None,
                task: None,
            },
        );
    }

    /// The rows of callbacks say what the log says.
    fn callback_problems(&self, state: &Execution) -> Vec<String> {
        let rows = self.1.iter().filter(|(_, row)| row.is_open);
        let open: BTreeMap<_, _> = rows
            .map(|((step, attempt), row)| ((step, *attempt), (row.status, row.until)))
            .collect();
        let waits = state.steps.iter().filter_map(|(id, step)| {
            let awaited = step.awaited.as_ref()?;
            Some(((id, step.attempt), (awaited.status, awaited.until)))
        });
        let waits: BTreeMap<_, _> = waits.collect();
        match open == waits {
            true => Vec::new(),
            false => vec![format!(
                "callbacks {open:?} are open, {waits:?} are awaited"
            )],
        }
    }

    /// What is wrong with the rows of an execution in this state; empty = nothing.
    pub(in crate::execution) fn problems(&self, state: &Execution) -> Vec<String> {
        let mut problems = self.callback_problems(state);
        for (id, row) in &self.0 {
            match state.step(id).filter(|step| step.is_live()) {
                Some(step) if step.awaited.is_some() => {
                    problems.push(format!("{id}: work is left of what its target has"));
                }
                Some(step) if step.attempt == row.work.attempt => {
                    // A task without a time of its own may be fetched from when it was made.
                    let is_due = match row.task {
                        Some(_) => step.due_at.is_none_or(|due| row.work.due_at == Some(due)),
                        None => step.due_at == row.work.due_at,
                    };
                    if !is_due {
                        problems.push(format!("{id}: its work is due at another time"));
                    }
                    if step.is_task() != row.task.is_some() {
                        problems.push(format!("{id}: a task is for workers and nobody else"));
                    }
                }
                Some(step) => problems.push(format!(
                    "{id}: work of attempt {} is left, attempt {} is live",
                    row.work.attempt, step.attempt
                )),
                None => problems.push(format!("{id}: work is left of a step that is not live")),
            }
        }
        if state.paused_at.is_some() {
            let idle = self.0.values();
            let idle = idle.filter(|row| row.begun.is_none() && row.is_open());
            problems.extend(idle.map(|row| format!("{}: may start while paused", row.work.step)));
            return problems;
        }
        let is_failing = state.failing.is_some() && state.compensating.is_none();
        for row in self.rows().filter(|row| row.begun.is_none()) {
            let expected = match is_failing {
                true => TaskState::Retired,
                false => TaskState::Open,
            };
            if row.task.as_ref().is_some_and(|task| task.state != expected) {
                problems.push(format!("{}: its task is not {expected:?}", row.work.step));
            }
        }
        let waits = state.steps.values().any(|step| step.awaited.is_some());
        let runs = |step: &StepState| step.is_live() && step.awaited.is_none();
        for (id, _) in state.steps.iter().filter(|(_, step)| runs(step)) {
            if !self.0.contains_key(id) {
                problems.push(format!("{id}: live, but nobody will ever run it"));
            }
        }
        if !state.status.is_terminal() && self.0.is_empty() && !waits {
            problems.push(format!(
                "stuck: {} and nothing will ever happen",
                state.status
            ));
        }
        problems
    }
}
