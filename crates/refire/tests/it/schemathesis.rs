//! The description of the API and the API itself, compared by a program that knows neither: Schemathesis
//! calls a server with what the description allows and with what it forbids.
//!
//! The workflows that there are call nothing but this machine.

use std::process::Command;

use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;
use crate::workflow::one_step;

/// How long it calls; long enough for a look at every call. Always with the same dice, so that nobody's
/// change fails for what it has not touched.
const SECONDS: u32 = 20;
/// The same in the long form, with dice of its own.
const SECONDS_LONG: u32 = 600;

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_api_is_as_described() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    // Something of each kind, so that calls find it.
    target.answers("/a", &[500, 500, 500]);
    let failed = server.post("/api/workflows/w/execute?wait=20s", "{}").await;
    let open = server.post("/api/workflows/w/execute?delay=1h", "{}").await;
    let trigger = async |settings: Value| {
        let made = server.post("/api/workflows/w/triggers", settings.to_string());
        made.await.expect(201)
    };
    let cron = json!({"trigger_type": "cron", "cron_expression": "0 0 1 1 *", "timezone": "UTC"});
    let cron = trigger(cron).await;
    let webhook = trigger(json!({"trigger_type": "webhook", "authentication": "none"})).await;
    let (seconds, options) = match std::env::var_os("REFIRE_TEST_LONG") {
        Some(_) => (SECONDS_LONG, &[][..]),
        None => (SECONDS, &["--seed", "1"][..]),
    };
    let mut command = Command::new(concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../scripts/schemathesis"
    ));
    command
        .args([&server.url, &seconds.to_string()])
        .args(options)
        .env("KEY", &server.key)
        .env("LETTER", text(&failed.expect(200)["dlq_entry_id"]))
        .env("EXECUTION", text(&open.expect(202)["execution_id"]))
        .env("CRON", text(&cron["id"]))
        .env("HOOK", text(&webhook["id"]))
        .env("WEBHOOK", text(&webhook["webhook_id"]));
    let ran = tokio::task::spawn_blocking(move || command.output().unwrap());
    let ran = ran.await.unwrap();
    let said = String::from_utf8_lossy(&ran.stdout);
    assert!(
        ran.status.success(),
        "{said}\n{}",
        String::from_utf8_lossy(&ran.stderr)
    );
    println!("{said}");
    server.get("/readyz").await.expect(200);
}
