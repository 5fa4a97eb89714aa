//! The API in this process: the document, and what only a router test can provoke.

use axum::body::Body;
use http::{Request, StatusCode, Version};
use refire_store::sqlite::{Options, Sqlite};

use super::*;

const KEY: &str = "rf_of_the_tests";

/// An app on a store of its own.
async fn app() -> (App, tempfile::TempDir) {
    app_of(|builder| builder).await
}

/// The same with another engine.
pub(super) async fn app_of(
    change: impl FnOnce(refire_engine::Builder) -> refire_engine::Builder,
) -> (App, tempfile::TempDir) {
    let directory = tempfile::tempdir().unwrap();
    let engine = engine_in(directory.path(), change).await;
    let backups = directory.path().join("backups");
    let key = AdminKey::new(KEY);
    let app = App::new(engine, key, 1024, Outside::default(), backups, false);
    (app, directory)
}

/// An engine on what is in a directory.
pub(super) async fn engine_in(
    directory: &std::path::Path,
    change: impl FnOnce(refire_engine::Builder) -> refire_engine::Builder,
) -> Arc<Engine> {
    let _ = rustls::crypto::aws_lc_rs::default_provider().install_default();
    let now = refire_core::time::Timestamp::from_millis(0);
    let store = Sqlite::open_in(directory, &Options::new(now)).unwrap();
    change(Engine::builder(Arc::new(store)))
        .start()
        .await
        .unwrap()
}

pub(super) async fn ask(api: &Api, request: Request<Body>) -> (StatusCode, serde_json::Value) {
    let response = api.answer(request).await;
    let status = response.status();
    let body = axum::body::to_bytes(response.into_body(), 1 << 20)
        .await
        .unwrap();
    (status, serde_json::from_slice(&body).unwrap_or_default())
}

pub(super) fn request(method: &str, path: &str, body: impl Into<Body>) -> Request<Body> {
    Request::builder()
        .method(method)
        .uri(path)
        .header("host", "localhost")
        .header("x-api-key", KEY)
        .body(body.into())
        .unwrap()
}

#[tokio::test]
async fn the_committed_document_is_current() {
    const FILE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../openapi.json");
    let (app, _directory) = app().await;
    let (_, document) = routes(&app).split_for_parts();
    let mut document = document.to_pretty_json().unwrap();
    document.push('\n');
    if std::env::var_os("REFIRE_UPDATE").is_some() {
        std::fs::write(FILE, &document).unwrap();
    }
    let committed = std::fs::read_to_string(FILE).unwrap_or_default();
    assert!(
        committed == document,
        "openapi.json is not current; REFIRE_UPDATE=1 cargo test -p refire document writes it"
    );
}

#[tokio::test]
async fn every_call_has_a_name_and_asks_for_a_key_unless_it_is_open() {
    let (app, _directory) = app().await;
    let (_, document) = routes(&app).split_for_parts();
    let api = Api::new(&app).unwrap();
    let open = [
        "/livez",
        "/healthz",
        "/readyz",
        "/version",
        "/api/schema/workflow",
        "/docs/errors/{code}",
        // Each trigger says how its sender is known.
        "/webhooks/{webhook_id}",
        // The token is the credential.
        "/task-callback/{token}",
    ];
    let document = serde_json::to_value(&document).unwrap();
    let mut names = std::collections::HashSet::new();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, operation) in operations.as_object().unwrap() {
            assert!(
                names.insert(operation["operationId"].to_string()),
                "{operation}"
            );
            let request = Request::builder()
                .method(method.to_uppercase().as_str())
                .uri(path.replace(['{', '}'], ""))
                .header("host", "localhost")
                .body(Body::empty())
                .unwrap();
            let (status, _) = ask(&api, request).await;
            // Whoever logs in has no session yet.
            let is_login = (method.as_str(), path.as_str()) == ("post", "/api/session");
            let is_open = open.contains(&path.as_str()) || is_login;
            assert_eq!(
                status == StatusCode::UNAUTHORIZED,
                !is_open,
                "{method} {path}: {status}"
            );
        }
    }
    assert!(names.len() > 25, "only {} calls are described", names.len());
}

