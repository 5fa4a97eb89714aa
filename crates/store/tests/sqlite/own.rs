//! What only SQLite has: a lock, migrations, a log to keep short, a disk that fills up.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use refire_core::definition::{ParseOptions, Workflow};
use refire_core::execution::{Decision, Event, Start, Status, start};
use refire_core::id::{DlqId, ExecutionId, time_ordered};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::sqlite::{Options, Sqlite};
use refire_store::{
    Admit, Batch, CommitError, ExecutionFilter, ExecutionRow, Executions, LetterFilter, Letters,
    NotWritten, Part, PartOutcome, PutWorkflow, ReadError, RetryRow, RowUpdate, Store, Stretch,
    Triggers, WorkChange, WorkRow,
};
use rusqlite::Connection;
use rusqlite::types::Value;

pub(crate) const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);
const SOURCE: &str = "id: orders\nsteps:\n  - {id: a, type: local, config: {task: t}}\n";

pub(crate) fn workflow() -> Workflow {
    Workflow::parse(SOURCE, &ParseOptions::default()).unwrap()
}

pub(crate) fn put_workflow() -> Part {
    Part::PutWorkflow(Box::new(PutWorkflow {
        id: workflow().id,
        name: "orders".to_owned(),
        content_hash: [1; 32],
        source: SOURCE.to_owned(),
        by: "ada".to_owned(),
        expected: None,
    }))
}

/// The `n`th id.
pub(crate) fn id(n: u32) -> ExecutionId {
    let mut entropy = [0; 10];
    entropy[6..].copy_from_slice(&n.to_be_bytes());
    ExecutionId::from_bytes(time_ordered(1_800_000_000_000, entropy))
}

/// An execution like another one, as the `n`th.
fn same_as(admit: &Admit, n: u32) -> Part {
    let mut admit = admit.clone();
    admit.row.id = id(n);
    for change in &mut admit.work {
        if let WorkChange::Put(row) = change {
            row.execution = id(n);
        }
    }
    Part::Admit(Box::new(admit))
}

/// The `n`th execution, as it is admitted.
pub(crate) fn admission(workflow: &Workflow, n: u32, input: &str) -> Admit {
    let id = id(n);
    let with = Start::plain(id, 42, Json::parse(input).unwrap());
    let Decision { events, state, .. } = start(workflow, with, NOW);
    let update = RowUpdate {
        version: state.version,
        status: state.status,
        compensating: false,
        updated_at: NOW,
        retry_count: 0,
        next_retry_at: None,
        snapshot: Some(serde_json::to_vec(&state).unwrap()),
    };
    let row = ExecutionRow {
        id,
        workflow: workflow.id.clone(),
        workflow_version: 1,
        trigger: "manual",
        trigger_id: None,
        priority: 5,
        created_at: NOW,
        parent: None,
        root: id,
        update,
    };
    let work = WorkRow {
        execution: id,
        step: "a".to_owned(),
        attempt: 1,
        is_retry: false,
        workflow: workflow.id.clone(),
        priority: 5,
        due_at: None,
        limit_key: None,
        owner: None,
        begun: false,
        begun_at: None,
    };
    Admit {
        row,
        events: events.iter().map(Event::encode).collect(),
        work: vec![WorkChange::Put(work)],
        tasks: Vec::new(),
        claim: None,
        letter: None,
        only_newest: false,
        trigger: None,
        request: None,
        new_letter: None,
        settle: None,
        end: None,
        bulk: None,
        notices: Vec::new(),
    }
}

pub(crate) fn batch(parts: Vec<Part>) -> Batch {
    Batch {
        commit_id: [1; 16],
        lease: None,
        now: NOW,
        parts,
    }
}

pub(crate) fn open(path: &Path) -> Result<Sqlite, ReadError> {
    Sqlite::open(path, &Options::new(NOW))
}

fn refusal(opened: Result<Sqlite, ReadError>) -> String {
    match opened {
        Ok(_) => panic!("it was opened"),
        Err(error) => error.to_string(),
    }
}

