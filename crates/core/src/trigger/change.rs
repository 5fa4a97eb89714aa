//! What creating, enabling, disabling and changing a trigger makes of its state.
//!
//! A slot belongs to the settings that were in force when it was due. So before a schedule is
//! replaced, what the old one still owes is written down, and the new one begins at that moment.

use super::Trigger;
use super::ledger::SkipReason;
use super::plan::{Plan, Step};
use super::settings::Overlap;
use super::state::State;
use crate::time::Timestamp;

/// What becomes of the slots of a pause when a trigger is enabled again.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum CatchUp {
    /// They are one skipped stretch.
    #[default]
    No,
    /// They were missed, however short it was: the misfire policy says what is caught up with.
    Yes,
}

/// The first state of a trigger. What is due at this very moment or earlier is not its business.
#[must_use]
pub fn created(trigger: &Trigger, now: Timestamp) -> State {
    let watched = trigger.enabled && trigger.settings.dead_man.is_some();
    let mut state = State {
        rev: 1,
        cursor: now,
        due_at: None,
        running: None,
        buffered: None,
        success_at: None,
        success_slot: None,
        watched_from: watched.then_some(now),
        alarmed_at: None,
        cycles: 0,
    };
    state.due_at = trigger.due(&state, now);
    state
}

/// What changing a trigger writes, enabling and disabling included. Nothing is fired by it; a look
/// may be due at once.
#[must_use]
pub fn changed(
    before: &Trigger,
    after: &Trigger,
    state: &State,
    now: Timestamp,
    catch_up: CatchUp,
) -> Plan {
    let replanned = !after.settings.plans_like(&before.settings);
    change(before, after, replanned, state, now, catch_up)
}

/// What mending a trigger writes whose settings could not be read. Which slots it had since nobody
/// knows: those of the new settings are written down as missed, and may be run by hand.
#[must_use]
pub fn mended(was_enabled: bool, after: &Trigger, state: &State, now: Timestamp) -> Plan {
    let before = Trigger {
        enabled: was_enabled,
        ..after.clone()
    };
    change(&before, after, true, state, now, CatchUp::No)
}

fn change(
    before: &Trigger,
    after: &Trigger,
    replanned: bool,
    state: &State,
    now: Timestamp,
    catch_up: CatchUp,
) -> Plan {
    let mut step = Step::new(after, state, now);
    if !after.enabled {
        step.release(SkipReason::Paused);
    } else if replanned || after.settings.overlap != Overlap::BufferOne {
        step.release(SkipReason::Overlap);
    }
    settle(before, after, replanned, catch_up, &mut step, now);
    let watched = after.enabled && after.settings.dead_man.is_some();
    let same_watch = watched
        && before.enabled
        && !replanned
        && before.settings.dead_man == after.settings.dead_man;
    if !same_watch {
        step.state.watched_from = watched.then_some(now);
        step.state.alarmed_at = None;
    }
    step.finish(state)
}

/// Disables a trigger.
#[must_use]
pub fn disabled(trigger: &Trigger, state: &State, now: Timestamp) -> Plan {
    let after = Trigger {
        enabled: false,
        ..trigger.clone()
    };
    changed(trigger, &after, state, now, CatchUp::No)
}

/// Enables a trigger.
#[must_use]
pub fn enabled(trigger: &Trigger, state: &State, now: Timestamp, catch_up: CatchUp) -> Plan {
    let after = Trigger {
        enabled: true,
        ..trigger.clone()
    };
    changed(trigger, &after, state, now, catch_up)
}

/// Writes down what the slots up to now have become by the old settings.
fn settle(
    before: &Trigger,
    after: &Trigger,
    replanned: bool,
    catch_up: CatchUp,
    step: &mut Step<'_>,
    now: Timestamp,
) {
    let Some(timeline) = before.timeline() else {
        return;
    };
    let cursor = step.state.cursor;
    let until = if replanned {
        // The old schedule ends here, also for slots that its jitter has put off.
        (now > cursor).then_some(now)
    } else {
        timeline.last_planned(cursor, now)
    };
    let reason = match (before.enabled, after.enabled) {
        (true, false) => SkipReason::Missed,
        (true, true) if replanned => SkipReason::Missed,
        (false, true) if !replanned && catch_up == CatchUp::Yes => {
            step.miss(timeline);
            return;
        }
        (false, true) => SkipReason::Paused,
        (false, false) if replanned => SkipReason::Paused,
        (true, true) | (false, false) => return,
    };
    let Some(until) = until else {
        return;
    };
    if let Some(last) = timeline.previous(until.plus(super::timeline::MICROSECOND)) {
        step.skip(timeline, last, reason);
    }
    if replanned {
        step.advance(timeline, until);
    }
}
