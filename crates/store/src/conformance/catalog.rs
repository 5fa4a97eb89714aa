//! Definitions: versions that never change, and workflows that come and go.

use refire_core::definition::WorkflowId;
use refire_core::execution::{Cancel, Command};
use refire_core::time::Timestamp;

use super::Lab;
use super::stage::{BEGINNING, Stage, definition, two_steps, workflow_id};
use crate::{Part, PartOutcome};

fn put(source: &str) -> Part {
    Part::PutWorkflow(Box::new(definition(source).0))
}

fn delete(id: &str) -> Part {
    Part::DeleteWorkflow {
        id: workflow_id(id),
    }
}

fn saved(version: u32, created: bool) -> PartOutcome {
    PartOutcome::Saved { version, created }
}

pub async fn new_content_makes_a_version(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let first = two_steps("orders");
    let second = first.replace("The orders", "All orders");
    assert_eq!(stage.commit_one(put(&first)).await, saved(1, true));
    stage.wait(60);
    assert_eq!(stage.commit_one(put(&second)).await, saved(2, true));
    let id = workflow_id("orders");
    let row = stage.store.workflow(&id).await.unwrap().unwrap();
    assert_eq!((row.version, &*row.name), (2, "All orders"));
    assert_eq!((row.created_at, row.updated_at), (BEGINNING, stage.now));
    assert_eq!((row.source, row.deleted_at), (second.clone(), None));
    for (version, source) in [(1, &first), (2, &second)] {
        let row = stage.store.version(&id, version).await.unwrap().unwrap();
        assert_eq!((row.version, &row.source), (version, source));
        assert_eq!(row.content_hash, definition(source).0.content_hash);
        assert_eq!(&*row.created_by, "ada");
    }
    assert_eq!(stage.store.version(&id, 3).await.unwrap(), None);
    let versions = stage.store.versions(&id).await.unwrap();
    let seen: Vec<_> = versions
        .iter()
        .map(|row| (row.version, &*row.source))
        .collect();
    assert_eq!(
        seen,
        [(2, ""), (1, "")],
        "newest first, without their texts"
    );
    let unknown = workflow_id("nobody-knows");
    assert_eq!(stage.store.workflow(&unknown).await.unwrap(), None);
    assert_eq!(stage.store.versions(&unknown).await.unwrap(), Vec::new());
}

/// Whoever names the version that he has seen saves over no other.
pub async fn an_expected_version_is_compared(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (first, id) = (two_steps("orders"), workflow_id("orders"));
    let second = first.replace("The orders", "All orders");
    let over = |source: &str, expected: u32| {
        let (mut put, _) = definition(source);
        put.expected = Some(expected);
        Part::PutWorkflow(Box::new(put))
    };
    let refused = PartOutcome::NotNewest;
    assert_eq!(stage.commit_one(over(&first, 1)).await, refused, "none yet");
    assert_eq!(stage.commit_one(over(&first, 0)).await, saved(1, true));
    assert_eq!(
        stage.commit_one(over(&second, 0)).await,
        refused,
        "there is one"
    );
    // In one batch the second finds what the first has saved.
    let both = vec![over(&second, 1), over(&first, 1)];
    assert_eq!(stage.commit(both).await, [saved(2, true), refused.clone()]);
    assert_eq!(stage.commit_one(over(&second, 2)).await, saved(2, false));
    assert_eq!(
        stage.commit_one(over(&second, 1)).await,
        refused,
        "equal content"
    );
    let row = stage.store.workflow(&id).await.unwrap().unwrap();
    assert_eq!((row.version, row.source), (2, second.clone()));
    assert_eq!(stage.commit_one(delete("orders")).await, PartOutcome::Done);
    assert_eq!(stage.commit_one(over(&second, 2)).await, refused, "deleted");
    assert_eq!(stage.commit_one(over(&second, 0)).await, saved(2, false));
}

pub async fn equal_content_makes_none(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let first = two_steps("orders");
    let second = first.replace("The orders", "All orders");
    let parts = vec![
        put(&first),
        put(&first),
        put(&second),
        put(&second),
        put(&first),
    ];
    let outcomes = stage.commit(parts).await;
    let expected = [
        saved(1, true),
        saved(1, false),
        saved(2, true),
        saved(2, false),
        saved(3, true),
    ];
    assert_eq!(outcomes, expected, "only the newest version is compared");
}

