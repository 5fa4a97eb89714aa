//! `refire bench` against a real server, and against one that forgets.

mod tail;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::proxy::Proxy;
use crate::refire::{Place, Run, own_settings};
use crate::server::{Server, Target};

const REQUESTS: u64 = 200;

fn bench(server: &Server, args: &[&str]) -> (Value, i32) {
    let run = server.run(&[&["bench", "--format", "json"], args].concat());
    (run.json(), run.code)
}

/// No throw-away workflow is left.
#[track_caller]
fn is_clean(server: &Server) {
    let left = server.json(&["workflow", "list"]);
    assert_eq!(left["items"], json!([]), "{left}");
}

#[test]
fn what_was_accepted_is_counted_found_and_cleaned_up() {
    let server = Server::start();
    let (report, code) = bench(&server, &["--requests", "200", "--connections", "8"]);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["workflow"]["mode"], "http_step");
    assert_eq!(report["server"]["store"], "sqlite");
    assert_eq!(report["server"]["version"], env!("CARGO_PKG_VERSION"));
    let requests = json!({"sent": 200, "accepted": 200, "rejected": 0, "unanswered": 0,
                          "not_connected": 0, "not_sent": 0});
    assert_eq!(report["requests"], requests);
    assert_eq!(report["executions"]["accepted"], REQUESTS);
    assert_eq!(report["executions"]["completed"], REQUESTS);
    assert_eq!(report["verified"]["accepted"], REQUESTS);
    assert_eq!(report["verified"]["found"], REQUESTS);
    for kind in ["request", "execution"] {
        let times = &report["latency_ms"][kind];
        let at = |name: &str| times[name].as_f64().unwrap();
        assert!(at("p50") > 0.0 && at("p50") <= at("p95"), "{times}");
        assert!(at("p95") <= at("p99") && at("p99") <= at("max"), "{times}");
    }
    is_clean(&server);
    // What it says it left is what is there, and nothing of it is open or a dead letter.
    let all = server.json(&["executions", "list", "--all"]);
    let all = all["items"].as_array().unwrap();
    assert_eq!(report["left"]["executions"], all.len());
    assert!(all.iter().all(|one| one["status"] == "completed"));
}

#[test]
fn the_summary_is_for_people() {
    let server = Server::start();
    let run = server.run(&["bench", "-n", "200", "-c", "8"]).code(0);
    for part in [
        "refire 0.1.0 (sqlite) at http://127.0.0.1:",
        "200 requests on 8 connections, 500-byte inputs\n",
        "one http step, answered by this tool\n",
        "accepted      200",
        "completed     200",
        "rejected        0",
        "P50",
        "P99",
        "✓ 200 accepted, 200 found on the server\n",
    ] {
        assert!(run.out.contains(part), "{part} in {}", run.out);
    }
    assert!(!run.out.contains('\u{1b}'), "colours only on a terminal");
    let left = "201 executions, one of them a first try, stay in the server's history";
    assert!(run.err.contains(left), "{run:?}");
}

/// The rate is the plan's, not the server's.
#[test]
fn an_open_loop_sends_at_its_rate() {
    let server = Server::start();
    let begun = Instant::now();
    let args = ["--rate", "100", "--duration", "2s", "--warmup", "0s"];
    let (report, code) = bench(&server, &args);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["requests"]["sent"], 200);
    assert!(begun.elapsed() >= Duration::from_millis(1_990));
    assert!(report["duration_ms"].as_u64().unwrap() >= 1_990);
    assert_eq!(report["load"]["rate"], 100);
}

#[test]
fn a_warmup_is_verified_but_not_measured() {
    let server = Server::start();
    let args = ["-n", "50", "-c", "2", "--warmup", "300ms"];
    let (report, code) = bench(&server, &args);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["executions"]["accepted"], 50);
    let verified = report["verified"]["accepted"].as_u64().unwrap();
    assert!(verified > 50, "{report:#}");
    assert_eq!(report["verified"]["found"], verified);
}

#[test]
fn only_admission() {
    let server = Server::start();
    let args = ["--admit-only", "-n", "20", "--batch", "10", "-k", "-c", "4"];
    let (report, code) = bench(&server, &args);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["workflow"]["mode"], "admit_only");
    assert_eq!(report["workflow"]["fallback"], Value::Null);
    assert_eq!(report["requests"]["accepted"], 20);
    assert_eq!(report["executions"]["accepted"], 200);
    assert_eq!(report["executions"]["completed"], Value::Null);
    assert_eq!(report["verified"]["found"], 200);
    let all = server.json(&["executions", "list", "--all"]);
    let all = all["items"].as_array().unwrap();
    let key = all[0]["idempotency_key"].as_str().unwrap();
    assert!(key.starts_with("bench-"), "{key}");
    is_clean(&server);
}

