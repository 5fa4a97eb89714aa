//! Two stores on one database at the same time: what only one can have, one gets.

use std::collections::HashSet;
use std::sync::Arc;

use refire_core::execution::{Cancel, Command};
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    Begin, CommitError, ExecutionFilter, Executions, IdempotencyClaim, LIMIT_MAX, Part,
    PartOutcome, Release, Store, Stretch, WorkRow,
};
use tokio::sync::Barrier;
use tokio_postgres::NoTls;
use uuid::Uuid;

use crate::stage::{self, Run, Stage, admission, claimed, key, node, part};

/// How often each race is run.
const ROUNDS: u8 = 40;

/// Two stores, each with a stage of its own, and a database with one workflow.
async fn two(database: &Scratch) -> [(Arc<Postgres>, Stage); 2] {
    let first = Arc::new(stage::open(&database.url()).await);
    let second = Arc::new(stage::open(&database.url()).await);
    let mut stages = [Stage::new(1), Stage::new(2)];
    stages[0].save(&*first).await;
    let [one, other] = stages;
    [(first, one), (second, other)]
}

/// Commits on both stores at once.
async fn both(
    stores: &mut [(Arc<Postgres>, Stage); 2],
    parts: [Vec<Part>; 2],
) -> [Result<Vec<PartOutcome>, CommitError>; 2] {
    let line = Arc::new(Barrier::new(2));
    let mut running = Vec::new();
    for ((store, stage), parts) in stores.iter_mut().zip(parts) {
        let (store, line, batch) = (Arc::clone(store), Arc::clone(&line), stage.batch(parts));
        running.push(tokio::spawn(async move {
            line.wait().await;
            store.commit(&batch).await
        }));
    }
    let second = running.pop().unwrap();
    let first = running.pop().unwrap();
    [first.await.unwrap(), second.await.unwrap()]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_key_makes_one_execution() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    for round in 0..ROUNDS {
        let mut ids = Vec::new();
        let parts = [0, 1].map(|at| {
            let (run, mut admit) = stores[at].1.start("{}");
            admit.claim = Some(key(round));
            ids.push(run.id);
            vec![admission(admit)]
        });
        let [first, second] = both(&mut stores, parts)
            .await
            .map(|ended| ended.unwrap().remove(0));
        let duplicate_of = |execution| PartOutcome::Duplicate {
            execution,
            body_differs: false,
        };
        let is_one = (first == PartOutcome::Done && second == duplicate_of(ids[0]))
            || (second == PartOutcome::Done && first == duplicate_of(ids[1]));
        assert!(is_one, "{first:?} and {second:?}");
    }
    let all = ExecutionFilter::default();
    let listed = stores[0]
        .0
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.len(), usize::from(ROUNDS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_takes_a_key_over() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut over = None;
    for _ in 0..ROUNDS {
        let mut ids = Vec::new();
        let parts = [0, 1].map(|at| {
            let (run, mut admit) = stores[at].1.start("{}");
            admit.claim = Some(IdempotencyClaim { over, ..key(1) });
            ids.push(run.id);
            vec![admission(admit)]
        });
        let [first, second] = both(&mut stores, parts)
            .await
            .map(|ended| ended.unwrap().remove(0));
        let duplicate_of = |execution| PartOutcome::Duplicate {
            execution,
            body_differs: false,
        };
        let winner = usize::from(first != PartOutcome::Done);
        let expected = match winner {
            0 => [PartOutcome::Done, duplicate_of(ids[0])],
            _ => [duplicate_of(ids[1]), PartOutcome::Done],
        };
        assert_eq!([first, second], expected);
        over = Some(ids[winner]);
    }
    let all = ExecutionFilter::default();
    let listed = stores[0]
        .0
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    assert_eq!(listed.len(), usize::from(ROUNDS));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_version_is_left_once() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    for _ in 0..ROUNDS {
        let (run, admit) = stores[0].1.start("{}");
        let batch = stores[0].1.batch(vec![admission(admit)]);
        stores[0].0.commit(&batch).await.unwrap();
        let parts = [0, 1].map(|at| vec![part(stores[at].1.succeed(&mut run.clone(), "a"))]);
        let mut outcomes = both(&mut stores, parts)
            .await
            .map(|ended| ended.unwrap().remove(0));
        outcomes.sort_by_key(|outcome| *outcome != PartOutcome::Done);
        assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::Conflict]);
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn claims_do_not_overlap() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut parts = Vec::new();
    for _ in 0..600 {
        parts.push(admission(stores[0].1.start("{}").1));
    }
    let batch = stores[0].1.batch(parts);
    stores[0].0.commit(&batch).await.unwrap();
    let mut taken = HashSet::new();
    while taken.len() < 600 {
        let parts = [0, 1].map(|at| vec![stores[at].1.claim(node(at as u8 + 1), 37)]);
        for (at, ended) in both(&mut stores, parts).await.into_iter().enumerate() {
            for row in claimed(&ended.unwrap()[0]) {
                assert_eq!(row.owner, Some(node(at as u8 + 1)));
                assert!(taken.insert(row.execution), "claimed twice");
            }
        }
    }
}

