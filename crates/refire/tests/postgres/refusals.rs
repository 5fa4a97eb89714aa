//! A database that cannot be used is told at the start, soon, and without its password.

use std::fs::File;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use refire_store::postgres::Scratch;

use crate::cluster::Cluster;
use crate::process::command;

/// A connection is given up after five seconds.
const SOON: Duration = Duration::from_secs(10);
/// A database that is not there is waited for; then a connection is given up once more.
const PATIENCE: Duration = Duration::from_secs(30);
/// To be ready, or to stop.
const READY_WITHIN: Duration = Duration::from_secs(60);

/// What a server says that does not start on this database.
fn refused(url: &str, within: Duration) -> String {
    let home = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let output = command(home.path())
        .env("REFIRE_DATABASE_URL", url)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(began.elapsed() < within, "{:?}", began.elapsed());
    assert_eq!(output.status.code(), Some(1));
    let said = String::from_utf8(output.stderr).unwrap();
    let password = url.split([':', '@']).nth(2).unwrap();
    assert!(!said.contains(password), "{said}");
    assert!(
        !home.path().join("data/admin.key").exists(),
        "no key for a database that is not there"
    );
    said
}

#[test]
fn what_is_wrong_with_the_database_is_told_soon() {
    let cluster = Cluster::start();
    let place = cluster.url.rsplit_once('@').unwrap().1;
    let wrong = format!("postgres://postgres:not-the-password@{place}");
    let said = refused(&wrong, SOON);
    assert!(said.contains("password authentication failed"), "{said}");
    assert!(said.contains(place), "which database: {said}");
    let server = cluster.url.strip_suffix("/postgres").unwrap();
    let missing = format!("{server}/nothing_here");
    let said = refused(&missing, SOON);
    assert!(
        said.contains("database \"nothing_here\" does not exist"),
        "{said}"
    );
    let unsafe_ = format!("{}?sslmode=require", cluster.url);
    let said = refused(&unsafe_, SOON);
    assert!(said.to_lowercase().contains("tls"), "{said}");
    cluster.down();
    let began = Instant::now();
    let said = refused(&cluster.url, PATIENCE + SOON);
    assert!(began.elapsed() > PATIENCE / 2, "{:?}", began.elapsed());
    assert!(said.contains("Connection refused"), "{said}");
    let lines = said.lines().filter(|line| line.contains("not there yet"));
    assert_eq!(lines.count(), 1, "{said}");
}

/// A server on a database that is not there; it says so.
fn waiting(home: &Path, cluster: &Cluster) -> Child {
    let log = File::create(home.join("log")).unwrap();
    let server = command(home)
        .env("REFIRE_DATABASE_URL", &cluster.url)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(log)
        .spawn()
        .unwrap();
    until(|| said(home).contains("not there yet"));
    server
}

fn said(home: &Path) -> String {
    std::fs::read_to_string(home.join("log")).unwrap()
}

#[track_caller]
fn until(is_so: impl Fn() -> bool) {
    let began = Instant::now();
    while !is_so() {
        assert!(began.elapsed() < READY_WITHIN, "it never came");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_database_that_comes_late_is_waited_for() {
    let (home, cluster) = (tempfile::tempdir().unwrap(), Cluster::start());
    cluster.down();
    let mut server = waiting(home.path(), &cluster);
    cluster.up();
    until(|| said(home.path()).contains("serving"));
    kill(&server);
    assert_eq!(
        server.wait().unwrap().code(),
        Some(0),
        "{}",
        said(home.path())
    );
    // Nobody must wait for it to be stopped.
    cluster.down();
    let mut server = waiting(home.path(), &cluster);
    let began = Instant::now();
    kill(&server);
    assert_eq!(
        server.wait().unwrap().code(),
        Some(0),
        "{}",
        said(home.path())
    );
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
}

/// Tells a server to stop.
fn kill(server: &Child) {
    // The shell has a `kill` of its own, so that none must be installed.
    let kill = format!("kill -s TERM {}", server.id());
    let told = Command::new("sh").args(["-c", &kill]).status();
    assert!(told.unwrap().success());
}

#[test]
fn a_database_in_another_encoding_is_refused() {
    let latin = Scratch::with("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0");
    // The server of the tests may have no password; one is needed to see that it is not shown.
    let url = latin.url();
    let home = tempfile::tempdir().unwrap();
    let output = command(home.path())
        .env("REFIRE_DATABASE_URL", url)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("LATIN1") && said.contains("UTF8"), "{said}");
}
