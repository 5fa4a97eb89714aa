//! Answers that break HTTP, use its rare parts, or point elsewhere.

use refire_core::definition::StatusRange;
use refire_core::failure::ErrorClass;

use super::caller::{SHORT, body_of, class_of, failure_of, get, member, open_target};
use crate::hostile::Hostile;

#[tokio::test]
async fn what_is_not_http_is_an_invalid_response() {
    for answer in [
        "SSH-2.0-OpenSSH_9.9\r\n",
        "+OK redis\r\n",
        "\0\0\0\0\0\0\0\0\0\0\0\0",
        "HTTP/9.9 200 OK\r\n\r\n",
        "HTTP/1.1 abc OK\r\n\r\n",
        "HTTP/1.1 200 OK\r\nno colon here\r\n\r\n",
        "HTTP/1.1 200 OK\r\nX-Nul: a\0b\r\nContent-Length: 0\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: minus\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nContent-Length: 18446744073709551615\r\n\r\nabc",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabc\r\n",
        "<html>an answer of HTTP 0.9</html>",
    ] {
        let server = Hostile::closing_after(answer).await;
        let failure = failure_of(get(server.url())).await;
        assert_eq!(
            failure.class,
            ErrorClass::InvalidResponse,
            "{answer:?}: {failure:?}"
        );
        assert!(!failure.retryable);
        assert!(
            failure.message.contains("valid HTTP"),
            "{}",
            failure.message
        );
    }
}

#[tokio::test]
async fn a_server_that_speaks_first_is_not_http() {
    let server = Hostile::start(|mut peer| async move {
        peer.send("220 mail.example ESMTP\r\n").await;
        peer.silence().await;
    })
    .await;
    for _ in 0..10 {
        assert_eq!(class_of(server.url()).await, ErrorClass::InvalidResponse);
    }
}

#[tokio::test]
async fn too_many_or_too_large_headers_are_an_invalid_response() {
    let many: String = (0..10_000)
        .map(|number| format!("X-{number}: 1\r\n"))
        .collect();
    let large = format!("X-Large: {}\r\n", "a".repeat(1024 * 1024));
    let endless_name = "a".repeat(1024 * 1024);
    for headers in [many, large, endless_name] {
        let answer = format!("HTTP/1.1 200 OK\r\n{headers}Content-Length: 0\r\n\r\n");
        let server = Hostile::closing_after(answer).await;
        let failure = failure_of(get(server.url())).await;
        assert_eq!(failure.class, ErrorClass::InvalidResponse, "{failure:?}");
    }
}

#[tokio::test]
async fn content_lengths_that_lie() {
    // Too long: the rest never comes.
    let server = Hostile::closing_after("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nfour").await;
    assert_eq!(class_of(server.url()).await, ErrorClass::ConnectionReset);

    // Too short: the answer ends where it says, and its rest is no answer to the next call.
    let lie = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nfourHTTP/1.1 200 OK\r\n\
               Content-Length: 4\r\n\r\nevil";
    let server = Hostile::answering(lie).await;
    let target = open_target();
    for _ in 0..5 {
        let answer = target.call(get(server.url())).await.unwrap();
        assert_eq!(member(&answer.output, "body").as_str(), "\"four\"");
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }

    // Twice the same is allowed.
    let twice = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\nContent-Length: 4\r\n\r\nfour";
    let server = Hostile::answering(twice).await;
    assert_eq!(body_of(server.url()).await.as_str(), "\"four\"");
}

