//! Logging in to the console: with the key or a link, what a cookie may and may not do, and how a session
//! ends.

use std::process::Command;
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder};
use serde_json::{Value, json};

use crate::server::{Answer, Server, send};

const SOURCE: &str = "id: w\nsteps:\n  - {id: a, type: external_task, config: {taskType: x}}\n";

/// A request without any key.
pub(crate) fn bare(server: &Server, method: Method, path: &str) -> RequestBuilder {
    server.http.request(method, format!("{}{path}", server.url))
}

pub(crate) async fn log_in(server: &Server, body: &Value) -> Answer {
    send(bare(server, Method::POST, "/api/session").json(body)).await
}

/// What a browser sends back of the cookie that it was given.
pub(crate) fn cookie(answer: &Answer) -> String {
    let set = answer.headers["set-cookie"].to_str().unwrap();
    set.split(';').next().unwrap().to_owned()
}

/// A session that was begun with the key; its cookie.
pub(crate) async fn logged_in(server: &Server) -> String {
    let answer = log_in(server, &json!({"key": server.key})).await;
    assert_eq!(answer.status, 200, "{}", answer.text);
    cookie(&answer)
}

pub(crate) async fn with(server: &Server, cookie: &str, method: Method, path: &str) -> Answer {
    let request = bare(server, method, path)
        .header("cookie", cookie)
        .header("x-refire-console", "1")
        .header("origin", &server.url);
    send(request).await
}

pub(crate) async fn get(server: &Server, cookie: &str, path: &str) -> Answer {
    send(bare(server, Method::GET, path).header("cookie", cookie)).await
}

#[tokio::test]
async fn a_key_begins_a_session_that_reads_and_changes() {
    let server = Server::start().await;
    let answer = log_in(&server, &json!({"key": server.key})).await;
    let set = answer.headers["set-cookie"].to_str().unwrap().to_owned();
    assert!(set.starts_with("refire_session="), "{set}");
    assert!(set.ends_with("; Path=/; Max-Age=604800; HttpOnly; SameSite=Strict"));
    let cookie = cookie(&answer);
    let session = answer.expect(200);
    assert_eq!(
        (&session["actor"], &session["scopes"], &session["dev"]),
        (&json!("admin"), &json!(["admin"]), &json!(true))
    );
    assert!(session["expires_at"].is_string() && session["server_time"].is_string());
    assert_eq!(session["version"], env!("CARGO_PKG_VERSION"));
    let again = get(&server, &cookie, "/api/session").await.expect(200);
    assert_eq!(
        again["expires_at"], session["expires_at"],
        "nothing is written"
    );
    server.apply("w", SOURCE).await;
    let path = "/api/workflows/w/execute";
    let started = with(&server, &cookie, Method::POST, path).await.expect(202);
    let id = started["execution_id"].as_str().unwrap();
    let execution = get(&server, &cookie, &format!("/api/executions/{id}")).await;
    assert_eq!(execution.expect(200)["triggered_by"], "admin");
    // The same with the key tells who it is, and has no end.
    let by_key = server.get("/api/session").await.expect(200);
    assert_eq!(
        (&by_key["actor"], &by_key["expires_at"]),
        (&json!("admin"), &Value::Null)
    );
    let secret = cookie.split_once('=').unwrap().1;
    assert!(!server.log().contains(secret) && !server.log().contains(&server.key));
}

#[tokio::test]
async fn what_does_not_log_in_is_told_why() {
    let server = Server::start().await;
    log_in(&server, &json!({"key": "rf_wrong"}))
        .await
        .problem(401, "RF0006");
    log_in(&server, &json!({"token": "wrong"}))
        .await
        .problem(401, "RF0080");
    for wrong in [
        json!({}),
        json!({"key": "a", "token": "b"}),
        json!({"key": 1}),
        json!({"password": "a"}),
    ] {
        let problem = log_in(&server, &wrong).await.problem(400, "RF0002");
        assert!(
            !problem["errors"].as_array().unwrap().is_empty(),
            "{problem}"
        );
    }
    send(bare(&server, Method::GET, "/api/session"))
        .await
        .problem(401, "RF0006");
    let unknown = get(&server, "refire_session=abc", "/api/session").await;
    unknown.problem(401, "RF0081");
    let foreign = bare(&server, Method::POST, "/api/session")
        .header("origin", "https://evil.example")
        .json(&json!({"key": server.key}));
    send(foreign).await.problem(403, "RF0082");
}

#[tokio::test]
async fn ten_wrong_keys_in_a_minute_are_enough() {
    let server = Server::start().await;
    for _ in 0..12 {
        logged_in(&server).await;
    }
    for _ in 0..10 {
        let wrong = log_in(&server, &json!({"key": "rf_wrong"})).await;
        wrong.problem(401, "RF0006");
    }
    let refused = log_in(&server, &json!({"key": server.key})).await;
    let after = refused.headers["retry-after"].to_str().unwrap().to_owned();
    refused.problem(429, "RF0083");
    let after: u64 = after.parse().unwrap();
    assert!((1..=60).contains(&after), "{after}");
    server.get("/api/session").await.expect(200);
}

