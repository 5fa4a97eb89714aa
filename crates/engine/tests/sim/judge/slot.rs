//! What may become of a slot, and why: the overlap policy, the misfire policy, and what people do.

use std::time::Duration;

use refire_core::execution::{Event, EventKind};
use refire_core::time::Timestamp;
use refire_core::trigger::ledger::LateReason;
use refire_core::trigger::plan::{LATE_AFTER, MISFIRE_AFTER};
use refire_core::trigger::{Misfire, Outcome, Overlap, SkipReason, Trigger};

use super::trigger::{Line, Piece, Scene};
use crate::mark::{Mark, Marks};
use crate::world::Violation;

const LAWFUL: &str = "what became of a slot has its reason";
const EARLY: &str = "no slot fires before its time";
const OVERLAP: &str = "the overlap policy is kept";
const MISFIRE: &str = "the misfire policy is kept";

/// How early a slot may be fired by the clock of a shared database, which the nodes can only
/// estimate.
const EARLY_MAX: Duration = Duration::from_millis(500);

impl Line {
    /// A look has written this.
    pub(super) fn stepped(
        &mut self,
        pieces: &[Piece],
        scene: &Scene<'_>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let mut has_started = false;
        let (before, waited) = (self.done, self.buffered);
        for piece in pieces {
            if has_started {
                let what = "something follows what was started";
                return Err(Violation::new("a look starts one slot", what));
            }
            match piece.outcome {
                Outcome::Overdue => self.alarm(true, marks)?,
                Outcome::Recovered => self.alarm(false, marks)?,
                Outcome::Late(LateReason::Backfill) => self.fill(piece, scene)?,
                Outcome::Fired | Outcome::Late(_) => {
                    has_started = true;
                    self.append(piece)?;
                    self.says_how_late(piece, waited, marks)?;
                    self.in_nobodys_way(scene, marks)?;
                    // The time of one that waited had come before, whatever the clock was set to since.
                    if waited != Some(piece.to) {
                        self.on_time(piece, scene)?;
                        self.catches_up(piece, before)?;
                    }
                    self.start(piece, scene, marks)?;
                }
                Outcome::Skipped(reason) => {
                    let first = self.overtaken(piece).unwrap_or(self.done);
                    self.append(piece)?;
                    self.skips(piece, reason, first, scene, marks)?;
                }
            }
        }
        self.leaves_nothing(pieces, has_started)
    }

    fn on_time(&self, piece: &Piece, scene: &Scene<'_>) -> Result<(), Violation> {
        let planned = self.timeline()?.planned(piece.to);
        let fail = |what: String| Err(Violation::new(EARLY, what));
        if piece.at < planned {
            return fail(format!(
                "{planned} is planned, it was fired at {}",
                piece.at
            ));
        }
        let Some(writer) = scene.writer else {
            return Ok(());
        };
        if let Some(own) = writer.own_now.filter(|own| *own < piece.at) {
            return fail(format!("fired at {}, by its node it is {own}", piece.at));
        }
        match writer.real_now {
            Some(now) if now.plus(EARLY_MAX) < planned => {
                fail(format!("{planned} is planned, it is {now}"))
            }
            _ => Ok(()),
        }
    }

    fn says_how_late(
        &self,
        piece: &Piece,
        waited: Option<Timestamp>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let planned = self.timeline()?.planned(piece.to);
        let behind = piece.at.since(planned);
        let has_waited = waited == Some(piece.to);
        let expected = match behind {
            _ if behind <= LATE_AFTER => Outcome::Fired,
            _ if has_waited => Outcome::Late(LateReason::Overlap),
            _ if behind <= MISFIRE_AFTER => Outcome::Late(LateReason::Behind),
            _ => Outcome::Late(LateReason::Missed),
        };
        let mark = match expected {
            Outcome::Late(LateReason::Behind) => Some(Mark::FiredBehind),
            Outcome::Late(LateReason::Missed) => Some(Mark::CaughtUp),
            _ if planned > piece.to => Some(Mark::FiredWithJitter),
            _ => None,
        };
        mark.into_iter().for_each(|mark| marks.reach(mark));
        if has_waited {
            marks.reach(Mark::BufferedFired);
        }
        match piece.outcome == expected {
            true => Ok(()),
            false => {
                let what = format!("{behind:?} after its time it is {:?}", piece.outcome);
                Err(Violation::new(LAWFUL, what))
            }
        }
    }

