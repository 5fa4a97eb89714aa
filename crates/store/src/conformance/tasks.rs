//! Tasks for workers: who gets which, what workers say of them, and what becomes of them.

use std::time::Duration;

use refire_core::execution::{Began, Cancel, Command, Outcome, Report, RetryNow};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{LockToken, TaskId};
use refire_core::task::TaskStatus;

use super::Lab;
use super::stage::{Run, Stage, json};
use crate::{
    Advance, KnownBy, LockTasks, OldExecutions, Part, PartOutcome, Prune, SeenTask, TaskCall,
    TaskFilter, TaskHolder, TaskRow, Touch, TouchTask, WantedTasks,
};

/// A workflow whose steps are tasks: `step: config`.
pub(super) fn tasks(id: &str, steps: &[(&str, &str)]) -> String {
    let mut source = format!("id: {id}\nretry: {{initialDelay: 10s, jitter: none}}\nsteps:\n");
    for (step, config) in steps {
        source +=
            &format!("  - {{id: {step}, type: external_task, config: {{{config}}}, needs: []}}\n");
    }
    source
}

pub(super) async fn one(lab: &dyn Lab, config: &str) -> (Stage, Run) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&tasks("orders", &[("a", config)])).await;
    let run = stage.admit(&workflow, "{\"n\":1}").await;
    (stage, run)
}

pub(super) fn id(run: &Run, step: u16) -> TaskId {
    TaskId {
        execution: run.id,
        step,
    }
}

pub(super) fn token(number: u8) -> LockToken {
    LockToken::from_bytes([number; 16])
}

pub(super) fn holder(number: u8) -> TaskHolder {
    TaskHolder {
        token: token(number),
        worker: Some(format!("worker \u{0} {number}")),
        worker_type: None,
    }
}

impl Stage {
    pub(super) async fn task(&self, id: TaskId) -> TaskRow {
        self.store.task(id).await.unwrap().unwrap()
    }

    /// Gives tasks of these types to so many workers, numbered from `from`.
    pub(super) async fn lock(&mut self, types: &[&str], from: u8, count: u8) -> Vec<TaskRow> {
        let wanted = WantedTasks {
            types: types.iter().map(|&name| name.to_owned()).collect(),
            holders: (from..from + count).map(holder).collect(),
        };
        let lock = LockTasks {
            wanted: vec![wanted],
            place: 0,
        };
        match self.commit_one(Part::LockTasks(lock)).await {
            PartOutcome::Locked(rows) => rows,
            other => panic!("{other:?}"),
        }
    }

    pub(super) async fn touch(&mut self, id: TaskId, known: KnownBy, touch: Touch) -> bool {
        let part = Part::TouchTask(TouchTask { id, known, touch });
        match self.commit_one(part).await {
            PartOutcome::Touched(was) => was,
            other => panic!("{other:?}"),
        }
    }

    /// A worker's report on a task that it has, as it was seen.
    pub(super) async fn end(
        &mut self,
        run: &mut Run,
        seen: &TaskRow,
        outcome: Outcome,
    ) -> PartOutcome {
        let mut moved = run.clone();
        let advance = self.ended(&mut moved, seen, outcome);
        let outcome = self.commit_one(Part::Advance(Box::new(advance))).await;
        if outcome == PartOutcome::Done {
            *run = moved;
        }
        outcome
    }

    /// The same, for the caller to commit.
    pub(super) fn ended(&mut self, run: &mut Run, seen: &TaskRow, outcome: Outcome) -> Advance {
        let began = match seen.locked_at {
            Some(at) => Began::Fetched {
                worker: seen.worker.clone(),
                at,
            },
            None => Began::Never,
        };
        let command = Command::Report(Report {
            step: seen.step.parse().unwrap(),
            attempt: seen.attempt,
            began,
            duration_ms: 0,
            outcome,
            mapped: None,
        });
        let mut advance = self.decide(run, command);
        advance.seen = Some(SeenTask {
            step: seen.step_no,
            rev: seen.rev,
        });
        advance
    }
}

pub(super) fn failed() -> Outcome {
    Outcome::Failed(Failure::new(ErrorClass::Worker, "no \u{0} room"))
}

