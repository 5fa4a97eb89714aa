//! Sessions on two nodes: what one begins counts at the other, and ends at both.

use reqwest::Method;
use serde_json::json;

use crate::nodes::two;
use crate::sessions::{get, log_in, logged_in, with};

#[tokio::test]
async fn a_session_counts_at_all_nodes_until_it_ends_at_one() {
    let (a, b) = two(&[]).await;
    let cookie = logged_in(&a).await;
    get(&b, &cookie, "/api/session").await.expect(200);
    let out = with(&b, &cookie, Method::DELETE, "/api/session").await;
    assert_eq!(out.status, 204);
    get(&a, &cookie, "/api/session")
        .await
        .problem(401, "RF0081");
}

#[tokio::test]
async fn a_link_is_taken_at_one_node() {
    let (a, b) = two(&[]).await;
    for _ in 0..5 {
        let link = a.post("/api/session/links", "").await.expect(201);
        let token = link["url"].as_str().unwrap().rsplit_once('=').unwrap().1;
        let token = json!({"token": token});
        let (one, other) = tokio::join!(log_in(&a, &token), log_in(&b, &token));
        let mut statuses = [one.status, other.status];
        statuses.sort_unstable();
        assert_eq!(statuses, [200, 401], "{} {}", one.text, other.text);
    }
}
