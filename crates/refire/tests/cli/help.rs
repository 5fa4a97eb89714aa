//! Help texts teach: a summary, the options, real examples, the exit codes.

use crate::refire::Place;

#[test]
fn the_top_lists_every_command_and_the_exit_codes() {
    let help = Place::new().run(&["--help"]).code(0).out;
    for command in [
        "serve",
        "overview",
        "workflow",
        "trigger",
        "schedule-task",
        "scheduled",
        "channels",
        "notifications",
        "execute",
        "executions",
        "retries",
        "dlq",
        "tasks",
        "workers",
        "targets",
        "alerts",
        "alert-rules",
        "silences",
        "stats",
        "simulate",
        "worker",
        "console",
        "nodes",
        "migrate",
        "backup",
        "restore",
        "admin-key",
        "bench",
        "explain",
        "completions",
        "schema",
        "version",
    ] {
        assert!(
            help.lines()
                .any(|line| line.trim_start().starts_with(command)),
            "{command}"
        );
    }
    for part in [
        "--url",
        "REFIRE_URL",
        "http://127.0.0.1:7373",
        "--api-key",
        "--data-dir",
    ] {
        assert!(help.contains(part), "{part} in {help}");
    }
    for code in 0..=5 {
        assert!(help.contains(&format!("\n  {code}  ")), "exit code {code}");
    }
}

/// Every command.
const COMMANDS: &[&str] = &[
    "serve",
    "overview",
    "workflow",
    "workflow apply",
    "workflow validate",
    "workflow diff",
    "workflow list",
    "workflow show",
    "workflow versions",
    "workflow delete",
    "schedule-task",
    "scheduled",
    "scheduled list",
    "scheduled show",
    "scheduled history",
    "scheduled update",
    "scheduled pause",
    "scheduled resume",
    "scheduled cancel",
    "scheduled run",
    "scheduled delete",
    "channels",
    "channels list",
    "channels show",
    "channels add",
    "channels edit",
    "channels remove",
    "channels test",
    "channels enable",
    "channels disable",
    "notifications",
    "notifications list",
    "notifications show",
    "notifications resend",
    "trigger",
    "trigger create",
    "trigger list",
    "trigger show",
    "trigger update",
    "trigger delete",
    "trigger enable",
    "trigger disable",
    "trigger run",
    "trigger next",
    "trigger upcoming",
    "trigger slots",
    "trigger requests",
    "trigger recheck",
    "trigger test",
    "trigger curl",
    "trigger backfill",
    "trigger rotate-secret",
    "trigger history",
    "execute",
    "tasks",
    "tasks list",
    "tasks show",
    "tasks unlock",
    "tasks complete",
    "tasks fail",
    "workers",
    "workers list",
    "workers remove",
    "targets",
    "targets list",
    "targets show",
    "targets open",
    "targets close",
    "targets reset",
    "targets probe",
    "alerts",
    "alerts list",
    "alerts ack",
    "alert-rules",
    "alert-rules list",
    "alert-rules show",
    "alert-rules add",
    "alert-rules edit",
    "alert-rules remove",
    "alert-rules preview",
    "silences",
    "silences list",
    "silences add",
    "silences remove",
    "stats",
    "executions list",
    "executions count",
    "executions show",
    "executions events",
    "executions replay",
    "executions cancel",
    "executions pause",
    "executions resume",
    "executions retry-now",
    "executions run-again",
    "retries list",
    "dlq list",
    "dlq summary",
    "dlq show",
    "dlq retry",
    "dlq purge",
    "archive",
    "bulk",
    "bulk list",
    "bulk show",
    "bulk pause",
    "bulk resume",
    "bulk cancel",
    "dlq delete",
    "simulate",
    "worker",
    "console",
    "nodes",
    "migrate",
    "backup",
    "restore",
    "admin-key",
    "admin-key rotate",
    "bench",
    "explain",
    "completions",
    "schema",
    "version",
];

#[test]
fn every_command_shows_real_examples() {
    let place = Place::new();
    for command in COMMANDS {
        let mut args: Vec<_> = command.split(' ').collect();
        args.push("--help");
        let help = place.run(&args).code(0).out;
        assert!(help.contains("Examples:\n  "), "{command}: {help}");
        assert!(
            help.contains("  refire ") || help.contains("| refire "),
            "{command}: {help}"
        );
    }
}

/// The documentation has every setting of the server, by flag, variable and key of the file.
#[test]
fn every_setting_is_documented() {
    let help = Place::new().run(&["serve", "--help"]).code(0).out;
    let options = help.split("Global options:").next().unwrap();
    let documented = include_str!("../../../../docs/operations.md");
    let words = options.split(|c: char| c.is_whitespace() || "[]=".contains(c));
    let mut count = 0;
    for word in words {
        let is_flag = word.starts_with("--") && word != "--help";
        if is_flag || word.starts_with("REFIRE_") {
            assert!(documented.contains(&format!("`{word}`")), "{word}");
            count += 1;
        }
        if is_flag && word != "--config" {
            let key = word.trim_start_matches("--").replace('-', "_");
            assert!(documented.contains(&format!("`{key}`")), "{key}");
        }
    }
    assert!(count > 30, "{count} words were found");
}

