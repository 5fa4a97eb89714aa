//! Answers that are as they should be: what becomes of them is exact.

use refire_core::definition::StatusRange;
use refire_core::failure::ErrorClass;
use refire_core::json::Json;

use super::caller::{body_of, failure_of, get, member, open_target, post};
use crate::hostile::Hostile;

fn ok(content_type: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "HTTP/1.1 200 OK\r\nContent-Type: {content_type}\r\nContent-Length: {length}\r\n\r\n{body}"
    )
}

#[tokio::test]
async fn json_comes_back_byte_for_byte() {
    let body =
        r#"{"z":12345678901234567890123456789, "a":1.0e+400,"text":"\u0000\u0041\/é","z":[ ]}"#;
    for content_type in [
        "application/json",
        "application/json; charset=utf-8",
        "APPLICATION/JSON",
        "application/problem+json",
    ] {
        let server = Hostile::answering(ok(content_type, body)).await;
        assert_eq!(body_of(server.url()).await.as_str(), body, "{content_type}");
    }
}

#[tokio::test]
async fn text_comes_back_as_a_string() {
    for (content_type, body) in [
        ("text/plain", "hello"),
        ("text/html", r#"{"looks":"like json"}"#),
        ("application/json", "not json at all"),
        ("application/json", r#"{"broken":"#),
        ("text/plain", "nul \0 and \u{1b}[2J and \u{202e}"),
    ] {
        let server = Hostile::answering(ok(content_type, body)).await;
        assert_eq!(
            body_of(server.url()).await,
            Json::string(body),
            "{content_type} {body:?}"
        );
    }
}

#[tokio::test]
async fn a_body_without_a_type_is_json_if_it_parses() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 7\r\n\r\n{\"a\":1}").await;
    assert_eq!(body_of(server.url()).await.as_str(), r#"{"a":1}"#);
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nyes").await;
    assert_eq!(body_of(server.url()).await.as_str(), r#""yes""#);
}

#[tokio::test]
async fn no_body_is_null() {
    for answer in [
        "HTTP/1.1 204 No Content\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
    ] {
        let server = Hostile::answering(answer).await;
        assert!(body_of(server.url()).await.is_null(), "{answer}");
    }
}

#[tokio::test]
async fn headers_are_lower_case_and_joined_in_order() {
    let server = Hostile::answering(
        "HTTP/1.1 201 Created\r\nX-Two: b\r\nSet-Cookie: one=1\r\nx-two: a\r\nSet-Cookie: two=2\r\n\
         X-Odd: \u{1f600}\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let answer = open_target().call(get(server.url())).await.unwrap();
    assert_eq!(answer.status, 201);
    assert_eq!(
        answer.output.as_str(),
        "{\"status\":201,\"headers\":{\"x-two\":\"b, a\",\"set-cookie\":\"one=1, two=2\",\
         \"x-odd\":\"\u{1f600}\",\"content-length\":\"0\"},\"body\":null}"
    );
}

#[tokio::test]
async fn header_bytes_that_are_no_text_are_replaced() {
    let server =
        Hostile::answering(b"HTTP/1.1 200 OK\r\nX-Odd: a\xff\xfeb\r\nContent-Length: 0\r\n\r\n")
            .await;
    let answer = open_target().call(get(server.url())).await.unwrap();
    let headers = member(&answer.output, "headers");
    assert_eq!(member(&headers, "x-odd").as_str(), "\"a\u{fffd}\u{fffd}b\"");
}

#[tokio::test]
async fn statuses_outside_the_expected_ones_fail_with_code_and_text() {
    let server = Hostile::answering(
        "HTTP/1.1 503 Whatever\r\nRetry-After: 12\r\nContent-Length: 9\r\n\r\ntry later",
    )
    .await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::HttpStatus);
    assert_eq!(failure.code.as_deref(), Some("503"));
    assert_eq!(
        failure.message,
        "the target answered 503 Service Unavailable"
    );
    assert_eq!(failure.response.as_deref(), Some("try later"));
    assert_eq!(failure.retry_after_ms, Some(12_000));
    assert!(failure.causes.is_empty());
}

#[tokio::test]
async fn the_expected_statuses_are_the_steps_own() {
    let server = Hostile::answering("HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n").await;
    let mut request = get(server.url());
    request.expected = vec![StatusRange::SUCCESS, StatusRange::one(404)];
    assert_eq!(
        open_target().call(request.clone()).await.unwrap().status,
        404
    );

    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    request.url = server.url();
    request.expected = vec![StatusRange::one(202)];
    let failure = failure_of(request).await;
    assert_eq!(
        (failure.class, failure.code.as_deref()),
        (ErrorClass::HttpStatus, Some("200"))
    );
}

#[tokio::test]
async fn the_request_goes_out_as_given_and_asks_for_nothing_else() {
    let (seen, mut requests) = tokio::sync::mpsc::unbounded_channel();
    let server = Hostile::start(move |mut peer| {
        let seen = seen.clone();
        async move {
            seen.send(peer.request().await.unwrap()).unwrap();
            peer.send("HTTP/1.1 204 No Content\r\n\r\n").await;
        }
    })
    .await;
    let mut request = post(format!("{}a/b?x=%20y&z", server.url()), "{\"n\":1}");
    request
        .headers
        .push(("Content-Type".to_owned(), "application/json".to_owned()));
    request
        .headers
        .push(("Host".to_owned(), "other.example".to_owned()));
    request.headers.push(("X-Twice".to_owned(), "1".to_owned()));
    request.headers.push(("X-Twice".to_owned(), "2".to_owned()));
    open_target().call(request).await.unwrap();
    let sent = requests.recv().await.unwrap().to_ascii_lowercase();
    assert!(
        sent.starts_with("post /a/b?x=%20y&z http/1.1\r\n"),
        "{sent}"
    );
    for line in [
        "host: other.example",
        "x-twice: 1",
        "x-twice: 2",
        "content-length: 7",
    ] {
        assert!(
            sent.contains(&format!("\r\n{line}\r\n")),
            "{line} in {sent}"
        );
    }
    assert_eq!(sent.matches("\r\nhost:").count(), 1, "{sent}");
    assert!(sent.contains("\r\nuser-agent: refire/"), "{sent}");
    assert!(
        !sent.contains("accept-encoding") && !sent.contains("referer"),
        "{sent}"
    );
    assert!(sent.ends_with("\r\n\r\n{\"n\":1}"), "{sent}");
}

#[tokio::test]
async fn a_head_request_has_no_body_whatever_its_length_says() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 5000000000\r\n\r\n").await;
    let mut request = get(server.url());
    request.method = "HEAD".to_owned();
    let answer = open_target().call(request).await.unwrap();
    assert!(member(&answer.output, "body").is_null());
}
