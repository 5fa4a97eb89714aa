//! Many dead letters and executions at once: previewed, done once, counted, steered, and refused with every reason.

use serde_json::{Value, json};

use crate::server::Server;
use crate::target::Target;

/// A workflow whose only step is made once.
fn fragile(id: &str, url: &str) -> String {
    format!(
        "id: {id}\nretry: {{ enabled: false }}\nsteps:\n  - id: call\n    type: http\n    \
         config: {{ method: POST, url: \"{url}\", body: \"${{input}}\" }}\n"
    )
}

/// So many dead letters of a workflow, with the inputs `{"n": 0}` and so on; their ids, newest first.
async fn dead(server: &Server, target: &Target, count: u64) -> Vec<String> {
    let path = "/dead";
    target.answers(path, &vec![404; usize::try_from(count).unwrap()]);
    server.apply("w", &fragile("w", &target.url(path))).await;
    for n in 0..count {
        let started = format!("{{\"n\":{n}}}");
        let shown = server
            .post("/api/workflows/w/execute?wait=20s", started)
            .await;
        assert_eq!(shown.expect(200)["status"], "dlq");
    }
    letters(server, "").await
}

async fn letters(server: &Server, query: &str) -> Vec<String> {
    let page = server
        .get(&format!("/api/dlq?limit=1000{query}"))
        .await
        .expect(200);
    let items = page["items"].as_array().unwrap().iter();
    items
        .map(|it| it["id"].as_str().unwrap().to_owned())
        .collect()
}

async fn bulk(server: &Server, wish: Value) -> String {
    let started = server
        .post("/api/dlq/bulk", wish.to_string())
        .await
        .expect(202);
    started["id"].as_str().unwrap().to_owned()
}