pub async fn deleted_ones_come_back(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let source = two_steps("orders");
    let id = workflow_id("orders");
    stage.commit_one(put(&source)).await;
    assert_eq!(stage.commit_one(delete("orders")).await, PartOutcome::Done);
    let row = stage.store.workflow(&id).await.unwrap().unwrap();
    assert_eq!(row.deleted_at, Some(stage.now));
    assert!(
        stage.store.version(&id, 1).await.unwrap().is_some(),
        "versions stay"
    );
    assert_eq!(
        stage.commit_one(delete("orders")).await,
        PartOutcome::NoSuchWorkflow
    );
    assert_eq!(
        stage.commit_one(delete("nobody-knows")).await,
        PartOutcome::NoSuchWorkflow
    );
    assert_eq!(stage.commit_one(put(&source)).await, saved(1, false));
    assert_eq!(
        stage.store.workflow(&id).await.unwrap().unwrap().deleted_at,
        None
    );
    stage.commit_one(delete("orders")).await;
    let changed = source.replace("The orders", "All orders");
    assert_eq!(
        stage.commit_one(put(&changed)).await,
        saved(2, true),
        "counting goes on"
    );
}

pub async fn open_executions_keep_a_workflow(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("orders")).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    stage.admit(&refunds, "{}").await;
    let mut ready = stage.admit(&orders, "{}").await;
    let mut paused = stage.admit(&orders, "{}").await;
    stage.send(&mut paused, Command::Pause { by: None }).await;
    let mut retrying = stage.admit(&orders, "{}").await;
    stage
        .fail(&mut retrying, "a", super::stage::http("503"))
        .await;
    stage.dead_letter(&orders, "404").await;
    let cancel = || Command::Cancel(Cancel::by(None));
    for (run, open) in [(&mut ready, 3), (&mut paused, 2), (&mut retrying, 1)] {
        let outcome = stage.commit_one(delete("orders")).await;
        assert_eq!(outcome, PartOutcome::OpenExecutions(open));
        stage.send(run, cancel()).await;
    }
    // One that is admitted in the same batch, before, counts too.
    let with = stage.plain_start("{}");
    let (mut late, admit) = stage.start(&orders, with);
    let outcomes = stage
        .commit(vec![Part::Admit(Box::new(admit)), delete("orders")])
        .await;
    assert_eq!(
        outcomes,
        [PartOutcome::Done, PartOutcome::OpenExecutions(1)]
    );
    stage.send(&mut late, cancel()).await;
    assert_eq!(stage.commit_one(delete("orders")).await, PartOutcome::Done);
    stage.check(&ready).await;
}

pub async fn lists_leave_the_deleted_out(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for id in ["d", "a", "c", "b", "e"] {
        stage.save(&two_steps(id)).await;
    }
    stage.commit_one(delete("c")).await;
    let mut found: Vec<String> = Vec::new();
    loop {
        let after = found.last().map(|id| workflow_id(id));
        let page = stage.store.workflows(after.as_ref(), 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|row| row.id.to_string()));
    }
    assert_eq!(found, ["a", "b", "d", "e"]);
}

pub async fn the_last_saved_come_first(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    for id in ["d", "a", "c"] {
        stage.save(&two_steps(id)).await;
    }
    stage.wait(60);
    for id in ["b", "e"] {
        stage.save(&two_steps(id)).await;
    }
    stage.wait(60);
    let newer = two_steps("d").replace("The d", "All d");
    stage.commit_one(put(&newer)).await;
    stage.commit_one(delete("c")).await;
    let mut found: Vec<(Timestamp, WorkflowId)> = Vec::new();
    loop {
        let page = stage.store.workflows_by_change(found.last(), 2);
        let page = page.await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page.into_iter().map(|row| (row.updated_at, row.id)));
    }
    let found: Vec<&str> = found.iter().map(|(_, id)| id.as_str()).collect();
    assert_eq!(found, ["d", "b", "e", "a"]);
}
