//! What the index of triggers costs executions that a trigger starts: by turns with it and without it, on the
//! same tables.

use std::path::Path;

use super::crowd::{Crowd, EXECUTIONS};
use crate::prelude::*;

const REPEATS: u32 = 5;
/// Admissions of one turn.
const ADMISSIONS: usize = 20_000;

const MAKE: &str = "CREATE INDEX executions_by_trigger ON executions (trigger_id, id) WHERE trigger_id IS NOT NULL";
const DROP: &str = "DROP INDEX executions_by_trigger";

/// The database from another connection.
pub(crate) enum Index {
    Sqlite(rusqlite::Connection),
    Postgres(tokio_postgres::Client),
}

impl Index {
    pub(crate) fn of_sqlite(dir: &Path) -> anyhow::Result<Self> {
        let connection = rusqlite::Connection::open(dir.join("refire.db"))?;
        connection.busy_timeout(Duration::from_secs(30))?;
        Ok(Self::Sqlite(connection))
    }

    pub(crate) async fn of_postgres(url: &str) -> anyhow::Result<Self> {
        let (client, connection) = tokio_postgres::connect(url, tokio_postgres::NoTls).await?;
        tokio::spawn(connection);
        Ok(Self::Postgres(client))
    }

    /// What a database does by itself in a while.
    pub(crate) async fn settle(&mut self) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(_) => Ok(()),
            Self::Postgres(_) => self.run("VACUUM ANALYZE").await,
        }
    }

    async fn run(&mut self, sql: &str) -> anyhow::Result<()> {
        match self {
            Self::Sqlite(connection) => Ok(connection.execute_batch(sql)?),
            Self::Postgres(client) => Ok(client.batch_execute(sql).await?),
        }
    }
}

/// Prints `LISTS admissions`.
pub(crate) async fn report(name: &str, crowd: &Crowd, index: &mut Index) -> anyhow::Result<()> {
    let (mut with, mut without, mut ratio) = <(Repeats, Repeats, Repeats)>::default();
    for _ in repeats(REPEATS, format_args!("lists on {name}: admissions")) {
        let indexed = rate(crowd).await?;
        index.run(DROP).await?;
        let plain = rate(crowd).await?;
        index.run(MAKE).await?;
        with.add(indexed);
        without.add(plain);
        ratio.add(indexed / plain);
    }
    Line::new("LISTS", "admissions")
        .word("store", name)
        .word("executions", EXECUTIONS)
        .figure("by_trigger_s", &with)
        .figure("without_index_s", &without)
        .figure("ratio", &ratio)
        .goal("ratio", Goal::AtLeast(0.9))
        .print();
    Ok(())
}

async fn rate(crowd: &Crowd) -> anyhow::Result<f64> {
    let began = Instant::now();
    for _ in 0..ADMISSIONS / TOGETHER {
        // Each of them by the busy trigger, and each completes at once.
        let many = (0..TOGETHER).map(|n| crowd.submission(EXECUTIONS + 3 * n + 2, "false"));
        crowd.one.submit_all(many.collect()).await?;
    }
    Ok(ADMISSIONS as f64 / began.elapsed().as_secs_f64())
}
