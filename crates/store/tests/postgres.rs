//! The conformance suite on PostgreSQL, and what only several nodes on one database can show.
//!
//! They need a server: `REFIRE_TEST_POSTGRES` names it.

#![expect(clippy::unwrap_used, reason = "these are tests, their setup included")]

#[expect(dead_code, reason = "only some of it is needed here")]
#[path = "differential/alert.rs"]
mod alert;
#[path = "differential/breaker.rs"]
mod breaker;
#[path = "differential/bulk.rs"]
mod bulk;
#[path = "postgres/bulk_lost.rs"]
mod bulk_lost;
#[path = "postgres/bulk_race.rs"]
mod bulk_race;
#[path = "differential/callback.rs"]
mod callback;
#[path = "postgres/cuts.rs"]
mod cuts;
#[path = "differential/decision.rs"]
mod decision;
#[path = "differential/definition.rs"]
mod definition;
#[path = "differential/dice.rs"]
mod dice;
#[path = "differential/history.rs"]
mod history;
#[path = "postgres/lease.rs"]
mod lease;
#[path = "postgres/living.rs"]
mod living;
#[path = "postgres/lost.rs"]
mod lost;
#[path = "postgres/news.rs"]
mod news;
#[path = "postgres/opening.rs"]
mod opening;
#[path = "postgres/outage.rs"]
mod outage;
#[path = "postgres/own.rs"]
mod own;
#[path = "postgres/plan.rs"]
mod plan;
#[path = "postgres/proxy.rs"]
mod proxy;
#[path = "postgres/race.rs"]
mod race;
#[expect(dead_code, reason = "only some of it is needed here")]
#[path = "differential/scheduled.rs"]
mod scheduled;
#[path = "postgres/server.rs"]
mod server;
#[path = "differential/session.rs"]
mod session;
#[path = "postgres/stage.rs"]
mod stage;
#[path = "differential/task.rs"]
mod task;
#[path = "postgres/task_lost.rs"]
mod task_lost;
#[path = "postgres/task_race.rs"]
mod task_race;
#[path = "postgres/text.rs"]
mod text;
#[path = "differential/trigger.rs"]
mod trigger;
#[path = "postgres/trigger_lost.rs"]
mod trigger_lost;
#[path = "postgres/trigger_race.rs"]
mod trigger_race;
#[path = "postgres/unreadable.rs"]
mod unreadable;
#[path = "postgres/vacuum.rs"]
mod vacuum;
#[path = "postgres/watch.rs"]
mod watch;
#[path = "differential/work.rs"]
mod work;
#[path = "differential/worker.rs"]
mod worker;

use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;
use refire_core::time::Timestamp;
use refire_store::Store;
use refire_store::conformance::Lab;
use refire_store::postgres::{Options, Postgres, Scratch};
use refire_store::sqlite::{self, Sqlite};

/// A database of its own, and a directory for backups.
struct PostgresLab {
    database: Scratch,
    directory: tempfile::TempDir,
}

impl PostgresLab {
    fn new() -> Self {
        Self {
            database: Scratch::new(),
            directory: tempfile::tempdir().unwrap(),
        }
    }
}

#[async_trait]
impl Lab for PostgresLab {
    async fn open(&self) -> Arc<dyn Store> {
        let options = Options::new(&self.database.url()).unwrap();
        Arc::new(Postgres::open(&options).await.unwrap())
    }

    /// A backup is a file that one machine can run on.
    async fn open_backup(&self, path: &Path) -> Arc<dyn Store> {
        let options = sqlite::Options::new(Timestamp::from_millis(1_800_000_000_000));
        Arc::new(Sqlite::open(path, &options).unwrap())
    }

    fn directory(&self) -> &Path {
        self.directory.path()
    }
}

/// Apart, because its topics have names that are used here, too.
mod conformance {
    use super::PostgresLab;

    refire_store::conformance!(PostgresLab::new());
}