pub async fn an_offer_is_found_again(lab: &dyn Lab) {
    let config = "taskType: jira/create, priority: 3, timeout: 60s, lockDuration: 20s, \
                  retries: 2, heartbeat: {interval: 5s, maxMissed: 3}, requireLockToken: true, \
                  input: {key: '${input.n}'}";
    let (stage, run) = one(lab, config).await;
    let task = stage.task(id(&run, 0)).await;
    let at = |seconds| stage.now.plus(Duration::from_secs(seconds));
    assert_eq!(
        (task.step.as_str(), task.workflow.as_ref()),
        ("a", "orders")
    );
    assert_eq!((task.task_type.as_str(), task.priority), ("jira/create", 3));
    assert_eq!(
        (task.status, task.attempt, task.attempts_max),
        (TaskStatus::Pending, 1, 2)
    );
    assert_eq!((task.available_at, task.timeout_at), (at(0), at(60)));
    assert_eq!((task.lock_ms, task.heartbeat_ms), (20_000, Some(5_000)));
    assert_eq!((task.silence_ms, task.require_token), (Some(15_000), true));
    assert_eq!((task.input_sequence, task.input_bytes), (3, 9));
    assert_eq!(
        (task.token, task.worker, task.created_at),
        (None, None, at(0))
    );
    assert_eq!(stage.store.task(id(&run, 1)).await.unwrap(), None);
    let types = stage.store.open_task_types().await.unwrap();
    assert_eq!(types, [("jira/create".to_owned(), at(0))]);
    assert_eq!(stage.store.next_task_due().await.unwrap(), Some(at(60)));
}

pub async fn workers_get_them_by_priority_then_age(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut runs = Vec::new();
    for (name, config) in [
        ("late", "taskType: x, priority: 9"),
        ("other", "taskType: y, priority: 1"),
        ("usual", "taskType: x"),
        ("third", "taskType: z, priority: 5"),
    ] {
        let workflow = stage.save(&tasks(name, &[("a", config)])).await;
        runs.push(stage.admit(&workflow, "{}").await);
        stage.wait(1);
    }
    let first = stage.lock(&["x", "z"], 1, 2).await;
    let ids: Vec<TaskId> = first.iter().map(TaskRow::id).collect();
    assert_eq!(
        ids,
        [id(&runs[2], 0), id(&runs[3], 0)],
        "by priority, then age"
    );
    assert_eq!(
        first[0].token,
        Some(token(1)),
        "the first who waits gets the first"
    );
    let second = stage.lock(&["x", "z"], 3, 5).await;
    assert_eq!(second.len(), 1, "what somebody has is nobody else's");
    assert_eq!(second[0].id(), id(&runs[0], 0));
    assert!(stage.lock(&["x", "z"], 9, 1).await.is_empty());
    let task = stage.task(id(&runs[2], 0)).await;
    assert_eq!(task, first[0], "what is given is what is kept");
    assert_eq!(task.status, TaskStatus::Locked);
    assert_eq!(task.locked_at, Some(stage.now));
    let by_token = stage.store.locked_tasks(token(1)).await.unwrap();
    assert_eq!(by_token, [task]);
}

pub async fn a_task_is_given_out_when_its_time_has_come(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x").await;
    let task = stage.lock(&["x"], 1, 1).await.remove(0);
    let outcome = stage.end(&mut run, &task, failed()).await;
    assert_eq!(outcome, PartOutcome::Done);
    let retry = stage.task(task.id()).await;
    assert_eq!((retry.status, retry.attempt), (TaskStatus::Pending, 2));
    assert_eq!(retry.available_at, stage.now.plus(Duration::from_secs(10)));
    assert_eq!(retry.error.as_deref(), Some("no \u{0} room"));
    assert_eq!(
        (retry.ended_token, retry.ended_by),
        (Some(token(1)), Some(TaskCall::Fail))
    );
    assert_eq!((retry.token, retry.created_at), (None, task.created_at));
    stage.wait(9);
    assert!(stage.lock(&["x"], 2, 1).await.is_empty());
    stage.wait(1);
    assert_eq!(stage.lock(&["x"], 2, 1).await.len(), 1);
}

