//! Claims when keys and retries have no room: what waits for room is passed over, however much
//! of it there is.

use std::collections::HashMap;
use std::time::Duration;

use refire_core::definition::Workflow;
use refire_core::id::ExecutionId;

use super::Lab;
use super::stage::{NODE, OTHER_NODE, Stage, side_by_side, workflow_id};
use crate::{Bounds, Claim, Part, PartOutcome, Release, Want, WorkChange, WorkKey, WorkRow};

/// More rows than any claim may look at one by one.
const CROWD: usize = 2_500;

/// Admits so many executions of one step in one batch, each with its work changed.
async fn crowd(
    stage: &mut Stage,
    workflow: &Workflow,
    count: usize,
    change: impl Fn(usize, &mut WorkRow),
) -> Vec<WorkRow> {
    let (mut rows, mut parts) = (Vec::new(), Vec::new());
    for n in 0..count {
        let with = stage.plain_start("{}");
        let (_, mut admit) = stage.start(workflow, with);
        let WorkChange::Put(row) = &mut admit.work[0] else {
            panic!("a start puts work")
        };
        change(n, row);
        rows.push(row.clone());
        parts.push(Part::Admit(Box::new(admit)));
    }
    assert_eq!(stage.commit(parts).await, vec![PartOutcome::Done; count]);
    rows
}

async fn one(stage: &mut Stage, workflow: &Workflow, key: Option<&str>) -> ExecutionId {
    let keyed = |_, row: &mut WorkRow| row.limit_key = key.map(ToOwned::to_owned);
    crowd(stage, workflow, 1, keyed).await[0].execution
}

/// Executions that another node runs: so many of each key.
async fn run(stage: &mut Stage, workflow: &Workflow, in_flight: &[(&str, usize)]) {
    for (key, count) in in_flight {
        crowd(stage, workflow, *count, |_, row| {
            row.limit_key = Some((*key).to_owned());
            row.owner = Some(OTHER_NODE);
            row.begun = true;
        })
        .await;
    }
}

fn want(up_to: u32, retries_up_to: u32, max_per_key: Option<u32>) -> Want {
    let bounds = max_per_key.map(|max_per_key| Bounds {
        max: None,
        max_per_key: Some(max_per_key),
    });
    Want {
        retries_up_to,
        bounds,
        ..Want::any(workflow_id("orders"), up_to)
    }
}

async fn claim(stage: &mut Stage, want: Want) -> Vec<ExecutionId> {
    let rows = stage.claim(vec![want]).await;
    rows.iter().map(|row| row.execution).collect()
}

async fn open(lab: &dyn Lab) -> (Stage, Workflow) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    (stage, workflow)
}

pub async fn claims_pass_over_what_has_no_room(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    // In the order of admission: key, whether it is a retry.
    let plan = [
        ("x", false),
        ("x", false),
        ("y", true),
        ("y", true),
        ("z", true),
        ("z", false),
    ];
    let rows = crowd(&mut stage, &workflow, plan.len(), |n, row| {
        row.limit_key = Some(plan[n].0.to_owned());
        row.is_retry = plan[n].1;
    })
    .await;
    let ids: Vec<_> = rows.iter().map(|row| row.execution).collect();
    run(&mut stage, &workflow, &[("x", 1)]).await;
    let claimed = claim(&mut stage, want(100, 1, Some(2))).await;
    assert_eq!(claimed, [ids[0], ids[2], ids[5]]);
    run(&mut stage, &workflow, &[("z", 1)]).await;
    let claimed = claim(&mut stage, want(100, 100, Some(2))).await;
    assert_eq!(claimed, [ids[3]]);
    let rest = claim(&mut stage, want(100, 100, None)).await;
    assert_eq!(rest, [ids[1], ids[4]], "they were left for later");
}