/// The files of the deployment set nothing that a server would not hear.
#[test]
fn the_deployment_uses_settings_that_exist() {
    let help = Place::new().run(&["serve", "--help"]).code(0).out;
    // What is read beside the flags' variables, and what is for the proxy.
    let others = [
        "REFIRE_ADMIN_KEY",
        "REFIRE_API_KEY",
        "REFIRE_DOMAIN",
        "REFIRE_MASTER_KEY",
    ];
    let compose = include_str!("../../../../deploy/compose.yaml");
    let single = include_str!("../../../../deploy/single.yaml");
    let image = include_str!("../../../../deploy/Dockerfile");
    let example = include_str!("../../../../deploy/.env.example");
    let mut count = 0;
    for text in [compose, single, image, example] {
        let words = text.split(|c: char| !(c.is_ascii_uppercase() || c == '_'));
        for word in words.filter(|word| word.starts_with("REFIRE_")) {
            let is_known = help.contains(&format!("[env: {word}"))
                || others.contains(&word)
                || word == "REFIRE_SECRET_";
            assert!(is_known, "{word}");
            count += 1;
        }
    }
    assert!(count > 10, "{count} words were found");
    for name in [
        "POSTGRES_PASSWORD",
        "REFIRE_ADMIN_KEY",
        "REFIRE_DOMAIN",
        "REFIRE_MASTER_KEY",
    ] {
        assert!(compose.contains(&format!("${{{name}")), "{name}");
        assert!(example.contains(&format!("\n{name}=")), "{name}");
    }
}

/// A copy without the key that opens its secrets is half a backup.
#[test]
fn the_help_of_backups_names_the_master_key() {
    let help = Place::new().run(&["backup", "--help"]).code(0).out;
    assert!(help.contains("keep master.key"), "{help}");
}

#[test]
fn secrets_in_the_environment_are_never_shown() {
    let place = Place::new();
    for (command, name) in [
        (&["--help"][..], "REFIRE_API_KEY"),
        (&["serve", "--help"], "REFIRE_DATABASE_URL"),
        (&["migrate", "--help"], "REFIRE_DATABASE_URL"),
        (&["backup", "--help"], "REFIRE_DATABASE_URL"),
        (&["admin-key", "rotate", "--help"], "REFIRE_DATABASE_URL"),
    ] {
        let mut run = place.command();
        run.env(name, "postgres://u:secret-canary@h/d")
            .args(command);
        let help = crate::refire::Run::of(&mut run).code(0);
        assert!(help.out.contains(name), "{command:?}");
        assert!(!help.out.contains("secret-canary"), "{command:?}");
    }
}

#[test]
fn a_wrong_command_line_is_code_2() {
    let place = Place::new();
    for args in [
        &["frobnicate"][..],
        &[],
        &["execute"],
        &["execute", "w", "--priority", "11"],
        &["execute", "w", "--wait", "soon"],
        &["executions", "list", "--status", "lost"],
        &["workflow", "diff"],
        &["dlq", "retry", "dlq_1", "--edit", "--input", "{}"],
        &["simulate", "-f", "x", "--max-retries", "3"],
        &["simulate", "--max-retries", "99"],
        &["execute", "w", "--delay", "-5s"],
        &["executions", "show", "dlq_1"],
        &["executions", "cancel", "dlq_1"],
        &["dlq", "show", "exec_1"],
        &["dlq", "list", "--from", "yesterday"],
        &["workflow", "list", "--url", "127.0.0.1:7373"],
        &["serve", "--dev", "maybe"],
        &["migrate"],
        &["migrate", "--database", "sqlite:x.db"],
        &["bench", "--connections", "0"],
        &["bench", "--duration", "1s", "--requests", "1"],
        &["bench", "--admit-only", "--wait"],
    ] {
        let run = place.run(args).code(2);
        assert!(
            run.out.is_empty() && !run.err.is_empty(),
            "{args:?}: {run:?}"
        );
    }
}

#[test]
fn a_wrong_command_line_says_what_would_be_right() {
    let place = Place::new();
    place.write("in.json", "{}");
    for (args, expected) in [
        (
            &["execute", "w", "--delay", "-5s"][..],
            "write for example `30s`",
        ),
        (&["executions", "show", "dlq_1"], "refire dlq show dlq_1"),
        (&["dlq", "show", "exec_1"], "refire executions show exec_1"),
        (
            &["workflow", "list", "--url", "127.0.0.1:7373"],
            "write http://127.0.0.1:7373",
        ),
        (&["serve", "--dev", "maybe"], "REFIRE_DEV"),
        (
            &["workflow", "apply", "w.yaml"],
            "tip: refire workflow apply -f w.yaml",
        ),
        (&["apply", "-f", "w.yaml"], "tip: refire workflow apply"),
        (&["run", "w"], "tip: refire execute"),
        (
            &["execute", "w", "{\"a\":1}"],
            "tip: refire execute w --input '{\"a\":1}'",
        ),
        (&["cron", "next", "a", "b", "c"], "in quotes"),
        (&["execute", "w", "--input", "in.json"], "write @in.json"),
        (
            &["cron", "next", "0 9 * * *", "--from", "tomorrow"],
            "2026-11-15",
        ),
    ] {
        let run = place.run(args).code(2);
        assert!(run.err.contains(expected), "{args:?}: {run:?}");
    }
    let level = place.run(&["serve", "--log-level", "a=b=c"]).code(1);
    assert_eq!(level.err.lines().count(), 1, "{level:?}");
}

#[test]
fn the_version_is_printed_both_ways() {
    let place = Place::new();
    let expected = format!("refire {}\n", env!("CARGO_PKG_VERSION"));
    assert_eq!(place.run(&["--version"]).code(0).out, expected);
    let run = place
        .run(&["version", "--url", "http://127.0.0.1:1"])
        .code(0);
    let zones = refire_schedule::built_in_zone_data_version();
    assert_eq!(run.out, format!("{expected}time zones {zones} built in\n"));
    assert!(
        run.err.contains("no server answers at http://127.0.0.1:1"),
        "{run:?}"
    );
}