#[tokio::test]
async fn a_panic_is_a_problem_and_the_server_goes_on() {
    let (app, _directory) = app().await;
    let boom = get(|| async { panic!("on purpose") as () });
    let router = Router::new().route("/boom", boom);
    let api = Api { app, router };
    let (status, problem) = ask(&api, request("GET", "/boom", "")).await;
    assert_eq!(status, StatusCode::INTERNAL_SERVER_ERROR);
    assert_eq!(
        (&problem["code"], &problem["instance"]),
        (&"RF0023".into(), &"/boom".into())
    );
    assert!(!problem.to_string().contains("on purpose"));
}

#[tokio::test]
async fn a_stopping_server_refuses_calls_and_is_not_ready() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    assert_eq!(
        ask(&api, request("GET", "/readyz", "")).await.0,
        StatusCode::OK
    );
    app.gate.close();
    let (status, health) = ask(&api, request("GET", "/readyz", "")).await;
    assert_eq!(
        (status.as_u16(), &health["status"]),
        (503, &"stopping".into())
    );
    assert_eq!(
        ask(&api, request("GET", "/livez", "")).await.0,
        StatusCode::OK
    );
    let response = api.answer(request("GET", "/api/dlq", "")).await;
    assert_eq!(
        (
            response.status().as_u16(),
            &response.headers()["retry-after"]
        ),
        (503, &"1".parse().unwrap())
    );
}

#[tokio::test]
async fn bodies_are_bounded_whether_announced_or_not() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    let large = vec![b'a'; 1025];
    let mut announced = request("POST", "/api/retry/simulate", large.clone());
    announced
        .headers_mut()
        .insert("content-length", 1025.into());
    let streamed = Body::from_stream(futures_util::stream::iter(
        large
            .chunks(100)
            .map(|chunk| Ok::<_, std::io::Error>(chunk.to_vec()))
            .collect::<Vec<_>>(),
    ));
    for request in [announced, request("POST", "/api/retry/simulate", streamed)] {
        let (status, problem) = ask(&api, request).await;
        assert_eq!((status.as_u16(), &problem["code"]), (413, &"RF0021".into()));
    }
}

#[tokio::test]
async fn headers_are_bounded() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    let mut many = request("GET", "/livez", "");
    for number in 0..99 {
        let name = http::HeaderName::try_from(format!("x-{number}")).unwrap();
        many.headers_mut().insert(name, "1".parse().unwrap());
    }
    let mut large = request("GET", "/livez", "");
    large
        .headers_mut()
        .insert("x-large", "a".repeat(33 * 1024).parse().unwrap());
    for request in [many, large] {
        let (status, problem) = ask(&api, request).await;
        assert_eq!((status.as_u16(), &problem["code"]), (431, &"RF0022".into()));
    }
}

/// None or two let a proxy in front see another host than we do.
#[tokio::test]
async fn a_request_names_one_host() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    for (version, hosts, status) in [
        (Version::HTTP_11, &["a.example"][..], 200),
        (Version::HTTP_11, &["[::1]:7373"], 200),
        (Version::HTTP_11, &[""], 200),
        (Version::HTTP_11, &[], 400),
        (Version::HTTP_11, &["a.example", "a.example"], 400),
        (Version::HTTP_11, &["a b"], 400),
        (Version::HTTP_11, &["user@a.example"], 400),
        (Version::HTTP_10, &[], 200),
        (Version::HTTP_10, &["a", "b"], 400),
        (Version::HTTP_2, &[], 200),
    ] {
        let mut request = request("GET", "/livez", "");
        *request.version_mut() = version;
        request.headers_mut().remove("host");
        for host in hosts {
            request.headers_mut().append("host", host.parse().unwrap());
        }
        let (found, problem) = ask(&api, request).await;
        assert_eq!(found.as_u16(), status, "{version:?} {hosts:?}");
        if status == 400 {
            assert_eq!(problem["errors"][0]["field"], "Host");
        }
    }
}

