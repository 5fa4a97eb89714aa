//! The bulk jobs of a seed: what people do with many dead letters at once.

use refire_core::bulk::{Action, JobChange};

use crate::dice::Dice;

/// So many seeds in a thousand have bulk jobs.
const WITH_JOBS: u32 = 250;

/// One thing that people do with bulk jobs. A number chooses among those that there are.
#[derive(Debug, Clone, Copy)]
pub(crate) enum BulkDeed {
    /// Makes one about all letters that wait; several people at once.
    Make {
        action: Action,
        rate: u32,
        people: u32,
        /// Only so many of them, by their ids.
        named: Option<usize>,
    },
    /// Pauses, resumes or cancels one.
    Change { which: u64, change: JobChange },
}

/// What people do with bulk jobs, all over the time that faults come, and later rather than sooner: there
/// must be letters.
pub(super) fn deeds(seed: u64, safety_ms: u64) -> Vec<(u64, BulkDeed)> {
    let dice = &mut Dice::new(seed, "bulk");
    let mut deeds = Vec::new();
    if !dice.chance(WITH_JOBS) {
        return deeds;
    }
    for _ in 0..dice.between(1, 5) {
        let at = safety_ms / 5 + dice.below(safety_ms);
        let make = BulkDeed::Make {
            action: *dice.pick(&[Action::Retry, Action::Retry, Action::Retry, Action::Delete]),
            rate: *dice.pick(&[1, 20, 1_000, 10_000]),
            people: *dice.pick(&[1, 1, 2]),
            named: dice.chance(300).then_some(3),
        };
        deeds.push((at, make));
    }
    for _ in 0..dice.between(0, 3) {
        let (at, which) = (safety_ms / 5 + dice.below(safety_ms), dice.roll());
        let change = *dice.pick(&[JobChange::Pause, JobChange::Pause, JobChange::Cancel]);
        deeds.push((at, BulkDeed::Change { which, change }));
        if change == JobChange::Pause {
            let later = at + *dice.pick(&[0, 300, 20_000]);
            let change = JobChange::Resume;
            deeds.push((later, BulkDeed::Change { which, change }));
        }
    }
    deeds
}
