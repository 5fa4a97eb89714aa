//! Connections that do not come about, break, stay silent or are stale. Each sends at most once.

use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use refire_core::failure::ErrorClass;
use refire_engine::target::{Allow, Found, Guard, HttpSettings, HttpTarget, Lookup};
use tokio::net::TcpListener;

use super::caller::{GRACE, SHORT, Scripted, class_of, failure_of, get, open_target, post};
use crate::hostile::Hostile;

#[tokio::test]
async fn silence_ends_at_the_deadline() {
    let server = Hostile::start(|mut peer| async move { peer.silence().await }).await;
    let mut request = get(server.url());
    request.timeout = SHORT;
    let failure = failure_of(request).await;
    assert_eq!(failure.class, ErrorClass::ReadTimeout);
    assert_eq!(failure.message, "no answer within 400ms");
    assert!(failure.retryable);
}

#[tokio::test]
async fn silence_after_the_headers_ends_at_the_deadline() {
    let server = Hostile::start(|mut peer| async move {
        peer.request().await;
        peer.send("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n")
            .await;
        peer.silence().await;
    })
    .await;
    let mut request = get(server.url());
    request.timeout = SHORT;
    let failure = failure_of(request).await;
    assert_eq!(failure.class, ErrorClass::ReadTimeout);
    assert_eq!(failure.message, "the answer was not complete within 400ms");
}

#[tokio::test]
async fn a_target_that_accepts_nothing_is_a_connect_timeout() {
    // The backlog of one is full after a few connections; then the system drops what comes.
    let socket = tokio::net::TcpSocket::new_v4().unwrap();
    socket.bind(([127, 0, 0, 1], 0).into()).unwrap();
    let listener = socket.listen(1).unwrap();
    let address = listener.local_addr().unwrap();
    let mut filling = Vec::new();
    for _ in 0..4 {
        let connecting = tokio::net::TcpStream::connect(address);
        filling.push(tokio::time::timeout(Duration::from_millis(100), connecting).await);
    }

    // Once by the request's own deadline, once by the client's limit for connecting.
    let mut request = get(format!("http://{address}/"));
    request.timeout = SHORT;
    let failure = failure_of(request.clone()).await;
    assert_eq!(failure.class, ErrorClass::ConnectTimeout, "{failure:?}");
    assert_eq!(
        failure.message,
        format!("no connection to {address} within 400ms")
    );

    let mut settings = HttpSettings::new(Guard::new(Allow::All));
    settings.connect_timeout = Duration::from_millis(200);
    request.timeout = Duration::from_secs(10);
    let target = HttpTarget::new(settings).unwrap();
    let calling = tokio::time::timeout(GRACE, target.call(request));
    let failure = calling.await.unwrap().unwrap_err();
    assert_eq!(failure.class, ErrorClass::ConnectTimeout, "{failure:?}");
    assert_eq!(
        failure.message,
        format!("no connection to {address} within 200ms")
    );
    drop(listener);
}

#[tokio::test]
async fn a_lookup_that_never_ends_is_a_connect_timeout() {
    struct Never;
    impl Lookup for Never {
        fn lookup(&self, _name: &str) -> Found {
            Box::pin(std::future::pending())
        }
    }
    let mut settings = HttpSettings::new(Guard::default());
    settings.lookup = Arc::new(Never);
    let mut request = get("http://slow.example/");
    request.timeout = SHORT;
    let failure = HttpTarget::new(settings)
        .unwrap()
        .call(request)
        .await
        .unwrap_err();
    assert_eq!(failure.class, ErrorClass::ConnectTimeout);
    assert_eq!(
        failure.message,
        "no connection to slow.example:80 within 400ms"
    );
}

#[tokio::test]
async fn a_closed_port_is_refused() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let failure = failure_of(get(format!("http://{address}/path?key=value"))).await;
    assert_eq!(failure.class, ErrorClass::ConnectionRefused);
    assert_eq!(failure.message, format!("connection refused by {address}"));
    assert!(failure.retryable && !failure.causes.is_empty());
    assert!(!format!("{failure:?}").contains("key=value"));
}

#[tokio::test]
async fn a_name_without_an_address_is_a_dns_failure() {
    let failure = failure_of(get("http://does-not-exist.invalid/")).await;
    assert_eq!(failure.class, ErrorClass::Dns, "{failure:?}");
    assert_eq!(
        failure.message,
        "the name does-not-exist.invalid could not be resolved"
    );

    let mut settings = HttpSettings::new(Guard::default());
    settings.lookup = Scripted::new(&[&[]]);
    let target = HttpTarget::new(settings).unwrap();
    let failure = target.call(get("http://empty.example/")).await.unwrap_err();
    assert_eq!(failure.class, ErrorClass::Dns, "{failure:?}");
}

