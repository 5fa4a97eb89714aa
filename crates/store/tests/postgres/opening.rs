//! Opening: migrations, servers that cannot be used, and what errors say.

use std::time::{Duration, Instant};

use refire_core::execution::Status;
use refire_core::id::{DlqId, ExecutionId};
use refire_core::time::Timestamp;
use refire_store::postgres::{Options, Postgres, Scratch};
use refire_store::{Catalog, Letters, ReadError, Store, Triggers};
use tokio::net::TcpListener;

use crate::server::{all_words, open, options, session};

/// Programs that start at the same time.
const TOGETHER: usize = 6;

fn file_error<T>(opened: Result<T, ReadError>) -> String {
    match opened {
        Err(error @ ReadError::File { .. }) => all_words(&error),
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it is not refused"),
    }
}

#[tokio::test]
async fn programs_that_start_together_migrate_once() {
    let scratch = Scratch::empty();
    let opening = (0..TOGETHER).map(|_| {
        let options = options(&scratch);
        tokio::spawn(async move { Postgres::open(&options).await.map(drop) })
    });
    for opened in futures_util::future::join_all(opening).await {
        opened.unwrap().unwrap();
    }
    let applied = session(&scratch)
        .await
        .query(
            "SELECT number, name FROM schema_migrations ORDER BY number",
            &[],
        )
        .await
        .unwrap();
    let names: Vec<&str> = applied.iter().map(|row| row.get(1)).collect();
    assert_eq!(
        names,
        [
            "initial",
            "triggers",
            "records",
            "outcomes",
            "tasks",
            "callbacks",
            "workers",
            "scheduled",
            "sessions",
            "started_by",
            "task_history",
            "notices",
            "bulk",
            "alerts",
            "breakers"
        ]
    );
}

/// The names of what is still to be applied.
async fn pending(options: &Options) -> Vec<String> {
    let pending = Postgres::pending(options).await.unwrap();
    pending.into_iter().map(|one| one.name).collect()
}

#[tokio::test]
async fn migrations_wait_for_whoever_applies_them() {
    let scratch = Scratch::empty();
    let options = options(&scratch);
    let missing = [
        "0001_initial",
        "0002_triggers",
        "0003_records",
        "0004_outcomes",
        "0005_tasks",
        "0006_callbacks",
        "0007_workers",
        "0008_scheduled",
        "0009_sessions",
        "0010_started_by",
        "0011_task_history",
        "0012_notices",
        "0013_bulk",
        "0014_alerts",
        "0015_breakers",
    ]
    .map(str::to_owned);
    assert_eq!(pending(&options).await, missing);
    let mut waiting = options.clone();
    waiting.migrate = false;
    let said = file_error(Postgres::open(&waiting).await);
    assert!(said.contains("run `refire migrate`"), "{said}");
    assert!(said.contains("0001_initial"), "{said}");
    assert_eq!(pending(&options).await, missing);
    assert_eq!(Postgres::migrate(&options).await.unwrap(), missing);
    assert!(Postgres::pending(&options).await.unwrap().is_empty());
    assert!(Postgres::migrate(&options).await.unwrap().is_empty());
    Postgres::open(&waiting).await.unwrap().close().await;
}

