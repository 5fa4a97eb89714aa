//! Tasks and workers on the command line, with a real server and a worker that only fetches.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;

use serde_json::{Value, json};

use crate::server::Server;

/// A server that knows the workflow `tickets`, whose only step is a task.
fn ready(config: &str) -> Server {
    let server = Server::start();
    let definition = format!(
        "id: tickets\nretry: {{initialDelay: 1s, jitter: none}}\nsteps:\n  - id: create\n    \
         type: external_task\n    config: {{taskType: jira/create{config}}}\n\
         output: \"${{steps.create.output}}\"\n"
    );
    server.place.write("w.yaml", &definition);
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    server
}

fn start(server: &Server) -> String {
    let run = server.run(&["execute", "tickets", "--input", r#"{"n":1}"#]);
    run.code(0).out.trim().to_owned()
}

/// The first task that a worker of this name gets.
fn fetch(server: &Server, worker: &str) -> Value {
    let key = server.place.path().join("refire-data/admin.key");
    let key = std::fs::read_to_string(key).unwrap();
    let address = server.url.strip_prefix("http://").unwrap();
    let mut stream = TcpStream::connect(address).unwrap();
    write!(
        stream,
        "GET /api/external-tasks/poll?taskType=jira/*&workerId={worker}&waitSeconds=10 HTTP/1.1\r\n\
         Host: {address}\r\nAuthorization: Bearer {}\r\nConnection: close\r\n\r\n",
        key.trim()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(head.starts_with("HTTP/1.1 200 "), "{answer}");
    serde_json::from_str::<Value>(body).unwrap()[0].clone()
}

fn text<'a>(task: &'a Value, field: &str) -> &'a str {
    task[field].as_str().unwrap()
}

#[test]
fn tasks_are_listed_shown_and_completed_by_hand() {
    let server = ready("");
    let nothing = server.run(&["tasks", "list"]).code(0);
    assert!(nothing.err.starts_with("no tasks yet. "), "{nothing:?}");
    assert!(nothing.err.contains("refire execute "), "{nothing:?}");
    let execution = start(&server);
    let list = server
        .run(&["tasks", "list", "--status", "pending"])
        .code(0)
        .out;
    let rows: Vec<&str> = list.lines().collect();
    assert!(rows[0].starts_with("TASK "), "{list}");
    assert!(
        rows[1].contains("  jira/create  PENDING     0/3  "),
        "{list}"
    );
    assert!(rows[1].contains("timeout in 9m"), "{list}");
    let id = rows[1].split_whitespace().next().unwrap().to_owned();
    let early = server.run(&["tasks", "complete", &id]).code(1);
    assert!(early.err.contains("no worker has the task"), "{early:?}");
    assert!(
        early.err.contains(&format!("refire tasks show {id}")),
        "{early:?}"
    );
    fetch(&server, "n8n-1");
    let shown = server.run(&["tasks", "show", &id]).code(0).out;
    for part in [
        &format!("{id}  LOCKED"),
        "  type       jira/create\n",
        "  step       create of tickets\n",
        &format!("  execution  {execution}\n"),
        "  worker     n8n-1\n",
        "  attempts   0 of 3 failed\n",
        "Input\n  {\n    \"n\": 1\n  }\n",
        &format!("refire tasks unlock {id}\n"),
    ] {
        assert!(shown.contains(part), "{part} in {shown}");
    }
    let listed = server.json(&["tasks", "list", "--worker", "n8n-1"]);
    assert_eq!(listed["items"][0]["id"], id.as_str());
    assert_eq!(listed["nextCursor"], Value::Null, "as the API says it");
    assert!(!listed.to_string().contains("lk_"), "no token is shown");
    let slip = server
        .run(&["tasks", "complete", &id, "--output", "{"])
        .code(2);
    assert!(slip.err.contains("not JSON"), "{slip:?}");
    let output = r#"{"ticketId": "OPS-42"}"#;
    let done = server
        .run(&["tasks", "complete", &id, "--output", output])
        .code(0);
    let said = format!("{id} is completed: its execution goes on");
    assert!(done.out.contains(&said), "{done:?}");
    let ended = server.json(&["executions", "show", &execution]);
    assert_eq!(ended["output"], json!({"ticketId": "OPS-42"}));
    let shown = server.run(&["tasks", "show", &id]).code(0).out;
    assert!(shown.contains("\"ticketId\": \"OPS-42\""), "{shown}");
    let wrong = server.run(&["tasks", "show", &execution]).code(2);
    let tip = format!("refire tasks list --execution {execution}");
    assert!(wrong.err.contains(&tip), "{wrong:?}");
    let none = server.run(&["tasks", "list", "--type", "other"]).code(0);
    assert!(none.err.starts_with("no matching tasks."), "{none:?}");
}

#[test]
fn a_task_is_taken_from_its_worker_and_failed_by_hand() {
    let server = ready(", retries: 2, requireLockToken: true");
    start(&server);
    let first = fetch(&server, "n8n-1");
    let id = text(&first, "id");
    let bare = server.run(&["tasks", "unlock", id]).code(1);
    assert!(bare.err.contains("--lock-token"), "{bare:?}");
    assert!(bare.err.contains("refire workers remove NAME"), "{bare:?}");
    let token = text(&first, "lockToken");
    let free = server
        .run(&["tasks", "unlock", id, "--lock-token", token])
        .code(0);
    assert!(free.out.contains(&format!("{id}  PENDING")), "{free:?}");
    let second = fetch(&server, "n8n-2");
    assert_eq!(second["id"], first["id"]);
    let token = text(&second, "lockToken");
    let fail = [
        "tasks",
        "fail",
        id,
        "--lock-token",
        token,
        "--message",
        "no room",
    ];
    let wait = server
        .run(&[&fail[..], &["--retry-after", "soon"]].concat())
        .code(2);
    assert!(wait.err.contains("--retry-after"), "{wait:?}");
    let failed = server
        .run(&[&fail[..], &["--retry-after", "30m"]].concat())
        .code(0);
    assert!(
        failed.out.contains("has failed 1 of 2 attempts"),
        "{failed:?}"
    );
    let list = server.run(&["tasks", "list"]).code(0).out;
    assert!(list.contains("1/2") && list.contains("no room"), "{list}");
    assert!(list.contains("free in 29m 5"), "{list}");
}

#[test]
fn workers_are_listed_and_removed() {
    let server = ready("");
    let nothing = server.run(&["workers", "list"]).code(0);
    assert!(nothing.err.starts_with("no workers yet. "), "{nothing:?}");
    assert!(nothing.err.contains("refire tasks list --status pending"));
    start(&server);
    fetch(&server, "n8n-1");
    let list = server.run(&["workers", "list"]).code(0).out;
    let rows: Vec<&str> = list.lines().collect();
    let head = "WORKER  STATUS  HAS  DONE  FAILED  SEEN      ASKS FOR";
    assert_eq!(rows[0], head, "{list}");
    assert!(
        rows[1].starts_with("n8n-1   ACTIVE    1     0       0  "),
        "{list}"
    );
    assert!(rows[1].ends_with("  jira/*"), "{list}");
    let none = server.run(&["workers", "list", "--status", "dead"]).code(0);
    assert!(none.err.starts_with("no matching workers."), "{none:?}");
    let asked = server.run(&["workers", "remove", "n8n-1"]).code(1);
    assert!(asked.err.contains("--yes"), "{asked:?}");
    let gone = server.run(&["workers", "remove", "n8n-1", "--yes"]).code(0);
    assert_eq!(gone.out, "n8n-1 is removed; others can fetch 1 task\n");
    let again = server.run(&["workers", "remove", "n8n-1", "--yes"]).code(1);
    assert!(
        again.err.contains("there is no worker `n8n-1`"),
        "{again:?}"
    );
    let page = server.json(&["workers", "list"]);
    assert_eq!(page, json!({"items": [], "nextCursor": null}));
}