pub async fn a_full_key_hides_no_other(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    crowd(&mut stage, &workflow, CROWD, |_, row| {
        row.limit_key = Some("x".to_owned());
    })
    .await;
    let other = one(&mut stage, &workflow, Some("y")).await;
    run(&mut stage, &workflow, &[("x", 1)]).await;
    let claimed = claim(&mut stage, want(10, 10, Some(1))).await;
    assert_eq!(claimed, [other]);
    assert_eq!(claim(&mut stage, want(10, 10, Some(1))).await, []);
}

/// A key that fills up during the claim hides nobody either, at any priority.
pub async fn keys_that_fill_up_hide_no_other(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    let now = stage.now;
    let first = crowd(&mut stage, &workflow, CROWD, |n, row| {
        row.priority = 1;
        row.limit_key = Some(["w", "x"][n % 2].to_owned());
        row.due_at = (n >= CROWD / 2).then_some(now);
    })
    .await;
    let second = crowd(&mut stage, &workflow, CROWD, |n, row| {
        row.priority = 3;
        row.limit_key = Some(["x", "y"][n / (CROWD - 1)].to_owned());
        row.due_at = Some(now);
    })
    .await;
    let keyless = one(&mut stage, &workflow, None).await;
    run(&mut stage, &workflow, &[("x", 1), ("v", 9)]).await;
    let claimed = claim(&mut stage, want(100, 100, Some(2))).await;
    let expected = [&first[0], &first[1], &first[2], &second[CROWD - 1]];
    let mut expected: Vec<_> = expected.iter().map(|row| row.execution).collect();
    expected.push(keyless);
    assert_eq!(claimed, expected);
}

pub async fn waiting_retries_hide_no_first_attempt(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    let retries = crowd(&mut stage, &workflow, CROWD, |_, row| {
        row.is_retry = true;
        row.attempt = 2;
    })
    .await;
    let first = one(&mut stage, &workflow, None).await;
    assert_eq!(claim(&mut stage, want(10, 0, None)).await, [first]);
    let first = one(&mut stage, &workflow, None).await;
    let claimed = claim(&mut stage, want(10, 2, None)).await;
    let expected = [retries[0].execution, retries[1].execution, first];
    assert_eq!(claimed, expected, "also when their room is used up");
}

/// Keys are compared as they are: with quotes, zeros and characters of every width.
pub async fn strange_keys_are_told_apart(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    let full = ["a\u{0}b", "\"", "\\u0061", "ü", "1", "", "\u{1f600}"];
    let free = [
        "a", "a\u{0}", "a\u{0}c", "\\", "u\u{308}", "01", "\u{0}", "1.0",
    ];
    for key in full {
        crowd(&mut stage, &workflow, 300, |_, row| {
            row.limit_key = Some(key.to_owned());
        })
        .await;
    }
    let mut expected = Vec::new();
    for key in free {
        expected.push(one(&mut stage, &workflow, Some(key)).await);
    }
    let keyless = one(&mut stage, &workflow, None).await;
    expected.push(keyless);
    let in_flight = full.map(|key| (key, 1));
    run(&mut stage, &workflow, &in_flight).await;
    let claimed = claim(&mut stage, want(1_000, 0, Some(1))).await;
    assert_eq!(claimed, expected);
    let keyless = one(&mut stage, &workflow, None).await;
    let claimed = claim(&mut stage, want(1_000, 0, Some(0))).await;
    assert_eq!(claimed, [keyless], "no room for any key");
}