#[tokio::test]
async fn closing_or_resetting_at_any_point_is_a_reset() {
    for (sent, hard) in [
        ("", false),
        ("", true),
        ("HTTP/1.1 200", false),
        ("HTTP/1.1 200 OK\r\nX-A: 1\r\n", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", true),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", false),
        ("HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhalf", true),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel",
            false,
        ),
        (
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
            false,
        ),
    ] {
        let server = Hostile::start(move |mut peer| async move {
            peer.request().await;
            peer.send(sent).await;
            if hard {
                tokio::time::sleep(Duration::from_millis(50)).await;
                peer.reset();
            }
        })
        .await;
        let failure = failure_of(post(server.url(), "{}")).await;
        assert_eq!(
            failure.class,
            ErrorClass::ConnectionReset,
            "{sent:?} {hard}: {failure:?}"
        );
        assert!(
            failure.message.contains("closed the connection"),
            "{}",
            failure.message
        );
        assert_eq!(server.requests(), 1, "{sent:?}: nothing is sent twice");
    }
}

#[tokio::test]
async fn closing_before_the_request_is_read_is_a_reset() {
    let server = Hostile::start(|peer| async move { peer.reset() }).await;
    assert_eq!(class_of(server.url()).await, ErrorClass::ConnectionReset);
    assert_eq!(server.connections(), 1, "nobody connects a second time");
}

#[tokio::test]
async fn a_stale_connection_is_a_failure_and_not_a_second_request() {
    for round in 0..20 {
        let server = Hostile::start(|mut peer| async move {
            peer.request().await;
            peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
                .await;
            // The second request on the same connection is read, and then nothing comes back.
            peer.request().await;
        })
        .await;
        let target = open_target();
        target.call(post(server.url(), "1")).await.unwrap();
        // The connection goes back to the pool a moment after the answer.
        tokio::time::sleep(Duration::from_millis(20)).await;
        let failure = target.call(post(server.url(), "2")).await.unwrap_err();
        assert_eq!(failure.class, ErrorClass::ConnectionReset, "round {round}");
        assert_eq!(
            (server.requests(), server.connections()),
            (2, 1),
            "round {round}"
        );
    }
}

#[tokio::test]
async fn a_connection_that_closes_while_idle_never_doubles_a_request() {
    // The close races with the next request: it may fail or use a new connection, but what was
    // sent is never sent again.
    for pause in [0, 1, 2, 5, 20] {
        let server = Hostile::closing_after("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
        let target = open_target();
        for calls in 1..=10 {
            let outcome = target.call(post(server.url(), "1")).await;
            if let Err(failure) = outcome {
                assert_eq!(failure.class, ErrorClass::ConnectionReset, "{failure:?}");
            }
            assert!(
                server.requests() <= calls,
                "{} of {calls}",
                server.requests()
            );
            tokio::time::sleep(Duration::from_millis(pause)).await;
        }
    }
}

#[tokio::test]
async fn connections_are_kept_for_the_next_call() {
    let server = Hostile::answering("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok").await;
    let target = open_target();
    for _ in 0..5 {
        target.call(get(server.url())).await.unwrap();
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    assert_eq!((server.requests(), server.connections()), (5, 1));
}

#[tokio::test]
async fn a_call_that_is_dropped_closes_its_connection() {
    let (closed, mut seen) = tokio::sync::mpsc::unbounded_channel();
    let server = Hostile::start(move |mut peer| {
        let closed = closed.clone();
        async move {
            peer.request().await;
            peer.silence().await;
            closed.send(()).unwrap();
        }
    })
    .await;
    let target = open_target();
    let call = target.call(get(server.url()));
    assert!(
        tokio::time::timeout(Duration::from_millis(200), call)
            .await
            .is_err()
    );
    tokio::time::timeout(GRACE, seen.recv())
        .await
        .unwrap()
        .unwrap();
}

#[test]
fn proxies_of_the_environment_are_ignored() {
    // A process of its own, because the environment belongs to all tests of this one.
    let mut again = Command::new(std::env::current_exe().unwrap());
    again.args([
        "--exact",
        "target::connections::connections_are_kept_for_the_next_call",
    ]);
    for name in [
        "HTTP_PROXY",
        "http_proxy",
        "HTTPS_PROXY",
        "https_proxy",
        "ALL_PROXY",
        "all_proxy",
    ] {
        again.env(name, "http://127.0.0.1:1");
    }
    again.env_remove("NO_PROXY").env_remove("no_proxy");
    let output = again.output().unwrap();
    let shown = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success() && shown.contains("1 passed"),
        "{shown}"
    );
}
