//! Steps that call targets which misbehave: they end as documented and in time, each call is one
//! attempt of the log, and neither memory, files nor a healthy target pay for it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::hostile::Hostile;
use crate::hostile::secure::Authority;
use crate::load::{Load, must_be_unharmed};
use crate::node::Node;
use crate::stub::{Calls, End, Stub};
use crate::{alone, broken, is_long, secure, slow};

/// What memory may grow by, whatever targets send, beside targets that send as much in good order.
const GROWTH_BYTES_MAX: u64 = 50 * 1024 * 1024;
/// What is kept of the answer of a failed attempt.
const EXCERPT_BYTES_MAX: usize = 64 * 1024;
/// What else is kept of a failed attempt.
const ERROR_BYTES_MAX: usize = 8 * 1024;
/// An attempt ends at its deadline; this is the machine's own time.
const SLACK: Duration = Duration::from_secs(5);
/// Calls that misbehave at once, all targets together: half of what the server has slots for.
const AT_ONCE_MAX: usize = 128;
/// Between two executions that call the healthy target.
const HEALTHY_EVERY: Duration = Duration::from_millis(100);
/// The executions of one target are over by then.
const PATIENCE: Duration = Duration::from_secs(300);
/// Lines that the server may log meanwhile: its own start.
const LOG_LINES_MAX: usize = 5;
/// And of dead letters: twenty a minute, and that there are more.
const LETTER_LINES_MAX: usize = 63;
/// Files that come and go by themselves.
const FILES_LOOSE: usize = 8;

/// Classes that the default policy tries again.
const RETRIED: [&str; 3] = ["read_timeout", "connect_timeout", "connection_reset"];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn targets_that_misbehave_hurt_only_themselves() {
    let _alone = alone().await;
    let (runs, calm) = match is_long() {
        true => (200, Duration::from_secs(20)),
        false => (20, Duration::from_secs(3)),
    };
    let authority = Authority::new();
    let roots = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(roots.path(), &authority.pem).unwrap();
    let node = Arc::new(Node::start_as(|mut command| {
        command.env("SSL_CERT_FILE", roots.path());
        command
    }));
    let unharmed = Arc::new(Node::start());
    let healthy = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for node in [&node, &unharmed] {
        node.apply("healthy", &healthy.url(), "timeout: 20s").await;
    }
    node.forget_peak();
    warm_up(&node, runs).await;
    let memory_before = node.peak();
    let baseline = healthy_load(&node).run_for(calm).await;
    println!(
        "targets: healthy alone {baseline}; peak_mb={:.1} now_mb={:.1}",
        megabytes(memory_before),
        megabytes(node.resident())
    );
    let files_before = node.files();

    let mut stubs = slow::stubs().await;
    stubs.extend(broken::stubs().await);
    stubs.extend(secure::stubs(&authority).await);
    let mut growth_most = 0;
    for group in in_groups(stubs, (AT_ONCE_MAX / runs).max(1)) {
        node.forget_peak();
        let loads = (healthy_load(&node), healthy_load(&unharmed));
        let names: Vec<&str> = group.iter().map(|stub| stub.name).collect();
        let began = Instant::now();
        futures_util::future::join_all(group.iter().map(|stub| run(&node, stub, runs))).await;
        let took = began.elapsed();
        let (beside, unharmed) = tokio::join!(loads.0.stop(), loads.1.stop());
        let growth = node.peak().saturating_sub(memory_before);
        println!(
            "targets: {names:?} runs={runs} took_s={:.1} peak_mb={:.1}\n  healthy {beside}\n  \
             elsewhere {unharmed}",
            took.as_secs_f64(),
            megabytes(node.peak())
        );
        must_be_unharmed(&beside, &unharmed);
        growth_most = growth_most.max(growth);
    }
    let growth_mb = megabytes(growth_most);
    println!(
        "targets: growth_mb={growth_mb:.1} now_mb={:.1}",
        megabytes(node.resident())
    );
    assert!(
        growth_most <= GROWTH_BYTES_MAX,
        "memory grew by {growth_mb:.1} MB"
    );
    // What happened inside an execution is in its own log; dead letters are named, but do not fill it.
    let log = node.log();
    let (letters, own): (Vec<&str>, Vec<&str>) =
        log.lines().partition(|line| line.contains("dead letter"));
    assert!(own.len() <= LOG_LINES_MAX, "{log}");
    assert!(letters.len() <= LETTER_LINES_MAX, "{log}");
    // The targets are gone and their connections with them.
    drop(healthy);
    node.files_fall_to(files_before + FILES_LOOSE).await;
    Arc::into_inner(node).unwrap().stop().await;
}