pub async fn a_retry_that_is_wanted_now_is_taken_from_nobody(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x").await;
    let task = stage.lock(&["x"], 1, 1).await.remove(0);
    stage.end(&mut run, &task, failed()).await;
    stage
        .send(&mut run, Command::RetryNow(RetryNow::default()))
        .await;
    let hurried = stage.task(task.id()).await;
    assert_eq!(
        (hurried.status, hurried.attempt, hurried.available_at),
        (TaskStatus::Pending, 2, stage.now)
    );
    stage.check(&run).await;
    let second = stage.lock(&["x"], 2, 1).await.remove(0);
    stage.end(&mut run, &second, failed()).await;
    // By another node's clock its time had come: a worker has it.
    let before = stage.now;
    stage.wait(60);
    let third = stage.lock(&["x"], 3, 1).await.remove(0);
    stage.now = before;
    stage
        .send(&mut run, Command::RetryNow(RetryNow::default()))
        .await;
    let kept = stage.task(task.id()).await;
    assert_eq!(
        (kept.status, kept.token, kept.attempt),
        (TaskStatus::Locked, Some(token(3)), 3)
    );
    assert_eq!(
        (kept.lock_until, kept.available_at),
        (third.lock_until, before)
    );
    stage.check(&run).await;
}

pub async fn a_worker_is_known_by_its_lock(lab: &dyn Lab) {
    let (mut stage, run) = one(lab, "taskType: x, lockDuration: 30s, timeout: 100s").await;
    let id = id(&run, 0);
    let beat = |progress| Touch::Heartbeat {
        progress,
        message: Some("half \u{0} done".to_owned()),
    };
    assert!(
        !stage.touch(id, KnownBy::Name, beat(None)).await,
        "nobody has it"
    );
    let task = stage.lock(&["x"], 1, 1).await.remove(0);
    stage.wait(20);
    assert!(!stage.touch(id, KnownBy::Token(token(2)), beat(None)).await);
    assert!(
        !stage
            .touch(id, KnownBy::Rev(task.rev + 1), Touch::Rearm)
            .await
    );
    assert!(
        stage
            .touch(id, KnownBy::Token(token(1)), beat(Some(50)))
            .await
    );
    let touched = stage.task(id).await;
    let now = stage.now;
    let at = |seconds| Some(now.plus(Duration::from_secs(seconds)));
    assert_eq!((touched.lock_until, touched.heartbeat_at), (at(30), at(0)));
    assert_eq!((touched.progress, touched.rev), (Some(50), task.rev + 1));
    assert_eq!(touched.message.as_deref(), Some("half \u{0} done"));
    assert_eq!(
        touched.wake_at, task.wake_at,
        "clocks are looked at as before"
    );
    assert!(
        stage
            .touch(id, KnownBy::Rev(touched.rev), Touch::Rearm)
            .await
    );
    assert_eq!(stage.task(id).await.wake_at, at(30));
    let until = stage.now.plus(Duration::from_secs(500));
    assert!(
        stage
            .touch(id, KnownBy::Name, Touch::Extend { until })
            .await
    );
    assert_eq!(
        stage.task(id).await.lock_until,
        at(80),
        "not beyond the attempt's time"
    );
    assert!(
        stage
            .touch(id, KnownBy::Token(token(1)), Touch::Unlock)
            .await
    );
    let back = stage.task(id).await;
    assert_eq!(
        (back.status, back.token, back.releases),
        (TaskStatus::Pending, None, 1)
    );
    assert_eq!(
        back.available_at, task.available_at,
        "it is as old as before"
    );
    assert_eq!(back.wake_at, at(80));
    assert!(
        !stage
            .touch(id, KnownBy::Token(token(1)), Touch::Unlock)
            .await
    );
}

pub async fn where_a_token_is_required_a_name_is_not_enough(lab: &dyn Lab) {
    let (mut stage, run) = one(lab, "taskType: x, requireLockToken: true").await;
    stage.lock(&["x"], 1, 1).await;
    assert!(!stage.touch(id(&run, 0), KnownBy::Name, Touch::Unlock).await);
    assert!(
        stage
            .touch(id(&run, 0), KnownBy::Token(token(1)), Touch::Unlock)
            .await
    );
}