/// Whatever is mixed, a claim takes what a walk over all rows in order would take.
pub async fn claims_take_what_a_full_walk_would(lab: &dyn Lab) {
    let (mut stage, workflow) = open(lab).await;
    let now = stage.now;
    // The same numbers every time, and no pattern in them.
    let dice = |n: usize, of: u64| ((n as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 33) % of;
    let rows = crowd(&mut stage, &workflow, 1_000, |n, row| {
        row.priority = 1 + (dice(n, 3) as u8);
        row.is_retry = dice(n + 5_000, 3) == 0;
        row.limit_key = match dice(n + 10_000, 12) {
            0 => None,
            key => Some(format!("k{}", key / 2)),
        };
        row.due_at = match dice(n + 15_000, 4) {
            0 => None,
            1 => Some(now.plus(Duration::from_secs(60))),
            wait => Some(now.minus(Duration::from_secs(wait))),
        };
    })
    .await;
    let mut waiting: Vec<WorkRow> = rows
        .into_iter()
        .filter(|row| row.due_at.is_none_or(|due_at| due_at <= now))
        .collect();
    waiting.sort_by_key(|row| (row.priority, row.due_at, row.execution));
    let mut running: HashMap<String, u32> = HashMap::new();
    for (up_to, retries_up_to, max) in
        [(7, 3, 1), (64, 5, 4), (40, 40, 9), (300, 20, 50), (9, 9, 0)]
    {
        run(&mut stage, &workflow, &[("k1", 2), ("k2", 1)]).await;
        *running.entry("k1".to_owned()).or_default() += 2;
        *running.entry("k2".to_owned()).or_default() += 1;
        let want = want(up_to, retries_up_to, Some(max));
        let expected = walk(&mut waiting, &mut running, &want, max);
        assert_eq!(claim(&mut stage, want).await, expected);
    }
}

/// Takes rows in order, one by one, as far as there is room.
fn walk(
    waiting: &mut Vec<WorkRow>,
    running: &mut HashMap<String, u32>,
    want: &Want,
    max: u32,
) -> Vec<ExecutionId> {
    let (mut taken, mut retries) = (Vec::new(), 0);
    waiting.retain(|row| {
        let key = row.limit_key.as_ref();
        let has_room = taken.len() < want.up_to as usize
            && (!row.is_retry || retries < want.retries_up_to)
            && key.is_none_or(|key| running.get(key).copied().unwrap_or(0) < max);
        if has_room {
            taken.push(row.execution);
            retries += u32::from(row.is_retry);
            if let Some(key) = key {
                *running.entry(key.clone()).or_default() += 1;
            }
        }
        !has_room
    });
    taken
}

/// Claims as another node.
async fn claim_elsewhere(stage: &mut Stage, want: Want) -> Vec<ExecutionId> {
    let claim = Claim {
        node: OTHER_NODE,
        wants: vec![want],
    };
    match stage.commit_one(Part::Claim(claim)).await {
        PartOutcome::Claimed(rows) => rows.iter().map(|row| row.execution).collect(),
        other => panic!("{other:?}"),
    }
}

fn bounded(max: Option<u32>, max_per_key: Option<u32>) -> Want {
    let bounds = Bounds { max, max_per_key };
    Want {
        bounds: Some(bounds),
        ..Want::any(workflow_id("orders"), 10)
    }
}

pub async fn bounds_hold_over_all_nodes(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    let later = stage.now.plus(Duration::from_secs(60));
    // A timer that another node holds is not in flight.
    let timer = crowd(&mut stage, &workflow, 1, |_, row| {
        row.owner = Some(OTHER_NODE);
        row.due_at = Some(later);
    });
    let timer = timer.await[0].key();
    let ids: Vec<ExecutionId> = crowd(&mut stage, &workflow, 6, |_, _| {})
        .await
        .iter()
        .map(|row| row.execution)
        .collect();
    let three = || bounded(Some(3), None);
    let two = Want {
        up_to: 2,
        ..three()
    };
    assert_eq!(claim(&mut stage, two).await, ids[..2]);
    assert_eq!(claim_elsewhere(&mut stage, three()).await, ids[2..3]);
    assert!(claim(&mut stage, three()).await.is_empty());
    let work = vec![(
        WorkKey {
            execution: ids[0],
            step: "a".to_owned(),
        },
        Some(later),
    )];
    let release = Part::Release(Release { node: NODE, work });
    stage.commit_one(release).await;
    assert_eq!(claim_elsewhere(&mut stage, three()).await, ids[3..4]);
    // The timer comes due, and counts from then on.
    stage.wait(61);
    let work = vec![(
        WorkKey {
            execution: ids[3],
            step: "a".to_owned(),
        },
        None,
    )];
    let release = Part::Release(Release {
        node: OTHER_NODE,
        work,
    });
    stage.commit_one(release).await;
    assert!(
        claim(&mut stage, three()).await.is_empty(),
        "{timer:?} counts"
    );
}

pub async fn bounds_of_keys_hold_over_all_nodes(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&side_by_side("orders", &["a"])).await;
    let mut ids = Vec::new();
    for key in [Some("x"), Some("x"), None, Some("y"), Some("x"), None] {
        ids.push(one(&mut stage, &workflow, key).await);
    }
    let per_key = || bounded(None, Some(1));
    assert_eq!(
        claim_elsewhere(&mut stage, bounded(Some(1), Some(1))).await,
        ids[..1]
    );
    assert_eq!(claim(&mut stage, per_key()).await, [ids[2], ids[3], ids[5]]);
    assert!(claim(&mut stage, per_key()).await.is_empty());
    let work = vec![(
        WorkKey {
            execution: ids[0],
            step: "a".to_owned(),
        },
        None,
    )];
    let release = Part::Release(Release {
        node: OTHER_NODE,
        work,
    });
    stage.commit_one(release).await;
    let next = claim(&mut stage, per_key()).await;
    assert_eq!(next.len(), 1, "one of the key's three: {next:?}");
}

