//! Work rows: how decisions change them, how attempts begin and are given back.

use std::time::Duration;

use refire_core::execution::Command;

use super::Lab;
use super::stage::{
    NODE, OTHER_NODE, Run, Stage, begin_by_node, http, side_by_side, two_steps, workflow_id,
};
use crate::{OpenCounts, Part, PartOutcome, Release, Want, WorkChange, WorkKey, WorkRow};

/// A row of a run, as the case wants it to be.
fn row(run: &Run, step: &str, change: impl FnOnce(&mut WorkRow)) -> WorkRow {
    let mut row = run.work.values().next().unwrap().clone();
    row.step = step.to_owned();
    change(&mut row);
    row
}

/// Changes the work of a run through an advance that says nothing else new: a pause that is
/// resumed in the same commit.
pub(super) async fn change(stage: &mut Stage, run: &mut Run, changes: Vec<WorkChange>) {
    let mut advance = stage.decide(&mut run.clone(), Command::Pause { by: None });
    let mut moved = run.clone();
    stage.decide(&mut moved, Command::Pause { by: None });
    let resume = stage.decide(&mut moved, Command::Resume { by: None });
    advance.events.extend(resume.events);
    advance.update = resume.update;
    moved.work.clone_from(&run.work);
    for change in &changes {
        moved.expect_change(change);
    }
    advance.work = changes;
    let outcome = stage.commit_one(Part::Advance(Box::new(advance))).await;
    assert_eq!(outcome, PartOutcome::Done);
    *run = moved;
    stage.check(run).await;
}

async fn one_run(lab: &dyn Lab) -> (Stage, Run) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b", "c"])).await;
    let run = stage.admit(&workflow, "{}").await;
    (stage, run)
}

fn key(row: &WorkRow) -> WorkKey {
    row.key()
}

pub async fn put_replaces_the_steps_row(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let due = stage.now.plus(Duration::from_secs(10));
    let changed = row(&run, "a", |row| {
        row.attempt = 2;
        row.is_retry = true;
        row.due_at = Some(due);
        row.limit_key = Some("customer \u{0} ü".to_owned());
        row.owner = Some(NODE);
        (row.begun, row.begun_at) = (true, Some(due));
        row.priority = 1;
    });
    change(&mut stage, &mut run, vec![WorkChange::Put(changed)]).await;
    let back = row(&run, "a", |row| {
        *row = WorkRow {
            attempt: 3,
            owner: None,
            begun: false,
            begun_at: None,
            ..row.clone()
        }
    });
    change(&mut stage, &mut run, vec![WorkChange::Put(back)]).await;
}

pub async fn restore_spares_the_running_attempt(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let began = stage.now;
    let running = row(&run, "a", |row| {
        row.attempt = 2;
        row.owner = Some(NODE);
        (row.begun, row.begun_at) = (true, Some(began));
    });
    change(&mut stage, &mut run, vec![WorkChange::Put(running)]).await;
    let fresh = |step: &str, attempt| {
        row(&run, step, |row| {
            row.attempt = attempt;
            row.owner = None;
            (row.begun, row.begun_at) = (false, None);
        })
    };
    let changes = vec![
        WorkChange::Restore(fresh("a", 2)),
        WorkChange::Restore(fresh("b", 2)),
        WorkChange::Restore(fresh("new", 1)),
    ];
    let another_attempt = fresh("a", 3);
    change(&mut stage, &mut run, changes).await;
    assert!(run.work["a"].begun, "the running attempt stays");
    change(
        &mut stage,
        &mut run,
        vec![WorkChange::Restore(another_attempt)],
    )
    .await;
    assert!(!run.work["a"].begun, "another attempt replaces it");
}

pub async fn remove_takes_one_or_all(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let absent = "nobody".to_owned();
    let changes = vec![
        WorkChange::Remove {
            step: "b".to_owned(),
        },
        WorkChange::Remove { step: absent },
    ];
    change(&mut stage, &mut run, changes).await;
    assert_eq!(run.work.len(), 2);
    change(&mut stage, &mut run, vec![WorkChange::RemoveAll]).await;
    assert_eq!(run.work.len(), 0);
}

pub async fn pausing_removes_what_has_not_begun(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let begun = row(&run, "b", |row| {
        row.owner = Some(NODE);
        row.begun = true;
    });
    let owned = row(&run, "c", |row| row.owner = Some(NODE));
    change(
        &mut stage,
        &mut run,
        vec![WorkChange::Put(begun), WorkChange::Put(owned)],
    )
    .await;
    change(&mut stage, &mut run, vec![WorkChange::RemoveUnbegun]).await;
    assert_eq!(run.work.keys().collect::<Vec<_>>(), ["b"]);
}