/// Targets that answer much, but in good order: what memory needs for this is not the fault of those
/// that misbehave, and the store's caches are full afterwards. As many at once as will misbehave.
async fn warm_up(node: &Node, runs: usize) {
    const RUNS_MIN: usize = 20;
    const ROUNDS: usize = 2;
    // The longest text that is kept whole, and the longest that is kept of a failed answer.
    const LONG_BYTES: usize = 1_000_000;
    let text = "x".repeat(LONG_BYTES);
    let long = format!("HTTP/1.1 200 OK\r\nContent-Length: {LONG_BYTES}\r\n\r\n{text}");
    let refusal = format!("HTTP/1.1 403 Forbidden\r\nContent-Length: {LONG_BYTES}\r\n\r\n{text}");
    let refused = Stub::answering("polite-refusal", End::Failed("http_status"), refusal).await;
    let answered = Stub::answering("polite-answer", End::Completed("xxx"), long).await;
    let all = [&refused, &answered].repeat(ROUNDS);
    let each = (runs / all.len()).max(RUNS_MIN);
    futures_util::future::join_all(all.into_iter().map(|stub| run(node, stub, each))).await;
}

fn megabytes(bytes: u64) -> f64 {
    bytes as f64 / (1024.0 * 1024.0)
}

fn in_groups(mut stubs: Vec<Stub>, size: usize) -> Vec<Vec<Stub>> {
    let mut groups = Vec::new();
    while !stubs.is_empty() {
        let rest = stubs.split_off(size.min(stubs.len()));
        groups.push(std::mem::replace(&mut stubs, rest));
    }
    groups
}

/// Executions that call the healthy target, from the request to the end of its step.
fn healthy_load(node: &Arc<Node>) -> Load {
    let node = Arc::clone(node);
    Load::start(HEALTHY_EVERY, move || {
        let node = Arc::clone(&node);
        async move {
            let path = "/api/workflows/healthy/execute?wait=30s";
            let ended = node.post(path, "{}".to_owned()).await;
            assert_eq!(ended["status"], "completed", "{ended:#}");
        }
    })
}

/// Executions of one target, and everything that must hold for each.
async fn run(node: &Node, stub: &Stub, runs: usize) {
    let timeout_ms = stub.timeout.as_millis();
    let bytes_max = stub.answer_bytes_max;
    let config = format!("timeout: {timeout_ms}ms\n      maxResponseBytes: {bytes_max}");
    node.apply(stub.name, &stub.url, &config).await;
    let mut executions = Vec::new();
    while executions.len() < runs {
        let together = stub.together.unwrap_or(runs).min(runs - executions.len());
        executions.extend(start(node, stub.name, together).await);
        ended(node, stub.name).await;
    }
    let (mut attempts, mut failed, mut asked) = (0, 0, 0);
    for execution in &executions {
        let found = check(node, stub, execution).await;
        let seen = stub.seen.times(execution);
        match &stub.calls {
            Calls::Each => assert_eq!(seen, found.attempts, "{}: {execution}", stub.name),
            Calls::AtMost => assert!(seen <= found.attempts, "{}: {seen}", stub.name),
            _ => {}
        }
        attempts += found.attempts;
        failed += found.failed;
        asked += seen;
    }
    match &stub.calls {
        Calls::AtMost => assert!(asked > attempts / 2, "{}: {asked}", stub.name),
        Calls::Exactly(count) => assert_eq!(count(), attempts, "{}", stub.name),
        Calls::Total(count) => assert!((1..=attempts).contains(&count()), "{}", stub.name),
        _ => {}
    }
    if let (End::Either(_), Calls::Each) = (stub.end, &stub.calls) {
        assert!(failed > 0, "{}: it never came to it", stub.name);
    }
}