/// Bounds over all nodes hold when both claim at once.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn bounds_hold_when_both_claim() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut parts = Vec::new();
    for _ in 0..40 {
        parts.push(admission(stores[0].1.start("{}").1));
    }
    let batch = stores[0].1.batch(parts);
    stores[0].0.commit(&batch).await.unwrap();
    for _ in 0..ROUNDS {
        let parts = [0, 1].map(|at| {
            let Part::Claim(mut claim) = stores[at].1.claim(node(at as u8 + 1), 3) else {
                panic!("a claim");
            };
            claim.wants[0].bounds = Some(refire_store::Bounds {
                max: Some(4),
                max_per_key: None,
            });
            vec![Part::Claim(claim)]
        });
        let ended = both(&mut stores, parts).await;
        let mut release = Vec::new();
        for (at, ended) in ended.into_iter().enumerate() {
            let outcomes = ended.unwrap();
            let work = claimed(&outcomes[0]).iter().map(|row| (row.key(), None));
            release.push(Release {
                node: node(at as u8 + 1),
                work: work.collect(),
            });
        }
        let in_all: usize = release.iter().map(|one| one.work.len()).sum();
        assert_eq!(in_all, 4, "one got three, and the other one");
        let parts = release.into_iter().map(Part::Release).collect();
        let batch = stores[0].1.batch(parts);
        stores[0].0.commit(&batch).await.unwrap();
    }
}

/// Batches that touch the same executions and keys in opposite orders.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn crossing_batches_end() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    for round in 0..ROUNDS {
        let mut runs: Vec<Run> = Vec::new();
        let mut parts = Vec::new();
        for _ in 0..12 {
            let (run, admit) = stores[0].1.start("{}");
            runs.push(run);
            parts.push(admission(admit));
        }
        parts.push(stores[0].1.claim(node(1), 99));
        let batch = stores[0].1.batch(parts);
        let outcomes = stores[0].0.commit(&batch).await.unwrap();
        let work: Vec<_> = claimed(&outcomes[12])
            .iter()
            .map(|row| (row.key(), row.attempt))
            .collect();
        let parts = [0, 1].map(|at| {
            let stage = &mut stores[at].1;
            let mut order: Vec<usize> = (0..runs.len()).collect();
            if at == 1 {
                order.reverse();
            }
            let mut parts = Vec::new();
            for one in order {
                if one % 2 == at || one % 3 == 0 {
                    parts.push(part(stage.succeed(&mut runs[one].clone(), "a")));
                } else {
                    let work = vec![work[one].clone()];
                    parts.push(Part::Begin(Begin {
                        node: node(1),
                        work,
                    }));
                }
                let (_, mut admit) = stage.start("{}");
                let number = round.wrapping_mul(12).wrapping_add(one as u8);
                admit.claim = Some(key(number));
                parts.push(admission(admit));
            }
            parts
        });
        for ended in both(&mut stores, parts).await {
            ended.unwrap();
        }
    }
    // A deadlock would be mended by sending again, after a second; there is none.
    for (store, _) in &stores {
        store.close().await;
    }
    assert_eq!(deadlocks(&database).await, 0);
}