/// Bounds count executions: the parallel steps of one that is in flight need no room.
pub async fn parallel_steps_of_one_execution_run_together(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let all_bounds = [(Some(1), None), (None, Some(1)), (Some(1), Some(1))];
    for (bounds, name) in all_bounds.into_iter().zip(["by-max", "by-key", "by-both"]) {
        let workflow = stage.save(&side_by_side(name, &["a", "b", "c"])).await;
        let mut ids = Vec::new();
        for _ in 0..3 {
            ids.push(admit_keyed(&mut stage, &workflow, "x").await);
        }
        let one = |up_to| Want {
            bounds: bounded(bounds.0, bounds.1).bounds,
            ..Want::any(workflow.id.clone(), up_to)
        };
        let two = |up_to| Want {
            bounds: bounded(bounds.0.map(|_| 2), bounds.1.map(|_| 2)).bounds,
            ..Want::any(workflow.id.clone(), up_to)
        };
        assert_eq!(claim_steps(&mut stage, one(1)).await, [(ids[0], "a")]);
        let rest = claim_steps(&mut stage, one(1)).await;
        assert_eq!(rest, [(ids[0], "b")], "{name}: nothing else has room");
        // A second one finds room: all of it, and what is left of the first, in their order.
        let both = claim_steps(&mut stage, two(3)).await;
        let expected = [(ids[0], "c"), (ids[1], "a"), (ids[1], "b")];
        assert_eq!(both, expected, "{name}");
        let rest = claim_steps(&mut stage, two(9)).await;
        assert_eq!(rest, [(ids[1], "c")], "{name}");
        assert!(claim_steps(&mut stage, two(9)).await.is_empty(), "{name}");
    }
}

/// Admits an execution whose work has this key.
async fn admit_keyed(stage: &mut Stage, workflow: &Workflow, key: &str) -> ExecutionId {
    let with = stage.plain_start("{}");
    let (_, mut admit) = stage.start(workflow, with);
    for change in &mut admit.work {
        let WorkChange::Put(row) = change else {
            panic!("a start puts work")
        };
        row.limit_key = Some(key.to_owned());
    }
    let id = admit.row.id;
    let outcome = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(outcome, PartOutcome::Done);
    id
}

/// The rows of a claim: whose, and which step.
async fn claim_steps(stage: &mut Stage, want: Want) -> Vec<(ExecutionId, &'static str)> {
    let rows = stage.claim(vec![want]).await;
    let names = ["a", "b", "c"].into_iter();
    rows.iter()
        .map(|row| {
            let name = names.clone().find(|name| *name == row.step);
            (row.execution, name.unwrap())
        })
        .collect()
}