#[test]
fn a_server_that_may_not_call_this_machine_is_measured_without() {
    let serve = ["serve", "--listen", "127.0.0.1:0"];
    let server = Server::start_with(Place::new(), &serve);
    let run = server
        .run(&["bench", "--format", "json", "-n", "20"])
        .code(0);
    assert_eq!(run.json()["workflow"]["mode"], "admit_only");
    assert!(run.err.contains("only admission is measured"), "{run:?}");
    assert!(run.err.contains("--allow-private-targets"), "{run:?}");
    let run = server.run(&["bench", "-n", "20", "--wait"]).code(1);
    assert!(
        run.err.contains("--wait needs executions that run"),
        "{run:?}"
    );
    assert!(run.out.is_empty(), "{run:?}");
    let letters = server.json(&["dlq", "list"]);
    assert_eq!(letters["items"], json!([]), "the try left no dead letter");
    is_clean(&server);
}

#[test]
fn a_workflow_of_ones_own_is_asked_for_and_kept() {
    let (server, target) = (Server::start(), Target::start());
    target.heal();
    server.place.write("w.yaml", &target.definition(1));
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    // Somebody else's, which the check must not take for one of its own.
    server.run(&["execute", "hello"]).code(0);
    let args = ["--workflow", "hello", "-n", "20", "-c", "2", "--wait"];
    let run = server.run(&[&["bench"][..], &args].concat()).code(1);
    assert!(run.err.contains("add --yes"), "{run:?}");
    let input = ["--input", "{\"a\": 1}", "--yes"];
    let (report, code) = bench(&server, &[&args[..], &input].concat());
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["workflow"]["id"], "hello");
    assert_eq!(report["verified"]["found"], 20);
    assert_eq!(report["executions"]["completed"], 20);
    let list = server.json(&["executions", "list", "--all"]);
    assert_eq!(list["items"].as_array().unwrap().len(), 21);
    let id = list["items"][0]["execution_id"].as_str().unwrap();
    let one = server.json(&["executions", "show", id]);
    assert_eq!(one["input"], json!({"a": 1}));
    let left = server.json(&["workflow", "list"]);
    assert_eq!(left["items"][0]["workflow_id"], "hello");
}

#[test]
fn executions_that_fail_are_told() {
    let (server, target) = (Server::start(), Target::start());
    server.place.write(
        "w.yaml",
        &target
            .definition(1)
            .replace("maxRetries: 1", "enabled: false"),
    );
    server.run(&["workflow", "apply", "-f", "w.yaml"]).code(0);
    let args = [
        "bench",
        "--workflow",
        "hello",
        "-n",
        "5",
        "-c",
        "1",
        "--wait",
        "-y",
    ];
    let run = server.run(&args).code(3);
    assert!(run.out.contains("✓ 5 accepted, 5 found"), "{run:?}");
    assert!(run.out.contains("5 of them failed"), "{run:?}");
    let letters = "5 of them became dead letters: refire dlq list --workflow hello\n";
    assert!(run.out.contains(letters), "{run:?}");
    assert!(run.err.contains("those with a dead letter"), "{run:?}");
    let letters = server.json(&["dlq", "list", "--workflow", "hello"]);
    assert_eq!(letters["items"].as_array().unwrap().len(), 5);
}

#[test]
fn refusals_are_told_by_their_code() {
    let serve = [
        "serve",
        "--listen",
        "127.0.0.1:0",
        "--dev",
        "--max-body-bytes",
        "1024",
    ];
    let server = Server::start_with(Place::new(), &serve);
    let args = ["-n", "6", "-c", "2", "--size", "5000"];
    let (report, code) = bench(&server, &args);
    assert_eq!(code, 3, "{report:#}");
    assert_eq!(report["requests"]["rejected"], 6);
    let refusal = &report["refusals"][0];
    assert_eq!(refusal["status"], 413);
    assert_eq!(refusal["code"], "RF0021");
    assert_eq!(refusal["count"], 6);
    assert_eq!(report["verified"]["accepted"], 0);
    let run = server.run(&[&["bench"][..], &args].concat()).code(3);
    assert!(
        run.out.contains("6 × 413 RF0021 The body is too large"),
        "{run:?}"
    );
    is_clean(&server);
}

