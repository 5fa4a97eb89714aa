//! The console's page and files: who gets which, and what the browser is told about them.

use reqwest::Method;

use crate::server::{Answer, Server, send};

/// What a browser says when somebody opens an address.
const NAVIGATES: &str = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8";

async fn open(server: &Server, path: &str) -> Answer {
    let url = format!("{}{path}", server.url);
    send(server.http.get(url).header("accept", NAVIGATES)).await
}

/// What stands between two words.
fn between<'a>(text: &'a str, before: &str, after: &str) -> &'a str {
    let (_, rest) = text.split_once(before).expect(before);
    rest.split_once(after).expect(after).0
}

/// The first file that the page loads and that is named by its content.
fn asset(page: &str) -> &str {
    let asset = page.split('"').find(|part| part.contains("assets/"));
    asset.unwrap().trim_start_matches("./")
}

#[tokio::test]
async fn every_address_of_the_console_is_its_page() {
    let server = Server::start().await;
    let mut nonces = Vec::new();
    for path in [
        "/",
        "/login",
        "/executions/exec_1?tab=events",
        "/workflows/my.flow",
    ] {
        let answer = open(&server, path).await;
        assert_eq!(answer.status, 200, "{path}: {}", answer.text);
        let header = |name: &str| answer.headers[name].to_str().unwrap().to_owned();
        assert_eq!(header("content-type"), "text/html; charset=utf-8");
        assert_eq!(header("cache-control"), "no-cache");
        assert_eq!(header("x-content-type-options"), "nosniff");
        assert_eq!(header("referrer-policy"), "same-origin");
        let policy = header("content-security-policy");
        assert!(policy.starts_with("default-src 'none'; script-src 'self';"));
        assert!(policy.contains("frame-ancestors 'none'") && !policy.contains("unsafe"));
        let nonce = between(&policy, "'nonce-", "'").to_owned();
        let named = between(&answer.text, "name=\"csp-nonce\" content=\"", "\"");
        assert_eq!(named, nonce);
        assert!(answer.text.contains("<base href=\"/\""), "{}", answer.text);
        assert!(!answer.text.contains("__"), "a placeholder was left");
        nonces.push(nonce);
    }
    nonces.sort();
    nonces.dedup();
    assert_eq!(nonces.len(), 4, "each is used once");
}

#[tokio::test]
async fn what_is_no_page_is_answered_as_before() {
    let server = Server::start().await;
    for path in [
        "/api/nothing",
        "/api",
        "/docs/nothing",
        "/webhooks/a/b",
        "/assets/gone-1.js",
        "/favicon.ico",
    ] {
        open(&server, path).await.problem(404, "RF0007");
    }
    server.get("/executions").await.problem(404, "RF0007");
    server
        .post("/executions", "{}")
        .await
        .problem(404, "RF0007");
    let home = server.get("/").await;
    assert!(home.text.starts_with("Refire "), "{}", home.text);
    assert_eq!(home.headers["vary"], "accept");
    let unknown = open(&server, "/api/executions").await;
    unknown.problem(401, "RF0006");
    assert_eq!(open(&server, "/docs/").await.status, 200);
    let head = server.http.head(format!("{}/login", server.url));
    let head = send(head.header("accept", NAVIGATES)).await;
    assert_eq!((head.status, head.text.as_str()), (200, ""));
}

#[tokio::test]
async fn files_are_packed_kept_and_not_sent_twice() {
    let server = Server::start().await;
    let page = open(&server, "/").await.text;
    let url = format!("{}/{}", server.url, asset(&page));
    let ask = |coding: &str| {
        let request = server.http.request(Method::GET, &url);
        request.header("accept-encoding", coding.to_owned())
    };
    let mut tags = Vec::new();
    for coding in ["br", "gzip", "identity"] {
        let response = ask(coding).send().await.unwrap();
        let (status, headers) = (response.status(), response.headers().clone());
        assert_eq!(status, 200, "{coding}");
        assert_eq!(
            headers["cache-control"],
            "public, max-age=31536000, immutable"
        );
        assert_eq!(headers["vary"], "accept-encoding");
        assert_eq!(headers["x-content-type-options"], "nosniff");
        let packed = headers.get("content-encoding");
        let packed = packed.map_or("identity", |value| value.to_str().unwrap());
        assert_eq!(packed, coding);
        let tag = headers["etag"].clone();
        let again = ask(coding).header("if-none-match", &tag);
        let again = send(again).await;
        assert_eq!((again.status, again.text.as_str()), (304, ""));
        assert_eq!(again.headers["etag"], tag);
        tags.push(tag);
    }
    tags.dedup();
    assert_eq!(tags.len(), 3, "one for each coding");
}

#[tokio::test]
async fn the_console_may_lie_below_a_path() {
    let public = "https://example.com/tools/refire/";
    let server = Server::start_in(&[("REFIRE_PUBLIC_URL", public)]).await;
    // As a proxy passes it on that takes the path off, and as one that does not.
    for path in ["/login", "/tools/refire/login", "/tools/refire"] {
        let page = open(&server, path).await;
        assert_eq!(page.status, 200, "{path}");
        assert!(
            page.text.contains("<base href=\"/tools/refire/\""),
            "{}",
            page.text
        );
        let asset = asset(&page.text).to_owned();
        for below in ["", "/tools/refire"] {
            let found = server.get(&format!("{below}/{asset}")).await;
            assert_eq!(found.status, 200, "{below}/{asset}");
        }
    }
    let executions = server.get("/tools/refire/api/executions").await;
    executions.expect(200);
    server.get("/api/executions").await.expect(200);
    server
        .get("/tools/other/api/executions")
        .await
        .problem(404, "RF0007");
}
