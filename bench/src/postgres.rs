//! PG, the engine on PostgreSQL: executions beside what pgbench does on the same cluster, claims
//! beside very many finished executions, pick-up by another node, timers.

mod baseline;
mod crowd;
mod executions;
mod webhooks;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use refire_engine::caller::Caller;
use refire_engine::clock::SystemClock;
use refire_engine::limit::Limits;
use refire_store::postgres::{Options, Postgres, Scratch};

use crate::embedded::{self, Embedded};
use crate::line::{Goal, Line};
use crate::progress::say;
use crate::sample::{Latency, Waits};
use crate::target::{Manner, Target};
use crate::timers::{self as of_the_engine, Lateness};

pub(crate) use crowd::report as claims;
pub(crate) use executions::report as executions;
pub(crate) use webhooks::report as webhooks;

const REPEATS: usize = 3;
/// Executions of one repeat of the pick-up.
const PICKED_UP: usize = 200;
/// Rest between two, so that nothing is under way.
const REST: Duration = Duration::from_millis(80);
/// How late timers may be.
const LATENESS: Lateness = Lateness {
    p50_ms: None,
    p99_ms: 25.0,
};

/// Prints `PG lateness` and `PG idle`.
pub(crate) async fn timers() -> anyhow::Result<()> {
    let clock = Arc::new(SystemClock::new());
    let scratch = Scratch::new();
    of_the_engine::lateness("PG", &clock, LATENESS, async |definition| {
        let below = open(&scratch).await?;
        Embedded::start_on(
            below,
            Arc::clone(&clock),
            &definition,
            None,
            Limits::default(),
        )
        .await
    })
    .await
}

/// The store in a database.
pub(crate) async fn open(scratch: &Scratch) -> anyhow::Result<Arc<Postgres>> {
    let options = Options::new(&scratch.url())?;
    Ok(Arc::new(Postgres::open(&options).await?))
}

/// A node on a database.
async fn node(
    scratch: &Scratch,
    definition: &str,
    caller: Option<Arc<dyn Caller>>,
    limits: Limits,
) -> anyhow::Result<Embedded> {
    let clock = Arc::new(SystemClock::new());
    Embedded::start_on(open(scratch).await?, clock, definition, caller, limits).await
}

/// Prints `PG pickup`: from the moment an execution is durable on a node that has no room until its target hears of it
/// from another.
pub(crate) async fn pick_up() -> anyhow::Result<()> {
    let arrived = Arc::new(Mutex::new(None::<Instant>));
    let heard = Arc::clone(&arrived);
    let target = Target::start_and_tell(Manner::AtOnce, move |_| {
        *heard.lock().unwrap_or_else(PoisonError::into_inner) = Some(Instant::now());
    });
    let target = target.await?;
    let scratch = Scratch::new();
    let no_room = Limits {
        attempts: 0,
        ..Limits::default()
    };
    let here = node(&scratch, &target.workflow(), None, no_room).await?;
    let there = node(&scratch, &target.workflow(), None, Limits::default()).await?;
    let mut latency = Latency::default();
    let mut done = 0;
    for repeat in 1..=REPEATS {
        say(format_args!(
            "pick-up by another node: {repeat} of {REPEATS}"
        ));
        let mut waits = Waits::default();
        for _ in 0..PICKED_UP {
            here.engine
                .executions()
                .submit(here.submission(0, None))
                .await?;
            done += 1;
            there.ended(done).await?;
            let arrived = *arrived.lock().unwrap_or_else(PoisonError::into_inner);
            if let (Some(durable), Some(arrived)) = (here.store.admitted_at(), arrived) {
                waits.add(arrived.saturating_duration_since(durable));
            }
            tokio::time::sleep(REST).await;
        }
        latency.add(&waits);
    }
    embedded::until(|| target.calls() >= done).await?;
    Line::new("PG", "pickup")
        .word("nodes", 2)
        .latency(&latency)
        .goal("p99_ms", Goal::Below(60.0))
        .print();
    here.stop().await;
    there.stop().await;
    Ok(())
}
