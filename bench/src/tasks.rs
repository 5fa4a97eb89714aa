//! XT, tasks for workers: cycles over HTTP, polls that wait, heartbeats, clocks and floods, on SQLite and
//! on PostgreSQL.
//!
//! | | |
//! |---|---|
//! | `worker.rs` | a connection of a worker, as cheap as it can be |
//! | `cycle.rs` | created, fetched and done, beside executions without tasks; a backlog |
//! | `poll.rs` | how soon a worker has a task; very many that wait |
//! | `clock.rs` | heartbeats, and clocks that run out |
//! | `flood.rs` | polls beside a million tasks that nobody may fetch yet |
//! | `bulk.rs` | BULK, dead letters that are retried by one job |
//! | `callback.rs` | CB, targets that call back, and the history of scheduled tasks |

mod bulk;
mod callback;
mod clock;
mod cycle;
mod flood;
mod poll;
mod worker;

use refire_store::Store;
use refire_store::postgres::Scratch;
use tempfile::TempDir;

use crate::postgres;
use crate::prelude::*;
use crate::process::Server;

/// What workers ask for.
const TYPE: &str = "bench";

/// The workflow of one task, with these settings besides.
fn workflow(settings: &str) -> String {
    format!(
        "id: {WORKFLOW}\nsteps:\n  - id: only\n    type: external_task\n    config: {{taskType: {TYPE}{settings}}}\n"
    )
}

/// Prints `XT` on SQLite.
pub(crate) async fn report() -> anyhow::Result<()> {
    few(&Kind::Sqlite).await
}

/// Prints the lines of `XT` that have very many of something, on SQLite.
pub(crate) async fn many() -> anyhow::Result<()> {
    very_many(&Kind::Sqlite).await
}

/// Prints `XT` on PostgreSQL.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    few(&Kind::Postgres).await
}

/// Prints the lines of `XT` that have very many of something, on PostgreSQL.
pub(crate) async fn many_on_postgres() -> anyhow::Result<()> {
    very_many(&Kind::Postgres).await
}

/// Prints `CB` on SQLite.
pub(crate) async fn callbacks() -> anyhow::Result<()> {
    callback::report(&Kind::Sqlite).await
}

/// Prints `CB` on PostgreSQL.
pub(crate) async fn callbacks_on_postgres() -> anyhow::Result<()> {
    callback::report(&Kind::Postgres).await
}

/// Prints `BULK` on SQLite.
pub(crate) async fn bulk() -> anyhow::Result<()> {
    bulk::report(&Kind::Sqlite).await
}

/// Prints `BULK` on PostgreSQL.
pub(crate) async fn bulk_on_postgres() -> anyhow::Result<()> {
    bulk::report(&Kind::Postgres).await
}

async fn few(kind: &Kind) -> anyhow::Result<()> {
    cycle::report(kind).await?;
    cycle::drain(kind).await?;
    poll::report(kind).await
}

async fn very_many(kind: &Kind) -> anyhow::Result<()> {
    poll::waiting(kind).await?;
    clock::beats(kind).await?;
    clock::expiries(kind).await?;
    flood::report(kind).await
}

/// Which store is measured.
enum Kind {
    Sqlite,
    Postgres,
}

impl Kind {
    fn name(&self) -> &'static str {
        match self {
            Self::Sqlite => "sqlite",
            Self::Postgres => "postgres",
        }
    }

    /// Either figure, by the store.
    fn of(&self, sqlite: f64, postgres: f64) -> f64 {
        match self {
            Self::Sqlite => sqlite,
            Self::Postgres => postgres,
        }
    }

    fn line(&self, subject: &str) -> Line {
        Line::new("XT", subject).word("store", self.name())
    }
}

/// An empty place for a server or an engine, or for several one after the other.
struct Ground {
    dir: TempDir,
    scratch: Option<Scratch>,
}

impl Ground {
    fn new(kind: &Kind) -> anyhow::Result<Self> {
        Ok(Self {
            dir: place::fresh()?,
            scratch: matches!(kind, Kind::Postgres).then(Scratch::new),
        })
    }

    fn url(&self) -> Option<String> {
        self.scratch.as_ref().map(Scratch::url)
    }

    /// A server on it with the workflow of one task.
    async fn server(&self, settings: &str) -> anyhow::Result<Server> {
        self.server_of(&workflow(settings)).await
    }

    /// A server on it with this workflow.
    async fn server_of(&self, source: &str) -> anyhow::Result<Server> {
        let server = Server::start(self.dir.path(), self.url().as_deref())?;
        let api = server.client()?;
        api.apply_workflow(WORKFLOW, source, None).await?;
        Ok(server)
    }

    /// Copies an execution of the workflow so many times, as rows; nobody may be at work on it.
    async fn copy_executions(&self, count: usize) -> anyhow::Result<()> {
        const COPY: &str = "INSERT INTO executions (id, {others}) SELECT {id}, {others}
             FROM (SELECT * FROM executions WHERE status = 'completed' ORDER BY id DESC LIMIT 1)
                AS one, {numbers}";
        let Some(url) = self.url() else {
            let connection = rusqlite::Connection::open(self.dir.path().join("refire.db"))?;
            let others: String = connection.query_row(
                "SELECT group_concat(name) FROM pragma_table_info('executions') WHERE name <> 'id'",
                [],
                |row| row.get(0),
            )?;
            let numbers = format!(
                "(WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {count})
                  SELECT n FROM up) AS up"
            );
            let copy = COPY.replace("{others}", &others);
            let copy = copy.replace("{id}", "unhex(printf('%032x', n))");
            connection.execute(&copy.replace("{numbers}", &numbers), [])?;
            return Ok(());
        };
        let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
        let driving = tokio::spawn(driver);
        let others: String = client
            .query_one(
                "SELECT string_agg(column_name::text, ',') FROM information_schema.columns
                  WHERE table_name = 'executions' AND is_generated = 'NEVER'
                    AND column_name <> 'id'",
                &[],
            )
            .await?
            .get(0);
        let copy = COPY.replace("{others}", &others);
        let copy = copy.replace("{id}", "lpad(to_hex(n), 32, '0')::uuid");
        let numbers = format!("generate_series(1, {count}) AS up (n)");
        client
            .batch_execute(&copy.replace("{numbers}", &numbers))
            .await?;
        client.batch_execute("ANALYZE executions").await?;
        drop(client);
        driving.await??;
        Ok(())
    }

    /// An engine on it, inside this program.
    async fn engine(&self, settings: &str) -> anyhow::Result<Embedded> {
        let clock = Arc::new(SystemClock::new());
        let below: Arc<dyn Store> = match &self.scratch {
            Some(scratch) => postgres::open(scratch).await?,
            None => embedded::sqlite(self.dir.path(), &clock)?,
        };
        let limits = Limits::default();
        Embedded::start_on(below, clock, &workflow(settings), None, limits).await
    }
}

/// Makes so many tasks that wait.
async fn fill(engine: &Embedded, count: usize) -> anyhow::Result<()> {
    for chunk in 0..count.div_ceil(TOGETHER) {
        let first = chunk * TOGETHER;
        let numbers = first..(first + TOGETHER).min(count);
        let many = numbers.map(|number| engine.submission(number, None));
        engine.submit_all(many.collect()).await?;
    }
    Ok(())
}
