//! The dead-man check: a success is expected by a certain moment, and its absence is recorded.
//!
//! Nothing has to happen for an alarm: the deadline is a moment like a slot, and a look at the
//! trigger is due then. It is recorded once, and a success that meets the expectation again ends it.

use super::settings::DeadMan;
use super::state::State;
use super::{Entry, Outcome, Trigger};
use crate::time::Timestamp;

/// By when a success is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadline {
    /// The moment.
    pub at: Timestamp,
    /// The slot that must succeed, or the deadline itself if any success will do.
    pub expected: Timestamp,
}

/// By when a trigger must have its next success; none if nobody waits for one, or no slot is left
/// that could bring it.
#[must_use]
pub fn deadline(trigger: &Trigger, state: &State) -> Option<Deadline> {
    let rule = trigger.settings.dead_man.filter(|_| trigger.enabled)?;
    let watched = state.watched_from?;
    match rule {
        DeadMan::Grace(grace) => {
            let timeline = trigger.timeline()?;
            let met = state.success_slot.map_or(watched, |slot| slot.max(watched));
            let expected = timeline.next(met)?;
            let at = timeline.planned(expected).plus(grace);
            Some(Deadline { at, expected })
        }
        DeadMan::SuccessWithin(length) => {
            let mut met = state.success_at.map_or(watched, |at| at.max(watched));
            if let Some(timeline) = trigger.timeline() {
                // Before its window, and after its last slot has succeeded, none is expected.
                timeline.next(met)?;
                met = timeline.start().map_or(met, |start| start.max(met));
            }
            let at = met.plus(length);
            Some(Deadline { at, expected: at })
        }
    }
}

/// What a look at the trigger finds: an entry if something changed, and the state after it.
pub(super) fn watch(trigger: &Trigger, state: &mut State, now: Timestamp) -> Option<Entry> {
    let deadline = deadline(trigger, state);
    let (nominal, outcome) = match (state.alarmed_at, deadline) {
        (None, Some(deadline)) if deadline.at <= now => {
            state.alarmed_at = Some(now);
            (deadline.expected, Outcome::Overdue)
        }
        (None, _) => return None,
        // It has moved only if it lies after the alarm; that it lies after `now` may be the clock.
        (Some(alarmed), Some(deadline)) if deadline.at <= now.max(alarmed) => return None,
        (Some(_), _) => {
            state.alarmed_at = None;
            (state.success_slot.or(state.success_at)?, Outcome::Recovered)
        }
    };
    Some(Entry::one(nominal, outcome, now))
}
