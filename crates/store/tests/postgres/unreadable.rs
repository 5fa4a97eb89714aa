//! Rows of work that were changed from outside: they are left out and stop nobody else.

use std::time::Duration;

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    Bounds, Claim, ClaimTimers, Executions, LIMIT_MAX, Part, ReadError, Store, Stored, Triggers,
    Want, Work,
};

use crate::server::{open, session};
use crate::stage::{NOW, Stage, admission, claimed, node, workflow};
use crate::trigger_race::{create, trigger};

/// What is wrong with an execution that cannot be read.
fn refused(read: Result<Option<Stored>, ReadError>) -> String {
    match read {
        Err(ReadError::Corrupt { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

/// Two executions of which the first has unreadable work.
async fn with_unreadable_work(
    scratch: &Scratch,
    change: &str,
) -> (Postgres, Stage, [ExecutionId; 2]) {
    let (store, mut stage) = (open(scratch).await, Stage::new(1));
    stage.save(&store).await;
    let (damaged, first) = stage.start("{}");
    let (sound, second) = stage.start("{}");
    let batch = stage.batch(vec![admission(first), admission(second)]);
    store.commit(&batch).await.unwrap();
    let id = uuid::Uuid::from_bytes(*damaged.id.as_bytes());
    let change = format!("UPDATE work SET {change} WHERE execution = $1");
    let changed = session(scratch).await.execute(&change, &[&id]).await;
    assert_eq!(changed.unwrap(), 1);
    (store, stage, [damaged.id, sound.id])
}

async fn committed(store: &Postgres, stage: &mut Stage, part: Part) -> Vec<ExecutionId> {
    let batch = stage.batch(vec![part]);
    let outcomes = store.commit(&batch).await.unwrap();
    let rows = claimed(&outcomes[0]).iter();
    rows.map(|row| row.execution).collect()
}

/// One row of work that cannot be read stops nobody else's; whoever reads its execution is told.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn unreadable_work_stands_alone() {
    for change in ["attempt = -1", "limit_key = '\\xff'", "priority = 9999"] {
        for is_bounded in [true, false] {
            let scratch = Scratch::new();
            let (store, mut stage, [damaged, sound]) = with_unreadable_work(&scratch, change).await;
            let bounds = Bounds {
                max: Some(5),
                max_per_key: Some(5),
            };
            let want = Want {
                bounds: is_bounded.then_some(bounds),
                ..Want::any(workflow().id, 5)
            };
            let claim = Part::Claim(Claim {
                node: node(1),
                wants: vec![want],
            });
            let got = committed(&store, &mut stage, claim).await;
            assert_eq!(got, [sound], "{change}, bounds: {is_bounded}");
            let said = refused(store.execution(damaged).await);
            assert!(said.contains(&format!("the work of {damaged}")), "{said}");
            assert!(store.execution(sound).await.unwrap().is_some());
            store.close().await;
        }
    }
}

/// The same for what a dead node left: a page of it is short only at the end.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn unreadable_orphans_stand_alone() {
    let scratch = Scratch::new();
    let gone = "attempt = -1, owner = '00000000-0000-0000-0000-000000000001', begun = true";
    let (store, mut stage, [_, sound]) = with_unreadable_work(&scratch, gone).await;
    let claim = stage.claim(node(1), 5);
    assert_eq!(committed(&store, &mut stage, claim).await, [sound]);
    let orphans = store.orphans(None, 1).await.unwrap();
    let ids: Vec<_> = orphans.iter().map(|row| row.execution).collect();
    assert_eq!(ids, [sound], "it comes after the unreadable one");
    store.close().await;
}

async fn due(store: &Postgres, by: Timestamp, limit: u32) -> Vec<TriggerId> {
    let due = store.due_triggers(by, limit).await.unwrap();
    due.iter().map(|due| due.row.id).collect()
}

/// The same for triggers: one whose settings were changed is not used, and stops nobody else's; nor
/// does one that cannot be read for another reason.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn damaged_triggers_stand_alone() {
    let later = NOW.plus(Duration::from_secs(5));
    for change in [
        "UPDATE workflow_triggers SET settings = '\\x00' WHERE id = $1",
        "UPDATE workflow_triggers SET kind = 'strange' WHERE id = $1",
        "UPDATE trigger_state SET rev = -1 WHERE trigger = $1",
        "DELETE FROM workflow_triggers WHERE id = $1",
    ] {
        let scratch = Scratch::new();
        let (store, mut stage) = (open(&scratch).await, Stage::new(1));
        stage.save(&store).await;
        let parts = (1..=3).map(|n| create(&stage, n)).collect();
        store.commit(&stage.batch(parts)).await.unwrap();
        let id = uuid::Uuid::from_bytes(*trigger(1).as_bytes());
        let session = session(&scratch).await;
        let changed = session.execute(change, &[&id]).await;
        assert_eq!(changed.unwrap(), 1);
        let wait = "UPDATE trigger_state SET due_at = $2 WHERE trigger <> $1";
        let changed = session.execute(wait, &[&id, &later.as_micros()]).await;
        assert_eq!(changed.unwrap(), 2);
        if change.contains("settings") {
            match store.trigger(trigger(1)).await {
                Err(ReadError::Corrupt { what, .. }) => {
                    assert!(what.contains("the settings of trg_"), "{what}");
                }
                other => panic!("{other:?}"),
            }
        }
        assert!(store.trigger(trigger(2)).await.unwrap().is_some());
        assert_eq!(due(&store, NOW, 9).await, [], "{change}");
        let sound = [trigger(2), trigger(3)];
        assert_eq!(due(&store, later, 9).await, sound, "{change}");
        assert_eq!(due(&store, later, 1).await, sound[..1], "{change}");
        let next = store.next_trigger_due().await.unwrap();
        assert_eq!(next, Some(later), "{change}");
        store.close().await;
    }
}

/// However many cannot be read, those after them are found, unless it is a whole crowd.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn many_damaged_triggers_hide_no_other() {
    let scratch = Scratch::new();
    let (store, mut stage) = (open(&scratch).await, Stage::new(1));
    stage.save(&store).await;
    let parts = vec![create(&stage, 1)];
    store.commit(&stage.batch(parts)).await.unwrap();
    for (more, expected) in [(2_500_i64, vec![trigger(1)]), (9_000, Vec::new())] {
        let crowd = "INSERT INTO trigger_state (trigger, rev, due_at)
             SELECT gen_random_uuid(), 1, $2 FROM generate_series(1, $1::bigint)";
        let before = NOW.as_micros() - 1;
        let session = session(&scratch).await;
        let inserted = session.execute(crowd, &[&more, &before]).await;
        assert_eq!(i64::try_from(inserted.unwrap()).unwrap(), more);
        for limit in [1, 9, LIMIT_MAX] {
            assert_eq!(due(&store, NOW, limit).await, expected);
        }
        assert_eq!(due(&store, NOW, 0).await, []);
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn an_unreadable_timer_stands_alone() {
    let scratch = Scratch::new();
    let (store, mut stage, [_, sound]) = with_unreadable_work(&scratch, "attempt = -1").await;
    let soon = NOW.plus(Duration::from_secs(5));
    let later = format!("UPDATE work SET due_at = {}", soon.as_micros());
    let changed = session(&scratch).await.execute(&later, &[]).await;
    assert_eq!(changed.unwrap(), 2);
    let timers = Part::ClaimTimers(ClaimTimers {
        node: node(1),
        until: soon,
        up_to: 5,
    });
    assert_eq!(committed(&store, &mut stage, timers).await, [sound]);
    store.close().await;
}