#[tokio::test]
async fn answers_are_not_kept_and_not_guessed_at() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    for (path, kept) in [
        ("/api/executions", "no-store"),
        ("/api/executions/x", "no-store"),
        ("/nowhere", "no-store"),
        ("/livez", "no-store"),
        ("/openapi.json", "no-store"),
        ("/docs/page.js", "public, max-age=3600"),
        ("/docs/swagger-ui.css", "public, max-age=3600"),
    ] {
        let response = api.answer(request("GET", path, "")).await;
        let headers = response.headers();
        assert_eq!(headers["x-content-type-options"], "nosniff", "{path}");
        assert_eq!(headers["cache-control"], kept, "{path}");
    }
}

#[tokio::test]
async fn what_is_refused_elsewhere_is_a_problem_too() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    for (method, path, status, code) in [
        ("GET", "/api/workflows/%ff", 400, "RF0003"),
        ("GET", "/docs/nothing.js", 404, "RF0007"),
        ("GET", "/nowhere", 404, "RF0007"),
        ("PATCH", "/api/executions", 405, "RF0013"),
    ] {
        let (found, problem) = ask(&api, request(method, path, "")).await;
        assert_eq!(
            (found.as_u16(), &problem["code"]),
            (status, &code.into()),
            "{path}"
        );
    }
}

#[tokio::test]
async fn an_answer_to_head_has_no_body() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    for (path, status) in [("/nowhere", 404), ("/livez", 200), ("/api/dlq/x", 404)] {
        let response = api.answer(request("HEAD", path, "")).await;
        assert_eq!(response.status().as_u16(), status, "{path}");
        let body = axum::body::to_bytes(response.into_body(), 1 << 20).await;
        assert!(body.unwrap().is_empty(), "{path}");
    }
}

#[tokio::test]
async fn request_ids_are_taken_over_or_made() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    let mut own = request("GET", "/livez", "");
    own.headers_mut()
        .insert("x-request-id", "mine-1".parse().unwrap());
    let id = |response: Response| {
        response.headers()["x-request-id"]
            .to_str()
            .unwrap()
            .to_owned()
    };
    assert_eq!(id(api.answer(own).await), "mine-1");
    let first = id(api.answer(request("GET", "/livez", "")).await);
    let second = id(api.answer(request("GET", "/livez", "")).await);
    assert_ne!(first, second);
}

/// What the page names is there, and the browser is told to take nothing from elsewhere.
#[tokio::test]
async fn the_documentation_needs_nothing_from_elsewhere() {
    let (app, _directory) = app().await;
    let api = Api::new(&app).unwrap();
    let fetch = async |path: String| api.answer(request("GET", &path, "")).await;
    let response = fetch("/docs/".to_owned()).await;
    let policy = response.headers()["content-security-policy"].to_str();
    assert!(
        policy
            .unwrap()
            .starts_with("default-src 'none'; script-src 'self';")
    );
    let page = axum::body::to_bytes(response.into_body(), 1 << 20).await;
    let page = String::from_utf8(page.unwrap().to_vec()).unwrap();
    assert!(!page.contains("//"), "{page}");
    let named = page
        .split(['"'])
        .filter(|text| text.ends_with(".js") || text.ends_with(".css"));
    let mut count = 0;
    for file in named {
        let response = fetch(format!("/docs/{file}")).await;
        assert_eq!(response.status(), StatusCode::OK, "{file}");
        let kind = response.headers()["content-type"].to_str().unwrap();
        assert!(kind.starts_with("text/"), "{file}: {kind}");
        count += 1;
    }
    assert_eq!(count, 4);
}

