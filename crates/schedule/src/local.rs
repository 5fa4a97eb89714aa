//! A calendar in a zone: local times become moments.
//!
//! Time is taken one stretch after the other, each without a change of the clock. Within a stretch
//! local time and elapsed time run alike, so the calendar's own arithmetic finds and counts; only
//! the ends of a stretch need a decision:
//!
//! - a stretch that begins with a gap begins with the slot that was moved out of it, if there is
//!   one and the policy wants it;
//! - a stretch that repeats local times begins after them if they fire the first time, and one
//!   whose last local times come again ends before them if they fire the last time.
//!
//! A calendar that follows elapsed time has no policy: it takes every stretch as it is.

use jiff::tz::{Offset, TimeZone};

use crate::calendar::Calendar;
use crate::dst::{Dst, Gap, Repeat};
use crate::slot::{SkipReason, Skipped, Slot, SlotKind};
use crate::zone::{Stretch, moment};

/// No zone is further than this from UTC, in seconds.
const OFFSET_MAX_S: i64 = 26 * 3600;

/// A calendar in a zone.
#[derive(Debug, Clone)]
pub(crate) struct Local {
    pub(crate) calendar: Calendar,
    pub(crate) zone: TimeZone,
    /// None if it follows elapsed time.
    pub(crate) policy: Option<Dst>,
}

impl Local {
    /// The first slot from one second on, and not after another. `stretch` is the one that `from`
    /// is in, and afterwards the one that the slot is in.
    pub(crate) fn first(&self, stretch: &mut Stretch, from: i64, until: i64) -> Option<Slot> {
        loop {
            if (from..=until).contains(&stretch.start)
                && let Some(slot) = self.moved(stretch)
            {
                return Some(slot);
            }
            let (first, last) = self.within(stretch, from, until);
            if first <= last {
                let offset = stretch.offset;
                if let Some(local) = self.calendar.first(first + offset, last + offset) {
                    return Some(slot(stretch, local - offset));
                }
            }
            if stretch.end > until {
                return None;
            }
            // Nothing can be due before the calendar's next local time in any zone.
            let local = stretch.end + stretch.offset.min(stretch.after);
            let next = self.calendar.first(local, until + OFFSET_MAX_S)?;
            let second = stretch.end.max(next - OFFSET_MAX_S);
            if second > until {
                return None;
            }
            *stretch = Stretch::around(&self.zone, second);
        }
    }

    /// The last slot up to one second, and not before another. `stretch` is the one that `to` is
    /// in, and afterwards the one that the slot is in.
    pub(crate) fn last(&self, stretch: &mut Stretch, to: i64, since: i64) -> Option<Slot> {
        loop {
            let (first, last) = self.within(stretch, since, to);
            if first <= last {
                let offset = stretch.offset;
                if let Some(local) = self.calendar.last(last + offset, first + offset) {
                    return Some(slot(stretch, local - offset));
                }
            }
            if (since..=to).contains(&stretch.start)
                && let Some(slot) = self.moved(stretch)
            {
                return Some(slot);
            }
            if stretch.start <= since {
                return None;
            }
            let local = stretch.start + stretch.offset.max(stretch.before);
            let previous = self.calendar.last(local, since - OFFSET_MAX_S)?;
            let second = (stretch.start - 1).min(previous + OFFSET_MAX_S);
            if second < since {
                return None;
            }
            *stretch = Stretch::around(&self.zone, second);
        }
    }

    /// How many slots there are from one second to another, both included.
    pub(crate) fn count(&self, from: i64, until: i64) -> u64 {
        let mut count = 0;
        self.each_stretch(from, until, |stretch| {
            let (first, last) = self.within(stretch, from, until);
            let offset = stretch.offset;
            if first <= last {
                count += self.calendar.count(first + offset, last + offset + 1);
            }
            if (from..=until).contains(&stretch.start) && self.moved(stretch).is_some() {
                count += 1;
            }
        });
        count
    }

