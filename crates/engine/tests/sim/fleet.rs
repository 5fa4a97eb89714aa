//! Several nodes that share a database, in one runtime with one virtual time. Each dies, is paused,
//! is cut off, stops and comes back by itself; people go to any of them.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use refire_core::execution::{Command, Status};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::WorkRow;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::called_back;
use crate::clients::Clients;
use crate::due::{LOOKED_AT_WITHIN, left_alone};
use crate::life::Life;
use crate::mark::Mark;
use crate::plan::{Deed, Healing, Mishap};
use crate::process::{self, End, LIVES_MAX};
use crate::run::{CALLS_END_WITHIN_MS, HEALED_WITHIN_MS, between, still_open};
use crate::target::Call;
use crate::worker::{self, Hall};
use crate::world::{Violation, World};

/// How often somebody who finds every door closed comes back, in milliseconds.
const DOORS_CLOSED_MS: u64 = 200;
/// How long a program takes to give up that cannot join, in milliseconds.
const GIVES_UP_AFTER_MS: u64 = 500;
/// How often the work of nodes that are gone is looked at, in milliseconds.
const WATCH_EVERY_MS: u64 = 1_000;
/// Beyond its lease, this long after a node's end its work has begun elsewhere, in milliseconds.
const TAKEN_OVER_MS: u64 = 5_000;

/// See the module.
pub(crate) struct Fleet {
    world: Arc<World>,
    /// The people at the door of each node that is up.
    doors: Mutex<Vec<Option<Clients>>>,
    lives: AtomicU32,
    /// Set when everything has come to its end: nobody comes back.
    done: CancellationToken,
}

/// Lives until everything has come to its end; how many lives that took.
pub(crate) fn live_together(world: &Arc<World>) -> u32 {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        world.began();
        let count = world.plan.nodes.count;
        let fleet = Arc::new(Fleet {
            world: Arc::clone(world),
            doors: Mutex::new((0..count).map(|_| None).collect()),
            lives: AtomicU32::new(0),
            done: CancellationToken::new(),
        });
        for slot in 0..count {
            tokio::spawn(keep_up(Arc::clone(&fleet), slot));
        }
        tokio::spawn(mishaps(Arc::clone(&fleet)));
        tokio::spawn(watch(Arc::clone(&fleet)));
        tokio::spawn(watch_calls(Arc::clone(&fleet)));
        let hall = Hall::Many(Arc::clone(&fleet));
        worker::come(world, &hall);
        called_back::come(world, &hall);
        tokio::spawn(crate::watch::watch(Arc::clone(world), hall));
        tokio::select! {
            biased;
            () = world.over.notified() => {}
            () = days(&fleet) => {}
        }
        // Who stands at a door holds the fleet, too: without this no world would ever be freed.
        fleet.doors.lock().unwrap().clear();
        fleet.lives.load(Ordering::Relaxed)
    })
}

impl Fleet {
    /// One of the doors that are open.
    pub(crate) fn door(&self) -> Option<Clients> {
        let mut doors = self.open_doors();
        if doors.is_empty() {
            return None;
        }
        let dice = &mut self.world.inside().people_dice;
        let index = usize::try_from(dice.below(doors.len() as u64)).unwrap_or(0);
        Some(doors.swap_remove(index))
    }

    pub(crate) fn open_doors(&self) -> Vec<Clients> {
        let doors = self.doors.lock().unwrap();
        doors.iter().flatten().cloned().collect()
    }

    fn life_of(&self, slot: usize) -> Option<Arc<Life>> {
        let doors = self.doors.lock().unwrap();
        let door = doors.get(slot)?.as_ref()?;
        Some(Arc::clone(&door.life))
    }

    /// The life of the node that has been there for the longest time.
    fn oldest(&self) -> Option<Arc<Life>> {
        let doors = self.open_doors();
        let ids: Vec<NodeId> = self.world.disk.look(|image| {
            let mut rows: Vec<_> = image.nodes.values().collect();
            rows.sort_by_key(|row| (row.started_at, row.id));
            rows.iter().map(|row| row.id).collect()
        });
        let life_of = |id: &NodeId| doors.iter().find(|door| door.life.node() == Some(*id));
        let oldest = ids.iter().find_map(life_of)?;
        Some(Arc::clone(&oldest.life))
    }

    fn healed(&self) -> bool {
        self.world.inside().healed
    }

    fn lived_ms(&self) -> u64 {
        let lived = self.world.began().elapsed().as_millis();
        u64::try_from(lived).unwrap_or(u64::MAX)
    }