/// Each gives back work of executions that the other changes. A third keeps the first of them from
/// going on until the other has come as far as it can.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_given_back_crosses_no_change() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let started = [0; 4].map(|_| stores[0].1.start("{}"));
    let (runs, admits): (Vec<Run>, Vec<_>) = started.into_iter().unzip();
    let mut parts: Vec<Part> = admits.into_iter().map(admission).collect();
    parts.push(stores[0].1.claim(node(1), 99));
    let batch = stores[0].1.batch(parts);
    let outcomes = stores[0].0.commit(&batch).await.unwrap();
    let work: Vec<_> = claimed(&outcomes[4]).iter().map(|row| row.key()).collect();
    let [first, second] = [[0, 2], [1, 3]].map(|[one, other]| {
        let stage = &mut stores[one].1;
        let change = |one: usize| part(stage.succeed(&mut runs[one].clone(), "a"));
        let mut parts = vec![change(one), change(other)];
        parts.push(Part::Release(Release {
            node: node(1),
            work: [1 - one, 5 - other]
                .map(|one| (work[one].clone(), None))
                .to_vec(),
        }));
        (Arc::clone(&stores[one].0), stage.batch(parts))
    });
    // What is seen of others does not change inside a transaction.
    let (third, watcher) = (connected(&database).await, connected(&database).await);
    let held = Uuid::from_bytes(*runs[2].id.as_bytes());
    third.batch_execute("BEGIN").await.unwrap();
    let hold = "SELECT 1 FROM executions WHERE id = $1 FOR UPDATE";
    third.query(hold, &[&held]).await.unwrap();
    let mut commits = Vec::new();
    for (waiting, (store, batch)) in [(1, first), (2, second)] {
        commits.push(tokio::spawn(async move { store.commit(&batch).await }));
        let all = "SELECT 1 FROM pg_stat_activity
             WHERE datname = current_database() AND wait_event_type = 'Lock'";
        while watcher.query(all, &[]).await.unwrap().len() < waiting {}
    }
    third.batch_execute("COMMIT").await.unwrap();
    for commit in commits {
        commit.await.unwrap().unwrap();
    }
    for (store, _) in &stores {
        store.close().await;
    }
    drop((third, watcher));
    assert_eq!(deadlocks(&database).await, 0);
}

async fn connected(database: &Scratch) -> tokio_postgres::Client {
    let (client, driver) = tokio_postgres::connect(&database.url(), NoTls)
        .await
        .unwrap();
    tokio::spawn(driver);
    client
}

/// How often the server had to break a circle of waiting commits. Connections tell when they end.
pub(crate) async fn deadlocks(database: &Scratch) -> i64 {
    let client = connected(database).await;
    let others = "SELECT 1 FROM pg_stat_activity
         WHERE datname = current_database() AND application_name = 'refire commits'";
    while !client.query(others, &[]).await.unwrap().is_empty() {}
    let count = "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()";
    client.query_one(count, &[]).await.unwrap().get(0)
}

