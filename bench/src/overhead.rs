//! What the engine itself adds to an execution, from the call that submits it until its end is
//! known: without a retry, with one and with three, the waits between attempts taken off.

use std::sync::atomic::{AtomicU64, Ordering};

use async_trait::async_trait;
use refire_core::failure::{ErrorClass, Failure};
use refire_store::EventFilter;

use crate::policy;
use crate::prelude::*;
use crate::raw;

const REPEATS: u32 = 3;
/// Executions of one repeat.
const EXECUTIONS: usize = 300;
/// Between the beginnings of two, so that each finds the engine idle.
const APART: Duration = Duration::from_millis(5);
/// How long an execution may take.
const PATIENCE: Duration = Duration::from_secs(30);
/// How long the disk is measured beside each repeat.
const DISK_FOR: Duration = Duration::from_millis(300);
/// Events of one execution; there are fewer.
const EVENTS_MAX: u32 = 100;

/// Fails each execution's first attempts and then answers at once.
struct Failing {
    answers: AtOnce,
    failures: u64,
    calls: Vec<AtomicU64>,
}

#[async_trait]
impl Caller for Failing {
    async fn call(&self, request: HttpRequest) -> Result<HttpAnswer, Failure> {
        let number = request.body.as_deref().and_then(embedded::number);
        let calls = number.and_then(|number| self.calls.get(number));
        let made = calls.map_or(0, |calls| calls.fetch_add(1, Ordering::Relaxed));
        if made < self.failures {
            return Err(Failure::new(ErrorClass::ConnectionRefused, "not yet"));
        }
        Ok(self.answers.answer())
    }
}

/// Prints `overhead` for each number of retries, and what a policy costs where nothing fails. Most
/// of it is waiting for the disk, so what the disk takes alone stands beside.
pub(crate) async fn report() -> anyhow::Result<()> {
    for retries in [0, 1, 3] {
        let (mut latency, mut disk) = <(Latency, Latency)>::default();
        for _ in repeats(REPEATS, format_args!("overhead: {retries} retries")) {
            disk.add(&tokio::task::spawn_blocking(|| raw::syncs(DISK_FOR)).await??);
            latency.add(&overheads(retries).await?);
        }
        Line::new("overhead", "engine")
            .word("retries", retries)
            .latency(&latency)
            .figure("sync_p50_ms", &disk.p50_ms)
            .figure("sync_p99_ms", &disk.p99_ms)
            .figure("rss_mb", &machine::rss_mb(std::process::id())?.into())
            .goal("p99_ms", Goal::Below(5.0))
            .print();
    }
    policy::report().await
}

/// A workflow of one step with these retry settings.
pub(crate) fn definition(id: &str, retry: &str) -> String {
    format!(
        "id: {id}\nsteps:\n  - id: call\n    type: http\n    retry: {retry}\n    config: \
         {{ method: POST, url: \"https://target.example/\", body: \"${{input}}\" }}\n"
    )
}

/// Retry settings whose waits are short and without jitter.
pub(crate) const POLICY: &str =
    "{ maxRetries: 3, initialDelay: 100ms, strategy: fixed, jitter: none }";

async fn overheads(retries: u64) -> anyhow::Result<Waits> {
    let caller = Failing {
        answers: AtOnce::new(),
        failures: retries,
        calls: (0..EXECUTIONS).map(|_| AtomicU64::new(0)).collect(),
    };
    let embedded = Embedded::start(&definition("bench", POLICY), Some(Arc::new(caller))).await?;
    let embedded = Arc::new(embedded);
    let mut tasks = Vec::with_capacity(EXECUTIONS);
    for number in 0..EXECUTIONS {
        let embedded = Arc::clone(&embedded);
        tasks.push(tokio::spawn(async move { one(&embedded, number).await }));
        tokio::time::sleep(APART).await;
    }
    let mut waits = Waits::default();
    for task in tasks {
        waits.add(task.await??);
    }
    embedded.engine.stop().await;
    Ok(waits)
}

/// One execution, without the waits that its log records.
async fn one(embedded: &Embedded, number: usize) -> anyhow::Result<Duration> {
    let submission = embedded.submission(number, None);
    let began = Instant::now();
    let (_, ended) = embedded
        .engine
        .executions()
        .submit_and_wait(submission, PATIENCE)
        .await?;
    let took = began.elapsed();
    let ended = ended.ok_or_else(|| anyhow::anyhow!("an execution did not end"))?;
    let all = EventFilter::default();
    let events = embedded
        .engine
        .store()
        .history(ended.id, &all, 0, EVENTS_MAX)
        .await?;
    let waited: u64 = events.iter().filter_map(|event| event.backoff_ms).sum();
    Ok(took.saturating_sub(Duration::from_millis(waited)))
}