#[tokio::test]
async fn a_second_process_is_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refire.db");
    let first = open(&path).unwrap();
    let said = refusal(open(&path));
    assert!(
        said.contains("refire.db is in use by another process"),
        "{said}"
    );
    first.close().await;
    let again = open(&path).unwrap();
    drop(again);
    open(&path).unwrap();
}

#[tokio::test]
async fn closing_leaves_one_file() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refire.db");
    let store = open(&path).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    store.close().await;
    let mut names: Vec<_> = std::fs::read_dir(directory.path())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    assert_eq!(names, ["refire.db", "refire.db.lock"]);
}

#[test]
fn files_of_others_are_refused_and_left_alone() {
    let directory = tempfile::tempdir().unwrap();
    let text = directory.path().join("text");
    std::fs::write(
        &text,
        "not a database, but long enough to be looked at as if it were one",
    )
    .unwrap();
    let said = refusal(open(&text));
    assert!(said.contains("is not a Refire database"), "{said}");
    let foreign = directory.path().join("foreign.db");
    Connection::open(&foreign)
        .unwrap()
        .execute_batch("CREATE TABLE t (x)")
        .unwrap();
    let before = std::fs::read(&foreign).unwrap();
    let said = refusal(open(&foreign));
    assert!(said.contains("is not a Refire database"), "{said}");
    assert_eq!(std::fs::read(&foreign).unwrap(), before);
    let nowhere = directory.path().join("no/such/directory/refire.db");
    let said = refusal(open(&nowhere));
    assert!(said.contains("cannot be opened"), "{said}");
}

#[test]
fn other_migrations_are_refused() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refire.db");
    drop(open(&path).unwrap());
    let change = |sql: &str| Connection::open(&path).unwrap().execute_batch(sql).unwrap();
    change("UPDATE schema_migrations SET sha256 = zeroblob(32) WHERE number = 1");
    let said = refusal(open(&path));
    assert!(
        said.contains("migration 1 (initial) is not the one"),
        "{said}"
    );
    change("UPDATE schema_migrations SET number = 99 WHERE number = 1");
    let said = refusal(open(&path));
    assert!(said.contains("made by a newer Refire"), "{said}");
}

/// A database from before there were triggers keeps what it has.
#[tokio::test]
async fn an_older_database_is_brought_up_to_date() {
    let directory = tempfile::tempdir().unwrap();
    let path = directory.path().join("refire.db");
    let store = open(&path).unwrap();
    let admit = Part::Admit(Box::new(admission(&workflow(), 1, "{}")));
    let parts = vec![put_workflow(), admit];
    store.commit(&batch(parts)).await.unwrap();
    store.close().await;
    let older = "DROP VIEW task_execution_history; DROP TABLE workflow_triggers; DROP TABLE trigger_state; DROP TABLE trigger_slots;
         DROP TABLE webhook_requests; DROP TABLE request_rings;
         DROP VIEW retry_logs; CREATE VIEW retry_logs AS SELECT 1 AS x;
         DROP TABLE dead_letter_retries; DROP TABLE workflow_external_tasks; DROP TABLE task_callbacks;
         DROP TABLE workflow_external_workers;
         DROP TABLE scheduled_tasks; DROP TABLE sessions; DROP TABLE breakers;
         DROP INDEX dlq_by_target; ALTER TABLE dead_letter_queue DROP COLUMN target;
         DROP TABLE notify_queue; DROP TABLE notify_groups; DROP TABLE notify_channels;
         DROP TABLE bulk_jobs; DROP TABLE bulk_items; DROP TABLE workflow_minutes; DROP TABLE alert_rules; DROP TABLE alert_state; DROP TABLE silences;
         DROP INDEX executions_by_trigger; ALTER TABLE executions DROP COLUMN trigger_id;
         ALTER TABLE work DROP COLUMN begun_at; UPDATE work SET owner = zeroblob(16), begun = 1;
         INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, reason, error_type,
             error_message, fingerprint, retry_count, max_retries, status, retry_attempted_at,
             retry_attempted_by, resolution_execution, failed_at, created_at, failure)
         VALUES (zeroblob(16), x'01', 1, 'w', 'exhausted', 'dns', '', 0, 0, 0, 'pending', 7000, 'ann',
             zeroblob(16), 0, 0, x'');
         DELETE FROM schema_migrations WHERE number > 1";
    let connection = Connection::open(&path).unwrap();
    connection.execute_batch(older).unwrap();
    drop(connection);
    let store = open(&path).unwrap();
    let kept = store.execution(id(1)).await.unwrap().unwrap();
    let begun = (kept.work[0].begun, kept.work[0].begun_at);
    assert_eq!(begun, (true, None), "it runs, nobody knows since when");
    let last = RetryRow {
        execution: ExecutionId::from_bytes([0; 16]),
        at: Timestamp::from_millis(7),
        by: "ann".to_owned(),
        from: None,
        edited: None,
        ended: Some((Status::Failed, Timestamp::from_millis(7))),
    };
    let letter = DlqId::from_bytes([0; 16]);
    assert_eq!(store.letter_retries(letter, 9).await.unwrap(), [last]);
    assert_eq!(store.next_trigger_due().await.unwrap(), None);
    store.close().await;
}

