//! A run of a seed: life after life with faults, then everything heals and all must come to its
//! end, then the account is made up. Here it is one node; `fleet` has the runs of several.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::Ordering;

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::{Command, Status};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trigger::{Timeline, Trigger};
use refire_engine::{CommandError, Engine};
use refire_store::WorkRow;
use refire_store::model::{Disk, Image};
use tokio_util::task::TaskTracker;

use crate::called_back;
use crate::clients::Clients;
use crate::due::{LOOKED_AT_WITHIN, left_alone};
use crate::fleet::live_together;
use crate::life::Life;
use crate::mark::{Mark, Marks};
use crate::panics;
use crate::plan::Healing;
use crate::process::{self, End, LIVES_MAX};
use crate::watch;
use crate::worker::{self, Hall};
use crate::world::{BEGINNING_US, Violation, World};

/// Once everything has healed, this is enough for whatever is open.
pub(crate) const HEALED_WITHIN_MS: u64 = 2 * 3_600_000;
/// The longest that a call may take is thirty seconds.
pub(crate) const CALLS_END_WITHIN_MS: u64 = 35_000;
/// Between two looks whether they have ended.
const CALLS_WATCHED_MS: u64 = 500;
/// Work that nothing holds up begins within this.
const WATCH_EVERY_MS: u64 = 700;
/// How long a program takes to give up that cannot start, in milliseconds.
const GIVES_UP_AFTER_MS: u64 = 5_000;

/// What a run came to.
pub(crate) struct Outcome {
    pub(crate) violation: Option<Violation>,
    pub(crate) trace: Vec<String>,
    pub(crate) hash: u64,
    pub(crate) marks: Marks,
    pub(crate) lives: u32,
    pub(crate) executions: usize,
    /// Rows that processes had forgotten and found again.
    pub(crate) found_again: u64,
}

/// Runs a seed on this disk.
pub(crate) fn run(seed: u64, disk: Arc<Disk>, lines_kept: usize) -> Outcome {
    panics::watch();
    let world = World::new(seed, disk, lines_kept);
    let lived = catch_unwind(AssertUnwindSafe(|| {
        let lives = match world.is_shared() {
            true => live_together(&world),
            false => life_after_life(&world),
        };
        make_up_the_account(&world);
        lives
    }));
    let inside = &mut *world.inside();
    if let Some(panic) = panics::seen() {
        // Whatever else was noticed came of it.
        inside.violation = Some(Violation::new("nothing panics", panic));
    }
    Outcome {
        violation: inside.violation.clone(),
        trace: inside.trace.lines(),
        hash: inside.trace.hash(),
        marks: inside.marks.clone(),
        lives: lived.unwrap_or(0),
        executions: inside.judge.all().count(),
        found_again: inside.found_again.values().sum(),
    }
}

/// Lives until everything has come to its end; how many.
fn life_after_life(world: &Arc<World>) -> u32 {
    let mut wall_us = BEGINNING_US;
    let mut lives = 0;
    loop {
        lives += 1;
        if lives > LIVES_MAX {
            let what = format!("{LIVES_MAX} processes died");
            world
                .inside()
                .violate(Violation::new("the process stays alive", what));
            break;
        }
        let end = live(world, lives, &mut wall_us);
        if world.inside().violation.is_some() {
            break;
        }
        if end == End::Crashed {
            between(world);
            world.disk.crash();
        }
        world.look_at_everything();
        if end == End::Done || world.inside().violation.is_some() {
            break;
        }
        pass_time(world, &mut wall_us);
    }
    lives
}

fn make_up_the_account(world: &World) {
    let inside = &mut *world.inside();
    let account = world.disk.look(|image| {
        inside.judge.replay_all()?;
        inside.judge.account(image, &inside.ledger, &world.plan)
    });
    if let Err(violation) = account {
        inside.violate(violation);
    }
}

/// What a crash came across.
pub(crate) fn between(world: &World) {
    let inside = &mut *world.inside();
    let (mut undoing, mut paused, mut retrying) = (false, false, false);
    for (_, known) in inside.judge.all() {
        let state = &known.state;
        let is_open = !state.status.is_terminal();
        let origin = state.origin.as_ref();
        undoing |= is_open && state.compensating.is_some();
        paused |= state.status == Status::Paused;
        retrying |= is_open && origin.is_some_and(|origin| origin.lineage.letter.is_some());
    }
    let (locked, waiting) = world.disk.look(|image| {
        let locked = image.tasks.values().any(|row| row.token.is_some());
        let waiting = image.callbacks.values().any(|row| row.wake_at.is_some());
        (locked, waiting)
    });
    for (seen, mark) in [
        (locked, Mark::CrashWithLocks),
        (waiting, Mark::CrashWhileWaiting),
        (undoing, Mark::CrashDuringCompensation),
        (paused, Mark::CrashWhilePaused),
        (retrying, Mark::CrashDuringLetterRetry),
    ] {
        if seen {
            inside.marks.reach(mark);
        }
    }
}

