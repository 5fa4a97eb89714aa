//! What the demo does and says: definitions are applied, executions started, and each end is told
//! in one line.

use std::io::IsTerminal;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use refire_client::model::Execution;
use refire_client::{Client, Execute};

use super::client;
use crate::program;

/// The demo's definitions; `demo.target` stands for the services' address.
const DEFINITIONS: [(&str, &str); 4] = [
    (
        "onboarding",
        include_str!("../../../../examples/demo/onboarding.yaml"),
    ),
    (
        "invoice",
        include_str!("../../../../examples/demo/invoice.yaml"),
    ),
    (
        "order",
        include_str!("../../../../examples/demo/order.yaml"),
    ),
    ("trip", include_str!("../../../../examples/demo/trip.yaml")),
];
/// Between two rounds.
const ROUND_EVERY: Duration = Duration::from_secs(3);
/// How long to wait for one execution before it is told as it is.
const TOLD_WITHIN: Duration = Duration::from_secs(30);

/// Tells the story on the terminal.
pub(super) async fn tell(
    url: &str,
    key: &Path,
    target: SocketAddr,
    rounds: u32,
) -> anyhow::Result<()> {
    let client = Arc::new(client(url, key).await?);
    for (id, source) in DEFINITIONS {
        let source = source.replace("demo.target", &target.to_string());
        client.apply_workflow(id, &source, None).await?;
    }
    let console = match std::io::stdout().is_terminal() {
        true => client.create_session_link().await?.url,
        false => format!("{url}/"),
    };
    say_how(url, &console, key, target);
    let hinted = Arc::new(AtomicBool::new(false));
    for round in 0..rounds {
        for (workflow, input) in inputs(round) {
            let (client, hinted) = (Arc::clone(&client), Arc::clone(&hinted));
            tokio::spawn(async move { run_one(&client, workflow, input, &hinted).await });
        }
        tokio::time::sleep(ROUND_EVERY).await;
    }
    println!("\nThat was the demo. The server keeps running until you press Ctrl-C.");
    Ok(())
}

fn say_how(url: &str, console: &str, key: &Path, target: SocketAddr) {
    let data = key.parent().unwrap_or(key).display();
    let refire = program::name();
    println!("Refire's demo is ready at {url} (docs: {url}/docs)");
    println!("\nThe web console: {console}");
    println!("\nIts services are flaky on purpose. In another terminal:");
    println!("  export REFIRE_URL={url} REFIRE_DATA_DIR={data}");
    println!("  {refire} executions list    # what is running");
    println!("  {refire} dlq list           # what failed permanently");
    println!("  curl -X POST http://{target}/erp/repair    # then retry the orders:");
    println!("  {refire} dlq retry <dlq_…> --from failed-step --wait 30s\n");
}

/// One of each workflow; one mail address in three is none.
fn inputs(round: u32) -> [(&'static str, String); 4] {
    let email = match round % 3 {
        1 => format!("customer{round}.example.com"),
        _ => format!("customer{round}@example.com"),
    };
    let onboarding = format!(r#"{{"name":"Customer {round}","email":"{email}"}}"#);
    let invoice = format!(r#"{{"number":"R-{round:04}","amount":{}.90}}"#, 10 + round);
    let order = format!(r#"{{"item":"A-{round}","quantity":{}}}"#, 1 + round % 5);
    let city = ["Taipei", "Prague", "Lisbon"][round as usize % 3];
    let trip = format!(r#"{{"city":"{city}"}}"#);
    [
        ("onboarding", onboarding),
        ("invoice", invoice),
        ("order", order),
        ("trip", trip),
    ]
}

async fn run_one(client: &Client, workflow: &str, input: String, hinted: &AtomicBool) {
    let execute = Execute {
        input: Some(input),
        ..Execute::default()
    };
    match client
        .execute_and_wait(workflow, &execute, TOLD_WITHIN)
        .await
    {
        Ok(Ok(ended)) => {
            println!("{}", line(&ended));
            if let Some(letter) = &ended.dlq_entry_id
                && !hinted.swap(true, Ordering::Relaxed)
            {
                let refire = program::name();
                println!("            ↳ the first dead letter: {refire} dlq show {letter}");
            }
        }
        Ok(Err(accepted)) => println!("{workflow:<11} {} is still running", accepted.execution_id),
        Err(error) => eprintln!("demo: {workflow}: {error}"),
    }
}

fn line(ended: &Execution) -> String {
    let (workflow, id, status) = (&ended.workflow_id, &ended.execution_id, ended.status);
    let took = ended.duration_ms.map(|ms| format!("{ms} ms"));
    let took = took.unwrap_or_default();
    let retries = match ended.retry_count {
        0 => String::new(),
        1 => ", 1 retry".to_owned(),
        n => format!(", {n} retries"),
    };
    let error = ended.error.as_ref();
    let error = error.map(|error| format!(": {}", error.message));
    let error = error.unwrap_or_default();
    format!("{workflow:<11} {id} {status:<9} {took}{retries}{error}")
}