#[tokio::test]
async fn a_full_disk_writes_nothing_and_is_got_over() {
    let directory = tempfile::tempdir().unwrap();
    let options = Options {
        pages_max: Some(100),
        ..Options::new(NOW)
    };
    let store = Sqlite::open_in(directory.path(), &options).unwrap();
    let workflow = workflow();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    let input = format!("\"{}\"", "x".repeat(400_000));
    let admission = |n, input: &str| Part::Admit(Box::new(admission(&workflow, n, input)));
    let large = batch(vec![admission(1, "{}"), admission(2, &input)]);
    match store.commit(&large).await {
        Err(CommitError::NotWritten {
            reason: NotWritten::Full,
            ..
        }) => {}
        other => panic!("{other:?}"),
    }
    let none = ExecutionFilter::default();
    assert_eq!(
        store
            .executions(&none, &Stretch::new(None, 10))
            .await
            .unwrap()
            .rows,
        Vec::new()
    );
    let small = batch(vec![admission(1, "{}")]);
    assert_eq!(store.commit(&small).await.unwrap(), [PartOutcome::Done]);
    assert_eq!(
        store
            .executions(&none, &Stretch::new(None, 10))
            .await
            .unwrap()
            .rows
            .len(),
        1
    );
}

/// Commits without a pause: the thread copies what it can, and a moment of rest does the rest.
#[tokio::test(flavor = "multi_thread", worker_threads = 1)]
async fn the_log_stays_short() {
    const BATCHES: u32 = 100;
    const PER_BATCH: u32 = 500;
    /// The log may be this long: what waits for the thread, and what came while it was busy.
    const LOG_BYTES_MAX: u64 = 128 << 20;
    let directory = tempfile::tempdir().unwrap();
    let store = std::sync::Arc::new(Sqlite::open_in(directory.path(), &Options::new(NOW)).unwrap());
    let workflow = workflow();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    let pattern = admission(&workflow, 0, "{\"n\":1}");
    // Somebody always reads.
    let is_over = std::sync::Arc::new(AtomicBool::new(false));
    let reading = tokio::spawn({
        let (store, is_over) = (
            std::sync::Arc::clone(&store),
            std::sync::Arc::clone(&is_over),
        );
        async move {
            while !is_over.load(Ordering::Relaxed) {
                store
                    .executions(&ExecutionFilter::default(), &Stretch::new(None, 100))
                    .await
                    .unwrap();
            }
        }
    });
    let mut longest = 0;
    for n in 0..BATCHES {
        let first = n * PER_BATCH;
        let parts = (first..first + PER_BATCH).map(|n| same_as(&pattern, n));
        store.commit(&batch(parts.collect())).await.unwrap();
        longest = longest.max(store.stats().wal_frames);
        store.idle();
    }
    is_over.store(true, Ordering::Relaxed);
    reading.await.unwrap();
    let stats = store.stats();
    assert!(stats.checkpoints > 0, "{stats:?}");
    assert!(
        longest * 4_096 < LOG_BYTES_MAX,
        "{longest} frames, {stats:?}"
    );
    let size = std::fs::metadata(directory.path().join("refire.db-wal"))
        .unwrap()
        .len();
    assert!(size < LOG_BYTES_MAX, "{size} bytes, {stats:?}");
    store.close().await;
}

