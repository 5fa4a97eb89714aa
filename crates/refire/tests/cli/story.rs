//! The whole way with a real server: executions, dead letters and their retries.

use crate::refire::own_settings;
use crate::server::{Server, Target};

const INPUT: &str = r#"{"id": 12345678901234567890, "price": 1.10}"#;

/// A server whose workflow has failed once, with its execution.
fn failed_once(target: &Target) -> (Server, String) {
    let server = Server::start();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let failed = server
        .run(&["execute", "hello", "--input", INPUT, "--wait", "30s"])
        .code(3);
    assert!(failed.out.is_empty(), "a failure has no output: {failed:?}");
    assert!(
        failed
            .err
            .contains("http_status 503: the target answered 503"),
        "{failed:?}"
    );
    assert!(failed.err.contains("refire dlq show dlq_"), "{failed:?}");
    assert!(
        failed.err.contains("failed; saved as dead letter dlq_"),
        "{failed:?}"
    );
    let execution = failed.err.lines().next().unwrap().to_owned();
    (server, execution)
}

fn only_letter(server: &Server) -> String {
    let letters = server.json(&["dlq", "list", "--workflow", "hello", "--from", "1h"]);
    assert_eq!(letters["items"].as_array().unwrap().len(), 1);
    letters["items"][0]["id"].as_str().unwrap().to_owned()
}

