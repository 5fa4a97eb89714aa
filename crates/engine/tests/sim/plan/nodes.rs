//! How many nodes there are, and what befalls each of them.

use std::time::Duration;

use crate::dice::Dice;

/// How far a clock is off at most, in milliseconds.
pub(crate) const SKEW_MAX_MS: i64 = 30_000;
/// So many seeds of several nodes in a thousand kill the oldest node again and again.
const OLDEST_FALLS: u32 = 150;
/// How often they do, in milliseconds.
const OLDEST_FALLS_EVERY_MS: u64 = 10_000;

/// The part of a plan that is about nodes.
pub(crate) struct Nodes {
    /// One has its disk to itself, several share one.
    pub(crate) count: usize,
    pub(crate) lease: Duration,
    /// How far each node's clock is off, in milliseconds.
    pub(crate) skews_ms: Vec<i64>,
    /// What happens to whom, by the time the world has lived (milliseconds).
    pub(crate) mishaps: Vec<(u64, usize, Mishap)>,
    /// How often a process stands still in the middle of a call, or cannot renew its lease meanwhile,
    /// in a thousand.
    pub(crate) held_up: u32,
    /// How often the answer of a commit is lost, in a thousand; and how often, of those, nothing can
    /// be found out about it, or it arrives when nobody waits for it any more.
    pub(crate) lost: u32,
    pub(crate) never_known: u32,
    pub(crate) late: u32,
    /// How often the answer to a question is lost.
    pub(crate) unheard: u32,
    /// How often news are lost, or take long.
    pub(crate) news_lost: u32,
    pub(crate) news_slow: u32,
    /// Whether whichever node is the oldest is killed again and again.
    pub(crate) oldest_falls: bool,
}

/// What happens to a node. Crashes come besides, by the rates.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mishap {
    /// It is gone at once.
    Crash,
    /// It is told to stop, with so much patience for what runs.
    Stop { patience_ms: u64 },
    /// Everything it does waits for so long, and then goes on as if nothing had been.
    Pause { ms: u64 },
    /// It does not reach the database for so long.
    Cut { ms: u64 },
    /// Whichever node is the oldest is gone at once.
    CrashOldest,
}

impl Nodes {
    pub(crate) fn roll(seed: u64) -> Self {
        let dice = &mut Dice::new(seed, "nodes");
        let count = *dice.pick(&[1, 1, 1, 1, 2, 2, 2, 2, 3, 3]);
        let mut nodes = Self {
            count,
            lease: Duration::from_secs(*dice.pick(&[15, 15, 15, 6])),
            skews_ms: Vec::new(),
            mishaps: Vec::new(),
            held_up: 0,
            lost: 0,
            never_known: *dice.pick(&[0, 300, 600]),
            late: *dice.pick(&[0, 0, 300]),
            unheard: 0,
            news_lost: *dice.pick(&[0, 0, 200, 1_000]),
            news_slow: *dice.pick(&[0, 0, 300]),
            oldest_falls: count > 1 && Dice::new(seed, "oldest").chance(OLDEST_FALLS),
        };
        if count == 1 {
            return nodes;
        }
        for _ in 0..count {
            let off = i64::try_from(dice.below(60_001)).unwrap_or(0) - SKEW_MAX_MS;
            // The worst is worth meeting often.
            let off = if off % 3 == 0 {
                SKEW_MAX_MS * off.signum()
            } else {
                off
            };
            nodes.skews_ms.push(*dice.pick(&[0, off, off]));
        }
        if dice.chance(350) {
            nodes.lost = *dice.pick(&[5, 30, 100]);
        }
        if dice.chance(250) {
            nodes.unheard = *dice.pick(&[5, 50]);
        }
        if dice.chance(300) {
            nodes.held_up = *dice.pick(&[30, 200]);
        }
        nodes
    }

    /// Nothing is lost between the nodes and their database.
    pub(super) fn calm_down(&mut self) {
        self.lost = 0;
        self.unheard = 0;
    }

    /// Whether nothing is lost between the nodes and their database.
    pub(crate) fn is_calm(&self) -> bool {
        self.lost + self.unheard == 0
    }

    /// How long the phase of faults lasts at most: long enough for leases to end.
    pub(crate) fn safety_ms(seed: u64) -> u64 {
        let dice = &mut Dice::new(seed, "nodes' time");
        *dice.pick(&[10_000, 40_000, 40_000, 90_000])
    }

    /// What happens to whom in that time.
    pub(crate) fn befall(&mut self, seed: u64, safety_ms: u64) {
        if self.count == 1 {
            return;
        }
        let dice = &mut Dice::new(seed, "mishaps");
        for _ in 0..dice.below(5) {
            let at = dice.below(safety_ms);
            let node = usize::try_from(dice.below(self.count as u64)).unwrap_or(0);
            let mishap = match dice.below(8) {
                0..2 => Mishap::Crash,
                2 => Mishap::Stop {
                    patience_ms: *dice.pick(&[0, 50, 2_000, 18_000]),
                },
                3..6 => Mishap::Pause {
                    ms: *dice.pick(&[500, 12_000, 18_000, 30_000, 45_000]),
                },
                _ => Mishap::Cut {
                    ms: *dice.pick(&[300, 4_000, 9_000, 14_000, 25_000]),
                },
            };
            self.mishaps.push((at, node, mishap));
        }
        if self.oldest_falls {
            let times = 1..=safety_ms / OLDEST_FALLS_EVERY_MS;
            let at = times.map(|time| time * OLDEST_FALLS_EVERY_MS);
            self.mishaps
                .extend(at.map(|at| (at, 0, Mishap::CrashOldest)));
        }
        self.mishaps.sort_by_key(|(at, node, _)| (*at, *node));
    }
}