/// Whoever tries a call in the documentation sends what is filled in there: an example of an
/// optional parameter would be a filter or a delay that nobody asked for.
#[tokio::test]
async fn nothing_optional_is_filled_in() {
    let (app, _directory) = app().await;
    let (_, document) = routes(&app).split_for_parts();
    let document = serde_json::to_value(&document).unwrap();
    for (path, operations) in document["paths"].as_object().unwrap() {
        for operation in operations.as_object().unwrap().values() {
            let summary = operation["summary"].as_str().unwrap();
            assert!(!summary.contains('`'), "a summary is plain text: {summary}");
            let none = Vec::new();
            for parameter in operation["parameters"].as_array().unwrap_or(&none) {
                let is_optional = parameter["required"] != true;
                let is_filled = !parameter["example"].is_null();
                assert!(!(is_optional && is_filled), "{path}: {parameter}");
            }
        }
    }
}

/// What follows from rules is there for every call, also for one that is added tomorrow.
#[tokio::test]
async fn the_description_is_exact() {
    let (app, _directory) = app().await;
    let (_, document) = routes(&app).split_for_parts();
    let document = serde_json::to_value(&document).unwrap();
    let tags = document["tags"].as_array().unwrap();
    let names: std::collections::HashSet<_> = tags.iter().map(|tag| &tag["name"]).collect();
    assert_eq!(names.len(), tags.len(), "a tag stands once");
    for (path, operations) in document["paths"].as_object().unwrap() {
        for (method, call) in operations.as_object().unwrap() {
            let has = |status: &str| !call["responses"][status].is_null();
            // These take a signature or a key of their own.
            let judges_itself = path.starts_with("/webhooks/") || path == "/api/session";
            let (is_guarded, reads) = (call["security"].is_null(), method == "get");
            assert!(has("400") && has("431") && has("500"), "{method} {path}");
            assert_eq!(has("401"), is_guarded || judges_itself, "{path}");
            assert!(!is_guarded || has("503"), "{method} {path}");
            let has_body = !call["requestBody"].is_null();
            assert!(!has_body || (has("408") && has("413")), "{method} {path}");
            assert!(!(reads && has("507")), "{method} {path}");
            let none = Vec::new();
            for parameter in call["parameters"].as_array().unwrap_or(&none) {
                exact(&document, path, parameter);
            }
        }
    }
    let required = |path: &str| {
        let body = &document["paths"][path]["post"]["requestBody"];
        body["required"].as_bool().unwrap()
    };
    for (path, expected) in [
        ("/api/backup", true),
        ("/api/workflows/validate", true),
        ("/api/workflows/{id}/execute", false),
        ("/api/workflows/{id}/execute-batch", true),
        ("/api/dlq/{id}/retry", false),
        ("/api/triggers/{id}/run", false),
        ("/api/triggers/{id}/test", false),
        ("/api/triggers/{id}/backfill", true),
    ] {
        assert_eq!(required(path), expected, "{path}");
    }
}

fn exact(document: &serde_json::Value, path: &str, parameter: &serde_json::Value) {
    let (name, schema) = (parameter["name"].as_str().unwrap(), &parameter["schema"]);
    assert!(!schema["type"].is_array(), "{path}: {name} is never null");
    let bounds = || (schema["minimum"].as_u64(), schema["maximum"].as_u64());
    match name {
        "status" | "type" => {
            let words = schema["items"]["$ref"].as_str();
            let words = words.map(|name| name.trim_start_matches('#'));
            let words = words.map_or(&schema["items"], |name| document.pointer(name).unwrap());
            assert!(words["enum"].is_array(), "{path}: {name}");
            assert_eq!(parameter["explode"], false, "{path}: {name}");
        }
        "limit" | "count" => assert_eq!(bounds(), (Some(1), Some(1_000)), "{path}: {name}"),
        "priority" => assert_eq!(bounds(), (Some(1), Some(10)), "{path}"),
        "maxTasks" => assert_eq!(bounds(), (Some(1), Some(100)), "{path}"),
        "waitSeconds" => assert_eq!(bounds(), (Some(0), Some(300)), "{path}"),
        _ if schema["type"] == "integer" => assert_eq!(bounds().0, Some(1), "{path}: {name}"),
        _ => {}
    }
}
