//! The tables and their history: numbered scripts, each applied once and never changed again.
//!
//! Nodes that start together take turns. Going back is not possible: a database made by a newer
//! program is refused, not guessed at.

use sha2::{Digest, Sha256};
use tokio_postgres::{Client, GenericClient, Transaction};

use super::options::Options;
use super::{columns, connect, failure};
use crate::ReadError;

/// Every migration, in order.
const MIGRATIONS: &[Migration] = &[
    Migration {
        number: 1,
        name: "initial",
        about: "makes all tables, in an empty database",
        script: include_str!("migrations/0001_initial.sql"),
    },
    Migration {
        number: 2,
        name: "triggers",
        about: "adds tables for triggers; nothing else changes",
        script: include_str!("migrations/0002_triggers.sql"),
    },
    Migration {
        number: 3,
        name: "records",
        about: "adds a column to work and a table of retries by people, and makes the view retry_logs anew",
        script: include_str!("migrations/0003_records.sql"),
    },
    Migration {
        number: 4,
        name: "outcomes",
        about: "adds a column to the marks of commits, and makes the function begin_commit anew",
        script: include_str!("migrations/0004_outcomes.sql"),
    },
    Migration {
        number: 5,
        name: "tasks",
        about: "adds a table for tasks of workers; nothing else changes",
        script: include_str!("migrations/0005_tasks.sql"),
    },
    Migration {
        number: 6,
        name: "callbacks",
        about: "adds a table for callbacks of targets; nothing else changes",
        script: include_str!("migrations/0006_callbacks.sql"),
    },
    Migration {
        number: 7,
        name: "workers",
        about: "adds a table of workers and an index of what they have; nothing else changes",
        script: include_str!("migrations/0007_workers.sql"),
    },
    Migration {
        number: 8,
        name: "scheduled",
        about: "adds a table for scheduled tasks and a column to the states of triggers",
        script: include_str!("migrations/0008_scheduled.sql"),
    },
    Migration {
        number: 9,
        name: "sessions",
        about: "adds a table for sessions of the console; nothing else changes",
        script: include_str!("migrations/0009_sessions.sql"),
    },
    Migration {
        number: 10,
        name: "started_by",
        about: "adds a column to executions, and an index of those that triggers have started",
        script: include_str!("migrations/0010_started_by.sql"),
    },
    Migration {
        number: 11,
        name: "task_history",
        about: "adds the view task_execution_history; nothing else changes",
        script: include_str!("migrations/0011_task_history.sql"),
    },
    Migration {
        number: 12,
        name: "notices",
        about: "adds tables for notices and channels; nothing else changes",
        script: include_str!("migrations/0012_notices.sql"),
    },
    Migration {
        number: 13,
        name: "bulk",
        about: "adds tables for bulk jobs; nothing else changes",
        script: include_str!("migrations/0013_bulk.sql"),
    },
    Migration {
        number: 14,
        name: "alerts",
        about: "adds tables for alerts, their rules, silences and the numbers of each minute; nothing else changes",
        script: include_str!("migrations/0014_alerts.sql"),
    },
    Migration {
        number: 15,
        name: "breakers",
        about: "adds a table for circuit breakers, and a column and an index to dead letters",
        script: include_str!("migrations/0015_breakers.sql"),
    },
];

/// Held while migrations are applied: "refire" in ASCII.
const LOCK: i64 = 0x7265_6669_7265;
/// The oldest server that has all that is used here.
const SERVER_MIN: i32 = 130_000;

struct Migration {
    number: i32,
    name: &'static str,
    /// For people, after its name.
    about: &'static str,
    script: &'static str,
}

/// A migration that is still to be applied.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pending {
    /// Its number and name.
    pub name: String,
    /// What it does.
    pub about: &'static str,
}

impl Migration {
    fn sha256(&self) -> [u8; 32] {
        Sha256::digest(self.script.as_bytes()).into()
    }

    fn pending(&self) -> Pending {
        Pending {
            name: self.label(),
            about: self.about,
        }
    }

    fn label(&self) -> String {
        format!("{:04}_{}", self.number, self.name)
    }
}

/// Another one for other migrations.
#[cfg(feature = "conformance")]
pub(super) fn fingerprint() -> String {
    let all = MIGRATIONS.iter().map(|migration| migration.sha256());
    let digest = Sha256::digest(all.collect::<Vec<_>>().concat());
    digest[..8]
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect()
}

/// Refuses a server that is too old, and a database that cannot keep every text.
async fn check_server(client: &Client) -> Result<(), ReadError> {
    let row = client
        .query_one(
            "SELECT current_setting('server_version_num')::integer,
                    current_setting('server_version'), current_setting('server_encoding'),
                    current_setting('fsync')",
            &[],
        )
        .await?;
    let (number, version): (i32, &str) = (columns::get(&row, 0)?, columns::get(&row, 1)?);
    if number < SERVER_MIN {
        return Err(ReadError::File {
            what: format!("PostgreSQL {version} is too old: at least 13 is needed"),
            source: "the server is too old".into(),
        });
    }
    let encoding: &str = columns::get(&row, 2)?;
    if encoding != "UTF8" {
        return Err(ReadError::File {
            what: format!("the database's encoding is {encoding}: it must be UTF8"),
            source: "make it with CREATE DATABASE … ENCODING 'UTF8' TEMPLATE template0".into(),
        });
    }
    if columns::get::<&str>(&row, 3)? != "on" {
        tracing::warn!(
            "the PostgreSQL server runs with fsync = off: a power cut loses what was answered"
        );
    }
    Ok(())
}

