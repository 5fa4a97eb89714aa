//! Targets that send our secrets back to us, wherever they can.

use refire_engine::target::{HttpRequest, Redactor};

use super::caller::{failure_of, get, member, open_target};
use crate::hostile::Hostile;

const SECRET: &str = "CANARY/9f3c \"quoted\"";
const IN_QUERY: &str = "CANARY%2F9f3c%20%22quoted%22";

fn with_secret(url: &str) -> HttpRequest {
    let mut request = get(format!("{url}?key={IN_QUERY}"));
    request
        .headers
        .push(("X-Key".to_owned(), SECRET.to_owned()));
    request.redact = Redactor::new([SECRET]);
    request
}

fn echo(status: &str, headers: &str, body: &str) -> String {
    let length = body.len();
    format!("HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\n\r\n{body}")
}

#[tokio::test]
async fn an_echo_in_an_error_page_is_masked() {
    let body = format!("your key {SECRET} ({IN_QUERY}) is wrong");
    let server = Hostile::answering(echo("401 Unauthorized", "", &body)).await;
    let failure = failure_of(with_secret(&server.url())).await;
    assert_eq!(
        failure.response.as_deref(),
        Some("your key *** (***) is wrong")
    );
    assert!(!format!("{failure:?}").contains("CANARY"));
}

#[tokio::test]
async fn an_echo_across_the_end_of_the_excerpt_is_masked() {
    let body = format!("{}{SECRET}", "a".repeat(64 * 1024 - 10));
    let server = Hostile::answering(echo("500 Oops", "", &body)).await;
    let failure = failure_of(with_secret(&server.url())).await;
    let excerpt = failure.response.unwrap();
    assert!(
        excerpt.ends_with("aaa***"),
        "{}",
        &excerpt[excerpt.len() - 20..]
    );
}

#[tokio::test]
async fn an_echo_in_the_output_is_masked() {
    let body = "{\"sent\":\"CANARY\\/9f3c \\\"quoted\\\"\",\"n\":1.50}";
    let headers = format!("X-Echo: {SECRET}\r\nContent-Type: application/json\r\n");
    let server = Hostile::answering(echo("200 OK", &headers, body)).await;
    let answer = open_target()
        .call(with_secret(&server.url()))
        .await
        .unwrap();
    assert_eq!(
        member(&answer.output, "body").as_str(),
        "{\"sent\":\"***\",\"n\":1.50}"
    );
    assert_eq!(
        member(&member(&answer.output, "headers"), "x-echo").as_str(),
        "\"***\""
    );

    let server = Hostile::answering(echo("200 OK", "Content-Type: text/plain\r\n", SECRET)).await;
    let answer = open_target()
        .call(with_secret(&server.url()))
        .await
        .unwrap();
    assert_eq!(member(&answer.output, "body").as_str(), "\"***\"");
}

#[tokio::test]
async fn a_redirect_to_a_secret_host_is_masked() {
    let mut request = get("");
    request.redact = Redactor::new(["hidden-host"]);
    let headers = "Location: http://hidden-host.example/\r\n";
    let server = Hostile::answering(echo("302 Found", headers, "")).await;
    request.url = server.url();
    let failure = failure_of(request).await;
    assert!(
        failure.message.contains("http://***.example"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn failures_without_an_answer_never_show_the_url() {
    for url in [
        "http://127.0.0.1:1/",
        "http://does-not-exist.invalid/",
        "https://127.0.0.1:1/",
    ] {
        let failure = failure_of(with_secret(url)).await;
        let shown = format!("{failure:?}");
        assert!(
            !shown.contains("CANARY") && !shown.contains("key="),
            "{shown}"
        );
    }
}
