//! What was accepted near the end of the load: on a workflow of one's own it is waited for, and
//! what did not end by then is told.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use serde_json::Value;

use super::{bench, ended, interrupt, spawn};
use crate::server::Server;

/// Longer than any test.
const NEVER: Duration = Duration::from_secs(3_600);

/// Answers its calls after a time that depends on which call it is.
struct Slow {
    url: String,
    calls: Arc<AtomicUsize>,
}

impl Slow {
    fn start(after: fn(usize) -> Duration) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let calls = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&calls);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                let number = counter.fetch_add(1, Ordering::SeqCst);
                std::thread::spawn(move || answer(stream.unwrap(), after(number)));
            }
        });
        Self { url, calls }
    }

    /// Waits for so many calls.
    fn called(&self, times: usize) {
        let begun = Instant::now();
        while self.calls.load(Ordering::SeqCst) < times {
            assert!(begun.elapsed() < Duration::from_secs(30), "no call came");
            std::thread::sleep(Duration::from_millis(10));
        }
    }

    /// Saves a workflow `slow` that calls it.
    fn save(&self, server: &Server) {
        let definition = format!(
            "id: slow\nsteps:\n  - id: call\n    type: http\n    config:\n      \
             url: \"{}/\"\n      timeout: 10m\n",
            self.url
        );
        server.place.write("slow.yaml", &definition);
        let apply = ["workflow", "apply", "-f", "slow.yaml"];
        server.run(&apply).code(0);
    }
}

fn answer(stream: TcpStream, after: Duration) {
    let (mut reader, mut line, mut length) = (BufReader::new(stream), String::new(), 0);
    while reader.read_line(&mut line).unwrap_or(0) > 2 {
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
        line.clear();
    }
    let _ = reader.read_exact(&mut vec![0; length]);
    std::thread::sleep(after);
    let answer = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
    let _ = reader.into_inner().write_all(answer.as_bytes());
}

#[test]
fn the_last_ones_are_waited_for_and_nobody_elses() {
    let target = Slow::start(|number| match number {
        0 => NEVER,
        _ => Duration::from_millis(1_500),
    });
    let server = Server::start();
    target.save(&server);
    // Somebody else's, which never ends.
    server.run(&["execute", "slow"]).code(0);
    target.called(1);
    let begun = Instant::now();
    let args = ["--workflow", "slow", "-n", "10", "-c", "2", "--yes"];
    let (report, code) = bench(&server, &args);
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["executions"]["completed"], 10, "{report:#}");
    assert_eq!(report["verified"]["open"], 0, "{report:#}");
    let p50 = report["latency_ms"]["execution"]["p50"].as_f64().unwrap();
    assert!(p50 >= 1_500.0, "{report:#}");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(25), "{took:?}: waited for all");
}

#[test]
fn the_wait_is_bounded_and_the_times_say_of_how_many_they_are() {
    let target = Slow::start(|number| match number {
        0..2 => Duration::ZERO,
        _ => NEVER,
    });
    let server = Server::start();
    target.save(&server);
    let begun = Instant::now();
    let args = ["--workflow", "slow", "-n", "5", "-c", "1", "-y"];
    let drain = ["--drain", "3s"];
    let run = server
        .run(&[&["bench"], &args[..], &drain].concat())
        .code(0);
    let took = begun.elapsed();
    assert!(took >= Duration::from_secs(3), "{took:?}: did not wait");
    assert!(took < Duration::from_secs(20), "{took:?}: not bounded");
    assert!(run.out.contains("3 of them have not ended yet"), "{run:?}");
    let of = "execution (2 completed of 5)  ";
    assert!(run.out.contains(of), "{run:?}");
    // Of none there are no times.
    let none = ["--drain", "0s"];
    let (report, code) = bench(&server, &[&args[..], &none].concat());
    assert_eq!(code, 0, "{report:#}");
    assert_eq!(report["verified"]["open"], 5, "{report:#}");
    assert_eq!(report["latency_ms"]["execution"], Value::Null);
}

#[test]
fn an_interrupt_ends_the_wait_but_not_the_check() {
    let target = Slow::start(|_| NEVER);
    let server = Server::start();
    target.save(&server);
    let begun = Instant::now();
    let args = ["--workflow", "slow", "-n", "3", "-c", "1", "-y"];
    let drain = ["--drain", "1m"];
    let process = spawn(&server.place, &server.url, &[&args[..], &drain].concat());
    target.called(3);
    // By now the last request has its answer, and the wait has begun.
    std::thread::sleep(Duration::from_secs(2));
    interrupt(&process);
    let report = ended(process).code(0).json();
    assert_eq!(report["ended_early"], Value::Null, "{report:#}");
    assert_eq!(report["verified"]["found"], 3, "{report:#}");
    assert_eq!(report["verified"]["open"], 3, "{report:#}");
    let took = begun.elapsed();
    assert!(took < Duration::from_secs(50), "{took:?}: still waited");
}

#[test]
fn the_wait_is_told_in_the_help_and_only_for_a_workflow_of_ones_own() {
    let server = Server::start();
    let help = server.run(&["bench", "--help"]).code(0).out;
    assert!(help.contains("[default: 30s]"), "{help}");
    let run = server.run(&["bench", "--drain", "5s"]).code(2);
    assert!(run.err.contains("--workflow"), "{run:?}");
}