/// A workflow is deleted while somebody admits to it: one of them is refused.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_admitted_to_what_is_deleted() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut deleted = 0;
    for _ in 0..ROUNDS {
        let (mut run, admit) = stores[0].1.start("{}");
        let delete = Part::DeleteWorkflow {
            id: stores[0].1.workflow.id.clone(),
        };
        let parts = [vec![admission(admit)], vec![delete]];
        let [admitted, gone] = both(&mut stores, parts)
            .await
            .map(|ended| ended.unwrap().remove(0));
        match (&admitted, &gone) {
            (PartOutcome::Done, PartOutcome::OpenExecutions(1)) => {
                let cancel = Command::Cancel(Cancel::by(None));
                let cancel = part(stores[0].1.decide(&mut run, cancel));
                let batch = stores[0].1.batch(vec![cancel]);
                stores[0].0.commit(&batch).await.unwrap();
            }
            (PartOutcome::NoSuchWorkflow, PartOutcome::Done) => {
                deleted += 1;
                let put = stores[0].1.put();
                let batch = stores[0].1.batch(vec![put]);
                stores[0].0.commit(&batch).await.unwrap();
            }
            other => panic!("{other:?}"),
        }
    }
    println!("the deletion was first in {deleted} of {ROUNDS}");
}

/// Work that is given back while its execution is paused elsewhere is not left for anybody.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_of_a_paused_execution_is_left() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    for _ in 0..ROUNDS {
        let (run, admit) = stores[0].1.start("{}");
        let claim = stores[0].1.claim(node(1), 9);
        let batch = stores[0].1.batch(vec![admission(admit), claim]);
        let outcomes = stores[0].0.commit(&batch).await.unwrap();
        let [row] = claimed(&outcomes[1]) else {
            panic!("{outcomes:?}");
        };
        let begin = Begin {
            node: node(1),
            work: vec![(row.key(), 1)],
        };
        let batch = stores[0].1.batch(vec![Part::Begin(begin)]);
        stores[0].0.commit(&batch).await.unwrap();
        let release = Release {
            node: node(1),
            work: vec![(row.key(), None)],
        };
        let pause = stores[1]
            .1
            .decide(&mut run.clone(), Command::Pause { by: None });
        let parts = [vec![Part::Release(release)], vec![part(pause)]];
        for ended in both(&mut stores, parts).await {
            assert_eq!(ended.unwrap(), [PartOutcome::Done]);
        }
        let stored = stores[0].0.execution(run.id).await.unwrap().unwrap();
        assert_eq!(stored.work, Vec::new());
    }
}

/// Attempts begin on one node while another cancels their executions: either the cancel has seen them, or
/// they do not begin. A call without a trace would be both.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_attempt_that_a_cancel_has_not_seen_does_not_begin() {
    let database = Scratch::new();
    let mut stores = two(&database).await;
    let mut begun_first = 0;
    for _ in 0..ROUNDS {
        let (one, admit_one) = stores[0].1.start("{}");
        let (other, admit_other) = stores[0].1.start("{}");
        let claim = stores[0].1.claim(node(1), 9);
        let parts = vec![admission(admit_one), admission(admit_other), claim];
        let batch = stores[0].1.batch(parts);
        let outcomes = stores[0].0.commit(&batch).await.unwrap();
        let mut keys: Vec<_> = claimed(&outcomes[2]).iter().map(WorkRow::key).collect();
        keys.sort_by_key(|key| key.execution != other.id);
        let work = keys.into_iter().map(|key| (key, 1)).collect();
        let begin = Begin {
            node: node(1),
            work,
        };
        // The other way round.
        let cancels = [one, other].map(|mut run| {
            let command = Command::Cancel(Cancel::by(None));
            let mut cancel = stores[1].1.decide(&mut run, command);
            cancel.begun = Some(Vec::new());
            part(cancel)
        });
        let parts = [vec![Part::Begin(begin)], cancels.into()];
        let [begun, mut cancelled] = both(&mut stores, parts).await.map(Result::unwrap);
        cancelled.reverse();
        let PartOutcome::Begun(begun) = &begun[0] else {
            panic!("{begun:?}");
        };
        for pair in begun.iter().zip(&cancelled) {
            match pair {
                (true, PartOutcome::Conflict) => begun_first += 1,
                (false, PartOutcome::Done) => {}
                other => panic!("{other:?}"),
            }
        }
    }
    println!("it had begun in {begun_first} of {}", 2 * ROUNDS);
    drop(stores);
    assert_eq!(deadlocks(&database).await, 0);
}
