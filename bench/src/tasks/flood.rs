//! `XT flood`: polls beside a million tasks of a better priority that nobody may fetch yet.

use super::worker::Worker;
use super::{Ground, Kind, TYPE, fill};
use crate::prelude::*;

/// Tasks that wait for a later time.
const DELAYED: usize = 1_000_000;
/// Tasks that are ready, each time.
const READY: usize = 10;
/// Times.
const ROUNDS: usize = 30;
const REPEATS: u32 = 3;

/// Copies of the one task that is there, as if they had failed and were to be tried again in a day.
const COPIED: &str = "INSERT INTO workflow_external_tasks
    SELECT {id}, step_no, step, workflow, task_type, 1, status, returns_to, rev, 2, attempts_max,
        available_at + 86400000000, timeout_at + 86400000000, wake_at + 86400000000, lock_ms,
        heartbeat_ms, silence_ms, require_token, input_sequence, input_bytes, token, worker,
        worker_type, locked_at, lock_until, heartbeat_until, heartbeat_at, progress, message,
        ended_token, ended_by, releases, error, created_at, updated_at, completed_at
      FROM workflow_external_tasks, {numbers}";

/// Prints `XT flood`.
pub(super) async fn report(kind: &Kind) -> anyhow::Result<()> {
    let ground = Ground::new(kind)?;
    let engine = ground.engine("").await?;
    fill(&engine, 1).await?;
    engine.stop().await;
    say(format_args!(
        "tasks on {}: {DELAYED} for later",
        kind.name()
    ));
    flood(&ground).await?;
    let server = ground.server("").await?;
    let (mut creator, mut worker) = (
        Worker::connect(&server).await?,
        Worker::connect(&server).await?,
    );
    // The one that was copied.
    worker.ask(1, 30).await?;
    anyhow::ensure!(
        worker.fetched().await?.len() == 1,
        "the first task is not there"
    );
    let mut latency = Latency::default();
    for _ in repeats(REPEATS, "tasks: polls beside them") {
        let mut waits = Waits::default();
        for _ in 0..ROUNDS {
            for _ in 0..READY {
                creator.create().await?;
            }
            for _ in 0..READY {
                let began = Instant::now();
                worker.ask(1, 30).await?;
                let tasks = worker.fetched().await?;
                waits.add(began.elapsed());
                for task in tasks {
                    worker.complete(&task).await?;
                }
            }
        }
        latency.add(&waits);
    }
    kind.line("flood")
        .word("type", TYPE)
        .word("delayed", DELAYED)
        .word("ready", READY)
        .latency(&latency)
        .goal("p99_ms", Goal::Below(kind.of(5.0, 25.0)))
        .print();
    Ok(())
}

async fn flood(ground: &Ground) -> anyhow::Result<()> {
    let Some(url) = ground.url() else {
        let connection = rusqlite::Connection::open(ground.dir.path().join("refire.db"))?;
        let numbers = format!(
            "(WITH RECURSIVE up (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM up WHERE n < {DELAYED})
              SELECT n FROM up)"
        );
        let id = "unhex(printf('%032x', n))";
        connection.execute(&copied(id, &numbers), [])?;
        return Ok(());
    };
    let (client, driver) = tokio_postgres::connect(&url, tokio_postgres::NoTls).await?;
    let driving = tokio::spawn(driver);
    let numbers = format!("generate_series(1, {DELAYED}) AS up (n)");
    let id = "lpad(to_hex(n), 32, '0')::uuid";
    client.batch_execute(&copied(id, &numbers)).await?;
    client
        .batch_execute("ANALYZE workflow_external_tasks")
        .await?;
    drop(client);
    driving.await??;
    Ok(())
}

fn copied(id: &str, numbers: &str) -> String {
    COPIED.replace("{id}", id).replace("{numbers}", numbers)
}
