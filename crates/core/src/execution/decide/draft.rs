//! A decision being made: each event is applied as it is written, so that what follows sees it.

use super::Decision;
use crate::definition::{Step, StepId, Workflow};
use crate::execution::apply::apply_to;
use crate::execution::command::Refusal;
use crate::execution::effect::{Effect, TaskEnd, Work};
use crate::execution::event::{Event, EventKind};
use crate::execution::scope::{Reading, StateScope};
use crate::execution::state::{Execution, StepState};
use crate::limit;
use crate::time::Timestamp;

/// What a step that would take the log past its bounds fails with.
pub(super) const HISTORY_IS_FULL: &str = "the execution's history has reached its limit";

pub(super) struct Draft<'a> {
    pub(super) workflow: &'a Workflow,
    pub(super) state: Execution,
    /// Never earlier than the last event.
    pub(super) now: Timestamp,
    events: Vec<Event>,
    effects: Vec<Effect>,
    reading: Reading,
}

/// What an event's header says beside its kind.
#[derive(Default)]
pub(super) struct Header {
    pub(super) step: Option<StepId>,
    pub(super) attempt: Option<u32>,
    pub(super) backoff_ms: Option<u64>,
    pub(super) reason: Option<String>,
}

impl Header {
    pub(super) fn step(step: &StepId, attempt: u32) -> Self {
        Self {
            step: Some(step.clone()),
            attempt: Some(attempt),
            ..Self::default()
        }
    }

    pub(super) fn because(mut self, reason: impl Into<String>) -> Self {
        self.reason = Some(reason.into());
        self
    }
}

impl<'a> Draft<'a> {
    pub(super) fn new(
        workflow: &'a Workflow,
        state: Execution,
        now: Timestamp,
        search_bytes_max: usize,
    ) -> Self {
        let now = now.max(state.updated_at);
        Self {
            workflow,
            state,
            now,
            events: Vec::new(),
            effects: Vec::new(),
            reading: Reading::up_to(search_bytes_max),
        }
    }

    /// The rules that the execution began under.
    pub(super) fn rules_version(&self) -> u16 {
        self.state.origin.as_ref().map_or(0, |origin| origin.rules)
    }

    /// The values that templates may read. What is not at hand, or too much to search, is noted, and
    /// then this draft becomes no decision.
    pub(super) fn scope(&self) -> StateScope<'_> {
        StateScope::reading(&self.state, &self.reading)
    }

    /// Writes an event now.
    pub(super) fn emit(&mut self, header: Header, kind: EventKind) {
        self.emit_at(self.now, header, kind);
    }

    /// Writes an event that happened at `at`; its time is moved forward where the log is
    /// further already, because times in a log never go back.
    pub(super) fn emit_at(&mut self, at: Timestamp, header: Header, kind: EventKind) {
        let event = Event {
            sequence: self.state.version.saturating_add(1),
            at: at.max(self.state.updated_at),
            step: header.step,
            attempt: header.attempt,
            backoff_ms: header.backoff_ms,
            reason: header.reason,
            kind,
        };
        apply_to(&mut self.state, &event);
        self.events.push(event);
    }

    pub(super) fn effect(&mut self, effect: Effect) {
        self.effects.push(effect);
    }

    /// Work for the step's live attempt. While the execution is paused resuming makes it; the row
    /// of the attempt that just ended goes at once, or it would look like a running one for as
    /// long as the pause lasts.
    pub(super) fn schedule(&mut self, step: &StepId) {
        if let Some(offer) = self.offer(step) {
            self.effect(Effect::Offer(offer));
        } else if self.state.paused_at.is_some() {
            self.withdraw(step);
        } else if let Some(work) = self.work(step) {
            self.effect(Effect::Schedule(work));
        }
    }

    /// The step has no live attempt any more; `was` is what it was before that.
    pub(super) fn end_work(&mut self, step: &StepId, was: &StepState, end: TaskEnd) {
        if was.is_task() {
            let step = step.clone();
            self.effect(Effect::Close { step, end });
        } else if was.awaited.is_none() {
            self.withdraw(step);
        }
    }

    /// No node has anything to do for the step any more.
    pub(super) fn withdraw(&mut self, step: &StepId) {
        self.effect(Effect::Withdraw { step: step.clone() });
    }

    /// The work that the step's live attempt is.
    pub(super) fn work(&self, id: &StepId) -> Option<Work> {
        let step = self.state.step(id).filter(|step| step.is_live())?;
        Some(Work {
            step: id.clone(),
            attempt: step.attempt,
            due_at: step.due_at,
            is_retry: step.attempt > 1,
        })
    }

    /// The definition and state of a step whose attempt `attempt` is live.
    pub(super) fn live(&self, id: &StepId, attempt: u32) -> Option<(usize, &'a Step, StepState)> {
        let (index, step) = self.workflow.step(id.as_ref())?;
        let state = self.state.step(id)?;
        (state.is_live() && state.attempt == attempt).then(|| (index, step, state.clone()))
    }

    /// Whether another attempt would take the log past its bounds.
    pub(super) fn history_is_full(&self) -> bool {
        // Room for what ends an execution is kept free.
        const EVENTS_KEPT_FREE: u64 = 100;
        self.state.version >= limit::HISTORY_EVENTS_MAX - EVENTS_KEPT_FREE
            || self.state.history_bytes >= limit::HISTORY_BYTES_MAX
    }

    /// What was decided, if all that had to be read could be.
    pub(super) fn into_decision(self) -> Result<Decision, Refusal> {
        if let Some(missing) = self.reading.missing() {
            return Err(Refusal::MissingPayload(missing));
        }
        if self.reading.is_too_heavy() {
            return Err(Refusal::TooHeavy);
        }
        Ok(self.into_first_decision())
    }

    /// The same for the first decision of an execution, which has every value at hand.
    pub(super) fn into_first_decision(self) -> Decision {
        Decision {
            events: self.events,
            effects: self.effects,
            state: self.state,
        }
    }
}