#[tokio::test]
async fn only_the_console_changes_something_with_a_cookie() {
    let server = Server::start().await;
    server.apply("w", SOURCE).await;
    let cookie = logged_in(&server).await;
    let change = || bare(&server, Method::DELETE, "/api/workflows/w").header("cookie", &cookie);
    let ours = || change().header("x-refire-console", "1");
    let refused = [
        change(),
        change().header("origin", &server.url),
        ours(),
        ours().header("origin", "https://evil.example"),
        ours().header("origin", "null"),
        ours()
            .header("origin", &server.url)
            .header("sec-fetch-site", "cross-site"),
    ];
    for request in refused {
        send(request).await.problem(403, "RF0082");
    }
    // A key of its own needs none of that, and counts before a cookie.
    let keyed = |key: &str| {
        let path = "/api/executions";
        bare(&server, Method::GET, path)
            .header("cookie", &cookie)
            .bearer_auth(key)
    };
    send(keyed("rf_wrong")).await.problem(401, "RF0006");
    send(keyed(&server.key)).await.expect(200);
    let same_site = ours().header("sec-fetch-site", "same-origin");
    send(same_site).await.expect(200);
}

#[tokio::test]
async fn a_cookie_does_not_fetch_tasks() {
    let server = Server::start().await;
    server.apply("w", SOURCE).await;
    server.execute("w", "{}").await;
    let cookie = logged_in(&server).await;
    for base in ["/api/external-tasks", "/api/n8n/external-tasks"] {
        let poll = format!("{base}/poll?taskType=x&workerId=browser");
        let refused = get(&server, &cookie, &poll).await;
        refused.problem(401, "RF0006");
        let listed = get(&server, &cookie, base).await.expect(200);
        assert_eq!(listed["items"][0]["status"], "PENDING", "{listed}");
    }
}

#[tokio::test]
async fn a_link_logs_in_once() {
    let mut server = Server::start().await;
    let link = server.post("/api/session/links", "").await.expect(201);
    let url = link["url"].as_str().unwrap();
    let token = url.strip_prefix(&format!("{}/login#t=", server.url));
    let token = json!({"token": token.unwrap()});
    // Nobody's cookie, and no session of its own.
    let as_cookie = format!("refire_session={}", token["token"].as_str().unwrap());
    get(&server, &as_cookie, "/api/session")
        .await
        .problem(401, "RF0081");
    server.signal("TERM");
    server.ended().await;
    server.restart();
    let first = log_in(&server, &token).await;
    let cookie = cookie(&first);
    first.expect(200);
    log_in(&server, &token).await.problem(401, "RF0080");
    get(&server, &cookie, "/api/session").await.expect(200);
    // A session that made links could go on for ever, and after its end.
    let made = with(&server, &cookie, Method::POST, "/api/session/links").await;
    made.problem(403, "RF0084");
}

/// Changes the admin key of a running server; the new one.
fn rotate(server: &Server) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_refire"))
        .env_clear()
        .envs(server.database().settings())
        .args(["admin-key", "rotate", "--data-dir"])
        .arg(server.data())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

#[tokio::test]
async fn a_session_ends_for_all_tabs_and_with_its_key() {
    let server = Server::start().await;
    let (one, other) = (logged_in(&server).await, logged_in(&server).await);
    let out = with(&server, &one, Method::DELETE, "/api/session").await;
    assert_eq!(out.status, 204);
    let gone = out.headers["set-cookie"].to_str().unwrap();
    assert!(
        gone.starts_with("refire_session=; Path=/; Max-Age=0;"),
        "{gone}"
    );
    get(&server, &one, "/api/executions")
        .await
        .problem(401, "RF0081");
    get(&server, &other, "/api/executions").await.expect(200);
    let link = server.post("/api/session/links", "").await.expect(201);
    let token = link["url"].as_str().unwrap().rsplit_once('=').unwrap().1;
    let new = rotate(&server);
    let until = Instant::now() + Duration::from_secs(20);
    while get(&server, &other, "/api/session").await.status == 200 {
        assert!(Instant::now() < until, "the session outlives its key");
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    get(&server, &other, "/api/session")
        .await
        .problem(401, "RF0081");
    log_in(&server, &json!({"token": token}))
        .await
        .problem(401, "RF0080");
    let new = json!({"key": new});
    log_in(&server, &new).await.expect(200);
}

#[tokio::test]
async fn behind_tls_the_cookie_is_the_hosts_own() {
    let public = "https://refire.example.com/sub";
    let server = Server::start_in(&[("REFIRE_PUBLIC_URL", public)]).await;
    let answer = log_in(&server, &json!({"key": server.key})).await;
    let set = answer.headers["set-cookie"].to_str().unwrap();
    assert!(set.starts_with("__Host-refire_session="), "{set}");
    assert!(
        set.ends_with("; HttpOnly; SameSite=Strict; Secure"),
        "{set}"
    );
    let cookie = cookie(&answer);
    assert_eq!(answer.expect(200)["public_url"], public);
    let plain = cookie.replace("__Host-", "");
    get(&server, &plain, "/api/session")
        .await
        .problem(401, "RF0006");
    let link = server.post("/api/session/links", "").await.expect(201);
    let url = link["url"].as_str().unwrap();
    assert!(
        url.starts_with("https://refire.example.com/sub/login#t="),
        "{url}"
    );
}
