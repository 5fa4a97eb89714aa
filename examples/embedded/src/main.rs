//! Runs a durable workflow inside this program: no server, no HTTP, one file on disk.
//!
//! Two tasks are registered under names; the workflow calls them by `type: local`. The second
//! one fails twice and is retried by the workflow's policy. Kill the program in the middle and
//! start it again: it continues where it stopped.
//!
//! ```text
//! cargo run -p refire-example-embedded -- ./example-data
//! ```

use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context, bail};
use refire_core::json::Json;
use refire_engine::clock::{Clock, SystemClock};
use refire_engine::{Accepted, Engine, Submission, TaskContext, TaskError};
use refire_store::sqlite::{Options, Sqlite};

const WORKFLOW: &str = r#"
id: invoice
retry: { maxRetries: 4, initialDelay: 200ms, strategy: exponential }
steps:
  - id: total
    type: local
    config: { task: add_up, input: { amounts: "${input.amounts}" } }
  - id: send
    type: local
    config: { task: send, input: { to: "${input.to}", total: "${steps.total.output}" } }
"#;

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let dir = std::env::args()
        .nth(1)
        .map_or_else(|| PathBuf::from("./example-data"), PathBuf::from);
    let clock = SystemClock::new();
    let store = Arc::new(Sqlite::open_in(&dir, &Options::new(clock.now()))?);
    let engine = Engine::builder(store)
        .clock(Arc::new(clock))
        .task("add_up", add_up)
        .task("send", send)
        .start()
        .await?;

    let definitions = engine.definitions();
    let applied = definitions.apply(WORKFLOW, None, "example").await?;
    let input = Json::parse(r#"{"to":"ann@example.com","amounts":[12, 30]}"#)?;
    let submission = Submission::manual(applied.definition.workflow.id.clone(), input);
    let wait = Duration::from_secs(10);
    let executions = engine.executions();
    let (accepted, ended) = executions.submit_and_wait(submission, wait).await?;
    let (Accepted::New { id, .. } | Accepted::Duplicate { id, .. }) = accepted;
    let ended = ended.with_context(|| format!("{id} did not end within {wait:?}"))?;

    println!("{id} {}", ended.state.status);
    for event in executions.log(id).await? {
        let step = event
            .step
            .map(|step| format!(" {step}"))
            .unwrap_or_default();
        let attempt = event
            .attempt
            .map(|attempt| format!("#{attempt}"))
            .unwrap_or_default();
        println!(
            "  {:>2} {}{step}{attempt}",
            event.sequence,
            event.kind.name()
        );
    }
    engine.stop().await;
    if ended.state.error.is_some() {
        bail!("the workflow failed");
    }
    Ok(())
}

/// Adds up `amounts`.
async fn add_up(_: TaskContext, input: Json) -> Result<Json, TaskError> {
    let input: serde_json::Value = serde_json::from_str(input.as_str())?;
    let amounts = input["amounts"].as_array().ok_or_else(|| {
        // No retry makes a list of something else.
        TaskError::permanent("`amounts` must be a list")
    })?;
    let total: i64 = amounts.iter().filter_map(serde_json::Value::as_i64).sum();
    Ok(Json::parse(total.to_string())?)
}

/// Pretends to send an invoice to somebody whose server is down at first.
async fn send(context: TaskContext, input: Json) -> Result<Json, TaskError> {
    if context.attempt < 3 {
        return Err(TaskError::new("the mail server does not answer"));
    }
    println!("sent {} (key {})", input.as_str(), context.idempotency_key);
    Ok(Json::parse(r#"{"sent":true}"#)?)
}
