//! Planned times: what fires, and what daylight saving kept from firing.

use std::fmt;

use jiff::Timestamp;
use jiff::civil::DateTime;
use jiff::tz::Offset;

/// One planned time of a schedule. No two slots of a schedule share a moment, so the moment is its
/// identity.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Slot {
    /// The moment at which it is due, before any jitter.
    pub at: Timestamp,
    /// What the wall clock of the schedule's zone shows then.
    pub local: DateTime,
    /// The local time that the schedule names; another than `local` only if it was moved.
    pub planned: DateTime,
    /// Local time less UTC.
    pub offset: Offset,
    /// Whether daylight saving had a hand in it.
    pub kind: SlotKind,
}

impl fmt::Display for Slot {
    /// The moment in the schedule's zone, such as `2026-03-08T03:00:00-04:00`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.at.display_with_offset(self.offset).fmt(f)
    }
}

/// How a slot came to its moment.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotKind {
    /// The local time exists, and this is the first time that it comes.
    Normal,
    /// The planned local time does not exist on that day; this is the first moment after the gap.
    Moved,
    /// The clock was moved back and shows this local time for the second time.
    Repeated,
}

/// A planned local time at which nothing fires because of a change of the clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Skipped {
    /// The moment it belongs to: the change of the clock, or the pass that was not chosen.
    pub at: Timestamp,
    /// The local time that the schedule names.
    pub planned: DateTime,
    /// Why nothing fires.
    pub reason: SkipReason,
}

/// Why a planned local time does not fire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// It does not exist on that day, and the schedule skips such times.
    Gap,
    /// It does not exist on that day, and another slot fires at the moment that it was moved to.
    Merged,
    /// It comes twice on that day, and the schedule fires the other time.
    OtherPass,
}
