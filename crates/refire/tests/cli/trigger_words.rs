//! What the commands about triggers say: secrets, names, empty answers, and what was understood.

use serde_json::{Value, json};

use crate::refire::Run;
use crate::server::{Server, Target};

const SECRET: &str = "a-secret-that-the-sender-gave-us";

/// A server that knows the workflow `hello`.
fn ready() -> (Server, Target) {
    let (server, target) = (Server::start(), Target::start());
    target.heal();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    server.place.write("s.txt", &format!("{SECRET}\n"));
    (server, target)
}

fn trigger(server: &Server, args: &[&str]) -> Run {
    server.run(&[&["trigger"], args].concat())
}

fn create(server: &Server, args: &[&str]) -> Run {
    trigger(server, &[&["create", "hello"], args].concat()).code(0)
}

fn id(run: &Run) -> &str {
    run.out.trim()
}

/// Nothing of it is on the screen, and it works.
fn assert_unseen(server: &Server, run: &Run, webhook: &str) {
    assert!(!run.out.contains(SECRET), "{run:?}");
    assert!(!run.err.contains(SECRET), "{run:?}");
    trigger(server, &["test", webhook]).code(0);
}

#[test]
fn a_secret_that_was_given_is_not_shown() {
    let (server, _target) = ready();
    let made = create(
        &server,
        &["--webhook", "--auth", "hmac", "--secret", "@s.txt"],
    );
    let webhook = id(&made).to_owned();
    assert!(made.err.ends_with("its secret is the one you gave\n"));
    assert_unseen(&server, &made, &webhook);
    let changed = trigger(&server, &["update", &webhook, "--secret", "@s.txt"]).code(0);
    let said =
        format!("the old one no longer works (refire trigger rotate-secret {webhook} keeps it");
    assert!(changed.err.contains(&said), "{changed:?}");
    assert_unseen(&server, &changed, &webhook);
    for format in ["table", "json"] {
        let args = ["rotate-secret", &webhook, "--secret", "@s.txt"];
        let now = ["--keep-previous-for", "0s", "--format", format];
        let rotated = trigger(&server, &[&args[..], &now].concat()).code(0);
        assert_unseen(&server, &rotated, &webhook);
    }
    server.place.write(
        "t.yaml",
        &format!("trigger_type: webhook\nauthentication: hmac\nsecret: {SECRET}\n"),
    );
    let file = create(&server, &["-f", "t.yaml", "--format", "json"]);
    assert_eq!(file.json()["secret"], Value::Null);
    assert!(!file.out.contains(SECRET), "{file:?}");

    let made = trigger(
        &server,
        &["rotate-secret", &webhook, "--keep-previous-for", "0s"],
    );
    let made = made.code(0);
    assert_eq!(
        made.out.trim().len(),
        43,
        "one that was made is told: {made:?}"
    );
    assert_eq!(
        made.err,
        "save it now: it is not shown again. The old one no longer works.\n"
    );
    let short = trigger(&server, &["rotate-secret", &webhook, "--secret", "short"]).code(1);
    assert_eq!(short.err.matches("has 5 bytes").count(), 1, "{short:?}");
    assert!(short.err.contains("leave it out"), "{short:?}");
}

#[test]
fn senders_that_issue_their_secret_are_asked_for_it() {
    let (server, _target) = ready();
    let token = "AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8=";
    server.place.write("token.txt", token);
    for (method, name, file) in [
        ("stripe", "Stripe", "@s.txt"),
        ("slack", "Slack", "@s.txt"),
        ("shopify", "Shopify", "@s.txt"),
        ("teams", "Teams", "@token.txt"),
    ] {
        let made = create(&server, &["--webhook", "--auth", method]);
        let webhook = id(&made);
        let said = format!(
            "{name} creates the secret itself: no request passes until this webhook has it\n\
             copy it from {name}, then: refire trigger update {webhook} --secret @FILE\n"
        );
        assert!(made.err.ends_with(&said), "{made:?}");
        assert!(!made.err.contains("save it now"), "{made:?}");
        let rotated = trigger(&server, &["rotate-secret", webhook]).code(2);
        assert!(rotated.err.contains("pass it with --secret @FILE"));
        let given = ["rotate-secret", webhook, "--secret", file];
        trigger(&server, &given).code(0);
    }
    let github = create(&server, &["--webhook", "--auth", "github"]);
    assert!(github.err.ends_with("save it now: it is not shown again\n"));
}

