//! A worker: does the tasks `invoice-total` of the workflow beside it.
//!
//! ```text
//! refire serve --dev
//! refire workflow apply -f examples/external-worker/workflow.yaml
//! export REFIRE_URL=http://127.0.0.1:7373 REFIRE_API_KEY=$(cat refire-data/admin.key)
//! cargo run -p refire-example-external-worker
//! refire execute invoice --input '{"lines": [{"amount": 2, "price": 12}, {"amount": 1, "price": 18}]}' --wait 30s
//! ```
//!
//! Ctrl-C finishes what runs, and gives the rest back.

use anyhow::Context;
use refire_client::worker::Task;
use refire_client::{Client, Failure, Worker};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Invoice {
    lines: Vec<Line>,
}

#[derive(Deserialize)]
struct Line {
    amount: i64,
    price: i64,
}

#[tokio::main]
async fn main() -> anyhow::Result<()> {
    let setting = |name| std::env::var(name).with_context(|| format!("{name} is not set"));
    let client = Client::builder(setting("REFIRE_URL")?)
        .key(setting("REFIRE_API_KEY")?)
        .build()?;
    let worker = Worker::new(client)
        .task("invoice-*", total)
        .concurrency(8)
        .on_notice(|notice| println!("{notice}"));
    let tally = worker.run().await?;
    println!("stopped: {tally}");
    Ok(())
}

/// Adds up the lines. An input that is something else fails for good; `Failure::new` would be retried.
async fn total(task: Task) -> Result<Value, Failure> {
    let invoice: Invoice = task.input()?;
    if invoice.lines.is_empty() {
        return Err(Failure::permanent("an invoice without lines"));
    }
    let mut total = 0;
    for (done, line) in invoice.lines.iter().enumerate() {
        let percent = done * 100 / invoice.lines.len();
        task.progress(u8::try_from(percent)?, format!("{done} lines added"));
        total += line.amount * line.price;
    }
    Ok(json!({ "total": total }))
}
