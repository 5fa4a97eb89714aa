//! Rows of work that were changed from outside: they are left out and stop nobody else.

use std::time::Duration;

use refire_core::id::ExecutionId;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{Bounds, Claim, ClaimTimers, Part, ReadError, Store, Stored, Want};

use crate::server::{open, session};
use crate::stage::{NOW, Stage, admission, claimed, node, workflow};

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
