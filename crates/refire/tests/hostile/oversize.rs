//! Requests that are too large: answered without reading them to the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpStream;

use crate::alone;
use crate::node::{KEY, Node};

/// What is read and thrown away so that the sender can read why, and what both sockets may hold.
const TAKEN_BYTES_MAX: u64 = (8 + 8) * 1024 * 1024;
/// The answer and the end of the connection have come by then.
const PATIENCE: Duration = Duration::from_secs(20);

/// Sends the head, then the part for ever; what was answered, and how much was taken.
async fn pour(node: &Node, head: String, part: Vec<u8>) -> (String, u64) {
    let stream = TcpStream::connect(node.address()).await.unwrap();
    let (mut reading, mut writing) = stream.into_split();
    let taken = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&taken);
    let pouring = tokio::spawn(async move {
        if writing.write_all(head.as_bytes()).await.is_err() {
            return;
        }
        while let Ok(written @ 1..) = writing.write(&part).await {
            counted.fetch_add(written as u64, Ordering::SeqCst);
        }
    });
    let mut answer = Vec::new();
    let mut buffer = [0; 4096];
    let reading = async {
        while let Ok(read @ 1..) = reading.read(&mut buffer).await {
            answer.extend_from_slice(&buffer[..read]);
        }
    };
    tokio::time::timeout(PATIENCE, reading).await.unwrap();
    tokio::time::timeout(PATIENCE, pouring)
        .await
        .unwrap()
        .unwrap();
    let answer = String::from_utf8_lossy(&answer).into_owned();
    (answer, taken.load(Ordering::SeqCst))
}

#[tokio::test]
async fn a_body_over_the_limit_is_413_and_mostly_unread() {
    let _alone = alone().await;
    let node = Node::start();
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000)).into_bytes();
    for (length, part) in [
        ("Content-Length: 1073741824", vec![b'x'; 0x4000]),
        ("Transfer-Encoding: chunked", chunk),
    ] {
        let head = format!(
            "POST /api/retry/simulate HTTP/1.1\r\nHost: x\r\nX-API-Key: {KEY}\r\n{length}\r\n\r\n"
        );
        node.forget_peak();
        let before = node.resident();
        let (answer, taken) = pour(&node, head, part).await;
        assert!(
            answer.starts_with("HTTP/1.1 413") && answer.contains("RF0021"),
            "{length}: {answer:?}"
        );
        assert!(taken <= TAKEN_BYTES_MAX, "{length}: {taken} bytes");
        let growth = node.peak().saturating_sub(before);
        assert!(growth <= TAKEN_BYTES_MAX, "{length}: grew by {growth}");
    }
    node.stop().await;
}

#[tokio::test]
async fn headers_over_the_limit_are_431_and_mostly_unread() {
    let _alone = alone().await;
    let node = Node::start();
    let many = |count: usize| "X-One: 1\r\n".repeat(count);
    let long = |length: usize| format!("X-Long: {}\r\n", "a".repeat(length));
    let get = "GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n";
    for (headers, status) in [
        (many(98), 200),
        (many(99), 431),
        (many(10_000), 431),
        (long(31 * 1024), 200),
        (long(33 * 1024), 431),
        (long(1024 * 1024), 431),
    ] {
        let (count, length) = (headers.lines().count(), headers.len());
        let mut stream = TcpStream::connect(node.address()).await.unwrap();
        // The server may have had enough before all is written.
        let _ = stream
            .write_all(format!("{get}{headers}\r\n").as_bytes())
            .await;
        let mut start = [0; 12];
        let read = stream.read_exact(&mut start);
        tokio::time::timeout(PATIENCE, read).await.unwrap().unwrap();
        assert_eq!(
            String::from_utf8_lossy(&start),
            format!("HTTP/1.1 {status}"),
            "{count} headers, {length} bytes"
        );
    }

    // One that never ends.
    let (answer, taken) = pour(&node, format!("{get}X-Long: "), vec![b'a'; 0x4000]).await;
    assert!(answer.starts_with("HTTP/1.1 431"), "{answer:?}");
    assert!(taken <= TAKEN_BYTES_MAX, "{taken} bytes");
    node.stop().await;
}
