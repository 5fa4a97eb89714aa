//! People are told: one message for a storm, through every kind of channel, whatever dies in between.

use std::time::{Duration, Instant};

use hmac::{Hmac, KeyInit as _, Mac as _};
use serde_json::{Value, json};
use sha2::Sha256;

use crate::server::{Server, send, until};
use crate::sink::Sink;
use crate::target::Target;

/// Sixteen times `canary01`, as Standard Webhooks write it.
const SECRET: &str = "whsec_Y2FuYXJ5MDFjYW5hcnkwMWNhbmFyeTAx";
const ROUTING_KEY: &str = "canary02canary02canary02canary02";

/// A channel that is told of letters: alerts about the same would be messages of their own.
#[expect(
    clippy::needless_pass_by_value,
    reason = "it is written where it is made"
)]
fn channel(kind: &str, config: Value) -> Value {
    let kinds = ["dead_letter.created", "dead_letter.resolved"];
    json!({"name": format!("ops {kind}"), "type": kind, "kinds": kinds, "config": config})
}

/// Makes a channel; its id.
async fn make(server: &Server, channel: &Value) -> String {
    let made = server
        .post("/api/channels", channel.to_string())
        .await
        .expect(201);
    made["id"].as_str().unwrap().to_owned()
}

async fn webhook(server: &Server, sink: &Sink) -> String {
    let config = json!({"url": sink.url("/hook"), "secret": SECRET});
    make(server, &channel("webhook", config)).await
}

/// A workflow whose executions fail at once.
async fn failing(server: &Server, target: &Target, id: &str) {
    let url = target.url("/gone");
    let definition = format!(
        "id: {id}\nretry: {{ enabled: false }}\nsteps:\n  - id: call\n    type: http\n    config: {{ method: POST, url: \"{url}\" }}\n"
    );
    server.apply(id, &definition).await;
}

/// Fails so many executions; the target says 404.
async fn fail(server: &Server, target: &Target, workflow: &str, count: usize) {
    target.answers("/gone", &vec![404; count]);
    let mut left = count;
    while left > 0 {
        let now = left.min(500);
        let items: Vec<Value> = (0..now).map(|_| json!({"input": {}})).collect();
        let path = format!("/api/workflows/{workflow}/execute-batch");
        let answer = server.post(&path, json!(items).to_string()).await;
        assert!(answer.status < 300, "{}", answer.text);
        left -= now;
    }
}

async fn notification(server: &Server, id: &str, status: &str) -> Value {
    let path = format!("/api/notifications/{id}");
    let begun = Instant::now();
    loop {
        let found = server.get(&path).await.expect(200);
        if found["status"] == status {
            return found;
        }
        assert!(begun.elapsed() < Duration::from_secs(15), "{found:#}");
        tokio::time::sleep(Duration::from_millis(20)).await;
    }
}

fn titles(sink: &Sink, path: &str) -> Vec<String> {
    let taken = sink.taken(path);
    taken
        .iter()
        .map(|one| one.json()["data"]["title"].as_str().unwrap().to_owned())
        .collect()
}

/// The message of three letters is signed as Standard Webhooks want it.
fn signed(sink: &Sink) {
    let hook = sink.taken("/hook").pop().unwrap();
    let data = &hook.json()["data"];
    assert_eq!(
        (&data["count"], &data["phase"], &data["workflow"]),
        (&json!(3), &json!("first"), &json!("w"))
    );
    let header = |name: &str| hook.headers[name].to_str().unwrap().to_owned();
    let key = base64::Engine::decode(&base64::prelude::BASE64_STANDARD, &SECRET[6..]).unwrap();
    let signed = format!(
        "{}.{}.{}",
        header("webhook-id"),
        header("webhook-timestamp"),
        hook.body
    );
    let mut mac = Hmac::<Sha256>::new_from_slice(&key).unwrap();
    mac.update(signed.as_bytes());
    let code = base64::Engine::encode(
        &base64::prelude::BASE64_STANDARD,
        mac.finalize().into_bytes(),
    );
    assert_eq!(header("webhook-signature"), format!("v1,{code}"));
    assert_eq!(header("webhook-id"), data["id"].as_str().unwrap());
}

/// Secrets are shown nowhere, and lists of what people run have none of it.
async fn shows_no_secret(server: &Server) {
    let lists = [
        "/api/channels",
        "/api/notifications",
        "/api/executions?limit=500",
        "/api/workflows",
        "/api/overview",
    ];
    for path in lists {
        let text = server.get(path).await.text;
        assert!(
            !text.contains("canary0") && !text.contains("Y2FuYXJ5"),
            "{path}: {text}"
        );
        assert!(
            path.contains("channel") || path.contains("notif") || !text.contains(".notify"),
            "{path}"
        );
    }
}

