//! Two nodes at the same job: each thing is done by one of them.

use std::time::Duration;

use refire_core::id::BulkId;
use refire_store::postgres::Scratch;
use refire_store::{BulkItem, BulkJobs, Letters, PartOutcome, Store};

use crate::bulk_lost::{create, dead, retry};
use crate::stage::{self, Stage, admission, node};

/// Letters that both nodes are at.
const LETTERS: usize = 12;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn two_nodes_do_each_thing_once() {
    let database = Scratch::new();
    let url = database.url();
    let stores = [stage::open(&url).await, stage::open(&url).await];
    let mut stages = [Stage::new(1), Stage::new(2)];
    for (number, (stage, store)) in (7..).zip(stages.iter_mut().zip(&stores)) {
        stage::join(store, node(number), Duration::from_secs(600)).await;
        stage.lease = Some(node(number));
    }
    stages[0].save(&stores[0]).await;
    let job = BulkId::from_bytes([1; 16]);
    let mut letters = Vec::new();
    for _ in 0..LETTERS {
        letters.push(dead(&mut stages[0], &stores[0]).await);
    }
    let batch = stages[0].batch(vec![create(job)]);
    stores[0].commit(&batch).await.unwrap();
    let mut batches = Vec::new();
    for stage in &mut stages {
        // Half of them retry letters; the other half are new executions that no letter keeps apart.
        let parts = letters.iter().enumerate().map(|(at, letter)| {
            let mut admit = retry(stage, job, *letter);
            if at % 2 == 1 {
                admit.letter = None;
            }
            admit.bulk = Some(BulkItem {
                job,
                item: (*letter).into(),
            });
            admission(admit)
        });
        let parts: Vec<_> = parts.collect();
        batches.push(stage.batch(parts));
    }
    let [one, other] = [0, 1].map(|at| stores[at].commit(&batches[at]));
    let (one, other) = tokio::join!(one, other);
    let (one, other) = (one.unwrap(), other.unwrap());
    for (at, (one, other)) in one.iter().zip(&other).enumerate() {
        let done = [one, other]
            .into_iter()
            .filter(|it| **it == PartOutcome::Done);
        assert_eq!(done.count(), 1, "{at}: {one:?} {other:?}");
    }
    let row = stores[0].bulk_job(job).await.unwrap().unwrap();
    assert_eq!(row.counts.ok, LETTERS as u64);
    for letter in letters.iter().step_by(2) {
        let retries = stores[1].letter_retries(*letter, 9).await.unwrap();
        assert_eq!(retries.len(), 1);
    }
    for store in stores {
        store.close().await;
    }
}
