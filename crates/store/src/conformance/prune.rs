//! Retention: what is old and done goes, whole; what somebody may need stays.

use std::time::Duration;

use refire_core::execution::{Cancel, Command, Status};
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::Lab;
use super::letters::{retries, retry};
use super::stage::{Stage, http, two_steps};
use crate::{IdempotencyClaim, LetterFilter, OldExecutions, Part, PartOutcome, Prune};

const ENDED: [Status; 4] = [
    Status::Completed,
    Status::Failed,
    Status::Dlq,
    Status::Cancelled,
];

fn prune(statuses: &[Status], before: Timestamp, after: Option<ExecutionId>, limit: u32) -> Part {
    Part::Prune(Prune::Executions(OldExecutions {
        statuses: statuses.to_vec(),
        before,
        workflow: None,
        after,
        limit,
    }))
}

fn pruned(removed: u64, next: Option<ExecutionId>) -> PartOutcome {
    PartOutcome::Pruned { removed, next }
}

pub async fn old_ended_executions_go(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut old = stage.admit(&workflow, "{}").await;
    stage.succeed(&mut old, "a", "1").await;
    stage.succeed(&mut old, "b", "1").await;
    let mut cancelled = stage.admit(&workflow, "{}").await;
    stage
        .send(&mut cancelled, Command::Cancel(Cancel::by(None)))
        .await;
    let open = stage.admit(&workflow, "{}").await;
    let mut late = stage.admit(&workflow, "{}").await;
    stage.wait(60);
    let line = stage.now;
    stage.succeed(&mut late, "a", "1").await;
    stage.succeed(&mut late, "b", "1").await;
    let outcome = stage
        .commit_one(prune(&[Status::Completed], line, None, 100))
        .await;
    assert_eq!(outcome, pruned(1, None));
    stage.check_absent(old.id).await;
    for run in [&cancelled, &open, &late] {
        stage.check(run).await;
    }
    let outcome = stage.commit_one(prune(&ENDED, line, None, 100)).await;
    assert_eq!(outcome, pruned(1, None), "the cancelled one");
    let later = stage.now.plus(Duration::from_secs(1));
    let outcome = stage
        .commit_one(prune(&Status::ALL, later, None, 100))
        .await;
    assert_eq!(
        outcome,
        pruned(1, None),
        "the late one, but never an open one"
    );
    stage.check(&open).await;
}

pub async fn letters_in_use_keep_their_execution(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let pending = stage.dead_letter(&workflow, "404").await;
    let retrying = stage.dead_letter(&workflow, "404").await;
    let deleted = stage.dead_letter(&workflow, "410").await;
    let (_, admit) = retry(&mut stage, &workflow, &retrying);
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    let (mut tried, admit) = retry(&mut stage, &workflow, &pending);
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    stage.fail(&mut tried, "a", http("404")).await;
    let (mut in_vain, admit) = retry(&mut stage, &workflow, &deleted);
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    stage.fail(&mut in_vain, "a", http("410")).await;
    assert_eq!(retries(&stage, &deleted, 9).await.len(), 1);
    let id = deleted.state.dlq_id.unwrap();
    stage
        .commit_one(Part::DeleteLetter {
            id,
            by: "eve".to_owned(),
        })
        .await;
    stage.wait(60);
    let now = stage.now;
    assert_eq!(
        stage.commit_one(prune(&ENDED, now, None, 100)).await,
        pruned(2, None),
        "it and the retry that failed"
    );
    stage.check_absent(deleted.id).await;
    assert_eq!(retries(&stage, &deleted, 9).await, []);
    assert_eq!(retries(&stage, &retrying, 9).await.len(), 1);
    assert_eq!(
        stage.store.letter(id).await.unwrap(),
        None,
        "the letter goes with it"
    );
    // What was tried for a letter that somebody may still need is a part of its history.
    for run in [&pending, &tried, &retrying] {
        stage.check(run).await;
    }
    let summary = stage
        .store
        .letter_summary(&LetterFilter::default())
        .await
        .unwrap();
    assert_eq!(
        (summary.count, summary.groups.len()),
        (2, 1),
        "so does its count"
    );
}

