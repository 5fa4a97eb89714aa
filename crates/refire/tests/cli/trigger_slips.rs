//! Slips in commands about triggers, and what would be right.

use crate::refire::Place;
use crate::server::Server;

/// Nothing listens there.
const NOWHERE: &str = "http://127.0.0.1:9";

#[test]
fn words_that_are_no_commands_lead_to_those_that_are() {
    let place = Place::new();
    for (args, expected) in [
        (&["trigger", "edit", "trg_1"][..], "refire trigger update"),
        (&["trigger", "log", "trg_1"], "refire trigger requests"),
        (&["trigger", "remove", "trg_1"], "refire trigger delete"),
        (
            &["trigger", "create", "report", "--cron", "0", "9", "*"],
            "in quotes",
        ),
        (
            &["trigger", "create", "report", "--schedule", "daily"],
            "--daily",
        ),
    ] {
        let run = place.run(args).code(2);
        assert_eq!(run.err.matches("tip: ").count(), 1, "{args:?}: {run:?}");
        assert!(run.err.contains(expected), "{args:?}: {run:?}");
    }
    for (args, meant) in [
        ("pause", "refire trigger disable"),
        ("resume", "refire trigger enable"),
        ("rm", "refire trigger delete"),
    ] {
        let help = place.run(&["trigger", args, "--help"]).code(0).out;
        assert!(help.contains(&format!("{meant} trg_")), "{help}");
    }
}

#[test]
fn options_that_do_not_fit_are_told_without_a_server() {
    let place = Place::new();
    for (args, expected) in [
        (
            &["--cron", "* * * * *", "--every", "1h"][..],
            "each of --cron, --every sets when it fires: use only one",
        ),
        (
            &["--every", "5"],
            "--every `5` has no unit: write 5s, 5m or 5h",
        ),
        (
            &["--cron", "* * * * *", "--auth", "hmac"],
            "--auth is only for webhooks",
        ),
        (&["--auth", "hmac"], "add --webhook"),
        (
            &["--webhook", "--auth", "none", "--filter", "$.q in a,b"],
            r#"'$.q in ["a","b"]'"#,
        ),
    ] {
        let create = ["trigger", "create", "report", "--url", NOWHERE];
        let run = place.run(&[&create, args].concat()).code(2);
        assert!(run.err.contains(expected), "{args:?}: {run:?}");
    }
    let nobody = place.run(&["trigger", "list", "--url", NOWHERE]).code(1);
    assert!(
        nobody.err.contains("refire serve --listen 127.0.0.1:9\n"),
        "{nobody:?}"
    );
}

#[test]
fn everything_that_is_wrong_is_told_at_once() {
    let server = Server::start();
    server.place.write(
        "w.yaml",
        "id: hello\nsteps: [{ id: a, type: http, config: { url: 'http://127.0.0.1:9' } }]\n",
    );
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let create = |args: &[&str]| server.run(&[&["trigger", "create", "hello"], args].concat());
    let options = create(&["--webhook", "--secret", "short"]).code(2);
    let lines: Vec<&str> = options.err.lines().collect();
    assert!(
        lines[0].starts_with("error: --auth: is missing; it says how requests are checked"),
        "{options:?}"
    );
    assert!(
        lines[0].ends_with("github, stripe, slack, shopify, teams"),
        "{options:?}"
    );
    assert!(
        lines[1].starts_with("error: --secret: has 5 bytes, "),
        "{options:?}"
    );
    server.place.write(
        "t.yaml",
        "trigger_type: webhook\nauthentication: hmacc\nsecret: abc\n",
    );
    let file = create(&["-f", "t.yaml"]).code(1);
    assert!(file.err.contains("did you mean \"hmac\"?"), "{file:?}");
    assert!(
        file.err
            .contains("t.yaml: secret: has 3 bytes, at least 24 are needed (line 3, column 9)"),
        "{file:?}"
    );
    server
        .place
        .write("c.yaml", "trigger_type: cron\ncron_expression: * * * * *\n");
    let cron = create(&["-f", "c.yaml"]).code(1);
    assert!(cron.err.contains("put the value in quotes"), "{cron:?}");
    let made = create(&["--cron", "0 0 1 1 *"]).code(0);
    let change = ["trigger", "update", made.out.trim(), "--auth", "hmac"];
    let other = server.run(&change).code(2);
    assert!(
        other.err.starts_with(
            "error: --auth: triggers of this type do not have this setting; it is only for triggers of \
             type `webhook`\n"
        ),
        "{other:?}"
    );
}

#[test]
fn a_change_has_no_defaults() {
    let place = Place::new();
    // Lines are broken where there is no room: the words are compared without them.
    let help = |command: &str| {
        let text = place.run(&["trigger", command, "--help"]).code(0).out;
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    };
    let (create, update) = (help("create"), help("update"));
    for default in [
        "[default: UTC]",
        "[default: {}]",
        "[default: a new one is created]",
    ] {
        assert!(create.contains(default), "{default} in {create}");
        assert!(!update.contains(default), "{default} in {update}");
    }
    assert!(update.contains("rotate-secret"), "{update}");
}