    /// What does not fire from one second to another because the clock was moved, in the order of
    /// the moments.
    pub(crate) fn skipped(&self, from: i64, until: i64) -> Vec<Skipped> {
        let mut skipped = Vec::new();
        let Some(policy) = self.policy else {
            return skipped;
        };
        self.each_stretch(from, until, |stretch| {
            self.skipped_in_gap(policy.gap, stretch, &mut skipped);
            let other_pass = match policy.repeat {
                Repeat::First => (stretch.start, stretch.repeated()),
                Repeat::Last => (stretch.end - stretch.will_repeat(), stretch.will_repeat()),
                Repeat::Both => (stretch.start, 0),
            };
            let (start, length) = other_pass;
            let local = start.saturating_add(stretch.offset);
            self.each_local(local, length, |local| {
                skipped.push(Skipped {
                    at: moment(local - stretch.offset),
                    planned: civil(local),
                    reason: SkipReason::OtherPass,
                });
            });
        });
        skipped.retain(|skipped| (moment(from)..=moment(until)).contains(&skipped.at));
        skipped
    }

    /// Whether a local time of the calendar is skipped, and whether one is repeated, by a change of
    /// the clock from one second to another. What follows elapsed time is not touched.
    pub(crate) fn touched(&self, from: i64, until: i64) -> (bool, bool) {
        let (mut gap, mut repeat) = (false, false);
        if self.policy.is_some() {
            self.each_stretch(from, until, |stretch| {
                if (from..=until).contains(&stretch.start) {
                    let (before, after) = (
                        stretch.start + stretch.before,
                        stretch.start + stretch.offset,
                    );
                    gap |= self.calendar.first(before, after - 1).is_some();
                    repeat |= self.calendar.first(after, before - 1).is_some();
                }
            });
        }
        (gap, repeat)
    }

    fn skipped_in_gap(&self, gap: Gap, stretch: &Stretch, skipped: &mut Vec<Skipped>) {
        let fires = self.moved(stretch).map(|slot| slot.planned);
        let local = stretch.start.saturating_add(stretch.before);
        self.each_local(local, stretch.gap(), |local| {
            let planned = civil(local);
            if fires != Some(planned) {
                skipped.push(Skipped {
                    at: moment(stretch.start),
                    planned,
                    reason: match gap {
                        Gap::Skip => SkipReason::Gap,
                        Gap::NextValid => SkipReason::Merged,
                    },
                });
            }
        });
    }

    /// The first and the last second of a stretch that may fire, between two others.
    fn within(&self, stretch: &Stretch, from: i64, until: i64) -> (i64, i64) {
        let mut first = stretch.start;
        let mut end = stretch.end;
        match self.policy.map(|policy| policy.repeat) {
            Some(Repeat::First) => first += stretch.repeated(),
            Some(Repeat::Last) => end -= stretch.will_repeat(),
            Some(Repeat::Both) | None => {}
        }
        (first.max(from), (end - 1).min(until))
    }

    /// The slot that was moved out of the gap before a stretch, unless the local time right after
    /// the gap is one of the calendar's own.
    fn moved(&self, stretch: &Stretch) -> Option<Slot> {
        if stretch.gap() == 0 || self.policy?.gap != Gap::NextValid {
            return None;
        }
        let after = stretch.start + stretch.offset;
        let planned = self
            .calendar
            .first(stretch.start + stretch.before, after - 1)?;
        if self.calendar.first(after, after).is_some() {
            return None;
        }
        Some(Slot {
            planned: civil(planned),
            kind: SlotKind::Moved,
            ..slot(stretch, stretch.start)
        })
    }

    fn each_stretch(&self, from: i64, until: i64, mut see: impl FnMut(&Stretch)) {
        let mut stretch = Stretch::around(&self.zone, from);
        see(&stretch);
        while stretch.end <= until {
            stretch = Stretch::around(&self.zone, stretch.end);
            see(&stretch);
        }
    }

    /// The calendar's local times within so many seconds.
    fn each_local(&self, from: i64, length: i64, mut see: impl FnMut(i64)) {
        let mut next = from;
        while length > 0
            && let Some(local) = self.calendar.first(next, from + length - 1)
        {
            see(local);
            next = local + 1;
        }
    }
}

/// The slot at a second of a stretch.
fn slot(stretch: &Stretch, second: i64) -> Slot {
    let local = civil(second + stretch.offset);
    let repeated = stretch.repeated() > 0 && second - stretch.start < stretch.repeated();
    Slot {
        at: moment(second),
        local,
        planned: local,
        offset: i32::try_from(stretch.offset)
            .ok()
            .and_then(|seconds| Offset::from_seconds(seconds).ok())
            .unwrap_or(Offset::UTC),
        kind: if repeated {
            SlotKind::Repeated
        } else {
            SlotKind::Normal
        },
    }
}

/// A local second as a date and time.
fn civil(local: i64) -> jiff::civil::DateTime {
    Offset::UTC.to_datetime(moment(local))
}
