//! Locks of tasks: who gets which of many, what is refused alone, and what is remembered of a lock.

use std::time::Duration;

use refire_core::execution::{Command, Outcome};
use refire_core::task::TaskStatus;

use super::Lab;
use super::stage::{Stage, json};
use super::tasks::{failed, holder, id, one, tasks, token};
use crate::{
    KnownBy, LockTasks, Part, PartOutcome, TaskCall, TaskChange, TaskRow, Touch, TouchTask,
    WantedTasks,
};

/// Delayed tasks beside those that are ready.
const DELAYED: usize = 40;

fn beat() -> Touch {
    Touch::Heartbeat {
        progress: None,
        message: None,
    }
}

pub async fn a_task_may_be_made_for_a_worker(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&tasks("orders", &[("a", "taskType: x")])).await;
    let with = stage.plain_start("{}");
    let (run, mut admit) = stage.start(&workflow, with);
    let now = stage.now;
    for change in &mut admit.tasks {
        if let TaskChange::Put { row, .. } = change {
            row.lock(&holder(3), now);
        }
    }
    let made = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(made, PartOutcome::Done);
    let task = stage.task(id(&run, 0)).await;
    assert_eq!(
        (task.status, task.token),
        (TaskStatus::Locked, Some(token(3)))
    );
    assert_eq!(task.worker, holder(3).worker);
    assert!(stage.lock(&["x"], 4, 1).await.is_empty(), "nobody else's");
    let types = stage.store.open_task_types().await.unwrap();
    assert_eq!(types, [], "nothing is to be fetched");
    let by_token = stage.store.locked_tasks(token(3)).await.unwrap();
    assert_eq!(by_token, [task]);
}

pub async fn workers_with_other_wishes_are_served_together(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [
        ("a", "taskType: x"),
        ("b", "taskType: y"),
        ("c", "taskType: z, priority: 1"),
    ];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let run = stage.admit(&workflow, "{}").await;
    let wanted = |types: &[&str], holders: &[u8]| WantedTasks {
        types: types.iter().map(|&name| name.to_owned()).collect(),
        holders: holders.iter().copied().map(holder).collect(),
    };
    let wanted = vec![
        wanted(&["w"], &[1]),
        wanted(&["x", "z"], &[2, 3, 4]),
        wanted(&["y"], &[5]),
    ];
    let outcome = stage
        .commit_one(Part::LockTasks(LockTasks { wanted, place: 0 }))
        .await;
    let PartOutcome::Locked(rows) = outcome else {
        panic!("{outcome:?}");
    };
    let given: Vec<_> = rows.iter().map(|row| (row.id(), row.token)).collect();
    let expected = [(2, 2), (0, 3), (1, 5)];
    let expected = expected.map(|(step, number)| (id(&run, step), Some(token(number))));
    assert_eq!(given, expected);
}

pub async fn what_waits_hides_nothing_that_is_ready(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let urgent = tasks("urgent", &[("a", "taskType: x, priority: 1")]);
    let urgent = stage.save(&urgent).await;
    let mut delayed = Vec::new();
    for _ in 0..DELAYED {
        let mut run = stage.admit(&urgent, "{}").await;
        let task = stage.lock(&["x"], 1, 1).await.remove(0);
        // Its retry has a better turn, and is not due.
        let ended = stage.end(&mut run, &task, failed()).await;
        assert_eq!(ended, PartOutcome::Done);
        delayed.push(task.id());
    }
    let usual = tasks("usual", &[("a", "taskType: x, priority: 9")]);
    let usual = stage.save(&usual).await;
    let ready = [
        stage.admit(&usual, "{}").await,
        stage.admit(&usual, "{}").await,
    ];
    let given = stage.lock(&["x"], 2, 10).await;
    let given: Vec<_> = given.iter().map(TaskRow::id).collect();
    assert_eq!(given, [id(&ready[0], 0), id(&ready[1], 0)]);
    stage.wait(10);
    let given = stage.lock(&["x"], 2, 100).await;
    let given: Vec<_> = given.iter().map(TaskRow::id).collect();
    assert_eq!(given, delayed, "in their order, when their time has come");
}

