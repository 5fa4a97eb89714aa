//! Admission: new executions and the keys that must not be used twice.

use std::time::Duration;

use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{Stage, two_steps};
use crate::{Admit, IdempotencyClaim, Part, PartOutcome};

fn claim(key: u8, body: u8, expires_at: Timestamp) -> IdempotencyClaim {
    IdempotencyClaim {
        scope: "orders".to_owned(),
        key_hash: [key; 16],
        body_hash: [body; 8],
        expires_at,
        over: None,
    }
}

fn part(admit: Admit) -> Part {
    Part::Admit(Box::new(admit))
}

fn duplicate(execution: ExecutionId, body_differs: bool) -> PartOutcome {
    PartOutcome::Duplicate {
        execution,
        body_differs,
    }
}

/// An execution is there with its state, its log and its work.
pub async fn a_new_execution_is_found_again(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let run = stage.admit(&workflow, "{\"customer\":\"c-1\"}").await;
    stage.check(&run).await;
    let unknown = stage.id();
    stage.check_absent(unknown).await;
}

/// The second use of a key changes nothing and names the first execution.
pub async fn a_used_key_gives_the_first_execution(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let expires_at = stage.now.plus(Duration::from_secs(60));
    let mut admit_with = async |body: u8| {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(claim(1, body, expires_at));
        let outcome = stage.commit_one(part(admit)).await;
        match outcome {
            PartOutcome::Done => stage.check(&run).await,
            _ => stage.check_absent(run.id).await,
        }
        (run.id, outcome)
    };
    let (first, outcome) = admit_with(1).await;
    assert_eq!(outcome, PartOutcome::Done);
    assert_eq!(admit_with(1).await.1, duplicate(first, false));
    assert_eq!(
        admit_with(2).await.1,
        duplicate(first, true),
        "another body is told apart"
    );
}

/// Both uses of a key arrive in the same batch: the first in order wins.
pub async fn one_key_twice_in_a_batch(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let expires_at = stage.now.plus(Duration::from_secs(60));
    let (mut runs, mut parts) = (Vec::new(), Vec::new());
    for body in [1, 2, 1] {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(claim(1, body, expires_at));
        runs.push(run);
        parts.push(part(admit));
    }
    let outcomes = stage.commit(parts).await;
    let first = runs[0].id;
    let expected = [
        PartOutcome::Done,
        duplicate(first, true),
        duplicate(first, false),
    ];
    assert_eq!(outcomes, expected);
    stage.check(&runs[0]).await;
    stage.check_absent(runs[1].id).await;
    stage.check_absent(runs[2].id).await;
}

/// A key is free from the very moment it expires, and then belongs to the next execution.
pub async fn an_expired_key_is_free_again(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut ids = Vec::new();
    for expected_new in [true, false, true, false] {
        let expires_at = stage.now.plus(Duration::from_secs(10));
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(claim(1, 1, expires_at));
        let outcome = stage.commit_one(part(admit)).await;
        if expected_new {
            assert_eq!(outcome, PartOutcome::Done);
            ids.push(run.id);
        } else {
            assert_eq!(outcome, duplicate(ids[ids.len() - 1], false));
        }
        stage.wait(5);
    }
    assert_eq!(ids.len(), 2);
}

/// A key whose time is not over is taken only from the execution that the caller has seen, and by one.
pub async fn a_key_is_taken_over_from_who_was_seen(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let expires_at = stage.now.plus(Duration::from_secs(60));
    let admit = |stage: &mut Stage, over| {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(IdempotencyClaim {
            over,
            ..claim(1, 1, expires_at)
        });
        (run.id, admit)
    };
    let (first, begun) = admit(&mut stage, None);
    assert_eq!(stage.commit_one(part(begun)).await, PartOutcome::Done);
    let unknown = Some(stage.id());
    let (_, wrong) = admit(&mut stage, unknown);
    assert_eq!(stage.commit_one(part(wrong)).await, duplicate(first, false));
    // What is refused for another reason takes it from nobody.
    let (_, mut stale) = admit(&mut stage, Some(first));
    (stale.only_newest, stale.row.workflow_version) = (true, 9);
    assert_eq!(stage.commit_one(part(stale)).await, PartOutcome::NotNewest);
    // Of two in a batch, and of one that comes later, the first wins.
    let (second, over) = admit(&mut stage, Some(first));
    let (late, also) = admit(&mut stage, Some(first));
    let outcomes = stage.commit(vec![part(over), part(also.clone())]).await;
    assert_eq!(outcomes, [PartOutcome::Done, duplicate(second, false)]);
    assert_eq!(stage.commit_one(part(also)).await, duplicate(second, false));
    stage.check_absent(late).await;
    let (_, plain) = admit(&mut stage, None);
    assert_eq!(
        stage.commit_one(part(plain)).await,
        duplicate(second, false)
    );
}

/// The same key in another scope is another key.
pub async fn keys_of_other_scopes_do_not_meet(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let expires_at = stage.now.plus(Duration::from_secs(60));
    for scope in ["orders", "refunds"] {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        let scope = scope.to_owned();
        admit.claim = Some(IdempotencyClaim {
            scope,
            ..claim(1, 1, expires_at)
        });
        assert_eq!(stage.commit_one(part(admit)).await, PartOutcome::Done);
        stage.check(&run).await;
    }
}

/// An id that is there already is refused, and what is there stays.
pub async fn an_id_is_admitted_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let with = stage.plain_start("{\"n\":1}");
    let mut again = with.clone();
    let (run, admit) = stage.start(&workflow, with);
    assert_eq!(stage.commit_one(part(admit)).await, PartOutcome::Done);
    again.input = super::stage::json("{\"n\":2}");
    let (_, admit) = stage.start(&workflow, again);
    assert_eq!(stage.commit_one(part(admit)).await, PartOutcome::Conflict);
    stage.check(&run).await;
}

/// A deleted workflow takes nothing new until it is saved again, within a batch too.
pub async fn a_deleted_workflow_is_refused(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let source = two_steps("orders");
    let workflow = stage.save(&source).await;
    let admission = |stage: &mut Stage| {
        let with = stage.plain_start("{}");
        let (run, admit) = stage.start(&workflow, with);
        (run, part(admit))
    };
    let delete = || Part::DeleteWorkflow {
        id: workflow.id.clone(),
    };
    let (run, admit) = admission(&mut stage);
    let outcomes = stage.commit(vec![delete(), admit]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::NoSuchWorkflow]);
    stage.check_absent(run.id).await;
    let (run, admit) = admission(&mut stage);
    let refused = stage.commit_one(admit).await;
    assert_eq!(refused, PartOutcome::NoSuchWorkflow);
    stage.check_absent(run.id).await;
    let put = Part::PutWorkflow(Box::new(super::stage::definition(&source).0));
    let (run, admit) = admission(&mut stage);
    let outcomes = stage.commit(vec![put, admit]).await;
    assert_eq!(outcomes[1], PartOutcome::Done, "it is back");
    stage.check(&run).await;
}

/// There are no executions without a workflow.
pub async fn an_unknown_workflow_is_refused(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (_, workflow) = super::stage::definition(&two_steps("nobody-knows"));
    let with = stage.plain_start("{}");
    let (run, admit) = stage.start(&workflow, with);
    assert_eq!(
        stage.commit_one(part(admit)).await,
        PartOutcome::NoSuchWorkflow
    );
    stage.check_absent(run.id).await;
}
