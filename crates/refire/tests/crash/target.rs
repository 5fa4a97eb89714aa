//! A service that answers well, badly or not at all, and remembers every call it received.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::{HeaderMap, StatusCode};
use refire_core::time::Timestamp;
use refire_engine::clock::{Clock, SystemClock};
use refire_retry::Seed;
use serde_json::Value;

/// How long a call hangs; longer than any step here waits.
const HANG: Duration = Duration::from_secs(60);

/// How the target answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Mood {
    /// Always 200.
    Good,
    /// Of a hundred calls 80 get 200, 10 get 500 and 10 hang; by the seed, the call's idempotency
    /// key and its attempt.
    Mixed { seed: u64 },
    /// By the word `fate` in the body: `good`, `flaky` (500 on odd attempts), or `cured` (500 until a
    /// person retries it).
    AsAsked,
    /// Nobody gets an answer.
    Silent,
}

/// What became of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    Good,
    Bad,
    Hung,
}

/// One call that arrived.
#[derive(Debug, Clone)]
pub(crate) struct Call {
    /// `<root execution>:<step>:<generation>`
    pub(crate) key: String,
    pub(crate) execution: String,
    pub(crate) step: String,
    pub(crate) attempt: u32,
    /// The number that the client put into the input.
    pub(crate) request: Option<u64>,
    pub(crate) at: Timestamp,
    pub(crate) outcome: Outcome,
}

#[derive(Clone)]
struct Shared {
    clock: Arc<SystemClock>,
    mood: Arc<Mutex<Mood>>,
    calls: Arc<Mutex<Vec<Call>>>,
}

/// The service; it ends with the test.
pub(crate) struct Target {
    url: String,
    shared: Shared,
}

impl Target {
    pub(crate) async fn start(mood: Mood) -> Self {
        let shared = Shared {
            clock: Arc::new(SystemClock::new()),
            mood: Arc::new(Mutex::new(mood)),
            calls: Arc::default(),
        };
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = Router::new().fallback(receive).with_state(shared.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { url, shared }
    }

    pub(crate) fn url(&self) -> &str {
        &self.url
    }

    /// From now on it answers so.
    pub(crate) fn becomes(&self, mood: Mood) {
        *locked(&self.shared.mood) = mood;
    }

    /// Every call so far.
    pub(crate) fn calls(&self) -> Vec<Call> {
        locked(&self.shared.calls).clone()
    }

    /// Every call so far, which is then forgotten.
    pub(crate) fn take_calls(&self) -> Vec<Call> {
        std::mem::take(&mut *locked(&self.shared.calls))
    }
}

fn locked<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

async fn receive(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> Response {
    let at = shared.clock.now();
    let header = |name: &str| {
        let value = headers.get(name).and_then(|value| value.to_str().ok());
        value.unwrap_or_default().to_owned()
    };
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let (key, attempt) = (header("idempotency-key"), header("x-refire-attempt"));
    let attempt: u32 = attempt.parse().unwrap_or_default();
    let outcome = match *locked(&shared.mood) {
        Mood::Good => Outcome::Good,
        Mood::Silent => Outcome::Hung,
        Mood::AsAsked => {
            let is_first = key.starts_with(&header("x-refire-execution"));
            as_asked(&body, attempt, is_first)
        }
        Mood::Mixed { seed } => mixed(seed, &key, attempt),
    };
    locked(&shared.calls).push(Call {
        execution: header("x-refire-execution"),
        step: header("x-refire-step"),
        request: body["request"].as_u64(),
        key,
        attempt,
        at,
        outcome,
    });
    match outcome {
        Outcome::Good => (StatusCode::OK, r#"{"done":true}"#).into_response(),
        Outcome::Bad => StatusCode::INTERNAL_SERVER_ERROR.into_response(),
        Outcome::Hung => {
            tokio::time::sleep(HANG).await;
            StatusCode::GATEWAY_TIMEOUT.into_response()
        }
    }
}

fn as_asked(body: &Value, attempt: u32, is_first: bool) -> Outcome {
    match body["fate"].as_str() {
        Some("cured") if is_first => Outcome::Bad,
        Some("flaky") if attempt % 2 == 1 => Outcome::Bad,
        _ => Outcome::Good,
    }
}

fn mixed(seed: u64, key: &str, attempt: u32) -> Outcome {
    let seed = Seed::new(seed).mix(key.as_bytes()).mix_u64(attempt.into());
    match seed.draw().below(100) {
        0..80 => Outcome::Good,
        80..90 => Outcome::Bad,
        _ => Outcome::Hung,
    }
}