pub async fn begin_marks_only_owned_rows_of_that_attempt(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let owned = row(&run, "a", |row| row.owner = Some(NODE));
    let other = row(&run, "b", |row| {
        row.owner = Some(NODE);
        row.attempt = 2;
    });
    change(
        &mut stage,
        &mut run,
        vec![WorkChange::Put(owned), WorkChange::Put(other)],
    )
    .await;
    let gone = WorkKey {
        execution: stage.id(),
        step: "a".to_owned(),
    };
    let begin = ["a", "b", "c"]
        .map(|step| (key(&run.work[step]), 1))
        .into_iter();
    let begin: Vec<_> = begin.chain([(gone, 1)]).collect();
    let outcome = stage.commit_one(begin_by_node(begin.clone())).await;
    let only_a = PartOutcome::Begun(vec![true, false, false, false]);
    assert_eq!(outcome, only_a, "the only one of these");
    let begins = |run: &mut Run, step: &str, at| {
        let row = run.work.get_mut(step).unwrap();
        (row.begun, row.begun_at) = (true, Some(at));
    };
    begins(&mut run, "a", stage.now);
    stage.check(&run).await;
    stage.wait(5);
    let again = stage.commit_one(begin_by_node(begin)).await;
    assert_eq!(again, only_a, "saying it twice is harmless");
    stage.check(&run).await;
    let nothing = stage.commit_one(begin_by_node(Vec::new())).await;
    assert_eq!(nothing, PartOutcome::Begun(Vec::new()));
    let both = ["a", "b"].map(|step| (key(&run.work[step]), run.work[step].attempt));
    let outcome = stage.commit_one(begin_by_node(both.to_vec())).await;
    assert_eq!(outcome, PartOutcome::Begun(vec![true, true]));
    begins(&mut run, "b", stage.now);
    stage.check(&run).await;
}

/// A pause between the claim and the beginning takes the row away.
pub async fn what_was_withdrawn_does_not_begin(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    let mut run = stage.admit(&workflow, "{}").await;
    let claimed = stage.claim(vec![Want::any(workflow.id.clone(), 9)]).await;
    assert_eq!(claimed.len(), 1);
    stage.send(&mut run, Command::Pause { by: None }).await;
    let begin = begin_by_node(vec![(key(&claimed[0]), 1)]);
    let nothing = PartOutcome::Begun(vec![false]);
    assert_eq!(stage.commit_one(begin).await, nothing);
    stage.check(&run).await;
}

/// What has no time yet gets one when it is given back, so that it queues behind older work.
pub async fn released_work_has_a_due_time(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let owned = ["a", "b"].map(|step| {
        WorkChange::Put(row(&run, step, |row| {
            row.owner = Some(NODE);
            row.due_at = None;
        }))
    });
    change(&mut stage, &mut run, owned.to_vec()).await;
    stage.wait(5);
    let later = stage.now.plus(Duration::from_secs(60));
    let work = vec![
        (key(&run.work["a"]), None),
        (key(&run.work["b"]), Some(later)),
    ];
    let release = Part::Release(Release { node: NODE, work });
    assert_eq!(stage.commit_one(release).await, PartOutcome::Done);
    for (step, due_at) in [("a", stage.now), ("b", later)] {
        let row = run.work.get_mut(step).unwrap();
        row.owner = None;
        row.due_at = Some(due_at);
    }
    stage.check(&run).await;
}

pub async fn release_gives_back_what_was_owned(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let due = stage.now.plus(Duration::from_secs(30));
    let rows = vec![
        WorkChange::Put(row(&run, "a", |row| {
            row.owner = Some(NODE);
            (row.begun, row.begun_at) = (true, Some(stage.now));
        })),
        WorkChange::Put(row(&run, "b", |row| {
            row.owner = Some(NODE);
            row.due_at = Some(due);
        })),
        WorkChange::Put(row(&run, "c", |row| row.owner = Some(OTHER_NODE))),
    ];
    change(&mut stage, &mut run, rows).await;
    let later = stage.now.plus(Duration::from_secs(60));
    let work = vec![
        (key(&run.work["a"]), Some(later)),
        (key(&run.work["b"]), None),
        (key(&run.work["c"]), None),
    ];
    let release = Part::Release(Release { node: NODE, work });
    assert_eq!(stage.commit_one(release).await, PartOutcome::Done);
    for (step, due_at) in [("a", Some(later)), ("b", Some(due))] {
        let row = run.work.get_mut(step).unwrap();
        row.owner = None;
        (row.begun, row.begun_at) = (false, None);
        row.due_at = due_at;
    }
    stage.check(&run).await;
}

