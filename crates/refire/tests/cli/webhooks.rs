//! Webhooks on the command line: tried, called with curl, and what was refused checked again.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::Command;

use serde_json::{Value, json};

use crate::refire::Run;
use crate::server::{Server, Target};

const SECRET: &str = "it's-a-secret-of-$many-\"bytes\"-for-tests";
const BODY: &str =
    "{\"event_type\": \"incident.created\",\n \"note\": \"it's $HOME `id` \\\\ 100%\"}";

/// A server that knows the workflow `hello`.
fn ready() -> (Server, Target) {
    let (server, target) = (Server::start(), Target::start());
    target.heal();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    (server, target)
}

fn webhook(server: &Server, settings: &Value) -> String {
    server.place.write("t.yaml", &settings.to_string());
    let made = server.json(&["trigger", "create", "hello", "-f", "t.yaml"]);
    made["id"].as_str().unwrap().to_owned()
}

fn trigger(server: &Server, args: &[&str]) -> Run {
    server.run(&[&["trigger"], args].concat())
}

/// The log, once it has so many entries.
fn log(server: &Server, id: &str, count: usize) -> Vec<Value> {
    for _ in 0..400 {
        let page = server.json(&["trigger", "requests", id]);
        let items = page["items"].as_array().unwrap();
        if items.len() == count {
            return items.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("the log of {id} never had {count} entries");
}

#[test]
fn a_test_is_signed_sent_and_told() {
    let (server, _target) = ready();
    let id = webhook(
        &server,
        &json!({"trigger_type": "webhook", "authentication": "hmac", "secret": SECRET,
            "filters": [{"json_path": "$.event_type", "operator": "equals", "value": "incident.created"}]}),
    );
    server.place.write("event.json", BODY);
    let run = trigger(&server, &["test", &id, "--body", "@event.json"]).code(0);
    let lines: Vec<&str> = run.out.lines().collect();
    assert_eq!(lines[0], "triggered  the sender would get 200");
    assert!(lines[1].starts_with("  execution  exec_"), "{}", run.out);
    assert!(lines[2].starts_with("  request    whr_"), "{}", run.out);
    assert!(run.out.contains("\n  X-Signature: sha256="), "{}", run.out);
    assert!(!run.out.contains(SECRET) && !run.err.contains(SECRET));
    let filtered = trigger(&server, &["test", &id]).code(5);
    assert!(
        filtered
            .out
            .starts_with("filtered  the sender would get 200\n")
    );
    assert!(filtered.out.contains("  reason     "), "{}", filtered.out);
    let wrong = [
        "test",
        &id,
        "--header",
        "X-Signature=sha256=00",
        "-H",
        "X-Other=1",
    ];
    let wrong = trigger(&server, &wrong).code(3);
    assert!(
        wrong
            .out
            .starts_with("auth_failed  the sender would get 401\n"),
        "{}",
        wrong.out
    );
    let entries = log(&server, &id, 3);
    assert!(entries.iter().all(|entry| entry["test"] == json!(true)));
    let table = trigger(&server, &["requests", &id, "--test"]).code(0).out;
    assert_eq!(table.matches("test").count(), 3, "{table}");
    let bad = trigger(&server, &["test", &id, "--header", "X-Other"]).code(2);
    assert!(bad.err.contains("write NAME=VALUE"), "{bad:?}");
    let cron = ["create", "hello", "--cron", "0 0 1 1 *"];
    let cron = trigger(&server, &cron).code(0).out;
    let cron = cron.trim();
    let refused = trigger(&server, &["test", cron]).code(1);
    assert!(
        refused.err.contains(&format!("refire trigger run {cron}")),
        "{refused:?}"
    );
}

/// Runs a printed command as a person would: with the shell and the real curl.
fn shell(line: &str, key: &str) -> String {
    let run = Command::new("/bin/sh")
        .args(["-c", line])
        .env("REFIRE_WEBHOOK_KEY", key)
        .output()
        .unwrap();
    String::from_utf8(run.stdout).unwrap()
}

#[test]
fn a_printed_command_is_taken() {
    let (server, _target) = ready();
    let plain = "a-key-of-$HOME-and-`more`-than-24-bytes";
    for (method, secret, said) in [
        ("hmac", SECRET, "it is valid as long as the secret is"),
        ("stripe", SECRET, "its signature is valid until "),
        ("slack", SECRET, "its signature is valid until "),
        (
            "standard_webhooks",
            "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw",
            "its signature is valid until ",
        ),
        ("api_key", plain, "export REFIRE_WEBHOOK_KEY="),
    ] {
        let id = webhook(
            &server,
            &json!({"trigger_type": "webhook", "authentication": method, "secret": secret}),
        );
        let run = trigger(&server, &["curl", &id, "--body", BODY]).code(0);
        assert!(run.err.contains(said), "{method}: {run:?}");
        assert!(
            !run.out.contains(secret) && !run.err.contains(secret),
            "{method}: {run:?}"
        );
        assert!(
            run.out.starts_with("curl -sSi 'http://127.0.0.1:"),
            "{}",
            run.out
        );
        let answer = shell(&run.out, secret);
        assert!(
            answer.contains(" 200 OK"),
            "{method}: {}\n{answer}",
            run.out
        );
        assert!(answer.contains(r#""status":"triggered""#), "{answer}");
        let entry = &log(&server, &id, 1)[0];
        assert_eq!(
            (&entry["status"], &entry["test"]),
            (&json!("triggered"), &json!(false))
        );
        let execution = entry["execution_id"].as_str().unwrap();
        let shown = server.json(&["executions", "show", execution]);
        assert_eq!(shown["input"], serde_json::from_str::<Value>(BODY).unwrap());
    }
}

/// A request of a sender that signs nothing, and the answer to it.
fn post(url: &str, body: &str) -> String {
    let rest = url.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let length = body.len();
    let head = format!(
        "POST /{path} HTTP/1.1\r\nHost: {host}\r\nContent-Type: application/json\r\n\
         Content-Length: {length}\r\nConnection: close\r\n\r\n"
    );
    stream
        .write_all(&[head.as_bytes(), body.as_bytes()].concat())
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

#[test]
fn what_was_refused_is_checked_again() {
    let (server, _target) = ready();
    let filter = |value: &str| json!({"filters": [{"json_path": "$.kind", "operator": "equals", "value": value}]});
    let mut settings = filter("a");
    settings["trigger_type"] = json!("webhook");
    settings["authentication"] = json!("none");
    let id = webhook(&server, &settings);
    trigger(&server, &["test", &id, "--body", r#"{"kind":"b"}"#]).code(5);
    let address = server.json(&["trigger", "show", &id]);
    let address = address["webhook_url"].as_str().unwrap();
    for body in [
        r#"{"kind":"b"}"#,
        r#"{"kind":"b"}"#,
        r#"{"kind":"b","n":1}"#,
        r#"{"kind":"c"}"#,
    ] {
        assert!(post(address, body).contains(r#""status":"filtered""#));
    }
    let entries = log(&server, &id, 5);
    let request = entries[2]["id"].as_str().unwrap();
    let refused = trigger(&server, &["recheck", &id, request]).code(1);
    assert!(
        refused.err.starts_with("it still does not pass: "),
        "{refused:?}"
    );
    server.place.write("change.yaml", &filter("b").to_string());
    trigger(&server, &["update", &id, "-f", "change.yaml"]).code(0);
    let first = trigger(&server, &["recheck", &id, request]).code(0);
    assert!(first.out.starts_with("exec_"), "{first:?}");
    let again = trigger(&server, &["recheck", &id, request]).code(0);
    assert_eq!(
        (again.out, again.err.as_str()),
        (first.out, "it was already started\n")
    );
    let dry = trigger(&server, &["recheck", &id, "--all", "--dry-run"]).code(0);
    assert!(
        dry.err.contains("would pass; nothing was started"),
        "{}",
        dry.err
    );
    let unasked = trigger(&server, &["recheck", &id, "--all"]).code(1);
    assert!(unasked.err.contains("add --yes"), "{unasked:?}");
    let all = trigger(
        &server,
        &["recheck", &id, "--all", "--status", "filtered", "--yes"],
    )
    .code(0);
    let rows: Vec<&str> = all.out.lines().collect();
    assert_eq!(rows.len(), 3, "the test is not among them: {all:?}");
    assert!(
        rows[0].contains("  duplicate  exec_"),
        "the oldest first, and its equal was run: {all:?}"
    );
    assert!(rows[1].contains("  triggered  exec_"), "{all:?}");
    assert!(rows[2].contains("  filtered  "), "{all:?}");
    assert_eq!(
        all.err,
        "3 of 3 checked: 1 started, 1 already started, 1 still refused\n"
    );
    let sum = server.json(&["trigger", "recheck", &id, "--all", "--yes", "--from", "1h"]);
    assert_eq!(
        (&sum["checked"], &sum["still_refused"]),
        (&json!(1), &json!(1))
    );
    let none = trigger(
        &server,
        &["recheck", &id, "--all", "--status", "error", "--yes"],
    )
    .code(0);
    assert_eq!(none.err, "no matching requests\n");
    trigger(&server, &["recheck", &id]).code(2);
    let bad = trigger(&server, &["recheck", &id, "exec_1"]).code(2);
    assert!(bad.err.contains("is not a request"), "{bad:?}");
}

#[test]
fn settings_are_replaced_from_a_file_and_a_run_happens_once() {
    let (server, _target) = ready();
    let made = [
        "create", "hello", "--every", "1h", "--jitter", "5m", "--input", "\"x\"",
    ];
    let id = trigger(&server, &made).code(0).out;
    let id = id.trim();
    server.place.write(
        "whole.yaml",
        "trigger_type: schedule\ndaily: { time: '09:00' }\n",
    );
    trigger(&server, &["update", id, "-f", "whole.yaml", "--replace"]).code(0);
    let shown = server.json(&["trigger", "show", id]);
    let gone = (&shown["every"], &shown["jitter"], &shown["input"]);
    assert_eq!(gone, (&json!(null), &json!(null), &json!(null)));
    server.place.write(
        "bad.yaml",
        "trigger_type: schedule\n\ndaily: { time: '25:00' }\n",
    );
    let bad = trigger(&server, &["update", id, "-f", "bad.yaml", "--replace"]).code(1);
    assert!(
        bad.err.starts_with("error: bad.yaml: daily.time: "),
        "{bad:?}"
    );
    assert!(bad.err.contains(" (line 3, column "), "{bad:?}");
    let alone = trigger(&server, &["update", id, "--replace"]).code(2);
    assert!(alone.err.contains("--file"), "{alone:?}");
    let run = || trigger(&server, &["run", id, "--idempotency-key", "k"]).code(0);
    let (first, second) = (run(), run());
    assert_eq!(first.out, second.out);
    assert!(
        second
            .err
            .contains("was already started with this idempotency key"),
        "{second:?}"
    );
}
