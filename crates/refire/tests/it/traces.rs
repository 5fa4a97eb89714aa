//! The caller's trace goes on in the calls of the steps.

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use crate::server::{Server, send};
use crate::target::{Call, Target};
use crate::workflow::one_step;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const SPAN: &str = "00f067aa0ba902b7";

fn traced(request: RequestBuilder) -> RequestBuilder {
    request
        .header("traceparent", format!("00-{TRACE}-{SPAN}-00"))
        .header("tracestate", "congo=t61rcWkgMzE")
}

fn header<'a>(call: &'a Call, name: &str) -> &'a str {
    call.headers
        .get(name)
        .map_or("", |value| value.to_str().unwrap())
}

/// The trace, the span and the flags of a call.
fn parts(call: &Call) -> (&str, &str, &str) {
    let parts: Vec<&str> = header(call, "traceparent").split('-').collect();
    let ["00", trace, span, flags] = parts[..] else {
        panic!("{parts:?}");
    };
    (trace, span, flags)
}

#[tokio::test]
async fn the_callers_trace_goes_on_in_every_attempt_and_in_retries_by_hand() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    target.answers("/a", &[503, 503, 503]);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let request = server.request(Method::POST, "/api/workflows/w/execute?wait=20s");
    let failed = send(traced(request).body("{}")).await.expect(200);
    assert_eq!(
        (&failed["status"], &failed["trace_id"]),
        (&json!("dlq"), &json!(TRACE))
    );
    // It is kept with the execution, not in memory.
    server.kill();
    server.restart();
    let letter = failed["dlq_entry_id"].as_str().unwrap();
    let retried = server.post(&format!("/api/dlq/{letter}/retry"), "").await;
    let retried = retried.expect(202)["execution_id"]
        .as_str()
        .unwrap()
        .to_owned();
    let retried = server.reaches(&retried, "completed").await;
    assert_eq!(retried["trace_id"], TRACE);
    let id = failed["execution_id"].as_str().unwrap();
    let replayed = server
        .post(&format!("/api/executions/{id}/replay"), "")
        .await;
    assert_eq!(replayed.expect(200)["identical"], true);
    let calls = target.calls("/a");
    assert_eq!(calls.len(), 4);
    let mut spans = vec![SPAN];
    for call in &calls {
        let (trace, span, flags) = parts(call);
        assert_eq!((trace, flags), (TRACE, "00"));
        assert!(!spans.contains(&span), "{span} twice");
        spans.push(span);
        assert_eq!(header(call, "tracestate"), "congo=t61rcWkgMzE");
    }
}

#[tokio::test]
async fn batches_and_webhooks_continue_a_trace_and_what_is_none_is_ignored() {
    let (server, target) = (Server::start().await, Target::start().await);
    server.apply("w", &one_step("w", &target.url("/a"))).await;
    let settings = json!({"trigger_type": "webhook", "authentication": "none"});
    let made = server.post("/api/workflows/w/triggers", settings.to_string());
    let trigger = made.await.expect(201);
    let webhook = format!("/webhooks/{}", trigger["webhook_id"].as_str().unwrap());
    let batch = server.request(Method::POST, "/api/workflows/w/execute-batch");
    let batch = send(traced(batch).body("[{}]")).await.expect(202);
    let hooked = server.request(Method::POST, &webhook);
    let hooked = send(traced(hooked).body("{}")).await.expect(200);
    for id in [
        &batch["items"][0]["accepted"]["execution_id"],
        &hooked["execution_id"],
    ] {
        let ended = server.reaches(id.as_str().unwrap(), "completed").await;
        assert_eq!(ended["trace_id"], TRACE);
    }
    for call in target.calls("/a") {
        assert_eq!(
            (parts(&call).0, header(&call, "tracestate")),
            (TRACE, "congo=t61rcWkgMzE")
        );
    }
    let broken = server.request(Method::POST, "/api/workflows/w/execute?wait=20s");
    let broken = broken
        .header("traceparent", "00-zz-1-1")
        .header("tracestate", "a=1");
    let ended = send(broken.body("{}")).await.expect(200);
    let call = target.calls("/a").pop().unwrap();
    assert_eq!(ended["trace_id"], parts(&call).0);
    assert_ne!(ended["trace_id"], TRACE);
    assert_eq!((parts(&call).2, header(&call, "tracestate")), ("01", ""));
}

#[tokio::test]
async fn a_step_may_set_a_trace_of_its_own() {
    let (server, target) = (Server::start().await, Target::start().await);
    let own = "00-11111111111111111111111111111111-2222222222222222-01";
    let definition = format!(
        "id: w\nsteps:\n  - id: call\n    type: http\n    config: {{ url: \"{}\", headers: {{ Traceparent: {own} }} }}\n",
        target.url("/a")
    );
    server.apply("w", &definition).await;
    let request = server.request(Method::POST, "/api/workflows/w/execute?wait=20s");
    send(traced(request).body("{}")).await.expect(200);
    let call = target.calls("/a").pop().unwrap();
    assert_eq!(
        (header(&call, "traceparent"), header(&call, "tracestate")),
        (own, "")
    );
}
