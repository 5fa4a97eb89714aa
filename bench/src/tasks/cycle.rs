//! `XT cycle`: created, fetched by a poll that waits, and done. `XT drain`: a backlog is worked off.

use std::sync::atomic::{AtomicU64, Ordering};

use refire_core::json::Json;
use refire_engine::task::{Ended, Poll, TaskTypes};
use tokio::sync::mpsc;

use super::worker::Worker;
use super::{Ground, Kind, TYPE, fill};
use crate::ingest::measure_completed;
use crate::load::Client;
use crate::prelude::*;
use crate::process::Server;
use crate::series::Series;

const REPEATS: u32 = 3;
const WORKERS: usize = 16;
/// How long a load goes on.
const FOR: Duration = Duration::from_secs(4);
/// How long a fresh server is warmed up.
const WARM_UP: Duration = Duration::from_millis(500);
/// Tasks that wait to be worked off.
const PENDING: usize = 100_000;
/// For how long at most they are.
const DRAINED_FOR: Duration = Duration::from_secs(10);
/// Tasks that a worker takes at once from a backlog.
const TAKES: usize = 8;
/// How long a poll waits, in seconds.
const WAIT: u32 = 30;
/// Cycles inside this program, by which commits are counted.
const COUNTED: u64 = 2_000;

/// Prints `XT cycle`.
pub(super) async fn report(kind: &Kind) -> anyhow::Result<()> {
    let client = Client::best();
    let target = Target::start(Manner::AtOnce).await?;
    let (mut rate, mut cpu_us, mut beside, mut ratio) =
        <(Repeats, Repeats, Repeats, Repeats)>::default();
    let mut series = Series::default();
    let what = format_args!("tasks on {}: cycles of {WORKERS} workers", kind.name());
    for _ in repeats(REPEATS, what) {
        let beside_it = Ground::new(kind)?;
        let url = beside_it.url();
        let completed = measure_completed(client, &target, url.as_deref(), &mut series).await?;
        let ground = Ground::new(kind)?;
        let server = Arc::new(ground.server("").await?);
        cycles(&server, WARM_UP).await?;
        let before = server.process.cpu_time()?;
        let (done, took) = cycles(&server, FOR).await?;
        let cpu = server.process.cpu_time()? - before;
        cpu_us.add(cpu.as_secs_f64() * 1e6 / done as f64);
        let done_s = done as f64 / took.as_secs_f64();
        rate.add(done_s);
        beside.add(completed);
        ratio.add(done_s / completed);
    }
    kind.line("cycle")
        .word("workers", WORKERS)
        .figure("task_s", &rate)
        .figure("completed_s", &beside)
        .figure("ratio", &ratio)
        .figure("cpu_us", &cpu_us)
        .figure("completed_cpu_us", &series.cpu_us)
        .figure("commits_per_task", &commits(kind).await?.into())
        .word("client", client.name())
        .goal("task_s", Goal::AtLeast(kind.of(3_500.0, 1_200.0)))
        .goal("ratio", Goal::AtLeast(kind.of(0.45, 0.0)))
        .goal("commits_per_task", Goal::Below(kind.of(2.06, 2.11)))
        .print();
    Ok(())
}

/// Each worker asks, and only then is a task made for one that waits; how many were done.
async fn cycles(server: &Arc<Server>, wanted: Duration) -> anyhow::Result<(u64, Duration)> {
    let done = Arc::new(AtomicU64::new(0));
    let began = Instant::now();
    let mut working = Vec::new();
    for _ in 0..WORKERS {
        let mut creator = Worker::connect(server).await?;
        let mut worker = Worker::connect(server).await?;
        let (asked, mut is_asked) = mpsc::channel::<()>(1);
        let creating = tokio::spawn(async move {
            while is_asked.recv().await.is_some() {
                creator.create().await?;
            }
            anyhow::Ok(())
        });
        let done = Arc::clone(&done);
        working.push(tokio::spawn(async move {
            while began.elapsed() < wanted {
                worker.ask(1, WAIT).await?;
                asked.send(()).await?;
                for task in worker.fetched().await? {
                    worker.complete(&task).await?;
                    done.fetch_add(1, Ordering::Relaxed);
                }
            }
            drop(asked);
            creating.await?
        }));
    }
    for one in working {
        one.await??;
    }
    Ok((done.load(Ordering::Relaxed), began.elapsed()))
}

