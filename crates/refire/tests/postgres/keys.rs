//! One admin key for all nodes.

use std::io::{BufRead as _, BufReader};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;

use crate::database::Database;
use crate::process::command;
use crate::server::{Server, send};

/// What a node prints at its start, up to the line with this text.
fn greeting(database: &Database, key: Option<&str>, until: &str) -> String {
    let home = tempfile::tempdir().unwrap();
    if let Some(key) = key {
        std::fs::create_dir(home.path().join("data")).unwrap();
        std::fs::write(home.path().join("data/admin.key"), key).unwrap();
    }
    let mut child = command(home.path())
        .envs(database.settings())
        .args(["--node-name", "greeter"])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let lines = BufReader::new(child.stdout.take().unwrap()).lines();
    let mut said = String::new();
    for line in lines.map_while(Result::ok) {
        said.push_str(&line);
        said.push('\n');
        if line.contains(until) {
            break;
        }
    }
    child.kill().unwrap();
    child.wait().unwrap();
    said
}

#[tokio::test]
async fn the_key_of_the_first_node_opens_all_of_them() {
    let database = Arc::new(Database::new());
    let first = Server::start_on(Arc::clone(&database), &[]).await;
    assert!(first.key.starts_with("rf_"), "it made one");
    let mut second = Server::start_on(Arc::clone(&database), &[]).await;
    assert!(second.key.is_empty(), "none is kept where none was made");
    second.get("/api/nodes").await.problem(401, "RF0006");
    second.key.clone_from(&first.key);
    second.get("/api/nodes").await.expect(200);
    second.signal("TERM");
    assert_eq!(second.ended().await.code(), Some(0));
    second.restart();
    second.get("/api/nodes").await.expect(200);
    for log in [first.log(), second.log()] {
        assert!(!log.contains(&first.key), "keys are never logged");
    }
    let said = greeting(&database, None, "export REFIRE_API_KEY");
    let place = database.url().rsplit_once('@').unwrap().1;
    let place = place.split('?').next().unwrap();
    for line in [
        format!("database   PostgreSQL at {place}\n"),
        "node       greeter, with 2 others: ".to_owned(),
        "admin key  the one of all nodes: created by the first one, or by `refire".to_owned(),
    ] {
        assert!(said.contains(&line), "{line}: {said}");
    }
}

#[tokio::test]
async fn a_key_in_another_directory_opens_nothing() {
    let database = Arc::new(Database::new());
    let first = Server::start_on(Arc::clone(&database), &[]).await;
    let mut other = Server::start_on(Arc::clone(&database), &[]).await;
    other.signal("TERM");
    other.ended().await;
    let stray = "rf_0123456789_of_another_life";
    std::fs::write(other.data().join("admin.key"), stray).unwrap();
    other.restart();
    assert!(
        other.log().contains("not the one of the database"),
        "{}",
        other.log()
    );
    stray.clone_into(&mut other.key);
    other.get("/api/nodes").await.problem(401, "RF0006");
    other.key.clone_from(&first.key);
    other.get("/api/nodes").await.expect(200);
}

#[tokio::test]
async fn a_given_key_goes_over_the_database() {
    const GIVEN: &str = "given-by-the-environment";
    let database = Arc::new(Database::new());
    let first = Server::start_on(Arc::clone(&database), &[]).await;
    let home = tempfile::tempdir().unwrap();
    let mut given = command(home.path());
    given
        .envs(database.settings())
        .env("REFIRE_ADMIN_KEY", GIVEN);
    let log = home.path().join("log");
    let second = crate::process::Process::start(given, &log).unwrap();
    let ask = |key: &str| {
        let request = first.http.get(format!("{}/api/nodes", second.url));
        send(request.bearer_auth(key))
    };
    ask(GIVEN).await.expect(200);
    ask(&first.key).await.problem(401, "RF0006");
    let said = std::fs::read_to_string(log).unwrap();
    assert!(said.contains("nodes without it accept another"), "{said}");
    assert!(!home.path().join("data/admin.key").exists());
}

/// Runs `refire admin-key rotate` in the directory of a server; what it printed and said.
fn rotate(database: &Database, data: &Path, variables: &[(&str, &str)]) -> (String, String) {
    let output = Command::new(env!("CARGO_BIN_EXE_refire"))
        .env_clear()
        .envs(database.settings())
        .envs(variables.to_vec())
        .args(["admin-key", "rotate", "--data-dir"])
        .arg(data)
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (text(output.stdout), text(output.stderr))
}

#[tokio::test]
async fn a_rotated_key_counts_on_running_nodes_and_on_later_ones() {
    const OWN: &str = "chosen-for-all-nodes-of-the-test";
    let database = Arc::new(Database::new());
    let mut first = Server::start_on(Arc::clone(&database), &[]).await;
    let mut second = Server::start_on(Arc::clone(&database), &[]).await;
    let old = first.key.clone();
    let (made, said) = rotate(&database, &first.data(), &[]);
    let made = made.trim();
    assert!(made.starts_with("rf_") && made != old, "{made}");
    assert!(
        said.contains("saved in ") && said.contains("admin.key\n"),
        "{said}"
    );
    let kept = std::fs::read_to_string(first.data().join("admin.key")).unwrap();
    assert_eq!(kept.trim(), made, "the command line here finds the new one");
    for node in [&mut first, &mut second] {
        made.clone_into(&mut node.key);
        node.get("/api/nodes").await.expect(200);
        node.key.clone_from(&old);
        node.get("/api/nodes").await.problem(401, "RF0006");
    }
    // A key of one's own goes the same way, and is not shown.
    let variables = [("REFIRE_ADMIN_KEY", OWN)];
    let (printed, said) = rotate(&database, &second.data(), &variables);
    assert_eq!(printed, "");
    assert!(said.contains("the old one is gone") && !said.contains(OWN));
    assert!(!second.data().join("admin.key").exists(), "none was there");
    let (_, said) = rotate(&database, &second.data(), &variables);
    assert!(
        said.contains("had the key of REFIRE_ADMIN_KEY already"),
        "{said}"
    );
    let mut later = Server::start_on(Arc::clone(&database), &[]).await;
    made.clone_into(&mut later.key);
    later.get("/api/nodes").await.problem(401, "RF0006");
    OWN.clone_into(&mut later.key);
    later.get("/api/nodes").await.expect(200);
}

#[tokio::test]
async fn a_start_that_fails_leaves_no_key_behind() {
    let (home, database) = (tempfile::tempdir().unwrap(), Database::new());
    let refuse = "ALTER TABLE settings ADD CONSTRAINT refused CHECK (name <> 'admin_key_sha256')";
    database.change(home.path(), refuse).await;
    let mut started = command(home.path());
    started.envs(database.settings()).stdin(Stdio::null());
    let ended = started.output().unwrap();
    assert_eq!(ended.status.code(), Some(1), "{ended:?}");
    // The next start would take it for one that somebody was shown.
    assert!(!home.path().join("data/admin.key").exists());
}
