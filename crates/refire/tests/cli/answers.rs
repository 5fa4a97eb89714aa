//! What becomes of a server's answers, good and bad ones.

use crate::refire::{Place, Run};
use crate::stub::Stub;

const PROBLEM: &str = r#"{"type": "/docs/errors/RF0003", "title": "A parameter is not valid",
    "status": 400, "code": "RF0003", "detail": "two parameters are wrong",
    "errors": [{"field": "limit", "message": "at most 500"},
               {"field": "cursor", "message": "not one of ours \u001b[2J", "hint": "leave it out"}]}"#;

#[test]
fn a_problem_is_told_field_by_field() {
    let place = Place::new();
    let stub = Stub::answering("400 Bad Request", PROBLEM);
    let run = place
        .run(&["executions", "list", "--url", &stub.url])
        .code(2);
    let expected = "\
error: two parameters are wrong
  limit: at most 500
  cursor: not one of ours \\u{1b}[2J; leave it out
code RF0003; for help run 'refire explain RF0003'
";
    assert_eq!(run.err, expected);
    assert!(run.out.is_empty());
    let run = place
        .run(&["executions", "list", "--url", &stub.url, "--format", "json"])
        .code(2);
    let problem: serde_json::Value = serde_json::from_str(&run.err).unwrap();
    assert_eq!(problem["code"], "RF0003");
}

#[test]
fn a_refused_key_says_where_keys_come_from() {
    let place = Place::new();
    let body = r#"{"type": "t", "title": "t", "status": 401, "code": "RF0006",
                   "detail": "the API key is missing or wrong"}"#;
    let stub = Stub::answering("401 Unauthorized", body);
    let run = place.run(&["workflow", "list", "--url", &stub.url]).code(1);
    for part in [
        "--api-key",
        "REFIRE_API_KEY",
        "error: no API key found",
        "admin.key",
        "does not exist",
        "--data-dir",
        "RF0006",
    ] {
        assert!(run.err.contains(part), "{part} in {}", run.err);
    }
}