pub async fn what_is_refused_is_refused_alone(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [("a", "taskType: x"), ("b", "taskType: y")];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let (mut first, mut second) = (
        stage.admit(&workflow, "{}").await,
        stage.admit(&workflow, "{}").await,
    );
    let held = stage.lock(&["x"], 1, 2).await;
    let touch = |row: &TaskRow, number| {
        Part::TouchTask(TouchTask {
            id: row.id(),
            known: KnownBy::Token(token(number)),
            touch: beat(),
        })
    };
    let done = || Outcome::Succeeded(json("{}"));
    let mut stale = stage.ended(&mut first.clone(), &held[0], done());
    stale.seen.as_mut().unwrap().rev += 1;
    let good = stage.ended(&mut second, &held[1], done());
    let parts = vec![
        Part::Advance(Box::new(stale)),
        touch(&held[0], 9),
        Part::Advance(Box::new(good)),
        touch(&held[0], 1),
        touch(&held[1], 2),
    ];
    let outcomes = stage.commit(parts).await;
    let expected = [
        PartOutcome::Conflict,
        PartOutcome::Touched(false),
        PartOutcome::Done,
        PartOutcome::Touched(true),
        PartOutcome::Touched(false),
    ];
    assert_eq!(outcomes, expected);
    stage.check(&first).await;
    stage.check(&second).await;
    let task = stage.task(held[0].id()).await;
    assert_eq!(
        (task.status, task.rev),
        (TaskStatus::Locked, held[0].rev + 1)
    );
    // What is there now is seen, and counts.
    let ended = stage.end(&mut first, &task, done()).await;
    assert_eq!(ended, PartOutcome::Done);
}

pub async fn a_heartbeat_cuts_no_extension(lab: &dyn Lab) {
    let config = "taskType: x, lockDuration: 30s, timeout: 1000s, heartbeat: {interval: 60s}";
    let (mut stage, run) = one(lab, config).await;
    let id = id(&run, 0);
    stage.lock(&["x"], 1, 1).await;
    let until = stage.now.plus(Duration::from_secs(500));
    let known = KnownBy::Token(token(1));
    assert!(stage.touch(id, known, Touch::Extend { until }).await);
    let extended = stage.task(id).await;
    assert!(
        stage
            .touch(id, KnownBy::Rev(extended.rev), Touch::Rearm)
            .await
    );
    stage.wait(10);
    assert!(stage.touch(id, known, beat()).await);
    let task = stage.task(id).await;
    assert_eq!(task.lock_until, Some(until), "what it asked for it keeps");
    let silent_until = stage.now.plus(Duration::from_secs(120));
    assert_eq!(task.heartbeat_until, Some(silent_until));
    assert!(
        task.wake_at <= Some(task.clocks().next()),
        "its clocks are looked at in time"
    );
}

pub async fn a_call_is_remembered_until_the_next_lock_ends(lab: &dyn Lab) {
    let (mut stage, mut run) = one(lab, "taskType: x, retries: 9").await;
    let task = stage.lock(&["x"], 1, 1).await.remove(0);
    stage.end(&mut run, &task, failed()).await;
    let remembered = async |stage: &Stage| {
        let row = stage.task(task.id()).await;
        (row.ended_token, row.ended_by)
    };
    let by_fail = (Some(token(1)), Some(TaskCall::Fail));
    assert_eq!(remembered(&stage).await, by_fail);
    // Nobody has it when its time is over.
    let seen = stage.task(task.id()).await;
    stage.end(&mut run, &seen, failed()).await;
    assert_eq!(remembered(&stage).await, by_fail);
    stage.wait(3_600);
    let again = stage.lock(&["x"], 2, 1).await.remove(0);
    assert_eq!(remembered(&stage).await, by_fail, "while another has it");
    let unlock = Touch::Unlock;
    assert!(
        stage
            .touch(again.id(), KnownBy::Token(token(2)), unlock)
            .await
    );
    let by_unlock = (Some(token(2)), Some(TaskCall::Unlock));
    assert_eq!(remembered(&stage).await, by_unlock);
    // What takes a lock away is no call of its worker.
    stage.lock(&["x"], 3, 1).await;
    let cancel = refire_core::execution::Cancel::by(None);
    stage.send(&mut run, Command::Cancel(cancel)).await;
    assert_eq!(remembered(&stage).await, (None, None));
}

pub async fn a_backup_has_the_tasks(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let steps = [("a", "taskType: x"), ("b", "taskType: y")];
    let workflow = stage.save(&tasks("orders", &steps)).await;
    let run = stage.admit(&workflow, "{}").await;
    let held = stage.lock(&["x"], 1, 1).await.remove(0);
    let target = lab.directory().join("copy");
    stage.store.backup(&target, &|_, _| ()).await.unwrap();
    stage
        .touch(held.id(), KnownBy::Token(token(1)), Touch::Unlock)
        .await;
    let copy = lab.open_backup(&target).await;
    assert_eq!(
        copy.task(held.id()).await.unwrap(),
        Some(held),
        "a lock that a backup knows counts still"
    );
    let open = copy.task(id(&run, 1)).await.unwrap();
    assert_eq!(open, Some(stage.task(id(&run, 1)).await));
    copy.close().await;
}