#[test]
fn names_senders_and_jitter_are_shown() {
    let (server, _target) = ready();
    let plain = create(&server, &["--every", "1h"]);
    let list = trigger(&server, &["list"]).code(0).out;
    assert!(!list.contains("NAME"), "{list}");
    let late = create(
        &server,
        &["--daily", "09:00", "--jitter", "10m", "--name", "Morning"],
    );
    assert!(
        late.err.ends_with("each starts up to 10m later\n"),
        "{late:?}"
    );
    let hook = create(
        &server,
        &["--webhook", "--auth", "github", "--name", "Pushes"],
    );
    let list = trigger(&server, &["list"]).code(0).out;
    let row = |id: &str| list.lines().find(|row| row.starts_with(id)).unwrap();
    assert!(list.starts_with("TRIGGER                         NAME     WORKFLOW"));
    assert!(row(id(&plain)).contains("          hello "), "{list}");
    let morning = row(id(&late));
    assert!(morning.contains("  Morning  hello "), "{list}");
    assert!(morning.ends_with("(UTC), up to 10m later"), "{list}");
    assert!(row(id(&hook)).contains("  github  http://127.0.0.1:"));
    let shown = trigger(&server, &["show", id(&hook)]).code(0).out;
    let lines: Vec<&str> = shown.lines().collect();
    assert_eq!(lines[1], "Pushes", "{shown}");
}

#[test]
fn what_a_filter_was_understood_as_is_told() {
    let (server, _target) = ready();
    let filter = "$.priority equals 1";
    let args = ["--webhook", "--auth", "none", "--filter", filter];
    let made = create(&server, &args);
    let webhook = id(&made);
    assert!(
        made.err.contains("\nonly if  $.priority equals 1\n"),
        "{made:?}"
    );
    assert!(
        made.err.ends_with("write '$.priority equals \"1\"'\n"),
        "{made:?}"
    );
    let text = "$.priority equals \"1\"";
    let changed = trigger(&server, &["update", webhook, "--filter", text]).code(0);
    assert!(
        changed
            .err
            .ends_with("\nonly if  $.priority equals \"1\"\n"),
        "{changed:?}"
    );
    server.place.write(
        "f.yaml",
        "trigger_type: webhook\nauthentication: none\nfilters: [{ path: $.a, op: exists }]\n",
    );
    let file = trigger(&server, &["create", "hello", "-f", "f.yaml"]).code(1);
    for hint in ["did you mean \"json_path\"?", "did you mean \"operator\"?"] {
        assert!(file.err.contains(hint), "{file:?}");
    }
}

#[test]
fn what_has_nothing_to_show_says_where_to_look() {
    let (server, _target) = ready();
    let hook = create(&server, &["--webhook", "--auth", "none"]);
    let cron = create(&server, &["--cron", "0 0 1 1 *"]);
    let (hook, cron) = (id(&hook), id(&cron));
    for (args, expected) in [
        (["slots", hook], format!("refire trigger requests {hook}\n")),
        (["slots", cron], format!("refire trigger next {cron}\n")),
        (["requests", cron], format!("refire trigger slots {cron}\n")),
    ] {
        let run = trigger(&server, &args).code(0);
        assert!(run.err.ends_with(&expected), "{args:?}: {run:?}");
    }
    let none = trigger(&server, &["list", "--workflow", "nosuch"]).code(1);
    assert!(
        none.err.contains("there is no workflow `nosuch`"),
        "{none:?}"
    );
    let workflow = trigger(&server, &["show", "hello"]).code(2);
    assert!(
        workflow
            .err
            .contains("refire trigger list --workflow hello")
    );
    trigger(&server, &["pause", cron]).code(0);
    let paused = trigger(&server, &["slots", cron]).code(0);
    assert!(
        paused
            .err
            .ends_with(&format!("refire trigger enable {cron}\n"))
    );
    let backfill = trigger(&server, &["backfill", cron, "--from", "1h"]).code(1);
    assert!(
        backfill
            .err
            .contains(&format!("refire trigger enable {cron}")),
        "{backfill:?}"
    );
    trigger(&server, &["resume", cron]).code(0);
    trigger(&server, &["rm", cron, "--yes"]).code(0);
}

