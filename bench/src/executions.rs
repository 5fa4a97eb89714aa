//! One-step executions through the whole engine: admitted durably, run, completed durably. The
//! target answers at once and without a network, so that what is measured is the engine.

use std::sync::Arc;
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::failure::Failure;
use refire_core::json::Json;
use refire_engine::caller::Caller;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::target::{HttpAnswer, HttpRequest};
use refire_engine::{Engine, Submission};
use refire_store::sqlite::{Options, Sqlite};

use crate::disk::percentiles;

/// How long callers go on.
const FOR: Duration = Duration::from_secs(5);

const WORKFLOW: &str = r#"
id: bench
steps:
  - id: call
    type: http
    config: { method: POST, url: "https://target.example/x", body: "${input}" }
"#;

struct Instantly(Json);

#[async_trait]
impl Caller for Instantly {
    async fn call(&self, _: HttpRequest) -> Result<HttpAnswer, Failure> {
        Ok(HttpAnswer {
            status: 200,
            output: self.0.clone(),
        })
    }
}

/// Prints `executions` for so many callers, each waiting for its answer before the next.
pub(crate) async fn report(callers: usize) -> anyhow::Result<()> {
    let dir = tempfile::tempdir_in(".")?;
    let clock = SystemClock::new();
    let store = Arc::new(Sqlite::open_in(dir.path(), &Options::new(clock.now()))?);
    let output = Json::parse(r#"{"status":200,"headers":{},"body":{"ok":true}}"#)?;
    let engine = Engine::builder(store)
        .clock(Arc::new(clock))
        .caller(Arc::new(Instantly(output)))
        .start()?;
    let workflow = engine
        .apply(WORKFLOW, None, "bench")
        .await?
        .definition
        .workflow
        .id
        .clone();
    let input = Json::parse(format!("{{\"text\":\"{}\"}}", "x".repeat(480)))?;
    let began = Instant::now();
    let mut tasks = Vec::new();
    for _ in 0..callers {
        let one = admit_for(Arc::clone(&engine), workflow.clone(), input.clone());
        tasks.push(tokio::spawn(one));
    }
    let mut waits = Vec::new();
    for task in tasks {
        waits.extend(task.await??);
    }
    let admitted = began.elapsed();
    while engine.store().open_counts(None).await?.executions > 0 {
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    let completed = began.elapsed();
    let count = waits.len() as f64;
    println!(
        "executions callers={callers} admitted_s={:.0} completed_s={:.0} {}",
        count / admitted.as_secs_f64(),
        count / completed.as_secs_f64(),
        percentiles(&mut waits),
    );
    engine.stop().await;
    Ok(())
}

async fn admit_for(
    engine: Arc<Engine>,
    workflow: WorkflowId,
    input: Json,
) -> anyhow::Result<Vec<Duration>> {
    let began = Instant::now();
    let mut waits = Vec::new();
    while began.elapsed() < FOR {
        let one = Instant::now();
        engine
            .submit(Submission::manual(workflow.clone(), input.clone()))
            .await?;
        waits.push(one.elapsed());
    }
    Ok(waits)
}
