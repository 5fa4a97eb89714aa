//! Slots of a range: what comes next, and what is run again for the past.

use std::collections::HashSet;

use refire_schedule::Slot;

use super::Trigger;
use super::ledger::{Entry, LateReason, Outcome, SkipReason};
use super::plan::Plan;
use super::state::State;
use super::timeline::{MICROSECOND, Timeline, stored};
use crate::id::ExecutionId;
use crate::time::Timestamp;

/// The most slots that one backfill starts.
pub const BACKFILL_MAX: u64 = 1_000;

/// The most slots that are shown in advance.
pub const UPCOMING_MAX: usize = 1_000;

/// A slot that is to come.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Upcoming {
    /// The slot; its moment is its nominal time.
    pub slot: Slot,
    /// When it is to start.
    pub planned: Timestamp,
}

/// The slots that are to start after a moment, at most [`UPCOMING_MAX`] of them, and none up to the
/// cursor: what was planned before the trigger was made is not to come, however long its jitter is.
/// Whether the trigger is enabled plays no part.
#[must_use]
pub fn upcoming(
    trigger: &Trigger,
    cursor: Option<Timestamp>,
    now: Timestamp,
    count: usize,
) -> Vec<Upcoming> {
    let Some(timeline) = trigger.timeline() else {
        return Vec::new();
    };
    let mut found = Vec::new();
    let mut after = timeline
        .last_planned(Timestamp::FIRST, now)
        .max(cursor)
        .unwrap_or(Timestamp::FIRST);
    while found.len() < count.min(UPCOMING_MAX)
        && let Some(slot) = timeline.slot_after(after)
    {
        after = stored(slot.at);
        let planned = timeline.planned(after);
        found.push(Upcoming { slot, planned });
    }
    found
}

/// Which slots of a range are meant.
#[derive(Debug, Clone, Copy)]
pub enum Slots<'a> {
    /// All of them.
    All,
    /// Those that the ledger has as skipped, and not as started. What it does not have any more is
    /// not meant: it may have been started.
    Missed(&'a [Entry]),
}

/// Why nothing is run again.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BackfillError {
    /// The trigger has no planned times.
    #[error("a webhook has no planned times")]
    NoSchedule,
    /// The range ends before it begins.
    #[error("the range ends before it begins")]
    Backwards,
    /// More than a backfill may start.
    #[error("there are {count} slots in this range; at most {max} can be run at once")]
    TooMany {
        /// How many there are.
        count: u64,
        /// How many there may be.
        max: u64,
    },
    /// The ledger has the ends of a stretch, and the present schedule does not lead from one to the other.
    #[error(
        "the {count} slots that were skipped from {from} to {to} belong to an earlier schedule and are no longer known; leave them out of the range"
    )]
    OtherSchedule {
        /// The first of the stretch.
        from: Timestamp,
        /// The last of it.
        to: Timestamp,
        /// How many there were.
        count: u64,
    },
}

/// The slots from one moment to another, both included, that are to be run again, oldest first.
/// What is not yet due is left out. `max` is at most [`BACKFILL_MAX`].
///
/// # Errors
/// When there is no such range, or there are too many.
pub fn backfill(
    trigger: &Trigger,
    slots: Slots<'_>,
    from: Timestamp,
    to: Timestamp,
    now: Timestamp,
    max: u64,
) -> Result<Vec<Timestamp>, BackfillError> {
    let timeline = trigger.timeline().ok_or(BackfillError::NoSchedule)?;
    if to < from {
        return Err(BackfillError::Backwards);
    }
    let max = max.min(BACKFILL_MAX);
    let (after, to) = (from.minus(MICROSECOND), to.min(now));
    let bounded = |count: u64| {
        if count > max {
            Err(BackfillError::TooMany { count, max })
        } else {
            Ok(())
        }
    };
    let ledger = match slots {
        Slots::All => {
            bounded(timeline.count(after, to))?;
            return Ok(timeline.slots(after, to).collect());
        }
        Slots::Missed(ledger) => ledger,
    };
    let is_missed = |entry: &&Entry| matches!(entry.outcome, Outcome::Skipped(reason) if reason != SkipReason::Dst);
    // Each stretch within the range.
    let stretches: Vec<(Timestamp, Timestamp, &Entry)> = ledger
        .iter()
        .filter(is_missed)
        .map(|entry| {
            let begin = entry.nominal.minus(MICROSECOND);
            (after.max(begin), to.min(entry.to), entry)
        })
        .filter(|(after, to, _)| after < to)
        .collect();
    let started: HashSet<Timestamp> = ledger
        .iter()
        .filter(|entry| entry.outcome.is_started())
        .map(|entry| entry.nominal)
        .filter(|slot| {
            let holds = |(after, to, _): &(Timestamp, Timestamp, _)| after < slot && slot <= to;
            stretches.iter().any(holds)
        })
        .collect();
    let is_unknown = |(_, _, entry): &&(_, _, &Entry)| !is_of(timeline, entry);
    if let Some((_, _, entry)) = stretches.iter().find(is_unknown) {
        return Err(BackfillError::OtherSchedule {
            from: entry.nominal,
            to: entry.to,
            count: entry.count,
        });
    }
    let count = |(after, to, entry): &(Timestamp, Timestamp, &Entry)| match entry.count {
        1 => 1,
        _ => timeline.count(*after, *to),
    };
    let all: u64 = stretches.iter().map(count).sum();
    bounded(all.saturating_sub(started.len() as u64))?;
    let mut found: Vec<Timestamp> = Vec::new();
    for (after, to, entry) in stretches {
        if entry.count == 1 {
            found.push(entry.nominal);
        } else {
            found.extend(timeline.slots(after, to));
        }
    }
    found.retain(|slot| !started.contains(slot));
    found.sort_unstable();
    found.dedup();
    Ok(found)
}

/// Whether the slots of a stretch can be told: an entry of one slot knows it by itself, the others only
/// the schedule knows, which may have been another one then.
fn is_of(timeline: Timeline<'_>, entry: &Entry) -> bool {
    let before = entry.nominal.minus(MICROSECOND);
    entry.count == 1
        || (timeline.next(before) == Some(entry.nominal)
            && timeline.previous(entry.to.plus(MICROSECOND)) == Some(entry.to)
            && timeline.count(before, entry.to) == entry.count)
}

/// What is written down when a slot of the past is run: the ledger has it, and the plan goes on as it
/// was.
#[must_use]
pub fn backfilled(state: &State, slot: Timestamp, execution: ExecutionId, now: Timestamp) -> Plan {
    let entry = Entry {
        execution: Some(execution),
        ..Entry::one(slot, Outcome::Late(LateReason::Backfill), now)
    };
    Plan {
        entries: vec![entry],
        apart: false,
        fire: None,
        cancel: None,
        missed: None,
        state: State {
            rev: state.rev + 1,
            cycles: state.cycles + 1,
            ..*state
        },
    }
}

/// What is written down when somebody wants an execution now that counts like those of slots: the plan
/// goes on as it was.
#[must_use]
pub fn run_now(state: &State) -> Plan {
    Plan {
        entries: Vec::new(),
        apart: false,
        fire: None,
        cancel: None,
        missed: None,
        state: State {
            rev: state.rev + 1,
            cycles: state.cycles + 1,
            ..*state
        },
    }
}

#[cfg(test)]
mod tests;