pub async fn orphans_are_what_others_own(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let mut expected = Vec::new();
    for n in 0..6 {
        let mut run = stage.admit(&workflow, "{}").await;
        let owner = [Some(OTHER_NODE), Some(NODE), None][n % 3];
        let owned = row(&run, "b", |row| {
            row.owner = owner;
            row.begun = n == 0;
        });
        change(&mut stage, &mut run, vec![WorkChange::Put(owned.clone())]).await;
        if owner == Some(OTHER_NODE) {
            let both = row(&run, "a", |row| row.owner = owner);
            change(&mut stage, &mut run, vec![WorkChange::Put(both.clone())]).await;
            expected.extend([both, owned]);
        }
    }
    stage.join(NODE).await;
    let mut found: Vec<WorkRow> = Vec::new();
    loop {
        let after = found.last().map(WorkRow::key);
        let page = stage.store.orphans(after.as_ref(), 3).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(found, expected, "in the order of their keys, page by page");
}

pub async fn a_node_finds_what_it_owns_and_is_due(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let now = stage.now.plus(Duration::from_secs(60));
    let later = now.plus(Duration::from_micros(1));
    let mut expected = Vec::new();
    for (owner, due_at, begun) in [
        (Some(NODE), Some(now), false),
        (Some(NODE), None, true),
        (Some(NODE), Some(later), false),
        (Some(OTHER_NODE), Some(now), false),
        (None, Some(now), false),
        (Some(NODE), Some(now), true),
    ] {
        let mut run = stage.admit(&workflow, "{}").await;
        let changed = row(&run, "b", |row| {
            row.owner = owner;
            row.due_at = due_at;
            row.begun = begun;
        });
        change(&mut stage, &mut run, vec![WorkChange::Put(changed.clone())]).await;
        if owner == Some(NODE) && due_at != Some(later) {
            expected.push(changed);
        }
    }
    let mut found: Vec<WorkRow> = Vec::new();
    loop {
        let after = found.last().map(WorkRow::key);
        let page = stage.store.owned_due(NODE, now, after.as_ref(), 2).await;
        let page = page.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(found, expected, "in the order of their keys, page by page");
}

pub async fn open_counts_follow_the_work(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&side_by_side("orders", &["a", "b"])).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    let mut first = stage.admit(&orders, "{}").await;
    let begun = row(&first, "a", |row| {
        row.owner = Some(NODE);
        row.begun = true;
    });
    change(&mut stage, &mut first, vec![WorkChange::Put(begun)]).await;
    let mut paused = stage.admit(&refunds, "{}").await;
    stage.send(&mut paused, Command::Pause { by: None }).await;
    let mut waiting = stage.admit(&refunds, "{}").await;
    stage.fail(&mut waiting, "a", http("503")).await;
    stage.dead_letter(&refunds, "404").await;
    let store = &stage.store;
    let of = async |id: &str| store.open_counts(Some(&workflow_id(id))).await.unwrap();
    let orders = OpenCounts {
        executions: 1,
        running: 1,
        waiting: 1,
    };
    let refunds = OpenCounts {
        executions: 2,
        running: 0,
        waiting: 1,
    };
    assert_eq!(of("orders").await, orders);
    assert_eq!(of("refunds").await, refunds);
    assert_eq!(of("nobody-knows").await, OpenCounts::default());
    let all = OpenCounts {
        executions: 3,
        running: 1,
        waiting: 2,
    };
    assert_eq!(stage.store.open_counts(None).await.unwrap(), all);
    for (id, max, expected) in [
        ("orders", 9, 1),
        ("refunds", 9, 2),
        ("refunds", 1, 1),
        ("nobody-knows", 9, 0),
    ] {
        let open = stage.store.open_executions(&workflow_id(id), max).await;
        assert_eq!(open.unwrap(), expected, "{id} {max}");
    }
}

pub async fn release_removes_work_of_a_paused_execution(lab: &dyn Lab) {
    let (mut stage, mut run) = one_run(lab).await;
    let begun = WorkChange::Put(row(&run, "a", |row| {
        row.owner = Some(NODE);
        row.begun = true;
    }));
    change(&mut stage, &mut run, vec![begun]).await;
    stage.send(&mut run, Command::Pause { by: None }).await;
    let work = vec![(key(&run.work["a"]), None)];
    let release = Part::Release(Release { node: NODE, work });
    assert_eq!(stage.commit_one(release).await, PartOutcome::Done);
    run.work.remove("a");
    stage.check(&run).await;
}
