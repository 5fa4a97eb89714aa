//! What was changed behind the store's back is found when it is read, and named.

use std::path::PathBuf;
use std::time::Duration;

use refire_core::execution::TriggerKind;
use refire_core::id::{ExecutionId, NodeId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::State;
use refire_store::sqlite::Sqlite;
use refire_store::{
    Bounds, Catalog, Claim, ClaimTimers, CreateTrigger, EventFilter, Executions, LIMIT_MAX, Part,
    PartOutcome, ReadError, Store, Triggers, Want, Work,
};
use rusqlite::Connection;
use tempfile::TempDir;

use crate::own::{NOW, admission, batch, id, open, put_workflow, workflow};

const NODE: NodeId = NodeId::from_bytes([7; 16]);

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

/// A trigger that is due from then on.
fn trigger(id: TriggerId, due_at: Timestamp) -> Part {
    Part::CreateTrigger(Box::new(CreateTrigger {
        id,
        workflow: workflow().id,
        kind: TriggerKind::Cron,
        enabled: true,
        settings: b"{}".to_vec(),
        secrets: None,
        webhook: None,
        state: Some(State {
            due_at: Some(due_at),
            ..State::default()
        }),
    }))
}

async fn due(store: &Sqlite, by: Timestamp, limit: u32) -> Vec<TriggerId> {
    let due = store.due_triggers(by, limit).await.unwrap();
    due.iter().map(|due| due.row.id).collect()
}

/// A trigger whose settings were changed is not used, and stops nobody else's; nor does one that cannot
/// be read for another reason.
#[tokio::test]
async fn damaged_triggers_stand_alone() {
    let later = NOW.plus(Duration::from_secs(5));
    let [first, second, third] = [1, 2, 3].map(|n| TriggerId::from_bytes([n; 16]));
    for change in [
        "UPDATE workflow_triggers SET settings = x'00' WHERE id =",
        "UPDATE workflow_triggers SET kind = 'strange' WHERE id =",
        "UPDATE workflow_triggers SET workflow = 999 WHERE id =",
        "UPDATE trigger_state SET rev = -1 WHERE trigger =",
        "DELETE FROM workflow_triggers WHERE id =",
    ] {
        let rest = Rest::new().await;
        let store = open(&rest.path).unwrap();
        let parts = vec![
            trigger(first, NOW),
            trigger(second, later),
            trigger(third, later),
        ];
        store.commit(&batch(parts)).await.unwrap();
        store.close().await;
        let store = rest.changed(&format!("{change} x'{}'", "01".repeat(16)));
        if change.contains("settings") {
            let said = damaged(store.trigger(first).await);
            assert_eq!(said, format!("the settings of {first}"));
        }
        assert!(store.trigger(second).await.unwrap().is_some());
        assert_eq!(due(&store, NOW, 9).await, [], "{change}");
        assert_eq!(due(&store, later, 9).await, [second, third], "{change}");
        assert_eq!(due(&store, later, 1).await, [second], "{change}");
        let next = store.next_trigger_due().await.unwrap();
        assert_eq!(next, Some(later), "{change}");
        store.close().await;
    }
}

/// However many cannot be read, those after them are found, unless it is a whole crowd.
#[tokio::test]
async fn many_damaged_triggers_hide_no_other() {
    let rest = Rest::new().await;
    let sound = TriggerId::from_bytes([1; 16]);
    let store = open(&rest.path).unwrap();
    let parts = vec![trigger(sound, NOW)];
    store.commit(&batch(parts)).await.unwrap();
    store.close().await;
    for (more, expected) in [(2_500, vec![sound]), (9_000, Vec::new())] {
        let connection = Connection::open(&rest.path).unwrap();
        let crowd = "WITH RECURSIVE numbers (n) AS (VALUES (1) UNION ALL
                 SELECT n + 1 FROM numbers WHERE n < ?1)
             INSERT INTO trigger_state (trigger, rev, due_at)
             SELECT randomblob(16), 1, ?2 FROM numbers";
        let before = NOW.as_micros() - 1;
        let rows = connection.execute(crowd, [more, before]).unwrap();
        assert_eq!(rows, usize::try_from(more).unwrap());
        drop(connection);
        let store = open(&rest.path).unwrap();
        for limit in [1, 9, LIMIT_MAX] {
            assert_eq!(due(&store, NOW, limit).await, expected);
        }
        assert_eq!(due(&store, NOW, 0).await, []);
        store.close().await;
    }
}

