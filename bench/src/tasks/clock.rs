//! `XT beat`: heartbeats at a fixed rate. `XT clocks`: how late attempts end whose time is over.

use std::sync::atomic::{AtomicUsize, Ordering};

use refire_store::{TaskFilter, Tasks as _};

use super::worker::{Fetched, Worker};
use super::{Ground, Kind, fill};
use crate::prelude::*;

const REPEATS: u32 = 3;
/// Tasks that workers hold.
const HELD: usize = 1_000;
/// Heartbeats a second, over so many connections, for so long.
const BEATS_S: u32 = 10_000;
const CONNECTIONS: usize = 64;
const FOR: Duration = Duration::from_secs(3);
/// Tasks whose time is over, and when.
const EXPIRIES: usize = 10_000;
const TIMEOUT: Duration = Duration::from_secs(30);
/// Tasks of a page.
const PAGE: u32 = 200;

/// Prints `XT beat`.
pub(super) async fn beats(kind: &Kind) -> anyhow::Result<()> {
    let ground = Ground::new(kind)?;
    let engine = ground.engine("").await?;
    fill(&engine, HELD).await?;
    engine.stop().await;
    let server = ground.server("").await?;
    let mut worker = Worker::connect(&server).await?;
    let mut held: Vec<Fetched> = Vec::new();
    while held.len() < HELD {
        worker.ask(100, 5).await?;
        held.extend(worker.fetched().await?);
    }
    let held = Arc::new(held);
    let (mut rate, mut latency, mut cpu_us) = <(Repeats, Latency, Repeats)>::default();
    let what = format_args!("tasks on {}: {BEATS_S} heartbeats a second", kind.name());
    for _ in repeats(REPEATS, what) {
        let cpu = server.process.cpu_time()?;
        let began = Instant::now();
        let next = Arc::new(AtomicUsize::new(0));
        let mut working = Vec::new();
        for _ in 0..CONNECTIONS {
            let mut worker = Worker::connect(&server).await?;
            let (held, next) = (Arc::clone(&held), Arc::clone(&next));
            working.push(tokio::spawn(async move {
                let mut waits = Waits::default();
                while began.elapsed() < FOR {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    // From when it was to be sent, so that a server that is late does not look fast.
                    let due = began + Duration::from_secs(1) / BEATS_S * u32::try_from(number)?;
                    tokio::time::sleep_until(due.into()).await;
                    worker.beat(&held[number % HELD]).await?;
                    waits.add(due.elapsed());
                }
                anyhow::Ok(waits)
            }));
        }
        let mut waits = Waits::default();
        for one in working {
            waits.extend(one.await??);
        }
        let sent = waits.len() as f64;
        rate.add(sent / began.elapsed().as_secs_f64());
        latency.add(&waits);
        let cpu = server.process.cpu_time()? - cpu;
        cpu_us.add(cpu.as_secs_f64() * 1e6 / sent);
    }
    kind.line("beat")
        .word("asked_s", BEATS_S)
        .word("tasks", HELD)
        .figure("beat_s", &rate)
        .latency(&latency)
        .figure("cpu_us", &cpu_us)
        .goal("beat_s", Goal::AtLeast(f64::from(BEATS_S) * 0.95))
        .goal("p99_ms", Goal::Below(kind.of(10.0, 50.0)))
        .print();
    Ok(())
}

/// Prints `XT clocks`.
pub(super) async fn expiries(kind: &Kind) -> anyhow::Result<()> {
    let ground = Ground::new(kind)?;
    let settings = format!(", retries: 1, timeout: {}s", TIMEOUT.as_secs());
    let engine = ground.engine(&settings).await?;
    say(format_args!(
        "tasks on {}: {EXPIRIES} clocks run out",
        kind.name()
    ));
    fill(&engine, EXPIRIES).await?;
    engine.ended(EXPIRIES as u64).await?;
    let (mut late, mut early) = (Waits::default(), Duration::ZERO);
    let mut behind = None;
    loop {
        let rows = engine
            .store
            .tasks(&TaskFilter::default(), behind, PAGE)
            .await?;
        let Some(last) = rows.last() else { break };
        behind = Some(last.id());
        for row in &rows {
            let Some(over) = row.completed_at else {
                continue;
            };
            late.add(over.since(row.timeout_at));
            early = early.max(row.timeout_at.since(over));
        }
    }
    engine.stop().await;
    anyhow::ensure!(late.len() == EXPIRIES, "{} clocks ran out", late.len());
    kind.line("clocks")
        .word("expiries", EXPIRIES)
        .figure("p50_ms", &late.percentile_ms(0.5).into())
        .figure("p99_ms", &late.percentile_ms(0.99).into())
        .figure("early_max_ms", &(early.as_secs_f64() * 1_000.0).into())
        .goal("p99_ms", Goal::Below(kind.of(100.0, 1_000.0)))
        .goal("early_max_ms", Goal::Below(1.0))
        .print();
    Ok(())
}