/// What [`migrate`] would apply.
pub(super) async fn pending(client: &Client) -> Result<Vec<Pending>, ReadError> {
    let exists = client
        .query_one("SELECT to_regclass('schema_migrations') IS NOT NULL", &[])
        .await?;
    let applied = if columns::get(&exists, 0)? {
        applied(client).await?
    } else {
        Vec::new()
    };
    let missing = missing(&applied)?;
    Ok(missing
        .iter()
        .map(|migration| migration.pending())
        .collect())
}

/// Applies what is missing, all of it or nothing, and says what that was.
pub(super) async fn migrate(client: &mut Client) -> Result<Vec<String>, ReadError> {
    let transaction = client.transaction().await?;
    // Another node may be at it, and building an index may take its time.
    transaction
        .batch_execute("SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = '10min'")
        .await?;
    transaction
        .execute("SELECT pg_advisory_xact_lock($1)", &[&LOCK])
        .await?;
    transaction
        .batch_execute(
            "CREATE TABLE IF NOT EXISTS schema_migrations (
                 number     integer     NOT NULL PRIMARY KEY,
                 name       text        NOT NULL,
                 sha256     bytea       NOT NULL,
                 applied_at timestamptz NOT NULL
             )",
        )
        .await
        .map_err(failure::file(
            "the tables cannot be brought up to date".to_owned(),
        ))?;
    let missing = missing(&applied(&transaction).await?)?;
    for migration in &missing {
        apply(&transaction, migration)
            .await
            .map_err(failure::file(format!(
                "migration {} cannot be applied",
                migration.label()
            )))?;
    }
    transaction.commit().await?;
    Ok(labels(&missing))
}

fn labels(migrations: &[&Migration]) -> Vec<String> {
    migrations
        .iter()
        .map(|migration| migration.label())
        .collect()
}

/// The numbers and checksums of what was applied.
async fn applied(client: &impl GenericClient) -> Result<Vec<(i32, Vec<u8>)>, ReadError> {
    let rows = client
        .query("SELECT number, sha256 FROM schema_migrations", &[])
        .await?;
    rows.iter()
        .map(|row| Ok((columns::get(row, 0)?, columns::get(row, 1)?)))
        .collect()
}

/// What is to be applied to a database that has these.
fn missing(applied: &[(i32, Vec<u8>)]) -> Result<Vec<&'static Migration>, ReadError> {
    let newest = applied.iter().map(|(number, _)| *number).max().unwrap_or(0);
    let known = MIGRATIONS.last().map_or(0, |migration| migration.number);
    if newest > known {
        return Err(ReadError::File {
            what: "the database was made by a newer Refire".to_owned(),
            source: format!("it has migration {newest}, this program knows {known}").into(),
        });
    }
    let mut missing = Vec::new();
    for migration in MIGRATIONS {
        match applied
            .iter()
            .find(|(number, _)| *number == migration.number)
        {
            None => missing.push(migration),
            Some((_, sha256)) if *sha256 == migration.sha256() => {}
            Some(_) => {
                return Err(ReadError::File {
                    what: format!(
                        "migration {} is not the one that this database was made with",
                        migration.label()
                    ),
                    source: "the checksums differ".into(),
                });
            }
        }
    }
    Ok(missing)
}

/// A connection to a server that can be used.
pub(super) async fn checked(options: &Options) -> Result<Client, ReadError> {
    let client = connect::connect(options, "migrations").await?;
    check_server(&client).await?;
    Ok(client)
}

fn names(pending: &[Pending]) -> Vec<&str> {
    pending.iter().map(|one| one.name.as_str()).collect()
}

/// Makes sure that the tables are up to date.
pub(super) async fn ensure(options: &Options) -> Result<(), ReadError> {
    let mut client = checked(options).await?;
    let pending = pending(&client).await?;
    if pending.is_empty() {
        return Ok(());
    }
    if options.migrate {
        let applied = migrate(&mut client).await?;
        tracing::info!(?applied, "the database's tables are up to date");
        return Ok(());
    }
    Err(ReadError::File {
        what: "the database's tables are not up to date: run `refire migrate`".to_owned(),
        source: format!("missing: {}", names(&pending).join(", ")).into(),
    })
}

async fn apply(
    transaction: &Transaction<'_>,
    migration: &Migration,
) -> Result<(), tokio_postgres::Error> {
    transaction.batch_execute(migration.script).await?;
    transaction
        .execute(
            "INSERT INTO schema_migrations (number, name, sha256, applied_at)
             VALUES ($1, $2, $3, clock_timestamp())",
            &[
                &migration.number,
                &migration.name,
                &migration.sha256().as_slice(),
            ],
        )
        .await?;
    Ok(())
}
