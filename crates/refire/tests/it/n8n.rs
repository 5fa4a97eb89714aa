//! The flows for n8n: well-formed, made of calls that the API has, and walked call by call against a real server.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};

/// The address in the flows.
const BASE: &str = "https://refire.example.com";

fn path(name: &str) -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.join("examples/n8n").join(name)
}

fn read(name: &str) -> String {
    std::fs::read_to_string(path(name)).unwrap()
}

fn flow(name: &str) -> Value {
    serde_json::from_str(&read(name)).unwrap()
}

fn node<'a>(flow: &'a Value, name: &str) -> &'a Value {
    let nodes = flow["nodes"].as_array().unwrap();
    nodes.iter().find(|node| node["name"] == name).unwrap()
}

/// The pairs of a list of parameters.
fn pairs(list: &Value) -> Vec<(&str, &str)> {
    let all = list["parameters"].as_array().map_or(&[][..], Vec::as_slice);
    let mut pairs = Vec::new();
    for one in all {
        pairs.push((
            one["name"].as_str().unwrap(),
            one["value"].as_str().unwrap(),
        ));
    }
    pairs
}

#[test]
fn the_flows_are_whole() {
    for name in ["jira-worker.json", "cron-execute.json"] {
        let flow = flow(name);
        let nodes = flow["nodes"].as_array().unwrap();
        let mut names = BTreeSet::new();
        let mut ids = BTreeSet::new();
        for node in nodes {
            let name = node["name"].as_str().unwrap();
            assert!(names.insert(name) && ids.insert(node["id"].as_str().unwrap()));
            assert!(
                node["type"]
                    .as_str()
                    .unwrap()
                    .starts_with("n8n-nodes-base.")
            );
            assert!(node["typeVersion"].is_number() && node["parameters"].is_object());
            assert_eq!(node["position"].as_array().unwrap().len(), 2);
        }
        let mut reached = BTreeSet::new();
        for (from, outputs) in flow["connections"].as_object().unwrap() {
            assert!(names.contains(from.as_str()), "{from}");
            for to in outputs["main"].as_array().unwrap() {
                for to in to.as_array().unwrap() {
                    assert!(names.contains(to["node"].as_str().unwrap()), "{to}");
                    reached.insert(to["node"].as_str().unwrap());
                }
            }
        }
        // All but the trigger come behind another one.
        assert_eq!(reached.len(), names.len() - 1, "{name}");
        assert_eq!(flow["active"], false, "somebody switches it on");
        assert!(!read(name).contains("rf_"), "no key");
    }
}

/// Every call in the flows is one that the API describes, with parameters and fields that it knows.
#[test]
fn the_flows_call_what_there_is() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let api = std::fs::read_to_string(root.join("openapi.json")).unwrap();
    let api: Value = serde_json::from_str(&api).unwrap();
    let mut count = 0;
    for name in ["jira-worker.json", "cron-execute.json"] {
        let flow = flow(name);
        let nodes = flow["nodes"].as_array().unwrap().iter();
        for node in nodes.filter(|node| node["type"] == "n8n-nodes-base.httpRequest") {
            count += 1;
            let settings = &node["parameters"];
            let url = settings["url"].as_str().unwrap();
            let path = url.trim_start_matches('=').strip_prefix(BASE).unwrap();
            let path = path.replace("/api/n8n/", "/api/");
            let method = settings["method"].as_str().unwrap().to_lowercase();
            let described = described(&api, &path);
            let call = &api["paths"][described][&method];
            assert!(call.is_object(), "{method} {path}");
            let known = |place: &str| -> BTreeSet<&str> {
                let all = call["parameters"].as_array().unwrap().iter();
                let there = all.filter(|one| one["in"] == place);
                there.map(|one| one["name"].as_str().unwrap()).collect()
            };
            for (name, _) in pairs(&settings["queryParameters"]) {
                assert!(known("query").contains(name), "{path}: {name}");
            }
            for (name, _) in pairs(&settings["headerParameters"]) {
                let is_token = name == "X-Lock-Token" && known("query").contains("lockToken");
                let is_key = name == "Idempotency-Key" && path.ends_with("/execute");
                assert!(is_token || is_key, "{path}: {name}");
            }
            assert_eq!(settings["genericAuthType"], "httpHeaderAuth", "{path}");
        }
    }
    assert_eq!(count, 4, "calls were found");
    let failed = &api["components"]["schemas"]["FailTask"]["properties"];
    let flow = flow("jira-worker.json");
    let body = node(&flow, "Fail Task")["parameters"]["jsonBody"]
        .as_str()
        .unwrap();
    let item = json!({ "error": "x" });
    let body: Value = serde_json::from_str(&filled(body, &item, &BTreeMap::new())).unwrap();
    for field in body.as_object().unwrap().keys() {
        assert!(failed[field].is_object(), "{field}");
    }
}