/// A database from before there were triggers.
#[tokio::test]
async fn an_older_database_is_brought_up_to_date() {
    let scratch = Scratch::empty();
    open(&scratch).await.close().await;
    let older = "DROP VIEW task_execution_history; DROP FUNCTION event_json;
         DROP TABLE workflow_triggers, trigger_state, trigger_slots, webhook_requests,
             request_rings, workflow_external_tasks, task_callbacks, workflow_external_workers,
             scheduled_tasks, sessions, breakers, notify_queue, notify_groups, notify_channels,
             workflow_minutes, bulk_jobs, bulk_items, alert_rules, alert_state, silences;
         ALTER TABLE dead_letter_queue DROP COLUMN target;
         ALTER TABLE work DROP COLUMN begun_at; ALTER TABLE executions DROP COLUMN trigger_id; DROP TABLE dead_letter_retries;
         ALTER TABLE commit_marks DROP COLUMN outcomes;
         DROP VIEW retry_logs; DROP FUNCTION execution_name, readable;
         CREATE VIEW retry_logs AS SELECT 1 AS x;
         INSERT INTO dead_letter_queue (id, execution, workflow, workflow_name, reason, error_type,
             error_message, fingerprint, retry_count, max_retries, status, retry_attempted_at,
             retry_attempted_by, resolution_execution, failed_at, created_at, failure)
         VALUES ('00000000-0000-0000-0000-000000000000', '00000000-0000-0000-0000-000000000001', 1,
             'w', 'exhausted', 'dns', '', 0, 0, 0, 'pending', 7000, 'ann',
             '00000000-0000-0000-0000-000000000002', 0, 0, '');
         DELETE FROM schema_migrations WHERE number > 1";
    session(&scratch).await.batch_execute(older).await.unwrap();
    let options = options(&scratch);
    assert_eq!(
        pending(&options).await,
        [
            "0002_triggers",
            "0003_records",
            "0004_outcomes",
            "0005_tasks",
            "0006_callbacks",
            "0007_workers",
            "0008_scheduled",
            "0009_sessions",
            "0010_started_by",
            "0011_task_history",
            "0012_notices",
            "0013_bulk",
            "0014_alerts",
            "0015_breakers"
        ]
    );
    let store = open(&scratch).await;
    assert_eq!(store.next_trigger_due().await.unwrap(), None);
    let letter = DlqId::from_bytes([0; 16]);
    let retries = store.letter_retries(letter, 9).await.unwrap();
    let last = &retries[0];
    assert_eq!((retries.len(), last.by.as_str()), (1, "ann"));
    let then = Timestamp::from_millis(7);
    assert_eq!((last.at, last.ended), (then, Some((Status::Failed, then))));
    assert!(pending(&options).await.is_empty());
    store.close().await;
}

