//! Lists, pages and cursors.

use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;
use crate::workflow::one_step;

fn ids(page: &Value, field: &str) -> Vec<String> {
    let items = page["items"].as_array().unwrap();
    items
        .iter()
        .map(|one| one[field].as_str().unwrap().to_owned())
        .collect()
}

async fn walk(server: &Server, path: &str, field: &str) -> Vec<Vec<String>> {
    let mut pages = Vec::new();
    let mut cursor = String::new();
    loop {
        let page = server
            .get(&format!("{path}&cursor={cursor}"))
            .await
            .expect(200);
        pages.push(ids(&page, field));
        match page["next_cursor"].as_str() {
            Some(next) => cursor = next.to_owned(),
            None => return pages,
        }
    }
}

#[tokio::test]
async fn pages_hold_everything_once_in_order() {
    let (server, target) = (Server::start().await, Target::start().await);
    let mut expected = Vec::new();
    for workflow in ["a", "b", "c"] {
        server
            .apply(workflow, &one_step(workflow, &target.url("/x")))
            .await;
    }
    for number in 0..7 {
        let workflow = if number % 2 == 0 { "a" } else { "b" };
        let path = format!("/api/workflows/{workflow}/execute?delay=1h");
        let accepted = server.post(&path, "").await.expect(202);
        expected.insert(0, accepted["execution_id"].as_str().unwrap().to_owned());
    }
    let pages = walk(&server, "/api/executions?limit=3", "execution_id").await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [3, 3, 1]);
    assert_eq!(pages.concat(), expected);
    let pages = walk(
        &server,
        "/api/executions?limit=2&workflow=a",
        "execution_id",
    )
    .await;
    assert_eq!(pages.iter().map(Vec::len).collect::<Vec<_>>(), [2, 2]);
    let pages = walk(&server, "/api/workflows?limit=2", "workflow_id").await;
    assert_eq!(
        pages,
        [vec!["a".to_owned(), "b".to_owned()], vec!["c".to_owned()]]
    );
    let expected_id = &expected[0];
    let events = format!("/api/executions/{expected_id}/events?limit=1");
    assert_eq!(
        walk(&server, &events, "event_type").await.concat(),
        ["EXECUTION_STARTED", "STEP_SCHEDULED"]
    );
    // Filters of words take several of them.
    for (query, expected) in [
        ("type=step_scheduled", vec!["STEP_SCHEDULED"]),
        (
            "type=STEP_SCHEDULED,EXECUTION_STARTED,STEP_FAILED",
            vec!["EXECUTION_STARTED", "STEP_SCHEDULED"],
        ),
        ("type=STEP_FAILED&type=STEP_COMPLETED", vec![]),
    ] {
        let path = format!("/api/executions/{expected_id}/events?{query}");
        let found = server.get(&path).await.expect(200);
        assert_eq!(ids(&found, "event_type"), expected, "{query}");
    }
    let wrong = format!("/api/executions/{expected_id}/events?type=STEP_FAILED,NO,STEP_NO");
    let problem = server.get(&wrong).await.problem(400, "RF0003");
    assert_eq!(problem["errors"].as_array().unwrap().len(), 2);
    let listed = server.get("/api/executions?limit=1").await.expect(200);
    let one = listed["items"][0].as_object().unwrap();
    assert!(!one.contains_key("input") && !one.contains_key("steps"));
}

#[tokio::test]
async fn a_cursor_of_another_list_or_filter_is_refused() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/x"))).await;
    for _ in 0..2 {
        server
            .post("/api/workflows/w/execute?delay=1h", "")
            .await
            .expect(202);
    }
    let page = server.get("/api/executions?limit=1").await.expect(200);
    let cursor = page["next_cursor"].as_str().unwrap();
    for path in [
        format!("/api/retries?cursor={cursor}"),
        format!("/api/dlq?cursor={cursor}"),
        format!("/api/workflows?cursor={cursor}"),
        format!("/api/executions?workflow=w&cursor={cursor}"),
        format!("/api/executions?status=pending&cursor={cursor}"),
        "/api/executions?cursor=nonsense".to_owned(),
        "/api/executions?cursor=%00".to_owned(),
    ] {
        let problem = server.get(&path).await.problem(400, "RF0004");
        assert_eq!(problem["errors"][0]["field"], "cursor", "{path}");
    }
    server
        .get(&format!("/api/executions?limit=7&cursor={cursor}"))
        .await
        .expect(200);
}

#[tokio::test]
async fn parameters_are_read_strictly() {
    let server = Server::start().await;
    for (path, field) in [
        ("/api/executions?limit=0", "limit"),
        ("/api/executions?limit=1001", "limit"),
        ("/api/executions?limit=ten", "limit"),
        ("/api/executions?stat=running", "stat"),
        ("/api/executions?status=done", "status"),
        ("/api/triggers?workflow=a&workflow=b", "workflow"),
        ("/api/workflows?query=1", "query"),
        ("/api/retries?status=gone", "status"),
        ("/api/dlq/summary?limit=5", "limit"),
    ] {
        let problem = server.get(path).await.problem(400, "RF0003");
        assert_eq!(problem["errors"][0]["field"], field, "{path}");
    }
    let problem = server
        .get("/api/executions?status=done")
        .await
        .problem(400, "RF0003");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("retrying, waiting, paused")
    );
    assert_eq!(
        server.get("/api/executions?limit=1000").await.expect(200),
        json!({"items": [], "next_cursor": null})
    );
}

/// What a list has of a thing, the thing itself has, too, and says the same.
#[tokio::test]
async fn a_detail_is_what_the_list_has_and_more() {
    let (server, target) = (Server::start().await, Target::start().await);
    target.answers("/x", &[404]);
    server.apply("w", &one_step("w", &target.url("/x"))).await;
    let run = "/api/workflows/w/execute?wait=20s";
    let failed = server.post(run, "{}").await.expect(200);
    let execution = failed["execution_id"].as_str().unwrap();
    let letter = failed["dlq_entry_id"].as_str().unwrap();
    let hook = r#"{"trigger_type":"webhook","authentication":"none"}"#;
    let hook = server
        .post("/api/workflows/w/triggers", hook)
        .await
        .expect(201);
    let trigger = hook["id"].as_str().unwrap();
    let address = format!("/webhooks/{}", hook["webhook_id"].as_str().unwrap());
    server.post(&address, "{}").await.expect(200);
    let requests = format!("/api/triggers/{trigger}/requests");
    let request = server.get(&requests).await.expect(200)["items"][0]["id"].clone();
    let request = request.as_str().unwrap();
    for (list, detail) in [
        ("/api/dlq", format!("/api/dlq/{letter}")),
        (
            "/api/executions?status=dlq",
            format!("/api/executions/{execution}"),
        ),
        ("/api/workflows", "/api/workflows/w".to_owned()),
        (
            "/api/workflows/w/versions",
            "/api/workflows/w/versions/1".to_owned(),
        ),
        ("/api/triggers", format!("/api/triggers/{trigger}")),
        (&*requests, format!("{requests}/{request}")),
    ] {
        let listed = server.get(list).await.expect(200)["items"][0].clone();
        let shown = server.get(&detail).await.expect(200);
        for (field, value) in listed.as_object().unwrap() {
            assert_eq!(shown[field], *value, "{field} of {detail}");
        }
    }
}
