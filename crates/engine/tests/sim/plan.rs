//! What a seed stands for: how many nodes there are, the faults and how often they come, the limits
//! of a node, the workflows, and what people do when.

mod bulk;
mod callbacks;
mod nodes;
mod tasks;
mod triggers;

use std::collections::HashMap;
use std::time::Duration;

use refire_engine::limit::{HostLimit, Limits};

use crate::dice::Dice;
use crate::flow::{Flow, HOSTS, Spot};

pub(crate) use bulk::BulkDeed;
pub(crate) use callbacks::{Errand, ScheduledDeed, When, window_s};
pub(crate) use nodes::{Mishap, Nodes, SKEW_MAX_MS};
pub(crate) use tasks::{Manner, TaskText, Worker};
pub(crate) use triggers::{Patch, Request, Timing, TriggerDeed};

/// So often nothing but the nodes themselves fails where there are several, in a thousand: what a
/// dead one had must begin elsewhere in time, and only there nothing else explains a delay.
const CALM: u32 = 200;

/// Everything that is decided before a run begins.
pub(crate) struct Plan {
    pub(crate) nodes: Nodes,
    pub(crate) rates: Rates,
    pub(crate) limits: Limits,
    pub(crate) flows: Vec<Flow>,
    /// The target of scheduled tasks.
    errand: Spot,
    /// Who works on tasks; nobody where there are none.
    pub(crate) workers: Vec<Worker>,
    /// What people do, by the time the process has lived in all (milliseconds).
    pub(crate) deeds: Vec<(u64, Deed)>,
    /// How long the phase of faults lasts at most, by the same time.
    pub(crate) safety_ms: u64,
    /// Crashes until there are no more.
    pub(crate) crashes_max: u32,
    /// What happens to the process when everything heals.
    pub(crate) heals_by: Healing,
    /// Nothing holds work up: neither limits nor a store or a clock in trouble.
    pub(crate) is_prompt: bool,
    /// As far as nothing runs, nothing holds work up: there are limits, but no rates.
    pub(crate) is_eager: bool,
}

/// How the phase of faults ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Healing {
    /// The process goes on.
    GoingOn,
    /// It dies once more.
    Crash,
    /// It is stopped in order and started again.
    Stop,
}

/// How often things go wrong, in a thousand, unless it says otherwise. A seed has only some kinds
/// of faults: one that hides behind another is found by a seed that does not have the other.
#[derive(Debug, Clone, Default)]
pub(crate) struct Rates {
    /// A crash when a commit has arrived, was applied, or is durable but not answered.
    pub(crate) crash_arrived: u32,
    pub(crate) crash_applied: u32,
    pub(crate) crash_durable: u32,
    /// A crash before a call reached its target, or after.
    pub(crate) crash_before_call: u32,
    pub(crate) crash_in_call: u32,
    /// A crash some time after each start, on average after so many milliseconds.
    pub(crate) crash_every_ms: Option<u64>,
    /// One commit is refused, or all are for a while.
    pub(crate) refuse: u32,
    pub(crate) refuse_for_a_while: u32,
    /// It is not known whether a commit was written.
    pub(crate) unknown: u32,
    /// A defect in the commit path: the committer is gone.
    pub(crate) panic_in_commit: u32,
    /// A defect in the call path.
    pub(crate) panic_in_call: u32,
    /// Reads fail for a while.
    pub(crate) reads_fail: u32,
    /// Reads take time.
    pub(crate) slow_reads: u32,
    /// What a commit takes, from and to (milliseconds), and how often one takes very long.
    pub(crate) commit_ms: (u64, u64),
    pub(crate) stall: u32,
    /// The clock is set while the process is down.
    pub(crate) clock_jumps: u32,
    /// A request reaches its target twice.
    pub(crate) twice: u32,
    /// Somebody pauses, resumes or cancels in the middle of a read, a commit or a call.
    pub(crate) meddling: u32,
}

