//! One step of a trigger: what a look at it at a certain moment writes and starts.
//!
//! The slots after the cursor that are due are taken in their order:
//!
//! 1. If the oldest of them is late by more than [`MISFIRE_AFTER`], nobody was there for a while, and
//!    all of them count as missed, also the youngest. The misfire policy drops some: they become one
//!    skipped stretch. If it is not that late, none was missed: a restart or a failover loses nothing.
//! 2. If the overlap policy waits for an execution, all the others are skipped, or the newest of
//!    them is buffered. A slot that was buffered before is given up for it, and only for it.
//! 3. Otherwise the oldest of them is fired. If others are left, a look is due at once.
//!
//! A step is decided on a state and counts only if that state is still there when it is written. So
//! of two nodes that take the same step one is refused, and nothing is fired twice.

use std::time::Duration;

use super::ledger::{Entry, GAPS_MAX, LateReason, Outcome, SkipReason};
use super::settings::{Misfire, Overlap};
use super::state::State;
use super::timeline::{MICROSECOND, Timeline};
use super::{Trigger, dead_man};
use crate::id::ExecutionId;
use crate::time::Timestamp;

/// A slot that is started more than this after its planned time is late.
pub const LATE_AFTER: Duration = Duration::from_secs(1);

/// If a slot is not looked at for more than this after its planned time, it was missed, and so was
/// all that is due with it.
pub const MISFIRE_AFTER: Duration = Duration::from_secs(60);

/// What a step writes and starts, all in one commit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Plan {
    /// To be added to the ledger in this order.
    pub entries: Vec<Entry>,
    /// Whether the first of them is no part of the stretch before it: a slot between them still waits.
    pub apart: bool,
    /// The slot to start; its entry is the last.
    pub fire: Option<Fire>,
    /// The execution to cancel first.
    pub cancel: Option<ExecutionId>,
    /// What was due when nobody had looked for too long, if that is how it was found.
    pub missed: Option<Missed>,
    /// The state after the step. If its `rev` is the old one, there is nothing to write.
    pub state: State,
}

/// Slots that were missed, as a look finds them. While it catches up, later looks find what is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Missed {
    /// The oldest.
    pub from: Timestamp,
    /// The newest.
    pub to: Timestamp,
    /// How many there are.
    pub count: u64,
    /// How many of them the misfire policy leaves out.
    pub dropped: u64,
}

/// A slot to start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Fire {
    /// Its identity.
    pub nominal: Timestamp,
    /// When it was to start.
    pub planned: Timestamp,
    /// Why it starts later than that, if it does.
    pub late: Option<LateReason>,
    /// Whether the overlap policy waits for its execution.
    pub tracked: bool,
}

impl Plan {
    /// The same with the execution that the slot starts.
    #[must_use]
    pub fn started_as(mut self, execution: ExecutionId) -> Self {
        let Some(fire) = self.fire else {
            return self;
        };
        if fire.tracked {
            self.state.running = Some(execution);
        }
        if let Some(entry) = self.entries.last_mut() {
            entry.execution = Some(execution);
        }
        self
    }

    /// Whether the first entry goes on with the newest row of the ledger, if that has the same
    /// outcome.
    #[must_use]
    pub fn extends(&self) -> bool {
        let first = self.entries.first();
        !self.apart && first.is_some_and(|entry| entry.outcome.extends())
    }

    /// Whether there is anything to write.
    #[must_use]
    pub fn is_empty(&self, before: &State) -> bool {
        self.state.rev == before.rev
    }
}

/// What a look at a trigger at a moment writes and starts.
#[must_use]
pub fn plan(trigger: &Trigger, state: &State, now: Timestamp) -> Plan {
    let mut step = Step::new(trigger, state, now);
    if trigger.enabled {
        let found = dead_man::watch(trigger, &mut step.state, now);
        step.entries.extend(found);
        if let Some(timeline) = trigger.timeline() {
            step.take_slots(timeline);
        }
    }
    step.finish(state)
}