#[tokio::test]
async fn every_service_takes_what_it_is_sent() {
    let (server, sink, target) = (
        Server::start().await,
        Sink::start().await,
        Target::start().await,
    );
    failing(&server, &target, "w").await;
    let channels = [
        channel(
            "teams",
            json!({"url": sink.url("/teams/canary03-quite-long")}),
        ),
        channel(
            "slack",
            json!({"url": sink.url("/slack/canary04-quite-long")}),
        ),
        channel(
            "webhook",
            json!({"url": sink.url("/hook"), "secret": SECRET}),
        ),
        channel(
            "pagerduty",
            json!({"routing_key": ROUTING_KEY, "url": sink.url("/pagerduty")}),
        ),
    ];
    let mut ids = Vec::new();
    for one in &channels {
        let id = make(&server, one).await;
        let path = format!("/api/channels/{id}/test");
        let started = server.post(&path, "").await.expect(202);
        let found = notification(&server, started["id"].as_str().unwrap(), "accepted").await;
        assert_eq!(
            (&found["phase"], &found["attempts"]),
            (&json!("test"), &json!(1))
        );
        assert_eq!(found["requested_by"], "admin");
        ids.push(id);
    }
    tokio::time::sleep(Duration::from_secs(1)).await;
    fail(&server, &target, "w", 3).await;
    for path in ["/teams", "/slack", "/hook", "/pagerduty"] {
        until(path, || sink.taken(path).len() >= 2).await;
        let all = sink.all(path);
        assert!(all.iter().all(|one| one.status < 300), "{all:#?}");
        assert_eq!(all.len(), 2, "a test, and one message for three letters");
    }
    signed(&sink);
    shows_no_secret(&server).await;
    let runs = server.get("/api/executions?limit=500").await.expect(200);
    assert_eq!(runs["items"].as_array().unwrap().len(), 3);
    let page = server
        .get(&format!("/api/notifications?channel={}", ids[2]))
        .await
        .expect(200);
    assert_eq!(page["items"].as_array().unwrap().len(), 2);
    for item in page["items"].as_array().unwrap() {
        let path = format!(
            "/api/executions/{}/events",
            item["execution_id"].as_str().unwrap()
        );
        let text = server.get(&path).await.text;
        assert!(!text.contains("Y2FuYXJ5"), "{text}");
    }
    assert!(!server.log().contains("canary0"), "{}", server.log());
    let dlq = server.get("/api/dlq?limit=500").await.expect(200);
    assert_eq!(
        dlq["items"].as_array().unwrap().len(),
        3,
        "messages make no letters"
    );
}

#[tokio::test]
async fn a_letter_is_told_in_time_and_its_end_once() {
    let (server, sink, target) = (
        Server::start().await,
        Sink::start().await,
        Target::start().await,
    );
    failing(&server, &target, "w").await;
    webhook(&server, &sink).await;
    let begun = Instant::now();
    fail(&server, &target, "w", 1).await;
    until("the message", || !sink.taken("/hook").is_empty()).await;
    let took = sink.taken("/hook")[0].at - begun;
    assert!(took < Duration::from_secs(2), "{took:?}");
    let dlq = server.get("/api/dlq").await.expect(200);
    let letter = dlq["items"][0]["id"].as_str().unwrap();
    server
        .delete(&format!("/api/dlq/{letter}"))
        .await
        .expect(204);
    until("its end", || sink.taken("/hook").len() == 2).await;
    assert_eq!(
        titles(&sink, "/hook"),
        ["Dead letter: w", "Dead letters resolved: w"]
    );
    let ids: Vec<Value> = sink
        .taken("/hook")
        .iter()
        .map(|one| one.json()["data"]["group"].clone())
        .collect();
    assert_eq!(ids[0], ids[1], "under the key that it began with");
}

/// With `REFIRE_TEST_LONG` ten thousand, and the message a minute later that has them all.
#[tokio::test]
async fn a_storm_is_one_message() {
    let is_long = std::env::var_os("REFIRE_TEST_LONG").is_some();
    let (server, sink, target) = (
        Server::start().await,
        Sink::start().await,
        Target::start().await,
    );
    failing(&server, &target, "w").await;
    webhook(&server, &sink).await;
    let count = if is_long { 10_000 } else { 400 };
    let begun = Instant::now();
    fail(&server, &target, "w", count).await;
    until("the message", || !sink.taken("/hook").is_empty()).await;
    let took = sink.taken("/hook")[0].at - begun;
    assert!(
        took < Duration::from_secs(if is_long { 4 } else { 3 }),
        "{took:?}"
    );
    until("all letters", || target.calls("/gone").len() >= count).await;
    tokio::time::sleep(Duration::from_secs(2)).await;
    assert_eq!(sink.all("/hook").len(), 1, "{:#?}", titles(&sink, "/hook"));
    if is_long {
        let wait = Duration::from_secs(70).saturating_sub(begun.elapsed());
        tokio::time::sleep(wait).await;
        let all = sink.taken("/hook");
        assert_eq!(all.len(), 2);
        assert_eq!(
            (
                &all[1].json()["data"]["count"],
                &all[1].json()["data"]["phase"]
            ),
            (&json!(count), &json!("more"))
        );
    }
}