/// One thing that people do.
#[derive(Debug, Clone)]
pub(crate) enum Deed {
    /// Saves a version of a workflow.
    Apply {
        flow: usize,
        version: usize,
    },
    /// Starts executions, all in one request if there are several.
    Submit(Vec<Wish>),
    /// The same request several times at once.
    SubmitAtOnce {
        wish: Wish,
        times: u32,
    },
    /// Starts one and waits for its end.
    SubmitAndWait(Wish),
    /// Steers one of the executions that somebody was told of, chosen by this number.
    Pause(u64),
    Resume(u64),
    RetryNow(u64),
    Cancel {
        which: u64,
        compensate: bool,
    },
    /// Retries one of the pending dead letters, several people at once.
    RetryLetter {
        which: u64,
        people: u32,
        from_failed_step: bool,
        edited: bool,
    },
    /// Gives one of them up, perhaps while somebody retries it.
    DeleteLetter {
        which: u64,
        retried_too: bool,
    },
    /// Deletes a workflow; refused while it has open executions.
    DeleteWorkflow {
        flow: usize,
    },
    /// Stops a process in order, with so much patience for what runs.
    Stop {
        patience_ms: u64,
    },
    /// Does something with triggers.
    Tend(TriggerDeed),
    /// Does something with scheduled tasks.
    Schedule(ScheduledDeed),
    /// Does something with bulk jobs.
    InBulk(BulkDeed),
}

/// An execution that somebody wants.
#[derive(Debug, Clone)]
pub(crate) struct Wish {
    pub(crate) flow: usize,
    /// Its number is in its input, so that the execution can be told by it.
    pub(crate) number: u32,
    pub(crate) key: Option<u64>,
    pub(crate) priority: u8,
    pub(crate) delay_ms: Option<u64>,
    /// The value of the concurrency key, the flag of a `when`, and how odd the input is.
    pub(crate) group: u64,
    pub(crate) flag: bool,
    pub(crate) oddity: Oddity,
    /// Without retries, whatever the definition says.
    pub(crate) is_final: bool,
}

/// What may be wrong with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Oddity {
    Plain,
    /// A `when` that reads it gives neither true nor false.
    NotABool,
    /// The store cannot keep it.
    Unstorable,
}

impl Plan {
    pub(crate) fn roll(seed: u64) -> Self {
        let dice = &mut Dice::new(seed, "plan");
        let mut tasks = tasks::dice(seed);
        let mut callbacks = callbacks::dice(seed);
        let flows: Vec<Flow> = (0..*dice.pick(&[1, 1, 2, 2, 3, 4]))
            .map(|number| Flow::roll(dice, number, tasks.as_mut(), callbacks.as_mut()))
            .collect();
        let workers = tasks.as_mut().map(Worker::roll_all).unwrap_or_default();
        let mut nodes = Nodes::roll(seed);
        let mut safety_ms = *dice.pick(&[2_000, 10_000, 10_000, 60_000, 300_000]);
        if nodes.count > 1 {
            safety_ms = Nodes::safety_ms(seed);
        }
        nodes.befall(seed, safety_ms);
        let mut deeds = deeds(dice, &flows, safety_ms);
        let tended = triggers::deeds(seed, flows.len(), safety_ms, nodes.oldest_falls);
        deeds.extend(tended.into_iter().map(|(at, deed)| (at, Deed::Tend(deed))));
        let scheduled = callbacks::scheduled_deeds(seed, safety_ms).into_iter();
        deeds.extend(scheduled.map(|(at, deed)| (at, Deed::Schedule(deed))));
        let in_bulk = bulk::deeds(seed, safety_ms).into_iter();
        deeds.extend(in_bulk.map(|(at, deed)| (at, Deed::InBulk(deed))));
        deeds.sort_by_key(|(at, _)| *at);
        let mut rates = Rates::roll(dice);
        let mut limits = limits(dice);
        if nodes.count > 1 && Dice::new(seed, "calm").chance(CALM) {
            rates.calm_down();
            nodes.calm_down();
            limits = Limits::default();
        }
        // In a quarter of the worlds targets that fail are left alone; there waiting is nobody's fault.
        limits.breakers = Dice::new(seed, "breakers").chance(250);
        let is_limited = |text: &String| text.contains("concurrency") || text.contains("rateLimit");
        let limited = flows.iter().any(|flow| flow.texts.iter().any(is_limited));
        let is_rated = |text: &String| text.contains("rateLimit");
        let rated = flows.iter().any(|flow| flow.texts.iter().any(is_rated));
        let calm = rates.is_calm() && nodes.is_calm();
        Self {
            is_prompt: calm && !limited && is_wide(&limits) && !limits.breakers,
            is_eager: calm && !rated && limits.hosts.is_empty() && !limits.breakers,
            errand: Spot::of_errand(seed),
            nodes,
            rates,
            limits,
            flows,
            workers,
            deeds,
            safety_ms,
            crashes_max: *dice.pick(&[1, 3, 6, 12]),
            heals_by: *dice.pick(&[Healing::GoingOn, Healing::Crash, Healing::Stop]),
        }
    }
}