    /// Whether policies wait for what is started.
    pub(super) fn tracks(&self) -> bool {
        self.trigger.settings.overlap != Overlap::Allow
    }

    /// Nothing runs that the policy would have waited for.
    fn in_nobodys_way(&self, scene: &Scene<'_>, marks: &mut Marks) -> Result<(), Violation> {
        let Some(before) = self.tracked.filter(|_| self.tracks()) else {
            return Ok(());
        };
        if scene.is_open(before) {
            let what = format!("{before} has not ended");
            return Err(Violation::new(OVERLAP, what));
        }
        let own = Some(self.trigger.id.to_string());
        let is_own = |event: &Event| match &event.kind {
            EventKind::ExecutionCancelled(cancelled) => cancelled.by == own,
            _ => false,
        };
        if scene
            .known
            .get(&before)
            .is_some_and(|known| known.log.iter().any(is_own))
        {
            marks.reach(Mark::PreviousCancelled);
        }
        Ok(())
    }

    /// The slots after one that were to start by then.
    fn due(&self, after: Timestamp, at: Timestamp) -> Result<Vec<Timestamp>, Violation> {
        let timeline = self.timeline()?;
        let is_due = |slot: &Timestamp| timeline.planned(*slot) <= at;
        Ok(timeline.slots(after, at).take_while(is_due).collect())
    }

    /// The slots after one that were missed by then: if the first of them is late by more than a
    /// minute, all of them.
    fn missed(&self, after: Timestamp, at: Timestamp) -> Result<Vec<Timestamp>, Violation> {
        let timeline = self.timeline()?;
        let due = self.due(after, at)?;
        let is_missed = |slot: &Timestamp| at.since(timeline.planned(*slot)) > MISFIRE_AFTER;
        Ok(match due.first().is_some_and(is_missed) {
            true => due,
            false => Vec::new(),
        })
    }

    /// How many missed slots are wanted.
    fn wanted(&self) -> usize {
        wanted(&self.trigger)
    }

    fn is_young(&self, slot: Timestamp, at: Timestamp) -> Result<bool, Violation> {
        let planned = self.timeline()?.planned(slot);
        Ok(planned >= at.minus(self.trigger.settings.misfire_window))
    }

    /// Of what was missed no more is started than is wanted.
    fn catches_up(&self, piece: &Piece, before: Timestamp) -> Result<(), Violation> {
        let missed = self.missed(before, piece.at)?;
        let left = missed.iter().filter(|slot| **slot >= piece.to).count();
        let is_old = missed.contains(&piece.to) && !self.is_young(piece.to, piece.at)?;
        match left > self.wanted() || is_old {
            true => {
                let what = format!("{} is fired, {left} of {missed:?} are left", piece.to);
                Err(Violation::new(MISFIRE, what))
            }
            false => Ok(()),
        }
    }

    /// Of what was missed as many of the newest are left as are wanted, and young enough.
    fn keeps_the_newest(
        &self,
        piece: &Piece,
        missed: &[Timestamp],
        wanted: usize,
    ) -> Result<(), Violation> {
        let kept = missed.iter().filter(|slot| **slot > piece.to).count();
        let young = missed.iter().map(|slot| self.is_young(*slot, piece.at));
        let young = young.collect::<Result<Vec<bool>, Violation>>()?;
        let young = young.into_iter().filter(|is_young| *is_young).count();
        match missed.contains(&piece.to) && kept == wanted.min(young) {
            true => Ok(()),
            false => {
                let what = format!("up to {} of {missed:?} are skipped", piece.to);
                Err(Violation::new(MISFIRE, what))
            }
        }
    }

    /// Why a look leaves slots out; those after `first` had not been passed.
    fn skips(
        &self,
        piece: &Piece,
        reason: SkipReason,
        first: Timestamp,
        scene: &Scene<'_>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let runs = self.running.is_some_and(|id| scene.is_open(id));
        let policy = self.trigger.settings.overlap;
        match (reason, policy) {
            (SkipReason::Missed, _) => {
                marks.reach(Mark::MissedSkipped);
                self.keeps_the_newest(piece, &self.missed(first, piece.at)?, self.wanted())
            }
            (SkipReason::Dropped, Overlap::BufferOne) if runs && piece.count == 1 => {
                marks.reach(Mark::BufferedGivenUp);
                Ok(())
            }
            (SkipReason::Overlap, Overlap::Skip | Overlap::BufferOne) if runs => {
                marks.reach(match policy {
                    Overlap::Skip => Mark::SkippedForOverlap,
                    _ => Mark::BufferedGivenUp,
                });
                Ok(())
            }
            _ => {
                let what = format!(
                    "{reason:?} with {policy:?}, {:?} runs: {runs}",
                    self.running
                );
                Err(Violation::new(LAWFUL, what))
            }
        }
    }