pub async fn nobody_ends_what_he_has_not_seen(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x").await;
    let task = stage.lock(&["x"], 1, 1).await.remove(0);
    let beat = Touch::Heartbeat {
        progress: None,
        message: None,
    };
    assert!(stage.touch(task.id(), KnownBy::Token(token(1)), beat).await);
    let done = || Outcome::Succeeded(json("{\"ok\":true}"));
    let outcome = stage.end(&mut run, &task, done()).await;
    assert_eq!(
        outcome,
        PartOutcome::Conflict,
        "a heartbeat came in between"
    );
    let task = stage.task(task.id()).await;
    let outcome = stage.end(&mut run, &task, done()).await;
    assert_eq!(outcome, PartOutcome::Done);
    let over = stage.task(task.id()).await;
    assert_eq!(
        (over.status, over.completed_at),
        (TaskStatus::Completed, Some(stage.now))
    );
    assert_eq!(
        (over.ended_token, over.ended_by),
        (Some(token(1)), Some(TaskCall::Complete))
    );
    assert_eq!((over.wake_at, over.worker), (None, task.worker.clone()));
    assert_eq!(stage.store.next_task_due().await.unwrap(), None);
    stage.check(&run).await;
}

pub async fn a_pause_holds_back_what_nobody_has(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [
        ("a", "taskType: x"),
        ("b", "taskType: y, timeout: 60s, lockDuration: 60s"),
    ];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let mut run = stage.admit(&workflow, "{}").await;
    stage.lock(&["x"], 1, 1).await;
    stage.send(&mut run, Command::Pause { by: None }).await;
    let (a, b) = (id(&run, 0), id(&run, 1));
    let held = stage.task(b).await;
    assert_eq!((held.status, held.wake_at), (TaskStatus::Held, None));
    assert_eq!(stage.task(a).await.status, TaskStatus::Locked);
    assert!(stage.lock(&["x", "y"], 2, 2).await.is_empty());
    assert!(
        stage
            .touch(a, KnownBy::Token(token(1)), Touch::Unlock)
            .await
    );
    assert_eq!(
        stage.task(a).await.status,
        TaskStatus::Held,
        "it comes back to a pause"
    );
    stage.wait(40);
    stage.send(&mut run, Command::Resume { by: None }).await;
    let again = stage.task(b).await;
    assert_eq!(again.status, TaskStatus::Pending);
    assert_eq!(again.timeout_at, stage.now.plus(Duration::from_secs(60)));
    assert_eq!(stage.lock(&["x", "y"], 2, 2).await.len(), 2);
}

pub async fn a_failing_execution_retires_what_nobody_has(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [
        ("a", "taskType: x, retries: 1"),
        ("b", "taskType: y"),
        ("c", "taskType: z"),
    ];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let locked = stage.lock(&["x", "y"], 1, 2).await;
    assert_eq!(
        stage.end(&mut run, &locked[0], failed()).await,
        PartOutcome::Done
    );
    let statuses = async |stage: &Stage, run: &Run| {
        let mut found = Vec::new();
        for step in 0..3 {
            found.push(stage.task(id(run, step)).await.status);
        }
        found
    };
    use TaskStatus::{Cancelled, Failed, Locked, Retired};
    assert_eq!(statuses(&stage, &run).await, [Failed, Locked, Retired]);
    let due = stage.store.due_tasks(stage.now, 10).await.unwrap();
    let due: Vec<TaskId> = due.iter().map(TaskRow::id).collect();
    assert_eq!(due, [id(&run, 2)], "it is to be looked at now");
    assert!(
        stage
            .touch(id(&run, 1), KnownBy::Token(token(2)), Touch::Unlock)
            .await
    );
    assert_eq!(statuses(&stage, &run).await, [Failed, Retired, Retired]);
    let cancel = Command::Cancel(Cancel::by(None));
    stage.send(&mut run, cancel).await;
    assert_eq!(statuses(&stage, &run).await, [Failed, Cancelled, Cancelled]);
}