/// A step while it is made.
pub(super) struct Step<'a> {
    trigger: &'a Trigger,
    now: Timestamp,
    entries: Vec<Entry>,
    apart: bool,
    missed: Option<Missed>,
    pub(super) state: State,
    fire: Option<Fire>,
    cancel: Option<ExecutionId>,
}

impl<'a> Step<'a> {
    pub(super) fn new(trigger: &'a Trigger, state: &State, now: Timestamp) -> Self {
        Self {
            trigger,
            now,
            entries: Vec::new(),
            apart: false,
            missed: None,
            state: *state,
            fire: None,
            cancel: None,
        }
    }

    /// The plan, with the next look in its state.
    pub(super) fn finish(mut self, before: &State) -> Plan {
        self.state.due_at = if self.fire.is_some_and(|fire| fire.tracked) {
            // Who runs then is known only to the shell: what counts is that somebody does.
            let running = State {
                running: Some(ExecutionId::from_bytes([0; 16])),
                ..self.state
            };
            self.trigger.due(&running, self.now)
        } else {
            self.trigger.due(&self.state, self.now)
        };
        if self.state != *before || !self.entries.is_empty() {
            self.state.rev = before.rev + 1;
        }
        Plan {
            entries: self.entries,
            apart: self.apart,
            fire: self.fire,
            cancel: self.cancel,
            missed: self.missed,
            state: self.state,
        }
    }

    fn take_slots(&mut self, timeline: Timeline<'_>) {
        let running = self.state.running;
        if running.is_none()
            && let Some(nominal) = self.state.buffered.take()
        {
            self.fire(timeline, nominal, Some(LateReason::Overlap));
            return;
        }
        let cursor = self.state.cursor;
        let missed = self.look_for_missed(timeline);
        let first = self.due_after(timeline, missed.unwrap_or(cursor));
        if running.is_some() && first.is_some() {
            // Before anything is said of newer slots, so that entries have the order of slots.
            self.release(SkipReason::Overlap);
        }
        if let Some(to) = missed {
            self.apart = self.state.buffered == Some(cursor);
            self.skip(timeline, to, SkipReason::Missed);
        }
        let Some(first) = first else {
            return;
        };
        let last = || timeline.last_planned(first, self.now).unwrap_or(first);
        match (self.trigger.settings.overlap, running) {
            (Overlap::Skip, Some(_)) => self.skip(timeline, last(), SkipReason::Overlap),
            (Overlap::BufferOne, Some(_)) => self.buffer(timeline, last()),
            (overlap, _) => {
                if overlap == Overlap::CancelPrevious {
                    self.cancel = running;
                }
                self.advance(timeline, first);
                self.fire(timeline, first, None);
            }
        }
    }

    /// The first slot after a moment, if it is due.
    fn due_after(&self, timeline: Timeline<'_>, after: Timestamp) -> Option<Timestamp> {
        let first = timeline.next(after)?;
        (timeline.planned(first) <= self.now).then_some(first)
    }

    fn write(&mut self, entry: Entry) {
        entry.append(&mut self.entries);
    }

    /// The last slot that the misfire policy does not want to catch up with, if nobody looked for so long
    /// that slots were missed. What is left is started by this look and the next ones: those find nothing
    /// older than it, so that never more of it is started than is wanted now.
    fn look_for_missed(&mut self, timeline: Timeline<'_>) -> Option<Timestamp> {
        let cursor = self.state.cursor;
        let from = self.due_after(timeline, cursor)?;
        if self.now.since(timeline.planned(from)) <= MISFIRE_AFTER {
            return None;
        }
        let dropped = self.last_unwanted(timeline);
        let to = timeline.last_planned(cursor, self.now).unwrap_or(from);
        self.missed = Some(Missed {
            from,
            to,
            count: timeline.count(cursor, to),
            dropped: dropped.map_or(0, |to| timeline.count(cursor, to)),
        });
        dropped
    }