/// The path of the description that a path with values belongs to.
fn described<'a>(api: &'a Value, path: &str) -> &'a str {
    // What is filled in is one segment.
    let mut plain = path.to_owned();
    while let (Some(from), Some(to)) = (plain.find("{{"), plain.find("}}")) {
        plain.replace_range(from..to + 2, "x");
    }
    let fits = |known: &str| {
        let (known, plain) = (known.split('/'), plain.split('/'));
        known.clone().count() == plain.clone().count()
            && known
                .zip(plain)
                .all(|(one, other)| one == other || one.starts_with('{'))
    };
    let paths = api["paths"].as_object().unwrap().keys();
    let mut fitting: Vec<&String> = paths.filter(|known| fits(known)).collect();
    fitting.sort_by_key(|known| known.contains('{'));
    fitting.first().unwrap_or_else(|| panic!("no call {path}"))
}

/// An expression of n8n with the values of an item and of earlier nodes; plain text stays as it is.
fn filled(text: &str, item: &Value, nodes: &BTreeMap<&str, Value>) -> String {
    let Some(text) = text.strip_prefix('=') else {
        return text.to_owned();
    };
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once("{{") {
        let (inside, after) = behind.split_once("}}").unwrap();
        out.push_str(before);
        let value = evaluated(inside.trim(), item, nodes);
        // A text stands without its quotes.
        match serde_json::from_str::<Value>(&value) {
            Ok(Value::String(text)) => out.push_str(&text),
            _ => out.push_str(&value),
        }
        rest = after;
    }
    out + rest
}

/// What is in the braces, with JSON in place of every `$json.a.b` and `$('Node').item.json.a`, and of the first one of
/// `a ?? b` that is there.
fn evaluated(text: &str, item: &Value, nodes: &BTreeMap<&str, Value>) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('$') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let mut chosen = Value::Null;
        loop {
            let (value, behind) = operand(rest, item, nodes);
            if chosen.is_null() {
                chosen = value;
            }
            match behind.trim_start().strip_prefix("??") {
                Some(next) => rest = next.trim_start(),
                None => {
                    rest = behind;
                    break;
                }
            }
        }
        out.push_str(&chosen.to_string());
    }
    out + rest
}

/// A value and what stands behind it.
fn operand<'a>(text: &'a str, item: &Value, nodes: &BTreeMap<&str, Value>) -> (Value, &'a str) {
    if let Some(text) = text.strip_prefix('"') {
        let (literal, rest) = text.split_once('"').unwrap();
        return (json!(literal), rest);
    }
    let (mut value, mut rest) = if let Some(rest) = text.strip_prefix("$json") {
        (item.clone(), rest)
    } else {
        let text = text.strip_prefix("$('").unwrap();
        let (name, rest) = text.split_once("').item.json").unwrap();
        (nodes[name].clone(), rest)
    };
    while let Some(field) = rest.strip_prefix("?.").or_else(|| rest.strip_prefix('.')) {
        let end = field.find(|c: char| !c.is_alphanumeric() && c != '_');
        let (name, behind) = field.split_at(end.unwrap_or(field.len()));
        value = value[name].clone();
        rest = behind;
    }
    (value, rest)
}

