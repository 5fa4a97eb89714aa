//! The ledger: what became of every planned time.
//!
//! A step appends entries; it never reads any. Entries have the order of their slots, so a stretch of
//! slots that were skipped for one reason can be one entry. That a stretch goes on is found when it is
//! written: if the newest row of the trigger has the same outcome, and that is one that
//! [extends](Outcome::extends), the entry is added to it (`to` and `at` are taken over, `count` is
//! added) instead of becoming a row of its own.

use crate::id::ExecutionId;
use crate::time::Timestamp;

/// The most entries that one step makes of left-out local times.
pub(super) const GAPS_MAX: usize = 200;

/// Entries that each trigger keeps, at least, apart from those that follow.
pub const SLOTS_KEPT: u64 = 200;
/// Stretches that were skipped are kept apart, so that what was missed is not pushed out by what went
/// well. Local times that do not exist are none of them.
pub const SKIPS_KEPT: u64 = 100;
/// And so are the slots of them that were run after all: without these, they would be run once more.
pub const BACKFILLS_KEPT: u64 = 2_000;
/// Entries that a ledger may get before it is cut: not each commit does that.
pub const GOT_MAX: u64 = SLOTS_KEPT + 50;

/// What became of one planned time, or of a stretch of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The nominal time, or the first of the stretch.
    pub nominal: Timestamp,
    /// The last nominal time of the stretch.
    pub to: Timestamp,
    /// How many slots there are from the one to the other.
    pub count: u64,
    /// What became of them.
    pub outcome: Outcome,
    /// What was started.
    pub execution: Option<ExecutionId>,
    /// When this was found or done.
    pub at: Timestamp,
}

/// What became of a planned time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Outcome {
    /// It was started when it was planned.
    Fired,
    /// It was started later than planned.
    Late(LateReason),
    /// It was not started.
    Skipped(SkipReason),
    /// No slot of its own: the success that was expected by now has not come.
    Overdue,
    /// No slot of its own: after [`Self::Overdue`], a success came.
    Recovered,
}

/// Why a slot was started late.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum LateReason {
    /// A person ran it later.
    Backfill,
    /// Nobody looked in time, but soon after.
    Behind,
    /// It was missed and caught up by the misfire policy.
    Missed,
    /// It waited for the execution before it.
    Overlap,
}

/// Why a slot was not started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SkipReason {
    /// The execution before it had not ended.
    Overlap,
    /// The trigger was disabled.
    Paused,
    /// Nobody looked in time, and the misfire policy leaves it out.
    Missed,
    /// The local time does not exist on that day, and the trigger skips such times.
    Dst,
    /// It had waited for an execution, newer ones had been skipped meanwhile, and then it was given up.
    Dropped,
}

/// An outcome without its reason.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum SlotStatus {
    /// [`Outcome::Fired`].
    Fired,
    /// [`Outcome::Late`].
    Late,
    /// [`Outcome::Skipped`].
    Skipped,
    /// [`Outcome::Overdue`].
    Overdue,
    /// [`Outcome::Recovered`].
    Recovered,
}

impl SlotStatus {
    /// Every status.
    pub const ALL: [Self; 5] = [
        Self::Fired,
        Self::Late,
        Self::Skipped,
        Self::Overdue,
        Self::Recovered,
    ];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Late => "late",
            Self::Skipped => "skipped",
            Self::Overdue => "overdue",
            Self::Recovered => "recovered",
        }
    }

    /// The status that a word stands for.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|status| status.name() == name)
    }
}

impl Outcome {
    /// What it is without its reason.
    #[must_use]
    pub fn status(self) -> SlotStatus {
        match self {
            Self::Fired => SlotStatus::Fired,
            Self::Late(_) => SlotStatus::Late,
            Self::Skipped(_) => SlotStatus::Skipped,
            Self::Overdue => SlotStatus::Overdue,
            Self::Recovered => SlotStatus::Recovered,
        }
    }

