//! Definitions, backups, keys and settings with a real server.

use std::os::unix::fs::PermissionsExt as _;

use refire_client::Client;

use crate::refire::Place;
use crate::server::{Server, Target};

#[test]
fn the_whole_is_shown_at_a_glance() {
    let (server, target) = (Server::start(), Target::start());
    server.place.write("w.yaml", &target.definition(1));
    let apply = ["workflow", "apply", "-f", "w.yaml", "--if-version", "1"];
    let none = server.run(&apply).code(1);
    assert!(none.err.contains("RF0048"), "{none:?}");
    server.run(&apply[..4]).code(0);
    server.place.write("w.yaml", &target.definition(2));
    assert_eq!(server.run(&apply).code(0).out, "hello v2 saved\n");
    let cron = ["trigger", "create", "hello", "--cron", "0 0 1 1 *"];
    server.run(&cron).code(0);
    let shown = server.run(&["overview"]).code(0).out;
    for part in [
        "The last 24h",
        "nothing is wrong",
        "1 enabled, 0 overdue",
        " trg_",
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let all = server.json(&["overview", "--range", "7d"]);
    assert_eq!(all["overview"]["range"], "7d");
    assert_eq!(all["upcoming"]["items"][0]["workflow_id"], "hello");
    let coming = server.run(&["trigger", "upcoming"]).code(0).out;
    assert!(coming.contains("January"), "{coming}");
    let found = server.run(&["workflow", "list", "--search", "HEL"]).code(0);
    assert!(found.out.contains("hello"), "{found:?}");
}

#[test]
fn a_definition_goes_in_and_comes_back() {
    let (server, target) = (Server::start(), Target::start());
    let first = target.definition(1);
    server.place.write("w.yaml", &first);
    let run = server.run(&["workflow", "diff", "-f", "w.yaml"]).code(0);
    assert!(run.err.contains("from nothing to the file"), "{run:?}");
    let apply = ["workflow", "apply", "-f", "w.yaml"];
    assert_eq!(server.run(&apply).code(0).out, "hello v1 saved\n");
    assert_eq!(server.run(&apply).code(0).out, "hello v1 unchanged\n");

    server.place.write("w.yaml", &target.definition(2));
    let run = server.run(&["workflow", "diff", "-f", "w.yaml"]).code(0);
    assert_eq!(run.out, "~ retry.maxRetries: 1 → 2\n");
    assert_eq!(server.json(&apply)["version"], 2);
    assert_eq!(
        server.run(&["workflow", "diff", "hello"]).code(0).out,
        run.out
    );
    let diff = server.json(&["workflow", "diff", "hello", "--from", "2", "--to", "1"]);
    assert_eq!(diff["changes"][0]["new"], 1);

    let source = server
        .run(&["workflow", "show", "hello", "--version", "1", "--source"])
        .code(0);
    assert_eq!(source.out, first, "byte for byte");
    let shown = server.run(&["workflow", "show", "hello"]).code(0).out;
    assert!(
        shown.starts_with("hello v2\n") && shown.contains("maxRetries: 2"),
        "{shown}"
    );
    assert!(
        server
            .run(&["workflow", "list"])
            .code(0)
            .out
            .contains("hello           2")
    );
    let versions = server.json(&["workflow", "versions", "hello"]);
    assert_eq!(versions["items"].as_array().unwrap().len(), 2);

    server
        .run(&["workflow", "delete", "hello", "--yes"])
        .code(0);
    assert_eq!(server.run(&apply).code(0).out, "hello v2 restored\n");
    server
        .run(&["workflow", "delete", "hello", "--yes"])
        .code(0);
    let run = server.run(&["workflow", "show", "hello"]).code(1);
    assert!(run.err.contains("run 'refire explain RF"), "{run:?}");
}

#[test]
fn a_backup_is_made_with_and_without_a_server() {
    let (mut server, target) = (Server::start(), Target::start());
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let run = server.run(&["backup", "one.db"]).code(0);
    let path = server.place.path().join("one.db");
    assert!(
        run.out.trim_end().ends_with("one.db") && path.is_file(),
        "{run:?}"
    );
    let left = std::fs::read_dir(server.place.path().join("refire-data/backups")).unwrap();
    assert_eq!(left.count(), 0, "it is moved, not copied");
    let run = server.run(&["backup", "one.db"]).code(1);
    assert!(run.err.contains("exists already"), "{run:?}");
    let run = server.run(&["backup", "none/one.db"]).code(1);
    let missing = server.place.path().join("none");
    let missing = format!("the directory {} does not exist\n", missing.display());
    assert!(run.err.contains(&missing), "{run:?}");

    server.stop();
    let run = server
        .run(&["backup", "two.db", "--format", "json"])
        .code(0);
    assert!(run.err.contains("no server runs"), "{run:?}");
    let bytes = std::fs::metadata(server.place.path().join("two.db"))
        .unwrap()
        .len();
    assert_eq!(run.json()["bytes"], bytes);
    let run = server
        .run(&["backup", "three.db", "--data-dir", "nowhere"])
        .code(1);
    assert!(run.err.contains("cannot reach"), "{run:?}");
    assert!(
        !server.place.path().join("nowhere").exists(),
        "nothing is made on the way"
    );
}

/// What is no database, or not a whole one, changes nothing.
fn refuses_what_is_not_whole(server: &Server) {
    server.place.write(
        "text.db",
        "not a database, but long enough to be read as one",
    );
    let whole = std::fs::read(server.place.path().join("one.db")).unwrap();
    let mut damaged = whole.clone();
    damaged[5 * 4096..9 * 4096].fill(0x5a);
    std::fs::write(server.place.path().join("damaged.db"), damaged).unwrap();
    std::fs::write(
        server.place.path().join("half.db"),
        &whole[..whole.len() / 2],
    )
    .unwrap();
    for (file, expected) in [
        ("text.db", "is not a Refire database"),
        (
            "damaged.db",
            "is damaged or incomplete, and nothing was changed",
        ),
        (
            "half.db",
            "is damaged or incomplete, and nothing was changed",
        ),
        ("none.db", "does not exist"),
    ] {
        let run = server.run(&["restore", file, "--yes"]).code(1);
        assert!(run.err.contains(expected), "{file}: {run:?}");
    }
}

/// The old log is the danger: SQLite would write it into the backup.
#[test]
fn a_backup_is_restored_beside_an_old_log() {
    let (mut server, target) = (Server::start(), Target::start());
    server.place.write("w.yaml", &target.definition(1));
    let apply = ["workflow", "apply", "-f", "w.yaml"];
    server.run(&apply).code(0);
    server.run(&["backup", "one.db"]).code(0);
    server.place.write("w.yaml", &target.definition(2));
    server.run(&apply).code(0);
    let restore = ["restore", "one.db", "--yes"];
    let run = server.run(&restore).code(1);
    assert!(run.err.contains("in use by another process"), "{run:?}");
    server.stop();
    let data = server.place.path().join("refire-data");
    let log = data.join("refire.db-wal");
    assert!(log.metadata().unwrap().len() > 0, "a crash leaves the log");

    let run = server.run(&["restore", "one.db"]).code(1);
    assert!(run.err.contains("add --yes"), "{run:?}");
    refuses_what_is_not_whole(&server);
    assert!(log.exists() && !data.join("refire.db.restored").exists());

    let run = server.run(&restore).code(0);
    assert!(run.err.contains("the old database is kept as"), "{run:?}");
    assert!(run.err.contains("master.key"), "{run:?}");
    assert!(!log.exists(), "the log went with its database");
    let mode = data
        .join("refire.db")
        .metadata()
        .unwrap()
        .permissions()
        .mode();
    assert_eq!(mode & 0o777, 0o600);
    let names = std::fs::read_dir(&data).unwrap();
    let names = names.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let kept: Vec<String> = names
        .filter(|name| name.starts_with("refire.db.before-restore-"))
        .collect();
    assert_eq!(kept.len(), 2, "with its log: {kept:?}");
    server.start_again();
    let list = server.json(&["workflow", "versions", "hello"]);
    assert_eq!(
        list["items"].as_array().unwrap().len(),
        1,
        "as it was backed up"
    );
    server.stop();

    // An interrupted restore is noticed, and done again.
    std::fs::rename(data.join("refire.db"), data.join("refire.db.restored")).unwrap();
    std::fs::remove_file(&log).unwrap();
    let start = ["serve", "--listen", "127.0.0.1:0"];
    let run = server.place.run(&start).code(1);
    assert!(run.err.contains("was interrupted"), "{run:?}");
    let run = server
        .run(&["restore", "one.db", "--format", "json"])
        .code(0);
    assert_eq!(run.json()["previous"], serde_json::Value::Null);
    server.start_again();
    server.run(&["workflow", "show", "hello"]).code(0);
}

#[test]
fn what_the_server_refuses_is_said_once() {
    let server = Server::start();
    let limit = server.run(&["executions", "list", "--limit", "0"]).code(2);
    assert_eq!(
        limit.err,
        "error: limit: 0 is not a whole number between 1 and 1000\n\
         code RF0003; for help run 'refire explain RF0003'\n"
    );
    let id = "exec_01j9x8w7v6t5s4r3q2p1n0m9k8";
    let kind = server
        .run(&["executions", "events", id, "--type", "NOPE"])
        .code(2);
    assert_eq!(kind.err.matches("is not one of").count(), 1, "{kind:?}");
    server.place.write(
        "local.yaml",
        "id: a\nsteps: [{id: s, type: http, config: {url: \"http://x.example/\"}}]\n---\n\
         id: b\nsteps:\n  - {id: s, type: local, config: {task: foo}}\n",
    );
    let local = server
        .run(&["workflow", "apply", "-f", "local.yaml"])
        .code(1);
    assert_eq!(local.out, "a v1 saved\n");
    assert_eq!(
        local.err.matches("registered as \"foo\"").count(),
        1,
        "{local:?}"
    );
    assert!(
        local.err.starts_with("local.yaml:6:") && local.err.contains("refused b"),
        "{local:?}"
    );
}

#[test]
fn the_server_of_the_settings_file_is_found() {
    let server = Server::start();
    let listen = server.url.trim_start_matches("http://");
    server.place.write(
        "refire.yaml",
        &format!("listen: {listen}\ndata_dir: ./refire-data\n"),
    );
    server.place.run(&["workflow", "list"]).code(0);
    server.place.write(
        "refire.yaml",
        &format!("listen: {listen}\ndata_dir: ./none\n"),
    );
    let run = server.place.run(&["workflow", "list"]).code(1);
    let missing = "error: no API key found: ./none/admin.key does not exist";
    assert!(run.err.starts_with(missing), "{run:?}");
    let tls = server.url.replacen("http://", "https://", 1);
    let run = server.run(&["workflow", "list", "--url", &tls]).code(1);
    assert_eq!(
        run.err,
        format!("error: the server answers plain HTTP; use {}\n", server.url)
    );
}

#[test]
fn a_wrong_key_is_explained() {
    let server = Server::start();
    let run = server
        .run(&["workflow", "list", "--api-key", "wrong"])
        .code(1);
    assert!(
        run.err.contains("--api-key") && run.err.contains("admin.key"),
        "{run:?}"
    );
    server.run(&["workflow", "list"]).code(0);
    let version = server.json(&["version"]);
    assert_eq!(version["server"]["version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(version["server"]["time_zones"], version["time_zones"]);
    assert_eq!(version["server"]["time_zone_source"], "built-in");
}

/// The simulator on this side and the server's own are one.
#[tokio::test]
async fn the_api_simulates_the_same_numbers() {
    let server = Server::start();
    let key = std::fs::read_to_string(server.place.path().join("refire-data/admin.key")).unwrap();
    let client = Client::builder(&server.url)
        .key(key.trim())
        .build()
        .unwrap();
    let policy =
        r#"{"maxRetries": 7, "initialDelay": "300ms", "jitter": "full", "maxDelay": "9s"}"#;
    let answer = client.simulate(policy).await.unwrap();
    let here = server.json(&[
        "simulate",
        "--max-retries",
        "7",
        "--initial-delay",
        "300ms",
        "--jitter",
        "full",
        "--max-delay",
        "9s",
    ]);
    assert_eq!(serde_json::to_value(answer).unwrap(), here);
}

/// `--data-dir` belongs to every command, but must not stand in the way of the server's file.
#[test]
fn the_data_directory_is_found_in_every_way() {
    for (args, expected) in [
        (&["serve"][..], "from-file"),
        (&["serve", "--data-dir", "after"], "after"),
        (&["--data-dir", "before", "serve"], "before"),
    ] {
        let place = Place::new();
        place.write(
            "refire.yaml",
            "listen: 127.0.0.1:0\ndata_dir: ./from-file\n",
        );
        let server = Server::start_with(place, args);
        let data = server.place.path().join(expected);
        assert!(data.join("admin.key").is_file(), "{args:?}");
        let list = ["workflow", "list", "--data-dir", expected];
        server.run(&list).code(0);
    }
}

#[test]
fn the_only_node_is_listed() {
    let server = Server::start();
    let nodes = server.json(&["nodes"]);
    let node = &nodes["items"][0];
    assert_eq!(
        (nodes["items"].as_array().unwrap().len(), &node["is_this"]),
        (1, &true.into())
    );
    let table = server.run(&["nodes"]).code(0).out;
    server.run(&["nodes", "list"]).code(0);
    let lines: Vec<_> = table.lines().collect();
    assert_eq!(lines.len(), 2, "{table}");
    assert!(
        lines[0].starts_with("NAME") && lines[0].ends_with("NOTE"),
        "{table}"
    );
    for part in [&node["name"], &node["node_id"], &node["address"]] {
        assert!(lines[1].contains(part.as_str().unwrap()), "{table}");
    }
    assert!(lines[1].ends_with("answered"), "{table}");
}

#[test]
fn the_admin_key_is_rotated_while_the_server_runs() {
    let server = Server::start();
    let file = server.place.path().join("refire-data/admin.key");
    let old = std::fs::read_to_string(&file).unwrap();
    let run = server.run(&["admin-key", "rotate"]).code(0);
    assert_eq!(run.out, std::fs::read_to_string(&file).unwrap());
    assert_ne!(run.out, old);
    let mode = file.metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
    server.run(&["workflow", "list"]).code(0);
    let list = ["workflow", "list", "--api-key", old.trim()];
    server.run(&list).code(1);

    // A server that was given a key does not read the file.
    let mut given = server.place.command();
    given
        .args(["admin-key", "rotate"])
        .env("REFIRE_ADMIN_KEY", "a-key-of-its-own");
    let run = crate::refire::Run::of(&mut given).code(2);
    assert!(run.err.contains("REFIRE_ADMIN_KEY is set"), "{run:?}");
    // Nor is a key left where no server is.
    let elsewhere = ["admin-key", "rotate", "--data-dir", "nowhere"];
    let run = server.run(&elsewhere).code(1);
    assert!(run.err.contains("--data-dir"), "{run:?}");
}
