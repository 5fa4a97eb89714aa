//! Webhooks over HTTP, as their senders see them.

use std::time::Duration;

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};
use sha2::Sha256;
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpStream;
use tokio::task::JoinSet;

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

const SECRET: &str = "your_webhook_secret_key_of_servicenow";

async fn webhook(server: &Server, target: &Target, settings: Value) -> Value {
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let request = server.request(Method::POST, "/api/workflows/w/triggers");
    send(request.body(settings.to_string())).await.expect(201)
}

fn post(server: &Server, trigger: &Value, body: &str) -> RequestBuilder {
    let path = format!("/webhooks/{}", trigger["webhook_id"].as_str().unwrap());
    // A sender has no API key.
    let request = reqwest::Client::new().post(format!("{}{path}", server.url));
    request
        .header("content-type", "application/json")
        .body(body.to_owned())
}

fn signature(body: &str) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
    mac.update(body.as_bytes());
    mac.finalize().into_bytes().to_vec()
}

fn servicenow() -> Value {
    json!({
        "trigger_type": "webhook",
        "authentication": "hmac",
        "signature_header": "X-ServiceNow-Signature",
        "secret": SECRET,
        "filters": [{"json_path": "$.event_type", "operator": "equals", "value": "incident.created"}],
    })
}

#[tokio::test]
async fn the_servicenow_sender_starts_one_execution_per_incident_and_body() {
    let (server, target) = (Server::start().await, Target::start().await);
    let trigger = webhook(&server, &target, servicenow()).await;
    assert!(
        trigger["webhook_url"]
            .as_str()
            .unwrap()
            .ends_with(trigger["webhook_id"].as_str().unwrap())
    );
    let body = r#"{"event_type":"incident.created","incident_id":"INC0010001"}"#;
    // Its sender writes base64 behind `sha256=`, its receiver expects hex: both are taken.
    let base64 = format!("sha256={}", BASE64_STANDARD.encode(signature(body)));
    let hex: String = signature(body)
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    let mut ids = Vec::new();
    for (header, status) in [(base64, "triggered"), (hex, "already_processed")] {
        let request = post(&server, &trigger, body).header("X-ServiceNow-Signature", header);
        let answer = send(request).await.expect(200);
        assert_eq!(answer["status"], status, "{answer}");
        ids.push(answer["execution_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids[0], ids[1]);
    server.reaches(&ids[0], "completed").await;
    let execution = server.execution(&ids[0]).await;
    assert_eq!(execution["trigger_type"], "webhook");
    assert_eq!(execution["trigger_id"], trigger["id"]);
    // A later event of the same incident is another one.
    let later = r#"{"event_type":"incident.created","incident_id":"INC0010001","state":2}"#;
    let signed = BASE64_STANDARD.encode(signature(later));
    let request = post(&server, &trigger, later).header("X-ServiceNow-Signature", signed);
    assert_eq!(send(request).await.expect(200)["status"], "triggered");
    let other = r#"{"event_type":"incident.closed","incident_id":"INC0010001"}"#;
    let signed = BASE64_STANDARD.encode(signature(other));
    let request = post(&server, &trigger, other).header("X-ServiceNow-Signature", signed);
    assert_eq!(send(request).await.expect(200)["status"], "filtered");
}

#[tokio::test]
async fn teams_is_answered_with_a_message() {
    let (server, target) = (Server::start().await, Target::start().await);
    let key = [7_u8; 32];
    let settings = json!({"trigger_type": "webhook", "authentication": "teams",
        "secret": BASE64_STANDARD.encode(key),
        "filters": [{"json_path": "$.text", "operator": "contains", "value": "restart"}]});
    let trigger = webhook(&server, &target, settings).await;
    let say = |text: &str, key: &[u8]| {
        let body = json!({"type": "message", "id": "1485983408511", "text": text,
            "conversation": {"id": "19:a@thread.skype"}});
        let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
        mac.update(body.to_string().as_bytes());
        let code = BASE64_STANDARD.encode(mac.finalize().into_bytes());
        post(&server, &trigger, &body.to_string()).header("Authorization", format!("HMAC {code}"))
    };
    for (text, status) in [
        ("<at>bot</at> hello", "filtered"),
        ("<at>bot</at> restart db-1", "triggered"),
        ("<at>bot</at> restart db-1", "already_processed"),
    ] {
        let answer = send(say(text, &key)).await.expect(200);
        assert_eq!(
            (&answer["status"], &answer["type"]),
            (&json!(status), &json!("message")),
            "{answer}"
        );
        let shown = answer["text"].as_str().unwrap();
        assert!(shown.starts_with(answer["message"].as_str().unwrap()));
        if let Some(id) = answer["execution_id"].as_str() {
            assert!(shown.contains(id), "{answer}");
            server.reaches(id, "completed").await;
        }
    }
    assert_eq!(target.calls("/a").len(), 1);
    // The key is what the token encodes, and not the token.
    let token = BASE64_STANDARD.encode(key);
    let wrong = send(say("restart", token.as_bytes())).await;
    wrong.problem(401, "RF0051");
    let refused = json!({"trigger_type": "webhook", "authentication": "teams",
        "secret": "this is no base64 but long enough"});
    let request = server.request(Method::POST, "/api/workflows/w/triggers");
    let problem = send(request.body(refused.to_string())).await;
    assert!(problem.text.contains("is not base64"), "{}", problem.text);
}

#[tokio::test]
async fn what_is_wrong_is_refused_and_logged_and_starts_nothing() {
    let (server, target) = (Server::start().await, Target::start().await);
    let trigger = webhook(&server, &target, servicenow()).await;
    let body = r#"{"event_type":"incident.created"}"#;
    let good = BASE64_STANDARD.encode(signature(body));
    let signed = |body: &str| {
        let signed = BASE64_STANDARD.encode(signature(body));
        post(&server, &trigger, body).header("X-ServiceNow-Signature", signed)
    };
    send(post(&server, &trigger, body))
        .await
        .problem(401, "RF0051");
    // Only the padding may be missing.
    for length in [0, 1, 20, good.len() - 2] {
        let request = post(&server, &trigger, body);
        let request = request.header("X-ServiceNow-Signature", &good[..length]);
        send(request).await.problem(401, "RF0051");
    }
    let many = format!("{},{good}", ["AAAA"; 1_000].join(","));
    let request = post(&server, &trigger, body).header("X-ServiceNow-Signature", many);
    send(request).await.problem(401, "RF0051");
    // Longer than headers may be, which is told before anybody looks at them.
    let long = ["a".repeat(64).as_str(); 1_000].join(",");
    let request = post(&server, &trigger, body).header("X-ServiceNow-Signature", long);
    send(request).await.problem(431, "RF0022");
    send(signed("{")).await.problem(400, "RF0002");
    let xml = reqwest::header::HeaderValue::from_static("text/xml");
    let mut request = signed(body).build().unwrap();
    request.headers_mut().insert("content-type", xml);
    let answer = reqwest::Client::new().execute(request).await.unwrap();
    assert_eq!(answer.status(), 415);
    send(signed(&" ".repeat(2 * 1024 * 1024)))
        .await
        .problem(413, "RF0021");
    let nobody = json!({"webhook_id": "wh_00000000000000000000000000"});
    send(post(&server, &nobody, body))
        .await
        .problem(404, "RF0050");
    let id = trigger["id"].as_str().unwrap();
    let disable = server.request(Method::POST, &format!("/api/triggers/{id}/disable"));
    send(disable).await.expect(200);
    send(signed(body)).await.problem(404, "RF0050");
    assert!(target.calls("/a").is_empty());
    let path = format!("/api/triggers/{id}/requests?limit=100");
    let wanted = [
        ("auth_failed", 6),
        ("error", 3),
        ("too_large", 1),
        ("disabled", 1),
    ];
    let began = std::time::Instant::now();
    loop {
        let log = server.get(&path).await.expect(200);
        let items = log["items"].as_array().unwrap();
        let count = |word: &str| items.iter().filter(|item| item["status"] == word).count();
        if wanted.iter().all(|(word, times)| count(word) == *times) {
            break;
        }
        assert!(began.elapsed() < Duration::from_secs(20), "{log:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

#[tokio::test]
async fn fifty_equal_requests_at_once_start_one_execution() {
    let (server, target) = (Server::start().await, Target::start().await);
    let trigger = webhook(&server, &target, servicenow()).await;
    let body = r#"{"event_type":"incident.created","n":1}"#;
    let signed = BASE64_STANDARD.encode(signature(body));
    let mut senders = JoinSet::new();
    for _ in 0..50 {
        let request = post(&server, &trigger, body)
            .header("X-ServiceNow-Signature", &signed)
            .header("Idempotency-Key", "incident-1");
        senders.spawn(async move { send(request).await.expect(200) });
    }
    let answers = senders.join_all().await;
    let said = |word: &str| answers.iter().filter(|one| one["status"] == word).count();
    assert_eq!((said("triggered"), said("already_processed")), (1, 49));
    let id = answers[0]["execution_id"].as_str().unwrap();
    assert!(answers.iter().all(|one| one["execution_id"] == id));
    server.reaches(id, "completed").await;
    let started = server.get("/api/executions?workflow=w").await.expect(200);
    assert_eq!(started["items"].as_array().unwrap().len(), 1);
    assert_eq!(target.calls("/a").len(), 1);
}

#[tokio::test]
async fn a_body_that_is_too_large_is_kept_if_it_is_signed_and_runs_when_the_limit_is_raised() {
    const BYTES: usize = 2 * 1024 * 1024;
    const LONGER_THAN_KEPT: usize = 9 * 1024 * 1024;
    let (mut server, target) = (Server::start().await, Target::start().await);
    let trigger = webhook(&server, &target, servicenow()).await;
    let id = trigger["id"].as_str().unwrap().to_owned();
    let body = |bytes: usize| {
        let text = "x".repeat(bytes);
        format!(r#"{{"event_type":"incident.created","text":"{text}"}}"#)
    };
    let large = body(BYTES);
    let good = BASE64_STANDARD.encode(signature(&large));
    let wrong = BASE64_STANDARD.encode(signature("{}"));
    let chunked = reqwest::Body::wrap_stream(futures_util::stream::iter(
        large
            .clone()
            .into_bytes()
            .chunks(0x4000)
            .map(|chunk| Ok::<_, std::convert::Infallible>(chunk.to_vec()))
            .collect::<Vec<_>>(),
    ));
    let longest = body(LONGER_THAN_KEPT);
    let too_long = BASE64_STANDARD.encode(signature(&longest));
    let requests = [
        (post(&server, &trigger, &large), &good, true),
        (post(&server, &trigger, "").body(chunked), &good, true),
        (post(&server, &trigger, &large), &wrong, false),
        (post(&server, &trigger, &longest), &too_long, false),
    ];
    let mut kept = Vec::new();
    for (request, signature, is_kept) in requests {
        let request = request.header("X-ServiceNow-Signature", signature);
        send(request).await.problem(413, "RF0021");
        let log = format!("/api/triggers/{id}/requests");
        let newest = server.get(&format!("{log}?limit=1")).await.expect(200);
        let newest = newest["items"][0]["id"].as_str().unwrap().to_owned();
        let row = server.get(&format!("{log}/{newest}")).await.expect(200);
        assert_eq!(row["status"], "too_large");
        let again = format!("{log}/{newest}/recheck");
        let problem = server.post(&again, "").await.problem(409, "RF0039");
        let detail = problem["detail"].as_str().unwrap();
        assert!(detail.contains("raise --max-body-bytes"), "{detail}");
        if is_kept {
            assert_eq!(row["body"]["text"].as_str().map(str::len), Some(BYTES));
        } else {
            assert_eq!(row["body"].as_str().map(str::len), Some(64 * 1024));
        }
        kept.push(again);
    }
    server.kill();
    server.restart_with(&["--max-body-bytes", "4194304"]);
    for again in &kept[..2] {
        let answer = server.post(again, "").await.expect(200);
        assert_eq!(answer["status"], "triggered");
        let started = answer["execution_id"].as_str().unwrap();
        let started = server.execution(started).await;
        assert_eq!(started["input"]["text"].as_str().map(str::len), Some(BYTES));
    }
    // Of what was not signed, or is longer still, only the beginning is there.
    server.post(&kept[2], "").await.problem(409, "RF0038");
    server.post(&kept[3], "").await.problem(409, "RF0039");
}

#[tokio::test]
async fn strangers_do_not_take_the_room_of_large_requests() {
    const BYTES: usize = 2 * 1024 * 1024;
    /// As many as are kept at a time, and more.
    const STRANGERS: usize = 4;
    let (server, target) = (Server::start().await, Target::start().await);
    let trigger = webhook(&server, &target, servicenow()).await;
    let place = server.url.strip_prefix("http://").unwrap();
    let mut strangers = Vec::new();
    for _ in 0..STRANGERS {
        let mut stranger = TcpStream::connect(place).await.unwrap();
        let head = format!(
            "POST /webhooks/wh_01kb2m8x0c7q2t5v9w3y4z6a8d HTTP/1.1\r\nHost: {place}\r\n\
             Content-Type: application/json\r\nContent-Length: {BYTES}\r\n\r\n{{"
        );
        stranger.write_all(head.as_bytes()).await.unwrap();
        strangers.push(stranger);
    }
    // They are being heard.
    tokio::time::sleep(Duration::from_millis(100)).await;
    let text = "x".repeat(BYTES);
    let body = format!(r#"{{"event_type":"incident.created","text":"{text}"}}"#);
    let signature = BASE64_STANDARD.encode(signature(&body));
    let request = post(&server, &trigger, &body).header("X-ServiceNow-Signature", signature);
    send(request).await.problem(413, "RF0021");
    let log = format!("/api/triggers/{}/requests", trigger["id"].as_str().unwrap());
    let newest = server.get(&format!("{log}?limit=1")).await.expect(200);
    let newest = newest["items"][0]["id"].as_str().unwrap().to_owned();
    let row = server.get(&format!("{log}/{newest}")).await.expect(200);
    assert_eq!(row["body"]["text"].as_str().map(str::len), Some(BYTES));
    drop(strangers);
}
