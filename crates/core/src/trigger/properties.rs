//! What holds for every trigger, whatever its policies are and whatever happens to nodes, clocks and
//! executions.
//!
//! A small world: a node that looks when it is due, or is away; executions that end sooner or later,
//! well or not; people who disable and enable; a clock that jumps. After every look the ledger is
//! held against the schedule.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::Config;

use super::change::CatchUp;
use super::fixture::{World, at, execution, trigger};
use super::ledger::{Outcome, SkipReason};
use super::timeline::MICROSECOND;
use super::{Misfire, Overlap, plan};
use crate::id::ExecutionId;
use crate::time::Timestamp;

/// Looks of a node that is there without a break; after them it goes away for the rest of the time,
/// so that a trigger of each second is as cheap to try as a yearly one.
const LOOKS_MAX: usize = 120;

const BEGINNING: &str = "2026-03-01T00:00:00Z";

/// What says when: dense, sparse, with and without jitter, gaps of the clock, an end.
const SCHEDULES: &[&str] = &[
    r#""trigger_type":"schedule","every":"7s","anchor":"2026-01-01T00:00:00.25Z""#,
    r#""trigger_type":"schedule","every":"13h","anchor":"2026-01-01T00:00:00Z","jitter":"24h""#,
    r#""trigger_type":"cron","cron_expression":"* * * * *""#,
    r#""trigger_type":"cron","cron_expression":"*/5 * * * *","jitter":"2m""#,
    r#""trigger_type":"cron","cron_expression":"*/5 * * * *","jitter":"3h","timezone":"Asia/Taipei""#,
    r#""trigger_type":"cron","cron_expression":"30 2 * * *","timezone":"America/New_York","dst":{"gap":"skip"}"#,
    r#""trigger_type":"cron","cron_expression":"*/10 1-3 * * *","timezone":"America/New_York","dst":{"gap":"skip","repeat":"both"}"#,
    r#""trigger_type":"cron","cron_expression":"*/15 1-2 * * *","timezone":"Australia/Lord_Howe","dst":{"repeat":"last"}"#,
    r#""trigger_type":"schedule","weekly":{"dayOfWeek":["MON","SUN"],"time":["02:30","09:00"]},"timezone":"America/Santiago""#,
    r#""trigger_type":"cron","cron_expression":"0 * * * *","start":"2026-03-02T00:00:00Z","end":"2026-04-02T00:00:00Z""#,
    r#""trigger_type":"schedule","at":["2026-03-01T00:00:10Z","2026-03-02T00:00:00Z","2026-03-02T00:00:00.0000015Z"]"#,
];

const POLICIES: &[&str] = &["allow", "skip", "buffer_one", "cancel_previous"];

const MISFIRES: &[&str] = &[
    r#""misfire":"fire_once""#,
    r#""misfire":"fire_once","misfire_window":"30m""#,
    r#""misfire":"fire_all""#,
    r#""misfire":"fire_all","misfire_max":3"#,
    r#""misfire":"fire_all","misfire_max":40,"misfire_window":"2h""#,
    r#""misfire":"skip""#,
];

const WATCHES: &[&str] = &[
    "",
    r#","dead_man":{"grace":"10m"}"#,
    r#","dead_man":{"success_within":"2h"}"#,
];

#[derive(Debug, Clone)]
enum Happens {
    /// Time passes, and the node is there, each time so much behind.
    Passes {
        length: Duration,
        behind: Duration,
    },
    /// Time passes, and nobody looks.
    Away(Duration),
    /// The clock is put back.
    Back(Duration),
    /// The oldest or the newest of the executions that run ends.
    Ends {
        newest: bool,
        success: bool,
    },
    Disable,
    Enable(CatchUp),
}

/// From a second to a month, short ones as often as long ones.
fn any_length() -> impl Strategy<Value = Duration> {
    (0.0..14.7_f64).prop_map(|power| Duration::from_millis((power.exp() * 1_000.0) as u64))
}

fn any_event() -> impl Strategy<Value = Happens> {
    let behind = prop_oneof![Just(0_u64), 0..1_500_u64, 0..90_000_u64];
    let passes = (any_length(), behind).prop_map(|(length, behind)| Happens::Passes {
        length,
        behind: Duration::from_millis(behind),
    });
    prop_oneof![
        6 => passes,
        3 => any_length().prop_map(Happens::Away),
        1 => any_length().prop_map(Happens::Back),
        6 => (any::<bool>(), any::<bool>())
            .prop_map(|(newest, success)| Happens::Ends { newest, success }),
        1 => Just(Happens::Disable),
        1 => prop_oneof![Just(CatchUp::No), Just(CatchUp::Yes)].prop_map(Happens::Enable),
    ]
}