/// A copy holds every input and output, whatever the process's mask allows others to see.
#[cfg(unix)]
#[tokio::test]
async fn a_backup_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::open_in(directory.path(), &Options::new(NOW)).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    let target = directory.path().join("copy.db");
    // What an interrupted copy left behind does not give its mode to the next.
    let partial = directory.path().join("copy.db.partial");
    std::fs::write(&partial, "half a copy").unwrap();
    std::fs::set_permissions(&partial, PermissionsExt::from_mode(0o666)).unwrap();
    store.backup(&target, &|_, _| {}).await.unwrap();
    let mode = std::fs::metadata(&target).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    assert!(!partial.exists());
    // One that is being written is left alone.
    let other = directory.path().join("other.db");
    let partial = directory.path().join("other.db.partial");
    let under_way = std::fs::File::create(&partial).unwrap();
    under_way.lock().unwrap();
    let refused = store.backup(&other, &|_, _| {}).await.unwrap_err();
    let said = std::error::Error::source(&refused).unwrap().to_string();
    assert_eq!(said, "another copy is being written there");
    assert!(partial.exists() && !other.exists());
    // A complete copy of that name would go as the remains of another one.
    let like_it = directory.path().join("new.db.partial");
    let refused = store.backup(&like_it, &|_, _| {}).await.unwrap_err();
    let said = std::error::Error::source(&refused).unwrap().to_string();
    assert!(said.contains("that end with .partial"), "{said}");
    // Nothing is written over or through, also if it leads nowhere.
    std::os::unix::fs::symlink(directory.path().join("nowhere"), &other).unwrap();
    drop(under_way);
    store.backup(&other, &|_, _| {}).await.unwrap_err();
    assert!(!directory.path().join("nowhere").exists());
}

/// Also where the directory was there before, and is open to others.
#[cfg(unix)]
#[tokio::test]
async fn a_new_database_is_private() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().unwrap();
    let open_to_all = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(directory.path(), open_to_all).unwrap();
    let store = open(&directory.path().join("refire.db")).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    let mut names = Vec::new();
    for entry in std::fs::read_dir(directory.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
        names.push(entry.file_name().into_string().unwrap());
    }
    names.sort();
    let expected = [
        "refire.db",
        "refire.db-shm",
        "refire.db-wal",
        "refire.db.lock",
    ];
    assert_eq!(names, expected);
    store.close().await;
}

#[tokio::test]
async fn people_can_read_the_history_of_tasks() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::open_in(directory.path(), &Options::new(NOW)).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    store.close().await;
    let connection = Connection::open(directory.path().join("refire.db")).unwrap();
    let id = ExecutionId::from_bytes(*b"\x01\x980123456789:;<=");
    let rows = "INSERT INTO executions VALUES (ID, 1, 1, 1, 3, x'00', 'waiting', NULL, 'schedule', 5,
             0, 0, 1, 0, NULL, ID, 0, NULL, NULL, NULL);
         INSERT INTO scheduled_tasks VALUES (ID, 1, NULL, 'custom', 'daily', 1, NULL, x'', x'', 0, 0, 0,
             NULL, NULL);
         INSERT INTO workflow_events VALUES
             (ID, 1, 'EXECUTION_STARTED', 1, 0, NULL, NULL, NULL, NULL, 0,
              CAST('{\"trigger\":{\"cycle\":7}}' AS BLOB)),
             (ID, 2, 'STEP_LOST', 1, 1000000, 'call', 1, NULL, NULL, 0, x'7b7d'),
             (ID, 3, 'STEP_STARTED', 1, 2000000, 'call', 2, NULL, NULL, 0, x'7b7d'),
             (ID, 4, 'STEP_FAILED', 1, 2500000, 'call', 2, NULL, NULL, 0,
              CAST('{\"error\":{\"type\":\"read_timeout\"}}' AS BLOB)),
             (ID, 5, 'STEP_STARTED', 1, 4000000, 'call', 3, NULL, NULL, 0,
              CAST('{\"answer\":{},\"duration_ms\":500}' AS BLOB)),
             (ID, 6, 'CALLBACK_RECEIVED', 1, 5000000, 'call', 3, NULL, NULL, 0,
              CAST('{\"status\":\"processing\"}' AS BLOB));
         INSERT INTO task_callbacks VALUES
             (ID, 0, 3, 'call', 'orders', 1, 9000000, 9000000, 40, 'half', NULL, NULL, 4000000, 6000000)";
    let hex: String = id
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    connection
        .execute_batch(&rows.replace("ID", &format!("x'{hex}'")))
        .unwrap();
    let lines: Vec<String> = connection
        .prepare(
            "SELECT concat_ws(' ', id, scheduled_task_id, cycle_number, is_retry,
                execution_started_at, execution_completed_at, trigger_status, execution_status,
                progress, progress_message, updated_at) FROM task_execution_history ORDER BY id",
        )
        .unwrap()
        .query_map([], |row| row.get(0))
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    assert_eq!(
        lines,
        [
            format!("{id}-1 orders 7 0 1000000 1000000 failed trigger_failed 1000000"),
            format!("{id}-2 orders 7 1 2000000 2500000 timeout timeout 2500000"),
            format!("{id}-3 orders 7 1 3500000 success processing 40 half 6000000"),
        ]
    );
}

