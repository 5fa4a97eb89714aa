//! Slow and hostile connections: closed in time, and honest ones do not notice.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

use crate::server::Server;
use crate::workflow::one_step;

/// Hostile sockets are closed within this.
const CLOSED_WITHIN: Duration = Duration::from_secs(15);

async fn connect(server: &Server) -> TcpStream {
    TcpStream::connect(server.url.strip_prefix("http://").unwrap())
        .await
        .unwrap()
}

/// What the server sent until it closed the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut text = Vec::new();
    let read = stream.read_to_end(&mut text);
    match tokio::time::timeout(CLOSED_WITHIN, read).await {
        Ok(_) => String::from_utf8_lossy(&text).into_owned(),
        Err(_) => panic!("still open; it said {:?}", String::from_utf8_lossy(&text)),
    }
}

#[tokio::test]
async fn silence_and_half_requests_are_cut_off() {
    let server = Server::start().await;
    let openings: [&[u8]; 5] = [
        b"",
        b"P",
        b"GET /livez HTTP/1.1\r\nHost: x\r\nX-Slow: ",
        b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /li",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    ];
    let mut waiting = Vec::new();
    for opening in openings {
        for _ in 0..20 {
            let mut stream = connect(&server).await;
            stream.write_all(opening).await.unwrap();
            waiting.push(tokio::spawn(rest(stream)));
        }
    }
    let began = Instant::now();
    server.get("/livez").await.expect(200);
    assert!(
        began.elapsed() < Duration::from_secs(1),
        "honest requests do not wait"
    );
    for closed in waiting {
        closed.await.unwrap();
    }
}

#[tokio::test]
async fn a_body_that_stands_still_is_told_so() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    let head = format!(
        "POST /api/retry/simulate HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Length: 100\r\n\r\n{{",
        server.key
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let said = rest(stream).await;
    assert!(
        said.starts_with("HTTP/1.1 408") && said.contains("RF0014"),
        "{said}"
    );
}

#[tokio::test]
async fn a_large_body_is_refused_before_it_is_sent() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    let head = format!(
        "POST /api/retry/simulate HTTP/1.1\r\nHost: x\r\nX-API-Key: {}\r\nContent-Length: 2000000\r\n\r\n",
        server.key
    );
    stream.write_all(head.as_bytes()).await.unwrap();
    let began = Instant::now();
    let mut first = [0; 12];
    stream.read_exact(&mut first).await.unwrap();
    assert_eq!(&first, b"HTTP/1.1 413");
    assert!(began.elapsed() < Duration::from_secs(1));
}

/// A request that is answered before its body was read, with a body of so many bytes.
fn early(path: &str, key: &str, length: usize) -> String {
    format!("POST {path} HTTP/1.1\r\nHost: x\r\nX-API-Key: {key}\r\nContent-Length: {length}\r\n")
}

/// Reads one answer with a length; its head and its body.
async fn answer(stream: &mut TcpStream) -> String {
    let mut text = Vec::new();
    let mut part = [0; 4096];
    let reading = async {
        loop {
            let read = stream.read(&mut part).await.unwrap();
            assert!(
                read > 0,
                "closed after {:?}",
                String::from_utf8_lossy(&text)
            );
            text.extend_from_slice(&part[..read]);
            let said = String::from_utf8_lossy(&text).into_owned();
            let length = said.split("content-length: ").nth(1);
            let length = length.and_then(|rest| rest.split("\r\n").next()?.parse().ok());
            if let (Some((_, body)), Some(length)) = (said.split_once("\r\n\r\n"), length)
                && body.len() >= length
            {
                return said;
            }
        }
    };
    tokio::time::timeout(CLOSED_WITHIN, reading).await.unwrap()
}

/// Whoever writes the whole request before it reads gets the answer, and the connection goes on
/// after a short body.
#[tokio::test]
async fn an_early_answer_is_received_and_the_connection_goes_on() {
    let server = Server::start().await;
    let mut stream = connect(&server).await;
    for (path, key, status) in [
        ("/api/retry/simulate", "wrong", 401),
        ("/api/nothing", &*server.key, 404),
        ("/api/executions", &*server.key, 405),
        ("/webhooks/nobody", "", 404),
    ] {
        let head = early(path, key, 100_000);
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .await
            .unwrap();
        // The rest comes later than the head, and the answer does not overtake it.
        tokio::task::yield_now().await;
        stream.write_all(&[b'x'; 100_000]).await.unwrap();
        let said = answer(&mut stream).await;
        assert!(said.starts_with(&format!("HTTP/1.1 {status}")), "{said}");
        assert!(!said.contains("connection: close"), "{said}");
    }
}