    /// A broken promise ends the run.
    fn violate(&self, check: &'static str, what: String) {
        self.world.inside().violate(Violation::new(check, what));
        self.world.over.notify_one();
    }

    /// Somebody finds a door, sooner or later.
    pub(crate) async fn find_door(&self) -> Clients {
        loop {
            if let Some(door) = self.door() {
                return door;
            }
            sleep_ms(DOORS_CLOSED_MS).await;
        }
    }
}

async fn sleep_ms(ms: u64) {
    tokio::time::sleep(Duration::from_millis(ms)).await;
}

/// Life after life of one node.
async fn keep_up(fleet: Arc<Fleet>, slot: usize) {
    let world = Arc::clone(&fleet.world);
    loop {
        let number = fleet.lives.fetch_add(1, Ordering::Relaxed) + 1;
        if number > LIVES_MAX {
            let what = format!("{LIVES_MAX} processes died");
            fleet.violate("the process stays alive", what);
            return;
        }
        let life = Life::begin_among(&world, number, slot);
        let end = lead(&fleet, &life).await;
        fleet.doors.lock().unwrap()[slot] = None;
        life.end();
        if world.inside().violation.is_some() || fleet.done.is_cancelled() {
            return;
        }
        let down_ms = {
            let inside = &mut *world.inside();
            let line = format!("life {number} ends: {end:?}");
            inside.trace.say(line);
            inside.in_flight.forget(number);
            *inside
                .process_dice
                .pick(&[1, 100, 1_000, 5_000, 20_000, 40_000])
        };
        if end == End::Crashed {
            between(&world);
        }
        world.look_at_everything();
        let waiting = Arc::clone(&fleet);
        tokio::spawn(async move {
            let door = waiting.find_door().await;
            door.come_back(number);
        });
        sleep_ms(down_ms).await;
    }
}

/// One life of a node, until it ends.
async fn lead(fleet: &Arc<Fleet>, life: &Arc<Life>) -> End {
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
            sleep_ms(GIVES_UP_AFTER_MS).await;
            return End::Broken;
        }
    };
    let people = Clients {
        life: Arc::clone(life),
        engine: Arc::clone(&engine),
        doing: TaskTracker::new(),
        fleet: Some(Arc::clone(fleet)),
    };
    fleet.doors.lock().unwrap()[life.slot] = Some(people.clone());
    let meddler = people.clone();
    tokio::spawn(async move { meddler.meddle().await });
    let end = tokio::select! {
        biased;
        () = life.died() => End::Crashed,
        () = engine.broken() => process::leave(life, &people).await,
        patience_ms = life.asked_to_stop() => process::stop(life, &people, patience_ms).await,
        () = fleet.done.cancelled() => End::Done,
    };
    process::remembered(life, &engine);
    end
}

/// What the plan has for the nodes.
async fn mishaps(fleet: Arc<Fleet>) {
    for (at, slot, mishap) in &fleet.world.plan.nodes.mishaps {
        sleep_ms(at.saturating_sub(fleet.lived_ms())).await;
        let life = match mishap {
            Mishap::CrashOldest => fleet.oldest(),
            _ => fleet.life_of(*slot),
        };
        let Some(life) = life else {
            continue;
        };
        if fleet.healed() || life.is_dead() {
            continue;
        }
        life.say(&format!("{mishap:?}"));
        match mishap {
            Mishap::Crash => crash(life),
            Mishap::Stop { patience_ms } => life.ask_to_stop(*patience_ms),
            Mishap::Pause { ms } => life.pause(*ms),
            Mishap::Cut { ms } => life.cut(*ms),
            Mishap::CrashOldest => {
                life.reach(Mark::OldestFell);
                crash(life);
            }
        }
    }
}

/// Kills a process from outside. What kills it waits for ever, so it is a task of its own.
fn crash(life: Arc<Life>) {
    tokio::spawn(async move { life.crash("from outside", None).await });
}

/// Clients come and go until everything heals, then all comes to its end.
async fn days(fleet: &Arc<Fleet>) {
    let plan = &fleet.world.plan;
    let in_time = plan.deeds.iter().filter(|(at, _)| *at < plan.safety_ms);
    for (at, deed) in in_time {
        sleep_ms(at.saturating_sub(fleet.lived_ms())).await;
        let door = fleet.find_door().await;
        door.begin(deed.clone());
    }
    sleep_ms(plan.safety_ms.saturating_sub(fleet.lived_ms())).await;
    {
        let inside = &mut *fleet.world.inside();
        inside.healed = true;
        inside.trace.say("everything heals".to_owned());
    }
    let door = fleet.find_door().await;
    match plan.heals_by {
        Healing::GoingOn => {}
        Healing::Crash => crash(Arc::clone(&door.life)),
        Healing::Stop => door.begin(Deed::Stop { patience_ms: 2_000 }),
    }
    sleep_ms(1).await;
    come_to_an_end(fleet).await;
    stop_all(fleet).await;
}