pub async fn clocks_are_found_in_their_order(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [
        ("a", "taskType: x, timeout: 50s, lockDuration: 50s"),
        ("b", "taskType: y, timeout: 90s, lockDuration: 40s"),
        (
            "c",
            "taskType: z, timeout: 90s, heartbeat: {interval: 10s, maxMissed: 3}",
        ),
    ];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let run = stage.admit(&workflow, "{}").await;
    stage.lock(&["y", "z"], 1, 2).await;
    let at = |seconds| stage.now.plus(Duration::from_secs(seconds));
    assert_eq!(stage.store.next_task_due().await.unwrap(), Some(at(30)));
    let due = async |by| {
        let rows = stage.store.due_tasks(by, 10).await.unwrap();
        rows.iter().map(|row| row.step.clone()).collect::<Vec<_>>()
    };
    assert!(due(at(29)).await.is_empty());
    assert_eq!(due(at(50)).await, ["c", "b", "a"]);
    assert_eq!(
        stage.store.due_tasks(at(90), 1).await.unwrap()[0].id(),
        id(&run, 2)
    );
    let tally = async |max| stage.store.task_tally(max).await.unwrap();
    let of = |kind: &str, status| (kind.to_owned(), status, 1);
    let (pending, locked) = (TaskStatus::Pending, TaskStatus::Locked);
    let all = [of("x", pending), of("y", locked), of("z", locked)];
    assert_eq!(tally(9).await, all);
    assert_eq!(tally(2).await, all[1..], "by their clocks");
}

pub async fn lists_are_newest_first(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [("a", "taskType: x"), ("b", "taskType: y")];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let mut all = Vec::new();
    for _ in 0..3 {
        let run = stage.admit(&workflow, "{}").await;
        all.extend([id(&run, 0), id(&run, 1)]);
        stage.wait(1);
    }
    all.reverse();
    let locked = stage.lock(&["x"], 7, 1).await;
    let list = async |filter: TaskFilter, before, limit| {
        let rows = stage.store.tasks(&filter, before, limit).await.unwrap();
        rows.iter().map(TaskRow::id).collect::<Vec<_>>()
    };
    let any = TaskFilter::default;
    assert_eq!(list(any(), None, 10).await, all);
    assert_eq!(list(any(), Some(all[1]), 2).await, all[2..4]);
    let of_type = TaskFilter {
        task_type: Some("y".to_owned()),
        ..any()
    };
    assert_eq!(list(of_type, None, 10).await, [all[0], all[2], all[4]]);
    let of_worker = TaskFilter {
        worker: Some("worker \u{0} 7".to_owned()),
        ..any()
    };
    assert_eq!(list(of_worker, None, 10).await, [locked[0].id()]);
    let of_execution = TaskFilter {
        execution: Some(all[0].execution),
        statuses: vec![TaskStatus::Pending, TaskStatus::Held],
        ..any()
    };
    assert_eq!(list(of_execution, None, 10).await, all[..2]);
}

pub async fn a_task_goes_with_its_execution(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x").await;
    stage
        .send(&mut run, Command::Cancel(Cancel::by(None)))
        .await;
    stage.wait(10);
    let prune = Prune::Executions(OldExecutions {
        statuses: vec![run.state.status],
        before: stage.now,
        workflow: None,
        after: None,
        limit: 10,
    });
    stage.commit_one(Part::Prune(prune)).await;
    assert_eq!(stage.store.task(id(&run, 0)).await.unwrap(), None);
}

pub async fn a_workflow_with_tasks_is_not_deleted(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x").await;
    let delete = || Part::DeleteWorkflow {
        id: super::stage::workflow_id("orders"),
    };
    let outcome = stage.commit_one(delete()).await;
    assert_eq!(outcome, PartOutcome::OpenExecutions(1));
    stage.lock(&["x"], 1, 1).await;
    let outcome = stage.commit_one(delete()).await;
    assert_eq!(outcome, PartOutcome::OpenExecutions(1));
    let cancel = Command::Cancel(Cancel::by(None));
    stage.send(&mut run, cancel).await;
    assert_eq!(stage.commit_one(delete()).await, PartOutcome::Done);
}