/// One row of work that cannot be read stops nobody else's; whoever reads its execution is told.
#[tokio::test]
async fn unreadable_work_stands_alone() {
    for change in [
        "attempt = -1",
        "attempt = 1 << 40",
        "priority = 999",
        "limit_key = CAST(x'ff' AS TEXT)",
        "workflow = 999",
    ] {
        let rest = Rest::new().await;
        let store = rest.changed(&format!("UPDATE work SET {change} WHERE execution = ?1"));
        let orders = workflow().id;
        let ready = store.ready_workflows(NOW).await.unwrap();
        assert_eq!(ready.as_slice(), std::slice::from_ref(&orders), "{change}");
        let bounds = Bounds {
            max: Some(5),
            max_per_key: Some(5),
        };
        let bounded = Want {
            bounds: Some(bounds),
            ..Want::any(orders.clone(), 5)
        };
        let wants = vec![bounded, Want::any(orders, 5)];
        let claimed = claim(&store, wants).await;
        assert_eq!(claimed, [id(2)], "{change}");
        if change != "workflow = 999" {
            let work = damaged(store.execution(id(1)).await);
            assert_eq!(work, format!("the work of {}", id(1)), "{change}");
        }
        assert!(store.execution(id(2)).await.unwrap().is_some());
        store.close().await;
    }
}

/// The same for what a dead node left: a page of it is short only at the end.
#[tokio::test]
async fn unreadable_orphans_stand_alone() {
    let rest = Rest::new().await;
    let store = rest.changed("UPDATE work SET owner = x'00', begun = 1 WHERE execution = ?1");
    let claimed = claim(&store, vec![Want::any(workflow().id, 5)]).await;
    assert_eq!(claimed, [id(2)]);
    let orphans = store.orphans(None, 1).await.unwrap();
    let ids: Vec<_> = orphans.iter().map(|row| row.execution).collect();
    assert_eq!(ids, [id(2)], "it comes after the unreadable one");
    store.close().await;
}

/// Timers that another process left unowned.
#[tokio::test]
async fn an_unreadable_timer_stands_alone() {
    let rest = Rest::new().await;
    let soon = NOW.plus(Duration::from_secs(5));
    let due_at = format!("UPDATE work SET due_at = {}", soon.as_micros());
    Connection::open(&rest.path)
        .unwrap()
        .execute(&due_at, [])
        .unwrap();
    let store = rest.changed("UPDATE work SET attempt = -1 WHERE execution = ?1");
    let timers = Part::ClaimTimers(ClaimTimers {
        node: NODE,
        until: soon,
        up_to: 1,
    });
    let outcomes = store.commit(&batch(vec![timers])).await.unwrap();
    let [PartOutcome::Claimed(rows)] = outcomes.as_slice() else {
        panic!("{outcomes:?}");
    };
    let ids: Vec<_> = rows.iter().map(|row| row.execution).collect();
    assert_eq!(ids, [id(2)]);
    store.close().await;
}

/// Claims as a node; the executions it got.
async fn claim(store: &Sqlite, wants: Vec<Want>) -> Vec<ExecutionId> {
    let claim = Part::Claim(Claim { node: NODE, wants });
    let outcomes = store.commit(&batch(vec![claim])).await.unwrap();
    let [PartOutcome::Claimed(rows)] = outcomes.as_slice() else {
        panic!("{outcomes:?}");
    };
    rows.iter().map(|row| row.execution).collect()
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