#[test]
fn a_failed_execution_can_be_understood() {
    let target = Target::start();
    let (server, execution) = failed_once(&target);
    let shown = server.run(&["executions", "show", &execution]).code(0).out;
    for part in [
        &execution,
        "1 of 1, attempt 2",
        "call  http  failed",
        "12345678901234567890",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let events = server
        .run(&["executions", "events", &execution])
        .code(0)
        .out;
    for part in [
        "   1        +0ms  EXECUTION_STARTED",
        "STEP_FAILED             call#1  the target answered",
    ] {
        assert!(events.contains(part), "{part} in {events}");
    }
    let only = [
        "executions",
        "events",
        &execution,
        "--attempt",
        "2",
        "--type",
        "step_failed",
    ];
    assert_eq!(server.run(&only).code(0).out.lines().count(), 1);
    let full = server
        .run(&["executions", "events", &execution, "--full"])
        .code(0)
        .out;
    assert!(full.contains("12345678901234567890"), "{full}");

    let replay = server
        .run(&["executions", "replay", &execution])
        .code(0)
        .out;
    assert!(replay.starts_with("identical ("), "{replay}");
    server.place.write("changed.yaml", &target.definition(3));
    let lab = [
        "executions",
        "replay",
        &execution,
        "--definition",
        "changed.yaml",
    ];
    let replay = server.run(&lab).code(3).out;
    assert!(replay.starts_with("different at event "), "{replay}");
    // Another address is no other decision, and that is said.
    let elsewhere = target.definition(1).replace("http://", "https://");
    server.place.write("changed.yaml", &elsewhere);
    let replay = server.run(&lab).code(0);
    assert!(replay.out.starts_with("identical ("), "{replay:?}");
    assert!(
        replay.err.contains("only decisions are compared"),
        "{replay:?}"
    );
    assert!(
        server
            .run(&["retries", "list"])
            .code(0)
            .out
            .contains(&execution)
    );
}

#[test]
fn a_failure_becomes_a_dead_letter_and_a_retry_resolves_it() {
    let target = Target::start();
    let (server, _) = failed_once(&target);
    let letter = only_letter(&server);
    let shown = server.run(&["dlq", "show", &letter]).code(0).out;
    for part in [
        "exhausted: the only retry failed",
        "    \"id\": 12345678901234567890,\n    \"price\": 1.10\n",
        "What to try",
        "--from failed-step",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    assert!(
        server
            .run(&["dlq", "summary"])
            .code(0)
            .out
            .starts_with("1 dead letter, oldest")
    );

    // Still broken: the letter is pending again, and the way back to it is shown.
    let again = server
        .run(&["dlq", "retry", &letter, "--wait", "30s"])
        .code(3);
    assert!(
        again.err.contains(&format!("refire dlq show {letter}")),
        "{again:?}"
    );
    let shown = server.run(&["dlq", "show", &letter]).code(0).out;
    assert!(shown.contains("\nRetries\n  exec_"), "{shown}");
    assert!(shown.contains("\nThe target answered\n  503\n"), "{shown}");

    target.heal();
    server
        .place
        .write("new.json", r#"{"id": 98765432109876543210}"#);
    let retry = [
        "dlq",
        "retry",
        &letter,
        "--input",
        "@new.json",
        "--wait",
        "30s",
    ];
    let retried = server.run(&retry).code(0);
    assert_eq!(retried.out, "{\n  \"id\": 98765432109876543210\n}\n");
    let shown = server.run(&["dlq", "show", &letter]).code(0).out;
    assert!(
        shown.starts_with(&format!("{letter}  resolved\n")),
        "{shown}"
    );
    assert!(
        shown.contains("~ id: 12345678901234567890 → 98765432109876543210"),
        "{shown}"
    );
    server.run(&["dlq", "retry", &letter]).code(1);
    server.run(&["dlq", "delete", &letter, "--yes"]).code(1);
}

#[test]
fn a_dead_letter_is_retried_from_the_failed_step_or_given_up() {
    let target = Target::start();
    let (server, _) = failed_once(&target);
    let letter = only_letter(&server);
    let again = [
        "dlq",
        "retry",
        &letter,
        "--from",
        "failed-step",
        "--wait",
        "30s",
    ];
    let execution = server
        .run(&again)
        .code(3)
        .err
        .lines()
        .next()
        .unwrap()
        .to_owned();
    let shown = server.json(&["executions", "show", &execution]);
    assert_eq!(shown["parent_dlq_entry_id"], letter.as_str());
    assert_eq!(shown["trigger_type"], "manual_dlq_retry");
    let text = server.run(&["executions", "show", &execution]).code(0).out;
    assert!(text.contains(&format!("retry of    {letter}")), "{text}");
    let found = server.json(&["dlq", "list", "--q", &execution]);
    assert_eq!(found["items"][0]["id"], letter.as_str());
    server.run(&["dlq", "delete", &letter, "--yes"]).code(0);
    let run = server.run(&["dlq", "list"]).code(0);
    assert!(
        run.out.is_empty() && run.err == "no open dead letters\n",
        "{run:?}"
    );
    let deleted = server.json(&["dlq", "list", "--status", "deleted"]);
    assert_eq!(deleted["items"][0]["id"], letter.as_str());
}

/// For programs nothing is added, dropped or rewritten.
#[tokio::test]
async fn json_is_the_answer_of_the_api_byte_for_byte() {
    let target = Target::start();
    let (server, execution) = failed_once(&target);
    let letter = only_letter(&server);
    let key = std::fs::read_to_string(server.place.path().join("refire-data/admin.key")).unwrap();
    for (args, path) in [
        (vec!["workflow", "list"], "workflows".to_owned()),
        (
            vec!["workflow", "show", "hello"],
            "workflows/hello".to_owned(),
        ),
        (
            vec!["workflow", "versions", "hello"],
            "workflows/hello/versions".to_owned(),
        ),
        (vec!["executions", "list"], "executions".to_owned()),
        (
            vec!["executions", "show", &execution],
            format!("executions/{execution}"),
        ),
        (
            vec!["executions", "events", &execution],
            format!("executions/{execution}/events"),
        ),
        (vec!["retries", "list"], "retries".to_owned()),
        (vec!["dlq", "list"], "dlq".to_owned()),
        (vec!["dlq", "summary"], "dlq/summary".to_owned()),
        (vec!["dlq", "show", &letter], format!("dlq/{letter}")),
    ] {
        let url = format!("{}/api/{path}", server.url);
        let request = reqwest::Client::new().get(url).bearer_auth(key.trim());
        let answer = request.send().await.unwrap().text().await.unwrap();
        let run = server
            .run(&[&args[..], &["--format", "json"]].concat())
            .code(0);
        assert_eq!(run.out.trim_end(), answer.trim_end(), "{args:?}");
    }
}

/// The editor is a script here; what it leaves is what is sent.
#[cfg(unix)]
#[test]
fn an_input_is_edited_before_a_retry() {
    use crate::refire::Run;
    use std::os::unix::fs::PermissionsExt as _;

    let target = Target::start();
    let (server, _) = failed_once(&target);
    let letter = only_letter(&server);
    let edit = |script: &str, name: &str| {
        server.place.write(name, &format!("#!/bin/sh\n{script}\n"));
        let path = server.place.path().join(name);
        std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o700)).unwrap();
        let mut command = server.place.command();
        command.args(["dlq", "retry", &letter, "--edit", "--wait", "30s"]);
        command.env("REFIRE_URL", &server.url).env("EDITOR", path);
        command.env("TMPDIR", server.place.path());
        Run::of(&mut command)
    };
    let same = edit("true", "same.sh").code(1);
    assert!(same.err.contains("nothing was retried"), "{same:?}");
    let broken = edit("echo '{' > $1", "broken.sh").code(1);
    assert!(
        broken.err.contains("not JSON") && broken.err.contains("\n  your text is saved"),
        "{broken:?}"
    );
    let gone = edit("exit 7", "gone.sh").code(1);
    assert!(gone.err.contains("nothing was done"), "{gone:?}");
    target.heal();
    let good = edit("sed -i.bak 's/1.10/1.20/' $1", "good.sh").code(0);
    assert_eq!(
        good.out,
        "{\n  \"id\": 12345678901234567890,\n  \"price\": 1.20\n}\n"
    );
}

#[test]
fn an_execution_can_be_steered() {
    let (server, target) = (Server::start(), Target::start());
    target.heal();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);

    let done = server
        .run(&["execute", "hello", "--input", "[1]", "--wait", "30s"])
        .code(0);
    assert_eq!(done.out, "[\n  1\n]\n", "only the output is data");
    let key = ["execute", "hello", "--idempotency-key", "k1"];
    let first = server.run(&key).code(0);
    let second = server.run(&key).code(0);
    assert_eq!(first.out, second.out);
    assert!(second.err.contains("already started"), "{second:?}");

    let late = [
        "execute",
        "hello",
        "--delay",
        "1h",
        "--priority",
        "1",
        "--wait",
        "50ms",
    ];
    let late = server.run(&late).code(4);
    let id = late.err.lines().next().unwrap().to_owned();
    assert!(late.err.contains("it keeps running"), "{late:?}");
    let shown = server.run(&["executions", "show", &id]).code(0).out;
    assert!(
        shown.contains("not before") && shown.contains("priority    1"),
        "{shown}"
    );
    for (order, expected) in [
        ("pause", "paused"),
        ("resume", "pending"),
        ("cancel", "cancelled"),
    ] {
        let run = server.run(&["executions", order, &id]).code(0);
        assert_eq!(run.out, format!("{id}  {expected}\n"));
    }
    let watched = server
        .run(&["executions", "show", &id, "--watch"])
        .code(3)
        .out;
    assert!(
        watched.contains("EXECUTION_CANCELLED") && watched.contains("cancelled\n"),
        "{watched}"
    );
    let all = server.json(&["executions", "list", "--all"]);
    assert_eq!(all["items"].as_array().unwrap().len(), 3);
    let some = server.run(&["executions", "list", "--limit", "1"]).code(0);
    assert_eq!(some.out.lines().count(), 2);
    assert!(some.err.contains("--all"), "{some:?}");
    let both = [
        "executions",
        "list",
        "--status",
        "cancelled,completed,pending",
    ];
    assert_eq!(server.json(&both)["items"].as_array().unwrap().len(), 3);
    let cancelled = server.json(&["executions", "list", "--status", "cancelled"]);
    assert_eq!(cancelled["items"][0]["execution_id"], id.as_str());
}

/// Whoever pastes what the server suggests first sees it work, with no other service.
#[test]
fn the_first_suggestion_succeeds() {
    let server = Server::start();
    let commands = server.suggested().join("\n");
    let mut shell = std::process::Command::new("sh");
    for name in own_settings() {
        shell.env_remove(name);
    }
    let run = shell
        .args(["-ec", &commands])
        .current_dir(server.place.path())
        .output()
        .unwrap();
    assert!(run.status.success(), "{commands}\n{run:?}");
    let said = String::from_utf8(run.stdout).unwrap();
    assert!(said.starts_with("ping v1 saved\n"), "{said}");
    assert!(said.contains("\"status\": \"ok\""), "{said}");
}
