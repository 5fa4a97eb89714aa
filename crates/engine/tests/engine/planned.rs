//! Planned times when something is in their way: others who run the same ones, executions that nobody can
//! read, a ledger that is full.

use std::collections::HashSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::ledger::{SKIPS_KEPT, SLOTS_KEPT};
use refire_core::trigger::{CatchUp, Entry, Outcome, SkipReason, State};
use refire_engine::Engine;
use refire_engine::caller::Caller;
use refire_engine::trigger::{Backfill, TriggerError};
use refire_store::{Batch, Fire, Part, PartOutcome, SlotFilter, SlotRow, Store};

use crate::fixture::{Answer, World, apply, started, stop_at_once, within};
use crate::troubled::{damaged, troubled};

const SOURCE: &str = r#"
id: w
steps:
  - { id: a, type: http, config: { method: POST, url: "https://t.example/a" } }
"#;

const MINUTE: Duration = Duration::from_secs(60);

async fn create(engine: &Engine, source: &str) -> TriggerId {
    let workflow = apply(engine, SOURCE).await;
    let created = engine.triggers().create(&workflow, source).await;
    created.unwrap().view.row.id
}

/// A whole minute so many minutes ago.
fn ago(engine: &Engine, minutes: u32) -> Timestamp {
    let now = engine.now();
    let whole = Timestamp::from_micros(now.as_micros() - now.as_micros() % 60_000_000);
    whole.minus(MINUTE * minutes)
}

fn slot(nominal: Timestamp, outcome: Outcome) -> Entry {
    Entry {
        nominal,
        to: nominal,
        count: 1,
        outcome,
        execution: None,
        at: nominal,
    }
}

/// Writes into a ledger, and changes the plan, behind the engine's back.
async fn write(engine: &Engine, id: TriggerId, slots: &[Entry], change: impl Fn(&mut State)) {
    static COMMITS: AtomicU8 = AtomicU8::new(0);
    within(async {
        loop {
            let version = engine.store().trigger(id).await.unwrap().unwrap().version;
            let state = engine.store().trigger_state(id).await.unwrap().unwrap();
            let mut planned = state;
            change(&mut planned);
            let fire = Fire {
                trigger: id,
                version,
                rev: state.rev,
                state: planned,
                slots: slots.to_vec(),
                extends: false,
                by_hand: false,
                admission: None,
                notices: Vec::new(),
            };
            let batch = Batch {
                commit_id: [COMMITS.fetch_add(1, Ordering::Relaxed); 16],
                lease: None,
                now: engine.now(),
                parts: vec![Part::Fire(Box::new(fire))],
            };
            if engine.store().commit(&batch).await.unwrap()[0] == PartOutcome::Done {
                return;
            }
        }
    })
    .await;
}

/// Every minute from one to another was missed.
async fn miss(engine: &Engine, id: TriggerId, from: Timestamp, to: Timestamp) {
    let missed = Entry {
        to,
        count: to.since(from).as_secs() / 60 + 1,
        ..slot(from, Outcome::Skipped(SkipReason::Missed))
    };
    write(engine, id, &[missed], |_| ()).await;
}

async fn ledger(engine: &Engine, id: TriggerId) -> Vec<SlotRow> {
    engine
        .store()
        .slots(id, &SlotFilter::default(), None, 1_000)
        .await
        .unwrap()
}

