//! Precedence, and what is refused.

use std::path::Path;

use super::*;

fn resolve(args: ServeArgs, file: &str) -> anyhow::Result<ServeConfig> {
    args.over(file::parse(file)?, None, None)
}

fn said(args: ServeArgs, file: &str) -> String {
    format!("{:#}", resolve(args, file).expect_err("refused"))
}

#[test]
fn a_flag_goes_over_the_file_and_the_file_over_the_default() {
    let file = "listen: 127.0.0.1:1\ndata_dir: /tmp/f\nmax_attempts: 7\nlog_format: json\n";
    let args = ServeArgs {
        listen: Some("localhost:2".to_owned()),
        ..ServeArgs::default()
    };
    let config = resolve(args, file).unwrap();
    assert_eq!(config.listen.to_string(), "127.0.0.1:2");
    assert!(
        matches!(config.database, Database::Sqlite(path) if path.ends_with("/tmp/f/refire.db"))
    );
    assert_eq!(
        (config.limits.attempts, config.limits.attempts_per_host),
        (7, 128)
    );
    assert_eq!(config.log_format, LogFormat::Json);
    assert_eq!(config.backup_dir, Path::new("/tmp/f/backups"));
    let elsewhere = resolve(ServeArgs::default(), "backup_dir: /backups").unwrap();
    assert_eq!(elsewhere.backup_dir, Path::new("/backups"));
    let config = resolve(ServeArgs::default(), "").unwrap();
    assert_eq!(config.listen.to_string(), LISTEN);
    assert_eq!(config.allow, Allow::Nothing);
    assert_eq!(config.body_bytes_max, BODY_BYTES_MAX);
}

#[test]
fn time_zones_are_chosen_like_other_settings() {
    let chosen = |flag, file| {
        let args = ServeArgs {
            time_zones: flag,
            ..ServeArgs::default()
        };
        resolve(args, file).unwrap().time_zones
    };
    assert_eq!(chosen(None, ""), TimeZones::BuiltIn);
    assert_eq!(chosen(None, "time_zones: system"), TimeZones::System);
    let over = Some(TimeZones::BuiltIn);
    assert_eq!(chosen(over, "time_zones: system"), TimeZones::BuiltIn);
    assert!(said(ServeArgs::default(), "time_zones: mine").contains("neither built-in nor system"));
}

#[test]
fn private_targets_are_opened_by_dev_or_by_list() {
    let dev = ServeArgs {
        dev: Some(true),
        ..ServeArgs::default()
    };
    assert_eq!(resolve(dev.clone(), "").unwrap().allow, Allow::All);
    let config = resolve(dev, "allow_private_targets: [10.0.0.0/8]").unwrap();
    assert!(matches!(config.allow, Allow::Networks(networks) if networks.len() == 1));
    assert!(said(ServeArgs::default(), "allow_private_targets: nowhere").contains("nowhere"));
}

#[test]
fn plain_http_beyond_this_machine_needs_a_word() {
    let args = |proxy| ServeArgs {
        listen: Some("0.0.0.0:80".to_owned()),
        behind_proxy: proxy,
        ..ServeArgs::default()
    };
    assert!(said(args(None), "").contains("--behind-proxy"));
    assert!(resolve(args(Some(true)), "").is_ok());
    assert!(resolve(args(None), "behind_proxy: true").is_ok());
    let six = ServeArgs {
        listen: Some("[::1]:0".to_owned()),
        ..ServeArgs::default()
    };
    assert!(resolve(six, "").is_ok());
}

#[test]
fn yes_and_no_have_many_spellings() {
    for text in ["true", "1", "yes", "ON", " on "] {
        assert_eq!(truth(text, "V"), Ok(true), "{text}");
    }
    for text in ["false", "0", "No", "off", ""] {
        assert_eq!(truth(text, "V"), Ok(false), "{text}");
    }
    assert!(
        truth("maybe", "REFIRE_DEV")
            .unwrap_err()
            .contains("REFIRE_DEV")
    );
}

#[test]
fn the_other_commands_find_the_server_of_the_file() {
    let here = |text: &str| found(file::parse(text).unwrap().said);
    let both = here("listen: 0.0.0.0:8080\ndata_dir: /var/lib/refire\n");
    assert_eq!(both.address.unwrap().to_string(), "127.0.0.1:8080");
    assert_eq!(both.data_dir, Some("/var/lib/refire".into()));
    assert_eq!(
        here("listen: '[::]:1'").address.unwrap().to_string(),
        "[::1]:1"
    );
    assert_eq!(here("listen: 127.0.0.1:0"), Here::default());
    assert_eq!(here("max_attempts: 3"), Here::default());
}

#[test]
fn what_is_wrong_is_named() {
    let table = [
        (
            "colour: red",
            "line 1: colour: unknown setting; the settings are listen",
        ),
        ("dev: 7", "dev: expected true or false, found a number"),
        ("- a", "expected a mapping of settings, found a list"),
        (
            "max_attempts: 0",
            "line 1: max_attempts: must be at least 1",
        ),
        ("max_attempts: -1", "not a whole number"),
        ("log_format: xml", "neither text nor json"),
        ("database: mysql://x", "is not supported"),
        ("lease: 1s", "line 1: lease: must be between 5 s and 300 s"),
        ("database: 'sqlite:'", "names no file"),
        ("listen: here", "`here` is not an address with a port"),
        ("max_body_bytes: 99999999999", "is too large"),
        ("dev: true\nlog_level: inf", "line 2: log_level: `inf`"),
        ("keep_failed: soon", "line 1: keep_failed: write a time"),
        (
            "allow_private_targets: moon",
            "line 1: allow_private_targets: ",
        ),
    ];
    for (file, expected) in table {
        let said = said(ServeArgs::default(), file);
        assert!(said.contains(expected), "{file}: {said}");
    }
    // What a flag says wrong is said of the flag.
    let args = ServeArgs {
        log_level: Some("inf".to_owned()),
        ..ServeArgs::default()
    };
    let said = said(args, "log_level: debug");
    assert!(said.starts_with("--log-level: `inf`"), "{said}");
}
