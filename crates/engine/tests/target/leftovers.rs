//! Targets that send more than their answer: what is left over does not count as the next one.

use refire_core::definition::StatusRange;
use refire_core::failure::ErrorClass;
use refire_engine::target::HttpRequest;

use super::caller::{get, member, open_target};
use crate::hostile::Hostile;

/// An answer, and what comes after it.
const SPOILED: [(&str, &str); 5] = [
    ("HTTP/1.1 204 No Content\r\n\r\n", "{\"ok\":true}"),
    (
        "HTTP/1.1 204 No Content\r\nContent-Length: 11\r\n\r\n",
        "{\"ok\":true}",
    ),
    (
        "HTTP/1.1 304 Not Modified\r\nTransfer-Encoding: chunked\r\n\r\n",
        "2\r\n{}\r\n0\r\n\r\n",
    ),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}", "and more"),
    (
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nfalse",
    ),
];

fn any_answer(server: &Hostile) -> HttpRequest {
    let mut request = get(server.url());
    request.expected = vec![StatusRange::parse("200-399").unwrap()];
    request
}

#[tokio::test]
async fn more_than_the_answer_closes_the_connection() {
    for (answer, more) in SPOILED {
        let server = Hostile::answering(format!("{answer}{more}")).await;
        let target = open_target();
        for call in 1..=5 {
            let answer = target.call(any_answer(&server)).await.unwrap();
            let body = member(&answer.output, "body");
            assert!(matches!(body.as_str(), "null" | "{}"), "{call}: {body:?}");
        }
        assert_eq!(server.connections(), 5, "{answer:?}");
    }
}

/// Answers; what is more comes only after the next request on the same connection.
async fn late(answer: &'static str, more: &'static str) -> Hostile {
    Hostile::start(move |mut peer| async move {
        peer.request().await;
        peer.send(answer).await;
        if peer.request().await.is_some() {
            peer.send(more).await;
            peer.silence().await;
        }
    })
    .await
}

#[tokio::test]
async fn a_body_that_is_announced_with_204_is_not_waited_for_on_the_same_connection() {
    for (answer, more) in &SPOILED[1..3] {
        let server = late(answer, more).await;
        let target = open_target();
        for _ in 0..5 {
            target.call(any_answer(&server)).await.unwrap();
        }
        assert_eq!(server.connections(), 5, "{answer:?}");
    }
}

#[tokio::test]
async fn what_comes_too_late_to_be_noticed_is_retried() {
    for (answer, more) in [SPOILED[0], SPOILED[3]] {
        let server = late(answer, more).await;
        let target = open_target();
        // A connection goes back to the pool a moment after the answer: the next call may miss it.
        let mut calls = 0;
        let failure = loop {
            calls += 1;
            match target.call(any_answer(&server)).await {
                Ok(_) => assert!(calls < 1_000, "no connection is used twice"),
                Err(failure) => break failure,
            }
        };
        assert_eq!(failure.class, ErrorClass::ConnectionReset, "{failure:?}");
        assert!(failure.retryable);
        assert!(
            failure
                .message
                .contains("sent more than its earlier answer"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_first_answer_that_is_no_http_is_the_fault_of_the_target() {
    let server = Hostile::answering("220 mail.example ready\r\n").await;
    let failure = open_target().call(any_answer(&server)).await.unwrap_err();
    assert_eq!(failure.class, ErrorClass::InvalidResponse, "{failure:?}");
}