impl Plan {
    /// The target of a step, by the name of its workflow in addresses.
    pub(crate) fn spot(&self, flow: &str, step: &str) -> &Spot {
        let flow = self.flows.iter().find(|known| known.id == flow);
        let spot = flow.map(|flow| flow.spot(step).unwrap());
        spot.unwrap_or(&self.errand)
    }

    /// Whether targets call back, or may.
    pub(crate) fn has_callbacks(&self) -> bool {
        let mut spots = self.flows.iter().flat_map(|flow| &flow.spots);
        let is_scheduled = |(_, deed): &(u64, Deed)| matches!(deed, Deed::Schedule(_));
        spots.any(|spot| spot.window_s.is_some()) || self.deeds.iter().any(is_scheduled)
    }
}

impl Rates {
    /// Whether the store is quick and willing, and the clock right.
    pub(crate) fn is_calm(&self) -> bool {
        let trouble = self.refuse + self.refuse_for_a_while + self.reads_fail + self.slow_reads;
        trouble + self.stall + self.clock_jumps == 0 && self.commit_ms.1 <= 3
    }

    /// What is left is what befalls processes.
    fn calm_down(&mut self) {
        *self = Self {
            refuse: 0,
            refuse_for_a_while: 0,
            reads_fail: 0,
            slow_reads: 0,
            stall: 0,
            clock_jumps: 0,
            commit_ms: (1, 3),
            ..*self
        };
    }

    fn roll(dice: &mut Dice) -> Self {
        // One seed in ten has no faults of the process at all, one in six a single kind.
        let kinds = match dice.below(30) {
            0..3 => 0,
            3..8 => 1,
            _ => 6,
        };
        let mut rates = Self {
            commit_ms: *dice.pick(&[(0, 0), (1, 1), (1, 3), (1, 20)]),
            twice: *dice.pick(&[0, 0, 50]),
            meddling: *dice.pick(&[0, 0, 10, 60]),
            ..Self::default()
        };
        for _ in 0..kinds {
            match dice.below(16) {
                0 => rates.crash_arrived = *dice.pick(&[10, 40]),
                1 => rates.crash_applied = *dice.pick(&[10, 40]),
                2 | 3 => rates.crash_durable = *dice.pick(&[10, 40, 100]),
                4 => rates.crash_before_call = *dice.pick(&[20, 100]),
                5 => rates.crash_in_call = *dice.pick(&[20, 100, 300]),
                6 => rates.crash_every_ms = Some(*dice.pick(&[300, 3_000, 40_000])),
                7 => rates.refuse = *dice.pick(&[10, 100]),
                8 => rates.refuse_for_a_while = *dice.pick(&[5, 20]),
                9 => rates.unknown = *dice.pick(&[5, 30]),
                10 => rates.panic_in_commit = 5,
                11 => rates.panic_in_call = 30,
                12 => rates.reads_fail = *dice.pick(&[5, 30]),
                13 | 14 => rates.slow_reads = *dice.pick(&[100, 500]),
                _ => {
                    rates.clock_jumps = 500;
                    rates.stall = 20;
                }
            }
        }
        rates
    }
}

fn limits(dice: &mut Dice) -> Limits {
    let mut limits = Limits::default();
    if dice.chance(400) {
        limits.attempts = u32::try_from(dice.between(1, 5)).unwrap_or(1);
    }
    if dice.chance(200) {
        limits.attempts_per_host = u32::try_from(dice.between(1, 3)).unwrap_or(1);
    }
    if dice.chance(200) {
        limits.retries_per_workflow = 1;
        limits.retries_per_host = 1;
    }
    if dice.chance(150) {
        let rate = Some((2, Duration::from_millis(*dice.pick(&[200, 2_000]))));
        let slow = HostLimit {
            rate,
            ..HostLimit::default()
        };
        limits.hosts = HashMap::from([(format!("h{}.example", dice.below(HOSTS)), slow)]);
    }
    limits
}

fn is_wide(limits: &Limits) -> bool {
    let wide = Limits::default();
    limits.attempts == wide.attempts
        && limits.attempts_per_host == wide.attempts_per_host
        && limits.retries_per_host == wide.retries_per_host
        && limits.hosts.is_empty()
}