/// Within this it is known what became of a commit, in milliseconds.
const FOUND_OUT_MS: u64 = 15_000;

/// Everything that is open must end, and nothing may be left over.
async fn come_to_an_end(fleet: &Fleet) {
    let began = fleet.lived_ms();
    let mut wait_ms = 50;
    loop {
        resume_all(fleet).await;
        let Some(open) = open_still(fleet) else {
            break;
        };
        if fleet.lived_ms() > began + HEALED_WITHIN_MS {
            fleet.violate("everything comes to its end", open);
            return;
        }
        sleep_ms(wait_ms).await;
        wait_ms = (wait_ms * 2).min(20_000);
    }
    for Clients { life, engine, .. } in fleet.open_doors() {
        process::remembered(&life, &engine);
        let slots = fleet.world.plan.limits.attempts;
        let began = fleet.lived_ms();
        // A commit that was lost before the healing holds its slots until that is found out, and a call
        // that crossed with the end of its execution goes on until its time is over.
        let patience = || match engine.running() {
            0 => FOUND_OUT_MS,
            _ => CALLS_END_WITHIN_MS,
        };
        while engine.free_slots() != slots && fleet.lived_ms() < began + patience() {
            sleep_ms(WATCH_EVERY_MS).await;
        }
        let free = engine.free_slots();
        if free != slots {
            let what = format!(
                "{free} of {slots} slots of life {} are free, and nothing runs",
                life.number
            );
            fleet.violate("slots are given back", what);
        }
    }
}

/// What has not come to its end.
fn open_still(fleet: &Fleet) -> Option<String> {
    let doors = fleet.open_doors();
    if doors.len() < fleet.world.plan.nodes.count {
        return Some("a node is down".to_owned());
    }
    // Whoever is still at something may start something.
    if doors.iter().any(|door| !door.doing.is_empty()) {
        return Some("somebody waits for an answer".to_owned());
    }
    // Whoever was held up may not know yet that it has lost its lease.
    let lease_ms = u64::try_from(fleet.world.plan.nodes.lease.as_millis()).unwrap_or(0);
    let since = fleet.lived_ms().saturating_sub(lease_ms);
    let is_well = |life: &Life| is_well(life) && !life.was_held_up_since(since);
    if let Some(door) = doors.iter().find(|door| !is_well(&door.life)) {
        return Some(format!("life {} is not well", door.life.number));
    }
    // What ended elsewhere may be on its way to an attempt here, and is given up then.
    if let Some(door) = doors.iter().find(|door| door.engine.running() > 0) {
        return Some(format!("life {} is at something", door.life.number));
    }
    fleet.world.disk.look(still_open)
}

async fn resume_all(fleet: &Fleet) {
    let paused: Vec<ExecutionId> = {
        let inside = fleet.world.inside();
        let all = inside.judge.all();
        let paused = all.filter(|(_, known)| known.state.status == Status::Paused);
        paused.map(|(id, _)| *id).collect()
    };
    for id in paused {
        // A node that is not well refuses; another one does not, or later.
        if let Some(door) = fleet.door() {
            door.steer(id, |by| Command::Resume { by });
        }
    }
    if let Some(door) = fleet.door() {
        door.resume_jobs().await;
    }
}

/// All nodes stop in order, and none is left among the nodes.
async fn stop_all(fleet: &Fleet) {
    if fleet.world.inside().violation.is_some() {
        return;
    }
    let doors = fleet.open_doors();
    let stopping = doors.iter().map(|door| door.engine.stop());
    futures_util::future::join_all(stopping).await;
    fleet.done.cancel();
    let left = fleet.world.disk.look(|image| {
        let ids: Vec<_> = doors.iter().map(|door| door.engine.node()).collect();
        let mut left = image.nodes.keys().filter(|node| ids.contains(node));
        left.next().copied()
    });
    if let Some(node) = left {
        fleet.violate("a node that stops signs off", node.to_string());
    }
}