fn any_settings() -> impl Strategy<Value = String> {
    let pick = |list: &'static [&'static str]| prop::sample::select(list);
    (
        pick(SCHEDULES),
        pick(POLICIES),
        pick(MISFIRES),
        pick(WATCHES),
    )
        .prop_map(|(schedule, overlap, misfire, watch)| {
            format!(r#"{{{schedule},"overlap":"{overlap}",{misfire}{watch}}}"#)
        })
}

/// The world and what a judge remembers of it.
struct Judged {
    world: World,
    now: Timestamp,
    /// The latest moment that the clock has shown.
    latest: Timestamp,
    live: Vec<ExecutionId>,
    nominals: HashSet<Timestamp>,
    /// What was due when nobody had looked for more than a minute.
    missed: Vec<Missed>,
}

/// Slots that were missed together: those after one moment up to another.
struct Missed {
    after: Timestamp,
    to: Timestamp,
    /// How many of them were started all the same.
    started: u64,
}

impl Judged {
    fn happens(&mut self, event: &Happens) {
        match *event {
            Happens::Passes { length, behind } => self.pass(length, behind),
            Happens::Away(length) => self.now = self.now.plus(length),
            Happens::Back(length) => self.now = self.now.minus(length),
            Happens::Ends { newest, success } => self.end(newest, success),
            Happens::Disable if self.world.trigger.enabled => self.world.disable(self.now),
            Happens::Enable(catch_up) if !self.world.trigger.enabled => {
                self.world.enable(self.now, catch_up);
            }
            Happens::Disable | Happens::Enable(_) => {}
        }
        self.latest = self.latest.max(self.now);
        self.judge();
    }

    fn pass(&mut self, length: Duration, behind: Duration) {
        let until = self.now.plus(length);
        for _ in 0..LOOKS_MAX {
            let Some(due) = self.world.state.due_at.filter(|due| *due <= until) else {
                break;
            };
            self.now = due.plus(behind).clamp(self.now, until);
            self.step();
        }
        self.now = until;
    }

    /// Remembers what is due if the oldest of it is late by more than a minute.
    fn remember_missed(&mut self) {
        let (trigger, state) = (&self.world.trigger, &self.world.state);
        let timeline = trigger.timeline().unwrap();
        let due = timeline.last_planned(state.cursor, self.now);
        if let (Some(first), Some(to)) = (timeline.next(state.cursor), due)
            && self.now.since(timeline.planned(first)) > plan::MISFIRE_AFTER
        {
            self.missed.push(Missed {
                after: state.cursor,
                to,
                started: 0,
            });
        }
    }

    /// Of what was missed together never more is started than the policy says.
    fn judge_missed(&mut self, nominal: Timestamp) {
        let settings = &self.world.trigger.settings;
        let wanted = match settings.misfire {
            Misfire::Skip => 0,
            Misfire::FireOnce => 1,
            Misfire::FireAll => settings.misfire_max,
        };
        for missed in &mut self.missed {
            if missed.after < nominal && nominal <= missed.to {
                missed.started += 1;
                assert!(missed.started <= wanted, "{nominal} is one too many");
            }
        }
    }

    fn step(&mut self) {
        if self.world.trigger.enabled {
            self.remember_missed();
        }
        let before = self.world.state;
        let again = plan(&self.world.trigger, &before, self.now);
        let cancelled = self.world.cancelled.len();
        let started = self.world.step(self.now);
        assert_eq!(
            again.fire.is_some(),
            started.is_some(),
            "the same on every node"
        );
        let cancels = self.world.cancelled[cancelled..].to_vec();
        self.live.retain(|live| !cancels.contains(live));
        if let Some(started) = started {
            let nominal = again.fire.map(|fire| fire.nominal).unwrap();
            assert!(self.nominals.insert(nominal), "{nominal} was fired twice");
            // What was buffered had been due before the clock was put back.
            let was_due = nominal <= self.now || before.buffered == Some(nominal);
            assert!(was_due, "{nominal} was fired at {}", self.now);
            self.judge_missed(nominal);
            self.live.push(started);
            if self.world.trigger.settings.overlap != Overlap::Allow {
                assert_eq!(self.live.len(), 1, "two at a time");
            }
        } else if before.due_at.is_some_and(|due| due <= self.now) {
            let after = self.world.state.due_at;
            assert!(
                after.is_none_or(|due| due > self.now),
                "nothing done, still due"
            );
        }
    }