/// The process is down for a while, and somebody may set the clock.
fn pass_time(world: &World, wall_us: &mut i64) {
    let inside = &mut *world.inside();
    inside.in_flight.forget_all();
    let dice = &mut inside.process_dice;
    let down_ms: i64 = *dice.pick(&[1, 20, 1_000, 10_000, 100_000]);
    *wall_us += down_ms * 1_000;
    if !inside.healed && dice.chance(world.plan.rates.clock_jumps) {
        let jump_ms: i64 = *dice.pick(&[-100_000, -5_000, 30_000, 3_600_000]);
        *wall_us += jump_ms * 1_000;
        let mark = if jump_ms < 0 {
            Mark::ClockBack
        } else {
            Mark::ClockForward
        };
        inside.marks.reach(mark);
        inside
            .trace
            .say(format!("the clock is set by {jump_ms} ms"));
    }
}

/// One life, on a runtime of its own that is dropped with it.
fn live(world: &Arc<World>, number: u32, wall_us: &mut i64) -> End {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let life = Life::begin(world, number, *wall_us);
        let end = lead(&life).await;
        *wall_us = life.clock.now().as_micros();
        life.with(|inside| inside.trace.say(format!("life {number} ends: {end:?}")));
        end
    })
}

async fn lead(life: &Arc<Life>) -> End {
    tokio::spawn(process::die_some_time(Arc::clone(life)));
    let started = tokio::select! {
        biased;
        () = life.died() => return End::Crashed,
        started = process::start(life) => started,
    };
    let engine = match started {
        Ok(engine) => engine,
        Err(error) => {
            life.say(&format!("it cannot start: {error}"));
            tokio::select! {
                biased;
                () = life.died() => return End::Crashed,
                () = life.sleep_ms(GIVES_UP_AFTER_MS) => return End::Broken,
            }
        }
    };
    let people = Clients {
        life: Arc::clone(life),
        engine: Arc::clone(&engine),
        doing: TaskTracker::new(),
        fleet: None,
    };
    people.come_back(life.number - 1);
    tokio::spawn(watch(Arc::clone(life), Arc::clone(&engine)));
    let hall = Hall::One(people.clone());
    worker::come(&life.world, &hall);
    called_back::come(&life.world, &hall);
    tokio::spawn(watch::watch(Arc::clone(&life.world), hall));
    let meddler = people.clone();
    tokio::spawn(async move { meddler.meddle().await });
    let end = tokio::select! {
        biased;
        () = life.died() => End::Crashed,
        () = engine.broken() => process::leave(life, &people).await,
        patience_ms = life.asked_to_stop() => process::stop(life, &people, patience_ms).await,
        end = days(life, &people) => end,
    };
    process::remembered(life, &engine);
    end
}

/// Looks now and then whether anything that could run does not, although nothing else does.
async fn watch(life: Arc<Life>, engine: Arc<Engine>) {
    let mut waiting: Vec<WorkRow> = Vec::new();
    let mut calls_made = 0;
    if !life.world.plan.is_eager {
        return;
    }
    let began = life.clock.now();
    loop {
        life.sleep_ms(WATCH_EVERY_MS).await;
        if life.stopping.load(Ordering::Relaxed) || !engine.is_ready() {
            return;
        }
        let now = life.clock.now();
        if now.since(began) > LOOKED_AT_WITHIN {
            let looked = life.world.disk.look(|image| left_alone(image, now));
            life.check(|_| looked);
        }
        // What ran between two looks counts too: work that finds its host full tries again later,
        // and something else runs and ends meanwhile.
        let calls_before =
            std::mem::replace(&mut calls_made, life.with(|inside| inside.calls_made));
        if engine.running() > 0 || calls_made > calls_before {
            waiting.clear();
            continue;
        }
        let still = life.world.disk.look(|image| {
            let rows = image.work.values().filter(|row| waiting.contains(row));
            rows.map(|row| WorkRow::clone(row)).next()
        });
        if let Some(row) = still {
            life.check(|_| {
                Err(Violation::new(
                    "nothing waits while nothing runs",
                    format!("{row:?}"),
                ))
            });
            return;
        }
        waiting = life.world.disk.look(|image| {
            let due = |row: &WorkRow| row.due_at.is_none_or(|due| due <= now);
            let rows = image.work.values().filter(|row| due(row));
            rows.map(|row| WorkRow::clone(row)).collect()
        });
    }
}