#[tokio::test]
async fn many_groups_at_once_are_a_digest() {
    let (server, sink, target) = (
        Server::start().await,
        Sink::start().await,
        Target::start().await,
    );
    webhook(&server, &sink).await;
    for n in 0..14 {
        failing(&server, &target, &format!("w{n}")).await;
    }
    target.answers("/gone", &[404; 14]);
    for n in 0..14 {
        server.execute(&format!("w{n}"), "{}").await;
    }
    until("a digest", || {
        titles(&sink, "/hook")
            .iter()
            .any(|title| title.contains("things to look at"))
    })
    .await;
    let all = sink.taken("/hook");
    let told: u64 = all
        .iter()
        .map(|one| one.json()["data"]["count"].as_u64().unwrap())
        .sum();
    until("everything", || {
        let all = sink.taken("/hook");
        all.iter()
            .map(|one| one.json()["data"]["count"].as_u64().unwrap())
            .sum::<u64>()
            == 14
    })
    .await;
    assert!(
        told <= 14 && sink.taken("/hook").len() <= 11,
        "{:?}",
        titles(&sink, "/hook")
    );
}

#[tokio::test]
async fn a_channel_that_is_down_loses_nothing_and_disturbs_nobody() {
    let (server, sink, target) = (
        Server::start().await,
        Sink::start().await,
        Target::start().await,
    );
    failing(&server, &target, "w").await;
    let id = webhook(&server, &sink).await;
    sink.down_for(2);
    fail(&server, &target, "w", 1).await;
    until("two attempts", || sink.all("/hook").len() >= 2).await;
    server.execute("w", "{}").await;
    until("the third", || !sink.taken("/hook").is_empty()).await;
    let all = sink.all("/hook");
    let ids: Vec<_> = all
        .iter()
        .map(|one| one.headers["webhook-id"].clone())
        .collect();
    assert!(
        ids.iter().all(|id| *id == ids[0]),
        "one id for all attempts: {ids:?}"
    );
    let page = server
        .get(&format!("/api/notifications?channel={id}"))
        .await
        .expect(200);
    let found = page["items"][0]["id"].as_str().unwrap();
    let first = notification(&server, found, "accepted").await;
    assert_eq!(first["attempts"], 3);
    // Sent again, whoever gets it can tell that it is the same.
    let again = server
        .post(&format!("/api/notifications/{found}/resend"), "")
        .await
        .expect(202);
    let again = notification(&server, again["id"].as_str().unwrap(), "accepted").await;
    assert_eq!(again["repeats"], found);
    assert_eq!(
        sink.taken("/hook").last().unwrap().headers["webhook-id"],
        found
    );
}

#[tokio::test]
async fn a_message_that_was_sent_and_not_recorded_comes_once_more() {
    let (mut server, sink, target) = (
        Server::start().await,
        Target::start().await,
        Target::start().await,
    );
    failing(&server, &target, "w").await;
    let config = json!({"url": sink.url("/held"), "secret": SECRET});
    make(&server, &channel("webhook", config)).await;
    fail(&server, &target, "w", 1).await;
    until("it arrives", || sink.calls("/held").len() == 1).await;
    server.kill();
    sink.release();
    server.restart();
    until("it comes again", || sink.calls("/held").len() == 2).await;
    let page = server.get("/api/notifications").await.expect(200);
    let id = page["items"][0]["id"].as_str().unwrap().to_owned();
    notification(&server, &id, "accepted").await;
    let ids: Vec<_> = sink
        .calls("/held")
        .iter()
        .map(|call| call.headers["webhook-id"].clone())
        .collect();
    assert_eq!(
        ids,
        [id.as_str(), id.as_str()],
        "at most one more, under the same id"
    );
}