#[test]
fn the_key_is_found_in_the_data_directory() {
    let place = Place::new();
    let stub = Stub::answering("200 OK", r#"{"items": [], "next_cursor": null}"#);
    std::fs::create_dir(place.path().join("refire-data")).unwrap();
    place.write("refire-data/admin.key", "found-key\n");
    place.run(&["workflow", "list", "--url", &stub.url]).code(0);
    place
        .run(&[
            "workflow",
            "list",
            "--url",
            &stub.url,
            "--api-key",
            "given-key",
        ])
        .code(0);
    let mut command = place.command();
    command
        .args(["workflow", "list", "--url", &stub.url])
        .env("REFIRE_API_KEY", "set-key");
    Run::of(&mut command).code(0);
    place
        .run(&[
            "workflow",
            "list",
            "--url",
            &stub.url,
            "--data-dir",
            "elsewhere",
        ])
        .code(0);
    let keys: Vec<_> = stub
        .requests()
        .iter()
        .map(|head| {
            let line = head
                .lines()
                .find(|line| line.to_lowercase().starts_with("authorization"));
            line.and_then(|line| line.rsplit(' ').next())
                .map(str::to_owned)
        })
        .collect();
    let expected = [Some("found-key"), Some("given-key"), Some("set-key"), None];
    assert_eq!(keys, expected.map(|key| key.map(str::to_owned)));
}

#[test]
fn empty_lists_say_what_to_do_next() {
    let place = Place::new();
    let stub = Stub::answering("200 OK", r#"{"items": [], "next_cursor": null}"#);
    for (args, expected) in [
        (&["dlq", "list"][..], "no open dead letters\n"),
        (&["dlq", "list", "--q", "x"], "no matching dead letters."),
        (
            &["executions", "list"],
            "no executions yet. Start one with: refire execute",
        ),
        (
            &["workflow", "list"],
            "no workflows yet. Add one with: refire workflow apply -f",
        ),
        (&["retries", "list"], "no retries: "),
    ] {
        let run = place.run(&[args, &["--url", &stub.url]].concat()).code(0);
        assert!(
            run.out.is_empty() && run.err.starts_with(expected),
            "{run:?}"
        );
        let json = place
            .run(&[args, &["--url", &stub.url, "--format", "json"]].concat())
            .code(0);
        assert_eq!(json.out, "{\"items\":[],\"next_cursor\":null}\n");
    }
}

#[test]
fn something_else_at_the_address_is_recognised() {
    let place = Place::new();
    let stub = Stub::answering("200 OK", "<html>hello</html>");
    let run = place.run(&["workflow", "list", "--url", &stub.url]).code(1);
    assert!(
        run.err
            .contains("something that is not an answer of this API"),
        "{run:?}"
    );
}

#[test]
fn lists_have_whole_ids_and_no_colours_in_a_pipe() {
    let place = Place::new();
    let id = "exec_01j9x8w7v6t5s4r3q2p1n0m9k8";
    let one = format!(
        r#"{{"execution_id": "{id}", "workflow_id": "w", "workflow_version": 2, "status": "dlq",
            "phase": null, "error": {{"type": "http_status", "code": "503",
            "message": "a long message {}", "retryable": true}}, "retry_count": 5,
            "max_retries": 5, "next_retry_at": null, "retry_context": null,
            "trigger_type": "manual", "trigger_id": null, "triggered_by": null,
            "idempotency_key": null, "priority": 5, "delay_until": null, "dlq_entry_id": null,
            "parent_dlq_entry_id": null, "created_at": "2020-01-01T00:00:00Z",
            "started_at": null, "completed_at": null, "duration_ms": 1500}}"#,
        "x".repeat(200)
    );
    let items = vec![one; 2_000].join(",");
    let stub = Stub::answering(
        "200 OK",
        &format!(r#"{{"items": [{items}], "next_cursor": "c"}}"#),
    );
    let args = ["executions", "list", "--url", &stub.url];
    let run = place.run(&args).code(0);
    assert!(!run.out.contains('\u{1b}'), "colours only on a terminal");
    assert_eq!(run.out.lines().count(), 2_001, "one line each");
    let second = run.out.lines().nth(1).unwrap();
    assert!(
        second.starts_with(&format!("{id}  w v2      dlq")),
        "{second}"
    );
    assert!(run.err.contains("more exist"), "{}", run.err);

    // A reader that stops after the first line.
    let binary = assert_cmd::cargo::cargo_bin!("refire");
    let script = format!("{} {} | head -1", binary.display(), args.join(" "));
    let mut shell = assert_cmd::Command::new("bash");
    shell
        .args(["-o", "pipefail", "-c", &script])
        .current_dir(place.path());
    let run = Run::of(&mut shell).code(0);
    assert!(
        run.out.starts_with("EXECUTION") && !run.err.contains("error"),
        "{run:?}"
    );
}

#[test]
fn a_search_that_is_not_over_says_how_far_it_came() {
    let place = Place::new();
    let answer =
        r#"{"items": [], "next_cursor": "abc", "searched_to": "2026-11-15T09:30:00.000000Z"}"#;
    let stub = Stub::answering("200 OK", answer);
    let args = ["executions", "list", "--q", "x", "--url", &stub.url];
    let run = place.run(&args).code(0);
    assert!(
        run.err.starts_with("no matching executions so far."),
        "{run:?}"
    );
    assert!(
        run.err.contains("since 2026-11-15 09:30:00.000 UTC"),
        "{run:?}"
    );
    let json = place
        .run(&[&args[..], &["-o", "json"]].concat())
        .code(0)
        .json();
    assert_eq!(json["searched_to"], "2026-11-15T09:30:00.000000Z");
    let answer = r#"{"total": 7, "exact": false, "by_status": {"dlq": 3, "completed": 4}, "searched_to": "2026-11-15T09:30:00.000000Z"}"#;
    let stub = Stub::answering("200 OK", answer);
    let run = place
        .run(&["executions", "count", "--url", &stub.url])
        .code(0);
    assert!(
        run.out
            .starts_with("at least 7 executions\nsearched those created since"),
        "{run:?}"
    );
    assert!(
        run.out.contains("4  completed") && run.out.contains("3  dlq"),
        "{run:?}"
    );
}

#[test]
fn lists_take_several_words_and_json_by_its_short_name() {
    const TRIGGER: &str = "trg_01j9x8w7v6t5s4r3q2p1n0m9k8";
    let stub = Stub::answering("200 OK", r#"{"items": [], "next_cursor": null}"#);
    let place = Place::new();
    for (args, query) in [
        ("executions list --status failed,dlq", "status=failed%2Cdlq"),
        (
            "executions list --status failed --status dlq",
            "status=failed%2Cdlq",
        ),
        (
            "executions list --workflow a,b* --trigger-type webhook --id exec_1,exec_2",
            "workflow=a%2Cb*&trigger_type=webhook&ids=exec_1%2Cexec_2",
        ),
        (
            "executions list --from 2026-11-15 --key k --workflow-version 2 --error-type dns --q x",
            "from=2026-11-15T00%3A00%3A00.000000Z&key=k&version=2&error_type=dns&q=x",
        ),
        (
            "dlq list --status pending,resolved",
            "status=pending%2Cresolved",
        ),
        ("dlq list --error-type tls,dns", "error_type=tls%2Cdns"),
        (
            &format!("trigger slots {TRIGGER} --status late,skipped"),
            "status=late%2Cskipped",
        ),
        (
            &format!("trigger requests {TRIGGER} --status error,filtered"),
            "status=error%2Cfiltered",
        ),
        ("trigger list --type cron,webhook", "type=cron%2Cwebhook"),
        (
            "executions events exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --type step_failed,step_lost",
            "type=STEP_FAILED%2CSTEP_LOST",
        ),
    ] {
        let args: Vec<&str> = args.split(' ').chain(["-o", "json"]).collect();
        let args = [args, vec!["--url", &stub.url]].concat();
        let run = place.run(&args).code(0);
        assert_eq!(run.json()["items"], serde_json::json!([]), "{args:?}");
        let request = stub.requests().pop().unwrap();
        assert!(request.contains(query), "{args:?}: {request}");
    }
    let run = place.run(&["executions", "list", "--status", "failed,lost"]);
    assert!(run.code(2).err.contains("invalid value 'lost'"));
}
