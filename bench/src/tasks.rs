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
    all(&Kind::Sqlite).await
}

/// Prints `XT` on PostgreSQL.
pub(crate) async fn on_postgres() -> anyhow::Result<()> {
    all(&Kind::Postgres).await
}

async fn all(kind: &Kind) -> anyhow::Result<()> {
    cycle::report(kind).await?;
    cycle::drain(kind).await?;
    poll::report(kind).await?;
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
        let server = Server::start(self.dir.path(), self.url().as_deref())?;
        let api = server.client()?;
        api.apply_workflow(WORKFLOW, &workflow(settings), None)
            .await?;
        Ok(server)
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
