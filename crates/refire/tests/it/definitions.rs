//! Definitions: saved, versioned, compared, and refused with every reason.

use reqwest::Method;
use serde_json::json;

use crate::server::{Server, send};
use crate::workflow::one_step;

const URL: &str = "https://x.example/";

#[tokio::test]
async fn a_deleted_workflow_comes_back() {
    let server = Server::start().await;
    let yaml = one_step("w", URL);
    server.apply("w", &yaml).await;
    server.delete("/api/workflows/w").await.expect(200);
    let back = json!({"workflow_id": "w", "version": 1, "created": false, "restored": true,
                      "notes": []});
    let checked = server.post("/api/workflows/validate", yaml.clone()).await;
    assert_eq!(checked.expect(200), back);
    assert_eq!(server.apply("w", &yaml).await, back);
    assert_eq!(server.apply("w", &yaml).await.get("restored"), None);
}

#[tokio::test]
async fn what_is_sent_as_json_must_be_json() {
    let server = Server::start().await;
    let text = r#"{"id": "w", "steps": [{"id": "a", "type": "http",
        "config": {"url": "https://x.example/"},}]}"#;
    let put = || server.request(Method::PUT, "/api/workflows/w").body(text);
    let typed = put().header("content-type", "application/json; charset=utf-8");
    let problem = send(typed).await.problem(400, "RF0002");
    assert!(
        problem["detail"]
            .as_str()
            .unwrap()
            .contains("not valid JSON")
    );
    send(put()).await.expect(200);
}

#[tokio::test]
async fn a_name_that_is_nearly_right_is_told_the_right_one() {
    let server = Server::start().await;
    server
        .apply("ship_order", &one_step("ship_order", URL))
        .await;
    for (method, below) in [
        (Method::GET, ""),
        (Method::DELETE, ""),
        (Method::GET, "/versions"),
        (Method::GET, "/triggers"),
        (Method::POST, "/execute"),
    ] {
        for (name, near) in [
            ("ship_ordr", "; did you mean `ship_order`?"),
            ("invoices", "there is no workflow `invoices`"),
        ] {
            let path = format!("/api/workflows/{name}{below}");
            let request = server.request(method.clone(), &path).body("{}");
            let problem = send(request).await.problem(404, "RF0008");
            let detail = problem["detail"].as_str().unwrap();
            assert!(detail.ends_with(near), "{method} {path}: {detail}");
        }
    }
}

#[tokio::test]
async fn equal_content_makes_no_new_version() {
    let server = Server::start().await;
    let yaml = one_step("w", URL);
    let saved = server.apply("w", &yaml).await;
    assert_eq!(
        saved,
        json!({"workflow_id": "w", "version": 1, "created": true, "notes": []})
    );
    let shown = server.get("/api/workflows/w").await.expect(200);
    assert_eq!(
        (&shown["source"], &shown["steps"]),
        (&json!(yaml), &json!(1))
    );
    assert_eq!(shown["definition"]["steps"][0]["id"], "call");
    let as_json = shown["definition"].to_string();
    assert_eq!(server.apply("w", &as_json).await["created"], false);
    let changed = yaml.replace("maxRetries: 2", "maxRetries: 3");
    let checked = server
        .post("/api/workflows/validate", changed.clone())
        .await
        .expect(200);
    assert_eq!(
        (&checked["version"], &checked["created"]),
        (&json!(2), &json!(true))
    );
    let difference = json!([{"path": "retry.maxRetries", "kind": "changed", "old": 2, "new": 3}]);
    let diff = server
        .post("/api/workflows/w/diff", changed.clone())
        .await
        .expect(200);
    assert_eq!(
        (&diff["changes"], &diff["from_version"]),
        (&difference, &json!(1))
    );
    assert_eq!(
        server.get("/api/workflows/w").await.expect(200)["version"],
        1,
        "nothing was saved"
    );
    assert_eq!(server.apply("w", &changed).await["version"], 2);
    let diff = server.get("/api/workflows/w/diff").await.expect(200);
    assert_eq!(
        (&diff["changes"], &diff["to_version"]),
        (&difference, &json!(2))
    );
    let back = server
        .get("/api/workflows/w/diff?from=2&to=1")
        .await
        .expect(200);
    assert_eq!(back["changes"][0]["new"], 2);
    let versions = server.get("/api/workflows/w/versions").await.expect(200);
    assert_eq!(versions["items"][0]["version"], 2);
    assert_eq!(versions["items"][1]["created_by"], "admin");
    let first = server.get("/api/workflows/w/versions/1").await.expect(200);
    assert_eq!(first["source"], yaml);
    for path in ["versions/3", "versions/x", "diff?from=9"] {
        server
            .get(&format!("/api/workflows/w/{path}"))
            .await
            .problem(404, "RF0009");
    }
    server
        .get("/api/workflows/v/versions")
        .await
        .problem(404, "RF0008");
    server
        .get("/api/workflows/v/diff")
        .await
        .problem(404, "RF0008");
}