#[test]
fn another_machine_is_asked_for_first() {
    let server = Server::start();
    // Reaches this machine, but does not say so.
    let url = server.url.replace("127.0.0.1", "0.0.0.0");
    let key = std::fs::read_to_string(server.place.path().join("refire-data/admin.key")).unwrap();
    let args = ["bench", "-n", "5", "--url", &url, "--api-key", key.trim()];
    let run = server.place.run(&args).code(1);
    assert!(
        run.err.contains("is not on this machine") && run.err.contains("--yes"),
        "{run:?}"
    );
    assert_eq!(server.json(&["executions", "list"])["items"], json!([]));
    let run = server.place.run(&[&args[..], &["--yes"]].concat()).code(0);
    assert!(run.out.contains("✓ 5 accepted, 5 found"), "{run:?}");
    assert!(run.err.contains("only admission is measured"), "{run:?}");
    is_clean(&server);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_server_behind_tls() {
    let server = Server::start();
    let proxy = Proxy::start(&server.url).await;
    server.place.write("authority.pem", &proxy.authority);
    let args = ["bench", "-n", "50", "-c", "4", "--url", &proxy.url];
    let mut trusting = server.place.command();
    trusting.args(args).env("SSL_CERT_FILE", "authority.pem");
    let run = Run::of(&mut trusting).code(0);
    assert!(run.out.contains("✓ 50 accepted, 50 found"), "{run:?}");
    assert!(run.out.contains("one http step"), "{run:?}");
    let run = server.place.run(&args).code(1);
    assert!(run.err.contains("certificate"), "{run:?}");
}

#[test]
fn wrong_keys_servers_and_inputs_are_told_before_anything_is_sent() {
    let server = Server::start();
    let run = server.run(&["bench", "--api-key", "wrong"]).code(1);
    assert!(
        run.err.contains("--api-key") && run.err.contains("RF0006"),
        "{run:?}"
    );
    let run = server.run(&["bench", "--input", "{x"]).code(2);
    assert!(run.err.contains("not JSON"), "{run:?}");
    let run = server
        .run(&["bench", "--workflow", "nowhere", "--yes"])
        .code(1);
    assert!(
        run.err.contains("nowhere") && run.err.contains("RF0008"),
        "{run:?}"
    );
    let run = server
        .run(&["bench", "--url", "http://127.0.0.1:1"])
        .code(1);
    assert!(
        run.err.contains("cannot reach http://127.0.0.1:1"),
        "{run:?}"
    );
    for (args, flag) in [
        (["--connections", "0"], "--connections"),
        (["--duration", "soon"], "--duration"),
        (["--duration", "1ms"], "--duration"),
        (["--requests", "-5"], "--requests"),
        (["--rate", "0"], "--rate"),
        (["--size", "1"], "--size"),
        (["--batch", "1001"], "--batch"),
        (["--warmup", "-1s"], "--warmup"),
    ] {
        let run = server.run(&[&["bench"][..], &args].concat()).code(2);
        assert!(run.err.contains(flag), "{flag}: {run:?}");
        assert!(run.out.is_empty(), "{run:?}");
    }
    let many = ["bench", "--requests", "200000", "--batch", "1000"];
    let run = server.run(&many).code(2);
    let told =
        "--requests times --batch is 200,000,000 executions; one run can make at most 10,000,000";
    assert!(run.err.contains(told), "{run:?}");
    is_clean(&server);
}

/// A run that the test does not wait for.
fn spawn(place: &Place, url: &str, args: &[&str]) -> Child {
    let mut command = Command::new(assert_cmd::cargo::cargo_bin!("refire"));
    for name in own_settings() {
        command.env_remove(name);
    }
    command
        .args(["bench", "--format", "json"])
        .args(args)
        .env("REFIRE_URL", url)
        .current_dir(place.path())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn interrupt(process: &Child) {
    let kill = format!("kill -s INT {}", process.id());
    let status = Command::new("sh").args(["-c", &kill]).status();
    assert!(status.unwrap().success());
}

fn ended(process: Child) -> Run {
    let output = process.wait_with_output().unwrap();
    Run {
        code: output.status.code().unwrap_or(-1),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

#[test]
fn an_interrupt_gives_the_results_so_far() {
    let server = Server::start();
    let args = ["--duration", "10m", "--warmup", "0s", "-c", "4"];
    let process = spawn(&server.place, &server.url, &args);
    let running = Instant::now();
    while server.json(&["executions", "list", "--limit", "20"])["next_cursor"].is_null() {
        assert!(running.elapsed() < Duration::from_secs(60), "no load came");
    }
    interrupt(&process);
    let run = ended(process).code(0);
    let report = run.json();
    assert_eq!(report["ended_early"], "interrupted");
    let accepted = report["executions"]["accepted"].as_u64().unwrap();
    assert!(accepted >= 20, "{report:#}");
    assert_eq!(report["verified"]["found"], accepted);
    assert_eq!(report["verified"]["open"], 0);
    is_clean(&server);
}

#[test]
fn a_server_that_dies_is_told_as_such() {
    let mut server = Server::start();
    let args = ["--duration", "10m", "--warmup", "0s", "-c", "4"];
    let process = spawn(&server.place, &server.url, &args);
    let running = Instant::now();
    while server.json(&["executions", "list", "--limit", "20"])["next_cursor"].is_null() {
        assert!(running.elapsed() < Duration::from_secs(60), "no load came");
    }
    server.stop();
    // Something else at its address hangs up on whoever comes: they do come again.
    let address = server.url.trim_start_matches("http://");
    let listener = TcpListener::bind(address).unwrap();
    (0..5).for_each(|_| drop(listener.accept().unwrap()));
    drop(listener);
    interrupt(&process);
    let run = ended(process).code(3);
    let report = run.json();
    let requests = &report["requests"];
    assert!(requests["unanswered"].as_u64().unwrap() > 0, "{report:#}");
    assert_ne!(report["troubles"], json!([]), "{report:#}");
    assert_eq!(report["verified"], Value::Null);
    let kept = report["left"]["workflow"].as_str().unwrap();
    assert!(kept.starts_with("refire_bench_"), "{kept}");
    assert!(run.err.contains("could not verify"), "{run:?}");
}

/// Accepts everything, has nothing.
struct Forgetful {
    url: String,
    stopped: Arc<AtomicBool>,
}

impl Forgetful {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let (stopped, number) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicU32::new(0)),
        );
        let stop = Arc::clone(&stopped);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                if stop.load(Ordering::SeqCst) {
                    return;
                }
                let number = Arc::clone(&number);
                std::thread::spawn(move || while_open(&stream.unwrap(), &number));
            }
        });
        Self { url, stopped }
    }
}