/// Makes the call of a node, as n8n would.
async fn call(
    server: &Server,
    node: &Value,
    item: &Value,
    nodes: &BTreeMap<&str, Value>,
) -> crate::server::Answer {
    let settings = &node["parameters"];
    let url = filled(settings["url"].as_str().unwrap(), item, nodes);
    let url = url.replacen(BASE, &server.url, 1);
    let method: Method = settings["method"].as_str().unwrap().parse().unwrap();
    let query = pairs(&settings["queryParameters"]);
    let query = query
        .iter()
        .map(|(name, value)| (*name, filled(value, item, nodes)));
    let url = url::Url::parse_with_params(&url, query).unwrap();
    let mut request = server.http.request(method, url).bearer_auth(&server.key);
    for (name, value) in pairs(&settings["headerParameters"]) {
        request = request.header(name, filled(value, item, nodes));
    }
    if let Some(body) = settings["jsonBody"].as_str() {
        let body = filled(body, item, nodes);
        assert!(serde_json::from_str::<Value>(&body).is_ok(), "{body}");
        request = request
            .header("Content-Type", "application/json")
            .body(body);
    }
    send(request).await
}

#[tokio::test]
async fn the_worker_creates_tickets_and_tells_of_failures() {
    let server = Server::start().await;
    server.apply("tickets", &read("tickets.yaml")).await;
    let flow = flow("jira-worker.json");
    let input = r#"{"projectKey":"OPS","ticketTitle":"Disk full","description":"On db-1"}"#;
    let done = server.execute("tickets", input).await;
    let failing = server.execute("tickets", input).await;
    let poll = call(
        &server,
        node(&flow, "Poll Tasks"),
        &json!({}),
        &BTreeMap::new(),
    )
    .await;
    let tasks = poll.expect(200);
    let tasks = tasks.as_array().unwrap();
    assert_eq!(tasks.len(), 2);
    for task in tasks {
        let nodes = BTreeMap::from([("Poll Tasks", task.clone())]);
        let jira = &node(&flow, "Create Jira Ticket")["parameters"];
        let asked = |field: &str| filled(jira[field].as_str().unwrap(), task, &nodes);
        assert_eq!(asked("summary"), "Disk full");
        let project = jira["project"]["value"].as_str().unwrap();
        assert_eq!(filled(project, task, &nodes), "OPS");
        let (name, item) = match task["executionId"] == done.as_str() {
            true => {
                let made = json!({ "id": "10042", "key": "OPS-42", "self": "https://jira.example.com/10042" });
                ("Complete Task", made)
            }
            false => (
                "Fail Task",
                json!({ "error": { "message": "Jira is down" } }),
            ),
        };
        // The second call is the repetition after a lost answer.
        for _ in 0..2 {
            call(&server, node(&flow, name), &item, &nodes)
                .await
                .expect(200);
        }
    }
    let ended = server.reaches(&done, "completed").await;
    let expected = json!({ "ticket": "OPS-42", "url": "https://jira.example.com/10042" });
    assert_eq!(ended["output"], expected);
    let tasks = server
        .get(&format!("/api/external-tasks?executionId={failing}"))
        .await;
    let task = &tasks.json()["items"][0];
    assert_eq!(
        (&task["errorMessage"], &task["retryCount"]),
        (&json!("Jira is down"), &json!(1))
    );
}

#[tokio::test]
async fn the_clock_starts_one_execution_for_a_planned_time() {
    let server = Server::start().await;
    server
        .apply("server_health_check", &read("server_health_check.yaml"))
        .await;
    let flow = flow("cron-execute.json");
    let tick = json!({ "timestamp": "2026-11-18T10:00:00.000+08:00" });
    let execute = node(&flow, "Execute Workflow");
    let first = call(&server, execute, &tick, &BTreeMap::new())
        .await
        .expect(202);
    let again = call(&server, execute, &tick, &BTreeMap::new()).await.json();
    assert_eq!(again["execution_id"], first["execution_id"]);
    let shown = server
        .execution(first["execution_id"].as_str().unwrap())
        .await;
    assert_eq!(shown["input"]["planned"], tick["timestamp"]);
    assert_eq!(flow["settings"]["timezone"], "Asia/Taipei");
}
