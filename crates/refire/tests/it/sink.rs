//! What stands for the services that messages go to: each refuses what the real one refuses.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;

/// A message that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Arrived {
    pub(crate) path: String,
    pub(crate) body: String,
    pub(crate) headers: HeaderMap,
    pub(crate) at: Instant,
    /// What it was answered with.
    pub(crate) status: u16,
}

impl Arrived {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Inside {
    arrived: Vec<Arrived>,
    /// How many are answered with 503 from now on.
    down_for: usize,
}

/// The services; they end with the test.
#[derive(Clone)]
pub(crate) struct Sink {
    url: String,
    inside: Arc<Mutex<Inside>>,
}

impl Sink {
    pub(crate) async fn start() -> Self {
        let inside = Arc::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(take).with_state(Arc::clone(&inside));
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, inside }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// Answers 503 to so many.
    pub(crate) fn down_for(&self, messages: usize) {
        self.inside.lock().unwrap().down_for = messages;
    }

    /// What arrived at paths that begin so, and was taken.
    pub(crate) fn taken(&self, path: &str) -> Vec<Arrived> {
        let all = self.all(path);
        all.into_iter().filter(|one| one.status < 300).collect()
    }

    /// What arrived at paths that begin so, taken or not.
    pub(crate) fn all(&self, path: &str) -> Vec<Arrived> {
        let inside = self.inside.lock().unwrap();
        let of_path = inside
            .arrived
            .iter()
            .filter(|one| one.path.starts_with(path));
        of_path.cloned().collect()
    }
}

async fn take(
    State(inside): State<Arc<Mutex<Inside>>>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let body = String::from_utf8(body.to_vec()).unwrap();
    let mut inside = inside.lock().unwrap();
    let is_down = inside.down_for > 0;
    inside.down_for = inside.down_for.saturating_sub(1);
    let last = inside
        .arrived
        .iter()
        .rev()
        .find(|one| one.path == path && one.status < 300);
    let is_soon = last.is_some_and(|last| last.at.elapsed() < Duration::from_millis(900));
    let (status, said) = match () {
        () if is_down => (503, "down".to_owned()),
        () if is_soon && (path.starts_with("/teams") || path.starts_with("/slack")) => {
            (429, "too many".to_owned())
        }
        () => match refusal(&path, &headers, &body) {
            Some(said) => (400, said),
            None if path.starts_with("/slack") => (200, "ok".to_owned()),
            None => (202, "{}".to_owned()),
        },
    };
    inside.arrived.push(Arrived {
        path,
        body,
        headers,
        at: Instant::now(),
        status,
    });
    let status = StatusCode::from_u16(status).unwrap();
    (status, [("retry-after", "1")], said).into_response()
}

/// Why the service does not take it.
fn refusal(path: &str, headers: &HeaderMap, body: &str) -> Option<String> {
    let value: Value = serde_json::from_str(body).ok()?;
    let say = |said: &str| Some(said.to_owned());
    match path.split('/').nth(1).unwrap_or_default() {
        "teams" => {
            let card = &value["attachments"][0]["content"];
            match () {
                () if body.len() > 28_000 => say("too large"),
                () if value["type"] != "message" => say("no message"),
                () if card["type"] != "AdaptiveCard" => {
                    say("Property 'type' must be 'AdaptiveCard'")
                }
                () if card["body"][0]["items"][0]["text"]
                    .as_str()
                    .unwrap_or_default()
                    .is_empty() =>
                {
                    say("no text")
                }
                () => None,
            }
        }
        "slack" => match () {
            () if body.chars().count() > 13_000 => say("invalid_payload"),
            () if value["text"].as_str().unwrap_or_default().is_empty() => say("no_text"),
            () if value["blocks"]
                .as_array()
                .is_none_or(|blocks| blocks.len() > 50) =>
            {
                say("invalid_blocks")
            }
            () => None,
        },
        "pagerduty" => match () {
            () if value["routing_key"].as_str().map_or(0, str::len) != 32 => say("no routing key"),
            () if value["dedup_key"].as_str().unwrap_or_default().is_empty() => say("no dedup key"),
            () if value["event_action"] == "trigger" && value["payload"]["summary"].is_null() => {
                say("no summary")
            }
            () => None,
        },
        _ => {
            let has = |name: &str| headers.get(name).is_some();
            let is_signed =
                has("webhook-id") && has("webhook-timestamp") && has("webhook-signature");
            (!is_signed).then(|| "not signed".to_owned())
        }
    }
}
