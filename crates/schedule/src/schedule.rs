//! A schedule that was understood, and the questions it answers.

use std::time::Duration;

use jiff::Timestamp;
use jiff::tz::TimeZone;

use crate::compile::{Compiled, compile};
use crate::dst::Dst;
use crate::interval::Interval;
use crate::jitter;
use crate::local::Local;
use crate::moments::Moments;
use crate::once::slot_at;
use crate::problem::{Problem, Problems, Reason};
use crate::settings::ScheduleSettings;
use crate::slot::{Skipped, Slot};
use crate::zone::{self, Stretch, floor};

/// How far ahead or back a single search in a calendar looks. It is longer than any pattern needs
/// (29 February comes after eight years at most, a fifth Sunday in February after forty), and it
/// keeps a search that finds nothing from going on.
pub const HORIZON: Duration = Duration::from_secs(100 * 366 * 24 * 60 * 60);

const NANOSECOND: Duration = Duration::from_nanos(1);

/// What says when.
#[derive(Debug, Clone)]
pub(crate) enum Rule {
    Local(Local),
    Interval(Interval),
    Moments(Moments),
}

/// When work is due. It reads no clock: every question brings its moments.
///
/// Ranges leave out their beginning and include their end, so that `(the last slot that was dealt
/// with, now]` holds what is due and nothing twice.
///
/// It keeps no text, so that a hundred thousand of them are small; what is stored and shown are its
/// [`ScheduleSettings`].
#[derive(Debug, Clone)]
pub struct Schedule {
    pub(crate) rule: Rule,
    zone: TimeZone,
    start: Option<Timestamp>,
    end: Option<Timestamp>,
    jitter: Duration,
    dst: Dst,
}

impl Schedule {
    /// Understands what was written.
    ///
    /// # Errors
    /// Everything that is wrong with it, each with the field and the reason.
    pub fn new(settings: &ScheduleSettings) -> Result<Self, Problems> {
        let Compiled {
            rule,
            zone,
            start,
            end,
            jitter,
        } = compile(settings)?;
        let schedule = Self {
            rule,
            zone,
            start,
            end,
            jitter,
            dst: settings.dst,
        };
        schedule.check_window()?;
        Ok(schedule)
    }

    /// A window that nothing is due in is a mistake.
    fn check_window(&self) -> Result<(), Problems> {
        let (field, empty) = match (self.start, self.end) {
            (None, None) => return Ok(()),
            (Some(start), None) => ("start", self.next(before(start)).is_none()),
            (_, Some(end)) => ("end", self.previous(after(end)).is_none()),
        };
        if empty {
            let said = "nothing is planned between `start` and `end`, so it never fires";
            return Err(Problems(vec![Problem::new(field, Reason::new(said))]));
        }
        Ok(())
    }

    /// The zone of its local times.
    #[must_use]
    pub fn zone(&self) -> &TimeZone {
        &self.zone
    }

    /// The IANA name of that zone.
    #[must_use]
    pub fn timezone(&self) -> &str {
        zone::name(&self.zone)
    }

    /// Nothing is due before it.
    #[must_use]
    pub fn start(&self) -> Option<Timestamp> {
        self.start
    }

    /// Nothing is due after it.
    #[must_use]
    pub fn end(&self) -> Option<Timestamp> {
        self.end
    }

    /// The window over which slots are spread; zero if they are not.
    #[must_use]
    pub fn jitter(&self) -> Duration {
        self.jitter
    }

    /// What becomes of local times that a change of the clock skips or repeats.
    #[must_use]
    pub fn dst(&self) -> Dst {
        self.dst
    }

    /// When a slot is to start: its moment and, if there is a jitter window, a delay that is the
    /// same wherever and whenever it is asked for. The seed is the trigger's, so that triggers with
    /// equal schedules do not start together.
    #[must_use]
    pub fn due(&self, slot: Timestamp, seed: u64) -> Timestamp {
        let delay = jitter::delay(self.jitter, seed, slot);
        slot.checked_add(delay).unwrap_or(Timestamp::MAX)
    }

    /// The first slot after a moment; in a calendar, if there is one within [`HORIZON`].
    #[must_use]
    pub fn next(&self, after: Timestamp) -> Option<Slot> {
        let from = after.checked_add(NANOSECOND).ok()?;
        let (from, until) = self.window(from, Timestamp::MAX)?;
        // The window may begin long after the moment that was asked about.
        let horizon = from.checked_add(HORIZON).unwrap_or(Timestamp::MAX);
        match self.rule {
            Rule::Local(_) => self.first(from, until.min(horizon)),
            Rule::Interval(_) | Rule::Moments(_) => self.first(from, until),
        }
    }

    /// The last slot before a moment; in a calendar, if there is one within [`HORIZON`].
    #[must_use]
    pub fn previous(&self, before: Timestamp) -> Option<Slot> {
        let to = before.checked_sub(NANOSECOND).ok()?;
        let (since, to) = self.window(Timestamp::MIN, to)?;
        let horizon = to.checked_sub(HORIZON).unwrap_or(Timestamp::MIN);
        match self.rule {
            Rule::Local(_) => self.last(to, since.max(horizon)),
            Rule::Interval(_) | Rule::Moments(_) => self.last(to, since),
        }
    }