    /// The last slot that the misfire policy leaves out if all that are due were missed.
    fn last_unwanted(&self, timeline: Timeline<'_>) -> Option<Timestamp> {
        let settings = &self.trigger.settings;
        let cursor = self.state.cursor;
        let last = timeline.last_planned(cursor, self.now)?;
        let wanted = match settings.misfire {
            Misfire::Skip => 0,
            Misfire::FireOnce => 1,
            Misfire::FireAll => settings.misfire_max,
        };
        // By when it was to start: jitter makes no slot old.
        let window = self.now.minus(settings.misfire_window).minus(MICROSECOND);
        let old = timeline.last_planned(cursor, window);
        let young_from = old.unwrap_or(cursor);
        let young = timeline.count(young_from, last);
        let kept = wanted.min(young);
        let dropped = match kept {
            0 => Some(last),
            _ if kept == young => timeline.previous(young_from.plus(MICROSECOND)),
            _ => {
                let kept = usize::try_from(kept).unwrap_or(usize::MAX);
                timeline.slots(young_from, last).nth_back(kept)
            }
        };
        dropped.filter(|to| *to > cursor)
    }

    /// Lets all that is due count as missed, however late it is.
    pub(super) fn miss(&mut self, timeline: Timeline<'_>) {
        if let Some(to) = self.last_unwanted(timeline) {
            self.skip(timeline, to, SkipReason::Missed);
        }
    }

    /// Skips every slot up to one.
    pub(super) fn skip(&mut self, timeline: Timeline<'_>, to: Timestamp, reason: SkipReason) {
        let cursor = self.state.cursor;
        let Some(nominal) = timeline.next(cursor).filter(|nominal| *nominal <= to) else {
            return;
        };
        self.advance(timeline, to);
        self.write(Entry {
            nominal,
            to,
            count: timeline.count(cursor, to),
            outcome: Outcome::Skipped(reason),
            execution: None,
            at: self.now,
        });
    }

    /// Keeps the newest slot for the time when the running execution ends.
    fn buffer(&mut self, timeline: Timeline<'_>, newest: Timestamp) {
        if let Some(older) = timeline.previous(newest) {
            self.skip(timeline, older, SkipReason::Overlap);
        }
        self.advance(timeline, newest);
        self.state.buffered = Some(newest);
    }

    /// Gives up the slot that is buffered. If the ledger has newer ones already, it is no part of a
    /// stretch.
    pub(super) fn release(&mut self, reason: SkipReason) {
        if let Some(nominal) = self.state.buffered.take() {
            let is_newest = nominal == self.state.cursor;
            let reason = if is_newest {
                reason
            } else {
                SkipReason::Dropped
            };
            let outcome = Outcome::Skipped(reason);
            self.write(Entry::one(nominal, outcome, self.now));
        }
    }

    /// Moves the cursor, and records the local times that a change of the clock left out on the way.
    pub(super) fn advance(&mut self, timeline: Timeline<'_>, to: Timestamp) {
        let gaps = timeline.gaps(self.state.cursor, to);
        for (nominal, count) in &gaps[gaps.len().saturating_sub(GAPS_MAX)..] {
            self.write(Entry {
                count: *count,
                ..Entry::one(*nominal, Outcome::Skipped(SkipReason::Dst), self.now)
            });
        }
        self.state.cursor = self.state.cursor.max(to);
    }

    fn fire(&mut self, timeline: Timeline<'_>, nominal: Timestamp, waited: Option<LateReason>) {
        let planned = timeline.planned(nominal);
        let behind = self.now.since(planned);
        let late = if behind <= LATE_AFTER {
            None
        } else if behind > MISFIRE_AFTER {
            waited.or(Some(LateReason::Missed))
        } else {
            waited.or(Some(LateReason::Behind))
        };
        let outcome = late.map_or(Outcome::Fired, Outcome::Late);
        self.write(Entry::one(nominal, outcome, self.now));
        self.state.cycles += 1;
        self.fire = Some(Fire {
            nominal,
            planned,
            late,
            tracked: self.trigger.settings.overlap != Overlap::Allow,
        });
    }
}

#[cfg(test)]
mod tests;
