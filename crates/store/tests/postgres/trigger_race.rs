//! Nodes that are at the same triggers at the same time: a slot is fired once, whoever tries.

use std::sync::Arc;

use refire_core::execution::{Cancel, Command, TriggerKind};
use refire_core::id::TriggerId;
use refire_core::trigger::{End, Entry, Outcome, State};
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    Admit, CreateTrigger, ExecutionFilter, Executions, Fire, LIMIT_MAX, Part, PartOutcome,
    SlotFilter, Store, Stretch, TriggerEnd, Triggers,
};
use tokio::sync::Barrier;

use crate::race::deadlocks;
use crate::stage::{self, Run, Stage, admission, part};

/// Who tries at once.
const NODES: u8 = 8;
/// How often they try.
const ROUNDS: u64 = 20;
/// Triggers that two nodes are at in opposite orders.
const CROSSING: u8 = 12;

pub(crate) fn trigger(n: u8) -> TriggerId {
    TriggerId::from_bytes([n; 16])
}

fn plan() -> State {
    State {
        due_at: Some(stage::NOW),
        ..State::default()
    }
}

pub(crate) fn create(stage: &Stage, n: u8) -> Part {
    Part::CreateTrigger(Box::new(CreateTrigger {
        id: trigger(n),
        workflow: stage.workflow.id.clone(),
        kind: TriggerKind::Cron,
        enabled: true,
        settings: b"{}".to_vec(),
        secrets: None,
        webhook: None,
        state: Some(plan()),
    }))
}

pub(crate) fn fire(n: u8, rev: u64, admit: Option<Admit>) -> Part {
    let slot = Entry {
        nominal: stage::NOW,
        to: stage::NOW,
        count: 1,
        outcome: Outcome::Fired,
        execution: admit.as_ref().map(|admit| admit.row.id),
        at: stage::NOW,
    };
    Part::Fire(Box::new(Fire {
        trigger: trigger(n),
        version: 1,
        rev,
        state: plan(),
        slots: vec![slot],
        extends: false,
        by_hand: false,
        admission: admit.map(Box::new),
        notices: Vec::new(),
    }))
}

/// The execution ends, which its trigger is told.
fn ending(stage: &Stage, run: &Run, n: u8) -> Part {
    let cancel = Command::Cancel(Cancel::by(None));
    let mut advance = stage.decide(&mut run.clone(), cancel);
    advance.end = Some(TriggerEnd {
        trigger: trigger(n),
        end: End {
            execution: run.id,
            success: true,
            slot: None,
            at: stage::NOW,
        },
    });
    part(advance)
}

async fn commit_together(
    stores: &mut [(Arc<Postgres>, Stage)],
    parts: Vec<Vec<Part>>,
) -> Vec<Vec<PartOutcome>> {
    let line = Arc::new(Barrier::new(stores.len()));
    let mut running = Vec::new();
    for ((store, stage), parts) in stores.iter_mut().zip(parts) {
        let (store, line, batch) = (Arc::clone(store), Arc::clone(&line), stage.batch(parts));
        running.push(tokio::spawn(async move {
            line.wait().await;
            store.commit(&batch).await.unwrap()
        }));
    }
    let mut outcomes = Vec::new();
    for one in running {
        outcomes.push(one.await.unwrap());
    }
    outcomes
}

async fn stores(database: &Scratch, count: u8) -> Vec<(Arc<Postgres>, Stage)> {
    let mut stores = Vec::new();
    for n in 1..=count {
        let store = Arc::new(stage::open(&database.url()).await);
        stores.push((store, Stage::new(n)));
    }
    let (store, stage) = &mut stores[0];
    stage.save(&**store).await;
    stores
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_slot_is_fired_once() {
    let database = Scratch::new();
    let mut stores = stores(&database, NODES).await;
    let make = create(&stores[0].1, 1);
    let batch = stores[0].1.batch(vec![make]);
    stores[0].0.commit(&batch).await.unwrap();
    for rev in 1..=ROUNDS {
        let parts = stores.iter_mut().map(|(_, stage)| {
            let admit = stage.start("{}").1;
            vec![fire(1, rev, Some(admit))]
        });
        let parts = parts.collect();
        let outcomes = commit_together(&mut stores, parts).await.concat();
        let fired = outcomes.iter().filter(|one| **one == PartOutcome::Done);
        assert_eq!(fired.count(), 1, "{outcomes:?}");
        let refused = outcomes
            .iter()
            .filter(|one| **one == PartOutcome::TriggerMoved);
        assert_eq!(refused.count(), usize::from(NODES) - 1, "{outcomes:?}");
    }
    let store = &stores[0].0;
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.len() as u64, ROUNDS);
    let ledger = store
        .slots(trigger(1), &SlotFilter::default(), None, LIMIT_MAX)
        .await
        .unwrap();
    let mut fired: Vec<_> = ledger.iter().filter_map(|row| row.slot.execution).collect();
    fired.sort_unstable();
    let mut there: Vec<_> = listed.iter().map(|one| one.id).collect();
    there.sort_unstable();
    assert_eq!(fired, there, "the ledger names what was started");
}

/// Ends and fires of the same triggers, and moves of the same executions, in opposite orders.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crossing_fires_and_ends_end() {
    let database = Scratch::new();
    let mut stores = stores(&database, 2).await;
    let stage = &mut stores[0].1;
    let makes = (1..=CROSSING).map(|n| create(stage, n)).collect();
    let batch = stage.batch(makes);
    stores[0].0.commit(&batch).await.unwrap();
    let mut ended = 0;
    for _ in 0..ROUNDS {
        let mut runs = Vec::new();
        let mut admits = Vec::new();
        for _ in 1..=CROSSING {
            let (run, admit) = stores[0].1.start("{}");
            runs.push(run);
            admits.push(admission(admit));
        }
        let batch = stores[0].1.batch(admits);
        stores[0].0.commit(&batch).await.unwrap();
        let mut revs = Vec::new();
        for n in 1..=CROSSING {
            let state = stores[0].0.trigger_state(trigger(n)).await.unwrap();
            revs.push(state.unwrap().rev);
        }
        let mut parts = Vec::new();
        for (at, (_, stage)) in (0..2).zip(&mut stores) {
            let mut own = Vec::new();
            for n in 1..=CROSSING {
                let n = if at == 0 { n } else { CROSSING + 1 - n };
                let place = usize::from(n - 1);
                if n % 2 == at {
                    own.push(fire(n, revs[place], Some(stage.start("{}").1)));
                } else {
                    own.push(ending(stage, &runs[place], n));
                }
                // The other one ends it, too.
                own.push(ending(stage, &runs[place], n));
            }
            parts.push(own);
        }
        for outcomes in commit_together(&mut stores, parts).await {
            let done = outcomes.iter().filter(|one| **one == PartOutcome::Done);
            ended += done.count();
        }
    }
    assert!(ended > 0);
    for (store, _) in &stores {
        store.close().await;
    }
    assert_eq!(deadlocks(&database).await, 0);
}
