//! When the system has no more files to give: the server waits, says so once, and goes on after.

use std::process::Command;
use std::time::{Duration, Instant};

use tokio::net::TcpStream;

use crate::alone;
use crate::hostile::Hostile;
use crate::node::Node;

/// Long enough to see a loop that does nothing but fail.
const WATCHED: Duration = Duration::from_secs(4);
/// What it may use of that time; a loop would use all of it.
const BUSY_MAX: Duration = Duration::from_secs(1);

/// The same program with a limit of files.
fn limited(command: &Command, files: usize) -> Command {
    let mut limited = Command::new("prlimit");
    limited
        .arg(format!("--nofile={files}:{files}"))
        .arg(command.get_program())
        .args(command.get_args())
        .current_dir(command.get_current_dir().unwrap())
        .env_clear();
    for (name, value) in command.get_envs() {
        if let Some(value) = value {
            limited.env(name, value);
        }
    }
    limited
}

async fn connect(node: &Node, count: usize) -> Vec<TcpStream> {
    let mut streams = Vec::new();
    for _ in 0..count {
        streams.push(TcpStream::connect(node.address()).await.unwrap());
    }
    streams
}

#[tokio::test]
async fn without_files_it_waits_and_goes_on_after() {
    let _alone = alone().await;
    let node = Node::start();
    let spare = 8;
    let limit = node.files() + spare;
    let lowered = Command::new("prlimit")
        .arg(format!("--pid={}", node.pid()))
        .arg(format!("--nofile={limit}:"))
        .status();
    assert!(lowered.unwrap().success());

    let streams = connect(&node, spare + 20).await;
    let until = Instant::now() + WATCHED * 5;
    while !node.log().contains("connections cannot be accepted") {
        assert!(Instant::now() < until, "the limit was never reached");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    let before = node.busy();
    tokio::time::sleep(WATCHED).await;
    let used = node.busy() - before;
    println!("files: busy_s={:.2} of {WATCHED:?}", used.as_secs_f64());
    assert!(used <= BUSY_MAX, "used {used:?} of {WATCHED:?}");
    let lines = node.log().matches("connections cannot be accepted").count();
    assert_eq!(lines, 1, "said once: {}", node.log());

    drop(streams);
    let alive = node.get("/livez").await;
    assert!(!alive.is_null());
    node.stop().await;
}

#[tokio::test]
async fn connections_leave_files_for_the_calls() {
    let _alone = alone().await;
    const FILES: usize = 128;
    let target = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let node = Node::start_as(|command| limited(&command, FILES));
    node.apply("honest", &target.url(), "timeout: 20s").await;
    assert!(
        node.log().contains("fewer connections"),
        "it says what it does: {}",
        node.log()
    );
    // Begins later, when all places are taken by others.
    let path = "/api/workflows/honest/execute?delay=2s";
    let accepted = node.post(path, "{}".to_owned()).await;
    let streams = connect(&node, 2 * FILES).await;
    let until = Instant::now() + Duration::from_secs(20);
    while target.requests() == 0 {
        assert!(Instant::now() < until, "the call was never made");
        assert!(node.files() <= FILES);
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
    drop(streams);
    let id = accepted["execution_id"].as_str().unwrap().to_owned();
    let until = Instant::now() + Duration::from_secs(20);
    loop {
        let execution = node.get(&format!("/api/executions/{id}")).await;
        if execution["status"] == "completed" {
            break;
        }
        assert!(Instant::now() < until, "{execution:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert!(!node.log().contains("cannot be accepted"), "{}", node.log());
    node.stop().await;
}
