//! Moving: from an embedded database to PostgreSQL and back.

use std::path::Path;
use std::process::{Command, Output};
use std::time::Duration;

use serde_json::{Value, json};

use crate::database::Database;
use crate::process::{Process, command};
use crate::server::send;
use crate::target::Target;
use crate::workflow::one_step;

/// Runs the command line with nothing of the outer environment.
fn refire(home: &Path, database: &Database, args: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_refire"))
        .env_clear()
        .envs(database.settings())
        .current_dir(home)
        .args(args)
        .output()
        .unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// A server on an embedded database in this directory.
fn embedded(home: &Path, options: &[&str]) -> Process {
    let mut serve = command(home);
    serve.arg("--dev").args(options);
    Process::start(serve, &home.join("log")).unwrap()
}

/// Calls a server by its address and key.
struct Caller {
    http: reqwest::Client,
    url: String,
    key: String,
}

impl Caller {
    fn new(url: &str, home: &Path) -> Self {
        let key = std::fs::read_to_string(home.join("data/admin.key")).unwrap();
        Self {
            http: reqwest::Client::builder().no_proxy().build().unwrap(),
            url: url.to_owned(),
            key: key.trim().to_owned(),
        }
    }

    async fn get(&self, path: &str) -> Value {
        let request = self.http.get(format!("{}{path}", self.url));
        send(request.bearer_auth(&self.key)).await.expect(200)
    }

    async fn post(&self, path: &str, body: &str) -> Value {
        let request = self.http.post(format!("{}{path}", self.url));
        let answer = send(request.bearer_auth(&self.key).body(body.to_owned())).await;
        assert!(answer.status < 300, "{}", answer.text);
        answer.json()
    }

    /// Everything that lists and histories show, which must survive a move unchanged.
    async fn everything(&self) -> Value {
        let executions = self.get("/api/executions?limit=1000").await;
        let mut details = Vec::new();
        for one in executions["items"].as_array().unwrap() {
            let id = one["execution_id"].as_str().unwrap();
            details.push(self.get(&format!("/api/executions/{id}")).await);
            let events = format!("/api/executions/{id}/events?limit=1000");
            details.push(self.get(&events).await);
        }
        json!({
            "executions": executions,
            "details": details,
            "workflows": self.get("/api/workflows").await,
            "letters": self.get("/api/dlq").await,
            "summary": self.get("/api/dlq/summary").await,
        })
    }
}

#[test]
fn migrations_are_listed_and_applied() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::empty());
    let check = || refire(home.path(), &database, &["migrate", "--check"]);
    let pending = check();
    assert_eq!(pending.status.code(), Some(3), "{pending:?}");
    let listed = text(&pending.stdout);
    assert!(listed.starts_with("0001_initial  "), "{listed}");
    assert!(
        listed.contains("tables") && listed.lines().count() == 15,
        "{listed}"
    );
    let said = text(&pending.stderr);
    assert!(said.contains("15 migrations are pending"), "{said}");
    assert!(said.contains("run `refire migrate`"), "{said}");
    let names = refire(
        home.path(),
        &database,
        &["migrate", "--check", "--format", "json"],
    );
    let names: Value = serde_json::from_slice(&names.stdout).unwrap();
    let all = json!([
        "0001_initial",
        "0002_triggers",
        "0003_records",
        "0004_outcomes",
        "0005_tasks",
        "0006_callbacks",
        "0007_workers",
        "0008_scheduled",
        "0009_sessions",
        "0010_started_by",
        "0011_task_history",
        "0012_notices",
        "0013_bulk",
        "0014_alerts",
        "0015_breakers"
    ]);
    assert_eq!(names["pending"], all);
    // A file that is not there changes nothing.
    let from = ["migrate", "--from", "sqlite:nowhere.db"];
    let refused = refire(home.path(), &database, &from);
    assert_eq!(refused.status.code(), Some(1), "{refused:?}");
    assert!(
        text(&refused.stderr).contains("no such file"),
        "{refused:?}"
    );
    assert_eq!(check().status.code(), Some(3), "no table was made");
    let applied = refire(home.path(), &database, &["migrate", "--format", "json"]);
    assert_eq!(applied.status.code(), Some(0), "{applied:?}");
    let said: Value = serde_json::from_slice(&applied.stdout).unwrap();
    assert_eq!(said["applied"], all);
    let current = check();
    assert_eq!(
        (current.status.code(), text(&current.stdout).as_str()),
        (Some(0), "")
    );
    assert!(text(&current.stderr).contains("is up to date"));
    let again = refire(home.path(), &database, &["migrate"]);
    assert_eq!(again.status.code(), Some(0), "{again:?}");
    for args in [
        &["migrate", "--database", "sqlite:x.db"][..],
        &["migrate", "--from", "postgres://x"],
        &["migrate", "--from", "sqlite:x.db", "--check"],
        &["migrate", "--database", "mysql://x"],
    ] {
        let misused = refire(home.path(), &database, args);
        assert_eq!(misused.status.code(), Some(2), "{args:?}: {misused:?}");
    }
}