#[tokio::test]
async fn an_early_answer_to_a_large_request_says_that_the_connection_closes() {
    let server = Server::start().await;
    for _ in 0..10 {
        let mut stream = connect(&server).await;
        let head = early("/api/retry/simulate", "wrong", 4_000_000);
        stream
            .write_all(format!("{head}\r\n").as_bytes())
            .await
            .unwrap();
        stream.write_all(&vec![b'x'; 4_000_000]).await.unwrap();
        let said = rest(stream).await;
        assert!(said.starts_with("HTTP/1.1 401"), "{said}");
        assert!(said.contains("connection: close"), "{said}");
    }
    // What is never sent is not waited for.
    for more in ["", "Expect: 100-continue\r\n"] {
        let mut stream = connect(&server).await;
        let head = early("/api/retry/simulate", "wrong", 5);
        stream
            .write_all(format!("{head}{more}\r\n").as_bytes())
            .await
            .unwrap();
        let said = answer(&mut stream).await;
        assert!(said.starts_with("HTTP/1.1 401"), "{said}");
        assert!(said.contains("connection: close"), "{said}");
    }
}

#[tokio::test]
async fn too_many_headers_are_431() {
    let server = Server::start().await;
    for count in [100, 1_000] {
        let mut stream = connect(&server).await;
        let mut head = String::from("GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n");
        for number in 0..count {
            head.push_str(&format!("X-{number}: 1\r\n"));
        }
        head.push_str("\r\n");
        stream.write_all(head.as_bytes()).await.unwrap();
        let said = rest(stream).await;
        assert!(said.starts_with("HTTP/1.1 431"), "{count}: {said}");
    }
}

/// A thousand signatures in one header are longer than headers may be: that is said, before anything looks
/// into them.
#[tokio::test]
async fn a_thousand_signatures_are_too_long() {
    let server = Server::start().await;
    server
        .apply("w", &one_step("w", "http://127.0.0.1:1/never"))
        .await;
    let settings = json!({"trigger_type": "webhook", "authentication": "hmac"});
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = made.await.expect(201);
    let webhook = trigger["webhook_id"].as_str().unwrap();
    // The second is what a connection still takes; the third is cut off before it is read.
    for (count, status, said) in [
        (200, 401, "RF0051"),
        (1_000, 431, "bytes, at most 32768 are allowed"),
        (10_000, 431, ""),
    ] {
        let mut stream = connect(&server).await;
        let signatures = vec!["0123456789abcdef".repeat(4); count].join(",");
        let head = format!(
            "POST /webhooks/{webhook} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\
             Content-Type: application/json\r\nContent-Length: 2\r\n\
             X-Signature: {signatures}\r\n\r\n{{}}"
        );
        // The server may have had enough before all is written.
        let _ = stream.write_all(head.as_bytes()).await;
        let answer = rest(stream).await;
        let begins = format!("HTTP/1.1 {status}");
        assert!(answer.starts_with(&begins), "{count}: {answer}");
        assert!(answer.contains(said), "{count}: {answer}");
        let is_named = answer.contains("RF0022");
        assert_eq!(is_named, count == 1_000, "{count}: {answer}");
    }
    let started = server.get("/api/executions").await.expect(200);
    assert_eq!(started["items"], json!([]));
}

#[tokio::test]
async fn only_so_many_connections_are_served_at_once() {
    let server = Server::start_with(&["--max-connections", "2"]).await;
    let held = [connect(&server).await, connect(&server).await];
    // The third waits in the system's queue until a place is free.
    let mut third = connect(&server).await;
    third
        .write_all(b"GET /livez HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n")
        .await
        .unwrap();
    let mut byte = [0];
    let early = tokio::time::timeout(Duration::from_millis(300), third.read(&mut byte)).await;
    assert!(early.is_err(), "served although there is no place");
    drop(held);
    assert!(rest(third).await.contains("200 OK"));
}
