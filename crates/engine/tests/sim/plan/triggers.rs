//! The triggers of a seed: which there are, what people do to them, and the requests that come.

use std::time::Duration;

use crate::dice::Dice;

/// So many seeds in a thousand have triggers.
const WITH_TRIGGERS: u32 = 300;

/// What people change besides when it fires.
const PATCHES: &[&str] = &[
    r#"{"overlap":"allow"}"#,
    r#"{"overlap":"skip"}"#,
    r#"{"overlap":"buffer_one"}"#,
    r#"{"overlap":"cancel_previous"}"#,
    r#"{"misfire":"fire_all"}"#,
    r#"{"jitter":"5s"}"#,
    r#"{"jitter":null,"dead_man":null}"#,
];

/// One thing that people do with triggers. A number chooses among those that there are.
#[derive(Debug, Clone)]
pub(crate) enum TriggerDeed {
    /// Makes one that starts a workflow by the clock.
    Make {
        flow: usize,
        timing: Timing,
    },
    /// Makes one that starts a workflow by requests.
    MakeHook {
        flow: usize,
    },
    /// Lays a change over one.
    Change {
        which: u64,
        patch: Patch,
    },
    Disable(u64),
    Enable {
        which: u64,
        catch_up: bool,
    },
    Delete(u64),
    /// Starts what one would start.
    Run(u64),
    /// Runs what was left out, or all of it; several people at once.
    Backfill {
        which: u64,
        only_missed: bool,
        people: u32,
    },
    /// Sends a request, several times at once.
    Send {
        which: u64,
        request: Request,
        times: u32,
    },
}

/// When a trigger starts something, and what becomes of what it cannot start.
#[derive(Debug, Clone)]
pub(crate) struct Timing {
    pub(crate) every_s: u64,
    pub(crate) is_cron: bool,
    /// How long it goes on, so that the world comes to rest.
    pub(crate) span: Duration,
    /// Everything else.
    pub(crate) rest: String,
}

/// A change of a trigger.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Patch {
    /// Other planned times.
    Every(u64),
    /// Another policy, or another delay.
    Settings(&'static str),
}

/// A request to a webhook.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    /// Its number is in its body, so that the execution can be told by it.
    pub(crate) number: u32,
    pub(crate) key: Option<u64>,
}

impl Timing {
    fn roll(dice: &mut Dice) -> Self {
        let every_s = *dice.pick(&[1, 2, 5, 10, 30]);
        let slots = dice.between(2, 9);
        let overlap = dice.pick(&[
            "allow",
            "skip",
            "skip",
            "buffer_one",
            "buffer_one",
            "cancel_previous",
        ]);
        let misfire = dice.pick(&["fire_once", "fire_all", "skip"]);
        let mut rest = format!(
            r#""overlap":"{overlap}","misfire":"{misfire}","misfire_max":{},"#,
            dice.between(1, 4)
        );
        if dice.chance(300) {
            rest.push_str(r#""misfire_window":"90s","#);
        }
        if dice.chance(300) {
            let jitter = *dice.pick(&[r#""jitter":"1s","#, r#""jitter":"20s","#]);
            rest.push_str(jitter);
        }
        if dice.chance(250) {
            let watch = [
                r#""dead_man":{"grace":"3s"},"#,
                r#""dead_man":{"success_within":"10s"},"#,
            ];
            let watch = *dice.pick(&watch);
            rest.push_str(watch);
        }
        Self {
            every_s,
            is_cron: dice.chance(500),
            span: Duration::from_secs(every_s * slots),
            rest,
        }
    }
}

/// What people do with triggers, all over the time that faults come.
pub(super) fn deeds(
    seed: u64,
    flows: usize,
    safety_ms: u64,
    is_sure: bool,
) -> Vec<(u64, TriggerDeed)> {
    let dice = &mut Dice::new(seed, "triggers");
    let mut deeds = Vec::new();
    if !dice.chance(WITH_TRIGGERS) && !is_sure {
        return deeds;
    }
    let flow = |dice: &mut Dice| usize::try_from(dice.below(flows as u64)).unwrap_or(0);
    for _ in 0..dice.between(1, 2) {
        let timing = Timing::roll(dice);
        let at = dice.below(safety_ms / 2);
        deeds.push((
            at,
            TriggerDeed::Make {
                flow: flow(dice),
                timing,
            },
        ));
    }
    for _ in 0..dice.between(0, 4) {
        let at = dice.below(safety_ms * 5 / 4);
        deeds.extend(tending(dice, at));
    }
    if dice.chance(600) {
        let at = dice.below(safety_ms / 4);
        deeds.push((at, TriggerDeed::MakeHook { flow: flow(dice) }));
        for number in 0..dice.between(2, 8) {
            let request = Request {
                number: u32::try_from(number).unwrap_or(0),
                key: dice.chance(700).then(|| dice.below(3)),
            };
            let send = TriggerDeed::Send {
                which: dice.roll(),
                times: match request.key {
                    Some(_) => *dice.pick(&[1, 2, 3]),
                    None => 1,
                },
                request,
            };
            deeds.push((at + dice.below(safety_ms), send));
        }
    }
    deeds
}

/// What people do to triggers that are there.
fn tending(dice: &mut Dice, at: u64) -> Vec<(u64, TriggerDeed)> {
    let which = dice.roll();
    match dice.below(16) {
        0..5 => {
            let later = at + *dice.pick(&[0, 500, 4_000, 20_000, 80_000]);
            let catch_up = dice.chance(600);
            vec![
                (at, TriggerDeed::Disable(which)),
                (later, TriggerDeed::Enable { which, catch_up }),
            ]
        }
        5..9 => {
            let patch = match dice.below(3) {
                0 => Patch::Every(*dice.pick(&[1, 3, 20])),
                _ => {
                    let settings = *dice.pick(PATCHES);
                    Patch::Settings(settings)
                }
            };
            vec![(at, TriggerDeed::Change { which, patch })]
        }
        9 => vec![(at, TriggerDeed::Delete(which))],
        10..12 => vec![(at, TriggerDeed::Run(which))],
        _ => {
            let backfill = TriggerDeed::Backfill {
                which,
                only_missed: dice.chance(800),
                people: *dice.pick(&[1, 2, 2]),
            };
            vec![(at, backfill)]
        }
    }
}

impl Request {
    /// The body; with the same key it may be another one.
    pub(crate) fn body(&self) -> String {
        let number = self.number;
        format!(
            r#"{{"n":{number},"k":"g{}","flag":{},"odd":true}}"#,
            number % 2,
            number.is_multiple_of(2)
        )
    }
}