    /// The slots after a moment up to another, from the earliest on.
    #[must_use]
    pub fn slots(&self, after: Timestamp, until: Timestamp) -> Slots<'_> {
        let range = after
            .checked_add(NANOSECOND)
            .ok()
            .and_then(|from| self.window(from, until));
        Slots {
            schedule: self,
            range,
            front: None,
            back: None,
        }
    }

    /// How many slots there are after a moment up to another. The cost grows with the changes of
    /// the clock and the months between them, not with the slots.
    #[must_use]
    pub fn count(&self, after: Timestamp, until: Timestamp) -> u64 {
        let from = after.checked_add(NANOSECOND).ok();
        let Some((from, until)) = from.and_then(|from| self.window(from, until)) else {
            return 0;
        };
        match &self.rule {
            Rule::Local(local) => match seconds(from, until) {
                Some((from, until)) => local.count(from, until),
                None => 0,
            },
            Rule::Interval(interval) => interval.count(from, until),
            Rule::Moments(moments) => moments.between(from, until).len() as u64,
        }
    }

    /// The local times after a moment up to another that the schedule names but that do not fire,
    /// because the clock was moved and the policy says so. Schedules that follow elapsed time have
    /// none.
    #[must_use]
    pub fn skipped(&self, after: Timestamp, until: Timestamp) -> Vec<Skipped> {
        let from = after.checked_add(NANOSECOND).ok();
        let Some((from, until)) = from.and_then(|from| self.window(from, until)) else {
            return Vec::new();
        };
        match &self.rule {
            Rule::Local(local) => match seconds(from, until) {
                Some((from, until)) => local.skipped(from, until),
                None => Vec::new(),
            },
            Rule::Interval(_) => Vec::new(),
            Rule::Moments(moments) => moments.skipped(from, until),
        }
    }

    /// A range, both ends included, within the start and the end; none if nothing is left.
    fn window(&self, from: Timestamp, until: Timestamp) -> Option<(Timestamp, Timestamp)> {
        let from = self.start.map_or(from, |start| start.max(from));
        let until = self.end.map_or(until, |end| end.min(until));
        (from <= until).then_some((from, until))
    }

    /// The first slot from one moment to another, both included.
    fn first(&self, from: Timestamp, until: Timestamp) -> Option<Slot> {
        self.first_from(&mut None, from, until)
    }

    /// The same with the stretch of the slot before, so that a walk asks the zone seldom.
    fn first_from(
        &self,
        known: &mut Option<Stretch>,
        from: Timestamp,
        until: Timestamp,
    ) -> Option<Slot> {
        match &self.rule {
            Rule::Local(local) => {
                let (from, until) = seconds(from, until)?;
                let stretch = known
                    .take()
                    .filter(|stretch| (stretch.start..stretch.end).contains(&from));
                let mut stretch = stretch.unwrap_or_else(|| Stretch::around(&local.zone, from));
                let slot = local.first(&mut stretch, from, until);
                *known = Some(stretch);
                slot
            }
            Rule::Interval(interval) => {
                let at = interval.first(from, until)?;
                Some(slot_at(&self.zone, at))
            }
            Rule::Moments(moments) => moments.between(from, until).first().copied(),
        }
    }

    /// The last slot up to one moment and not before another.
    fn last(&self, to: Timestamp, since: Timestamp) -> Option<Slot> {
        self.last_from(&mut None, to, since)
    }

    fn last_from(
        &self,
        known: &mut Option<Stretch>,
        to: Timestamp,
        since: Timestamp,
    ) -> Option<Slot> {
        match &self.rule {
            Rule::Local(local) => {
                let (since, to) = seconds(since, to)?;
                let stretch = known
                    .take()
                    .filter(|stretch| (stretch.start..stretch.end).contains(&to));
                let mut stretch = stretch.unwrap_or_else(|| Stretch::around(&local.zone, to));
                let slot = local.last(&mut stretch, to, since);
                *known = Some(stretch);
                slot
            }
            Rule::Interval(interval) => {
                let at = interval.last(to, since)?;
                Some(slot_at(&self.zone, at))
            }
            Rule::Moments(moments) => moments.between(since, to).last().copied(),
        }
    }
}

fn before(at: Timestamp) -> Timestamp {
    at.checked_sub(NANOSECOND).unwrap_or(Timestamp::MIN)
}

fn after(at: Timestamp) -> Timestamp {
    at.checked_add(NANOSECOND).unwrap_or(Timestamp::MAX)
}

/// The whole seconds within a range of moments.
fn seconds(from: Timestamp, until: Timestamp) -> Option<(i64, i64)> {
    let first = floor(from) + i64::from(from.subsec_nanosecond() != 0);
    let last = floor(until);
    (first <= last).then_some((first, last))
}

impl TryFrom<&ScheduleSettings> for Schedule {
    type Error = Problems;

    fn try_from(settings: &ScheduleSettings) -> Result<Self, Problems> {
        Self::new(settings)
    }
}

/// The slots of a range, from either end.
#[derive(Debug, Clone)]
pub struct Slots<'a> {
    schedule: &'a Schedule,
    /// What is left, both ends included.
    range: Option<(Timestamp, Timestamp)>,
    front: Option<Stretch>,
    back: Option<Stretch>,
}

impl Iterator for Slots<'_> {
    type Item = Slot;

    fn next(&mut self) -> Option<Slot> {
        let (from, until) = self.range.take()?;
        let slot = self.schedule.first_from(&mut self.front, from, until)?;
        let from = slot.at.checked_add(NANOSECOND).ok();
        self.range = from
            .map(|from| (from, until))
            .filter(|(from, until)| from <= until);
        Some(slot)
    }
}

impl DoubleEndedIterator for Slots<'_> {
    fn next_back(&mut self) -> Option<Slot> {
        let (from, until) = self.range.take()?;
        let slot = self.schedule.last_from(&mut self.back, until, from)?;
        let until = slot.at.checked_sub(NANOSECOND).ok();
        self.range = until
            .map(|until| (from, until))
            .filter(|(from, until)| from <= until);
        Some(slot)
    }
}

#[cfg(test)]
mod tests;