/// Looks now and then whether a node goes on with calls of an id that it has lost.
async fn watch_calls(fleet: Arc<Fleet>) {
    // Calls of another id than their node has now, with that one.
    let mut seen: Vec<(Call, Option<NodeId>)> = Vec::new();
    loop {
        sleep_ms(WATCH_EVERY_MS).await;
        let mut found = Vec::new();
        for Clients { life, .. } in fleet.open_doors() {
            let node = life.node();
            if !life.is_dead() && !life.is_paused() {
                let inside = fleet.world.inside();
                let calls = inside.in_flight.of(life.number);
                let of_another = calls.filter(|call| call.node != node);
                found.extend(of_another.map(|call| (call.clone(), node)));
            }
        }
        if let Some((call, node)) = found.iter().find(|call| seen.contains(call)) {
            let what = format!("it is {node:?}: {call:?}");
            fleet.violate("a lost lease ends calls", what);
            return;
        }
        seen = found;
    }
}

/// Looks now and then whether work that could begin is left with somebody who is gone.
async fn watch(fleet: Arc<Fleet>) {
    let world = &fleet.world;
    if !world.plan.is_prompt {
        return;
    }
    let lease_ms = u64::try_from(world.plan.nodes.lease.as_millis()).unwrap_or(0);
    let mut waiting: Vec<(WorkRow, u64)> = Vec::new();
    let mut well_since: Vec<Option<(u32, u64)>> = vec![None; world.plan.nodes.count];
    loop {
        sleep_ms(WATCH_EVERY_MS).await;
        let (now, lived) = (world.now(), fleet.lived_ms());
        let mut running = Vec::new();
        for (slot, since) in well_since.iter_mut().enumerate() {
            let life = fleet.life_of(slot).filter(|life| is_well(life));
            let life = life.map(|life| (life.number, life));
            *since = life.as_ref().map(|(number, _)| match *since {
                Some((same, since)) if same == *number => (same, since),
                _ => (*number, lived),
            });
            running.extend(life.and_then(|(_, life)| life.node()));
        }
        let due = due_rows(world, now);
        let held = |row: &WorkRow| row.begun && row.owner.is_some_and(|it| running.contains(&it));
        waiting.retain(|(row, _)| due.contains(row));
        for row in due.into_iter().filter(|row| !held(row)) {
            if !waiting.iter().any(|(known, _)| *known == row) {
                waiting.push((row, lived));
            }
        }
        waiting.retain(|(row, _)| !held(row));
        let limit = lease_ms + TAKEN_OVER_MS;
        let somebody = well_since.iter().flatten().map(|(_, since)| *since).min();
        let late = waiting.iter().find(|(row, since)| {
            let since = (*since).max(somebody.unwrap_or(lived));
            // Whoever went after renewing once more held it lawfully until then.
            let owner = row.owner.filter(|owner| !running.contains(owner));
            let silent = owner.and_then(|owner| silent_ms(world, owner, now));
            let since = since.max(lived.saturating_sub(silent.unwrap_or(lived)));
            lived - since > limit
        });
        let is_well = |since: u64| Duration::from_millis(lived - since) > LOOKED_AT_WITHIN;
        if somebody.is_some_and(is_well)
            && let Err(violation) = world.disk.look(|image| left_alone(image, now))
        {
            fleet.violate(violation.check, violation.what);
            return;
        }
        if let Some((row, since)) = late {
            let leases = world.disk.look(|image| format!("{:?}", image.nodes));
            let what = format!("since {since} ms: {row:?}; it is {now}, the leases are {leases}");
            fleet.violate("a dead node's work begins elsewhere in time", what);
            return;
        }
    }
}

fn is_well(life: &Life) -> bool {
    let ready = |life: &Life| {
        let engine = life.engine.get().and_then(std::sync::Weak::upgrade);
        engine.is_some_and(|engine| engine.is_ready())
    };
    let is_cut = life.cut_for().is_some() || life.lease_cut_for().is_some();
    !life.is_dead() && !life.is_paused() && !is_cut && ready(life)
}

/// How long ago a node renewed its lease, while it has one.
fn silent_ms(world: &World, node: NodeId, now: Timestamp) -> Option<u64> {
    world.disk.look(|image| {
        let row = image.nodes.get(&node)?;
        u64::try_from(now.since(row.renewed_at).as_millis()).ok()
    })
}

/// Work that may run by now.
fn due_rows(world: &World, now: Timestamp) -> Vec<WorkRow> {
    world.disk.look(|image| {
        let due = |row: &WorkRow| row.due_at.is_none_or(|due| due <= now);
        let rows = image.work.values().filter(|row| due(row));
        rows.map(|row| WorkRow::clone(row)).collect()
    })
}