#[tokio::test]
async fn redirects_are_named_and_not_followed() {
    let elsewhere = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").await;
    for status in [300, 301, 302, 303, 307, 308] {
        for (location, named) in [
            (
                "http://169.254.169.254/latest/meta-data/",
                "http://169.254.169.254",
            ),
            ("https://other.example/?token=abc", "https://other.example"),
            ("//third.example/", "http://third.example"),
            (&elsewhere.url(), "http://127.0.0.1"),
            ("/login", "http://127.0.0.1"),
            ("file:///etc/passwd", "a file: address"),
            ("http://[broken", "redirects are not followed"),
        ] {
            let server = Hostile::answering(format!(
                "HTTP/1.1 {status} Moved\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n"
            ))
            .await;
            let failure = failure_of(get(server.url())).await;
            assert_eq!(failure.class, ErrorClass::Redirect, "{status} {location}");
            assert_eq!(failure.code, Some(status.to_string()));
            assert!(failure.message.contains(named), "{}", failure.message);
            assert!(!failure.message.contains("token"), "{}", failure.message);
            assert!(!failure.retryable);
            assert_eq!(server.requests(), 1);
        }
    }
    assert_eq!(elsewhere.connections(), 0);
}

#[tokio::test]
async fn a_redirect_that_is_expected_is_an_answer() {
    let server =
        Hostile::answering("HTTP/1.1 302 Found\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n").await;
    let mut request = get(server.url());
    request.expected = vec![StatusRange::parse("3xx").unwrap()];
    let answer = open_target().call(request).await.unwrap();
    assert_eq!(
        member(&member(&answer.output, "headers"), "location").as_str(),
        "\"/x\""
    );
    assert_eq!(server.requests(), 1);
}

#[tokio::test]
async fn not_modified_is_a_status_and_no_redirect() {
    let server = Hostile::answering("HTTP/1.1 304 Not Modified\r\n\r\n").await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(
        (failure.class, failure.code.as_deref()),
        (ErrorClass::HttpStatus, Some("304"))
    );
}

#[tokio::test]
async fn early_hints_are_skipped_but_not_without_end() {
    let hint = "HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\n";
    let answer = format!("{hint}{hint}HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42");
    let server = Hostile::answering(answer).await;
    assert_eq!(body_of(server.url()).await.as_str(), "42");

    let server = Hostile::start(move |mut peer| async move {
        peer.request().await;
        peer.send_for_ever(hint).await;
    })
    .await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(failure.class, ErrorClass::InvalidResponse, "{failure:?}");
    assert!(
        failure
            .message
            .ends_with("100 interim answers and no real one"),
        "{}",
        failure.message
    );
}

#[tokio::test]
async fn hints_now_and_then_do_not_stop_the_clock() {
    let server = Hostile::start(move |mut peer| async move {
        peer.request().await;
        while peer.send("HTTP/1.1 103 Early Hints\r\n\r\n").await {
            tokio::time::sleep(SHORT / 10).await;
        }
    })
    .await;
    let mut request = get(server.url());
    request.timeout = SHORT;
    let failure = failure_of(request).await;
    assert_eq!(failure.class, ErrorClass::ReadTimeout, "{failure:?}");
}

#[tokio::test]
async fn switching_protocols_is_an_unexpected_status() {
    let server = Hostile::closing_after(
        "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: upgrade\r\n\r\nxx",
    )
    .await;
    let failure = failure_of(get(server.url())).await;
    assert_eq!(
        (failure.class, failure.code.as_deref()),
        (ErrorClass::HttpStatus, Some("101"))
    );
}

#[tokio::test]
async fn one_target_that_hangs_does_not_slow_another() {
    let hanging = Hostile::start(|mut peer| async move { peer.silence().await }).await;
    let healthy = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n42").await;
    let target = open_target();
    let mut stuck = tokio::task::JoinSet::new();
    for _ in 0..100 {
        let (target, request) = (target.clone(), get(hanging.url()));
        stuck.spawn(async move { target.call(request).await.is_ok() });
    }
    let begun = std::time::Instant::now();
    for _ in 0..20 {
        target.call(get(healthy.url())).await.unwrap();
    }
    assert!(
        begun.elapsed() < super::caller::GRACE,
        "{:?}",
        begun.elapsed()
    );
}