/// Starts so many executions in one request.
async fn start(node: &Node, workflow: &str, count: usize) -> Vec<String> {
    let items = vec![json!({"input": {}}); count];
    let path = format!("/api/workflows/{workflow}/execute-batch");
    let accepted = node.post(&path, Value::from(items).to_string()).await;
    let items = accepted["items"].as_array().unwrap();
    let ids = items
        .iter()
        .map(|item| item["accepted"]["execution_id"].as_str());
    ids.map(|id| id.unwrap().to_owned()).collect()
}

/// Waits until no execution of the workflow is open.
async fn ended(node: &Node, workflow: &str) {
    let open =
        format!("/api/executions?workflow={workflow}&status=pending,running,retrying&limit=1");
    let until = Instant::now() + PATIENCE;
    loop {
        let page = node.get(&open).await;
        if page["items"].as_array().unwrap().is_empty() {
            return;
        }
        assert!(Instant::now() < until, "{workflow}: still open: {page:#}");
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

/// What the log of an execution says.
#[derive(Default)]
struct Found {
    attempts: usize,
    failed: usize,
}

async fn check(node: &Node, stub: &Stub, execution: &str) -> Found {
    let events = node
        .get(&format!("/api/executions/{execution}/events?limit=1000"))
        .await;
    let name = stub.name;
    let mut found = Found::default();
    let mut completed = false;
    for event in events["items"].as_array().unwrap() {
        let payload = &event["payload"];
        match event["event_type"].as_str().unwrap() {
            "STEP_STARTED" => found.attempts += 1,
            "STEP_FAILED" => {
                found.failed += 1;
                check_failure(stub, payload);
            }
            "STEP_COMPLETED" => {
                completed = true;
                check_output(stub, payload);
            }
            "STEP_LOST" => panic!("{name}: {event:#}"),
            _ => {}
        }
        if let Some(taken) = payload["duration_ms"].as_u64() {
            let limit = stub.timeout + SLACK;
            assert!(
                Duration::from_millis(taken) <= limit,
                "{name}: took {taken} ms"
            );
        }
    }
    match stub.end {
        End::Completed(_) => assert!(completed && found.attempts == 1, "{name}: {events:#}"),
        End::Failed(class) => {
            let attempts = 1 + usize::from(RETRIED.contains(&class));
            assert!(
                !completed && found.attempts == attempts,
                "{name}: {events:#}"
            );
        }
        End::Either(_) => assert!((1..=2).contains(&found.attempts), "{name}: {events:#}"),
    }
    found
}

fn check_failure(stub: &Stub, payload: &Value) {
    let error = &payload["error"];
    let (End::Failed(class) | End::Either(class)) = stub.end else {
        panic!("{}: {error:#}", stub.name);
    };
    assert_eq!(error["type"], class, "{}: {error:#}", stub.name);
    let kept = error["response"].as_str().unwrap_or_default();
    assert!(kept.len() <= EXCERPT_BYTES_MAX, "{}", stub.name);
    assert!(
        error.to_string().len() <= EXCERPT_BYTES_MAX + ERROR_BYTES_MAX,
        "{}: it is long in the log",
        stub.name
    );
}

fn check_output(stub: &Stub, payload: &Value) {
    let output = &payload["output"];
    let body = output["body"].as_str().unwrap_or_default();
    assert!(body.len() <= stub.answer_bytes_max, "{}", stub.name);
    if let End::Completed(part) = stub.end {
        let odd = output["headers"]["x-odd"].as_str().unwrap_or_default();
        assert!(
            body.contains(part) || odd.contains(part),
            "{}: {payload:#}",
            stub.name
        );
    }
}
