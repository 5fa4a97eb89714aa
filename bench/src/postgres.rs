//! PG, the engine on PostgreSQL: executions beside what pgbench does on the same cluster, claims
//! beside very many finished executions, timers.

mod baseline;
mod crowd;
mod executions;
mod webhooks;

use refire_store::postgres::{Options, Postgres, Scratch};

use crate::timers::{self as of_the_engine, Lateness};

pub(crate) use crowd::report as claims;
pub(crate) use executions::report as executions;
pub(crate) use webhooks::report as webhooks;

use crate::prelude::*;

/// How late timers may be.
const LATENESS: Lateness = Lateness {
    p50_ms: None,
    p99_ms: 25.0,
};

/// Prints `PG lateness` and `PG idle`.
pub(crate) async fn timers() -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let scratch = Scratch::new();
    of_the_engine::lateness("PG", &clock, LATENESS, open(&scratch).await?).await
}

/// The store in a database.
pub(crate) async fn open(scratch: &Scratch) -> anyhow::Result<Arc<Postgres>> {
    let options = Options::new(&scratch.url())?;
    Ok(Arc::new(Postgres::open(&options).await?))
}

/// A node on a database.
pub(crate) async fn node(
    scratch: &Scratch,
    definition: &str,
    caller: Option<Arc<dyn Caller>>,
    limits: Limits,
) -> anyhow::Result<Embedded> {
    let clock = Arc::new(SystemClock::new());
    Embedded::start_on(open(scratch).await?, clock, definition, caller, limits).await
}
