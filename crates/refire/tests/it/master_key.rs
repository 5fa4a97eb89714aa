//! The master key is changed, and the old one dropped.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::Database;
use crate::process::{Process, Refused, command};
use crate::server::{Answer, send};
use crate::workflow::one_step;

/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with these master keys, on the same data.
fn start(
    home: &Path,
    database: &Database,
    current: &str,
    previous: Option<&str>,
) -> Result<Process, Refused> {
    let mut command = command(home);
    command.envs(database.settings());
    command.env("REFIRE_MASTER_KEY", current.repeat(32));
    command.env("REFIRE_ADMIN_KEY", "an-admin-key-of-this-test");
    if let Some(previous) = previous {
        command.env("REFIRE_MASTER_KEY_PREVIOUS", previous.repeat(32));
    }
    Process::start(command, &home.join("log"))
}

async fn ask(server: &Process, method: &str, path: &str, body: String) -> Answer {
    let method = method.parse().unwrap();
    let request = reqwest::Client::new().request(method, format!("{}{path}", server.url));
    send(request.bearer_auth("an-admin-key-of-this-test").body(body)).await
}

#[tokio::test]
async fn what_the_old_key_sealed_is_sealed_anew() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::new());
    let home = home.path();
    let first = start(home, &database, "a1", None).unwrap();
    let workflow = one_step("w", "http://127.0.0.1:1/");
    ask(&first, "PUT", "/api/workflows/w", workflow)
        .await
        .expect(200);
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let trigger = ask(
        &first,
        "POST",
        "/api/workflows/w/triggers",
        body.to_string(),
    )
    .await;
    let trigger: Value = trigger.expect(201);
    let path = format!("/api/triggers/{}/test", trigger["id"].as_str().unwrap());
    drop(first);

    let changing = start(home, &database, "b2", Some("a1")).unwrap();
    let began = Instant::now();
    loop {
        let log = std::fs::read_to_string(home.join("log")).unwrap();
        if log.contains("sealed=1 closed=0") {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{log}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(changing);

    let changed = start(home, &database, "b2", None).unwrap();
    let tested = ask(&changed, "POST", &path, "{}".to_owned())
        .await
        .expect(200);
    assert_eq!(tested["result"]["status"], "triggered", "{tested}");
    drop(changed);
    // A node of several is told at its start, one that is alone when the secret is needed.
    match start(home, &database, "a1", None) {
        Err(refused) => assert!(
            refused.log.contains("is not the one of the database"),
            "{refused:?}"
        ),
        Ok(old) => {
            let tested = ask(&old, "POST", &path, "{}".to_owned()).await;
            tested.problem(500, "RF0036");
        }
    }
    let log = std::fs::read_to_string(home.join("log")).unwrap();
    assert!(!log.contains(&"a1".repeat(32)) && !log.contains(&"b2".repeat(32)));
}