pub async fn chunks_reach_the_end(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut kept = Vec::new();
    for n in 0..10 {
        let mut run = stage.admit(&workflow, "{}").await;
        if n % 3 == 0 {
            kept.push(run);
        } else {
            stage
                .send(&mut run, Command::Cancel(Cancel::by(None)))
                .await;
        }
    }
    stage.wait(60);
    let (mut cursor, mut total, mut chunks) = (None, 0, 0);
    loop {
        let now = stage.now;
        let outcome = stage.commit_one(prune(&ENDED, now, cursor, 3)).await;
        let PartOutcome::Pruned { removed, next } = outcome else {
            panic!("{outcome:?}")
        };
        assert!(removed <= 3);
        total += removed;
        chunks += 1;
        assert!(next.is_none() || next > cursor, "the cursor moves on");
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!((total, chunks), (6, 4));
    for run in &kept {
        stage.check(run).await;
    }
}

/// A chunk is bounded by what it removes: long logs make it short, and one that is longer than any
/// chunk goes alone.
pub async fn long_logs_make_short_chunks(lab: &dyn Lab) {
    /// Rows of a chunk, executions and events together.
    const ROWS_MAX: u64 = 500;
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut rows: Vec<(ExecutionId, u64)> = Vec::new();
    for pauses in [60, 60, 60, 60, 60, 300, 1, 1, 60] {
        let mut run = stage.admit(&workflow, "{}").await;
        let mut parts = Vec::new();
        for _ in 0..pauses {
            for command in [Command::Pause { by: None }, Command::Resume { by: None }] {
                let advance = stage.decide(&mut run, command);
                parts.push(Part::Advance(Box::new(advance)));
            }
        }
        let cancel = Command::Cancel(Cancel::by(None));
        parts.push(Part::Advance(Box::new(stage.decide(&mut run, cancel))));
        stage.commit(parts).await;
        rows.push((run.id, run.state.version + 1));
    }
    stage.wait(60);
    let (mut cursor, mut chunks) = (None, Vec::new());
    loop {
        let now = stage.now;
        let outcome = stage.commit_one(prune(&ENDED, now, cursor, 100)).await;
        let PartOutcome::Pruned { removed, next } = outcome else {
            panic!("{outcome:?}")
        };
        let gone: Vec<_> = rows.drain(..usize::try_from(removed).unwrap()).collect();
        let sum: u64 = gone.iter().map(|(_, rows)| rows).sum();
        assert!(sum <= ROWS_MAX || removed == 1, "{sum} rows");
        for (id, _) in gone {
            stage.check_absent(id).await;
        }
        chunks.push(removed);
        cursor = next;
        if cursor.is_none() {
            break;
        }
    }
    assert_eq!(rows, [], "all of them");
    assert_eq!(chunks, [4, 1, 1, 3], "as many as fit, and never none");
}

pub async fn expired_keys_go(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    for n in 0..5_u8 {
        let with = stage.plain_start("{}");
        let (_, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(IdempotencyClaim {
            scope: "orders".to_owned(),
            key_hash: [n; 16],
            body_hash: [0; 8],
            expires_at: stage.now.plus(Duration::from_secs(u64::from(n) * 10)),
            over: None,
        });
        assert_eq!(
            stage.commit_one(Part::Admit(Box::new(admit))).await,
            PartOutcome::Done
        );
    }
    stage.wait(30);
    let keys = || Part::Prune(Prune::IdempotencyKeys { limit: 3 });
    assert_eq!(stage.commit_one(keys()).await, pruned(3, None));
    assert_eq!(
        stage.commit_one(keys()).await,
        pruned(1, None),
        "the one of this very moment"
    );
    assert_eq!(
        stage.commit_one(keys()).await,
        pruned(0, None),
        "the last is still good"
    );
}
