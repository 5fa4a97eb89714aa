//! What cannot be seen from outside: plans of queries, and commits whose end is not known.

use std::path::Path;

use refire_core::time::Timestamp;
use rusqlite::hooks::{AuthAction, AuthContext, Authorization, TransactionOperation, Wal};
use rusqlite::{Connection, StatementStatus, ffi};

use super::connect;
use super::read::work::NEXT_WORKFLOW;
use super::single_writer::Place;
use super::write::{NEXT_PRIORITY, OF_EXECUTIONS, OPEN_EXECUTIONS, RING, TIMERS, at_once, due};
use super::{Options, Sqlite};
use crate::column::Named;
use crate::{
    Batch, Catalog, CommitError, Executions, NotWritten, Part, PutWorkflow, Store, WorkRow,
};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn put(id: &str) -> Batch {
    let put = PutWorkflow {
        id: refire_core::definition::WorkflowId::new(id).unwrap(),
        name: id.to_owned(),
        content_hash: [1; 32],
        source: String::new(),
        by: String::new(),
        expected: None,
    };
    Batch {
        lease: None,
        commit_id: [1; 16],
        now: NOW,
        parts: vec![Part::PutWorkflow(Box::new(put))],
    }
}

fn open(directory: &Path) -> Sqlite {
    Sqlite::open_in(directory, &Options::new(NOW)).unwrap()
}

/// What SQLite says it would do.
fn plan(connection: &Connection, sql: &str) -> Vec<String> {
    let mut explain = connection
        .prepare(&format!("EXPLAIN QUERY PLAN {sql}"))
        .unwrap();
    let rows = explain.raw_query().mapped(|row| row.get::<_, String>(3));
    rows.collect::<Result<_, _>>().unwrap()
}

#[tokio::test]
async fn claims_and_rings_search_an_index_and_sort_nothing() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).close().await;
    let connection = Connection::open(directory.path().join("refire.db")).unwrap();
    let queries = [
        (
            NEXT_WORKFLOW.to_owned(),
            "COVERING INDEX work_ready (workflow>?)",
        ),
        (
            NEXT_PRIORITY.to_owned(),
            "COVERING INDEX work_ready (workflow=? AND priority>?)",
        ),
        (
            at_once(),
            "COVERING INDEX work_ready (workflow=? AND priority=? AND due_at=? AND (execution,step)>(?,?))",
        ),
        (
            due(),
            "COVERING INDEX work_ready (workflow=? AND priority=? AND (due_at,execution,step)>(?,?,?) AND due_at<?)",
        ),
        (
            format!("SELECT {} {TIMERS}", WorkRow::COLUMNS),
            "work_timers (due_at>? AND due_at<?)",
        ),
        (OF_EXECUTIONS.to_owned(), "PRIMARY KEY (execution=?)"),
        (
            RING.to_owned(),
            "COVERING INDEX requests_refused (trigger=?)",
        ),
    ];
    for (sql, index) in queries {
        let plan = plan(&connection, &sql);
        assert!(
            plan.iter()
                .any(|step| step.starts_with("SEARCH") && step.ends_with(index)),
            "{plan:?}"
        );
        let reads_list = |step: &String| step.contains(" VIRTUAL TABLE ");
        assert!(
            !plan
                .iter()
                .any(|step| step.starts_with("SCAN") && !reads_list(step)),
            "{plan:?}"
        );
        // The few rows of executions in flight are the only ones that are sorted.
        let sorts = plan.iter().any(|step| step.contains("B-TREE"));
        assert_eq!(sorts, sql == OF_EXECUTIONS, "{plan:?}");
    }
}

/// A new end of a range must not cost a new plan.
#[tokio::test]
async fn statements_are_prepared_once() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).close().await;
    let path = directory.path().join("refire.db");
    let writer = connect::writer(&path, &Options::new(NOW)).unwrap();
    for connection in [writer, connect::reader(&path).unwrap()] {
        let mut select = connection.prepare(NEXT_PRIORITY).unwrap();
        for priority in 0..3 {
            assert!(!select.exists([1, priority]).unwrap());
        }
        assert_eq!(select.get_status(StatementStatus::RePrepare), 0);
    }
}

#[tokio::test]
async fn deleting_a_workflow_looks_at_no_other() {
    let directory = tempfile::tempdir().unwrap();
    open(directory.path()).close().await;
    let connection = Connection::open(directory.path().join("refire.db")).unwrap();
    let plan = plan(&connection, OPEN_EXECUTIONS);
    for index in [
        "work_ready (workflow=?)",
        "work_owned (workflow=?)",
        "executions_paused (workflow=?)",
    ] {
        assert!(
            plan.iter()
                .any(|step| step.starts_with("SEARCH") && step.ends_with(index)),
            "{plan:?}"
        );
    }
    let scans_table =
        |step: &String| step.starts_with("SCAN work") || step.starts_with("SCAN exec");
    assert!(!plan.iter().any(scans_table), "{plan:?}");
}

