//! The tables and their history: numbered scripts, each applied once and never changed again.
//!
//! Going back is not possible: a database made by a newer program is refused, not guessed at.

use refire_core::time::Timestamp;
use rusqlite::{Connection, OptionalExtension, TransactionBehavior};
use sha2::{Digest, Sha256};

use crate::ReadError;

/// Every migration, in order.
const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "initial",
        script: include_str!("migrations/0001_initial.sql"),
    },
    Migration {
        number: 2,
        name: "triggers",
        script: include_str!("migrations/0002_triggers.sql"),
    },
    Migration {
        number: 3,
        name: "records",
        script: include_str!("migrations/0003_records.sql"),
    },
    Migration {
        number: 4,
        name: "tasks",
        script: include_str!("migrations/0004_tasks.sql"),
    },
    Migration {
        number: 5,
        name: "callbacks",
        script: include_str!("migrations/0005_callbacks.sql"),
    },
    Migration {
        number: 6,
        name: "workers",
        script: include_str!("migrations/0006_workers.sql"),
    },
    Migration {
        number: 7,
        name: "scheduled",
        script: include_str!("migrations/0007_scheduled.sql"),
    },
    Migration {
        number: 8,
        name: "sessions",
        script: include_str!("migrations/0008_sessions.sql"),
    },
    Migration {
        number: 9,
        name: "started_by",
        script: include_str!("migrations/0009_started_by.sql"),
    },
    Migration {
        number: 10,
        name: "task_history",
        script: include_str!("migrations/0010_task_history.sql"),
    },
    Migration {
        number: 11,
        name: "notices",
        script: include_str!("migrations/0011_notices.sql"),
    },
    Migration {
        number: 12,
        name: "bulk",
        script: include_str!("migrations/0012_bulk.sql"),
    },
    Migration {
        number: 13,
        name: "alerts",
        script: include_str!("migrations/0013_alerts.sql"),
    },
    Migration {
        number: 14,
        name: "breakers",
        script: include_str!("migrations/0014_breakers.sql"),
    },
];

struct Migration {
    number: u32,
    name: &'static str,
    script: &'static str,
}

impl Migration {
    fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.script.as_bytes()).into()
    }
}

/// Applies what is missing, all of it or nothing.
pub(super) fn migrate(connection: &mut Connection, now: Timestamp) -> Result<(), ReadError> {
    let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
    transaction.execute_batch(
        "CREATE TABLE IF NOT EXISTS schema_migrations (
             number     INTEGER PRIMARY KEY,
             name       TEXT    NOT NULL,
             sha256     BLOB    NOT NULL,
             applied_at INTEGER NOT NULL
         ) STRICT",
    )?;
    refuse_newer(&transaction)?;
    for migration in MIGRATIONS {
        if !is_applied(&transaction, migration)? {
            transaction.execute_batch(migration.script)?;
            transaction.execute(
                "INSERT INTO schema_migrations (number, name, sha256, applied_at)
                 VALUES (?1, ?2, ?3, ?4)",
                (
                    migration.number,
                    migration.name,
                    migration.sha256(),
                    now.as_micros(),
                ),
            )?;
        }
    }
    transaction.commit()?;
    Ok(())
}

/// Whether any migration was ever applied.
pub(super) fn has_history(connection: &Connection) -> Result<bool, ReadError> {
    let sql = "SELECT EXISTS (SELECT 1 FROM sqlite_schema WHERE name = 'schema_migrations')";
    Ok(connection.query_row(sql, [], |row| row.get(0))?)
}

pub(super) fn refuse_newer(connection: &Connection) -> Result<(), ReadError> {
    let newest: u32 = connection.query_row(
        "SELECT coalesce(max(number), 0) FROM schema_migrations",
        [],
        |row| row.get(0),
    )?;
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if newest > known {
        return Err(ReadError::File {
            what: "the database was made by a newer Refire".to_owned(),
            source: format!("it has migration {newest}, this program knows {known}").into(),
        });
    }
    Ok(())
}

/// Refuses a database whose migrations are not those of this program.
pub(super) fn refuse_other(connection: &Connection) -> Result<(), ReadError> {
    for migration in MIGRATIONS {
        is_applied(connection, migration)?;
    }
    Ok(())
}

fn is_applied(connection: &Connection, migration: &Migration) -> Result<bool, ReadError> {
    let applied: Option<[u8; 32]> = connection
        .query_row(
            "SELECT sha256 FROM schema_migrations WHERE number = ?1",
            [migration.number],
            |row| row.get(0),
        )
        .optional()?;
    match applied {
        None => Ok(false),
        Some(sha256) if sha256 == migration.sha256() => Ok(true),
        Some(_) => Err(ReadError::File {
            what: format!(
                "migration {} ({}) is not the one that this database was made with",
                migration.number, migration.name
            ),
            source: "the checksums differ".into(),
        }),
    }
}
