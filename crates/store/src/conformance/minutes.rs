//! The numbers of minutes: added to, added up, and gone after their time.

use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::minute::{MINUTE, Minute, OfWorkflow, floor};
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Stage, two_steps};
use crate::{MinuteFilter, Part, PartOutcome, Prune};

/// So many minutes after the beginning.
fn at(minutes: u32) -> Timestamp {
    floor(BEGINNING, MINUTE * 60).plus(MINUTE * minutes)
}

fn of(workflow: &WorkflowId, minutes: u32, minute: Minute) -> OfWorkflow {
    OfWorkflow {
        workflow: workflow.clone(),
        at: at(minutes),
        minute,
    }
}

fn ended(completed: u64, failed: u64, longest: u64) -> Minute {
    Minute {
        completed,
        failed,
        started: 1,
        dead_lettered: 2,
        cancelled: 3,
        retries: 4,
        recovered: 5,
        given_up: 6,
        fired: 7,
        missed: 8,
        duration_ms: 9,
        duration_max_ms: longest,
    }
}

fn all(workflow: Option<&WorkflowId>) -> MinuteFilter {
    MinuteFilter {
        workflow: workflow.cloned(),
        from: at(0),
        to: at(100),
    }
}

/// A stage with two workflows and some minutes.
async fn stage(lab: &dyn Lab) -> (Stage, WorkflowId, WorkflowId) {
    let mut stage = Stage::open(lab).await;
    let (one, other) = (
        stage.save(&two_steps("a-one")).await.id,
        stage.save(&two_steps("b-other")).await.id,
    );
    let minutes = vec![
        of(&one, 0, ended(1, 0, 50)),
        of(&one, 7, ended(0, 2, 9)),
        of(&other, 7, ended(3, 0, 1)),
        of(&WorkflowId::new("never").unwrap(), 7, ended(9, 9, 9)),
    ];
    let added = stage.commit_one(Part::AddMinutes(minutes)).await;
    assert_eq!(added, PartOutcome::Done);
    (stage, one, other)
}

pub async fn minutes_are_added_to(lab: &dyn Lab) {
    let (mut stage, one, other) = stage(lab).await;
    let more = vec![of(&one, 7, ended(1, 1, 70)), of(&one, 8, ended(0, 0, 0))];
    stage.commit_one(Part::AddMinutes(more)).await;
    let mut sum = ended(0, 2, 9);
    sum.add(&ended(1, 1, 70));
    let found = stage.store.minutes(&all(Some(&one)), 9).await.unwrap();
    let expected = [
        of(&one, 8, ended(0, 0, 0)),
        of(&one, 7, sum),
        of(&one, 0, ended(1, 0, 50)),
    ];
    assert_eq!(found, expected);
    let some = stage.store.minutes(&all(None), 3).await.unwrap();
    let names: Vec<_> = some.iter().map(|it| (&it.workflow, it.at)).collect();
    assert_eq!(names, [(&one, at(8)), (&one, at(7)), (&other, at(7))]);
}

pub async fn minutes_are_added_up(lab: &dyn Lab) {
    let (stage, one, other) = stage(lab).await;
    let store = &stage.store;
    let points = store.minute_points(&all(None), MINUTE * 5).await.unwrap();
    let found: Vec<_> = points
        .iter()
        .map(|it| {
            (
                it.at,
                it.sum.completed,
                it.sum.failed,
                it.sum.duration_max_ms,
            )
        })
        .collect();
    assert_eq!(found, [(at(0), 1, 0, 50), (at(5), 3, 2, 9)]);
    assert_eq!(points[1].sum.duration_ms, 18);
    let sums = store.minute_sums(&all(None)).await.unwrap();
    let found: Vec<_> = sums
        .iter()
        .map(|it| (&it.workflow, it.sum.failed, it.failed_at, it.completed_at))
        .collect();
    let expected = [
        (&one, 2, Some(at(7)), Some(at(0))),
        (&other, 0, None, Some(at(7))),
    ];
    assert_eq!(found, expected);
    let later = MinuteFilter {
        from: at(1),
        ..all(Some(&one))
    };
    let sums = store.minute_sums(&later).await.unwrap();
    assert_eq!((sums.len(), sums[0].completed_at), (1, None));
    let before = MinuteFilter {
        to: at(7),
        ..all(None)
    };
    assert_eq!(store.minute_sums(&before).await.unwrap().len(), 1);
}

pub async fn old_minutes_go(lab: &dyn Lab) {
    let (mut stage, one, _) = stage(lab).await;
    let prune = |limit| {
        let before = at(7).plus(Duration::from_micros(1));
        Part::Prune(Prune::Minutes { before, limit })
    };
    assert_eq!(stage.commit_one(prune(2)).await, PartOutcome::pruned(2));
    let left = stage.store.minutes(&all(None), 9).await.unwrap();
    assert_eq!(left.len(), 1);
    assert_ne!(left[0].workflow, one);
    assert_eq!(stage.commit_one(prune(9)).await, PartOutcome::pruned(1));
    assert_eq!(stage.commit_one(prune(9)).await, PartOutcome::pruned(0));
}
