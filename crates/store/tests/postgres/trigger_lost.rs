//! Answers about triggers that get lost.

use std::time::Duration;

use refire_core::id::RequestId;
use refire_store::postgres::Scratch;
use refire_store::{
    ChangeTrigger, Executions, LIMIT_MAX, NewState, Part, PartOutcome, RequestFilter, RequestRow,
    RequestStatus, Requests, SlotFilter, Store, Triggers,
};

use crate::proxy::{Cut, Proxy};
use crate::stage::{self, Stage};
use crate::trigger_race::{create, fire, trigger};

/// A change that writes a slot down, on this revision of the state.
fn noting(stage: &Stage, version: u32, rev: u64) -> Part {
    let (Part::ChangeTrigger(mut change), Part::Fire(fire)) =
        (change(stage, version), fire(1, rev, None))
    else {
        panic!("a change and a fire");
    };
    change.state = Some(NewState {
        rev,
        state: fire.state,
        slots: fire.slots,
        extends: true,
    });
    Part::ChangeTrigger(change)
}

fn change(stage: &Stage, version: u32) -> Part {
    Part::ChangeTrigger(Box::new(ChangeTrigger {
        id: trigger(1),
        workflow: stage.workflow.id.clone(),
        version,
        enabled: true,
        settings: b"other".to_vec(),
        secrets: None,
        state: None,
    }))
}

fn delete(stage: &Stage) -> Part {
    Part::DeleteTrigger {
        id: trigger(1),
        workflow: stage.workflow.id.clone(),
    }
}

fn request() -> Part {
    Part::LogRequests(vec![RequestRow {
        id: RequestId::from_bytes([1; 16]),
        trigger: trigger(1),
        at: stage::NOW,
        status: RequestStatus::Filtered,
        source: "192.0.2.1".to_owned(),
        headers: Vec::new(),
        body: None,
        body_bytes: 0,
        execution: None,
        error: None,
        is_test: false,
    }])
}

/// A step of a plan that has another version than the one it was made for, or writes at another time.
fn fire_with(rev: u64, version: u32, seconds: u64) -> Part {
    let Part::Fire(mut fire) = fire(1, rev, None) else {
        panic!("a fire");
    };
    fire.version = version;
    fire.slots[0].at = stage::NOW.plus(Duration::from_secs(seconds));
    Part::Fire(fire)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn parts_about_triggers_are_told_as_they_were_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::new(1);
    stage.save(&store).await;
    let (run, admit) = stage.start("{}");
    let (late, refused) = stage.start("{}");
    let done = || PartOutcome::Done;
    let steps = [
        (create(&stage, 1), done()),
        (create(&stage, 1), PartOutcome::Conflict),
        (fire(1, 1, Some(admit)), done()),
        (fire(1, 1, Some(refused)), PartOutcome::TriggerMoved),
        (fire_with(2, 1, 5), done()),
        (fire_with(2, 1, 6), PartOutcome::TriggerMoved),
        (change(&stage, 1), done()),
        (change(&stage, 1), PartOutcome::TriggerMoved),
        (noting(&stage, 2, 4), done()),
        (noting(&stage, 2, 4), PartOutcome::TriggerMoved),
        (noting(&stage, 3, 4), PartOutcome::TriggerMoved),
        (noting(&stage, 3, 5), done()),
        (request(), done()),
        (delete(&stage), done()),
        (delete(&stage), PartOutcome::NoSuchTrigger),
        (change(&stage, 5), PartOutcome::NoSuchTrigger),
    ];
    for (step, (sent, expected)) in (1..).zip(steps) {
        let cuts = proxy.cuts();
        proxy.cut(if step % 3 == 2 {
            Cut::BeforeCommit
        } else {
            Cut::AfterCommit
        });
        let mut batch = stage.batch(vec![sent]);
        batch.now = stage::NOW.plus(Duration::from_secs(step));
        let outcomes = store.commit(&batch).await.unwrap();
        assert_eq!(outcomes, [expected], "step {step}");
        assert_eq!(proxy.cuts(), cuts + 1);
    }
    assert!(store.execution(run.id).await.unwrap().is_some());
    assert_eq!(store.execution(late.id).await.unwrap(), None);
    let ledger = store
        .slots(trigger(1), &SlotFilter::default(), None, LIMIT_MAX)
        .await
        .unwrap();
    let counts: Vec<u64> = ledger.iter().map(|row| row.slot.count).collect();
    assert_eq!(counts, [3, 1], "two changes went on with the second");
    let all = RequestFilter::default();
    let logged = store.requests(trigger(1), &all, None, 9).await.unwrap();
    assert_eq!(logged.len(), 1);
    store.close().await;
}
