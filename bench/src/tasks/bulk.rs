//! `BULK`: very many dead letters that are retried by one job, and what others who start executions notice
//! of it.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use refire_client::model::{BulkDeadLetters, BulkState};
use serde_json::value::to_raw_value;

use super::worker::Worker;
use super::{Ground, Kind};
use crate::prelude::*;
use crate::process::Server;

/// Letters that are retried.
const LETTERS: usize = 100_000;
const CONNECTIONS: usize = 64;
/// The most that a job may do a second.
const RATE: u32 = 10_000;
/// Executions that others start a second meanwhile, and how long they do it before the job begins.
const BESIDE_S: u32 = 100;
const ALONE_FOR: Duration = Duration::from_secs(5);
/// How long the letters may take to be there, and the job to be done.
const WITHIN: Duration = Duration::from_secs(1_200);
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// Prints `BULK`.
pub(super) async fn report(kind: &Kind) -> anyhow::Result<()> {
    let target = Target::start(Manner::AtOnce).await?;
    let ground = Ground::new(kind)?;
    // What the target answers is first not what is expected, so that every execution fails for good.
    let server = ground.server_of(&workflow(&target, "[204]")).await?;
    say(format_args!("{LETTERS} dead letters on {}", kind.name()));
    fill(&server).await?;
    let api = server.client()?;
    let good = workflow(&target, "[2xx]");
    api.apply_workflow(WORKFLOW, &good, None).await?;
    let is_over = Arc::new(AtomicBool::new(false));
    let starting = || async { start_executions(Worker::connect(&server).await?, &is_over) };
    let others = starting().await?;
    tokio::time::sleep(ALONE_FOR).await;
    is_over.store(true, Ordering::Relaxed);
    let alone = others.await??;
    is_over.store(false, Ordering::Relaxed);
    let others = starting().await?;
    let cpu = server.process.cpu_time()?;
    let began = Instant::now();
    let wish = BulkDeadLetters {
        action: "retry".to_owned(),
        filter: Some(to_raw_value(&serde_json::json!({"workflow_id": WORKFLOW}))?),
        rate: Some(RATE),
        ..BulkDeadLetters::default()
    };
    let id = api.bulk_dead_letters(&wish).await?.id;
    let job = loop {
        let job = api.bulk_job(&id).await?;
        if job.state != BulkState::Running {
            break job;
        }
        anyhow::ensure!(
            began.elapsed() < WITHIN,
            "{} of {LETTERS} are done",
            job.done
        );
        tokio::time::sleep(LOOK_EVERY).await;
    };
    let took = began.elapsed().as_secs_f64();
    let cpu = server.process.cpu_time()? - cpu;
    is_over.store(true, Ordering::Relaxed);
    let beside = others.await??;
    anyhow::ensure!(job.ok as usize == LETTERS, "{job:?}");
    let p99 = |waits: &Waits| waits.percentile_ms(0.99);
    Line::new("BULK", "retry")
        .word("store", kind.name())
        .word("letters", LETTERS)
        .figure("letter_s", &(LETTERS as f64 / took).into())
        .figure("cpu_us", &(cpu.as_secs_f64() * 1e6 / LETTERS as f64).into())
        .figure("beside_p99_ms", &p99(&beside).into())
        .figure("alone_p99_ms", &p99(&alone).into())
        .figure("beside_ratio", &(p99(&beside) / p99(&alone)).into())
        .goal("letter_s", Goal::AtLeast(kind.of(1_000.0, 500.0)))
        .goal("beside_ratio", Goal::Below(1.5))
        .print();
    Ok(())
}

fn workflow(target: &Target, expected: &str) -> String {
    format!(
        "id: {WORKFLOW}\nretry: {{enabled: false}}\nsteps:\n  - id: call\n    type: http\n    config: \
         {{ method: POST, url: \"http://{}/\", expectedStatuses: {expected} }}\n",
        target.address
    )
}

/// Starts executions at a fixed rate until it is over; how long each waited for its answer, counted from when it
/// was to be sent.
fn start_executions(
    mut worker: Worker,
    is_over: &Arc<AtomicBool>,
) -> anyhow::Result<tokio::task::JoinHandle<anyhow::Result<Waits>>> {
    let is_over = Arc::clone(is_over);
    Ok(tokio::spawn(async move {
        let (mut waits, began) = (Waits::default(), Instant::now());
        while !is_over.load(Ordering::Relaxed) {
            let due = Duration::from_secs(1) / BESIDE_S * u32::try_from(waits.len())?;
            let due = began + due;
            tokio::time::sleep_until(due.into()).await;
            worker.create().await?;
            waits.add(due.elapsed());
        }
        Ok(waits)
    }))
}

/// Makes the letters.
async fn fill(server: &Server) -> anyhow::Result<()> {
    let next = Arc::new(AtomicUsize::new(0));
    let mut creating = Vec::new();
    for _ in 0..CONNECTIONS {
        let mut worker = Worker::connect(server).await?;
        let next = Arc::clone(&next);
        creating.push(tokio::spawn(async move {
            while next.fetch_add(1, Ordering::Relaxed) < LETTERS {
                worker.create().await?;
            }
            anyhow::Ok(())
        }));
    }
    for one in creating {
        one.await??;
    }
    let (api, began) = (server.client()?, Instant::now());
    loop {
        let summary = api.dead_letter_summary(&Default::default()).await?;
        if summary.count as usize >= LETTERS {
            return Ok(());
        }
        anyhow::ensure!(began.elapsed() < WITHIN, "{} letters", summary.count);
        tokio::time::sleep(LOOK_EVERY).await;
    }
}
