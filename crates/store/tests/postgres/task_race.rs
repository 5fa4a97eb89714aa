//! Two stores on one database, at the same tasks at the same time: nobody waits for each other
//! crosswise, and what only one can have, one gets.

use std::collections::HashSet;
use std::sync::Arc;

use refire_core::execution::{Cancel, Command, Outcome};
use refire_core::id::TaskId;
use refire_core::json::Json;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{Part, PartOutcome, Store, TaskRow, Tasks};
use tokio::sync::Barrier;
use tokio_postgres::NoTls;

use crate::stage::{self, BEAT, Run, Stage, admission, lock, locked, part, touch};

/// How often each race is run.
const ROUNDS: u8 = 40;
/// Tasks that are fetched from both sides.
const MANY: usize = 400;

async fn two(database: &Scratch) -> [(Arc<Postgres>, Stage); 2] {
    let first = Arc::new(stage::open(&database.url()).await);
    let second = Arc::new(stage::open(&database.url()).await);
    let mut stages = [Stage::with_tasks(1), Stage::with_tasks(2)];
    stages[0].save(&*first).await;
    let [one, other] = stages;
    [(first, one), (second, other)]
}

/// Commits on both stores at once.
async fn both(
    stores: &mut [(Arc<Postgres>, Stage); 2],
    parts: [Vec<Part>; 2],
) -> [Vec<PartOutcome>; 2] {
    let line = Arc::new(Barrier::new(2));
    let mut running = Vec::new();
    for ((store, stage), parts) in stores.iter_mut().zip(parts) {
        let (store, line, batch) = (Arc::clone(store), Arc::clone(&line), stage.batch(parts));
        running.push(tokio::spawn(async move {
            line.wait().await;
            store.commit(&batch).await.unwrap()
        }));
    }
    let second = running.pop().unwrap();
    let first = running.pop().unwrap();
    [first.await.unwrap(), second.await.unwrap()]
}

/// How often the database had to part transactions that waited for each other.
async fn deadlocks(database: &Scratch) -> i64 {
    let (client, connection) = tokio_postgres::connect(&database.url(), NoTls)
        .await
        .unwrap();
    tokio::spawn(connection);
    // What a session counts is told some time after it is idle.
    tokio::time::sleep(std::time::Duration::from_millis(1_500)).await;
    let asked = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    client.query_one(asked, &[]).await.unwrap().get(0)
}

/// Two executions whose tasks workers have, by the locks 1 (`x`) and 2 (`y`).
async fn two_held(stores: &mut [(Arc<Postgres>, Stage); 2]) -> Vec<(Run, [TaskRow; 2])> {
    let (store, stage) = &mut stores[0];
    let mut held = Vec::new();
    for _ in 0..2 {
        let (run, admit) = stage.start("{}");
        let batch = stage.batch(vec![admission(admit), lock("x", &[1]), lock("y", &[2])]);
        let outcomes = store.commit(&batch).await.unwrap();
        let rows = [&outcomes[1], &outcomes[2]].map(|it| locked(it)[0].clone());
        held.push((run, rows));
    }
    held
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_that_cross_at_tasks_do_not_wait_for_each_other() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let done = || Outcome::Succeeded(Json::parse("{}").unwrap());
    for round in 0..ROUNDS {
        let mut held = two_held(&mut stores).await;
        let ids: Vec<[TaskId; 2]> = held
            .iter()
            .map(|(_, rows)| [rows[0].id(), rows[1].id()])
            .collect();
        // Heartbeats of the same tasks, in the one order and in the other.
        let beats = |order: [usize; 2]| -> Vec<Part> {
            let beat = |at: usize| [touch(ids[at][0], 1, BEAT), touch(ids[at][1], 2, BEAT)];
            order.into_iter().flat_map(beat).collect()
        };
        // Ends and cancels of the same executions, crosswise, with heartbeats between.
        let end = |stage: &Stage, held: &mut (Run, [TaskRow; 2])| {
            let seen = held.1[0].clone();
            part(stage.end(&mut held.0, &seen, done()))
        };
        let cancel = |stage: &Stage, held: &(Run, [TaskRow; 2])| {
            let mut run = held.0.clone();
            part(stage.decide(&mut run, Command::Cancel(Cancel::by(None))))
        };
        let parts = match round % 3 {
            0 => [beats([0, 1]), beats([1, 0])],
            1 => {
                let cancels = [1, 0].map(|at| cancel(&stores[1].1, &held[at]));
                let stage = &stores[0].1;
                let ends = held.iter_mut().map(|held| end(stage, held)).collect();
                [ends, cancels.into()]
            }
            _ => {
                let last = cancel(&stores[1].1, &held[1]);
                let mut first = vec![touch(ids[1][1], 2, BEAT)];
                first.push(end(&stores[0].1, &mut held[0]));
                let second = vec![touch(ids[0][1], 2, BEAT), last];
                [first, second]
            }
        };
        let outcomes = both(&mut stores, parts).await;
        if round % 3 == 0 {
            let is_touched = |it: &PartOutcome| *it == PartOutcome::Touched(true);
            let mut all = outcomes.iter().flatten();
            assert!(all.all(is_touched), "{outcomes:?}");
        } else {
            let done = outcomes.iter().flatten();
            let done = done.filter(|it| **it == PartOutcome::Done).count();
            assert!((1..=2).contains(&done), "{outcomes:?}");
        }
    }
    assert_eq!(deadlocks(&database).await, 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_task_is_given_to_two() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut parts = Vec::new();
    for _ in 0..MANY {
        parts.push(admission(stores[0].1.start("{}").1));
    }
    let batch = stores[0].1.batch(parts);
    stores[0].0.commit(&batch).await.unwrap();
    let (mut taken, mut round) = (HashSet::new(), 0);
    while taken.len() < MANY {
        round += 1;
        assert!(round < MANY, "{} of {MANY} are found", taken.len());
        let parts = [1, 2].map(|of: u8| vec![lock("x", &[of; 23])]);
        for outcomes in both(&mut stores, parts).await {
            for row in locked(&outcomes[0]) {
                assert!(taken.insert(row.id()), "{} was given out twice", row.id());
            }
        }
    }
    let held = stores[0].0.locked_tasks(stage::token(1)).await.unwrap();
    let others = stores[0].0.locked_tasks(stage::token(2)).await.unwrap();
    assert_eq!(held.len() + others.len(), MANY);
}
