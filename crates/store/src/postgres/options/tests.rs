//! URLs, and what is shown of them.

use std::error::Error;

use super::*;

fn refused(url: &str) -> BadOptions {
    match Options::new(url) {
        Err(error) => error,
        Ok(options) => panic!("{url} is taken for {options:?}"),
    }
}

#[test]
fn a_url_names_the_place() {
    let place = |url: &str| Options::new(url).unwrap().place();
    assert_eq!(place("postgres://me@db.example/app"), "db.example:5432/app");
    assert_eq!(
        place("postgresql://me:x@db:1234/app?sslmode=disable"),
        "db:1234/app"
    );
    assert_eq!(place("postgres://me@a:1,b:2/app"), "a:1,b:2/app");
    assert_eq!(place("postgres://me@[::1]:5433/app"), "::1:5433/app");
    let socket = "postgres://me@%2Frun%2Fpostgresql/app";
    assert_eq!(place(socket), "/run/postgresql:5432/app");
}

#[test]
fn the_modes_of_tls_are_known() {
    for (name, mode) in [
        ("disable", SslMode::Disable),
        ("prefer", SslMode::Prefer),
        ("require", SslMode::Require),
        ("verify-full", SslMode::VerifyFull),
    ] {
        let options = Options::new(&format!("postgres://me@db/app?sslmode={name}")).unwrap();
        assert_eq!(options.mode, mode);
        assert_eq!(options.config.get_ssl_mode(), mode.of_driver());
    }
    assert_eq!(
        Options::new("postgres://me@db/app").unwrap().mode,
        SslMode::Prefer
    );
    assert!(matches!(
        refused("postgres://me@db/app?sslmode=verify"),
        BadOptions::SslMode
    ));
}

#[test]
fn certificates_that_nobody_looks_at_are_refused() {
    for mode in ["", "sslmode=disable&", "sslmode=prefer&"] {
        let said = refused(&format!("postgres://me@db/app?{mode}sslrootcert=ca.pem"));
        assert!(matches!(said, BadOptions::RootsUnused), "{said:?}");
    }
    let said = refused("postgres://me@db/app?sslmode=verify-ca");
    assert!(matches!(said, BadOptions::RootsMissing), "{said:?}");
}

#[test]
fn the_certificates_to_trust_are_read_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("roots of ours.pem");
    let path = file.display().to_string().replace(' ', "%20");
    for mode in ["require", "verify-ca", "verify-full"] {
        let url = format!("postgres://me@db/app?sslmode={mode}&sslrootcert={path}");
        let said = refused(&url);
        assert!(matches!(said, BadOptions::Roots { .. }), "{said:?}");
        std::fs::write(&file, "nothing of the kind").unwrap();
        let said = refused(&url);
        assert!(matches!(said, BadOptions::NoRoots(_)), "{said:?}");
        std::fs::remove_file(&file).unwrap();
    }
}

#[test]
fn other_parameters_reach_the_driver() {
    let options =
        Options::new("postgres://me@db/app?sslmode=disable&options=-c%20geqo%3Doff").unwrap();
    assert_eq!(options.config.get_options(), Some("-c geqo=off"));
    let said = refused("postgres://me@db/app?colour=red").to_string();
    assert!(said.contains("colour"), "{said}");
}

#[test]
fn a_password_is_never_shown() {
    let secret = "s3cr3t";
    let shown = format!("{:?}", Options::new("postgres://me:s3cr3t@db/app").unwrap());
    assert!(
        !shown.contains(secret) && shown.contains("db:5432/app"),
        "{shown}"
    );
    for url in [
        "postgres://me:a/s3cr3t@db/app",
        "postgres://me:a?s3cr3t@db/app",
        "postgres://me:a#s3cr3t@db/app",
        "postgres://me:a@s3cr3t@db/app",
        "postgres://me:a:s3cr3t@db/app",
        "postgres://me:s3cr3t/app",
        "postgres://me:s3cr3t@db:x/app",
        "mysql://me:s3cr3t@db/app",
    ] {
        let error = refused(url);
        let mut said = format!("{error} {error:?}");
        let mut source = error.source();
        while let Some(error) = source {
            said = format!("{said} {error}");
            source = error.source();
        }
        assert!(!said.contains(secret), "{url}: {said}");
    }
}

#[test]
fn a_url_without_a_host_is_refused() {
    let said = refused("postgres:///app").to_string();
    assert!(said.contains("no host"), "{said}");
}
