//! Tables that are rewritten all the time say by themselves when they are to be vacuumed: the server's
//! defaults wait for a share of a table that only grows.

use std::collections::BTreeMap;

use refire_store::Store;
use refire_store::postgres::Scratch;

use crate::server::{open, session};

/// Vacuumed after so many rewrites, whatever their size: few rows that change with every commit.
const BY_COUNT: [&str; 13] = [
    "alert_state",
    "bulk_jobs",
    "commit_marks",
    "dlq_counts",
    "nodes",
    "notify_groups",
    "notify_queue",
    "trigger_state",
    "work",
    "task_callbacks",
    "workflow_external_tasks",
    "workflow_external_workers",
    "workflow_minutes",
];
/// Vacuumed after a small share of them has changed: these grow.
const BY_SHARE: [&str; 6] = [
    "bulk_items",
    "executions",
    "idempotency",
    "trigger_slots",
    "webhook_requests",
    "workflow_events",
];
/// The defaults are right for these. They change when people do something; only a ring changes with
/// refused requests, but has one row for each webhook, so that the default of fifty rewrites and a fifth
/// of the table comes soon enough.
const BY_DEFAULT: [&str; 14] = [
    "alert_rules",
    "breakers",
    "dead_letter_queue",
    "dead_letter_retries",
    "notify_channels",
    "request_rings",
    "scheduled_tasks",
    "schema_migrations",
    "sessions",
    "settings",
    "silences",
    "workflow_triggers",
    "workflow_versions",
    "workflows",
];

const OPTIONS: &str = "SELECT relname::text, coalesce(reloptions, '{}') FROM pg_class
     WHERE relkind = 'r' AND relnamespace = current_schema()::regnamespace";

/// The number that a table sets for itself.
fn set(options: &[String], name: &str) -> Option<f64> {
    let values = options.iter().filter_map(|option| option.split_once('='));
    let mut values = values.filter(|(option, _)| *option == name);
    values.next().map(|(_, value)| value.parse().unwrap())
}

#[tokio::test]
async fn every_hot_table_says_when_it_is_vacuumed() {
    let scratch = Scratch::new();
    let store = open(&scratch).await;
    let rows = session(&scratch).await.query(OPTIONS, &[]).await.unwrap();
    let mut tables: BTreeMap<String, Vec<String>> =
        rows.iter().map(|row| (row.get(0), row.get(1))).collect();
    for name in BY_COUNT {
        let options = tables.remove(name).unwrap();
        let share = set(&options, "autovacuum_vacuum_scale_factor");
        assert_eq!(share, Some(0.0), "{name}: {options:?}");
        let count = set(&options, "autovacuum_vacuum_threshold");
        assert!(
            count.is_some_and(|count| count <= 2_000.0),
            "{name}: {options:?}"
        );
    }
    for name in BY_SHARE {
        let options = tables.remove(name).unwrap();
        let share = set(&options, "autovacuum_vacuum_scale_factor");
        assert!(
            share.is_some_and(|share| share <= 0.05),
            "{name}: {options:?}"
        );
    }
    for name in BY_DEFAULT {
        let options = tables.remove(name).unwrap();
        let is_set = options
            .iter()
            .any(|option| option.starts_with("autovacuum"));
        assert!(!is_set, "{name}: {options:?}");
    }
    assert!(tables.is_empty(), "nobody has thought about {tables:?}");
    store.close().await;
}
