//! B2, jobs with the engine inside the program: how fast they are put in, one by one and many at
//! once, and how fast those that wait are worked off.

use async_trait::async_trait;
use refire_core::failure::Failure;
use tokio::sync::watch;

use crate::prelude::*;

const REPEATS: u32 = 3;
/// How long each measurement goes on.
const FOR: Duration = Duration::from_secs(2);
/// Executions that wait to be worked off.
const DRAINED: usize = 20_000;
/// Rows that the limit writes for one execution.
const LIMIT_ROWS: usize = 6;
/// A delay after which nothing happens any more here.
const MUCH_LATER: Duration = Duration::from_secs(3_600);

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
    for _ in repeats(REPEATS, "jobs: enqueue") {
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
    let body = rows::body();
    let transactions_s = rows::transactions_s(place::fresh()?.path(), FOR, |scribe| {
        (0..together).try_for_each(|_| scribe.request(&body, LIMIT_ROWS))
    })?;
    Ok(transactions_s * together as f64)
}

async fn enqueue_one_by_one() -> anyhow::Result<(f64, Waits)> {
    let embedded = Embedded::start(&target::workflow_to_nowhere(), no_network()).await?;
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
    let embedded = Embedded::start(&target::workflow_to_nowhere(), no_network()).await?;
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
    for _ in repeats(REPEATS, "jobs: drain") {
        let (keeper, open) = watch::channel(false);
        let gate = Gate {
            answers: AtOnce::new(),
            open,
        };
        let embedded =
            Embedded::start(&target::workflow_to_nowhere(), Some(Arc::new(gate))).await?;
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
