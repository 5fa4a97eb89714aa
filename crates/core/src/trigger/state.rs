//! What is remembered of a trigger between two looks at it: one row.
//!
//! `rev` grows with every change that a plan must not miss, so that whoever planned on an older state is
//! refused. That a success came is none: nobody writes over it, and a trigger whose executions end all
//! the time must still be possible to change.

use crate::id::ExecutionId;
use crate::time::Timestamp;

/// The row of a trigger.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct State {
    /// Grows with every change but those of `success_at` and `success_slot`.
    pub rev: u64,
    /// Every slot up to here has been dealt with. It never goes back.
    pub cursor: Timestamp,
    /// When the next look is needed; never, if there is none.
    pub due_at: Option<Timestamp>,
    /// The execution that the overlap policy waits for.
    pub running: Option<ExecutionId>,
    /// The slot that waits for it.
    pub buffered: Option<Timestamp>,
    /// When the last success was.
    pub success_at: Option<Timestamp>,
    /// The latest slot that succeeded.
    pub success_slot: Option<Timestamp>,
    /// Since when successes are expected.
    pub watched_from: Option<Timestamp>,
    /// When the absence of one was recorded; none after a success.
    pub alarmed_at: Option<Timestamp>,
    /// How many executions it has started for its slots, or in place of one.
    pub cycles: u64,
}

/// An execution of a trigger has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct End {
    /// Which.
    pub execution: ExecutionId,
    /// Whether it completed.
    pub success: bool,
    /// The nominal time of its slot; none if it was no slot that started it.
    pub slot: Option<Timestamp>,
    /// When.
    pub at: Timestamp,
}

impl State {
    /// What the end of an execution makes of the state, in the commit that ends it. Whoever waits for it
    /// looks at once, unless the trigger is disabled: a slot that was kept, or a person who was told
    /// that a success is missing.
    #[must_use]
    pub fn ended(mut self, end: End, is_enabled: bool, now: Timestamp) -> Self {
        let was_waited_for = self.running == Some(end.execution);
        let is_awaited = (was_waited_for && self.buffered.is_some())
            || (end.success && self.alarmed_at.is_some());
        if was_waited_for {
            self.running = None;
            self.rev += 1;
        }
        if end.success {
            self.success_at = self.success_at.max(Some(end.at));
            self.success_slot = self.success_slot.max(end.slot);
        }
        let is_late = self.due_at.is_none_or(|due| due > now);
        if is_awaited && is_enabled && is_late {
            self.due_at = Some(now);
            self.rev += 1;
        }
        self
    }

    /// What a plan that was made on this state, or another one of this revision, makes of it. Successes
    /// that came meanwhile stay. A disabled trigger is not due.
    #[must_use]
    pub fn moved_to(self, planned: Self, is_enabled: bool) -> Self {
        Self {
            rev: self.rev + 1,
            due_at: planned.due_at.filter(|_| is_enabled),
            success_at: self.success_at,
            success_slot: self.success_slot,
            ..planned
        }
    }

    /// What is left of it when its workflow is deleted: it starts nothing, and nobody waits for a success.
    #[must_use]
    pub fn without_workflow(self) -> Self {
        Self {
            rev: self.rev + 1,
            due_at: None,
            watched_from: None,
            alarmed_at: None,
            ..self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(10_000);
    const LATER: Timestamp = Timestamp::from_millis(20_000);

    fn execution(number: u8) -> ExecutionId {
        ExecutionId::from_bytes([number; 16])
    }

    fn waiting() -> State {
        State {
            rev: 5,
            cursor: AT,
            due_at: Some(LATER),
            running: Some(execution(1)),
            buffered: None,
            success_at: None,
            success_slot: None,
            watched_from: None,
            alarmed_at: None,
            cycles: 0,
        }
    }

    fn end(number: u8, success: bool) -> End {
        End {
            execution: execution(number),
            success,
            slot: Some(AT),
            at: LATER,
        }
    }

    #[test]
    fn the_execution_that_was_waited_for_is_forgotten() {
        let state = waiting();
        let ended = state.ended(end(1, false), true, LATER);
        let expected = State {
            rev: 6,
            running: None,
            ..state
        };
        assert_eq!(ended, expected);
        assert_eq!(
            state.ended(end(2, false), true, LATER),
            state,
            "another one changes nothing"
        );
    }

    #[test]
    fn what_was_buffered_is_due_at_once() {
        let state = State {
            buffered: Some(AT),
            due_at: None,
            ..waiting()
        };
        let woken = state.ended(end(1, false), true, LATER);
        assert_eq!((woken.due_at, woken.rev), (Some(LATER), 7));
        assert_eq!(state.ended(end(2, false), true, LATER).due_at, None);
        let owed = State {
            due_at: Some(AT),
            ..state
        };
        let still = owed.ended(end(1, false), true, LATER);
        assert_eq!((still.due_at, still.rev), (Some(AT), 6));
    }

    #[test]
    fn successes_only_move_forward() {
        let state = State {
            success_at: Some(LATER),
            success_slot: Some(LATER),
            ..waiting()
        };
        let early = End {
            at: AT,
            ..end(2, true)
        };
        assert_eq!(state.ended(early, true, LATER), state);
        let ended = waiting().ended(end(2, true), true, LATER);
        assert_eq!(
            (ended.success_at, ended.success_slot),
            (Some(LATER), Some(AT))
        );
        assert_eq!(
            (ended.rev, ended.due_at),
            (5, Some(LATER)),
            "who changes the trigger is not in its way"
        );
        let by_hand = End {
            slot: None,
            ..end(2, true)
        };
        assert_eq!(waiting().ended(by_hand, true, LATER).success_slot, None);
    }

    #[test]
    fn a_success_after_an_alarm_is_looked_at() {
        let state = State {
            alarmed_at: Some(AT),
            due_at: None,
            ..waiting()
        };
        let woken = state.ended(end(2, true), true, LATER);
        assert_eq!((woken.due_at, woken.rev), (Some(LATER), 6));
        assert_eq!(
            woken.ended(end(3, true), true, LATER).rev,
            6,
            "it is due already"
        );
        assert_eq!(state.ended(end(2, false), true, LATER), state);
    }

    #[test]
    fn a_disabled_trigger_is_not_woken() {
        let state = State {
            buffered: Some(AT),
            alarmed_at: Some(AT),
            due_at: None,
            ..waiting()
        };
        let ended = state.ended(end(1, true), false, LATER);
        assert_eq!((ended.due_at, ended.running, ended.rev), (None, None, 6));
        assert_eq!(ended.success_at, Some(LATER));
    }

    #[test]
    fn what_is_disabled_or_without_a_workflow_is_not_due() {
        let state = State {
            rev: 3,
            due_at: Some(LATER),
            watched_from: Some(AT),
            alarmed_at: Some(AT),
            success_at: Some(AT),
            ..State::default()
        };
        assert_eq!(state.moved_to(state, true).due_at, Some(LATER));
        assert_eq!(state.moved_to(state, false).due_at, None);
        let left = state.without_workflow();
        assert_eq!(
            (left.rev, left.due_at, left.success_at),
            (4, None, Some(AT))
        );
        assert_eq!((left.watched_from, left.alarmed_at), (None, None));
    }
}
