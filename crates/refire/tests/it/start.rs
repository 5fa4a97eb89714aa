//! Starting: what is printed, made, and refused.

use std::os::unix::fs::PermissionsExt;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::process::{Process, command};
use crate::server::{Server, send};

/// Runs the server until it ends by itself; what it said.
fn refused(options: &[&str], environment: &[(&str, &str)]) -> String {
    let home = tempfile::tempdir().unwrap();
    let output = command(home.path())
        .args(options)
        .envs(environment.iter().copied())
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(!output.status.success());
    String::from_utf8(output.stderr).unwrap()
}

#[tokio::test]
async fn the_first_start_makes_a_key_and_later_ones_keep_it() {
    let began = Instant::now();
    let mut server = Server::start().await;
    assert!(
        began.elapsed() < Duration::from_secs(2),
        "{:?}",
        began.elapsed()
    );
    assert!(
        server.key.starts_with("rf_") && server.key.len() == 46,
        "{}",
        server.key
    );
    let mode = |path: &std::path::Path| path.metadata().unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(&server.data().join("admin.key")), 0o600);
    assert_eq!(mode(&server.data()), 0o700);
    server.kill();
    let open = std::fs::Permissions::from_mode(0o755);
    std::fs::set_permissions(server.data(), open).unwrap();
    server.restart();
    server.get("/api/executions").await.expect(200);
    let log = server.log();
    assert_eq!(log.matches("chmod 700").count(), 1, "{log}");
}

#[test]
fn what_cannot_be_is_explained() {
    for (options, environment, said) in [
        (vec!["--listen", "0.0.0.0:0"], vec![], "--behind-proxy"),
        (
            vec!["--listen", "nowhere"],
            vec![],
            "is not an address with a port",
        ),
        (
            vec!["--time-zones", "system"],
            vec![("TZDIR", "/nowhere")],
            "there is no time-zone database in /nowhere",
        ),
        (
            vec!["--database", "mysql://u:canary@h/d"],
            vec![],
            "`mysql:` is not supported",
        ),
        (
            vec!["--database", "postgres://u:canary@h/d?sslmode=maybe"],
            vec![],
            "sslmode must be",
        ),
        (vec!["--lease", "1s"], vec![], "--lease"),
        (
            vec!["--config", "missing.yaml"],
            vec![],
            "missing.yaml cannot be read",
        ),
        (vec!["--log-level", "=="], vec![], "--log-level: `==`"),
        (vec!["--log-level", "inf"], vec![], "is not a log level"),
        (
            vec![],
            vec![("REFIRE_LOG_LEVEL", "nonsense")],
            "use off, error, warn, info, debug or trace",
        ),
        (vec![], vec![("RUST_LOG", "trce")], "RUST_LOG: `trce`"),
        (
            vec![],
            vec![("REFIRE_ADMIN_KEY", "short")],
            "REFIRE_ADMIN_KEY",
        ),
        (
            vec![],
            vec![("REFIRE_ALLOW_PRIVATE_TARGETS", "moon")],
            "moon",
        ),
    ] {
        let text = refused(&options, &environment);
        assert!(text.contains(said), "{options:?}: {text}");
        assert!(
            !text.contains("canary"),
            "the password is not shown: {text}"
        );
    }
}

/// A log that programs read holds nothing else, and never the key.
#[test]
fn a_json_log_holds_no_greeting_and_no_key() {
    let home = tempfile::tempdir().unwrap();
    let mut child = command(home.path())
        .env("REFIRE_LOG_FORMAT", "json")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut log = std::io::BufReader::new(child.stderr.take().unwrap());
    let mut lines = String::new();
    while !lines.contains("\"serving\"") {
        assert_ne!(
            std::io::BufRead::read_line(&mut log, &mut lines).unwrap(),
            0,
            "{lines}"
        );
    }
    child.kill().unwrap();
    let out = child.wait_with_output().unwrap().stdout;
    assert_eq!(String::from_utf8(out).unwrap(), "");
    let file = home.path().join("data/admin.key");
    let key = std::fs::read_to_string(&file).unwrap();
    assert!(!lines.contains(key.trim()), "{lines}");
    let saved = "\"the admin key was created and saved\"";
    let saved = lines.lines().find(|line| line.contains(saved)).unwrap();
    assert!(saved.contains("data/admin.key"), "{saved}");
    for line in lines.lines() {
        serde_json::from_str::<serde_json::Value>(line).unwrap();
    }
}

/// A key is shown once, when the server is ready: a start that fails must not use that up.
#[test]
fn a_start_that_fails_leaves_no_key_behind() {
    let home = tempfile::tempdir().unwrap();
    let start = |master_key: &str| {
        let mut command = command(home.path());
        command.env("REFIRE_MASTER_KEY", master_key);
        Process::start(command, &home.path().join("server.log"))
    };
    let key = home.path().join("data/admin.key");
    let refused = start("not a key").map(drop).unwrap_err();
    assert!(refused.log.contains("REFIRE_MASTER_KEY"), "{}", refused.log);
    assert!(!key.exists());
    let process = start("AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA").unwrap();
    assert!(key.exists());
    drop(process);
}

#[tokio::test]
async fn an_address_or_database_in_use_is_explained() {
    let server = Server::start().await;
    let address = server.url.strip_prefix("http://").unwrap();
    let text = refused(&["--listen", address], &[]);
    assert!(
        text.contains("is in use") && text.contains("--listen"),
        "{text}"
    );
    let database = format!("sqlite:{}", server.data().join("refire.db").display());
    let text = refused(&["--database", &database], &[]);
    assert!(text.contains("in use by another process"), "{text}");
    server.get("/api/executions").await.expect(200);
}

#[tokio::test]
async fn a_given_key_is_used_and_written_nowhere() {
    let home = tempfile::tempdir().unwrap();
    // The environment goes over the file, which names a port that nobody may have.
    std::fs::write(
        home.path().join("refire.yaml"),
        "listen: 127.0.0.1:1\nmax_connections: 5\n",
    )
    .unwrap();
    let key = "rf_given_by_the_environment";
    let mut child = command(home.path())
        .env("REFIRE_ADMIN_KEY", key)
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = std::io::BufReader::new(child.stdout.take().unwrap());
    std::io::BufRead::read_line(&mut out, &mut line).unwrap();
    let url = line.split_once("is ready at ").unwrap().1.trim().to_owned();
    let http = reqwest::Client::builder().no_proxy().build().unwrap();
    let answer = send(http.get(format!("{url}/api/executions")).bearer_auth(key)).await;
    child.kill().unwrap();
    child.wait().unwrap();
    answer.expect(200);
    assert!(!home.path().join("data/admin.key").exists());
}
