//! Lists that must pass over many rows before they find what is asked for: they are read in several
//! statements, and nothing is lost between them.

use refire_core::dead_letter::LetterStatus;
use refire_core::execution::Status;
use refire_core::id::DlqId;
use refire_store::postgres::{Postgres, Scratch};
use refire_store::{
    Catalog, ExecutionFilter, Executions, LIMIT_MAX, LetterFilter, Letters, OpenCounts, Store,
    Stretch, Work,
};

use crate::server::{open, options, session};
use crate::transfer::play;

/// More than one statement looks at.
const FILLERS: i64 = 21_000;

/// Rows newer than all others, of a workflow that nobody asks for; none of them has a log.
async fn fill(scratch: &Scratch) {
    let session = session(scratch).await;
    session
        .batch_execute(&format!(
            "INSERT INTO workflows (id, name, version, created_at, updated_at)
                 VALUES ('filler', 'filler', 1, 0, 0);
             INSERT INTO executions (id, workflow, workflow_version, version, commit_id, status,
                     trigger, priority, created_at, updated_at, retry_count, root,
                     snapshot_version)
             SELECT ('ff000000' || lpad(to_hex(n), 24, '0'))::uuid, key, 1, 1,
                    '00000000-0000-0000-0000-000000000001',
                    (ARRAY['failed', 'dlq', 'paused', 'completed', 'pending'])[1 + n % 5],
                    'api', 5, 0, 0, 1, '00000000-0000-0000-0000-000000000001', 0
               FROM workflows, generate_series(1, 5 * {FILLERS}) AS n WHERE workflows.id = 'filler';
             INSERT INTO work (execution, step, attempt, is_retry, workflow, priority, due_at,
                     begun)
             SELECT id, step, 1, false, workflow, 5, 0, false
               FROM executions, unnest(ARRAY['a', 'b']) AS step
              WHERE status = 'paused' AND id > 'fe000000-0000-0000-0000-000000000000';
             INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, reason,
                     error_type, error_message, fingerprint, retry_count, max_retries, status,
                     failed_at, created_at, failure)
             SELECT id, id, workflow, 'filler', 'whim', 'filler', 'filler', 0, 0, 0,
                    (ARRAY['pending', 'resolved', 'deleted'])[1 + (priority + updated_at) % 3],
                    0, 0, '{{}}'
               FROM executions
              WHERE status = 'dlq' AND id > 'fe000000-0000-0000-0000-000000000000';
             ANALYZE"
        ))
        .await
        .unwrap();
}

/// Whatever must be looked at to find them.
const SEVEN: Stretch = Stretch {
    before: None,
    limit: 7,
    looks: u32::MAX,
};

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn what_lies_behind_many_others_is_found() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = play(1, directory.path()).await;
    let scratch = Scratch::new();
    Postgres::import(&options(&scratch), &path, &|_, _| {})
        .await
        .unwrap();
    let store = open(&scratch).await;
    let workflows = store.workflows(None, LIMIT_MAX).await.unwrap();
    let mut filters = Vec::new();
    for workflow in &workflows {
        for statuses in Status::ALL.map(|status| vec![status]).into_iter().chain([
            vec![Status::Failed, Status::Dlq, Status::Pending],
            Status::ALL.to_vec(),
        ]) {
            for retried in [false, true] {
                filters.push(ExecutionFilter {
                    statuses: statuses.clone(),
                    retried,
                    ..ExecutionFilter::of_workflow(workflow.id.clone())
                });
            }
        }
    }
    let mut before = Vec::new();
    for filter in &filters {
        before.push(store.executions(filter, &SEVEN).await.unwrap());
    }
    let counts = store.open_counts(Some(&workflows[0].id)).await.unwrap();
    let all_counts = store.open_counts(None).await.unwrap();
    fill(&scratch).await;
    assert!(
        before.iter().any(|found| found.rows.len() > 3),
        "there is something to be found"
    );
    for (filter, before) in filters.iter().zip(before) {
        let found = store.executions(filter, &SEVEN).await.unwrap();
        assert_eq!(found, before, "{filter:?}");
    }
    assert_eq!(
        store.open_counts(Some(&workflows[0].id)).await.unwrap(),
        counts
    );
    let fillers = FILLERS.unsigned_abs();
    let expected = OpenCounts {
        executions: all_counts.executions + fillers,
        waiting: all_counts.waiting + 2 * fillers,
        ..all_counts
    };
    assert_eq!(store.open_counts(None).await.unwrap(), expected);
    store.close().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn letters_behind_many_others_are_found() {
    let directory = tempfile::tempdir().unwrap();
    let (path, _) = play(1, directory.path()).await;
    let scratch = Scratch::new();
    Postgres::import(&options(&scratch), &path, &|_, _| {})
        .await
        .unwrap();
    let store = open(&scratch).await;
    let all = LetterFilter::default();
    let listed = store.letters(&all, None, LIMIT_MAX).await.unwrap();
    let oldest = listed.last().expect("there is a letter");
    let filters = [
        LetterFilter {
            fingerprint: Some(oldest.fingerprint),
            ..LetterFilter::default()
        },
        LetterFilter {
            text: Some(oldest.workflow.as_str().to_uppercase()),
            ..LetterFilter::default()
        },
        LetterFilter {
            text: Some(oldest.workflow.as_str().to_uppercase()),
            statuses: LetterStatus::ALL.to_vec(),
            ..LetterFilter::default()
        },
    ];
    let none = None::<DlqId>;
    let mut before = Vec::new();
    for filter in &filters {
        let found = store.letters(filter, none, 5).await.unwrap();
        assert!(!found.is_empty());
        before.push((found, store.letter_summary(filter).await.unwrap()));
    }
    fill(&scratch).await;
    for (filter, before) in filters.iter().zip(before) {
        let found = store.letters(filter, none, 5).await.unwrap();
        let summary = store.letter_summary(filter).await.unwrap();
        assert_eq!((found, summary), before, "{filter:?}");
    }
    store.close().await;
}
