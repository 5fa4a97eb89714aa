//! Backups: complete, consistent, and made while the store is in use.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use refire_core::execution::Event;

use super::Lab;
use super::stage::{Run, Stage, two_steps};
use crate::{EventFilter, ExecutionFilter, LIMIT_MAX, ReadError, Store, Stretch};

/// Asserts that a store holds exactly what a run wrote.
async fn check_copy(copy: &dyn Store, run: &Run) {
    let stored = copy
        .execution(run.id)
        .await
        .unwrap()
        .expect("it is in the copy");
    assert_eq!(stored.state, run.state);
    let rows = copy
        .history(run.id, &EventFilter::default(), 0, LIMIT_MAX)
        .await
        .unwrap();
    assert_eq!(rows, run.log.iter().map(Event::encode).collect::<Vec<_>>());
}

pub async fn a_backup_holds_everything(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut runs = vec![stage.dead_letter(&workflow, "404").await];
    for _ in 0..20 {
        runs.push(stage.admit(&workflow, "{\"n\":1}").await);
    }
    let target = lab.directory().join("copy");
    let (last, all) = (AtomicU64::new(0), AtomicU64::new(0));
    let heard = |done: u64, of: u64| {
        last.fetch_max(done, Ordering::Relaxed);
        all.fetch_max(of, Ordering::Relaxed);
    };
    stage.store.backup(&target, &heard).await.unwrap();
    assert!(all.load(Ordering::Relaxed) > 0, "progress is told");
    assert_eq!(
        last.load(Ordering::Relaxed),
        all.load(Ordering::Relaxed),
        "to the end"
    );
    // What comes later is not in it.
    let later = stage.admit(&workflow, "{}").await;
    let copy = lab.open_backup(&target).await;
    for run in &runs {
        check_copy(&*copy, run).await;
    }
    assert_eq!(copy.execution(later.id).await.unwrap(), None);
    let letter = runs[0].state.dlq_id.unwrap();
    assert!(copy.letter(letter).await.unwrap().is_some());
    assert!(copy.workflow(&workflow.id).await.unwrap().is_some());
    copy.close().await;
}

pub async fn an_existing_file_is_refused(lab: &dyn Lab) {
    let stage = Stage::open(lab).await;
    let target = lab.directory().join("copy");
    std::fs::write(&target, "precious").unwrap();
    match stage.store.backup(&target, &|_, _| {}).await {
        Err(ReadError::File { .. }) => {}
        other => panic!("{other:?}"),
    }
    assert_eq!(std::fs::read_to_string(&target).unwrap(), "precious");
}

pub async fn a_missing_directory_is_named(lab: &dyn Lab) {
    let stage = Stage::open(lab).await;
    let directory = lab.directory().join("nowhere");
    let said = match stage
        .store
        .backup(&directory.join("copy"), &|_, _| {})
        .await
    {
        Err(error @ ReadError::File { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    };
    let named = format!("the directory {} does not exist", directory.display());
    assert!(said.contains(&named), "{said}");
    assert!(!directory.exists(), "and it is not made");
}

pub async fn commits_go_on_during_a_backup(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let payload = format!("\"{}\"", "x".repeat(100_000));
    let mut before = Vec::new();
    for _ in 0..50 {
        before.push(stage.admit(&workflow, &payload).await);
    }
    let target = lab.directory().join("copy");
    let store = std::sync::Arc::clone(&stage.store);
    let is_over = AtomicBool::new(false);
    let copying = async {
        store.backup(&target, &|_, _| {}).await.unwrap();
        is_over.store(true, Ordering::Relaxed);
    };
    let writing = async {
        let mut during = Vec::new();
        while !is_over.load(Ordering::Relaxed) {
            during.push(stage.admit(&workflow, "{}").await);
            tokio::task::yield_now().await;
        }
        during
    };
    let ((), during) = tokio::join!(copying, writing);
    let after = stage.admit(&workflow, "{}").await;
    for run in before.iter().chain(&during).chain([&after]) {
        stage.check(run).await;
    }
    let copy = lab.open_backup(&target).await;
    for run in &before {
        check_copy(&*copy, run).await;
    }
    // It is the store as it was at one moment: the executions up to some one, and none after.
    let all = ExecutionFilter::default();
    let copied = copy
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    let caught = copied.len() - before.len();
    for (n, run) in during.iter().enumerate() {
        if n < caught {
            check_copy(&*copy, run).await;
        } else {
            assert_eq!(copy.execution(run.id).await.unwrap(), None);
        }
    }
    copy.close().await;
}
