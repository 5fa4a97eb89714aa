//! A list leaves none out and shows none twice, however fast they move meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use refire_core::execution::Status;
use refire_core::id::NodeId;
use refire_store::{
    Begin, Claim, ExecutionFilter, Executions, Part, PartOutcome, Release, Store, Stretch, Want,
    WorkKey,
};

use crate::own::{admission, batch, id, open, put_workflow, workflow};

const NODE: NodeId = NodeId::from_bytes([7; 16]);
/// Lists that are read while executions move.
const LISTS: usize = 2_000;
/// More than two reads of every source, when nine share what a read may look at.
const ROWS: u32 = 6_000;

fn work_of(n: u32) -> WorkKey {
    WorkKey {
        execution: id(n),
        step: "a".to_owned(),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_execution_that_moves_between_statuses_is_never_between_them() {
    let directory = tempfile::tempdir().unwrap();
    let store = Arc::new(open(&directory.path().join("refire.db")).unwrap());
    let admit = |n| Part::Admit(Box::new(admission(&workflow(), n, "{}")));
    let parts = vec![put_workflow(), admit(1), admit(2), admit(3)];
    store.commit(&batch(parts)).await.unwrap();

    let is_over = Arc::new(AtomicBool::new(false));
    let (mover, stop) = (Arc::clone(&store), Arc::clone(&is_over));
    let moving = tokio::spawn(async move {
        while !stop.load(Ordering::Relaxed) {
            // From pending to running, and back.
            let claim = Part::Claim(Claim {
                node: NODE,
                wants: vec![Want::any(workflow().id, 1)],
            });
            let claimed = mover.commit(&batch(vec![claim])).await.unwrap().pop();
            let Some(PartOutcome::Claimed(rows)) = claimed else {
                panic!("{claimed:?}");
            };
            let begin = rows.iter().map(|row| (row.key(), row.attempt)).collect();
            let back = Release {
                node: NODE,
                work: rows.iter().map(|row| (row.key(), None)).collect(),
            };
            mover
                .commit(&batch(vec![Part::Begin(Begin {
                    node: NODE,
                    work: begin,
                })]))
                .await
                .unwrap();
            mover
                .commit(&batch(vec![Part::Release(back)]))
                .await
                .unwrap();
            tokio::task::yield_now().await;
        }
    });
    let filter = ExecutionFilter {
        statuses: vec![Status::Pending, Status::Running],
        ..ExecutionFilter::default()
    };
    for number in 0..LISTS {
        let limit = [10, 1][number % 2];
        let listed = store
            .executions(&filter, &Stretch::new(None, limit))
            .await
            .unwrap()
            .rows;
        let ids: Vec<_> = listed.iter().map(|row| row.id).collect();
        let newest = [id(3), id(2), id(1)];
        let expected = &newest[..newest.len().min(limit as usize)];
        assert_eq!(ids, expected, "list {number}");
    }
    is_over.store(true, Ordering::Relaxed);
    moving.await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn a_list_that_takes_several_reads_misses_none_and_doubles_none() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(&directory.path().join("refire.db")).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    // Every page takes several statements.
    for first in (0..ROWS).step_by(500) {
        let parts = (first..first + 500)
            .map(|n| Part::Admit(Box::new(admission(&workflow(), n, "{}"))))
            .collect();
        store.commit(&batch(parts)).await.unwrap();
    }
    // The oldest has begun; so its source comes to its end long before that of what is pending.
    let claim = Part::Claim(Claim {
        node: NODE,
        wants: vec![Want::any(workflow().id, 1)],
    });
    let begin = Part::Begin(Begin {
        node: NODE,
        work: vec![(work_of(0), 1)],
    });
    store.commit(&batch(vec![claim, begin])).await.unwrap();

    let all = ExecutionFilter {
        statuses: Status::ALL.to_vec(),
        ..ExecutionFilter::default()
    };
    let mut seen = Vec::new();
    let mut before = None;
    loop {
        let page = store
            .executions(&all, &Stretch::new(before, 700))
            .await
            .unwrap()
            .rows;
        let Some(last) = page.last() else { break };
        before = Some(last.id);
        seen.extend(page.iter().map(|row| row.id));
    }
    assert_eq!(seen, (0..ROWS).rev().map(id).collect::<Vec<_>>());

    // Nothing of it was retried.
    let retried = ExecutionFilter {
        retried: true,
        ..all.clone()
    };
    assert!(
        store
            .executions(&retried, &Stretch::new(None, 10))
            .await
            .unwrap()
            .rows
            .is_empty()
    );
    let running = ExecutionFilter {
        statuses: vec![Status::Running, Status::Completed],
        ..ExecutionFilter::default()
    };
    let listed = store
        .executions(&running, &Stretch::new(None, 10))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.iter().map(|row| row.id).collect::<Vec<_>>(), [id(0)]);
    store.close().await;
}