#[tokio::test]
async fn a_channel_that_fails_for_good_is_marked() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/removed", &[404]);
    let config = json!({"url": target.url("/removed"), "secret": SECRET});
    let id = make(&server, &channel("webhook", config)).await;
    let started = server
        .post(&format!("/api/channels/{id}/test"), "")
        .await
        .expect(202);
    let found = notification(&server, started["id"].as_str().unwrap(), "failed").await;
    assert_eq!(
        (&found["error_code"], &found["attempts"]),
        (&json!("404"), &json!(1))
    );
    let shown = server.get(&format!("/api/channels/{id}")).await.expect(200);
    assert_eq!(shown["broken"]["notification_id"], started["id"]);
    let trouble = server.get("/api/trouble").await.expect(200);
    let kinds: Vec<&str> = trouble["items"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| it["kind"].as_str().unwrap())
        .collect();
    assert_eq!(kinds, ["channel_broken"]);
    // It works again: the next message says so.
    server
        .post(&format!("/api/channels/{id}/test"), "")
        .await
        .expect(202);
    let begun = Instant::now();
    while !server.get(&format!("/api/channels/{id}")).await.expect(200)["broken"].is_null() {
        assert!(begun.elapsed() < Duration::from_secs(10));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

#[tokio::test]
async fn channels_are_changed_and_removed() {
    let (server, sink) = (Server::start().await, Sink::start().await);
    let teams = channel(
        "teams",
        json!({"url": sink.url("/teams/canary05-quite-long")}),
    );
    let id = make(&server, &teams).await;
    let path = format!("/api/channels/{id}");
    let patch = |patch: Value| {
        let request = server.request(reqwest::Method::PATCH, &path);
        send(request.body(patch.to_string()))
    };
    let shown = patch(json!({"enabled": false, "config": {"envelope": "card"}}))
        .await
        .expect(200);
    assert_eq!(
        (&shown["enabled"], &shown["version"]),
        (&json!(false), &json!(2))
    );
    assert_eq!(
        (&shown["config"]["url"], &shown["config"]["envelope"]),
        (&json!("***"), &json!("card"))
    );
    assert!(
        shown["config"]["host"]
            .as_str()
            .unwrap()
            .starts_with("127.0.0.1")
    );
    patch(json!({"type": "slack"})).await.problem(400, "RF0085");
    patch(json!({"kinds": ["nothing"], "name": ""}))
        .await
        .problem(400, "RF0085");
    let request = server
        .request(reqwest::Method::PATCH, &path)
        .header("If-Match", "\"1\"");
    send(request.body("{\"enabled\":true}"))
        .await
        .problem(412, "RF0089");
    server.delete(&path).await.expect(204);
    server.get(&path).await.problem(404, "RF0086");
    server
        .get("/api/notifications/ntf_1")
        .await
        .problem(404, "RF0087");
    server
        .post(&format!("{path}/test"), "")
        .await
        .problem(404, "RF0086");
}

#[tokio::test]
async fn wrong_channels_are_refused_whole() {
    let server = Server::start_with(&["--allow-private-targets", "127.0.0.0/8"]).await;
    let refused = |body: Value| server.post("/api/channels", body.to_string());
    let fields = |problem: &Value| -> Vec<String> {
        let errors = problem["errors"].as_array().unwrap();
        errors
            .iter()
            .map(|error| error["field"].as_str().unwrap().to_owned())
            .collect()
    };
    let retired = channel(
        "teams",
        json!({"url": "https://acme.webhook.office.com/webhookb2/x"}),
    );
    let problem = refused(retired).await.problem(400, "RF0085");
    assert_eq!(fields(&problem), ["config.url"]);
    assert!(problem.to_string().contains("workflow"), "{problem}");
    let several = json!({"name": "", "type": "email", "kinds": ["x"], "config": {"host": "h h", "port": 0, "from": "x", "to": []}});
    let problem = refused(several).await.problem(400, "RF0085");
    for field in [
        "name",
        "kinds[0]",
        "config.host",
        "config.port",
        "config.from",
        "config.to",
    ] {
        assert!(
            fields(&problem).contains(&field.to_owned()),
            "{field}: {problem}"
        );
    }
    refused(
        json!({"name": "x".repeat(101), "type": "slack", "config": {"url": "https://x.example/y"}}),
    )
    .await
    .problem(400, "RF0085");
    assert_eq!(
        server.get("/api/channels").await.expect(200)["items"],
        json!([]),
        "nothing is half made"
    );
    let inside = channel("webhook", json!({"url": "http://10.0.0.8/hook"}));
    let problem = refused(inside).await.problem(400, "RF0085");
    assert_eq!(fields(&problem), ["config.url"]);
}

#[tokio::test]
async fn a_message_can_be_looked_at_before() {
    let server = Server::start().await;
    let channel = channel("teams", json!({"url": "https://x.logic.azure.com/y"}));
    let body = json!({"channel": channel, "phase": "first"});
    let shown = server
        .post("/api/channels/preview", body.to_string())
        .await
        .expect(200);
    assert_eq!(
        shown["body"]["attachments"][0]["content"]["type"],
        "AdaptiveCard"
    );
    assert!(
        server.get("/api/notifications").await.expect(200)["items"]
            .as_array()
            .unwrap()
            .is_empty()
    );
}
