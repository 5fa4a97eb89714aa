//! Senders that misbehave, many at once: each is cut off in time, and honest ones do not notice.

use std::process::Command;
use std::sync::Arc;
use std::time::{Duration, Instant};

use reqwest::Method;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::hostile::Hostile;
use crate::load::{Load, must_be_unharmed};
use crate::node::{KEY, Node};
use crate::{alone, frames, is_long};

/// The server cuts off who misbehaves within 15 s; the rest is the machine's own time.
const CLOSED_WITHIN: Duration = Duration::from_secs(15 + 12);
/// The system's own buffers let an answer on now and then that nobody reads, and the next request
/// begins: who asks has time.
const UNREAD_CLOSED_WITHIN: Duration = Duration::from_secs(45);
/// What memory may grow by for each of them, and for all of them.
const GROWTH_BYTES_EACH: usize = 32 * 1024;
const GROWTH_BYTES_ALL: usize = 16 * 1024 * 1024;
/// Between two bytes of those who send one now and then.
const DRIP: Duration = Duration::from_secs(10);
/// Files that come and go by themselves: the honest ones keep some connections.
const FILES_LOOSE: usize = 32;
/// Lines that the server may log meanwhile: its own start.
const LOG_LINES_MAX: usize = 5;
/// Files of this process for every socket that it opens, and some more.
const FILES_SPARE: usize = 1024;

/// What a sender does.
#[derive(Debug, Clone, Copy)]
enum Habit {
    /// Says nothing.
    Silent,
    /// Stops in the middle of its headers.
    HalfHeaders,
    /// Sends a byte now and then.
    Dripping,
    /// The same, and lets the first one wait as long as it can.
    DrippingLate,
    /// Sends a body more slowly than anybody needs to.
    SlowBody,
    /// Asks, and stops in the middle of the next request.
    HalfPipelined,
    /// Says that it speaks HTTP/2, and no more.
    HalfHello,
    /// Asks for much and reads nothing of it.
    NeverReading,
    /// Asks over HTTP/2 ten thousand times and takes everything back.
    RapidReset,
    /// Sends headers over HTTP/2 that never end.
    EndlessHeaders,
    /// The same in pieces without content.
    EmptyHeaders,
    /// Asks over HTTP/2 without a pause whether anybody is there.
    Pinging,
}

