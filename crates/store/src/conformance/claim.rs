//! Claims: who gets which work, and in which order.

use std::time::Duration;

use refire_core::definition::Workflow;
use refire_core::id::ExecutionId;

use super::Lab;
use super::stage::{NODE, Run, Stage, side_by_side, two_steps, workflow_id};
use crate::{ClaimTimers, Part, PartOutcome, Release, Want, WorkChange, WorkRow};

/// Admits an execution of one step with this priority, due that many seconds from now (negative:
/// ago; absent: at once).
async fn work(stage: &mut Stage, workflow: &Workflow, priority: u8, due: Option<i64>) -> Run {
    let with = stage.plain_start("{}");
    let (mut run, mut admit) = stage.start(workflow, with);
    admit.work.truncate(1);
    let WorkChange::Put(row) = &mut admit.work[0] else {
        panic!("a start puts work")
    };
    row.priority = priority;
    row.due_at = due.map(|seconds| {
        let span = Duration::from_secs(seconds.unsigned_abs());
        if seconds < 0 {
            stage.now.minus(span)
        } else {
            stage.now.plus(span)
        }
    });
    run.work = [(row.step.clone(), row.clone())].into();
    let outcome = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(outcome, PartOutcome::Done);
    run
}

fn want(workflow: &str, up_to: u32) -> Want {
    Want::any(workflow_id(workflow), up_to)
}

fn executions(rows: &[WorkRow]) -> Vec<ExecutionId> {
    rows.iter().map(|row| row.execution).collect()
}

pub async fn claims_go_by_priority_then_time_then_age(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    // In the order of admission: priority, due.
    let plan = [
        (5, Some(-10)),
        (5, None),
        (5, Some(-20)),
        (5, Some(3_600)),
        (1, Some(-5)),
        (10, None),
        (5, None),
        (1, Some(0)),
        (5, Some(-20)),
    ];
    let mut runs = Vec::new();
    for (priority, due) in plan {
        runs.push(work(&mut stage, &workflow, priority, due).await);
    }
    let claimed = stage.claim(vec![want("orders", 100)]).await;
    let expected: Vec<_> = [4, 7, 1, 6, 2, 8, 0, 5]
        .map(|at: usize| runs[at].id)
        .to_vec();
    assert_eq!(executions(&claimed), expected);
    for (at, run) in runs.iter_mut().enumerate() {
        if at != 3 {
            let row = run.work.get_mut("a").unwrap();
            row.owner = Some(NODE);
            assert!(claimed.contains(row), "owned, not begun, as stored");
        }
        stage.check(run).await;
    }
    let again = stage.claim(vec![want("orders", 100)]).await;
    assert_eq!(again, Vec::new(), "what is owned is not claimed again");
}

pub async fn claims_take_what_is_wanted_and_no_more(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&side_by_side("orders", &["a"])).await;
    let refunds = stage.save(&side_by_side("refunds", &["a"])).await;
    let mut ids = (Vec::new(), Vec::new());
    for n in 0..5 {
        let due = (n % 2 == 0).then_some(-1);
        ids.0.push(work(&mut stage, &orders, 5, due).await.id);
        ids.1.push(work(&mut stage, &refunds, 5, due).await.id);
    }
    let wants = vec![
        want("refunds", 1),
        want("orders", 3),
        want("nobody", 9),
        want("orders", 0),
    ];
    let claimed = stage.claim(wants).await;
    let expected = [ids.1[1], ids.0[1], ids.0[3], ids.0[0]];
    assert_eq!(executions(&claimed), expected, "in the order of the wants");
}