/// How often a task is written, by workers inside this program that wait.
async fn commits(kind: &Kind) -> anyhow::Result<f64> {
    let ground = Ground::new(kind)?;
    let engine = ground.engine("").await?;
    let counts = || engine.store.counts();
    let before = counts();
    let left = Arc::new(AtomicU64::new(COUNTED));
    let mut working = Vec::new();
    for _ in 0..WORKERS {
        let (tasks, left) = (Arc::clone(&engine.engine), Arc::clone(&left));
        let submission = engine.submission(1, None);
        working.push(tokio::spawn(async move {
            let take = |left: &AtomicU64| {
                let less = |left: u64| left.checked_sub(1);
                let (set, get) = (Ordering::Relaxed, Ordering::Relaxed);
                left.fetch_update(set, get, less).is_ok()
            };
            while take(&left) {
                let poll = Poll {
                    types: TaskTypes {
                        names: vec![TYPE.to_owned()],
                        prefixes: Vec::new(),
                    },
                    worker: None,
                    worker_type: None,
                    max: 1,
                    wait: Duration::from_secs(WAIT.into()),
                };
                let creating = tasks.executions().submit(submission.clone());
                let (delivery, created) = tokio::join!(tasks.tasks().poll(poll), creating);
                created?;
                let delivery = delivery?;
                let fetched = delivery.tasks().to_vec();
                delivery.arrived();
                for task in fetched {
                    let ended = Ended::Completed(Json::empty_object());
                    tasks
                        .tasks()
                        .end(task.row.id(), task.row.token, ended)
                        .await?;
                }
            }
            anyhow::Ok(())
        }));
    }
    for one in working {
        one.await??;
    }
    let after = counts();
    let moves = (after.moves + after.locked) - (before.moves + before.locked);
    engine.stop().await;
    Ok(moves as f64 / COUNTED as f64)
}

/// Prints `XT drain`.
pub(super) async fn drain(kind: &Kind) -> anyhow::Result<()> {
    let ground = Ground::new(kind)?;
    let engine = ground.engine("").await?;
    say(format_args!(
        "tasks on {}: {PENDING} that wait",
        kind.name()
    ));
    let filling = Instant::now();
    fill(&engine, PENDING).await?;
    let fill_s = PENDING as f64 / filling.elapsed().as_secs_f64();
    engine.stop().await;
    let server = Arc::new(ground.server("").await?);
    let (mut rate, mut cpu_us) = <(Repeats, Repeats)>::default();
    for _ in repeats(REPEATS, "tasks: drain") {
        let before = server.process.cpu_time()?;
        let began = Instant::now();
        let mut working = Vec::new();
        for _ in 0..WORKERS {
            let mut worker = Worker::connect(&server).await?;
            working.push(tokio::spawn(async move {
                let mut done = 0_u64;
                while began.elapsed() < DRAINED_FOR / REPEATS {
                    worker.ask(TAKES, 0).await?;
                    for task in worker.fetched().await? {
                        worker.complete(&task).await?;
                        done += 1;
                    }
                }
                anyhow::Ok(done)
            }));
        }
        let mut done = 0;
        for one in working {
            done += one.await??;
        }
        rate.add(done as f64 / began.elapsed().as_secs_f64());
        let cpu = server.process.cpu_time()? - before;
        cpu_us.add(cpu.as_secs_f64() * 1e6 / done as f64);
    }
    kind.line("drain")
        .word("workers", WORKERS)
        .word("pending", PENDING)
        .word("takes", TAKES)
        .figure("task_s", &rate)
        .figure("cpu_us", &cpu_us)
        .figure("fill_s", &fill_s.into())
        .goal("task_s", Goal::AtLeast(kind.of(3_000.0, 1_000.0)))
        .print();
    Ok(())
}