/// The view that people read: ids and texts as everywhere else, whatever a text holds.
#[tokio::test]
async fn people_can_read_the_retries() {
    let scratch = Scratch::empty();
    let store = open(&scratch).await;
    let id = ExecutionId::from_bytes(*b"\x01\x980123456789:;<=");
    let hex: String = id
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let rows = "INSERT INTO workflows (id, name, version, created_at, updated_at)
             VALUES ('orders', '', 1, 0, 0);
         INSERT INTO executions SELECT 'ID', 1, key, 1, 3, 'ID', 'retrying', NULL, 'manual', 5,
             0, 0, 1, 0, NULL, 'ID', 0, NULL, NULL FROM workflows;
         INSERT INTO workflow_events VALUES
             ('ID', 2, 'STEP_FAILED', 1, 1000000, 'a', 1, NULL, '\\x6e6f00', 0, '{\"error\":
              {\"type\":\"local\",\"code\":\"a\\\\u0000\",\"message\":\"no\\\\u0000\",\"retryable\":true}}'),
             ('ID', 3, 'RETRY_SCHEDULED', 1, 1000000, 'a', 2, 1500, '\\x6e6f00', 0, '{}'),
             ('ID', 4, 'STEP_LOST', 1, 3000000, 'a', 2, NULL, 'gone', 0, '{}'),
             ('ID', 5, 'RETRY_SCHEDULED', 1, 3000000, 'a', 3, 2000, 'gone', 0, '{}')";
    let session = session(&scratch).await;
    session
        .batch_execute(&rows.replace("ID", &hex))
        .await
        .unwrap();
    let sql = "SELECT to_json(retry_logs)::text FROM retry_logs ORDER BY attempt";
    let lines = session.query(sql, &[]).await.unwrap();
    let lines: Vec<&str> = lines.iter().map(|line| line.get(0)).collect();
    let start = format!("{{\"execution_id\":\"{id}\",\"workflow_id\":\"orders\",\"step\":\"a\",");
    let lines: Vec<_> = lines
        .iter()
        .map(|line| line.strip_prefix(&start).unwrap())
        .collect();
    assert_eq!(
        lines,
        [
            "\"attempt\":1,\"error_type\":\"local\",\"error_message\":\"no\\\\000\",\
             \"error_code\":\"a\u{fffd}\",\"retryable\":true,\
             \"delay_seconds\":1.5000000000000000,\"next_retry_at\":2500000,\"timestamp\":1000000}",
            "\"attempt\":2,\"error_type\":\"node_lost\",\"error_message\":\"gone\",\
             \"error_code\":null,\"retryable\":true,\
             \"delay_seconds\":2.0000000000000000,\"next_retry_at\":5000000,\"timestamp\":3000000}",
        ]
    );
    store.close().await;
}

/// The view that people read of scheduled tasks.
#[tokio::test]
async fn people_can_read_the_history_of_tasks() {
    let scratch = Scratch::empty();
    let store = open(&scratch).await;
    let id = ExecutionId::from_bytes(*b"\x01\x980123456789:;<=");
    let hex: String = id
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let rows = "INSERT INTO workflows (id, name, version, created_at, updated_at)
             VALUES ('task-1', '', 1, 0, 0);
         INSERT INTO executions SELECT 'ID', 1, key, 1, 3, 'ID', 'waiting', NULL, 'schedule', 5,
             0, 0, 1, 0, NULL, 'ID', 0, NULL, NULL FROM workflows;
         INSERT INTO scheduled_tasks SELECT 'ID', key, NULL, 'custom', 'daily', 1, NULL, '', '', 0, 0, 0,
             NULL, NULL FROM workflows;
         INSERT INTO workflow_events VALUES
             ('ID', 1, 'EXECUTION_STARTED', 1, 0, NULL, NULL, NULL, NULL, 0, '{\"trigger\":{\"cycle\":7}}'),
             ('ID', 2, 'STEP_LOST', 1, 1000000, 'call', 1, NULL, NULL, 0, '{}'),
             ('ID', 3, 'STEP_STARTED', 1, 2000000, 'call', 2, NULL, NULL, 0, '{}'),
             ('ID', 4, 'STEP_FAILED', 1, 2500000, 'call', 2, NULL, NULL, 0,
              '{\"error\":{\"type\":\"read_timeout\"}}'),
             ('ID', 5, 'STEP_STARTED', 1, 4000000, 'call', 3, NULL, NULL, 0,
              '{\"answer\":{},\"duration_ms\":500}'),
             ('ID', 6, 'CALLBACK_RECEIVED', 1, 5000000, 'call', 3, NULL, NULL, 0,
              '{\"status\":\"processing\"}');
         INSERT INTO task_callbacks VALUES
             ('ID', 0, 3, 'call', 'task-1', 1, 9000000, 9000000, 40, '\\x68616c66', NULL, NULL, 4000000,
              6000000)";
    let session = session(&scratch).await;
    session
        .batch_execute(&rows.replace("ID", &hex))
        .await
        .unwrap();
    let sql = "SELECT concat_ws(' ', id, scheduled_task_id, cycle_number, is_retry,
            execution_started_at, execution_completed_at, trigger_status, execution_status, progress,
            progress_message, updated_at) FROM task_execution_history ORDER BY id";
    let lines = session.query(sql, &[]).await.unwrap();
    let lines: Vec<&str> = lines.iter().map(|line| line.get(0)).collect();
    assert_eq!(
        lines,
        [
            format!("{id}-1 task-1 7 f 1000000 1000000 failed trigger_failed 1000000"),
            format!("{id}-2 task-1 7 t 2000000 2500000 timeout timeout 2500000"),
            format!("{id}-3 task-1 7 t 3500000 success processing 40 half 6000000"),
        ]
    );
    store.close().await;
}

#[tokio::test]
async fn a_newer_database_is_refused() {
    let scratch = Scratch::empty();
    let options = options(&scratch);
    open(&scratch).await.close().await;
    let session = session(&scratch).await;
    session
        .batch_execute("INSERT INTO schema_migrations VALUES (9999, 'of tomorrow', '\\x00', now())")
        .await
        .unwrap();
    let newer = "made by a newer Refire";
    assert!(file_error(Postgres::open(&options).await).contains(newer));
    assert!(file_error(Postgres::pending(&options).await).contains(newer));
    assert!(file_error(Postgres::migrate(&options).await).contains(newer));
    session
        .batch_execute(
            "DELETE FROM schema_migrations WHERE number = 9999;
             UPDATE schema_migrations SET sha256 = '\\x00'",
        )
        .await
        .unwrap();
    let said = file_error(Postgres::open(&options).await);
    assert!(
        said.contains("not the one that this database was made with"),
        "{said}"
    );
}

#[tokio::test]
async fn an_encoding_that_cannot_hold_every_text_is_refused() {
    let scratch = Scratch::with("ENCODING 'LATIN1' TEMPLATE template0 LC_COLLATE 'C' LC_CTYPE 'C'");
    let said = file_error(Postgres::open(&options(&scratch)).await);
    assert!(said.contains("encoding is LATIN1"), "{said}");
}

#[tokio::test]
async fn a_database_that_takes_no_writes_is_refused() {
    let scratch = Scratch::empty();
    let read_only = "DO $$ BEGIN EXECUTE format(
        'ALTER DATABASE %I SET default_transaction_read_only = on', current_database()); END $$";
    session(&scratch)
        .await
        .batch_execute(read_only)
        .await
        .unwrap();
    match Postgres::open(&options(&scratch)).await {
        Err(error @ ReadError::Unavailable(_)) => {
            let said = all_words(&error);
            assert!(said.contains("does not allow writes"), "{said}");
        }
        Err(other) => panic!("{other:?}"),
        Ok(_) => panic!("it is opened"),
    }
}

