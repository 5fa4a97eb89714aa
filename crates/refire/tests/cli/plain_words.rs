//! Answers that say what a person needs: what is allowed, who did it, what comes next, and nothing that
//! belongs to somebody else's trouble.

use crate::refire::{Place, Run};
use crate::server::{Server, Target};

/// An option that only the environment sets is not shown as if it were needed.
#[test]
fn the_usage_shows_what_was_written() {
    let place = Place::new();
    let mut command = place.command();
    command
        .args(["workflow", "apply"])
        .env("REFIRE_URL", "http://127.0.0.1:1")
        .env("REFIRE_DATA_DIR", "elsewhere");
    let run = Run::of(&mut command).code(2);
    assert!(run.err.contains("Usage: refire workflow apply"), "{run:?}");
    assert!(!run.err.contains("--url"), "{run:?}");
    assert!(!run.err.contains("--data-dir"), "{run:?}");
    // What the environment says wrong is still said.
    let mut command = place.command();
    command.args(["serve"]).env("REFIRE_DEV", "maybe");
    let run = Run::of(&mut command).code(2);
    assert!(run.err.contains("write true or false"), "{run:?}");
    let run = place.run(&["execute", "w", "--priority", "11"]).code(2);
    assert!(run.err.contains("must be from 1 to 10"), "{run:?}");
}

#[test]
fn a_key_that_is_missing_is_not_explained_in_terms_of_http() {
    let server = Server::start();
    let run = server
        .run(&["workflow", "list", "--data-dir", "elsewhere"])
        .code(1);
    assert!(run.err.contains("no API key found"), "{run:?}");
    assert!(!run.err.contains("Bearer"), "{run:?}");
}

#[test]
fn a_list_says_until_when_and_what_there_is_not() {
    let (server, target) = (Server::start(), Target::start());
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    server.run(&["execute", "hello", "--delay", "2h"]).code(0);
    let list = server.run(&["executions", "list"]).code(0).out;
    assert!(list.contains("pending, in 1h 59m"), "{list}");
    let run = server
        .run(&["executions", "list", "--workflow", "helo"])
        .code(1);
    assert!(run.err.contains("did you mean"), "{run:?}");
    let run = server
        .run(&["executions", "list", "--status", "failed"])
        .code(0);
    assert!(run.err.contains("no matching executions"), "{run:?}");
}

#[test]
fn a_cancelled_execution_says_who_cancelled_it() {
    let (server, target) = (Server::start(), Target::start());
    let slow = target
        .definition(5)
        .replace("initialDelay: 100ms", "initialDelay: 1h");
    server.place.write("w.yaml", &slow);
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let id = server.run(&["execute", "hello"]).code(0).out;
    let id = id.trim();
    while server.json(&["executions", "show", id])["status"] != "retrying" {
        std::thread::sleep(std::time::Duration::from_millis(20));
    }
    server.run(&["executions", "cancel", id]).code(0);
    let shown = server.run(&["executions", "show", id]).code(0).out;
    assert!(shown.contains(" by admin\n"), "{shown}");
    let cancelled = shown.lines().find(|line| line.starts_with("  cancelled "));
    assert!(cancelled.unwrap().ends_with(" by admin"), "{shown}");
    assert!(!shown.contains("attempt 2"), "it was never made: {shown}");
    assert!(!shown.contains("cut off"), "it waited: {shown}");
}

/// What it retries with is not what the workflow's policy says.
#[test]
fn a_retry_says_that_it_is_made_once() {
    let (server, target) = (Server::start(), Target::start());
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let ended = server.json(&["execute", "hello", "--wait", "20s"]);
    let letter = ended["dlq_entry_id"].as_str().unwrap();
    let run = server.run(&["dlq", "retry", letter, "--wait", "20s"]);
    let once = "automatic retries do not apply";
    assert!(run.code(3).err.contains(once));
    let help = server.run(&["dlq", "retry", "--help"]).code(0).out;
    assert!(help.contains(once), "{help}");
}

/// A file for another command is told so once, not key by key.
#[test]
fn a_trigger_is_not_a_workflow() {
    let place = Place::new();
    place.write(
        "t.yaml",
        "trigger_type: cron\nname: Weekly\ncron_expression: 0 9 * * MON\noverlap: skip\n",
    );
    let run = place.run(&["workflow", "validate", "-f", "t.yaml"]).code(1);
    assert_eq!(run.err.matches("error: ").count(), 1, "{run:?}");
    assert!(run.err.contains("refire trigger create"), "{run:?}");
}
