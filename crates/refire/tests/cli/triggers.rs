//! Triggers on the command line, with a real server.

use serde_json::{Value, json};

use crate::refire::Run;
use crate::server::{Server, Target};

/// A server that knows the workflow `hello`.
fn ready() -> (Server, Target) {
    let (server, target) = (Server::start(), Target::start());
    target.heal();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    (server, target)
}

fn create(server: &Server, args: &[&str]) -> String {
    let run = server.run(&[&["trigger", "create", "hello"], args].concat());
    run.code(0).out.trim().to_owned()
}

/// A run with this trigger in place of the dots.
fn of(server: &Server, id: &str, args: &[&str]) -> Run {
    let args: Vec<&str> = args
        .iter()
        .map(|arg| if *arg == "…" { id } else { arg })
        .collect();
    server.run(&[&["trigger"], args.as_slice()].concat())
}

/// The ledger, once it has so many entries that started something.
fn started(server: &Server, id: &str, count: usize) -> Vec<Value> {
    for _ in 0..400 {
        let page = server.json(&["trigger", "slots", id, "--status", "fired"]);
        let items = page["items"].as_array().unwrap();
        if items.len() >= count {
            return items.clone();
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("{id} never fired {count} times");
}

#[test]
fn a_trigger_is_made_of_options_and_shown() {
    let (server, _target) = ready();
    let empty = server.run(&["trigger", "list"]).code(0);
    assert_eq!(
        empty.err,
        "no triggers yet. Create one with: refire trigger create WORKFLOW --cron \"0 9 * * MON\"\n"
    );
    let run = server
        .run(&[
            "trigger",
            "create",
            "hello",
            "--cron",
            "0 9 * * MON",
            "--tz",
            "Asia/Taipei",
            "--overlap",
            "skip",
            "--input",
            r#"{"n":  1.50}"#,
        ])
        .code(0);
    let id = run.out.trim();
    let said: Vec<&str> = run.err.lines().collect();
    assert_eq!(said[0], "At 09:00 on Monday (Asia/Taipei)");
    assert!(said[1].starts_with("next  ") && said[1].contains(" 09:00:00 +08:00 (in "));
    assert!(said[2].starts_with("then  "), "{said:?}");

    let list = server.run(&["trigger", "list"]).code(0).out;
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].starts_with("TRIGGER ") && rows[0].ends_with("  WHEN"));
    assert!(rows[1].starts_with(&format!("{id}  hello     cron  enabled  20")));
    assert!(
        rows[1].ends_with("  At 09:00 on Monday (Asia/Taipei)"),
        "{list}"
    );

    let shown = of(&server, id, &["show", "…"]).code(0).out;
    assert!(shown.starts_with(&format!(
        "{id}  enabled\nAt 09:00 on Monday (Asia/Taipei)\n"
    )));
    for line in [
        "  workflow         hello",
        "  cron_expression  0 9 * * MON",
        "  timezone         Asia/Taipei",
        "  overlap          skip",
        "  misfire          fire_once",
    ] {
        assert!(
            shown.lines().any(|found| found == line),
            "{line} in {shown}"
        );
    }
    let chinese = of(&server, id, &["show", "…", "--lang", "zh-TW"])
        .code(0)
        .out;
    assert!(chinese.contains("每週一 09:00（Asia/Taipei）"), "{chinese}");
    let json = of(&server, id, &["show", "…", "--format", "json"]).code(0);
    assert!(
        json.out.contains(r#""input":{"n":  1.50}"#),
        "byte for byte: {}",
        json.out
    );
    let next = of(&server, id, &["next", "…", "--count", "3"]).code(0).out;
    let rows: Vec<&str> = next.lines().collect();
    assert_eq!((rows.len(), rows[0]), (4, "PLANNED"), "{next}");
    assert!(rows[1].contains(" 09:00:00 +08:00  in "), "{next}");
}

#[test]
fn what_is_wrong_is_told_by_its_option_or_in_its_file() {
    let (server, _target) = ready();
    let create = |args: &[&str]| server.run(&[&["trigger", "create", "hello"], args].concat());
    let wrong = create(&["--cron", "61 * * * *", "--tz", "Europe/Warsw"]).code(2);
    assert_eq!(
        wrong.err,
        "error: --cron: minute: 61 is not from 0 to 59\n\
         error: --tz: `Europe/Warsw` is not a time zone; did you mean `Europe/Warsaw`?\n\
         nothing was saved; for help run 'refire explain RF0032'\n"
    );
    let json = create(&["--cron", "61 * * * *", "--format", "json"]).code(1);
    let problem: Value = serde_json::from_str(&json.err).unwrap();
    assert_eq!(problem["errors"][0]["field"], "cron_expression");
    server
        .place
        .write("t.yaml", "trigger_type: cron\ncron_expression: '@reboot'\n");
    let file = create(&["-f", "t.yaml"]).code(1);
    assert!(
        file.err.starts_with("error: t.yaml: cron_expression: "),
        "{file:?}"
    );
    for (args, said) in [
        (&[][..], "say when it fires"),
        (&["--weekly", "MON"], "such as \"MON,THU 09:00\""),
        (
            &["-f", "t.yaml", "--every", "1h"],
            "put everything in the file",
        ),
        (
            &["--webhook", "--auth", "none", "--filter", "$.a"],
            "--filter `$.a`",
        ),
        (&["--cron", "* * * * *", "--webhook"], "cannot be used with"),
        (&["--every", "1h", "--input", "{"], "not JSON"),
    ] {
        let run = create(args);
        assert!(run.code != 0 && run.err.contains(said), "{args:?}: {run:?}");
    }
    let none = server
        .run(&["trigger", "create", "none", "--every", "1h"])
        .code(1);
    assert!(none.err.contains("there is no workflow `none`"), "{none:?}");
    let webhook = server.run(&["trigger", "show", "wh_1"]).code(2);
    assert!(webhook.err.contains("refire trigger list"), "{webhook:?}");
    assert!(
        server.json(&["trigger", "list"])["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}

#[test]
fn a_file_makes_a_trigger_and_changes_it() {
    let (server, _target) = ready();
    server.place.write(
        "t.yaml",
        "trigger_type: schedule\nmonthly: { dayOfMonth: [1, last], time: '18:00' }\ntimezone: Europe/Berlin\n",
    );
    let id = create(&server, &["-f", "t.yaml", "--format", "json"]);
    let made: Value = serde_json::from_str(&id).unwrap();
    let id = made["id"].as_str().unwrap();
    assert_eq!(made["trigger_type"], "schedule");
    let run = of(
        &server,
        id,
        &["update", "…", "--jitter", "10m", "--overlap", "buffer_one"],
    );
    assert_eq!(run.code(0).out, format!("{id} v2 saved\n"));
    server
        .place
        .write("change.yaml", "jitter: null\nname: month\n");
    of(&server, id, &["update", "…", "-f", "change.yaml"]).code(0);
    let run = of(&server, id, &["update", "…", "--unset", "overlap"]).code(0);
    assert_eq!(run.out, format!("{id} v4 saved\n"));
    let shown = server.json(&["trigger", "show", id]);
    assert_eq!(
        (&shown["name"], &shown["jitter"], &shown["overlap"]),
        (&json!("month"), &json!(null), &json!("allow"))
    );
    let nothing = of(&server, id, &["update", "…"]).code(2);
    assert!(nothing.err.contains("nothing to change"), "{nothing:?}");
    let wrong = of(&server, id, &["update", "…", "--cron", "* * * * *"]).code(2);
    assert!(wrong.err.starts_with("error: --cron: "), "{wrong:?}");
    let deleted = of(&server, id, &["delete", "…", "--yes"]).code(0);
    assert_eq!(
        deleted.err,
        format!("{id} is deleted; its executions are kept\n")
    );
    let gone = of(&server, id, &["show", "…"]).code(1);
    assert!(gone.err.contains("refire explain RF0031"), "{gone:?}");
}

#[test]
fn a_pause_is_told_and_can_be_run_later() {
    let (server, _target) = ready();
    let id = create(&server, &["--cron", "* * * * * *", "--input", "\"tick\""]);
    let fired = started(&server, &id, 2);
    let run = of(&server, &id, &["disable", "…"]).code(0);
    assert_eq!(run.out, format!("{id} is paused\n"));
    let paused = server.run(&["trigger", "list", "--disabled"]).code(0).out;
    assert!(
        paused.contains(&id) && paused.contains("  paused  "),
        "{paused}"
    );
    let began = std::time::Instant::now();
    while began.elapsed() < std::time::Duration::from_millis(2_200) {
        std::thread::sleep(std::time::Duration::from_millis(50));
    }
    let run = of(&server, &id, &["enable", "…"]).code(0);
    assert_eq!(run.out, format!("{id} is enabled\n"));
    assert!(
        run.err.contains("planned times passed while it was paused"),
        "{run:?}"
    );
    assert!(
        run.err
            .contains(&format!("refire trigger backfill {id} --from 20")),
        "{run:?}"
    );
    of(&server, &id, &["disable", "…"]).code(0);

    let skipped = of(&server, &id, &["slots", "…", "--status", "skipped"])
        .code(0)
        .out;
    let rows: Vec<&str> = skipped.lines().collect();
    assert!(
        rows[0].starts_with("PLANNED ") && rows[1].contains("  skipped  paused"),
        "{skipped}"
    );
    of(&server, &id, &["enable", "…"]).code(0);
    let dry = of(
        &server,
        &id,
        &["backfill", "…", "--from", "1h", "--dry-run"],
    )
    .code(0);
    assert!(
        dry.err.ends_with("would run; nothing was started\n"),
        "{dry:?}"
    );
    let run = of(&server, &id, &["backfill", "…", "--from", "1h"]).code(0);
    assert!(
        run.out.contains("  exec_") && run.err.ends_with(" started\n"),
        "{run:?}"
    );
    let again = of(&server, &id, &["backfill", "…", "--from", "1h"]).code(0);
    assert!(again.err.starts_with("nothing was missed"), "{again:?}");

    let history = server.run(&["trigger", "history", "hello"]).code(0);
    assert!(
        history.out.starts_with("* * * * * * (UTC)\n\nSCHEDULED "),
        "{history:?}"
    );
    let execution = fired[0]["execution_id"].as_str().unwrap();
    let row = history
        .out
        .lines()
        .find(|line| line.contains(execution))
        .unwrap();
    assert!(
        row.contains(" completed ") && row.ends_with("  tick"),
        "{row}"
    );
    assert!(history.err.starts_with("next  "), "{history:?}");
    let run = of(
        &server,
        &id,
        &["run", "…", "--input", "{\"by\": \"hand\"}", "--wait", "20s"],
    );
    assert_eq!(run.code(0).out, "{\n  \"by\": \"hand\"\n}\n");
}

#[test]
fn a_webhook_has_an_address() {
    let (server, _target) = ready();
    let filter = "$.event_type equals incident.created";
    let args = ["--webhook", "--auth", "none", "--filter", filter];
    let id = create(&server, &args);
    let shown = server.json(&["trigger", "show", &id]);
    assert_eq!(
        shown["filters"],
        json!([{"json_path": "$.event_type", "operator": "equals", "value": "incident.created"}])
    );
    let address = shown["webhook_url"].as_str().unwrap();
    assert!(
        address.starts_with(&format!("{}/webhooks/wh_", server.url)),
        "{address}"
    );
    let list = server
        .run(&["trigger", "list", "--type", "webhook"])
        .code(0)
        .out;
    assert!(list.contains(address), "{list}");
    let requests = of(&server, &id, &["requests", "…"]).code(0);
    assert_eq!(
        requests.err,
        format!("no requests yet; they go to {address}\n")
    );
    let next = of(&server, &id, &["next", "…"]).code(1);
    assert!(next.err.contains("has no planned times"), "{next:?}");
    let secret = of(&server, &id, &["rotate-secret", "…"]).code(1);
    assert!(secret.err.contains("RF0034"), "{secret:?}");
}