impl Drop for Forgetful {
    fn drop(&mut self) {
        self.stopped.store(true, Ordering::SeqCst);
        let _ = TcpStream::connect(self.url.trim_start_matches("http://"));
    }
}

fn while_open(stream: &TcpStream, number: &AtomicU32) {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut first, mut line, mut length) = (String::new(), String::new(), 0);
        if reader.read_line(&mut first).unwrap_or(0) == 0 {
            return;
        }
        while reader.read_line(&mut line).unwrap_or(0) > 2 {
            if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap();
            }
            line.clear();
        }
        reader.read_exact(&mut vec![0; length]).unwrap();
        let (status, body) = forgetful(&first, number);
        let body = body.to_string();
        let answer = format!(
            "HTTP/1.1 {status}\r\nContent-Type: application/json\r\nContent-Length: {}\r\n\r\n{body}",
            body.len()
        );
        if (&mut &*stream).write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn forgetful(request: &str, number: &AtomicU32) -> (&'static str, Value) {
    if request.starts_with("GET /version") {
        let version = json!({"version": "9", "node_id": "node_x", "store": "air"});
        return ("200 OK", version);
    }
    if request.starts_with("PUT ") {
        let saved = json!({"workflow_id": "w", "version": 1, "created": true});
        return ("200 OK", saved);
    }
    if request.starts_with("POST ") {
        let number = number.fetch_add(1, Ordering::SeqCst);
        let id = format!("exec_01j9x8w7v6t5s4r3q2p1{number:06}");
        return (
            "202 Accepted",
            json!({"execution_id": id, "status": "pending"}),
        );
    }
    ("200 OK", json!({"items": [], "next_cursor": null}))
}

/// The check is worth something only if it can fail.
#[test]
fn a_server_that_forgets_is_found_out() {
    let server = Forgetful::start();
    let place = Place::new();
    let args = [
        "bench",
        "--admit-only",
        "-n",
        "30",
        "-c",
        "3",
        "--url",
        &server.url,
    ];
    let run = place.run(&args).code(3);
    let expected = "✗ 30 accepted, 0 found on the server: 30 MISSING";
    assert!(run.out.contains(expected), "{run:?}");
    let run = place
        .run(&[&args[..], &["--format", "json"]].concat())
        .code(3);
    assert_eq!(run.json()["verified"]["missing"], 30);
}
