//! How long it takes to fire very many triggers at once. Not a promise, and noisy on a busy machine:
//! run by hand with `--ignored --nocapture`.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[path = "differential/decision.rs"]
mod decision;
#[path = "postgres/stage.rs"]
#[expect(dead_code, reason = "the tests of several nodes need more of it")]
mod stage;

use std::time::{Duration, Instant};

use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId, WebhookId, time_ordered};
use refire_store::postgres::Scratch;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{
    CreateTrigger, Fire, IdempotencyClaim, Part, PartOutcome, RequestRow, RequestStatus, Slot,
    SlotStatus, Store, TriggerPlan, TriggerVersion,
};
use stage::{NOW, Stage};

/// Triggers in the table.
const TRIGGERS: u32 = 100_000;
/// Those that are due in the same second.
const DUE: u32 = 10_000;
/// Parts of one batch, as the committer makes them.
const BATCH: usize = 512;
/// Times that the due ones are asked for.
const QUESTIONS: usize = 200;

fn id_bytes(n: u32) -> [u8; 16] {
    let mut entropy = [0; 10];
    entropy[4..8].copy_from_slice(&n.to_be_bytes());
    time_ordered(1_700_000_000_000 + u64::from(n), entropy)
}

fn plan(due_in: u64) -> TriggerPlan {
    TriggerPlan {
        cursor: Some(NOW),
        due_at: Some(NOW.plus(Duration::from_secs(due_in))),
        ..TriggerPlan::default()
    }
}

async fn commit(store: &dyn Store, stage: &mut Stage, parts: Vec<Part>) {
    for chunk in parts.chunks(BATCH) {
        let batch = stage.batch(chunk.to_vec());
        let outcomes = store.commit(&batch).await.unwrap();
        assert!(outcomes.iter().all(|one| *one == PartOutcome::Done));
    }
}

fn create(stage: &Stage, n: u32) -> Part {
    let due_in = if n.is_multiple_of(TRIGGERS / DUE) {
        0
    } else {
        60
    };
    Part::CreateTrigger(Box::new(CreateTrigger {
        id: TriggerId::from_bytes(id_bytes(n)),
        workflow: stage.workflow.id.clone(),
        kind: TriggerKind::Cron,
        enabled: true,
        settings: vec![b'x'; 300],
        secrets: None,
        webhook: None,
        plan: Some(plan(due_in)),
    }))
}

/// What the committer would be sent when these are due.
async fn fires(store: &dyn Store, stage: &mut Stage) -> Vec<Part> {
    let mut parts: Vec<Part> = Vec::new();
    for n in (0..TRIGGERS).step_by((TRIGGERS / DUE) as usize) {
        let trigger = TriggerId::from_bytes(id_bytes(n));
        let (run, admit) = stage.start("{\"slot\":1}");
        let state = store.trigger_state(trigger).await.unwrap().unwrap();
        let slot = Slot {
            nominal: NOW,
            until: NOW,
            count: 1,
            status: SlotStatus::Fired,
            reason: None,
            execution: Some(run.id),
            at: NOW,
        };
        parts.push(Part::Fire(Box::new(Fire {
            trigger,
            version: 1,
            rev: state.rev,
            plan: plan(60),
            slots: vec![slot],
            extends: true,
            admission: Some(Box::new(admit)),
        })));
    }
    parts
}

/// Accepted requests to one webhook, with keys, as the committer would be sent them.
fn requests(stage: &mut Stage, hook: TriggerId) -> Vec<Part> {
    let mut parts = Vec::new();
    for n in 0..DUE {
        let (run, mut admit) = stage.start("{\"event\":1}");
        let mut key_hash = [0; 16];
        key_hash[..4].copy_from_slice(&n.wrapping_mul(2_654_435_761).to_le_bytes());
        admit.claim = Some(IdempotencyClaim {
            scope: hook.to_string(),
            key_hash,
            body_hash: [0; 8],
            expires_at: NOW.plus(Duration::from_secs(60)),
        });
        admit.trigger = Some(TriggerVersion {
            id: hook,
            version: 1,
        });
        admit.request = Some(Box::new(RequestRow {
            id: RequestId::from_bytes(*run.id.as_bytes()),
            trigger: hook,
            at: NOW,
            status: RequestStatus::Triggered,
            source: "192.0.2.1".to_owned(),
            headers: vec![b'h'; 400],
            body: None,
            body_bytes: 12,
            execution: Some(run.id),
            error: None,
            is_test: false,
        }));
        parts.push(stage::admission(admit));
    }
    parts
}

async fn measure(name: &str, store: &dyn Store) {
    let mut stage = Stage::new(1);
    stage.save(store).await;
    let creates = (0..TRIGGERS).map(|n| create(&stage, n)).collect();
    let begun = Instant::now();
    commit(store, &mut stage, creates).await;
    println!("{name}: {TRIGGERS} triggers made in {:?}", begun.elapsed());
    let mut waits = Vec::new();
    for _ in 0..QUESTIONS {
        let begun = Instant::now();
        let due = store.due_triggers(NOW, 512).await.unwrap();
        assert_eq!(due.len(), 512);
        waits.push(begun.elapsed());
    }
    waits.sort_unstable();
    let [middle, last] = [50, 99].map(|percent| waits[QUESTIONS * percent / 100]);
    println!("{name}: 512 due triggers: p50 {middle:?}, p99 {last:?}");
    let mut plain = Vec::new();
    for _ in 0..DUE {
        plain.push(stage::admission(stage.start("{\"slot\":1}").1));
    }
    let begun = Instant::now();
    commit(store, &mut stage, plain).await;
    println!("{name}: {DUE} plain admissions in {:?}", begun.elapsed());
    for _ in 0..3 {
        let parts = fires(store, &mut stage).await;
        let begun = Instant::now();
        commit(store, &mut stage, parts).await;
        println!("{name}: {DUE} fires in {:?}", begun.elapsed());
    }
    let hook = TriggerId::from_bytes([9; 16]);
    let webhook = CreateTrigger {
        id: hook,
        workflow: stage.workflow.id.clone(),
        kind: TriggerKind::Webhook,
        enabled: true,
        settings: Vec::new(),
        secrets: None,
        webhook: Some(WebhookId::from_bytes([9; 16])),
        plan: None,
    };
    let webhook = Part::CreateTrigger(Box::new(webhook));
    commit(store, &mut stage, vec![webhook]).await;
    let parts = requests(&mut stage, hook);
    let begun = Instant::now();
    commit(store, &mut stage, parts).await;
    println!("{name}: {DUE} requests in {:?}", begun.elapsed());
    store.close().await;
}

#[tokio::test]
#[ignore = "a measurement"]
async fn a_crowd_is_fired_on_sqlite() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::open_in(directory.path(), &Options::new(NOW)).unwrap();
    measure("SQLite", &store).await;
}

#[tokio::test]
#[ignore = "a measurement"]
async fn a_crowd_is_fired_on_postgres() {
    let database = Scratch::new();
    let store = stage::open(&database.url()).await;
    measure("PostgreSQL", &store).await;
}