/// Those of which there are many.
const QUIET: [Habit; 7] = [
    Habit::Silent,
    Habit::HalfHeaders,
    Habit::Dripping,
    Habit::DrippingLate,
    Habit::SlowBody,
    Habit::HalfPipelined,
    Habit::HalfHello,
];
/// Those of which a few are enough.
const LOUD: [Habit; 5] = [
    Habit::NeverReading,
    Habit::RapidReset,
    Habit::EndlessHeaders,
    Habit::EmptyHeaders,
    Habit::Pinging,
];

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn senders_that_misbehave_are_cut_off_and_honest_ones_are_served() {
    let _alone = alone().await;
    let (sockets, loud, honest_per_second, calm) = match is_long() {
        true => (2_000, 4, 100, Duration::from_secs(20)),
        false => (400, 1, 10, Duration::from_secs(3)),
    };
    let honest_load = |node: &Arc<Node>| honest_load(node, honest_per_second);
    allow_files(sockets + FILES_SPARE);
    let (node, unharmed) = (Arc::new(Node::start()), Arc::new(Node::start()));
    let target = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    for node in [&node, &unharmed] {
        node.apply("honest", &target.url(), "timeout: 20s").await;
    }
    honest_load(&node).run_for(calm / 2).await;
    let baseline = honest_load(&node).run_for(calm).await;
    println!("senders: honest alone {baseline}");
    let (files_before, memory_before) = (node.files(), node.resident());

    node.forget_peak();
    let loads = (honest_load(&node), honest_load(&unharmed));
    let mut senders = JoinSet::new();
    for number in 0..sockets {
        let habit = QUIET[number % QUIET.len()];
        senders.spawn(misbehave(Arc::clone(&node), habit));
    }
    for habit in LOUD.repeat(loud) {
        senders.spawn(misbehave(Arc::clone(&node), habit));
    }
    let mut latest = [Duration::ZERO; QUIET.len() + LOUD.len()];
    let (mut files_most, mut still_open) = (0, Vec::new());
    while let Some(ended) = senders.join_next().await {
        match ended.unwrap() {
            (habit, Some(after)) => {
                let slot = &mut latest[habit as usize];
                *slot = after.max(*slot);
            }
            (habit, None) => still_open.push(habit),
        }
        files_most = files_most.max(node.files());
    }
    assert!(still_open.is_empty(), "not cut off: {still_open:?}");
    let (beside, unharmed) = tokio::join!(loads.0.stop(), loads.1.stop());
    let growth = node.peak().saturating_sub(memory_before);
    for habit in QUIET.into_iter().chain(LOUD) {
        let closed = latest[habit as usize];
        println!("senders: {habit:?} closed_s={:.1}", closed.as_secs_f64());
    }
    println!(
        "senders: sockets={sockets} growth_mb={:.1} files_before={files_before} \
         files_most={files_most}\n  honest {beside}\n  elsewhere {unharmed}",
        growth as f64 / (1024.0 * 1024.0)
    );
    let bearable_growth = (GROWTH_BYTES_ALL + sockets * GROWTH_BYTES_EACH) as u64;
    assert!(growth <= bearable_growth, "memory grew by {growth} bytes");
    must_be_unharmed(&beside, &unharmed);
    // What strangers do must not fill the log.
    let lines = node.log().lines().count();
    assert!(lines <= LOG_LINES_MAX, "{}", node.log());
    node.files_fall_to(files_before + FILES_LOOSE).await;
    Arc::into_inner(node).unwrap().stop().await;
}

/// Lets this process open so many files.
fn allow_files(count: usize) {
    let limits = std::fs::read_to_string("/proc/self/limits").unwrap();
    let line = limits
        .lines()
        .find_map(|line| line.strip_prefix("Max open files"));
    let soft = line
        .and_then(|line| line.split_whitespace().next())
        .unwrap();
    if soft.parse().is_ok_and(|soft: usize| soft < count) {
        let raised = Command::new("prlimit")
            .arg(format!("--pid={}", std::process::id()))
            .arg(format!("--nofile={count}:"))
            .status();
        assert!(
            raised.unwrap().success(),
            "this test needs {count} open files; raise the hard limit (ulimit -Hn)"
        );
    }
}

/// Executions that are accepted, one commit each.
fn honest_load(node: &Arc<Node>, per_second: u32) -> Load {
    let node = Arc::clone(node);
    Load::start(Duration::from_secs(1) / per_second, move || {
        let path = "/api/workflows/honest/execute";
        let request = node.request(Method::POST, path).body("{}");
        async move {
            let answer = request.send().await.unwrap();
            assert_eq!(answer.status().as_u16(), 202);
        }
    })
}

/// Connects, misbehaves, and tells how long it took until the server had enough, if it had.
async fn misbehave(node: Arc<Node>, habit: Habit) -> (Habit, Option<Duration>) {
    let stream = TcpStream::connect(node.address()).await.unwrap();
    let began = Instant::now();
    let limit = match habit {
        Habit::NeverReading => UNREAD_CLOSED_WITHIN,
        _ => CLOSED_WITHIN,
    };
    let closed = tokio::time::timeout(limit, act(stream, habit)).await;
    (habit, closed.is_ok().then(|| began.elapsed()))
}

