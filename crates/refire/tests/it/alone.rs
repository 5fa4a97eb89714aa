//! The only node of an embedded database.

use serde_json::{Value, json};

use crate::server::{Server, until};
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn it_lists_itself_with_what_it_does() {
    let server = Server::start_with(&["--node-name", "alone"]).await;
    let target = Target::start().await;
    server
        .apply("w", &one_step("w", &target.url("/held")))
        .await;
    server.execute("w", "{}").await;
    until("the call arrives", || target.calls("/held").len() == 1).await;
    let page = server.get("/api/nodes").await.expect(200);
    assert_eq!(page["next_cursor"], Value::Null);
    let [node] = page["items"].as_array().unwrap().as_slice() else {
        panic!("{page:#}");
    };
    let version = server.get("/version").await.expect(200);
    let address = server.url.strip_prefix("http://").unwrap();
    for (field, expected) in [
        ("node_id", version["node_id"].clone()),
        ("name", json!("alone")),
        ("address", json!(address)),
        ("version", version["version"].clone()),
        ("running", json!(1)),
        ("holding", json!(0)),
        ("is_this", json!(true)),
    ] {
        assert_eq!(node[field], expected, "{field}");
    }
    let at = |field: &str| node[field].as_str().unwrap();
    assert!(at("started_at") <= at("renewed_at") && at("renewed_at") < at("expires_at"));
    server
        .get("/api/nodes?limit=1")
        .await
        .problem(400, "RF0003");
}