    /// A slot waits only for something that runs, and only if the policy says so.
    pub(super) fn buffers(
        &self,
        slot: Option<Timestamp>,
        scene: &Scene<'_>,
    ) -> Result<(), Violation> {
        let writer = scene.writer.as_ref();
        let now = writer.and_then(|writer| writer.own_now.or(writer.real_now));
        if let (Some(slot), Some(now)) = (slot, now)
            && now.plus(EARLY_MAX) < self.timeline()?.planned(slot)
        {
            return Err(Violation::new(EARLY, format!("{slot} waits, it is {now}")));
        }
        let runs = self.running.is_some_and(|id| scene.is_open(id));
        let policy = self.trigger.settings.overlap;
        match runs && policy == Overlap::BufferOne {
            true => Ok(()),
            false => {
                let what = format!("{slot:?} waits with {policy:?}, {:?}", self.running);
                Err(Violation::new(OVERLAP, what))
            }
        }
    }

    /// What was due by then is dealt with, unless something was started: then the next look goes on.
    fn leaves_nothing(&self, pieces: &[Piece], has_started: bool) -> Result<(), Violation> {
        let skipped = pieces
            .last()
            .filter(|last| matches!(last.outcome, Outcome::Skipped(_)));
        let Some(last) = skipped.filter(|_| !has_started) else {
            return Ok(());
        };
        let timeline = self.timeline()?;
        let due = timeline.slots(self.done, last.at);
        let due: Vec<Timestamp> = due
            .filter(|slot| timeline.planned(*slot) <= last.at)
            .collect();
        // The newest may wait, and only that.
        match due.len() > usize::from(self.trigger.settings.overlap == Overlap::BufferOne) {
            true => Err(Violation::new(LAWFUL, format!("{due:?} are due, but left"))),
            false => Ok(()),
        }
    }

    /// A person has changed the trigger, or has deleted its workflow.
    pub(super) fn changed(
        &mut self,
        after: &Trigger,
        pieces: &[Piece],
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let (before, waited) = (self.trigger.clone(), self.buffered);
        let replanned = !after.settings.plans_like(&before.settings);
        for piece in pieces {
            let from = self.done;
            self.append(piece)?;
            let is_waiting = piece.count == 1 && waited == Some(piece.to);
            let Outcome::Skipped(reason) = piece.outcome else {
                let what = format!("a change makes {:?}", piece.outcome);
                return Err(Violation::new(LAWFUL, what));
            };
            let is_lawful = match reason {
                SkipReason::Paused => !before.enabled || (!after.enabled && is_waiting),
                SkipReason::Missed if !before.enabled => {
                    let due = self.due(from, piece.at)?;
                    self.keeps_the_newest(piece, &due, wanted(after))?;
                    after.enabled && !replanned
                }
                SkipReason::Missed => !after.enabled || replanned,
                SkipReason::Overlap => {
                    is_waiting && (replanned || after.settings.overlap != Overlap::BufferOne)
                }
                SkipReason::Dropped => is_waiting,
                SkipReason::Dst => false,
            };
            let is_past = !is_waiting && piece.to > piece.at;
            if !is_lawful || is_past {
                let what = format!("a change makes {reason:?} after {from} up to {}", piece.to);
                return Err(Violation::new(LAWFUL, what));
            }
            marks.reach(match reason {
                SkipReason::Paused => Mark::PausedStretch,
                _ => Mark::ChangedWhileOwing,
            });
        }
        Ok(())
    }
}

/// How many missed slots a trigger wants to be started.
fn wanted(trigger: &Trigger) -> usize {
    let settings = &trigger.settings;
    match settings.misfire {
        Misfire::Skip => 0,
        Misfire::FireOnce => 1,
        Misfire::FireAll => usize::try_from(settings.misfire_max).unwrap_or(usize::MAX),
    }
}
