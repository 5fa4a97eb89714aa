//! Rows that were changed from outside: they are refused by name, never taken for the truth.

use refire_core::time::Timestamp;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    Catalog, EventFilter, ExecutionFilter, Executions, LIMIT_MAX, LetterFilter, Letters, ReadError,
    Store, Stretch,
};
use tokio_postgres::Client;

use crate::server::{all_words, open, options, session};
use crate::transfer::play;

/// A database with some history, and a session beside it.
async fn filled(scratch: &Scratch) -> (Postgres, Client, Timestamp) {
    let directory = tempfile::tempdir().unwrap();
    let (path, now) = play(5, directory.path()).await;
    Postgres::import(&options(scratch), &path, &|_, _| {})
        .await
        .unwrap();
    (open(scratch).await, session(scratch).await, now)
}

async fn change(session: &Client, sql: &str) {
    let changed = session.execute(sql, &[]).await.unwrap();
    assert!(changed > 0, "{sql} changes nothing");
}

fn corrupt<T: std::fmt::Debug>(read: Result<T, ReadError>) -> String {
    match read {
        Err(error @ ReadError::Corrupt { .. }) => all_words(&error),
        other => panic!("{other:?}"),
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_changed_event_is_noticed_by_whoever_reads_it() {
    let scratch = Scratch::new();
    let (store, session, _) = filled(&scratch).await;
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    let id = listed[0].id;
    change(
        &session,
        "UPDATE workflow_events SET payload = payload || ' '",
    )
    .await;
    let plain = EventFilter::default();
    let said = corrupt(store.history(id, &plain, 0, LIMIT_MAX).await);
    assert!(said.contains(&format!("event 1 of {id}")), "{said}");
    assert!(said.contains("checksum does not match"), "{said}");
    corrupt(store.values(id, &[1]).await);
    corrupt(
        store
            .letters(&LetterFilter::default(), None, LIMIT_MAX)
            .await,
    );
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_changed_state_is_noticed() {
    let scratch = Scratch::new();
    let (store, session, _) = filled(&scratch).await;
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    change(
        &session,
        "UPDATE executions SET snapshot = snapshot || ' ' WHERE snapshot IS NOT NULL",
    )
    .await;
    change(
        &session,
        "UPDATE executions SET version = version + 1 WHERE snapshot IS NULL",
    )
    .await;
    for summary in &listed {
        let said = corrupt(store.execution(summary.id).await);
        assert!(
            said.contains(&format!("the state of {}", summary.id)),
            "{said}"
        );
        corrupt(store.load(summary.id).await);
        corrupt(store.states(&[summary.id]).await);
    }
    corrupt(store.executions(&all, &Stretch::new(None, LIMIT_MAX)).await);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_missing_event_is_noticed() {
    let scratch = Scratch::new();
    let (store, session, _) = filled(&scratch).await;
    let all = ExecutionFilter::default();
    let listed = store
        .executions(&all, &Stretch::new(None, LIMIT_MAX))
        .await
        .unwrap()
        .rows;
    change(
        &session,
        "DELETE FROM workflow_events AS last WHERE sequence =
             (SELECT version FROM executions WHERE id = last.execution)",
    )
    .await;
    let plain = EventFilter::default();
    for summary in &listed {
        let said = corrupt(store.history(summary.id, &plain, 0, LIMIT_MAX).await);
        assert!(said.contains("is missing"), "{said}");
    }
    change(&session, "DELETE FROM workflow_events WHERE sequence = 1").await;
    for summary in &listed {
        corrupt(store.history(summary.id, &plain, 0, 1).await);
    }
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_changed_definition_is_noticed() {
    let scratch = Scratch::new();
    let (store, session, _) = filled(&scratch).await;
    let id = store.workflows(None, 1).await.unwrap().remove(0).id;
    change(
        &session,
        "UPDATE workflow_versions SET source = source || ' '",
    )
    .await;
    let said = corrupt(store.workflow(&id).await);
    assert!(said.contains(&format!("of workflow `{id}`")), "{said}");
    corrupt(store.version(&id, 1).await);
    corrupt(store.workflows(None, 10).await);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn a_word_that_nobody_knows_is_noticed() {
    let scratch = Scratch::new();
    let (store, session, _) = filled(&scratch).await;
    change(&session, "UPDATE dead_letter_queue SET reason = 'whim'").await;
    let said = corrupt(store.letters(&LetterFilter::default(), None, 1).await);
    assert!(said.contains("\"whim\""), "{said}");
    change(
        &session,
        "UPDATE dead_letter_queue SET workflow_name = '\\xff'",
    )
    .await;
    corrupt(store.letters(&LetterFilter::default(), None, 1).await);
    store.close().await;
}
