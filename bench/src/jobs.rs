//! B2, jobs with the engine inside the program: how fast they are put in, one by one and many at
//! once, and how fast those that wait are worked off.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::failure::Failure;
use refire_engine::caller::Caller;
use refire_engine::target::{HttpAnswer, HttpRequest};
use tokio::sync::watch;

use crate::embedded::{AtOnce, Embedded, TOGETHER};
use crate::line::{Goal, Line};
use crate::machine;
use crate::place;
use crate::progress::say;
use crate::rows::{self, Scribe};
use crate::sample::{Latency, Repeats, Waits};
use crate::target;

const REPEATS: usize = 3;
/// How long each measurement goes on.
const FOR: Duration = Duration::from_secs(2);
/// Executions that wait to be worked off.
const DRAINED: usize = 20_000;
/// Rows that the limit writes for one execution.
const LIMIT_ROWS: usize = 6;
/// A delay after which nothing happens any more here.
const MUCH_LATER: Duration = Duration::from_secs(3_600);
const NOWHERE: &str = "https://target.example/";

/// Prints `B2`.
pub(crate) async fn report() -> anyhow::Result<()> {
    enqueue().await?;
    drain().await
}

fn no_network() -> Option<Arc<dyn Caller>> {
    Some(Arc::new(AtOnce::new()))
}

/// `B2 enqueue` one by one and `B2 bulk`: durable admissions that nobody works on yet.
async fn enqueue() -> anyhow::Result<()> {
    let (mut one, mut limit_one, mut ratio_one) = <(Repeats, Repeats, Repeats)>::default();
    let (mut bulk, mut limit_bulk, mut ratio_bulk) = <(Repeats, Repeats, Repeats)>::default();
    let mut latency = Latency::default();
    for repeat in 1..=REPEATS {
        say(format_args!("jobs: enqueue, {repeat} of {REPEATS}"));
        let limit = tokio::task::spawn_blocking(|| limit(1)).await??;
        let (rate, waits) = enqueue_one_by_one().await?;
        one.add(rate);
        latency.add(&waits);
        limit_one.add(limit);
        ratio_one.add(rate / limit);
        let limit = tokio::task::spawn_blocking(|| self::limit(TOGETHER)).await??;
        let rate = enqueue_bulk().await?;
        bulk.add(rate);
        limit_bulk.add(limit);
        ratio_bulk.add(rate / limit);
    }
    let rss_mb = machine::rss_mb(std::process::id())?;
    Line::new("B2", "enqueue")
        .figure("job_s", &one)
        .latency(&latency)
        .figure("limit_s", &limit_one)
        .figure("ratio", &ratio_one)
        .figure("rss_mb", &rss_mb.into())
        .goal("job_s", Goal::AtLeast(2_500.0))
        .print();
    Line::new("B2", "bulk")
        .word("together", TOGETHER)
        .figure("job_s", &bulk)
        .figure("limit_s", &limit_bulk)
        .figure("ratio", &ratio_bulk)
        .figure("rss_mb", &rss_mb.into())
        .goal("job_s", Goal::AtLeast(60_000.0))
        .print();
    Ok(())
}

/// Requests of six rows that one thread makes durable per second, so many to a transaction.
fn limit(together: usize) -> anyhow::Result<f64> {
    let dir = place::fresh()?;
    let connection = rows::open(&dir.path().join("rows.db"))?;
    let mut scribe = Scribe::new(&connection)?;
    let body = rows::body();
    let began = Instant::now();
    let mut done = 0_usize;
    while began.elapsed() < FOR {
        connection.execute_batch("BEGIN IMMEDIATE")?;
        for _ in 0..together {
            scribe.request(&body, LIMIT_ROWS)?;
        }
        connection.execute_batch("COMMIT")?;
        done += together;
    }
    Ok(done as f64 / began.elapsed().as_secs_f64())
}

async fn enqueue_one_by_one() -> anyhow::Result<(f64, Waits)> {
    let embedded = Embedded::start(&target::workflow(NOWHERE), no_network()).await?;
    let mut waits = Waits::default();
    let began = Instant::now();
    while began.elapsed() < FOR {
        let submission = embedded.submission(waits.len(), Some(MUCH_LATER));
        let one = Instant::now();
        embedded.engine.executions().submit(submission).await?;
        waits.add(one.elapsed());
    }
    let rate = waits.len() as f64 / began.elapsed().as_secs_f64();
    embedded.stop().await;
    Ok((rate, waits))
}

async fn enqueue_bulk() -> anyhow::Result<f64> {
    let embedded = Embedded::start(&target::workflow(NOWHERE), no_network()).await?;
    let mut done = 0;
    let began = Instant::now();
    while began.elapsed() < FOR {
        let many = (0..TOGETHER).map(|n| embedded.submission(done + n, Some(MUCH_LATER)));
        embedded.submit_all(many.collect()).await?;
        done += TOGETHER;
    }
    let rate = done as f64 / began.elapsed().as_secs_f64();
    embedded.stop().await;
    Ok(rate)
}

/// A target that answers at once, but only after it was opened.
struct Gate {
    answers: AtOnce,
    open: watch::Receiver<bool>,
}

#[async_trait]
impl Caller for Gate {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        let mut open = self.open.clone();
        // A gate whose keeper is gone is open.
        let _ = open.wait_for(|open| *open).await;
        Ok(self.answers.answer())
    }
}

/// `B2 drain`: executions that wait are claimed, run and completed, log and all.
async fn drain() -> anyhow::Result<()> {
    let (mut rate, mut transactions) = <(Repeats, Repeats)>::default();
    for repeat in 1..=REPEATS {
        say(format_args!("jobs: drain, {repeat} of {REPEATS}"));
        let (keeper, open) = watch::channel(false);
        let gate = Gate {
            answers: AtOnce::new(),
            open,
        };
        let embedded = Embedded::start(&target::workflow(NOWHERE), Some(Arc::new(gate))).await?;
        for chunk in 0..DRAINED / TOGETHER {
            let many = (0..TOGETHER).map(|n| embedded.submission(chunk * TOGETHER + n, None));
            embedded.submit_all(many.collect()).await?;
        }
        let before = embedded.store.counts();
        let began = Instant::now();
        keeper.send(true)?;
        embedded.ended(DRAINED as u64).await?;
        rate.add(DRAINED as f64 / began.elapsed().as_secs_f64());
        let made = embedded.store.counts().transactions - before.transactions;
        transactions.add(made as f64 / DRAINED as f64);
        embedded.stop().await;
    }
    Line::new("B2", "drain")
        .word("waiting", DRAINED)
        .figure("job_s", &rate)
        .figure("fsyncs_per_execution", &transactions)
        .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
        .goal("job_s", Goal::AtLeast(10_000.0))
        .print();
    Ok(())
}
