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

impl Outcome {
    /// The word for it.
    #[must_use]
    pub fn status(self) -> &'static str {
        match self {
            Self::Fired => "fired",
            Self::Late(_) => "late",
            Self::Skipped(_) => "skipped",
            Self::Overdue => "overdue",
            Self::Recovered => "recovered",
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
            .find(|known| known.status() == status && known.reason() == reason)
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

    /// Whether something was started.
    #[must_use]
    pub fn is_started(self) -> bool {
        matches!(self, Self::Fired | Self::Late(_))
    }
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
            Some(newest) if self.outcome.extends() && newest.outcome == self.outcome => {
                newest.to = self.to;
                newest.count += self.count;
                newest.at = self.at;
            }
            _ => ledger.push(self),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn outcomes_have_words_that_lead_back() {
        for outcome in Outcome::ALL {
            let found = Outcome::from_words(outcome.status(), outcome.reason());
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
