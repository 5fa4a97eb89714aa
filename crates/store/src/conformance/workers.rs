//! Workers: what is seen of them, what they have, and how many are kept.

use std::time::Duration;

use refire_core::execution::{Cancel, Command};
use refire_core::id::TaskId;
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Run, Stage};
use super::tasks::tasks;
use crate::{
    KnownBy, LIMIT_MAX, OpenCounts, Part, PartOutcome, TaskRow, Touch, WORKERS_MAX, WorkerRow,
};

fn at(seconds: u64) -> Timestamp {
    BEGINNING.plus(Duration::from_secs(seconds))
}

fn polled(id: &str, seconds: u64) -> WorkerRow {
    WorkerRow {
        task_types: "a,n8n-*".parse().unwrap(),
        polled_at: Some(at(seconds)),
        ..WorkerRow::seen(id, at(seconds))
    }
}

impl Stage {
    async fn see(&mut self, seen: Vec<WorkerRow>) {
        let outcome = self.commit_one(Part::SeeWorkers(seen)).await;
        assert_eq!(outcome, PartOutcome::Done);
    }

    async fn workers(&self) -> Vec<WorkerRow> {
        self.store.workers(None, LIMIT_MAX).await.unwrap()
    }
}

pub async fn what_is_seen_is_added(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let strange = "worker \u{0} \"é\"";
    let first = WorkerRow {
        worker_type: Some("n8n".to_owned()),
        completed: 3,
        ..polled(strange, 10)
    };
    stage.see(vec![first.clone(), polled("b", 1)]).await;
    assert_eq!(stage.workers().await, [polled("b", 1), first.clone()]);
    // Another node has seen something older, and reports.
    let other = WorkerRow {
        heartbeat_at: Some(at(12)),
        completed: 1,
        failed: 2,
        updated_at: at(12),
        ..polled(strange, 5)
    };
    let mut both = first;
    both.add(&other);
    stage.see(vec![other]).await;
    assert_eq!(stage.workers().await, [polled("b", 1), both.clone()]);
    assert_eq!((both.completed, both.failed), (4, 2));
    assert_eq!((both.created_at, both.updated_at), (at(5), at(12)));
    stage.see(Vec::new()).await;
    assert_eq!(stage.store.workers(Some("b"), 9).await.unwrap(), [both]);
    let first = stage.store.workers(None, 1).await.unwrap();
    assert_eq!(first, [polled("b", 1)], "page by page");
}

pub async fn a_worker_is_forgotten(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    stage.see(vec![polled("a", 1), polled("b", 1)]).await;
    let forget = |id: &str| Part::ForgetWorker { id: id.to_owned() };
    for (id, removed) in [("a", 1), ("a", 0), ("nobody", 0)] {
        let outcome = stage.commit_one(forget(id)).await;
        let next = None;
        assert_eq!(outcome, PartOutcome::Pruned { removed, next });
    }
    assert_eq!(stage.workers().await, [polled("b", 1)]);
}

pub async fn only_the_newest_stay(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let name = |n: usize| format!("w{n:05}");
    let all: Vec<WorkerRow> = (0..WORKERS_MAX)
        .map(|n| polled(&name(n), 1_000 + (n % 7) as u64))
        .collect();
    stage.see(all).await;
    let count = async |stage: &Stage| {
        let (mut count, mut after) = (0, None);
        loop {
            let rows = stage.store.workers(after.as_deref(), LIMIT_MAX).await;
            let rows = rows.unwrap();
            count += rows.len();
            let Some(last) = rows.last() else {
                return count;
            };
            after = Some(last.id.clone());
        }
    };
    assert_eq!(count(&stage).await, WORKERS_MAX);
    stage
        .see(vec![polled("new", 5_000), polled("old", 1)])
        .await;
    assert_eq!(count(&stage).await, WORKERS_MAX);
    let behind = stage.store.workers(Some("m"), 2).await.unwrap();
    let ids: Vec<&str> = behind.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["new", "w00000"], "the one seen longest ago is gone");
    let last = WORKERS_MAX - WORKERS_MAX % 7;
    let last = if last == WORKERS_MAX { last - 7 } else { last };
    let before = name(last - 1);
    let next = stage.store.workers(Some(&before), 1).await.unwrap();
    assert_ne!(
        next[0].id,
        name(last),
        "then the last of the oldest by name"
    );
}