/// Definitions that cannot be, and a word that the answer must have.
fn wrong_ones() -> Vec<(String, &'static str)> {
    let http = |id: &str, more: &str| {
        format!("  - {{ id: {id}, type: http, config: {{ url: '{URL}' }}{more} }}\n")
    };
    vec![
        (
            format!(
                "steps:\n{}{}",
                http("a", ", needs: [b]"),
                http("b", ", needs: [a]")
            ),
            "each other",
        ),
        (
            "steps:\n  - { id: a, type: teleport, config: {} }\n".to_owned(),
            "teleport",
        ),
        (
            format!(
                "steps:\n{}",
                http("a", "").replace(URL, "${steps.zz.output.x}")
            ),
            "zz",
        ),
        (
            format!("steps:\n{}{}", http("a", ""), http("a", "")),
            "\"a\"",
        ),
        (
            format!(
                "retry: {{ initialDelay: 5 parsecs }}\nsteps:\n{}",
                http("a", "")
            ),
            "parsecs",
        ),
        (
            format!("retry: {{ maxRetries: 11 }}\nsteps:\n{}", http("a", "")),
            "11",
        ),
        (
            format!("steps:\n{}", http("a", "").replace(URL, "ftp://x")),
            "ftp",
        ),
        ("steps: []\n".to_owned(), "step"),
        ("id: other\nsteps:\n  - {id: a}\n".to_owned(), "other"),
        ("steps: [\n".to_owned(), ""),
        ("{\"steps\": [}".to_owned(), "JSON"),
        (String::new(), "empty"),
        ("just a text".to_owned(), ""),
    ]
}

#[tokio::test]
async fn every_problem_is_named_and_nothing_is_saved() {
    let server = Server::start().await;
    for (definition, named) in wrong_ones() {
        let problem = server
            .put("/api/workflows/w", definition.clone())
            .await
            .problem(400, "RF0001");
        let errors = problem["errors"].as_array().unwrap();
        assert!(!errors.is_empty(), "{definition}");
        let all = problem["errors"].to_string();
        assert!(
            all.replace("\\\"", "\"").contains(named),
            "{definition}\n{all}"
        );
        assert!(
            errors
                .iter()
                .all(|one| one["line"].is_number() && one["message"].is_string())
        );
        server
            .post("/api/workflows/validate", definition)
            .await
            .problem(400, "RF0001");
    }
    let many =
        "steps:\n  - { id: a, type: nope }\n  - { id: a b, type: http, config: { url: 7 } }\n";
    let problem = server
        .put("/api/workflows/w", many)
        .await
        .problem(400, "RF0001");
    assert!(
        problem["errors"].as_array().unwrap().len() >= 3,
        "all at once: {problem:#}"
    );
    server
        .put("/api/workflows/a%20b", one_step("w", URL))
        .await
        .problem(400, "RF0003");
    server.get("/api/workflows/w").await.problem(404, "RF0008");
    assert_eq!(
        server.get("/api/workflows").await.expect(200)["items"],
        json!([])
    );
}
