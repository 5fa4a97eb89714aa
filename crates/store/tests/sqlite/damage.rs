//! What was changed behind the store's back is found when it is read, and named.

use std::path::PathBuf;

use refire_store::sqlite::Sqlite;
use refire_store::{EventFilter, LIMIT_MAX, Part, ReadError, Store};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::own::{admission, batch, id, open, put_workflow, workflow};

/// Two executions, at rest.
struct Rest {
    _directory: TempDir,
    path: PathBuf,
}

impl Rest {
    async fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("refire.db");
        let store = open(&path).unwrap();
        let admit = |n| Part::Admit(Box::new(admission(&workflow(), n, r#"{"order":4711}"#)));
        let parts = vec![put_workflow(), admit(1), admit(2)];
        store.commit(&batch(parts)).await.unwrap();
        store.close().await;
        Self {
            _directory: directory,
            path,
        }
    }

    /// Changes something of the first execution, and opens the store on it.
    fn changed(&self, sql: &str) -> Sqlite {
        let connection = Connection::open(&self.path).unwrap();
        let rows = match sql.contains("?1") {
            true => connection.execute(sql, [id(1).as_bytes()]),
            false => connection.execute(sql, []),
        };
        assert_eq!(rows.unwrap(), 1, "{sql}");
        drop(connection);
        open(&self.path).unwrap()
    }
}

/// The error, which must be about damage: what is damaged.
fn damaged<T: std::fmt::Debug>(read: Result<T, ReadError>) -> String {
    match read {
        Err(ReadError::Corrupt { what, .. }) => what,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_changed_event_is_named() {
    for change in [
        "payload = CAST(replace(payload, '4711', '4712') AS BLOB)",
        "at = at + 1",
        "type = 'STEP_SKIPPED'",
        "v = 2",
        "step = 'b'",
        "attempt = 2",
        "backoff_ms = 1",
        "reason = 'because'",
        "crc = crc + 1",
    ] {
        let rest = Rest::new().await;
        let store = rest.changed(&format!(
            "UPDATE workflow_events SET {change} WHERE execution = ?1 AND sequence = 1"
        ));
        let name = format!("event 1 of {}", id(1));
        let filter = EventFilter::default();
        let history = store.history(id(1), &filter, 0, LIMIT_MAX).await;
        assert_eq!(damaged(history), name, "{change}");
        assert_eq!(damaged(store.values(id(1), &[1]).await), name, "{change}");
        // The neighbour is sound.
        assert!(store.values(id(2), &[1]).await.is_ok());
        store.close().await;
    }
}

#[tokio::test]
async fn a_changed_snapshot_is_named() {
    for change in [
        "snapshot = CAST(replace(snapshot, 'orders', 'orderz') AS BLOB)",
        "snapshot_crc = NULL",
        "snapshot_version = 1",
    ] {
        let rest = Rest::new().await;
        let store = rest.changed(&format!("UPDATE executions SET {change} WHERE id = ?1"));
        let read = store.execution(id(1)).await;
        assert!(matches!(read, Err(ReadError::Corrupt { .. })), "{read:?}");
        assert!(store.execution(id(2)).await.unwrap().is_some());
        store.close().await;
    }
}

#[tokio::test]
async fn a_log_that_lacks_an_event_is_not_shown_as_whole() {
    for lacking in [1, 2] {
        let rest = Rest::new().await;
        let store = rest.changed(&format!(
            "DELETE FROM workflow_events WHERE execution = ?1 AND sequence = {lacking}"
        ));
        let filter = EventFilter::default();
        let history = store.history(id(1), &filter, 0, LIMIT_MAX).await;
        assert_eq!(damaged(history), format!("the log of {}", id(1)));
        assert_eq!(
            store
                .history(id(2), &filter, 0, LIMIT_MAX)
                .await
                .unwrap()
                .len(),
            2
        );
        store.close().await;
    }
}

#[tokio::test]
async fn a_changed_definition_is_named() {
    let rest = Rest::new().await;
    let store = rest.changed("UPDATE workflow_versions SET source = source || ' '");
    let orders = workflow().id;
    let name = "version 1 of workflow `orders`";
    assert_eq!(damaged(store.version(&orders, 1).await), name);
    assert_eq!(damaged(store.workflow(&orders).await), name);
    assert_eq!(damaged(store.workflows(None, 10).await), name);
    store.close().await;
}

/// SQLite would begin anew and throw the log away.
#[tokio::test]
async fn a_log_whose_file_is_gone_is_kept() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refire.db");
    let store = open(&path).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    let copy = tempfile::tempdir().unwrap();
    let [file, log] = ["refire.db", "refire.db-wal"].map(|name| copy.path().join(name));
    std::fs::copy(directory.path().join("refire.db-wal"), &log).unwrap();
    store.close().await;
    for is_there in [false, true] {
        if is_there {
            std::fs::write(&file, "").unwrap();
        }
        let Err(refused) = open(&file) else {
            panic!("it was opened");
        };
        assert!(
            refused.to_string().contains("but its log is not"),
            "{refused}"
        );
        assert!(log.metadata().unwrap().len() > 0);
    }
}
