//! Messages by mail: real SMTP over TLS, with a login, refused recipients and certificates that are not trusted.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::relay_mail::MailRelay;
use crate::server::Server;

const PASSWORD: &str = "canary06-quite-long";

async fn make(server: &Server, relay: &MailRelay, to: &[&str], ca: Option<&str>) -> String {
    let mut config = json!({
        "host": "localhost", "port": relay.port, "username": "refire", "password": PASSWORD,
        "from": "refire@example.com", "to": to,
    });
    if let Some(ca) = ca {
        config["ca"] = json!(ca);
    }
    let channel = json!({"name": "mail", "type": "email", "language": "zh-TW", "config": config});
    let made = server
        .post("/api/channels", channel.to_string())
        .await
        .expect(201);
    assert_eq!(made["config"]["password"], "***");
    made["id"].as_str().unwrap().to_owned()
}

/// Sends a test message; what became of it.
async fn test(server: &Server, id: &str) -> Value {
    let path = format!("/api/channels/{id}/test");
    let started = server.post(&path, "").await.expect(202);
    let path = format!("/api/notifications/{}", started["id"].as_str().unwrap());
    let begun = Instant::now();
    loop {
        let found = server.get(&path).await.expect(200);
        if found["status"] == "accepted" || found["status"] == "failed" {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "{found:#}");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn a_mail_is_sent_over_tls_with_a_login() {
    let (server, relay) = (Server::start().await, MailRelay::start().await);
    let to = ["ops@example.com", "nobody@example.com", "dev@example.com"];
    let id = make(&server, &relay, &to, Some(&relay.pem)).await;
    let found = test(&server, &id).await;
    assert_eq!(found["status"], "accepted", "{found:#}");
    let taken = relay.taken();
    let got: Vec<&str> = taken.iter().map(|mail| mail.to.as_str()).collect();
    assert_eq!(
        got,
        ["ops@example.com", "dev@example.com"],
        "who is unknown keeps nobody from it"
    );
    let mail = &taken[0];
    assert!(mail.was_tls);
    assert_eq!(
        mail.login.as_deref(),
        Some(format!("refire {PASSWORD}").as_str())
    );
    let message_id = format!(
        "Message-ID: <{}@example.com>",
        found["id"].as_str().unwrap()
    );
    for part in [
        &message_id,
        "Auto-Submitted: auto-generated",
        "multipart/alternative",
        "=?utf-8?b?",
    ] {
        assert!(mail.text.contains(part), "{part}: {}", mail.text);
    }
    for text in [server.log(), server.get("/api/notifications").await.text] {
        assert!(!text.contains(PASSWORD), "{text}");
    }
}

#[tokio::test]
async fn a_busy_relay_is_asked_again() {
    let (server, relay) = (Server::start().await, MailRelay::start().await);
    let id = make(&server, &relay, &["busy@example.com"], Some(&relay.pem)).await;
    let found = test(&server, &id).await;
    assert_eq!(
        (&found["status"], &found["attempts"]),
        (&json!("accepted"), &json!(2)),
        "{found:#}"
    );
    assert_eq!(relay.taken().len(), 1);
}

#[tokio::test]
async fn a_certificate_that_is_not_trusted_is_not_trusted() {
    let (server, relay) = (Server::start().await, MailRelay::start().await);
    let id = make(&server, &relay, &["ops@example.com"], None).await;
    let found = test(&server, &id).await;
    assert_eq!(
        (&found["status"], &found["error_code"]),
        (&json!("failed"), &json!("tls")),
        "{found:#}"
    );
    assert_eq!(
        found["attempts"], 1,
        "it will not be trusted in a minute either"
    );
    assert!(relay.taken().is_empty(), "and no password was sent");
}
