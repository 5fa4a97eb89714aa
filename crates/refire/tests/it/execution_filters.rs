//! Lists of executions by everything that can be asked of them, counts, and the search for anything.

use reqwest::Method;
use serde_json::{Value, json};

use crate::server::{Server, send};
use crate::target::Target;
use crate::workflow::one_step;

fn text(value: &Value) -> String {
    value.as_str().unwrap().to_owned()
}

async fn listed(server: &Server, query: &str) -> Vec<String> {
    let page = server
        .get(&format!("/api/executions?{query}"))
        .await
        .expect(200);
    let items = page["items"].as_array().unwrap();
    assert_eq!(page.get("searched_to"), None, "{query}");
    let found: Vec<String> = items.iter().map(|one| text(&one["execution_id"])).collect();
    let count = server
        .get(&format!("/api/executions/count?{query}"))
        .await
        .expect(200);
    assert_eq!(count["total"], found.len(), "{query}");
    assert_eq!(count["exact"], true, "{query}");
    let by_status = count["by_status"].as_object().unwrap().values();
    let total: u64 = by_status.map(|number| number.as_u64().unwrap()).sum();
    assert_eq!(count["total"], total, "{query}");
    found
}

/// One that completed by hand, one with a key, one that a webhook started, one that failed.
struct Cast {
    server: Server,
    _target: Target,
    plain: String,
    keyed: String,
    hooked: String,
    failed: String,
    trigger: Value,
}

impl Cast {
    async fn new() -> Self {
        let (server, target) = (Server::start().await, Target::start().await);
        target.answers("/broken", &[404]);
        for (workflow, path) in [
            ("ship_order", "/x"),
            ("ship_gift", "/x"),
            ("refund", "/broken"),
        ] {
            server
                .apply(workflow, &one_step(workflow, &target.url(path)))
                .await;
        }
        let run = async |path: &str, key: Option<&str>| {
            let mut request = server.request(Method::POST, path).body("{}");
            if let Some(key) = key {
                request = request.header("idempotency-key", key);
            }
            text(&send(request).await.expect(200)["execution_id"])
        };
        let plain = run("/api/workflows/ship_order/execute?wait=20s", None).await;
        let key = Some("order 4711");
        let keyed = run("/api/workflows/ship_gift/execute?wait=20s", key).await;
        let settings =
            r#"{"trigger_type":"webhook","authentication":"none","name":"From the shop"}"#;
        let path = "/api/workflows/ship_order/triggers";
        let trigger = server.post(path, settings).await.expect(201);
        let address = format!("/webhooks/{}", text(&trigger["webhook_id"]));
        let hooked = run(&address, Some("hook-1")).await;
        server.reaches(&hooked, "completed").await;
        let failed = run("/api/workflows/refund/execute?wait=20s", None).await;
        Self {
            server,
            _target: target,
            plain,
            keyed,
            hooked,
            failed,
            trigger,
        }
    }
}

#[tokio::test]
async fn filters_find_what_they_say() {
    let cast = Cast::new().await;
    let trigger = text(&cast.trigger["id"]);
    let middle = text(&cast.trigger["created_at"]);
    let ids = format!("ids={},{}", cast.plain, cast.failed);
    let (plain, keyed, hooked, failed) = (&cast.plain, &cast.keyed, &cast.hooked, &cast.failed);
    for (query, expected) in [
        ("workflow=ship_*", vec![hooked, keyed, plain]),
        ("workflow=refund,ship_gift", vec![failed, keyed]),
        ("workflow=*", vec![failed, hooked, keyed, plain]),
        ("status=dlq", vec![failed]),
        (&format!("trigger={trigger}"), vec![hooked]),
        ("trigger_type=webhook,cron", vec![hooked]),
        ("trigger_type=manual", vec![failed, keyed, plain]),
        (&format!("from={middle}"), vec![failed, hooked]),
        (&format!("to={middle}"), vec![keyed, plain]),
        ("key=order%204711", vec![keyed]),
        ("key=hook-1", vec![hooked]),
        ("key=nobody", vec![]),
        (&ids, vec![failed, plain]),
        (&format!("{ids}&status=completed"), vec![plain]),
        ("version=1", vec![failed, hooked, keyed, plain]),
        ("version=2", vec![]),
        ("error_type=http_status", vec![failed]),
        ("error_type=dns,tls", vec![]),
        ("q=ORDER", vec![hooked, plain]),
        ("q=404", vec![failed]),
        (&format!("q={keyed}"), vec![keyed]),
        ("q=order%204711", vec![keyed]),
        ("q=order%204711&status=dlq", vec![]),
        ("q=nothing", vec![]),
    ] {
        let expected: Vec<String> = expected.into_iter().cloned().collect();
        assert_eq!(listed(&cast.server, query).await, expected, "{query}");
    }
    let count = cast.server.get("/api/executions/count").await.expect(200);
    let expected = json!({"total": 4, "exact": true, "by_status": {"completed": 3, "dlq": 1}});
    assert_eq!(count, expected);
}