/// What a server in this directory has: one execution of each kind of end, and one that waits.
async fn fill(home: &Path, target: &Target) -> Process {
    target.answers("/bad", &[500, 500, 500]);
    let server = embedded(home, &[]);
    let caller = Caller::new(&server.url, home);
    for (id, path) in [("good", "/good"), ("bad", "/bad"), ("later", "/later")] {
        let put = caller
            .http
            .put(format!("{}/api/workflows/{id}", caller.url));
        let definition = one_step(id, &target.url(path));
        send(put.bearer_auth(&caller.key).body(definition))
            .await
            .expect(200);
    }
    // Characters that a text of the other database cannot hold, and numbers that a float cannot.
    let odd = r#"{"text":"a\u0000b","n":12345678901234567890.10,"dup":1,"dup":2}"#;
    for (path, input) in [
        ("good/execute?wait=20s", odd),
        ("bad/execute?wait=20s", "{}"),
        ("later/execute?delay=1h", "{}"),
    ] {
        caller.post(&format!("/api/workflows/{path}"), input).await;
    }
    server
}

/// Runs a command that must end with this code; what it said.
#[track_caller]
fn ends(home: &Path, database: &Database, code: i32, args: &[&str]) -> String {
    let output = refire(home, database, args);
    assert_eq!(output.status.code(), Some(code), "{args:?}: {output:?}");
    text(&output.stderr) + &text(&output.stdout)
}

#[tokio::test]
async fn an_embedded_database_moves_over() {
    let (home, database, target) = (
        tempfile::tempdir().unwrap(),
        Database::empty(),
        Target::start().await,
    );
    let home = home.path();
    let server = fill(home, &target).await;
    let before = Caller::new(&server.url, home).everything().await;
    assert_eq!(before["letters"]["items"].as_array().unwrap().len(), 1);
    let from = ["migrate", "--from", "sqlite:data/refire.db"];
    let said = ends(home, &database, 1, &from);
    assert!(said.contains("in use by another process"), "{said}");
    drop(server);
    let said = ends(home, &database, 0, &from);
    assert!(said.contains("rows of data/refire.db copied"), "{said}");
    assert!(
        said.contains("data/refire.db.moved marks the old file as moved"),
        "{said}"
    );
    let mut old = command(home);
    old.arg("--dev");
    let refused = Process::start(old, &home.join("old.log")).err().unwrap();
    assert!(!refused.status.success());
    let why = "was moved to PostgreSQL at 127.0.0.1:";
    assert!(refused.log.contains(why), "{}", refused.log);
    let said = ends(home, &database, 1, &from);
    assert!(said.contains("not empty"), "{said}");

    let mut serve = command(home);
    serve.arg("--dev").envs(database.settings());
    let node = Process::start(serve, &home.join("log")).unwrap();
    let caller = Caller::new(&node.url, home);
    assert_eq!(caller.everything().await, before);
    let letter = before["letters"]["items"][0]["id"].as_str().unwrap();
    let retried = caller.post(&format!("/api/dlq/{letter}/retry"), "").await;
    let retried = retried["execution_id"].as_str().unwrap();
    while caller.get(&format!("/api/executions/{retried}")).await["status"] != "completed" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let listed = ["nodes", "--url", &node.url, "--data-dir", "data"];
    let table = ends(home, &database, 0, &listed);
    assert!(
        table.starts_with("NAME") && table.contains("answered"),
        "{table}"
    );
}

