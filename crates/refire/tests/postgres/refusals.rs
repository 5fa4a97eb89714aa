//! A database that cannot be used is told at the start, soon, and without its password.

use std::process::Stdio;
use std::time::{Duration, Instant};

use refire_store::postgres::Scratch;

use crate::cluster::Cluster;
use crate::process::command;

/// A connection is given up after five seconds.
const SOON: Duration = Duration::from_secs(10);

/// What a server says that does not start on this database.
fn refused(url: &str, options: &[&str]) -> String {
    let home = tempfile::tempdir().unwrap();
    let began = Instant::now();
    let output = command(home.path())
        .args(options)
        .env("REFIRE_DATABASE_URL", url)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(began.elapsed() < SOON, "{:?}", began.elapsed());
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
    let said = refused(&wrong, &[]);
    assert!(said.contains("password authentication failed"), "{said}");
    assert!(said.contains(place), "which database: {said}");
    let server = cluster.url.strip_suffix("/postgres").unwrap();
    let missing = format!("{server}/nothing_here");
    let said = refused(&missing, &[]);
    assert!(
        said.contains("database \"nothing_here\" does not exist"),
        "{said}"
    );
    let unsafe_ = format!("{}?sslmode=require", cluster.url);
    let said = refused(&unsafe_, &[]);
    assert!(said.to_lowercase().contains("tls"), "{said}");
    cluster.down();
    let said = refused(&cluster.url, &[]);
    assert!(said.contains("Connection refused"), "{said}");
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
