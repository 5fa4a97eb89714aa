//! Keys: what needs one, and what is never said about them.

use reqwest::Method;

use crate::server::{Server, send};

#[tokio::test]
async fn calls_need_the_key_in_either_header() {
    let server = Server::start().await;
    let url = format!("{}/api/executions", server.url);
    let bare = || server.http.request(Method::GET, &url);
    let answer = send(bare()).await;
    assert_eq!(answer.headers["www-authenticate"], "Bearer");
    answer.problem(401, "RF0006");
    send(bare().bearer_auth("rf_wrong"))
        .await
        .problem(401, "RF0006");
    send(bare().header("X-API-Key", ""))
        .await
        .problem(401, "RF0006");
    send(bare().basic_auth("admin", Some(&server.key)))
        .await
        .problem(401, "RF0006");
    send(bare().bearer_auth(&server.key)).await.expect(200);
    send(bare().header("X-API-Key", &server.key))
        .await
        .expect(200);
    assert!(
        !server.log().contains(&server.key),
        "the key is never logged"
    );
}

#[tokio::test]
async fn some_pages_are_open() {
    let server = Server::start().await;
    for path in [
        "/livez",
        "/healthz",
        "/readyz",
        "/version",
        "/openapi.json",
        "/docs/",
        "/",
        "/api/schema/workflow",
    ] {
        let answer = send(server.http.get(format!("{}{path}", server.url))).await;
        assert_eq!(answer.status, 200, "{path}");
    }
    let version = server.get("/version").await.expect(200);
    assert_eq!(
        (&version["store"], &version["version"]),
        (
            &crate::database::KIND.into(),
            &env!("CARGO_PKG_VERSION").into()
        )
    );
}