#[tokio::test]
async fn a_backup_moves_back() {
    let (home, database, target) = (
        tempfile::tempdir().unwrap(),
        Database::empty(),
        Target::start().await,
    );
    let home = home.path();
    drop(fill(home, &target).await);
    let from = ["migrate", "--from", "sqlite:data/refire.db"];
    ends(home, &database, 0, &from);
    let mut serve = command(home);
    serve.arg("--dev").envs(database.settings());
    let node = Process::start(serve, &home.join("log")).unwrap();
    let everything = Caller::new(&node.url, home).everything().await;
    let asked = [
        "backup",
        "asked.db",
        "--url",
        &node.url,
        "--data-dir",
        "data",
    ];
    ends(home, &database, 0, &asked);
    drop(node);
    // Nobody answers there, so the database itself is copied.
    let alone = ["backup", "alone.db", "--url", "http://127.0.0.1:1"];
    let said = ends(home, &database, 0, &alone);
    assert!(said.contains("no server runs here"), "{said}");
    for copy in ["sqlite:asked.db", "sqlite:alone.db"] {
        let back = embedded(home, &["--database", copy]);
        let found = Caller::new(&back.url, home).everything().await;
        assert_eq!(found, everything, "{copy}");
    }
    // And over again.
    let other = Database::empty();
    ends(home, &other, 0, &["migrate", "--from", "sqlite:asked.db"]);
}

/// The master key is not in the database: a node that comes without it must not make another one, since
/// the right one would then be refused.
#[tokio::test]
async fn sealed_secrets_move_only_with_their_master_key() {
    let (old, other, database) = (
        tempfile::tempdir().unwrap(),
        tempfile::tempdir().unwrap(),
        Database::empty(),
    );
    let (old, other) = (old.path(), other.path());
    let server = embedded(old, &[]);
    let caller = Caller::new(&server.url, old);
    let put = caller.http.put(format!("{}/api/workflows/w", caller.url));
    let definition = one_step("w", "http://127.0.0.1:1/");
    send(put.bearer_auth(&caller.key).body(definition))
        .await
        .expect(200);
    let webhook = json!({"trigger_type": "webhook", "authentication": "hmac"}).to_string();
    let made = caller.post("/api/workflows/w/triggers", &webhook).await;
    let test = format!("/api/triggers/{}/test", made["id"].as_str().unwrap());
    drop(server);
    let from = ["migrate", "--from", "sqlite:data/refire.db"];
    ends(old, &database, 0, &from);

    let start = |home: &Path, variables: &[(&str, &str)]| {
        let mut serve = command(home);
        serve.envs(database.settings()).envs(variables.to_vec());
        Process::start(serve, &home.join("log"))
    };
    let refused = start(other, &[]).err().expect("it has no key");
    for part in [
        "there is no master key here",
        "of the old data directory",
        "REFIRE_MASTER_KEY_PREVIOUS=lost",
    ] {
        assert!(refused.log.contains(part), "{part}: {}", refused.log);
    }
    assert!(!other.join("data/master.key").exists(), "none is made");
    let another = "ab".repeat(32);
    let refused = start(other, &[("REFIRE_MASTER_KEY", &another)]);
    let refused = refused.err().expect("it has another key");
    let why = "the master key of this node is not the one of the database";
    assert!(refused.log.contains(why), "{}", refused.log);

    let node = start(old, &[]).unwrap();
    let tested = Caller::new(&node.url, old).post(&test, "{}").await;
    assert_eq!(tested["result"]["status"], "triggered", "{tested}");
    drop(node);
    drop(start(other, &[("REFIRE_MASTER_KEY_PREVIOUS", "lost")]).unwrap());
}