#[tokio::test]
async fn people_can_read_the_tables() {
    let directory = tempfile::tempdir().unwrap();
    let store = Sqlite::open_in(directory.path(), &Options::new(NOW)).unwrap();
    store.commit(&batch(vec![put_workflow()])).await.unwrap();
    assert_eq!(
        store
            .letter_summary(&LetterFilter::default())
            .await
            .unwrap()
            .count,
        0
    );
    store.close().await;
    let connection = Connection::open(directory.path().join("refire.db")).unwrap();
    let id = ExecutionId::from_bytes(*b"\x01\x980123456789:;<=");
    let rows = "INSERT INTO executions VALUES (ID, 1, 1, 1, 3, x'00', 'retrying', NULL, 'manual', 5,
             0, 0, 1, 0, NULL, ID, 0, NULL, NULL, NULL);
         INSERT INTO workflow_events VALUES
             (ID, 2, 'STEP_FAILED', 1, 1000000, 'a', 1, NULL, 'no luck', 0, CAST('{\"error\":
              {\"type\":\"http_status\",\"code\":\"503\",\"message\":\"no luck\",\"retryable\":true}}' AS BLOB)),
             (ID, 3, 'RETRY_SCHEDULED', 1, 1000000, 'a', 2, 1500, 'no luck', 0, x'7b7d'),
             (ID, 4, 'STEP_LOST', 1, 3000000, 'a', 2, NULL, 'gone', 0, x'7b7d'),
             (ID, 5, 'RETRY_SCHEDULED', 1, 3000000, 'a', 3, 2000, 'gone', 0, x'7b7d')";
    let hex: String = id
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    connection
        .execute_batch(&rows.replace("ID", &format!("x'{hex}'")))
        .unwrap();
    let lines: Vec<String> = connection
        .prepare("SELECT * FROM retry_logs ORDER BY attempt")
        .unwrap()
        .query_map([], |row| {
            let cells = (0..11).map(|at| Ok(format!("{:?}", row.get::<_, Value>(at)?)));
            Ok(cells.collect::<rusqlite::Result<Vec<_>>>()?.join(" "))
        })
        .unwrap()
        .collect::<rusqlite::Result<_>>()
        .unwrap();
    let line = |rest: &str| format!("Text(\"{id}\") Text(\"orders\") Text(\"a\") {rest}");
    assert_eq!(
        lines,
        [
            line(
                "Integer(1) Text(\"http_status\") Text(\"no luck\") Text(\"503\") Integer(1) \
                 Real(1.5) Integer(2500000) Integer(1000000)"
            ),
            line(
                "Integer(2) Text(\"node_lost\") Text(\"gone\") Null Integer(1) Real(2.0) \
                 Integer(5000000) Integer(3000000)"
            ),
        ]
    );
}