pub async fn what_workers_have_is_found(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [
        ("a", "taskType: x"),
        ("b", "taskType: x"),
        ("c", "taskType: y"),
    ];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let run = stage.admit(&workflow, "{}").await;
    assert!(stage.store.held_counts().await.unwrap().is_empty());
    let first = stage.lock(&["x"], 1, 1).await.remove(0);
    let second = stage.lock(&["x"], 1, 1).await.remove(0);
    stage.lock(&["y"], 2, 1).await;
    let (one, two) = (first.worker.clone().unwrap(), "worker \u{0} 2");
    let counts = stage.store.held_counts().await.unwrap();
    assert_eq!(counts, [(one.clone(), 2), (two.to_owned(), 1)]);
    let held = stage.store.held_tasks(&one).await.unwrap();
    let ids: Vec<TaskId> = held.iter().map(TaskRow::id).collect();
    assert_eq!(ids, [first.id(), second.id()]);
    assert_eq!(held[0], first);
    let known = KnownBy::Token(first.token.unwrap());
    assert!(stage.touch(first.id(), known, Touch::Unlock).await);
    let counts = stage.store.held_counts().await.unwrap();
    assert_eq!(counts, [(one, 1), (two.to_owned(), 1)]);
    let back = stage.store.task(first.id()).await.unwrap().unwrap();
    assert_eq!((back.attempt, back.releases), (1, 1), "that is no attempt");
    let executions = OpenCounts {
        executions: 1,
        running: 0,
        waiting: 0,
    };
    let open = stage.store.open_counts(Some(&run.workflow.id)).await;
    assert_eq!(open.unwrap(), executions, "what waits for workers is open");
}

pub async fn executions_that_wait_for_workers_are_open(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&tasks("orders", &[("a", "taskType: x")])).await;
    let mut paused = stage.admit(&workflow, "{}").await;
    stage.admit(&workflow, "{}").await;
    stage.send(&mut paused, Command::Pause { by: None }).await;
    let both = OpenCounts {
        executions: 2,
        running: 0,
        waiting: 0,
    };
    assert_eq!(stage.store.open_counts(None).await.unwrap(), both);
    stage.lock(&["x"], 1, 1).await;
    assert_eq!(stage.store.open_counts(None).await.unwrap(), both);
    let delete = Part::DeleteWorkflow { id: workflow.id };
    let outcome = stage.commit_one(delete).await;
    assert_eq!(outcome, PartOutcome::OpenExecutions(2));
}

pub async fn a_cancel_names_what_workers_have(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [("b", "taskType: x"), ("a", "taskType: y")];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let mut run = stage.admit(&workflow, "{}").await;
    stage.lock(&["x"], 1, 1).await;
    let cancel = |run: &mut Run, stage: &mut Stage, held: &[&str]| {
        let mut advance = stage.decide(run, Command::Cancel(Cancel::by(None)));
        let held = held.iter().map(|step| ((*step).to_owned(), 1));
        advance.begun = Some(held.collect());
        Part::Advance(Box::new(advance))
    };
    for wrong in [&[][..], &["a"], &["a", "b"]] {
        let late = cancel(&mut run.clone(), &mut stage, wrong);
        let outcome = stage.commit_one(late).await;
        assert_eq!(outcome, PartOutcome::Conflict, "{wrong:?}");
    }
    stage.lock(&["y"], 2, 1).await;
    let late = cancel(&mut run.clone(), &mut stage, &["b"]);
    assert_eq!(stage.commit_one(late).await, PartOutcome::Conflict);
    let right = cancel(&mut run, &mut stage, &["a", "b"]);
    assert_eq!(stage.commit_one(right).await, PartOutcome::Done);
    assert!(stage.store.held_counts().await.unwrap().is_empty());
}
