//! How the tests call: short deadlines, loopback allowed, failures with their duration.

use std::net::IpAddr;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use refire_core::failure::{ErrorClass, Failure};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_engine::target::{
    Allow, Found, Guard, HttpRequest, HttpSettings, HttpTarget, Lookup, Redactor,
};

/// The deadline of calls that are meant to reach it.
pub(super) const SHORT: Duration = Duration::from_millis(400);
/// The deadline of all other calls.
pub(super) const LONG: Duration = Duration::from_secs(20);
/// What a call may take longer than its deadline.
pub(super) const GRACE: Duration = Duration::from_secs(1);
/// The body limit of the tests' requests.
pub(super) const BODY_MAX: u64 = 256 * 1024;

/// A target that may call anything.
pub(super) fn open_target() -> HttpTarget {
    HttpTarget::new(HttpSettings::new(Guard::new(Allow::All))).unwrap()
}

pub(super) fn get(url: impl Into<String>) -> HttpRequest {
    HttpRequest {
        method: "GET".to_owned(),
        url: url.into(),
        headers: Vec::new(),
        body: None,
        timeout: LONG,
        expected: Vec::new(),
        max_response_bytes: BODY_MAX,
        follow_redirects: 0,
        redact: Redactor::default(),
        now: Timestamp::from_millis(1_763_200_000_000),
    }
}

pub(super) fn post(url: impl Into<String>, body: &str) -> HttpRequest {
    let mut request = get(url);
    request.method = "POST".to_owned();
    request.body = Some(body.as_bytes().to_vec());
    request
}

/// The body in the output of a call that works.
pub(super) async fn body_of(url: impl Into<String>) -> Json {
    let answer = open_target().call(get(url)).await.unwrap();
    member(&answer.output, "body")
}

pub(super) fn member(object: &Json, key: &str) -> Json {
    let (_, value) = object.members().find(|(name, _)| name == key).unwrap();
    Json::parse(value).unwrap()
}

/// A call that fails, within its deadline.
pub(super) async fn failure_of(request: HttpRequest) -> Failure {
    let limit = request.timeout + GRACE;
    let begun = Instant::now();
    let failure = open_target().call(request).await.unwrap_err();
    assert!(
        begun.elapsed() <= limit,
        "took {:?}: {failure:?}",
        begun.elapsed()
    );
    failure
}

pub(super) async fn class_of(url: impl Into<String>) -> ErrorClass {
    failure_of(get(url)).await.class
}

/// A lookup that answers from a list, one answer per question, the last one for ever.
pub(super) struct Scripted {
    answers: Mutex<Vec<Vec<IpAddr>>>,
}

impl Scripted {
    pub(super) fn new(answers: &[&[&str]]) -> Arc<Self> {
        let parse = |answer: &&[&str]| answer.iter().map(|ip| ip.parse().unwrap()).collect();
        Arc::new(Self {
            answers: Mutex::new(answers.iter().rev().map(parse).collect()),
        })
    }
}

impl Lookup for Scripted {
    fn lookup(&self, _name: &str) -> Found {
        let mut answers = self.answers.lock().unwrap();
        let answer = if answers.len() > 1 {
            answers.pop()
        } else {
            answers.last().cloned()
        };
        Box::pin(async move { Ok(answer.unwrap_or_default()) })
    }
}