    fn end(&mut self, newest: bool, success: bool) {
        if self.live.is_empty() {
            return;
        }
        let place = if newest { self.live.len() - 1 } else { 0 };
        let ended = self.live.remove(place);
        let number = (1..=self.world.started).find(|number| execution(*number) == ended);
        self.world.end(number.unwrap(), success, self.now);
    }

    /// The ledger holds every slot up to the cursor once, and nothing else.
    fn judge(&self) {
        let (world, state) = (&self.world, &self.world.state);
        let timeline = world.trigger.timeline().unwrap();
        let is_slot = |entry: &&super::Entry| {
            entry.outcome.is_started()
                || matches!(entry.outcome, Outcome::Skipped(reason) if reason != SkipReason::Dst)
        };
        let slots = world.ledger.iter().filter(is_slot);
        let mut stretches: Vec<_> = slots
            .map(|entry| (entry.nominal, entry.to, entry.count))
            .chain(state.buffered.map(|slot| (slot, slot, 1)))
            .collect();
        stretches.sort_unstable();
        let mut counted = 0;
        let mut last = at(BEGINNING);
        for (nominal, to, count) in stretches {
            assert!(
                last < nominal,
                "{nominal} is in two entries\n{:#?}",
                world.ledger
            );
            for end in [nominal, to] {
                assert_eq!(timeline.next(end.minus(MICROSECOND)), Some(end), "no slot");
            }
            assert_eq!(timeline.count(nominal.minus(MICROSECOND), to), count);
            counted += count;
            last = to;
        }
        assert!(last <= state.cursor, "an entry beyond the cursor");
        let all = timeline.count(at(BEGINNING), state.cursor);
        assert_eq!(counted, all, "{:#?}", world.ledger);
        self.judge_gaps();
        self.judge_watch();
        self.judge_state();
    }

    fn judge_gaps(&self) {
        let timeline = self.world.trigger.timeline().unwrap();
        let dst = Outcome::Skipped(SkipReason::Dst);
        let entries = self
            .world
            .ledger
            .iter()
            .filter(|entry| entry.outcome == dst);
        let found: Vec<_> = entries.map(|entry| (entry.nominal, entry.count)).collect();
        assert_eq!(found, timeline.gaps(at(BEGINNING), self.world.state.cursor));
    }

    /// Nothing recovers that was not overdue.
    fn judge_watch(&self) {
        let outcomes = self.world.ledger.iter().map(|entry| entry.outcome);
        let watch = outcomes
            .filter(|outcome| matches!(outcome, Outcome::Overdue | Outcome::Recovered))
            .collect::<Vec<_>>();
        let mut before = Outcome::Recovered;
        for outcome in watch {
            assert!(outcome == Outcome::Overdue || before == Outcome::Overdue);
            before = outcome;
        }
    }

    fn judge_state(&self) {
        let (trigger, state) = (&self.world.trigger, &self.world.state);
        if !trigger.enabled {
            assert_eq!((state.due_at, state.buffered), (None, None));
        }
        if state.buffered.is_some() {
            assert_eq!(trigger.settings.overlap, Overlap::BufferOne);
        }
        match trigger.settings.overlap {
            Overlap::Allow => assert_eq!(state.running, None),
            _ => assert_eq!(state.running, self.live.last().copied()),
        }
        if trigger.enabled && !trigger.is_finished(state) && state.buffered.is_none() {
            assert!(state.due_at.is_some(), "forgotten: {state:?}");
        }
        // Before it is due there is nothing to do, unless the end of an execution has made it due, or it
        // was due at once for what was left.
        let by_an_end = state.buffered.is_some() && state.running.is_none();
        if let Some(due) = state.due_at
            && due > self.latest
            && !by_an_end
            && state.alarmed_at.is_none()
        {
            let early = plan(trigger, state, due.minus(MICROSECOND));
            assert!(
                early.entries.is_empty() && early.fire.is_none(),
                "{early:?}"
            );
        }
    }
}

fn cases() -> u32 {
    if std::env::var_os("PROPTEST_CASES").is_some() {
        Config::default().cases
    } else {
        250
    }
}

proptest! {
    #![proptest_config(Config { cases: cases(), ..Config::default() })]

    #[test]
    fn every_slot_is_in_the_ledger_once_and_fires_at_most_once(
        settings in any_settings(),
        events in prop::collection::vec(any_event(), 1..40),
    ) {
        let now = at(BEGINNING);
        let mut judged = Judged {
            world: World::new(trigger(&settings), now),
            now,
            latest: now,
            live: Vec::new(),
            nominals: HashSet::new(),
            missed: Vec::new(),
        };
        judged.judge();
        for event in &events {
            judged.happens(event);
        }
    }
}
