//! The callbacks of a seed: which steps wait until their targets call back, for how long, and what
//! people do with scheduled tasks, whose targets call back too.

use crate::dice::Dice;

/// So many seeds in a thousand have steps whose targets call back.
const WITH_CALLBACKS: u32 = 150;
/// So many steps of those are such.
const CALLED_BACK: u32 = 600;
/// So many seeds in a thousand have scheduled tasks.
const WITH_SCHEDULED: u32 = 100;

/// How long steps wait, in seconds.
const WINDOWS_S: &[u64] = &[1, 2, 2, 5, 20, 60, 300];

/// The dice that windows are rolled with, if the seed has callbacks.
pub(super) fn dice(seed: u64) -> Option<Dice> {
    let mut dice = Dice::new(seed, "callbacks");
    dice.chance(WITH_CALLBACKS).then_some(dice)
}

/// How long a step waits for its target, in seconds; most do in a seed that has callbacks.
pub(crate) fn window_s(dice: &mut Dice) -> Option<u64> {
    dice.chance(CALLED_BACK).then(|| *dice.pick(WINDOWS_S))
}

/// One thing that people do with scheduled tasks. A number chooses among those that there are.
#[derive(Debug, Clone)]
pub(crate) enum ScheduledDeed {
    /// Makes one, with the same key several times at once.
    Make {
        errand: Errand,
        times: u32,
    },
    /// Runs one now, several people at once.
    Run {
        which: u64,
        people: u32,
    },
    Pause(u64),
    Resume(u64),
    Cancel {
        which: u64,
        keeps_running: bool,
    },
    /// Makes other planned times of it, or another window.
    Patch {
        which: u64,
        every_s: u64,
    },
    Delete(u64),
}

/// A scheduled task as somebody wants it.
#[derive(Debug, Clone)]
pub(crate) struct Errand {
    /// What tells it from all others: its key.
    pub(crate) number: u32,
    pub(crate) when: When,
    /// How long its target may take to call back, in seconds; none = it is not asked to.
    pub(crate) window_s: u64,
    pub(crate) retries: u64,
}

/// When it is due.
#[derive(Debug, Clone, Copy)]
pub(crate) enum When {
    Now,
    In { seconds: u64 },
    Every { seconds: u64, times: u64 },
}

impl Errand {
    fn roll(dice: &mut Dice, number: u32) -> Self {
        let when = match dice.below(4) {
            0 => When::Now,
            1 => When::In {
                seconds: *dice.pick(&[1, 5, 30]),
            },
            _ => When::Every {
                seconds: *dice.pick(&[1, 2, 5, 10]),
                times: dice.between(2, 8),
            },
        };
        Self {
            number,
            when,
            window_s: *dice.pick(&[0, 1, 2, 5, 20, 60]),
            retries: dice.below(3),
        }
    }
}

/// What people do with scheduled tasks, all over the time that faults come.
pub(super) fn scheduled_deeds(seed: u64, safety_ms: u64) -> Vec<(u64, ScheduledDeed)> {
    let dice = &mut Dice::new(seed, "scheduled");
    let mut deeds = Vec::new();
    if !dice.chance(WITH_SCHEDULED) {
        return deeds;
    }
    for number in 0..dice.between(1, 3) {
        let errand = Errand::roll(dice, u32::try_from(number).unwrap_or(0));
        let times = *dice.pick(&[1, 1, 3]);
        let at = dice.below(safety_ms / 2);
        deeds.push((at, ScheduledDeed::Make { errand, times }));
    }
    for _ in 0..dice.between(1, 5) {
        let at = dice.below(safety_ms);
        deeds.extend(tending(dice, at));
    }
    deeds
}

/// What people do to those that are there.
fn tending(dice: &mut Dice, at: u64) -> Vec<(u64, ScheduledDeed)> {
    let which = dice.roll();
    match dice.below(12) {
        0..6 => {
            let people = *dice.pick(&[1, 2, 5]);
            vec![(at, ScheduledDeed::Run { which, people })]
        }
        6..8 => {
            let later = at + *dice.pick(&[0, 500, 4_000, 20_000]);
            vec![
                (at, ScheduledDeed::Pause(which)),
                (later, ScheduledDeed::Resume(which)),
            ]
        }
        8 => vec![(
            at,
            ScheduledDeed::Cancel {
                which,
                keeps_running: dice.chance(500),
            },
        )],
        9..11 => {
            let every_s = *dice.pick(&[1, 3, 7]);
            vec![(at, ScheduledDeed::Patch { which, every_s })]
        }
        _ => vec![(at, ScheduledDeed::Delete(which))],
    }
}