/// A transaction that cannot be left would refuse every later commit for ever: the process has to
/// hear that it must stop.
#[tokio::test]
async fn a_failing_rollback_ends_in_an_unknown_end() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(&put("known")).await.unwrap();
    if let Place::Here(writer) = &mut *store.desk.place() {
        let refuse = |context: AuthContext<'_>| match context.action {
            AuthAction::Transaction {
                operation: TransactionOperation::Rollback,
            }
            | AuthAction::Insert { .. } => Authorization::Deny,
            _ => Authorization::Allow,
        };
        writer.connection.authorizer(Some(refuse)).unwrap();
    }
    match store.commit(&put("refused")).await {
        Err(CommitError::Unknown(_)) => {}
        other => panic!("{other:?}"),
    }
    if let Place::Here(writer) = &mut *store.desk.place() {
        let none = None::<fn(AuthContext<'_>) -> Authorization>;
        writer.connection.authorizer(none).unwrap();
    }
    match store.commit(&put("later")).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Unavailable,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    store.close().await;
    let store = open(directory.path());
    let found = store.workflows(None, 10).await.unwrap();
    let ids: Vec<_> = found.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["known"]);
    store.commit(&put("later")).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_committer_does_not_wait_for_other_readers() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (release, held) = std::sync::mpsc::channel::<()>();
    let held = std::sync::Arc::new(std::sync::Mutex::new(held));
    let (begun, mut begins) = tokio::sync::mpsc::channel(super::READERS);
    let mut holding = Vec::new();
    for _ in 0..super::READERS {
        let readers = std::sync::Arc::clone(&store.readers);
        let held = std::sync::Arc::clone(&held);
        let begun = begun.clone();
        holding.push(tokio::spawn(async move {
            let hold = move |_: &super::readers::Reader| {
                begun.blocking_send(()).unwrap();
                // Ends when the sender is gone.
                let _ = held.lock().unwrap().recv();
                Ok(())
            };
            readers.read(hold).await
        }));
    }
    for _ in 0..super::READERS {
        begins.recv().await.unwrap();
    }
    let id = refire_core::id::ExecutionId::from_bytes([1; 16]);
    let waits = std::time::Duration::from_millis(100);
    let listed = tokio::time::timeout(waits, store.workflows(None, 1)).await;
    assert!(listed.is_err(), "everybody else waits");
    assert_eq!(store.load(id).await.unwrap(), None);
    assert_eq!(store.load_values(id, &[1]).await.unwrap(), Vec::new());
    drop(release);
    for held in holding {
        held.await.unwrap().unwrap();
    }
}

/// The hook runs after the commit's frames are in the log; an error from it comes out of COMMIT
/// just as one of the final sync would, with the frames written.
#[tokio::test]
async fn after_an_unknown_end_nothing_is_written_until_a_restart() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    store.commit(&put("known")).await.unwrap();
    if let Place::Here(writer) = &mut *store.desk.place() {
        let fail = |_: &mut Wal, _: i32| {
            Err(rusqlite::Error::SqliteFailure(
                ffi::Error::new(ffi::SQLITE_IOERR_FSYNC),
                None,
            ))
        };
        writer.connection.wal_hook(Some(fail)).unwrap();
    }
    match store.commit(&put("unknown")).await {
        Err(CommitError::Unknown(_)) => {}
        other => panic!("{other:?}"),
    }
    if let Place::Here(writer) = &mut *store.desk.place() {
        let none = None::<fn(&mut Wal, i32) -> rusqlite::Result<()>>;
        writer.connection.wal_hook(none).unwrap();
    }
    match store.commit(&put("later")).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Unavailable,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    store.close().await;
    let store = open(directory.path());
    let found = store.workflows(None, 10).await.unwrap();
    let ids: Vec<_> = found.iter().map(|row| row.id.as_str()).collect();
    assert_eq!(ids, ["known", "unknown"], "it was written, this time");
    store.commit(&put("later")).await.unwrap();
}

#[tokio::test]
async fn a_read_that_lasts_too_long_is_ended() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let endless = store
        .readers
        .read(|reader| {
            let sql = "WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n)
                 SELECT count(*) FROM n";
            Ok(reader
                .prepare(sql)?
                .query_row([], |row| row.get::<_, i64>(0))?)
        })
        .await;
    assert!(
        matches!(endless, Err(crate::ReadError::Unavailable(_))),
        "{endless:?}"
    );
    assert_eq!(
        store.workflows(None, 10).await.unwrap(),
        Vec::new(),
        "the next one works"
    );
}
