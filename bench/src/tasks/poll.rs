//! `XT poll`: how soon a worker has a task. `XT waiting`: what very many polls that wait cost.

use anyhow::Context as _;
use futures_util::StreamExt as _;
use futures_util::stream::FuturesUnordered;

use super::worker::Worker;
use super::{Ground, Kind, fill};
use crate::prelude::*;

const REPEATS: u32 = 3;
/// Tasks of each repeat.
const EACH: usize = 200;
/// Polls that wait.
const WAITING: usize = 10_000;
/// How long a poll waits, in seconds: longer than this takes.
const WAIT: u32 = 300;
/// The server is watched for so long while they wait.
const IDLE: Duration = Duration::from_secs(10);
/// A poll has arrived so soon.
const ARRIVED: Duration = Duration::from_millis(20);

/// Prints `XT poll`.
pub(super) async fn report(kind: &Kind) -> anyhow::Result<()> {
    let (mut with_work, mut waiting) = <(Latency, Latency)>::default();
    let ground = Ground::new(kind)?;
    let server = ground.server("").await?;
    // Where there are several nodes, the worker waits at another one.
    let (dir, other);
    let beside = match kind {
        Kind::Sqlite => &server,
        Kind::Postgres => {
            dir = place::fresh()?;
            other = server.beside(dir.path(), ground.url().as_deref())?;
            &other
        }
    };
    let mut creator = Worker::connect(&server).await?;
    let mut worker = Worker::connect(beside).await?;
    let what = format_args!("tasks on {}: polls one by one", kind.name());
    for _ in repeats(REPEATS, what) {
        let (mut with, mut created) = <(Waits, Waits)>::default();
        for _ in 0..EACH {
            creator.create().await?;
        }
        for _ in 0..EACH {
            let began = Instant::now();
            worker.ask(1, WAIT).await?;
            let tasks = worker.fetched().await?;
            with.add(began.elapsed());
            for task in tasks {
                worker.complete(&task).await?;
            }
        }
        for _ in 0..EACH {
            worker.ask(1, WAIT).await?;
            tokio::time::sleep(ARRIVED).await;
            let began = Instant::now();
            let (created_now, tasks) = tokio::join!(creator.create(), worker.fetched());
            created.add(began.elapsed());
            created_now?;
            for task in tasks? {
                worker.complete(&task).await?;
            }
        }
        with_work.add(&with);
        waiting.add(&created);
    }
    kind.line("poll")
        .word("nodes", kind.of(1.0, 2.0))
        .latency(&with_work)
        .figure("created_p50_ms", &waiting.p50_ms)
        .figure("created_p99_ms", &waiting.p99_ms)
        .goal("p99_ms", Goal::Below(kind.of(5.0, 25.0)))
        .goal("created_p99_ms", Goal::Below(kind.of(5.0, 60.0)))
        .print();
    Ok(())
}

/// Prints `XT waiting`.
pub(super) async fn waiting(kind: &Kind) -> anyhow::Result<()> {
    let ground = Ground::new(kind)?;
    let engine = ground.engine("").await?;
    fill(&engine, 1).await?;
    engine.stop().await;
    let server = ground.server("").await?;
    let mut creator = Worker::connect(&server).await?;
    // Everything that is made at first use is there before memory is looked at.
    for _ in 0..EACH {
        creator.create().await?;
        creator.ask(1, WAIT).await?;
        for task in creator.fetched().await? {
            creator.complete(&task).await?;
        }
    }
    let before = server.process.rss_now_mb()?;
    say(format_args!(
        "tasks on {}: {WAITING} polls wait",
        kind.name()
    ));
    // Who has waited longest is woken; which of those that asked at the same moment that is, only the
    // server knows.
    let mut workers = FuturesUnordered::new();
    for _ in 0..WAITING {
        let mut worker = Worker::connect(&server).await?;
        worker.ask(1, WAIT).await?;
        workers.push(async move {
            let tasks = worker
                .fetched_within(Duration::from_secs(u64::from(WAIT)))
                .await;
            (worker, tasks)
        });
    }
    let nobody_yet = tokio::time::timeout(ARRIVED * 50, workers.next()).await;
    anyhow::ensure!(nobody_yet.is_err(), "a poll was answered without a task");
    let each_kb = (server.process.rss_now_mb()? - before) * 1_024.0 / WAITING as f64;
    let used = server.process.cpu_time()?;
    tokio::time::sleep(IDLE).await;
    let used = server.process.cpu_time()? - used;
    let idle = used.as_secs_f64() / IDLE.as_secs_f64() * 100.0;
    // The server has hung up on a connection that said nothing for so long.
    let mut creator = Worker::connect(&server).await?;
    let mut wake = Latency::default();
    for _ in repeats(REPEATS, "tasks: polls are woken") {
        let mut waits = Waits::default();
        for _ in 0..EACH {
            let began = Instant::now();
            let (created, woken) = tokio::join!(creator.create(), workers.next());
            waits.add(began.elapsed());
            created?;
            let (mut worker, tasks) = woken.context("nobody waits any more")?;
            for task in tasks? {
                worker.complete(&task).await?;
            }
        }
        wake.add(&waits);
    }
    kind.line("waiting")
        .word("polls", WAITING)
        .figure("each_kb", &each_kb.into())
        .figure("idle_percent", &idle.into())
        .figure("wake_p50_ms", &wake.p50_ms)
        .figure("wake_p99_ms", &wake.p99_ms)
        .goal("each_kb", Goal::Below(20.0))
        .goal("idle_percent", Goal::Below(1.0))
        .goal("wake_p99_ms", Goal::Below(5.0))
        .print();
    Ok(())
}
