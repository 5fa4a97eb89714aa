//! One key, one execution.

use std::collections::HashSet;

use reqwest::Method;

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

#[tokio::test]
async fn fifty_at_once_start_one() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let ask = || {
        let request = server.request(Method::POST, "/api/workflows/w/execute");
        send(
            request
                .header("Idempotency-Key", "order-1")
                .body("{\"n\":1}"),
        )
    };
    let answers = futures_util::future::join_all((0..50).map(|_| ask())).await;
    let mut replayed = 0;
    let mut ids = HashSet::new();
    for answer in answers {
        assert_eq!(answer.status, 202, "{}", answer.text);
        let is_replayed = answer.headers.get("idempotent-replayed").is_some();
        assert_eq!(answer.json()["duplicate"] == true, is_replayed);
        replayed += usize::from(is_replayed);
        ids.insert(answer.json()["execution_id"].as_str().unwrap().to_owned());
    }
    assert_eq!((ids.len(), replayed), (1, 49));
    let id = ids.into_iter().next().unwrap();
    server.reaches(&id, "completed").await;
    assert_eq!(target.calls("/a").len(), 1);
    assert_eq!(server.execution(&id).await["idempotency_key"], "order-1");
    let later = ask().await;
    assert_eq!(later.json()["status"], "completed", "its status now");
    let request = server.request(Method::POST, "/api/workflows/w/execute?wait=10s");
    let other = send(
        request
            .header("Idempotency-Key", "order-1")
            .body("{\"n\":2}"),
    )
    .await;
    let problem = other.problem(409, "RF0015");
    assert!(problem["detail"].as_str().unwrap().contains(&id));
}

#[tokio::test]
async fn a_key_belongs_to_its_workflow() {
    let (server, target) = (Server::start().await, Target::start().await);
    let mut ids = HashSet::new();
    for workflow in ["v", "w"] {
        server
            .apply(workflow, &one_step(workflow, &target.url("/a")))
            .await;
        let request = server.request(Method::POST, &format!("/api/workflows/{workflow}/execute"));
        let accepted = send(request.header("Idempotency-Key", "k"))
            .await
            .expect(202);
        ids.insert(accepted["execution_id"].as_str().unwrap().to_owned());
    }
    assert_eq!(ids.len(), 2);
    let execute = || server.request(Method::POST, "/api/workflows/w/execute");
    for key in ["", &"k".repeat(256)] {
        send(execute().header("Idempotency-Key", key))
            .await
            .problem(400, "RF0003");
    }
    let twice = execute()
        .header("Idempotency-Key", "a")
        .header("Idempotency-Key", "b");
    send(twice).await.problem(400, "RF0003");
    send(execute().header("Idempotency-Key", "k".repeat(255)))
        .await
        .expect(202);
}
