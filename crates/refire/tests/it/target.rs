//! A service on this machine that answers as told and remembers who called.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode, Uri};
use serde_json::Value;
use tokio::sync::watch;

/// One call that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    pub(crate) body: String,
    pub(crate) idempotency_key: Option<String>,
    pub(crate) headers: HeaderMap,
}

impl Call {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap()
    }
}

#[derive(Default)]
struct Script {
    /// Answers still to come, by path; without any it is 200.
    answers: HashMap<String, VecDeque<(u16, String)>>,
    calls: HashMap<String, Vec<Call>>,
}

#[derive(Clone)]
struct Shared {
    script: Arc<Mutex<Script>>,
    /// Calls of `/held` wait until this is true.
    released: watch::Sender<bool>,
}

/// The service; it ends with the test.
pub(crate) struct Target {
    url: String,
    shared: Shared,
}

impl Target {
    pub(crate) async fn start() -> Self {
        let shared = Shared {
            script: Arc::default(),
            released: watch::Sender::new(false),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(answer).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("{}{path}", self.url)
    }

    /// The next answers of a path, in order; afterwards it is 200 again.
    pub(crate) fn answers(&self, path: &str, statuses: &[u16]) {
        let bodies = statuses
            .iter()
            .map(|status| format!("{{\"status\":{status}}}"));
        self.next(path, statuses.iter().copied().zip(bodies).collect());
    }

    /// The next answer of a path has this body.
    pub(crate) fn says(&self, path: &str, body: &str) {
        self.next(path, VecDeque::from([(200, body.to_owned())]));
    }

    /// The next answers of a path, in order, with their bodies.
    pub(crate) fn script(&self, path: &str, answers: &[(u16, &str)]) {
        let answers = answers
            .iter()
            .map(|(status, body)| (*status, (*body).to_owned()));
        self.next(path, answers.collect());
    }

    fn next(&self, path: &str, answers: VecDeque<(u16, String)>) {
        let mut script = self.shared.script.lock().unwrap();
        script.answers.insert(path.to_owned(), answers);
    }

    /// Lets calls of `/held` go on.
    pub(crate) fn release(&self) {
        self.shared.released.send_replace(true);
    }

    pub(crate) fn calls(&self, path: &str) -> Vec<Call> {
        self.shared
            .script
            .lock()
            .unwrap()
            .calls
            .get(path)
            .cloned()
            .unwrap_or_default()
    }
}

async fn answer(
    State(shared): State<Shared>,
    uri: Uri,
    headers: HeaderMap,
    body: Bytes,
) -> Response {
    let path = uri.path().to_owned();
    let (status, text) = {
        let mut script = shared.script.lock().unwrap();
        let header = |name: &str| {
            headers
                .get(name)
                .map(|value| value.to_str().unwrap().to_owned())
        };
        script.calls.entry(path.clone()).or_default().push(Call {
            body: String::from_utf8(body.to_vec()).unwrap(),
            idempotency_key: header("idempotency-key"),
            headers: headers.clone(),
        });
        let next = script.answers.get_mut(&path).and_then(VecDeque::pop_front);
        let (status, text) = next.unwrap_or_else(|| (200, "{\"ok\":true}".to_owned()));
        match path.as_str() {
            // Whatever is sent comes back.
            "/echo" => (status, String::from_utf8(body.to_vec()).unwrap()),
            _ => (status, text),
        }
    };
    if path == "/held" {
        let mut released = shared.released.subscribe();
        released.wait_for(|released| *released).await.unwrap();
    }
    (
        StatusCode::from_u16(status).unwrap(),
        [("content-type", "application/json")],
        text,
    )
        .into_response()
}