#[tokio::test]
async fn tls_is_not_given_up_where_it_is_required() {
    let scratch = Scratch::empty();
    for mode in ["require", "verify-full"] {
        let url = scratch.url().replace('?', &format!("?sslmode={mode}&"));
        let error = Postgres::open(&Options::new(&url).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        let said = all_words(&error);
        assert!(
            said.contains("server does not support TLS"),
            "{mode}: {said}"
        );
    }
    let url = scratch.url().replace('?', "?sslmode=prefer&");
    let store = Postgres::open(&Options::new(&url).unwrap()).await.unwrap();
    store.close().await;
}

#[tokio::test]
async fn an_error_names_the_place_and_not_the_password() {
    let refused = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let nowhere = refused.local_addr().unwrap();
    drop(refused);
    let scratch = Scratch::empty();
    // The password of the server, or any where it asks for none.
    let url = scratch.url();
    let (user, rest) = url.split_once('@').unwrap();
    let given = user
        .rsplit_once(':')
        .filter(|(scheme, _)| scheme.contains("//"));
    let (user, password) = given.unwrap_or((user, "s3cr3t"));
    let elsewhere = format!("{user}:{password}@{rest}");
    let no_database = elsewhere.replace("refire_test_", "no_such_");
    for (url, named) in [
        (
            format!("postgres://me:{password}@{nowhere}/app"),
            nowhere.to_string(),
        ),
        (no_database, "no_such_".to_owned()),
    ] {
        let error = Postgres::open(&Options::new(&url).unwrap())
            .await
            .map(drop)
            .unwrap_err();
        let said = all_words(&error);
        assert!(matches!(error, ReadError::Unavailable(_)), "{said}");
        assert!(said.contains(&named), "{said}");
        assert!(!said.contains(password), "{said}");
    }
    let store = Postgres::open(&Options::new(&elsewhere).unwrap())
        .await
        .unwrap();
    store.close().await;
    let error = store.workflows(None, 1).await.unwrap_err();
    assert!(!all_words(&error).contains(password));
}

#[tokio::test]
async fn a_server_that_says_nothing_is_given_up() {
    let silent = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let place = silent.local_addr().unwrap();
    let options = Options::new(&format!("postgres://me@{place}/app")).unwrap();
    let began = Instant::now();
    let said = all_words(&Postgres::open(&options).await.map(drop).unwrap_err());
    assert!(
        began.elapsed() < Duration::from_secs(20),
        "{:?}",
        began.elapsed()
    );
    assert!(said.contains(&place.to_string()), "{said}");
    assert!(
        said.contains("did not answer") || said.contains("imed out"),
        "{said}"
    );
}

#[tokio::test]
async fn the_first_to_choose_a_setting_chooses_for_all() {
    let scratch = Scratch::empty();
    let (one, other) = (open(&scratch).await, open(&scratch).await);
    assert_eq!(one.setting("key").await.unwrap(), None);
    let (a, b) = tokio::join!(
        one.put_setting_if_absent("key", b"of one"),
        other.put_setting_if_absent("key", b"of the other\0"),
    );
    let stands = a.unwrap();
    assert_eq!(stands, b.unwrap());
    assert!([&b"of one"[..], b"of the other\0"].contains(&stands.as_slice()));
    assert_eq!(other.setting("key").await.unwrap(), Some(stands.clone()));
    assert_eq!(
        one.put_setting_if_absent("key", b"late").await.unwrap(),
        stands
    );
    one.close().await;
    other.close().await;
}
