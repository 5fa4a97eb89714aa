//! Bodies that are too long, too slow, too deep or not text. How much the server could send
//! before the call ended shows how little was held.

use std::time::{Duration, Instant};

use refire_core::failure::ErrorClass;
use refire_core::json::Json;
use refire_core::limit::RESPONSE_EXCERPT_BYTES_MAX;

use super::caller::{BODY_MAX, SHORT, body_of, failure_of, get, open_target};
use crate::hostile::Hostile;

/// What the sockets of both sides may hold besides what was read.
const SOCKET_BUFFERS_BYTES: u64 = 8 * 1024 * 1024;

#[tokio::test]
async fn a_body_may_be_exactly_as_long_as_allowed() {
    for (extra, fits) in [(0, true), (1, false)] {
        let body = "a".repeat(usize::try_from(BODY_MAX).unwrap() + extra);
        for head in [
            format!("Content-Length: {}", body.len()),
            "Connection: close".to_owned(),
        ] {
            let answer = format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n{body}");
            let server = Hostile::closing_after(answer).await;
            let outcome = open_target().call(get(server.url())).await;
            match outcome {
                Ok(_) => assert!(fits, "{head}"),
                Err(failure) => {
                    assert!(!fits, "{head}: {failure:?}");
                    assert_eq!(failure.class, ErrorClass::ResponseTooLarge);
                    assert!(!failure.retryable);
                    assert!(failure.message.contains("maxResponseBytes (262144 bytes)"));
                    let excerpt = failure.response.unwrap();
                    assert_eq!(excerpt.len(), RESPONSE_EXCERPT_BYTES_MAX);
                }
            }
        }
    }
}

#[tokio::test]
async fn endless_bodies_are_left_unread() {
    let chunk = format!("4000\r\n{}\r\n", "x".repeat(0x4000));
    let plain = "y".repeat(0x4000);
    for (head, part) in [
        ("Connection: close", plain.clone()),
        ("Content-Length: 1073741824", plain.clone()),
        ("Content-Length: 9223372036854775807", plain),
        ("Transfer-Encoding: chunked", chunk),
    ] {
        let server = Hostile::start(move |mut peer| {
            let part = part.clone();
            async move {
                peer.request().await;
                peer.send(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n"))
                    .await;
                peer.send_for_ever(part).await;
            }
        })
        .await;
        let failure = failure_of(get(server.url())).await;
        assert_eq!(
            failure.class,
            ErrorClass::ResponseTooLarge,
            "{head}: {failure:?}"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
        let sent = server.sent_bytes();
        assert!(
            sent <= BODY_MAX + SOCKET_BUFFERS_BYTES,
            "{head}: {sent} bytes were taken"
        );
        tokio::time::sleep(Duration::from_millis(100)).await;
        assert_eq!(
            server.sent_bytes(),
            sent,
            "{head}: the connection is closed"
        );
    }
}

#[tokio::test]
async fn an_endless_error_page_is_cut_at_the_excerpt() {
    // Three bytes per character, so that the cut falls into one.
    let server = Hostile::start(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 500 Oops\r\nConnection: close\r\n\r\n")
            .await;
        peer.send_for_ever("€".repeat(1000)).await;
    })
    .await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::HttpStatus);
    let excerpt = failure.response.unwrap();
    assert!(excerpt.len() <= RESPONSE_EXCERPT_BYTES_MAX);
    assert!(excerpt.len() > RESPONSE_EXCERPT_BYTES_MAX - 3);
    assert!(excerpt.chars().all(|character| character == '€'));
    assert!(server.sent_bytes() <= SOCKET_BUFFERS_BYTES);
}

#[tokio::test]
async fn a_status_counts_also_when_its_text_breaks_off_or_hangs() {
    let server =
        Hostile::closing_after("HTTP/1.1 502 Bad\r\nContent-Length: 100\r\n\r\npartial").await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::HttpStatus);
    assert_eq!(failure.response.as_deref(), Some("partial"));

    let server = Hostile::start(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 502 Bad\r\nContent-Length: 100\r\n\r\npartial")
            .await;
        peer.silence().await;
    })
    .await;
    let mut request = get(server.url());
    request.timeout = SHORT;
    let failure = failure_of(request).await;
    assert_eq!(failure.class, ErrorClass::HttpStatus);
    assert_eq!(failure.response.as_deref(), Some("partial"));

    // With a long deadline the text is not waited for that long.
    let begun = Instant::now();
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.response.as_deref(), Some("partial"));
    assert!(
        begun.elapsed() < Duration::from_secs(6),
        "{:?}",
        begun.elapsed()
    );
}

#[tokio::test]
async fn a_compressed_body_is_not_unpacked() {
    // The first bytes of a gzip file; what it would unpack to does not matter.
    let mut answer =
        b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 12\r\n\r\n".to_vec();
    answer.extend_from_slice(b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\xff\xed\xc1");
    let server = Hostile::closing_after(answer).await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::InvalidResponse);
    assert!(
        failure.message.contains("encoded with gzip"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn a_body_that_is_not_utf8_fails_with_the_place() {
    let answer = b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nab\xff\xfecd".to_vec();
    let server = Hostile::closing_after(answer).await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::InvalidResponse);
    assert!(
        failure.message.contains("from byte 2 on"),
        "{}",
        failure.message
    );
    assert_eq!(failure.response.as_deref(), Some("ab\u{fffd}\u{fffd}cd"));
}

#[tokio::test]
async fn json_that_is_too_deep_is_text() {
    let deep = "[".repeat(200_000);
    let server = Hostile::closing_after(format!(
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 200000\r\n\r\n{deep}"
    ))
    .await;
    assert_eq!(body_of(server.url()).await, Json::string(&deep));
}

#[tokio::test]
async fn slow_bodies_and_headers_end_at_the_deadline() {
    let body = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n";
    for (at_once, slowly, words) in [
        (body, "a".repeat(100), "not complete within 400ms"),
        (
            "HTTP/1.1 200 OK\r\n",
            "X-Slow: 1\r\n".repeat(9),
            "no answer within 400ms",
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n",
            "1\r\na\r\n".repeat(50),
            "complete",
        ),
    ] {
        let server = Hostile::start(move |mut peer| {
            let slowly = slowly.clone();
            async move {
                peer.request().await;
                peer.send(at_once).await;
                peer.drip(slowly, Duration::from_millis(50)).await;
            }
        })
        .await;
        let mut request = get(server.url());
        request.timeout = SHORT;
        let failure = failure_of(request).await;
        assert_eq!(failure.class, ErrorClass::ReadTimeout, "{failure:?}");
        assert!(failure.message.contains(words), "{}", failure.message);
        assert!(failure.retryable);
    }
}