/// The job when it stands so.
async fn stands(server: &Server, id: &str, state: &str) -> Value {
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    loop {
        let job = server.get(&format!("/api/bulk/{id}")).await.expect(200);
        if job["state"] == state {
            return job;
        }
        assert!(std::time::Instant::now() < deadline, "{job:#}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}

fn counts(job: &Value) -> [u64; 3] {
    ["ok", "failed", "skipped"].map(|name| job[name].as_u64().unwrap())
}

#[tokio::test]
async fn letters_are_retried_by_a_filter_with_changed_inputs() {
    let (server, target) = (Server::start().await, Target::start().await);
    let ids = dead(&server, &target, 12).await;
    // One letter has no such value: it fails alone.
    let transform = json!({"merge": {"twice": "${input.n}", "was": "${error.code}"}});
    let mut wish = json!({
        "action": "retry",
        "filter": {"workflow_id": "w", "error_type": ["http_status"]},
        "transform": transform,
        "rate": 1000,
        "dry_run": true,
    });
    let preview = server
        .post("/api/dlq/bulk", wish.to_string())
        .await
        .expect(200);
    assert_eq!(preview["count"], 12);
    let sample = preview["sample"].as_array().unwrap();
    assert_eq!(sample.len(), 10);
    assert_eq!(sample[0]["id"], ids[0]);
    assert_eq!(sample[0]["before"], json!({"n": 11}));
    assert_eq!(
        sample[0]["after"],
        json!({"n": 11, "twice": 11, "was": "404"})
    );
    assert_eq!(
        letters(&server, "&status=pending").await.len(),
        12,
        "nothing was done"
    );
    wish["dry_run"] = json!(false);
    let id = bulk(&server, wish).await;
    let job = stands(&server, &id, "completed").await;
    assert_eq!(
        (counts(&job), &job["total"], &job["done"]),
        ([12, 0, 0], &json!(12), &json!(12))
    );
    assert_eq!(
        (&job["action"], &job["rate"]),
        (&json!("retry"), &json!(1000))
    );
    assert_eq!(job["filter"]["workflow_id"], "w");
    let items = server
        .get(&format!("/api/bulk/{id}/items?limit=5"))
        .await
        .expect(200);
    let first = &items["items"][0];
    assert_eq!(
        (&first["id"], &first["outcome"]),
        (&json!(ids[0]), &json!("ok"))
    );
    let execution = first["execution_id"].as_str().unwrap();
    server.reaches(execution, "completed").await;
    let shown = server.execution(execution).await;
    assert_eq!(shown["input"], json!({"n": 11, "twice": 11, "was": "404"}));
    let cursor = items["next_cursor"].as_str().unwrap();
    let next = server
        .get(&format!("/api/bulk/{id}/items?limit=50&cursor={cursor}"))
        .await
        .expect(200);
    assert_eq!(next["items"].as_array().unwrap().len(), 7);
    let none = server
        .get(&format!("/api/bulk/{id}/items?outcome=failed"))
        .await
        .expect(200);
    assert_eq!(none["items"], json!([]));
    for letter in &ids {
        let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
        assert_eq!(detail["retries"].as_array().unwrap().len(), 1);
    }
}

#[tokio::test]
async fn what_cannot_be_done_is_told_thing_by_thing() {
    let (server, target) = (Server::start().await, Target::start().await);
    let ids = dead(&server, &target, 3).await;
    server
        .delete(&format!("/api/dlq/{}", ids[0]))
        .await
        .expect(204);
    let transform = json!({"template": {"order": "${input.order}"}});
    let wish = json!({"action": "retry", "ids": ids, "transform": transform});
    let id = bulk(&server, wish).await;
    let job = stands(&server, &id, "completed").await;
    assert_eq!(counts(&job), [0, 2, 1]);
    assert_eq!((&job["ids"], &job["filter"]), (&json!(3), &json!(null)));
    let items = server
        .get(&format!("/api/bulk/{id}/items?outcome=failed,skipped"))
        .await
        .expect(200);
    let details: Vec<&str> = (items["items"].as_array().unwrap().iter())
        .map(|it| it["detail"].as_str().unwrap())
        .collect();
    assert_eq!(details[0], "it is deleted, not pending");
    assert!(
        details[1].contains("`${input.order}` has no value"),
        "{details:?}"
    );
    // Nothing was half done: those letters wait as before.
    assert_eq!(letters(&server, "&status=pending").await.len(), 2);
    // A deleted workflow fails its letters, and nothing else.
    server.delete("/api/workflows/w").await.expect(200);
    let wish = json!({"action": "retry", "filter": {"status": "pending"}, "rate": 100});
    let id = bulk(&server, wish).await;
    let job = stands(&server, &id, "completed").await;
    assert_eq!(counts(&job), [0, 2, 0]);
    let items = server
        .get(&format!("/api/bulk/{id}/items"))
        .await
        .expect(200);
    let why = items["items"][0]["detail"].as_str().unwrap();
    assert!(why.contains("deleted"), "{why}");
}

#[tokio::test]
async fn two_jobs_over_the_same_letters_do_each_once() {
    let (server, target) = (Server::start().await, Target::start().await);
    let ids = dead(&server, &target, 20).await;
    target.answers("/dead", &[200; 60]);
    let wish = json!({"action": "retry", "filter": {"workflow_id": "w"}, "rate": 10_000});
    let delete = json!({"action": "delete", "filter": {"workflow_id": "w"}, "rate": 10_000});
    let jobs = [
        bulk(&server, wish.clone()).await,
        bulk(&server, wish).await,
        bulk(&server, delete).await,
    ];
    let mut done = 0;
    for id in &jobs {
        done += counts(&stands(&server, id, "completed").await)[0];
    }
    assert_eq!(done, 20, "each letter by one of them");
    let mut retried = 0;
    for letter in &ids {
        let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
        retried += detail["retries"].as_array().unwrap().len();
    }
    assert_eq!(target.calls("/dead").len(), 20 + retried);
}

#[tokio::test]
async fn a_job_is_paused_resumed_and_cancelled() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    dead(&server, &target, 6).await;
    let wish = json!({"action": "delete", "filter": {"workflow_id": "w"}, "rate": 1});
    let id = bulk(&server, wish).await;
    let path = |change: &str| format!("/api/bulk/{id}/{change}");
    for _ in 0..2 {
        let paused = server.post(&path("pause"), "").await.expect(200);
        assert_eq!(paused["state"], "paused");
    }
    let done = server.get(&format!("/api/bulk/{id}")).await.expect(200)["done"]
        .as_u64()
        .unwrap();
    assert!(done < 6, "{done}");
    // It stays so over a restart.
    server.kill();
    server.restart();
    let paused = stands(&server, &id, "paused").await;
    assert_eq!(paused["done"], done);
    let listed = server
        .get("/api/bulk?state=paused,running")
        .await
        .expect(200);
    assert_eq!(listed["items"][0]["id"], id);
    server.post(&path("resume"), "").await.expect(200);
    stands(&server, &id, "running").await;
    let cancelled = server.post(&path("cancel"), "").await.expect(200);
    assert_eq!(cancelled["state"], "cancelled");
    server.post(&path("cancel"), "").await.expect(200);
    server
        .post(&path("resume"), "")
        .await
        .problem(409, "RF0092");
    server.post(&path("pause"), "").await.problem(409, "RF0092");
    let left = letters(&server, "&status=pending").await.len() as u64;
    let job = server.get(&format!("/api/bulk/{id}")).await.expect(200);
    assert_eq!(left + job["done"].as_u64().unwrap(), 6);
    server
        .get("/api/bulk/bulk_00000000000000000000000000")
        .await
        .problem(404, "RF0090");
    server
        .post("/api/bulk/nothing/pause", "")
        .await
        .problem(404, "RF0090");
}

#[tokio::test]
async fn everything_that_is_wrong_is_named_and_nothing_is_done() {
    let (server, target) = (Server::start().await, Target::start().await);
    let ids = dead(&server, &target, 1).await;
    let unknown = "dlq_00000000000000000000000000";
    let table: [(Value, &[&str]); 11] = [
        (json!({"action": "retry", "filter": {}}), &["filter"]),
        (
            json!({"action": "retry", "filter": {"archived": "all"}}),
            &["filter"],
        ),
        (json!({"action": "retry"}), &["filter"]),
        (
            json!({"action": "explode", "rate": 0, "ids": [], "include_pending": true}),
            &["action", "rate", "ids"],
        ),
        (
            json!({"action": "delete", "ids": [ids[0], ids[0], "x"], "rate": 10_001, "retries": true, "from": "start"}),
            &["from", "retries", "rate", "ids[1]", "ids[2]"],
        ),
        (
            json!({"action": "retry", "ids": [ids[0], unknown]}),
            &["ids"],
        ),
        (
            json!({"action": "retry", "filter": {"colour": "red", "from": "never", "status": ["lost"]}}),
            &["filter.status", "filter.from", "filter.colour"],
        ),
        (
            json!({"action": "retry", "filter": {"workflow_id": {"a": 1}}, "ids": [ids[0]]}),
            &["filter.workflow_id", "filter", "filter"],
        ),
        (
            json!({"action": "retry", "ids": [ids[0]], "transform": {"merge": {"a": "${input", "b": "${secret.X}"}}}),
            &["transform.merge.a"],
        ),
        (
            json!({"action": "retry", "ids": [ids[0]], "transform": {}}),
            &["transform"],
        ),
        (
            json!({"action": "retry", "filter": {"q": ids[0]}}),
            &["filter.q"],
        ),
    ];
    for (wish, fields) in table {
        let answer = server.post("/api/dlq/bulk", wish.to_string()).await;
        let problem = answer.problem(400, "RF0091");
        let errors = problem["errors"].as_array().unwrap().iter();
        let mut found: Vec<&str> = errors.map(|it| it["field"].as_str().unwrap()).collect();
        let mut fields = fields.to_vec();
        found.sort_unstable();
        fields.sort_unstable();
        assert_eq!(found, fields, "{wish}");
    }
    let wrong = json!({"action": "retry", "colour": 1, "rate": "fast"});
    server
        .post("/api/dlq/bulk", wrong.to_string())
        .await
        .problem(400, "RF0002");
    let wrong = json!({"action": "retry", "filter": {"workflow": "w"}});
    server
        .post("/api/executions/bulk", wrong.to_string())
        .await
        .problem(400, "RF0091");
    assert_eq!(
        server.get("/api/bulk").await.expect(200)["items"],
        json!([])
    );
    assert_eq!(letters(&server, "&status=pending").await, ids);
    // A filter that matches nothing is no mistake.
    let wish = json!({"action": "retry", "filter": {"workflow_id": "nobody"}});
    let id = bulk(&server, wish).await;
    assert_eq!(counts(&stands(&server, &id, "completed").await), [0, 0, 0]);
}

#[tokio::test]
async fn executions_are_steered_and_run_again() {
    let (server, target) = (Server::start().await, Target::start().await);
    let slow =
        "id: slow\nsteps:\n  - id: call\n    type: external_task\n    config: { taskType: x }\n";
    server.apply("slow", slow).await;
    let mut open = Vec::new();
    for _ in 0..5 {
        open.push(server.execute("slow", "{\"a\":1.50}").await);
    }
    let act = async |action: &str, filter: Value| {
        let wish = json!({"action": action, "filter": filter, "rate": 1000});
        let started = server.post("/api/executions/bulk", wish.to_string()).await;
        let id = started.expect(202)["id"].as_str().unwrap().to_owned();
        counts(&stands(&server, &id, "completed").await)
    };
    let of = json!({"workflow": ["slow"]});
    assert_eq!(act("pause", of.clone()).await, [5, 0, 0]);
    for id in &open {
        assert_eq!(server.execution(id).await["status"], "paused");
    }
    assert_eq!(
        act("pause", of.clone()).await,
        [0, 0, 0],
        "nothing is open and not paused"
    );
    assert_eq!(act("resume", of.clone()).await, [5, 0, 0]);
    assert_eq!(act("cancel", of.clone()).await, [5, 0, 0]);
    let again = act("run_again", of.clone()).await;
    assert_eq!(again, [5, 0, 0], "it never meets what it started");
    let newest = server
        .get("/api/executions?workflow=slow&status=waiting")
        .await
        .expect(200);
    let newest = newest["items"].as_array().unwrap();
    assert_eq!(newest.len(), 5);
    let one = server
        .execution(newest[0]["execution_id"].as_str().unwrap())
        .await;
    assert_eq!(one["trigger_type"], "manual");
    assert!(
        open.contains(&one["parent_execution_id"].as_str().unwrap().to_owned()),
        "{one:#}"
    );
    assert_eq!(one["input"], json!({"a": 1.5}));
    let dry = json!({"action": "resume", "ids": [open[0]], "dry_run": true});
    let dry = server
        .post("/api/executions/bulk", dry.to_string())
        .await
        .expect(200);
    assert_eq!(dry["sample"][0]["error"], "it is cancelled, not paused");
    // One alone.
    let path = format!("/api/executions/{}/run-again", open[0]);
    let new = server.post(&path, "").await.expect(202);
    assert_eq!(new["id"], open[0]);
    let new = server
        .execution(new["execution_id"].as_str().unwrap())
        .await;
    assert_eq!(
        (&new["status"], &new["parent_execution_id"]),
        (&json!("waiting"), &json!(open[0]))
    );
    let nobody = "/api/executions/exec_00000000000000000000000000/run-again";
    server.post(nobody, "").await.problem(404, "RF0010");
    drop(target);
}

#[tokio::test]
async fn a_retry_may_ask_for_the_retries_of_its_workflow() {
    let (server, target) = (Server::start().await, Target::start().await);
    let policy = "retry: { maxRetries: 2, initialDelay: 100ms, strategy: fixed, jitter: none }";
    let definition = fragile("w", &target.url("/x")).replace("retry: { enabled: false }", policy);
    target.answers("/x", &[500, 500, 500, 500, 500, 200]);
    server.apply("w", &definition).await;
    let shown = server
        .post("/api/workflows/w/execute?wait=20s", "{}")
        .await
        .expect(200);
    let letter = shown["dlq_entry_id"].as_str().unwrap().to_owned();
    let path = format!("/api/dlq/{letter}/retry");
    let once = server.post(&path, "{}").await.expect(202);
    server
        .reaches(once["execution_id"].as_str().unwrap(), "failed")
        .await;
    assert_eq!(target.calls("/x").len(), 4, "made once");
    let more = server.post(&path, r#"{"retries": true}"#).await.expect(202);
    server
        .reaches(more["execution_id"].as_str().unwrap(), "completed")
        .await;
    assert_eq!(target.calls("/x").len(), 6);
}

#[tokio::test]
async fn what_is_purged_is_gone_with_its_execution() {
    let (server, target) = (Server::start().await, Target::start().await);
    let ids = dead(&server, &target, 3).await;
    let executions: Vec<String> = {
        let page = server.get("/api/dlq").await.expect(200);
        let items = page["items"].as_array().unwrap().iter();
        items
            .map(|it| it["execution_id"].as_str().unwrap().to_owned())
            .collect()
    };
    server
        .delete(&format!("/api/dlq/{}", ids[0]))
        .await
        .expect(204);
    let purge = json!({"action": "purge", "filter": {"workflow_id": "w"}, "rate": 1000});
    let id = bulk(&server, purge).await;
    assert_eq!(counts(&stands(&server, &id, "completed").await), [1, 0, 0]);
    server
        .get(&format!("/api/dlq/{}", ids[0]))
        .await
        .problem(404, "RF0011");
    server
        .get(&format!("/api/executions/{}", executions[0]))
        .await
        .problem(404, "RF0010");
    assert_eq!(
        letters(&server, "").await.len(),
        2,
        "pending ones never go by themselves"
    );
    let purge = json!({"action": "purge", "ids": ids[1..], "include_pending": true});
    let id = bulk(&server, purge).await;
    assert_eq!(counts(&stands(&server, &id, "completed").await), [2, 0, 0]);
    assert_eq!(server.get("/api/dlq/summary").await.expect(200)["count"], 0);
    let archived = server.get("/api/dlq?archived=true").await.expect(200);
    assert_eq!(archived["items"], json!([]));
    server
        .get("/api/dlq?archived=maybe")
        .await
        .problem(400, "RF0003");
}

/// Letters of the test with a server that is killed.
const MANY: usize = 150;

#[tokio::test]
async fn a_job_goes_on_after_kills_and_does_each_once() {
    let (mut server, target) = (Server::start().await, Target::start().await);
    target.answers("/dead", &[404; MANY]);
    server.apply("w", &fragile("w", &target.url("/dead"))).await;
    let inputs: Vec<Value> = (0..MANY).map(|n| json!({"input": {"n": n}})).collect();
    let path = "/api/workflows/w/execute-batch";
    server
        .post(path, json!(inputs).to_string())
        .await
        .expect(202);
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(20);
    while letters(&server, "").await.len() < MANY {
        assert!(std::time::Instant::now() < deadline);
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    let wish = json!({"action": "retry", "filter": {"workflow_id": "w"}, "rate": 100});
    let id = bulk(&server, wish).await;
    for share in [20, 60, 100] {
        loop {
            let job = server.get(&format!("/api/bulk/{id}")).await.expect(200);
            if job["done"].as_u64().unwrap() >= share {
                break;
            }
            assert!(std::time::Instant::now() < deadline, "{job:#}");
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
        }
        server.kill();
        server.restart();
    }
    let job = stands(&server, &id, "completed").await;
    let done = counts(&job);
    // What another retry had not settled when the job came to it again is done, or was skipped by it.
    assert_eq!(done[0] + done[2], MANY as u64, "{job:#}");
    let mut started = 0;
    for letter in letters(&server, "&status=pending,retrying,resolved").await {
        let detail = server.get(&format!("/api/dlq/{letter}")).await.expect(200);
        let retries = detail["retries"].as_array().unwrap().len();
        assert!(retries <= 1, "{letter} was retried {retries} times");
        started += retries as u64;
    }
    assert_eq!(started, done[0], "every retry has its row");
    assert_eq!(done, [MANY as u64, 0, 0], "and every letter its retry");
}
