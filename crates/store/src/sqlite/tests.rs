//! What cannot be seen from outside: plans of queries, and commits whose end is not known.

use std::path::Path;

use refire_core::time::Timestamp;
use rusqlite::hooks::Wal;
use rusqlite::{Connection, ffi};

use super::columns::WORK;
use super::desk::Place;
use super::read::work::NEXT_WORKFLOW;
use super::write::{NEXT_PRIORITY, TIMERS, at_once, due};
use super::{Options, Sqlite};
use crate::{Batch, CommitError, NotWritten, Part, PutWorkflow, Store};

const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

fn put(id: &str) -> Batch {
    let put = PutWorkflow {
        id: refire_core::definition::WorkflowId::new(id).unwrap(),
        name: id.to_owned(),
        content_hash: [1; 32],
        source: String::new(),
        by: String::new(),
    };
    Batch {
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
async fn claims_search_an_index_and_sort_nothing() {
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
            format!("SELECT {WORK} {TIMERS}"),
            "work_timers (due_at>? AND due_at<?)",
        ),
    ];
    for (sql, index) in queries {
        let plan = plan(&connection, &sql);
        assert!(
            plan.iter()
                .any(|step| step.starts_with("SEARCH") && step.ends_with(index)),
            "{plan:?}"
        );
        let reads_list = |step: &String| step.starts_with("SCAN json_each ");
        assert!(
            !plan
                .iter()
                .any(|step| step.starts_with("SCAN") && !reads_list(step)),
            "{plan:?}"
        );
        assert!(!plan.iter().any(|step| step.contains("B-TREE")), "{plan:?}");
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
