//! Answers about tasks that get lost: what a lock was given is told, and found by it, and what workers
//! said is written once.

use std::time::Duration;

use refire_core::execution::Outcome;
use refire_core::json::Json;
use refire_core::task::TaskStatus;
use refire_store::postgres::Scratch;
use refire_store::{Executions, PartOutcome, Store, TaskCall, Tasks, Touch};

use crate::proxy::{Cut, Proxy};
use crate::stage::{self, BEAT, Stage, admission, lock, locked, node, part, token, touch};

/// Where commits are cut: all ways to lose an answer, and one that does not.
const CUTS: [Option<Cut>; 5] = [
    Some(Cut::AfterCommit),
    Some(Cut::BeforeCommit),
    Some(Cut::Middle(3)),
    Some(Cut::Middle(9)),
    None,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_lost_of_tasks_is_told_as_it_was_written() {
    let database = Scratch::new();
    let proxy = Proxy::to(&database.url()).await;
    let store = stage::open(proxy.url()).await;
    let mut stage = Stage::with_tasks(1);
    stage::join(&store, node(7), Duration::from_secs(600)).await;
    stage.lease = Some(node(7));
    stage.save(&store).await;
    let done = || Outcome::Succeeded(Json::parse("{}").unwrap());
    for (round, cut) in (0..).zip(CUTS) {
        let (mut first, admit) = stage.start("{}");
        let (_, other) = stage.start("{}");
        let batch = stage.batch(vec![admission(admit), admission(other)]);
        store.commit(&batch).await.unwrap();
        let tokens = [10 * round + 1, 10 * round + 2];
        let lose = || cut.into_iter().for_each(|cut| proxy.cut(cut));

        lose();
        let batch = stage.batch(vec![lock("x", &tokens), lock("y", &tokens[..1])]);
        let outcomes = store.commit(&batch).await.unwrap();
        let (of_x, of_y) = (locked(&outcomes[0]), locked(&outcomes[1]));
        assert_eq!((of_x.len(), of_y.len()), (2, 1), "{cut:?}");
        let mut found = store.locked_tasks(token(tokens[0])).await.unwrap();
        found.sort_by(|a, b| a.task_type.cmp(&b.task_type));
        assert_eq!(found, [of_x[0].clone(), of_y[0].clone()], "{cut:?}");
        let found = store.locked_tasks(token(tokens[1])).await.unwrap();
        assert_eq!(found, of_x[1..], "{cut:?}");

        lose();
        let (held, other) = (&of_x[0], &of_x[1]);
        let batch = stage.batch(vec![
            touch(held.id(), tokens[0], BEAT),
            touch(held.id(), tokens[1], BEAT),
            touch(other.id(), tokens[1], Touch::Unlock),
        ]);
        let outcomes = store.commit(&batch).await.unwrap();
        let touched = [true, false, true].map(PartOutcome::Touched);
        assert_eq!(outcomes, touched, "{cut:?}");
        let beaten = store.task(held.id()).await.unwrap().unwrap();
        assert_eq!(beaten.rev, held.rev + 1, "once, {cut:?}");
        let back = store.task(other.id()).await.unwrap().unwrap();
        let stands = (back.status, back.releases, back.rev);
        assert_eq!(stands, (TaskStatus::Pending, 1, other.rev + 1), "{cut:?}");

        lose();
        assert_eq!(held.execution, first.id, "the oldest is locked first");
        let stale = stage.end(&mut first.clone(), held, done());
        let end = stage.end(&mut first, &beaten, done());
        let batch = stage.batch(vec![part(stale), part(end)]);
        let outcomes = store.commit(&batch).await.unwrap();
        let ended = [PartOutcome::Conflict, PartOutcome::Done];
        assert_eq!(outcomes, ended, "{cut:?}");
        let over = store.task(held.id()).await.unwrap().unwrap();
        let ended_by = (over.ended_token, over.ended_by);
        let expected = (Some(token(tokens[0])), Some(TaskCall::Complete));
        assert_eq!((over.status, ended_by), (TaskStatus::Completed, expected));
        let stored = store.execution(first.id).await.unwrap().unwrap();
        assert_eq!(stored.state.version, first.state.version, "{cut:?}");

        // Nothing is left for the next round.
        let batch = stage.batch(vec![lock("x", &[90]), lock("y", &[91, 92])]);
        store.commit(&batch).await.unwrap();
    }
    assert!(proxy.cuts() >= 9, "{}", proxy.cuts());
    store.close().await;
}