const EACH_MINUTE: &str = r#"{"trigger_type":"cron","cron_expression":"* * * * *"}"#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn backfills_at_once_run_each_slot_once() {
    let world = World::new();
    let engine = world.engine();
    let id = create(&engine, EACH_MINUTE).await;
    let (from, to) = (ago(&engine, 45), ago(&engine, 6));
    miss(&engine, id, from, to).await;
    let range = Backfill {
        from,
        to,
        only_missed: true,
    };
    let all = join_all((0..3).map(|_| engine.triggers().backfill(id, range, None))).await;
    let run: Vec<Timestamp> = all
        .into_iter()
        .flat_map(|run| run.unwrap())
        .map(|(slot, _)| slot)
        .collect();
    assert_eq!(run.len(), 40, "{run:?}");
    assert_eq!(run.iter().collect::<HashSet<_>>().len(), 40);
    let again = engine.triggers().backfill(id, range, None).await.unwrap();
    assert!(again.is_empty(), "{again:?}");
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_slot_that_waits_for_an_execution_is_not_run_by_a_backfill_too() {
    let world = World::new();
    let engine = world.engine();
    let waits = r#"{"trigger_type":"cron","cron_expression":"* * * * *","overlap":"buffer_one"}"#;
    let id = create(&engine, waits).await;
    let (from, to) = (ago(&engine, 3), ago(&engine, 1));
    write(&engine, id, &[], |plan| {
        plan.running = Some(ExecutionId::from_bytes([9; 16]));
        plan.buffered = Some(to);
    })
    .await;
    let range = Backfill {
        from,
        to,
        only_missed: false,
    };
    let slots = engine.triggers().backfill_slots(id, range).await.unwrap();
    assert_eq!(slots, [from, from.plus(MINUTE)]);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_missed_is_found_after_much_went_well() {
    let world = World::new();
    let engine = world.engine();
    let id = create(&engine, EACH_MINUTE).await;
    let (from, to) = (ago(&engine, 2_000), ago(&engine, 1_991));
    miss(&engine, id, from, to).await;
    for part in 0..6_u32 {
        let fired = (0..SLOTS_KEPT as u32 / 2).map(|n| {
            let nominal = ago(&engine, 1_900 - part * 100 - n);
            slot(nominal, Outcome::Fired)
        });
        write(&engine, id, &fired.collect::<Vec<_>>(), |_| ()).await;
    }
    assert!(ledger(&engine, id).await.len() < 400, "it is cut");
    let range = Backfill {
        from,
        to: engine.now(),
        only_missed: true,
    };
    assert_eq!(engine.triggers().ledger_known_from(id).await.unwrap(), None);
    let slots = engine.triggers().backfill_slots(id, range).await.unwrap();
    assert_eq!(slots.len(), 10);
    // Where stretches were cut, too, it is said from when on all are known.
    let oldest = ago(&engine, 1_000);
    for part in 0..4_u32 {
        let missed = (0..SKIPS_KEPT as u32).map(|n| {
            let nominal = ago(&engine, 1_000 - part * 100 - n);
            slot(nominal, Outcome::Skipped(SkipReason::Missed))
        });
        write(&engine, id, &missed.collect::<Vec<_>>(), |_| ()).await;
    }
    let known_from = engine.triggers().ledger_known_from(id).await.unwrap();
    assert!(
        known_from.is_some_and(|first| first > oldest),
        "{known_from:?}"
    );
    let slots = engine.triggers().backfill_slots(id, range).await.unwrap();
    assert_eq!(slots.first().copied(), known_from);
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_backfill_that_is_stopped_tells_what_it_has_started() {
    let world = World::new();
    let engine = world.engine();
    let id = create(&engine, EACH_MINUTE).await;
    let (from, to) = (ago(&engine, 999), ago(&engine, 1));
    miss(&engine, id, from, to).await;
    let range = Backfill {
        from,
        to,
        only_missed: true,
    };
    let disable = async {
        world.targets.called("/a", 3).await;
        engine.triggers().disable(id).await.unwrap();
    };
    let (run, ()) = tokio::join!(engine.triggers().backfill(id, range, None), disable);
    let Err(TriggerError::Partly { started, because }) = run else {
        panic!("it is not stopped: {run:?}");
    };
    assert!(matches!(*because, TriggerError::Disabled), "{because:?}");
    let is_run = |row: &&SlotRow| row.slot.outcome.reason() == Some("backfill");
    let written = ledger(&engine, id).await.iter().filter(is_run).count();
    assert_eq!(started.len(), written);
    for tried in [
        engine.triggers().backfill_slots(id, range).await.err(),
        engine.triggers().backfill(id, range, None).await.err(),
    ] {
        assert!(matches!(tried, Some(TriggerError::Disabled)), "{tried:?}");
    }
    engine.stop().await;
}

/// An engine whose store cannot read one execution.
fn damaged_engine(world: &World) -> Arc<Engine> {
    let store: Arc<dyn Store> = troubled(world);
    let caller: Arc<dyn Caller> = world.targets.clone();
    started(Engine::builder(store).caller(caller))
}

async fn fires(engine: &Engine, id: TriggerId, more_than: usize) {
    within(async {
        loop {
            let rows = ledger(engine, id).await;
            let fired = rows.iter().filter(|row| row.slot.execution.is_some());
            if fired.count() > more_than {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_cancelled_for_what_cannot_be_started() {
    let world = World::new();
    world.targets.script("/a", &[Answer::Held]);
    let engine = world.engine();
    let every = r#"{"trigger_type":"schedule","every":"3s","overlap":"cancel_previous"}"#;
    let id = create(&engine, every).await;
    fires(&engine, id, 0).await;
    let first = ledger(&engine, id).await[0].slot.execution.unwrap();
    apply(&engine, &SOURCE.replace("id: a", "id: b")).await;
    stop_at_once(engine).await;

    let store = troubled(&world);
    store.versions_gone_from.store(2, Ordering::SeqCst);
    let caller: Arc<dyn Caller> = world.targets.clone();
    let engine = started(Engine::builder(store).caller(caller));
    // The trigger waits for its workflow.
    rests(&engine, id, Duration::from_secs(30)).await;
    let stored = engine.store().execution(first).await.unwrap().unwrap();
    assert!(
        !stored.state.status.is_terminal(),
        "{:?}",
        stored.state.status
    );
    assert_eq!(ledger(&engine, id).await.len(), 1);
    engine.stop_within(Duration::ZERO).await;
}

/// Waits until a trigger is not due for longer than that.
async fn rests(engine: &Engine, id: TriggerId, at_least: Duration) {
    within(async {
        loop {
            let state = engine.store().trigger_state(id).await.unwrap().unwrap();
            let soon = engine.now().plus(at_least);
            if state.due_at.is_some_and(|due| due > soon) {
                return;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
}

/// More than are looked at first: if they stayed due, nobody else would have a turn.
const CROWD: usize = 40;

/// A crowd of triggers of the workflow `w`, of which nothing can be made, and one of `v`.
async fn crowd_and_one(engine: &Engine, input: &str) -> (Vec<TriggerId>, TriggerId) {
    let settings = format!(r#"{{"trigger_type":"schedule","every":"1s","input":"{input}"}}"#);
    let workflow = apply(engine, SOURCE).await;
    let mut crowd = Vec::new();
    for _ in 0..CROWD {
        let created = engine.triggers().create(&workflow, &settings).await;
        crowd.push(created.unwrap().view.row.id);
    }
    let other = apply(engine, &SOURCE.replace("id: w", "id: v")).await;
    let every = r#"{"trigger_type":"schedule","every":"1s"}"#;
    let created = engine.triggers().create(&other, every).await;
    (crowd, created.unwrap().view.row.id)
}

/// The one is on time, and the crowd rests.
async fn one_fires_and_the_crowd_rests(engine: &Engine, crowd: &[TriggerId], one: TriggerId) {
    let before = ledger(engine, one).await.len();
    fires(engine, one, before + 2).await;
    for id in crowd {
        let state = engine.store().trigger_state(*id).await.unwrap().unwrap();
        let soon = engine.now().plus(Duration::from_secs(2));
        assert!(state.due_at.is_some_and(|due| due > soon), "{state:?}");
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn triggers_of_a_damaged_workflow_keep_no_other_from_being_on_time() {
    let world = World::new();
    let engine = world.engine();
    let (crowd, one) = crowd_and_one(&engine, "").await;
    stop_at_once(engine).await;
    let store = troubled(&world);
    store.w_is_damaged.store(true, Ordering::SeqCst);
    let caller: Arc<dyn Caller> = world.targets.clone();
    let engine = started(Engine::builder(store).caller(caller));
    one_fires_and_the_crowd_rests(&engine, &crowd, one).await;
    engine.stop_within(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_the_store_never_takes_keeps_no_other_trigger_from_being_on_time() {
    let world = World::new();
    let store = troubled(&world);
    let caller: Arc<dyn Caller> = world.targets.clone();
    let engine = started(Engine::builder(store).caller(caller));
    let (crowd, one) = crowd_and_one(&engine, "POISON").await;
    one_fires_and_the_crowd_rests(&engine, &crowd, one).await;
    engine.stop_within(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_can_never_cancel_rests() {
    let world = World::new();
    world.targets.script("/a", &[Answer::Held]);
    let engine = world.engine();
    let every = r#"{"trigger_type":"schedule","every":"3s","overlap":"cancel_previous"}"#;
    let id = create(&engine, every).await;
    fires(&engine, id, 0).await;
    apply(&engine, &SOURCE.replace("id: a", "id: b")).await;
    stop_at_once(engine).await;

    // What runs was started by a definition that is not there any more.
    let store = troubled(&world);
    store.version_gone.store(1, Ordering::SeqCst);
    let caller: Arc<dyn Caller> = world.targets.clone();
    let engine = started(Engine::builder(store).caller(caller));
    rests(&engine, id, Duration::from_secs(5)).await;
    engine.stop_within(Duration::ZERO).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_cancelled_keeps_nothing_from_starting() {
    let world = World::new();
    let engine = damaged_engine(&world);
    let every = r#"{"trigger_type":"schedule","every":"1s","overlap":"cancel_previous"}"#;
    let id = create(&engine, every).await;
    // One that is damaged, and one that is gone.
    for in_the_way in [damaged(), ExecutionId::from_bytes([9; 16])] {
        write(&engine, id, &[], |plan| plan.running = Some(in_the_way)).await;
        let before = ledger(&engine, id).await.len();
        fires(&engine, id, before).await;
    }
    engine.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_trigger_that_waits_for_a_damaged_execution_can_be_set_free() {
    let world = World::new();
    let engine = damaged_engine(&world);
    let every = r#"{"trigger_type":"schedule","every":"1s","overlap":"skip"}"#;
    let id = create(&engine, every).await;
    write(&engine, id, &[], |plan| plan.running = Some(damaged())).await;
    within(async {
        while !ledger(&engine, id)
            .await
            .iter()
            .any(|row| row.slot.outcome.reason() == Some("overlap"))
        {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await;
    let before = ledger(&engine, id).await;
    let before = before.iter().filter(|row| row.slot.execution.is_some());
    let before = before.count();
    engine.triggers().disable(id).await.unwrap();
    let (view, _) = engine.triggers().enable(id, CatchUp::No).await.unwrap();
    assert_eq!(view.state.unwrap().running, None);
    fires(&engine, id, before).await;
    engine.stop().await;
}