#[test]
fn a_history_finds_the_schedule_that_is_meant() {
    let (server, _target) = ready();
    let history = |args: &[&str]| trigger(&server, &[&["history"], args].concat());
    let none = history(&["hello"]).code(1);
    assert!(
        none.err.contains("no cron trigger and no schedule"),
        "{none:?}"
    );
    let first = create(&server, &["--every", "1s"]);
    let first = id(&first);
    for _ in 0..400 {
        let page = server.json(&["trigger", "slots", first, "--status", "fired"]);
        if !page["items"].as_array().unwrap().is_empty() {
            break;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    let one = history(&["hello"]).code(0);
    assert!(
        one.out.starts_with("Every second, counted from 20"),
        "{one:?}"
    );
    let second = create(&server, &["--daily", "09:00"]);
    let several = history(&["hello"]).code(2);
    assert!(
        several
            .err
            .contains("2 schedules; choose one with --trigger")
    );
    for trigger in [first, id(&second)] {
        assert!(
            several.err.contains(&format!("\n  {trigger}  ")),
            "{several:?}"
        );
    }
    history(&["hello", "--trigger", first]).code(0);
    trigger(&server, &["run", id(&second), "--wait", "20s"]).code(0);
    let by_hand = history(&["hello", "--trigger", id(&second)]).code(0);
    let where_it_is = "runs by hand are in refire executions list --workflow hello";
    assert!(by_hand.err.contains(where_it_is), "{by_hand:?}");
    let other = server.place.path().join("w.yaml");
    let other = std::fs::read_to_string(other).unwrap();
    server
        .place
        .write("other.yaml", &other.replace("id: hello", "id: other"));
    server
        .run(&["workflow", "apply", "-f", "other.yaml"])
        .code(0);
    let wrong = history(&["other", "--trigger", first]).code(1);
    let meant = format!("refire trigger history hello --trigger {first}");
    assert!(wrong.err.contains(&meant), "{wrong:?}");
    let hook = create(&server, &["--webhook", "--auth", "none"]);
    let wrong = history(&["hello", "--trigger", id(&hook)]).code(1);
    assert!(wrong.err.contains("refire trigger requests "), "{wrong:?}");
}

#[test]
fn a_ledger_says_what_was_run_later() {
    let (server, _target) = ready();
    let made = create(&server, &["--every", "1s", "--disabled"]);
    let id = id(&made);
    std::thread::sleep(std::time::Duration::from_millis(2_200));
    trigger(&server, &["enable", id]).code(0);
    let run = trigger(&server, &["backfill", id, "--from", "1h"]).code(0);
    let count = run.err.strip_suffix(" started\n").unwrap();
    let skipped = trigger(&server, &["slots", id, "--status", "skipped"]).code(0);
    let expected = format!("  paused, {count} run later");
    assert!(skipped.out.contains(&expected), "{skipped:?}");
}

#[test]
fn a_test_says_what_it_leaves_behind_and_what_is_too_large() {
    let (server, _target) = ready();
    let made = create(&server, &["--webhook", "--auth", "none"]);
    let id = id(&made);
    let event = r#"{"idempotency_key": "e-1"}"#;
    let test = trigger(&server, &["test", id, "--body", event]).code(0);
    assert!(test.out.contains("it is used up now"), "{test:?}");
    let again = trigger(&server, &["test", id, "--body", event]).code(0);
    assert!(again.out.starts_with("duplicate  "), "{again:?}");
    assert!(!again.out.contains("it is used up now"), "{again:?}");
    let large = json!({ "a": "x".repeat(1_100_000) }).to_string();
    server.place.write("large.json", &large);
    let large = trigger(&server, &["test", id, "--body", "@large.json"]).code(3);
    assert!(
        large
            .out
            .starts_with("too_large  the sender would get 413\n"),
        "{large:?}"
    );
    assert!(
        large
            .out
            .contains(" bytes, and the server accepts at most 1048576\n"),
        "{large:?}"
    );
    let json = ["test", id, "--body", "@large.json", "--format", "json"];
    let result = trigger(&server, &json).code(3).json();
    assert_eq!(result["result"]["status"], "too_large");
    trigger(&server, &["disable", id]).code(0);
    trigger(&server, &["test", id]).code(3);
    for _ in 0..400 {
        let log = trigger(&server, &["requests", id, "--status", "disabled"]).code(0);
        if !log.out.is_empty() {
            assert!(log.out.contains("the trigger was disabled"), "{log:?}");
            return;
        }
        std::thread::sleep(std::time::Duration::from_millis(25));
    }
    panic!("the log never had the request");
}