    /// The word for its reason, if it has one.
    #[must_use]
    pub fn reason(self) -> Option<&'static str> {
        match self {
            Self::Late(LateReason::Backfill) => Some("backfill"),
            Self::Late(LateReason::Behind) => Some("behind"),
            Self::Late(LateReason::Missed) | Self::Skipped(SkipReason::Missed) => Some("missed"),
            Self::Late(LateReason::Overlap) | Self::Skipped(SkipReason::Overlap) => Some("overlap"),
            Self::Skipped(SkipReason::Paused) => Some("paused"),
            Self::Skipped(SkipReason::Dst) => Some("dst"),
            Self::Skipped(SkipReason::Dropped) => Some("dropped"),
            Self::Fired | Self::Overdue | Self::Recovered => None,
        }
    }

    /// The outcome of those words.
    #[must_use]
    pub fn from_words(status: &str, reason: Option<&str>) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|known| known.status().name() == status && known.reason() == reason)
    }

    /// Every outcome.
    pub const ALL: [Self; 12] = [
        Self::Fired,
        Self::Late(LateReason::Backfill),
        Self::Late(LateReason::Behind),
        Self::Late(LateReason::Missed),
        Self::Late(LateReason::Overlap),
        Self::Skipped(SkipReason::Overlap),
        Self::Skipped(SkipReason::Paused),
        Self::Skipped(SkipReason::Missed),
        Self::Skipped(SkipReason::Dst),
        Self::Skipped(SkipReason::Dropped),
        Self::Overdue,
        Self::Recovered,
    ];

    /// Whether an entry goes on with the newest one of its trigger if that has the same outcome.
    /// Left-out local times do not: each of their entries is one change of the clock. Nor does a slot that
    /// comes after newer ones: what lies between is not its stretch.
    #[must_use]
    pub fn extends(self) -> bool {
        matches!(
            self,
            Self::Skipped(SkipReason::Overlap | SkipReason::Paused | SkipReason::Missed)
        )
    }

    /// The share of a ledger that an entry belongs to.
    #[must_use]
    pub fn share(self) -> Share {
        match self {
            Self::Skipped(SkipReason::Dst) => Share::Slots,
            Self::Skipped(_) => Share::Skips,
            Self::Late(LateReason::Backfill) => Share::Backfills,
            Self::Fired | Self::Late(_) | Self::Overdue | Self::Recovered => Share::Slots,
        }
    }

    /// Whether something was started.
    #[must_use]
    pub fn is_started(self) -> bool {
        matches!(self, Self::Fired | Self::Late(_))
    }
}

/// What is kept of a ledger by a number of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Share {
    /// What is in no other share.
    Slots,
    /// Skipped stretches.
    Skips,
    /// Slots that a person ran later.
    Backfills,
}

impl Share {
    /// How many entries of it are kept when a ledger is cut.
    #[must_use]
    pub fn kept(self) -> u64 {
        match self {
            Self::Slots => SLOTS_KEPT,
            Self::Skips => SKIPS_KEPT,
            Self::Backfills => BACKFILLS_KEPT,
        }
    }
}

/// What goes when a ledger is cut, of its entries from the newest to the oldest.
pub fn surplus<K>(newest_first: impl IntoIterator<Item = (K, Outcome)>) -> Vec<K> {
    let mut seen = [0; 3];
    let mut is_kept = |outcome: Outcome| {
        let share = outcome.share();
        seen[share as usize] += 1;
        seen[share as usize] <= share.kept()
    };
    let entries = newest_first.into_iter();
    let gone = entries.filter(|(_, outcome)| !is_kept(*outcome));
    gone.map(|(key, _)| key).collect()
}

/// What a ledger has got since it was cut if it gets so many more, and whether it is cut before.
#[must_use]
pub fn got(before: u64, more: u64) -> (u64, bool) {
    let is_cut = before + more > GOT_MAX;
    (if is_cut { SLOTS_KEPT } else { before + more }, is_cut)
}

impl Entry {
    /// One about a single slot.
    pub(super) fn one(nominal: Timestamp, outcome: Outcome, at: Timestamp) -> Self {
        Self {
            nominal,
            to: nominal,
            count: 1,
            outcome,
            execution: None,
            at,
        }
    }

    /// Adds an entry to others as a store does: to the newest one, or as a new one.
    pub fn append(self, ledger: &mut Vec<Self>) {
        match ledger.last_mut() {
            Some(newest) if self.outcome.extends() && self.goes_on_with(newest) => {
                *newest = newest.longer_by(&self);
            }
            _ => ledger.push(self),
        }
    }

    /// Whether both may be parts of one stretch.
    #[must_use]
    pub fn goes_on_with(&self, newest: &Self) -> bool {
        let started = self.execution.or(newest.execution);
        started.is_none() && self.outcome == newest.outcome
    }

    /// The stretch that both are.
    #[must_use]
    pub fn longer_by(&self, next: &Self) -> Self {
        Self {
            to: next.to,
            count: self.count + next.count,
            at: next.at,
            ..*self
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_words_that_lead_back() {
        for outcome in Outcome::ALL {
            let found = Outcome::from_words(outcome.status().name(), outcome.reason());
            assert_eq!(found, Some(outcome));
        }
        assert_eq!(Outcome::from_words("fired", Some("missed")), None);
        assert_eq!(Outcome::from_words("lost", None), None);
    }

    #[test]
    fn a_stretch_goes_on_until_something_else_happens() {
        let at = Timestamp::from_millis;
        let mut ledger = Vec::new();
        for (minute, outcome) in [
            (1, Outcome::Skipped(SkipReason::Overlap)),
            (2, Outcome::Skipped(SkipReason::Overlap)),
            (3, Outcome::Fired),
            (4, Outcome::Fired),
            (5, Outcome::Skipped(SkipReason::Overlap)),
            (6, Outcome::Skipped(SkipReason::Missed)),
        ] {
            Entry::one(at(minute), outcome, at(minute)).append(&mut ledger);
        }
        let seen: Vec<_> = ledger
            .iter()
            .map(|entry| (entry.nominal, entry.count))
            .collect();
        assert_eq!(
            seen,
            [(at(1), 2), (at(3), 1), (at(4), 1), (at(5), 1), (at(6), 1)]
        );
        assert_eq!((ledger[0].to, ledger[0].at), (at(2), at(2)));
    }
}