#[tokio::test]
async fn wrong_filters_are_named() {
    let server = Server::start().await;
    let many: Vec<String> = (0..101)
        .map(|_| "exec_01j9x8w7v6t5s4r3q2p1n0m9k8".to_owned())
        .collect();
    let many = format!("ids={}", many.join(","));
    for (query, field) in [
        ("workflow=a*b", "workflow"),
        ("workflow=a**", "workflow"),
        ("workflow=ok,-a", "workflow"),
        ("trigger=exec_1", "trigger"),
        ("trigger_type=fax", "trigger_type"),
        ("from=yesterday", "from"),
        ("ids=exec_1", "ids"),
        (&many, "ids"),
        ("version=0", "version"),
    ] {
        for path in ["/api/executions", "/api/executions/count"] {
            let answer = server.get(&format!("{path}?{query}")).await;
            let problem = answer.problem(400, "RF0003");
            assert_eq!(problem["errors"][0]["field"], field, "{query}");
        }
    }
    server
        .get("/api/executions/count?limit=1")
        .await
        .problem(400, "RF0003");
}

async fn found(server: &Server, q: &str) -> Vec<(String, String)> {
    let answer = server.get(&format!("/api/search?q={q}")).await.expect(200);
    let items = answer["items"].as_array().unwrap().iter();
    items
        .map(|hit| (text(&hit["kind"]), text(&hit["id"])))
        .collect()
}

#[tokio::test]
async fn anything_is_found_by_its_id_its_key_or_its_name() {
    let cast = Cast::new().await;
    let server = &cast.server;
    let shown = server
        .get(&format!("/api/executions/{}", cast.failed))
        .await
        .expect(200);
    let (letter, trace) = (text(&shown["dlq_entry_id"]), text(&shown["trace_id"]));
    let (trigger, address) = (text(&cast.trigger["id"]), text(&cast.trigger["webhook_id"]));
    let node = server.get("/api/nodes").await.expect(200);
    let node = text(&node["items"][0]["node_id"]);
    let is = |kind: &str, id: &str| vec![(kind.to_owned(), id.to_owned())];
    for (q, expected) in [
        (&*cast.plain, is("execution", &cast.plain)),
        (&letter, is("dead_letter", &letter)),
        (&trigger, is("trigger", &trigger)),
        (&address, is("trigger", &trigger)),
        (&node, is("node", &node)),
        (&trace, is("execution", &cast.failed)),
        ("order%204711", is("execution", &cast.keyed)),
        ("GIFT", is("workflow", "ship_gift")),
        ("the%20shop", is("trigger", &trigger)),
        ("xt_unknown", vec![]),
        ("", vec![]),
    ] {
        assert_eq!(found(server, q).await, expected, "{q}");
    }
    let ship = found(server, "ship").await;
    let expected = [
        ("workflow", "ship_gift"),
        ("workflow", "ship_order"),
        ("trigger", &trigger),
    ];
    assert_eq!(
        ship,
        expected.map(|(kind, id)| (kind.to_owned(), id.to_owned()))
    );
    let hit = server
        .get(&format!("/api/search?q={letter}"))
        .await
        .expect(200);
    let hit = &hit["items"][0];
    assert_eq!(hit["path"], format!("/dlq/{letter}"));
    assert_eq!(hit["status"], "pending");
    assert!(text(&hit["title"]).starts_with("refund: "), "{hit}");
}