/// The days of a life: people come and go until everything heals, then all comes to its end.
async fn days(life: &Arc<Life>, people: &Clients) -> End {
    let plan = &life.world.plan;
    if !life.with(|inside| inside.healed) {
        loop {
            let begun = life.with(|inside| inside.deeds_begun);
            let Some((at, deed)) = plan
                .deeds
                .get(begun)
                .filter(|(at, _)| *at < 2 * plan.safety_ms)
            else {
                break;
            };
            life.sleep_ms(at.saturating_sub(life.lived_ms())).await;
            life.with(|inside| inside.deeds_begun += 1);
            people.begin(deed.clone());
        }
        life.sleep_ms(plan.safety_ms.saturating_sub(life.lived_ms()))
            .await;
        life.with(|inside| inside.healed = true);
        life.say("everything heals");
        match plan.heals_by {
            Healing::GoingOn => {}
            Healing::Crash => life.crash("once more", None).await,
            Healing::Stop => {
                life.ask_to_stop(2_000);
                std::future::pending::<()>().await;
            }
        }
    }
    come_to_an_end(life, people).await;
    people.engine.stop().await;
    End::Done
}

/// Everything that is open must end, and nothing may be left over.
async fn come_to_an_end(life: &Arc<Life>, people: &Clients) {
    let began = life.lived_ms();
    let mut wait_ms = 50;
    loop {
        resume_all(life, people).await;
        // Whoever is still at something may start something.
        let open = match people.doing.is_empty() {
            true => life.world.disk.look(still_open),
            false => Some("somebody waits for an answer".to_owned()),
        };
        let Some(open) = open else {
            break;
        };
        if life.lived_ms() > began + HEALED_WITHIN_MS {
            life.check(|_| Err(Violation::new("everything comes to its end", open)));
            return;
        }
        life.sleep_ms(wait_ms).await;
        wait_ms = (wait_ms * 2).min(20_000);
    }
    let slots = life.world.plan.limits.attempts;
    let ended = life.lived_ms();
    // A call that crossed with the end of its execution goes on until its time is over.
    while people.engine.running() > 0 && life.lived_ms() < ended + CALLS_END_WITHIN_MS {
        life.sleep_ms(CALLS_WATCHED_MS).await;
    }
    let free = people.engine.free_slots();
    life.check(|_| match free == slots && people.engine.running() == 0 {
        true => Ok(()),
        false => {
            let what = format!("{free} of {slots} slots are free, and nothing runs");
            Err(Violation::new("slots are given back", what))
        }
    });
}

async fn resume_all(life: &Arc<Life>, people: &Clients) {
    let paused: Vec<ExecutionId> = life.with(|inside| {
        let all = inside.judge.all();
        let paused = all.filter(|(_, known)| known.state.status == Status::Paused);
        paused.map(|(id, _)| *id).collect()
    });
    for id in paused {
        let command = Command::Resume { by: None };
        let resumed = people.engine.executions().command(id, command).await;
        life.alive().await;
        if let Err(CommandError::Failed(failure)) = resumed {
            let what = format!("a resume fails: {failure}");
            life.check(|_| Err(Violation::new("a store without faults works", what)));
        }
    }
    people.resume_jobs().await;
}

/// What has not come to its end.
pub(crate) fn still_open(image: &Image) -> Option<String> {
    let open = image
        .executions
        .iter()
        .find(|(_, record)| !record.row.update.status.is_terminal());
    if let Some((id, record)) = open {
        let rows: Vec<_> = image.work_of(*id).collect();
        return Some(format!("{id} is {}, {rows:#?}", record.row.update.status));
    }
    if let Some(row) = image.work.values().next() {
        return Some(format!("{row:?} is left over"));
    }
    if let Some(row) = image.tasks.values().find(|row| !row.status.is_over()) {
        return Some(format!("{row:?} is left over"));
    }
    if let Some(row) = image.callbacks.values().find(|row| row.wake_at.is_some()) {
        return Some(format!("{row:?} is left over"));
    }
    if let Some(id) = image.triggers.keys().find(|id| owes(image, **id)) {
        return Some(format!("{id} has slots to come"));
    }
    if let Some(job) = image
        .bulk_jobs
        .values()
        .find(|job| !job.row.state.is_over())
    {
        return Some(format!("{:?} is left over", job.row));
    }
    let retrying = |status| status == LetterStatus::Retrying;
    let stuck = image
        .letters
        .values()
        .find(|filed| retrying(filed.state.status));
    stuck.map(|filed| format!("{} is still being retried", filed.letter.id))
}

/// Whether planned times of a trigger are still to come.
fn owes(image: &Image, id: TriggerId) -> bool {
    let told = &image.triggers[&id];
    let standing = image.trigger_states.get(&id);
    let Some(standing) = standing.filter(|_| told.row.enabled) else {
        return false;
    };
    let settings = String::from_utf8_lossy(&told.row.settings);
    let workflow = told.row.workflow.clone();
    let trigger = Trigger::new(id, workflow, told.row.version, true, &settings);
    let trigger = trigger.expect("it was accepted");
    let state = &standing.state;
    let next = |timeline: Timeline<'_>| timeline.next(state.cursor);
    state.buffered.is_some() || trigger.timeline().and_then(next).is_some()
}
