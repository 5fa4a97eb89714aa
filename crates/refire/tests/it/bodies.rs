//! Bodies that cannot be taken: refused clearly, and nothing happens.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn hostile_inputs_start_nothing() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let path = "/api/workflows/w/execute";
    let deep = "[".repeat(200_000) + &"]".repeat(200_000);
    for (body, said) in [
        (b"null".to_vec(), "null"),
        (b" null ".to_vec(), "null"),
        (b"{\"a\":".to_vec(), "EOF"),
        (b"{} {}".to_vec(), "trailing"),
        (b"{\"a\":\"\xff\"}".to_vec(), "offset 6"),
        (b"NaN".to_vec(), "expected"),
        (b"\x0c".to_vec(), "expected"),
        (deep.clone().into_bytes(), "128 levels"),
        (format!("{{\"a\":{deep}}}").into_bytes(), "128 levels"),
    ] {
        let problem = server.post(path, body).await.problem(400, "RF0002");
        assert!(
            problem["detail"].as_str().unwrap().contains(said),
            "{problem:#}"
        );
        assert_eq!(problem["instance"], path);
    }
    server
        .put("/api/workflows/v", b"id: \xff".to_vec())
        .await
        .problem(400, "RF0002");
    server
        .put("/api/workflows/v", deep)
        .await
        .problem(400, "RF0001");
    for query in [
        "priority=0",
        "priority=11",
        "priority=x",
        "delay=-1s",
        "delay=2y",
        "wait=61s",
        "wait=x",
        "foo=1",
    ] {
        server
            .post(&format!("{path}?{query}"), "")
            .await
            .problem(400, "RF0003");
    }
    assert_eq!(
        server.get("/api/executions").await.expect(200)["items"],
        json!([])
    );
    assert!(target.calls("/a").is_empty());
}

#[tokio::test]
async fn a_body_over_the_limit_is_413() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let large = vec![b'a'; 2_000_000];
    server
        .post("/api/workflows/w/execute", large.clone())
        .await
        .problem(413, "RF0021");
    let pieces: Vec<_> = large
        .chunks(10_000)
        .map(|piece| Ok::<_, std::io::Error>(piece.to_vec()))
        .collect();
    let streamed = reqwest::Body::wrap_stream(futures_util::stream::iter(pieces));
    server
        .post("/api/workflows/w/execute", streamed)
        .await
        .problem(413, "RF0021");
    server
        .put("/api/workflows/w", large)
        .await
        .problem(413, "RF0021");
    let fits = format!("\"{}\"", "a".repeat(1024 * 1024 - 2));
    let accepted = server
        .post("/api/workflows/w/execute?wait=20s", fits.clone())
        .await
        .expect(200);
    assert_eq!(accepted["status"], "completed");
    assert_eq!(target.calls("/a")[0].body.len(), fits.len());
}

#[tokio::test]
async fn unknown_paths_and_methods_are_problems() {
    let server = Server::start().await;
    server.get("/api/nothing").await.problem(404, "RF0007");
    server.get("/api/executions/").await.problem(404, "RF0007");
    let answer = send(server.request(reqwest::Method::PATCH, "/api/workflows/w")).await;
    let allowed = answer.headers["allow"].to_str().unwrap().to_owned();
    assert!(
        allowed.contains("PUT") && allowed.contains("DELETE"),
        "{allowed}"
    );
    answer.problem(405, "RF0013");
    for path in [
        "/api/executions/exec_01kb2m8x0c7q2t5v9w3y4z6a8d",
        "/api/executions/x/events",
    ] {
        server.get(path).await.problem(404, "RF0010");
    }
    let page = server.get("/docs/errors/RF0010").await;
    assert!(page.text.starts_with("# RF0010"));
}

#[tokio::test]
async fn a_backup_is_a_new_file() {
    let server = Server::start().await;
    let to = server
        .data()
        .canonicalize()
        .unwrap()
        .join("backups/copy.db");
    let body = r#"{"to":"copy.db"}"#;
    let made = server.post("/api/backup", body).await.expect(200);
    assert_eq!(made["path"], json!(to));
    let file = to.metadata().unwrap();
    assert_eq!(made["bytes"], file.len());
    assert_eq!(file.permissions().mode() & 0o777, 0o600);
    assert!(made["duration_ms"].is_number());
    for taken in [
        body,
        &json!({"to": to}).to_string(),
        r#"{"to":"no/where.db"}"#,
    ] {
        let answer = server.post("/api/backup", taken.to_owned()).await;
        answer.problem(409, "RF0020");
    }
    let key = json!({"to": server.data().canonicalize().unwrap().join("admin.key")}).to_string();
    for body in [
        "",
        "{}",
        r#"{"to":""}"#,
        r#"{"to":7}"#,
        r#"{"to":"../x.db"}"#,
        &key,
    ] {
        let body = body.to_owned();
        server
            .post("/api/backup", body)
            .await
            .problem(400, "RF0002");
    }
}
