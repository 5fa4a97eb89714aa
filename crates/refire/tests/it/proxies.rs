//! Where a request comes from: what a proxy says of it counts only if the proxy is trusted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::server::{Server, send, until};
use crate::target::Target;
use crate::workflow::one_step;

/// Who may send, as the webhook's list has it.
const SENDER: &str = "203.0.113.7";
/// Longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(20);

/// A server with these options, and a webhook for the sender only.
async fn ready(options: &[&str]) -> (Server, Target, Value) {
    let (server, target) = (Server::start_with(options).await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let settings =
        json!({"trigger_type": "webhook", "authentication": "none", "ip_allow": [SENDER]});
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = made.await.expect(201);
    (server, target, trigger)
}

/// Sends a request with these lines of the header, the `number`-th one: its status, and where the log has
/// it from.
async fn sent(server: &Server, trigger: &Value, number: usize, lines: &[&[u8]]) -> (u16, String) {
    let mut request = reqwest::Client::new().post(trigger["webhook_url"].as_str().unwrap());
    for line in lines {
        request = request.header("X-Forwarded-For", *line);
    }
    let request = request.header("content-type", "application/json");
    let status = send(request.body("{}")).await.status;
    let path = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    let began = Instant::now();
    let newest = loop {
        let log = server.get(&path).await.expect(200);
        let items = log["items"].as_array().unwrap();
        if items.len() == number {
            break items[0].clone();
        }
        assert!(began.elapsed() < PATIENCE, "{log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    };
    let word = if status == 200 {
        "triggered"
    } else {
        "ip_refused"
    };
    assert_eq!(newest["status"], word, "{newest}");
    (status, newest["source_ip"].as_str().unwrap().to_owned())
}

#[tokio::test]
async fn a_trusted_proxy_says_where_it_comes_from() {
    let (server, target, trigger) = ready(&["--trusted-proxies", "127.0.0.1, 10.0.0.0/8"]).await;
    let cases: [(&[&str], u16, &str); 11] = [
        (&[SENDER], 200, SENDER),
        (&["203.0.113.7:51515"], 200, SENDER),
        (&["198.51.100.9"], 403, "198.51.100.9"),
        // What a client writes itself stands to the left of what the proxies add.
        (&["203.0.113.7, 198.51.100.9"], 403, "198.51.100.9"),
        (&["198.51.100.9, 203.0.113.7"], 200, SENDER),
        // Several proxies, from the right, up to the first that is none.
        (
            &["198.51.100.9,203.0.113.7, 10.1.2.3 ,10.9.9.9"],
            200,
            SENDER,
        ),
        (&["203.0.113.7, 192.0.2.1, 10.9.9.9"], 403, "192.0.2.1"),
        (&["198.51.100.9", "203.0.113.7", "10.1.2.3"], 200, SENDER),
        // Behind what cannot be read nobody is believed.
        (&["203.0.113.7, unknown, 10.1.2.3"], 403, "10.1.2.3"),
        (&["203.0.113.7,"], 403, "127.0.0.1"),
        (&[], 403, "127.0.0.1"),
    ];
    let garbage = &b"203.0.113.7, \xff\xfe"[..];
    let long = format!("{SENDER}{}", ", 10.0.0.1".repeat(1_000));
    let mut number = 0;
    let mut ask = async |lines: &[&[u8]]| {
        number += 1;
        sent(&server, &trigger, number, lines).await
    };
    for (lines, status, source) in cases {
        let bytes: Vec<_> = lines.iter().map(|line| line.as_bytes()).collect();
        assert_eq!(ask(&bytes).await, (status, source.to_owned()), "{lines:?}");
    }
    assert_eq!(ask(&[garbage]).await, (403, "127.0.0.1".to_owned()));
    let found = ask(&[long.as_bytes()]).await;
    assert_eq!(
        found,
        (403, "10.0.0.1".to_owned()),
        "its end is not looked for"
    );
    let started = server.get("/api/executions").await.expect(200);
    let started = started["items"].as_array().unwrap().len();
    assert_eq!(started, 5);
    until("all are called", || target.calls("/a").len() == started).await;
}

#[tokio::test]
async fn nobody_is_believed_who_is_not_trusted() {
    for options in [&[][..], &["--trusted-proxies", "10.0.0.0/8"]] {
        let (server, target, trigger) = ready(options).await;
        let lines = [SENDER, "203.0.113.7, 10.0.0.1", "127.0.0.1"];
        for (before, line) in lines.into_iter().enumerate() {
            let found = sent(&server, &trigger, before + 1, &[line.as_bytes()]).await;
            assert_eq!(found, (403, "127.0.0.1".to_owned()), "{options:?} {line}");
        }
        let started = server.get("/api/executions").await.expect(200);
        assert_eq!(started["items"], json!([]));
        assert!(target.calls("/a").is_empty());
    }
}
