//! Redirects that a call allows: how often, where to, and what goes along.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use refire_core::failure::ErrorClass;
use refire_core::json::Json;
use refire_engine::target::{Allow, Guard, HttpRequest, HttpSettings, HttpTarget, Redactor};

use super::caller::{GRACE, SHORT, get, member, open_target, post};
use crate::hostile::Hostile;

const DONE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42";
const SECRET: &str = "CaNaRy-Of-ReDiReCtS";

fn to(status: &str, location: &str) -> String {
    format!("HTTP/1.1 {status}\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n")
}

/// What a server was asked, in order.
type Seen = Arc<Mutex<Vec<String>>>;

/// Answers one request after the other, on whatever connection; the last answer repeats.
async fn answering(answers: Vec<String>) -> (Hostile, Seen) {
    let answers = Arc::new(Mutex::new(VecDeque::from(answers)));
    let seen = Seen::default();
    let noted = Arc::clone(&seen);
    let server = Hostile::start(move |mut peer| {
        let (answers, noted) = (Arc::clone(&answers), Arc::clone(&noted));
        async move {
            while let Some(request) = peer.request().await {
                noted.lock().unwrap().push(request);
                let answer = next(&mut answers.lock().unwrap());
                if !peer.send(answer).await {
                    return;
                }
            }
        }
    })
    .await;
    (server, seen)
}

/// The next answer; the last one stays.
fn next(answers: &mut VecDeque<String>) -> String {
    match answers.len() {
        1 => answers[0].clone(),
        _ => answers.pop_front().unwrap(),
    }
}

fn following(mut request: HttpRequest, redirects: u8) -> HttpRequest {
    request.follow_redirects = redirects;
    request
}

/// A request with everything that must not go to strangers.
fn with_credentials(mut request: HttpRequest) -> HttpRequest {
    for (name, value) in [
        ("Authorization", "Bearer plain"),
        ("Cookie", "session=plain"),
        ("X-Api-Key", "plain"),
        ("Accept-Language", SECRET),
        ("Content-Type", "application/json"),
        ("Idempotency-Key", "exec_1:call:0"),
        ("X-Refire-Execution", "exec_1"),
        ("traceparent", "00-0-0-01"),
    ] {
        request.headers.push((name.to_owned(), value.to_owned()));
    }
    request.redact = Redactor::new([SECRET]);
    request
}

fn url_of(output: &Json) -> String {
    member(output, "url").as_text().unwrap().into_owned()
}

#[tokio::test]
async fn a_redirect_is_followed_as_often_as_the_call_allows() {
    let (server, seen) = answering(vec![
        to("302 Found", "/b?token=abc#part"),
        to("301 Moved Permanently", "c"),
        DONE.to_owned(),
    ])
    .await;
    let answer = open_target().call(following(get(server.url()), 2)).await;
    let answer = answer.unwrap();
    assert_eq!(member(&answer.output, "body").as_str(), "42");
    assert_eq!(url_of(&answer.output), format!("{}c", server.url()));
    let lines: Vec<String> = seen
        .lock()
        .unwrap()
        .iter()
        .map(|one| first_line(one))
        .collect();
    assert_eq!(
        lines,
        [
            "GET / HTTP/1.1",
            "GET /b?token=abc HTTP/1.1",
            "GET /c HTTP/1.1"
        ]
    );

    let (server, _) = answering(vec![to("302 Found", "/again?n=1")]).await;
    let failure = open_target()
        .call(following(get(server.url()), 3))
        .await
        .unwrap_err();
    assert_eq!(
        (failure.class, failure.code.as_deref(), failure.retryable),
        (ErrorClass::Redirect, Some("302"), false)
    );
    let said = "the target answered 302 Found after 3 redirects; the redirect to \
                http://127.0.0.1 is not followed";
    assert_eq!(failure.message, said);
    assert_eq!(server.requests(), 4);
}

fn first_line(request: &str) -> String {
    request.lines().next().unwrap_or_default().to_owned()
}

