//! Restarts: what was answered is there afterwards.

use std::time::Duration;

use super::Lab;
use super::letter_lists::queue;
use super::stage::{Stage, http, two_steps};
use crate::{
    CommitError, ExecutionFilter, IdempotencyClaim, LetterFilter, NotWritten, Part, PartOutcome,
    ReadError, Stretch,
};

pub async fn everything_survives_a_restart(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let letters = queue(&mut stage).await;
    let workflow = stage.save(&two_steps("restarted")).await;
    let mut retrying = stage.admit(&workflow, "{\"n\":1}").await;
    stage.fail(&mut retrying, "a", http("503")).await;
    let mut running = stage.admit(&workflow, "{}").await;
    let begun = stage.begin_next(&workflow).await;
    running.work = [(begun.step.clone(), begun)].into();
    let keyed = |stage: &mut Stage| {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(IdempotencyClaim {
            scope: "orders".to_owned(),
            key_hash: [1; 16],
            body_hash: [1; 8],
            expires_at: stage.now.plus(Duration::from_secs(60)),
            over: None,
        });
        (run, Part::Admit(Box::new(admit)))
    };
    let (first, part) = keyed(&mut stage);
    assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
    let all = ExecutionFilter::default();
    let hundred = Stretch::new(None, 100);
    let listed = stage.store.executions(&all, &hundred).await.unwrap();
    let summary = stage
        .store
        .letter_summary(&LetterFilter::default())
        .await
        .unwrap();

    stage.store.close().await;
    stage.store = lab.open().await;

    for run in [&retrying, &running, &first] {
        stage.check(run).await;
    }
    assert_eq!(
        stage.store.executions(&all, &hundred).await.unwrap(),
        listed
    );
    let none = LetterFilter::default();
    assert_eq!(
        stage.store.letters(&none, None, 100).await.unwrap(),
        letters
    );
    assert_eq!(stage.store.letter_summary(&none).await.unwrap(), summary);
    assert!(stage.store.workflow(&workflow.id).await.unwrap().is_some());
    let (_, part) = keyed(&mut stage);
    let outcome = stage.commit_one(part).await;
    assert_eq!(
        outcome,
        PartOutcome::Duplicate {
            execution: first.id,
            body_differs: false
        }
    );
    stage.wait(10);
    stage.succeed(&mut retrying, "a", "1").await;
    stage.check(&retrying).await;
}

pub async fn nothing_works_after_closing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let run = stage.admit(&workflow, "{}").await;
    stage.store.close().await;
    match stage.try_commit(Vec::new()).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Unavailable,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    for found in [
        stage.store.execution(run.id).await,
        stage.store.load(run.id).await,
    ] {
        match found {
            Err(ReadError::Unavailable(_)) => {}
            other => panic!("{other:?}"),
        }
    }
    match stage.store.load_values(run.id, &[1]).await {
        Err(ReadError::Unavailable(_)) => {}
        other => panic!("{other:?}"),
    }
    stage.store.close().await;
}