/// What people do, all over the time that faults come.
fn deeds(dice: &mut Dice, flows: &[Flow], safety_ms: u64) -> Vec<(u64, Deed)> {
    let mut deeds = Vec::new();
    for (flow, texts) in flows.iter().map(|flow| &flow.texts).enumerate() {
        deeds.push((0, Deed::Apply { flow, version: 0 }));
        if texts.len() > 1 {
            deeds.push((dice.below(safety_ms), Deed::Apply { flow, version: 1 }));
        }
    }
    let mut number = 0;
    let count = dice.between(4, 14);
    for _ in 0..count {
        // Often several things at the same moment.
        let at = match dice.chance(300) {
            true => safety_ms / 4,
            false => dice.below(safety_ms),
        };
        let mut wish = Wish::roll(dice, flows.len(), number);
        number += 1;
        let deed = match dice.below(10) {
            0 => {
                let mut all = vec![wish];
                for _ in 0..dice.between(1, 3) {
                    all.push(Wish::roll(dice, flows.len(), number));
                    number += 1;
                }
                Deed::Submit(all)
            }
            1 | 2 => {
                wish.key = Some(wish.key.unwrap_or_else(|| dice.below(4)));
                let times = u32::try_from(dice.between(2, 3)).unwrap_or(2);
                Deed::SubmitAtOnce { wish, times }
            }
            3 => Deed::SubmitAndWait(wish),
            _ => Deed::Submit(vec![wish]),
        };
        deeds.push((at, deed));
    }
    for _ in 0..dice.between(0, count) {
        let at = dice.below(safety_ms * 5 / 4);
        deeds.extend(steering(dice, at, flows.len()));
    }
    deeds
}

/// What people do to executions and letters that are there.
fn steering(dice: &mut Dice, at: u64, flows: usize) -> Vec<(u64, Deed)> {
    let which = dice.roll();
    match dice.below(24) {
        0..5 => {
            let later = at + *dice.pick(&[0, 5, 500, 20_000, 100_000_000]);
            vec![(at, Deed::Pause(which)), (later, Deed::Resume(which))]
        }
        5..9 => {
            let compensate = dice.chance(500);
            vec![(at, Deed::Cancel { which, compensate })]
        }
        9 => vec![(at, Deed::Resume(which)), (at, Deed::RetryNow(which))],
        10..17 => {
            let retry = Deed::RetryLetter {
                which,
                people: *dice.pick(&[1, 1, 2, 3]),
                from_failed_step: dice.chance(500),
                edited: dice.chance(250),
            };
            vec![(at, retry)]
        }
        17..19 => {
            let retried_too = dice.chance(500);
            vec![(at, Deed::DeleteLetter { which, retried_too })]
        }
        19 => {
            let flow = usize::try_from(dice.below(flows as u64)).unwrap_or(0);
            vec![(at, Deed::DeleteWorkflow { flow })]
        }
        _ => {
            let patience_ms = *dice.pick(&[0, 50, 2_000, 18_000]);
            vec![(at, Deed::Stop { patience_ms })]
        }
    }
}

impl Wish {
    fn roll(dice: &mut Dice, flows: usize, number: u32) -> Self {
        Self {
            flow: usize::try_from(dice.below(flows as u64)).unwrap_or(0),
            number,
            key: dice.chance(350).then(|| dice.below(6)),
            priority: *dice.pick(&[5, 5, 5, 1, 10]),
            delay_ms: dice
                .chance(150)
                .then(|| *dice.pick(&[1, 300, 5_000, 45_000])),
            group: dice.below(2),
            flag: dice.chance(500),
            oddity: match dice.below(20) {
                0 => Oddity::NotABool,
                1 => Oddity::Unstorable,
                _ => Oddity::Plain,
            },
            is_final: dice.chance(80),
        }
    }

    /// The input, byte for byte the same each time it is sent.
    pub(crate) fn input(&self) -> String {
        let Self {
            number,
            group,
            flag,
            ..
        } = self;
        let odd = match self.oddity {
            Oddity::Plain => "true",
            Oddity::NotABool => "7",
            Oddity::Unstorable => "\"POISON\"",
        };
        format!(r#"{{"n":{number},"k":"g{group}","flag":{flag},"odd":{odd}}}"#)
    }
}