/// Work at once comes first, then by due time, whoever wrote it; what was given back queues by the
/// time it was given back.
pub async fn unowned_work_queues_by_its_time(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    let given_back = work(&mut stage, &workflow, 5, None).await;
    let claimed = stage.claim(vec![want("orders", 1)]).await;
    stage.wait(10);
    let before = work(&mut stage, &workflow, 5, Some(-1)).await;
    let same_time = work(&mut stage, &workflow, 5, Some(0)).await;
    let release = Release {
        node: NODE,
        work: vec![(claimed[0].key(), None)],
    };
    stage.commit_one(Part::Release(release)).await;
    stage.wait(1);
    let after = work(&mut stage, &workflow, 5, Some(0)).await;
    let at_once = work(&mut stage, &workflow, 5, None).await;
    let expected = [at_once, before, given_back, same_time, after].map(|run| run.id);
    let claimed = stage.claim(vec![want("orders", 2)]).await;
    assert_eq!(executions(&claimed), expected[..2]);
    let claimed = stage.claim(vec![want("orders", 100)]).await;
    assert_eq!(executions(&claimed), expected[2..]);
}

pub async fn timers_are_claimed_by_their_time(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&side_by_side("orders", &["a"])).await;
    let refunds = stage.save(&side_by_side("refunds", &["a"])).await;
    let late = work(&mut stage, &orders, 1, Some(20)).await;
    let soon = work(&mut stage, &refunds, 9, Some(10)).await;
    let over = work(&mut stage, &orders, 5, Some(-10)).await;
    let far = work(&mut stage, &orders, 5, Some(31)).await;
    let ready = work(&mut stage, &orders, 5, None).await;
    let until = stage.now.plus(Duration::from_secs(30));
    let take = |up_to| {
        Part::ClaimTimers(ClaimTimers {
            node: NODE,
            until,
            up_to,
        })
    };
    let mut claimed = Vec::new();
    for expected in [vec![soon.id], vec![late.id], vec![]] {
        let PartOutcome::Claimed(rows) = stage.commit_one(take(1)).await else {
            panic!()
        };
        assert_eq!(executions(&rows), expected);
        claimed.extend(rows);
    }
    for mut run in [late, soon] {
        let row = run.work.get_mut("a").unwrap();
        row.owner = Some(NODE);
        assert!(claimed.contains(row), "owned, but not begun");
        stage.check(&run).await;
    }
    for run in [far, ready, over] {
        stage.check(&run).await;
    }
}

pub async fn later_timers_do_not_hide_ready_work(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    let mut parts = Vec::new();
    for n in 0..2_000 {
        let with = stage.plain_start("{}");
        let (_, mut admit) = stage.start(&workflow, with);
        let WorkChange::Put(row) = &mut admit.work[0] else {
            panic!("a start puts work")
        };
        row.priority = 1 + (n % 10) as u8;
        row.due_at = Some(stage.now.plus(Duration::from_secs(60 + n)));
        parts.push(Part::Admit(Box::new(admit)));
    }
    stage.commit(parts).await;
    let ready = work(&mut stage, &workflow, 7, None).await;
    let due = work(&mut stage, &workflow, 3, Some(-1)).await;
    let claimed = stage.claim(vec![want("orders", 100)]).await;
    assert_eq!(executions(&claimed), [due.id, ready.id]);
    stage.wait(60);
    let claimed = stage.claim(vec![want("orders", 100)]).await;
    assert_eq!(claimed.len(), 1, "the first timer's time has come");
}

pub async fn ready_workflows_have_due_unowned_work(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut workflows = Vec::new();
    for id in ["at-once", "due", "later", "owned", "nothing"] {
        workflows.push(stage.save(&side_by_side(id, &["a"])).await);
    }
    stage.save(&two_steps("unused")).await;
    work(&mut stage, &workflows[2], 1, Some(100)).await;
    work(&mut stage, &workflows[0], 10, None).await;
    work(&mut stage, &workflows[1], 3, Some(0)).await;
    work(&mut stage, &workflows[1], 1, Some(100)).await;
    work(&mut stage, &workflows[3], 5, None).await;
    stage.claim(vec![want("owned", 1)]).await;
    let names = async |stage: &Stage| {
        let ready = stage.store.ready_workflows(stage.now).await.unwrap();
        let mut names: Vec<_> = ready.iter().map(ToString::to_string).collect();
        names.sort();
        names
    };
    assert_eq!(names(&stage).await, ["at-once", "due"]);
    stage.wait(100);
    assert_eq!(names(&stage).await, ["at-once", "due", "later"]);
}