#[tokio::test]
async fn methods_and_bodies_follow_the_rules_of_browsers() {
    for (method, status, expected) in [
        ("POST", "301 Moved Permanently", "GET"),
        ("POST", "302 Found", "GET"),
        ("POST", "303 See Other", "GET"),
        ("PUT", "303 See Other", "GET"),
        ("HEAD", "303 See Other", "HEAD"),
        ("PUT", "302 Found", "PUT"),
        ("DELETE", "301 Moved Permanently", "DELETE"),
        ("POST", "307 Temporary Redirect", "POST"),
        ("PATCH", "308 Permanent Redirect", "PATCH"),
    ] {
        let (server, seen) = answering(vec![to(status, "/next"), DONE.to_owned()]).await;
        let mut request = with_credentials(post(server.url(), r#"{"a":1}"#));
        request.method = method.to_owned();
        open_target().call(following(request, 1)).await.unwrap();
        let next = seen.lock().unwrap()[1].clone();
        let head = next.to_ascii_lowercase();
        assert!(
            next.starts_with(&format!("{expected} /next")),
            "{status}: {next}"
        );
        let keeps_body = expected == method;
        assert_eq!(next.ends_with(r#"{"a":1}"#), keeps_body, "{status}: {next}");
        assert_eq!(
            head.contains("content-type"),
            keeps_body,
            "{status}: {next}"
        );
        // It is the same host: all else goes along.
        for name in ["authorization", "cookie", "x-api-key", "idempotency-key"] {
            assert!(head.contains(&format!("\r\n{name}: ")), "{status}: {next}");
        }
    }
}

#[tokio::test]
async fn nothing_that_may_be_secret_goes_to_another_host() {
    let (other, seen) = answering(vec![DONE.to_owned()]).await;
    let (server, _) = answering(vec![to("307 Temporary Redirect", &other.url())]).await;
    let request = with_credentials(post(server.url(), r#"{"a":1}"#));
    let answer = open_target().call(following(request, 1)).await.unwrap();
    assert_eq!(url_of(&answer.output), other.url());
    let request = seen.lock().unwrap()[0].to_ascii_lowercase();
    for name in [
        "authorization",
        "cookie",
        "x-api-key",
        "accept-language",
        "idempotency-key",
        "x-refire-execution",
    ] {
        assert!(!request.contains(&format!("\r\n{name}:")), "{request}");
    }
    assert!(!request.contains(&SECRET.to_lowercase()), "{request}");
    assert!(request.contains("\r\ntraceparent:") && request.ends_with(r#"{"a":1}"#));
    assert!(request.contains(&format!("\r\nhost: {}\r\n", other.address)));

    // Neither does a body or an address that holds a secret: the redirect is not followed.
    let body = format!(r#"{{"key":"{SECRET}"}}"#);
    let echo = format!("{}?key={}", other.url(), SECRET.to_lowercase());
    for (body, location) in [(body.as_str(), other.url()), ("{}", echo)] {
        let (server, _) = answering(vec![to("308 Permanent Redirect", &location)]).await;
        let request = with_credentials(post(server.url(), body));
        let failure = open_target().call(following(request, 5)).await.unwrap_err();
        assert_eq!(failure.class, ErrorClass::Redirect);
        let why = "is not followed: it would take a secret to another host";
        assert!(failure.message.ends_with(why), "{}", failure.message);
        assert!(!format!("{failure:?}").contains("key="), "{failure:?}");
    }
    assert_eq!(other.requests(), 1);
}

#[tokio::test]
async fn what_was_left_behind_does_not_come_back() {
    // Back to where it came from, over another host, which learns the way from the question.
    let other = Hostile::start(|mut peer| async move {
        while let Some(request) = peer.request().await {
            let line = first_line(&request);
            let (_, port) = line.split_once("port=").unwrap();
            let port = port.split(' ').next().unwrap();
            let back = format!("http://127.0.0.1:{port}/back");
            peer.send(to("302 Found", &back)).await;
        }
    })
    .await;
    let seen = Seen::default();
    let (noted, away) = (Arc::clone(&seen), other.url());
    let server = Hostile::start(move |mut peer| {
        let (noted, away) = (Arc::clone(&noted), away.clone());
        async move {
            while let Some(request) = peer.request().await {
                let line = first_line(&request);
                noted.lock().unwrap().push(request);
                match line.split_once("port=") {
                    Some((_, port)) => {
                        let port = port.split(' ').next().unwrap();
                        peer.send(to("302 Found", &format!("{away}?port={port}")))
                            .await
                    }
                    None => peer.send(DONE).await,
                };
            }
        }
    })
    .await;
    let port = server.address.port();
    let request = with_credentials(get(format!("{}?port={port}", server.url())));
    open_target().call(following(request, 2)).await.unwrap();
    let seen = seen.lock().unwrap();
    assert!(seen[0].to_ascii_lowercase().contains("authorization"));
    assert!(seen[1].starts_with("GET /back"), "{seen:?}");
    assert!(!seen[1].to_ascii_lowercase().contains("authorization"));
}

#[tokio::test]
async fn every_hop_is_guarded_like_the_first() {
    let allowed = Allow::parse("127.0.0.1").unwrap();
    let target = HttpTarget::new(HttpSettings::new(Guard::new(allowed))).unwrap();
    for inside in [
        "http://169.254.169.254/latest/meta-data/",
        "http://127.0.0.2:1/",
        "http://[::1]:1/",
        "http://0x7f000002/",
        "//10.0.0.1/",
    ] {
        let (server, _) = answering(vec![to("302 Found", inside)]).await;
        let failure = target
            .call(following(get(server.url()), 5))
            .await
            .unwrap_err();
        assert_eq!(failure.class, ErrorClass::AddressRefused, "{inside}");
        assert!(!failure.retryable);
    }
    for nowhere in ["ftp://127.0.0.1/", "http://user:pass@127.0.0.1/", "http://"] {
        let (server, _) = answering(vec![to("302 Found", nowhere)]).await;
        let failure = target
            .call(following(get(server.url()), 5))
            .await
            .unwrap_err();
        assert_eq!(failure.class, ErrorClass::Redirect, "{nowhere}");
        assert!(!failure.message.contains("pass"), "{}", failure.message);
        assert_eq!(server.requests(), 1);
    }
}

#[tokio::test]
async fn one_deadline_covers_all_hops() {
    let server = Hostile::start(|mut peer| async move {
        while peer.request().await.is_some() {
            tokio::time::sleep(SHORT / 2).await;
            peer.send(to("302 Found", "/again")).await;
        }
    })
    .await;
    let mut request = following(get(server.url()), 5);
    request.timeout = SHORT;
    let began = Instant::now();
    let failure = open_target().call(request).await.unwrap_err();
    assert_eq!(failure.class, ErrorClass::ReadTimeout, "{failure:?}");
    assert!(began.elapsed() < SHORT + GRACE.min(Duration::from_millis(900)));
    assert!(server.requests() <= 3, "{}", server.requests());
}

#[tokio::test]
async fn the_recorded_address_holds_no_secret_and_no_query() {
    let location = format!("/files/{SECRET}?signature=token-of-the-target");
    let (server, seen) = answering(vec![to("302 Found", &location), DONE.to_owned()]).await;
    let request = with_credentials(get(server.url()));
    let answer = open_target().call(following(request, 1)).await.unwrap();
    assert!(seen.lock().unwrap()[1].contains("token-of-the-target"));
    assert_eq!(
        url_of(&answer.output),
        format!("{}files/***?***", server.url())
    );
}

#[tokio::test]
async fn an_answer_without_a_redirect_is_recorded_as_before() {
    let (server, _) = answering(vec![DONE.to_owned()]).await;
    let answer = open_target().call(following(get(server.url()), 5)).await;
    let names: Vec<String> = answer
        .unwrap()
        .output
        .members()
        .map(|(name, _)| name.into_owned())
        .collect();
    assert_eq!(names, ["status", "headers", "body"]);
}
