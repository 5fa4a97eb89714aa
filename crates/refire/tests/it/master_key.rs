//! The master key is changed, and the old one dropped.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::database::{Database, KIND};
use crate::process::{Process, Refused, command};
use crate::server::{Answer, send};
use crate::target::Target;
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
    command.arg("--dev");
    Process::start(command, &home.join("log"))
}

async fn ask(server: &Process, method: &str, path: &str, body: String) -> Answer {
    let method = method.parse().unwrap();
    let request = reqwest::Client::new().request(method, format!("{}{path}", server.url));
    send(request.bearer_auth("an-admin-key-of-this-test").body(body)).await
}

/// Waits until the server's log says so.
async fn log_says(home: &Path, what: &str) {
    let began = Instant::now();
    loop {
        let log = std::fs::read_to_string(home.join("log")).unwrap();
        if log.contains(what) {
            return;
        }
        assert!(began.elapsed() < PATIENCE, "{log}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn how_a_target_is_asked_is_sealed_anew() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::new());
    let (home, target) = (home.path(), Target::start().await);
    let config = json!({"url": target.url("/progress"), "headers": {"X-Key": "hush-hush"}});
    let accepted = json!({"queryConfig": {"type": "http", "config": config}});
    target.script("/work", &[(202, &accepted.to_string())]);
    target.script("/progress", &[(200, r#"{"progress":65}"#)]);
    let first = start(home, &database, "a1", None).unwrap();
    let task = json!({"scheduleType": "immediate", "taskConfig": {
        "taskType": "custom", "callbackWindow": "1h", "taskPayload": {},
        "targetConfig": {"triggerType": "http", "url": target.url("/work")},
    }});
    let task = ask(&first, "POST", "/schedule-task", task.to_string()).await;
    let task = task.expect(201)["taskId"].as_str().unwrap().to_owned();
    let history = format!("/task-history/{task}");
    let began = Instant::now();
    let record = loop {
        let records = ask(&first, "GET", &history, String::new())
            .await
            .expect(200);
        if records["items"][0]["triggerStatus"] == "success" {
            break records["items"][0]["id"].as_str().unwrap().to_owned();
        }
        assert!(began.elapsed() < PATIENCE, "{records}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    drop(first);
    let changing = start(home, &database, "b2", Some("a1")).unwrap();
    log_says(home, "sealed=1 closed=0").await;
    drop(changing);
    let changed = start(home, &database, "b2", None).unwrap();
    let status = format!("{history}/{record}/status");
    let asked = ask(&changed, "GET", &status, String::new()).await;
    assert_eq!(asked.expect(200)["response"], json!({"progress": 65}));
    assert_eq!(target.calls("/progress")[0].headers["x-key"], "hush-hush");
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
    log_says(home, "sealed=1 closed=0").await;
    drop(changing);

    let changed = start(home, &database, "b2", None).unwrap();
    let tested = ask(&changed, "POST", &path, "{}".to_owned())
        .await
        .expect(200);
    assert_eq!(tested["result"]["status"], "triggered", "{tested}");
    drop(changed);
    let refused = start(home, &database, "a1", None)
        .err()
        .expect("it opens nothing");
    assert!(
        refused.log.contains("is not the one of the database"),
        "{refused:?}"
    );
    // Whoever has no other key any more says so, and gives new secrets.
    let mut lost = command(home);
    lost.envs(database.settings());
    lost.env("REFIRE_MASTER_KEY", "c3".repeat(32));
    lost.env("REFIRE_ADMIN_KEY", "an-admin-key-of-this-test");
    lost.env("REFIRE_MASTER_KEY_PREVIOUS", "lost");
    let lost = Process::start(lost, &home.join("log")).unwrap();
    let tested = ask(&lost, "POST", &path, "{}".to_owned()).await;
    tested.problem(500, "RF0036");
    // Strangers hear nothing of it, and the webhook's log does.
    let webhook = trigger["webhook_url"].as_str().unwrap();
    let webhook = &webhook[webhook.find("/webhooks/").unwrap()..];
    let answer = ask(&lost, "POST", webhook, "{}".to_owned()).await;
    let problem = answer.problem(503, "RF0025");
    assert!(!problem.to_string().contains("trg_"), "{problem}");
    let requests = path.replace("/test", "/requests?status=error");
    let began = Instant::now();
    loop {
        let logged = ask(&lost, "GET", &requests, String::new())
            .await
            .expect(200);
        if logged
            .to_string()
            .contains("sealed with another master key")
        {
            break;
        }
        assert!(began.elapsed() < PATIENCE, "{logged}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let rotate = path.replace("/test", "/rotate-secret");
    ask(&lost, "POST", &rotate, "{}".to_owned())
        .await
        .expect(200);
    let tested = ask(&lost, "POST", &path, "{}".to_owned()).await.expect(200);
    assert_eq!(tested["result"]["status"], "triggered", "{tested}");
    drop(lost);
    let log = std::fs::read_to_string(home.join("log")).unwrap();
    assert!(!log.contains(&"a1".repeat(32)) && !log.contains(&"b2".repeat(32)));
}

#[tokio::test]
async fn a_key_that_is_gone_is_noticed_at_the_start() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::new());
    let home = home.path();
    let is_shared = KIND != "sqlite";
    let start = || {
        let mut command = command(home);
        command.envs(database.settings());
        command.env("REFIRE_ADMIN_KEY", "an-admin-key-of-this-test");
        Process::start(command, &home.join("log"))
    };
    let first = start().unwrap();
    let workflow = one_step("w", "http://127.0.0.1:1/");
    ask(&first, "PUT", "/api/workflows/w", workflow)
        .await
        .expect(200);
    drop(first);
    let Some(path) = find(home, "master.key") else {
        panic!("a key is made at the first start");
    };
    // As long as nothing is sealed another one will do, but for nodes that have agreed about one.
    if !is_shared {
        std::fs::remove_file(&path).unwrap();
    }
    let second = start().unwrap();
    let body = json!({"trigger_type": "webhook", "authentication": "hmac"}).to_string();
    ask(&second, "POST", "/api/workflows/w/triggers", body)
        .await
        .expect(201);
    drop(second);
    let key = std::fs::read(&path).unwrap();
    std::fs::remove_file(&path).unwrap();
    if is_shared {
        // A node without the key runs, and uses nothing that is sealed.
        drop(start().unwrap());
    } else {
        let refused = start().err().expect("the key is gone");
        assert!(
            refused.log.contains("there is no master key here"),
            "{refused:?}"
        );
        assert!(!refused.log.contains("all nodes"), "there is one server");
        assert!(!path.exists(), "no other one is made");
    }
    std::fs::write(&path, key).unwrap();
    drop(start().unwrap());
    let log = std::fs::read_to_string(home.join("log")).unwrap();
    assert!(
        log.contains("others on this machine can read the master key"),
        "{log}"
    );
}

/// A file in a folder or in one below it.
fn find(folder: &Path, name: &str) -> Option<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap();
    let mut paths = entries.map(|entry| entry.unwrap().path());
    paths.find_map(|path| {
        if path.is_dir() {
            return find(&path, name);
        }
        path.ends_with(name).then_some(path)
    })
}