/// Ends when the connection does.
async fn act(mut stream: TcpStream, habit: Habit) {
    let get = "GET /livez HTTP/1.1\r\nHost: x\r\n\r\n";
    match habit {
        Habit::Silent => opened(stream, b"").await,
        Habit::HalfHeaders => {
            opened(stream, b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ").await;
        }
        Habit::Dripping => dripped(stream).await,
        Habit::DrippingLate => {
            tokio::time::sleep(DRIP - DRIP / 10).await;
            dripped(stream).await;
        }
        Habit::SlowBody => slow_body(stream).await,
        Habit::HalfPipelined => opened(stream, format!("{get}GET /li").as_bytes()).await,
        Habit::HalfHello => opened(stream, frames::HELLO).await,
        Habit::NeverReading => {
            let request = "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n".repeat(50);
            let _ = stream.write_all(request.as_bytes()).await;
            // Nothing is read, so only writing tells that nobody is there any more.
            while stream.write_all(b"\r\n").await.is_ok() {
                tokio::time::sleep(Duration::from_millis(500)).await;
            }
        }
        Habit::RapidReset => rapid_reset(stream).await,
        Habit::EndlessHeaders => endless_headers(stream, false).await,
        Habit::EmptyHeaders => endless_headers(stream, true).await,
        Habit::Pinging => pinging(stream).await,
    }
}

/// Reads until the server closes, cleanly or not.
async fn until_closed(reading: &mut (impl tokio::io::AsyncRead + Unpin)) {
    let mut buffer = [0; 4096];
    while matches!(reading.read(&mut buffer).await, Ok(read) if read > 0) {}
}

async fn opened(mut stream: TcpStream, opening: &[u8]) {
    stream.write_all(opening).await.unwrap();
    until_closed(&mut stream).await;
}

/// Sends what it has as long as the server listens; ends when the server closes.
async fn sent(stream: TcpStream, sending: impl AsyncFnOnce(&mut tokio::net::tcp::OwnedWriteHalf)) {
    let (mut reading, mut writing) = stream.into_split();
    let send = async {
        sending(&mut writing).await;
        std::future::pending::<()>().await;
    };
    tokio::select! {
        () = until_closed(&mut reading) => {}
        () = send => {}
    }
}

async fn dripped(stream: TcpStream) {
    sent(stream, async |writing| {
        for byte in b"POST /api/workflows/honest/execute HTTP/1.1\r\n" {
            if writing.write_all(&[*byte]).await.is_err() {
                return;
            }
            tokio::time::sleep(DRIP).await;
        }
    })
    .await;
}

/// Half of the slowest rate that is allowed.
async fn slow_body(stream: TcpStream) {
    let head = format!(
        "POST /api/workflows/honest/execute HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\n\
         Content-Length: 100000\r\n\r\n"
    );
    sent(stream, async |writing| {
        let mut next = writing.write_all(head.as_bytes()).await;
        while next.is_ok() {
            tokio::time::sleep(Duration::from_millis(100)).await;
            next = writing.write_all(&[b' '; 51]).await;
        }
    })
    .await;
}

async fn rapid_reset(stream: TcpStream) {
    const STREAMS: u32 = 10_000;
    sent(stream, async |writing| {
        let mut next = writing.write_all(frames::HELLO).await;
        for number in 0..STREAMS {
            if next.is_err() {
                return;
            }
            next = writing.write_all(&frames::asked_and_reset(number)).await;
        }
    })
    .await;
}

async fn endless_headers(stream: TcpStream, empty: bool) {
    sent(stream, async |writing| {
        let mut next = writing.write_all(frames::HELLO).await;
        if next.is_ok() {
            next = writing.write_all(&frames::unfinished_headers()).await;
        }
        while next.is_ok() {
            next = writing.write_all(&frames::more_headers(empty)).await;
        }
    })
    .await;
}

async fn pinging(stream: TcpStream) {
    sent(stream, async |writing| {
        let mut next = writing.write_all(frames::HELLO).await;
        while next.is_ok() {
            next = writing.write_all(&frames::pings()).await;
        }
    })
    .await;
}
