//! The API as a client sees it, across restarts of the server.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};
use std::time::Duration;

use refire_client::model::{Accepted, Page, Problem, Trigger, WebhookAnswer};
use reqwest::{Method, RequestBuilder, Response};
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::hook::Hook;
use crate::node::{Door, KEY};
use crate::rest::words;

/// How long a request may take; a server that was killed lets none hang.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// The code of an answer that leaves it open whether something was written.
const OUTCOME_UNKNOWN: &str = "RF0024";
/// Rows of a page.
const PAGE_ROWS: usize = 200;
/// How often a read is tried that the server has no time for, as a client does that is told to try
/// again later.
const READ_TRIES: u32 = 20;
/// What the server says then.
const TRY_AGAIN_AFTER: Duration = Duration::from_secs(1);

/// A client of the server behind a door, or of several in turn.
#[derive(Clone)]
pub(crate) struct Client {
    http: reqwest::Client,
    rotation: Arc<Rotation>,
    /// Workflows that are started by requests to webhooks.
    hooks: Arc<Vec<Hook>>,
}

/// The doors that are tried in turn, as a proxy in front of several servers does.
struct Rotation {
    doors: RwLock<Vec<Door>>,
    turn: AtomicUsize,
}

impl Rotation {
    fn next(&self) -> String {
        let doors = self.doors.read().unwrap_or_else(PoisonError::into_inner);
        doors[self.turn.fetch_add(1, Ordering::Relaxed) % doors.len()].url()
    }
}

/// What a request that may create work came to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Answer {
    /// 2xx.
    Accepted { execution: String },
    /// A problem.
    Refused {
        status: u16,
        code: String,
        has_retry_after: bool,
    },
    /// No answer at all: nobody knows.
    None(String),
}

impl Answer {
    pub(crate) fn execution(&self) -> Option<&str> {
        match self {
            Self::Accepted { execution } => Some(execution),
            _ => None,
        }
    }

    /// Whether the server says that certainly nothing was written.
    pub(crate) fn is_certain_refusal(&self) -> bool {
        matches!(self, Self::Refused { .. }) && !self.is_outcome_unknown()
    }

    /// Whether the server says that it does not know.
    pub(crate) fn is_outcome_unknown(&self) -> bool {
        matches!(self, Self::Refused { status: 500, code, .. } if code == OUTCOME_UNKNOWN)
    }

    /// Whether it is open what became of the request.
    pub(crate) fn is_open(&self) -> bool {
        !self.is_certain_refusal() && self.execution().is_none()
    }

    pub(crate) fn status(&self) -> Option<u16> {
        match self {
            Self::Refused { status, .. } => Some(*status),
            _ => None,
        }
    }
}

impl Client {
    pub(crate) fn new(door: Door) -> Self {
        Self::spread(vec![door])
    }

    /// One that asks each in its turn.
    pub(crate) fn spread(doors: Vec<Door>) -> Self {
        let http = reqwest::Client::builder()
            .no_proxy()
            .timeout(ANSWER_WITHIN)
            .build()
            .unwrap();
        let rotation = Arc::new(Rotation {
            doors: RwLock::new(doors),
            turn: AtomicUsize::new(0),
        });
        Self {
            http,
            rotation,
            hooks: Arc::default(),
        }
    }

    /// The same for a sender who knows nothing but these webhooks.
    pub(crate) fn through(&self, hooks: Vec<Hook>) -> Self {
        Self {
            hooks: Arc::new(hooks),
            ..self.clone()
        }
    }

    /// From now on only these are asked, also by the clones of this client.
    pub(crate) fn only(&self, doors: Vec<Door>) {
        let rotation = &self.rotation;
        *rotation
            .doors
            .write()
            .unwrap_or_else(PoisonError::into_inner) = doors;
    }

    fn request(&self, method: Method, path: &str) -> RequestBuilder {
        self.http
            .request(method, format!("{}{path}", self.rotation.next()))
            .bearer_auth(KEY)
    }

    /// Saves a workflow, which must be valid.
    pub(crate) async fn apply(&self, id: &str, definition: &str) {
        let path = format!("/api/workflows/{id}");
        let request = self.request(Method::PUT, &path).body(definition.to_owned());
        let answer = request.send().await.unwrap();
        assert_eq!(answer.status(), 200, "{}", answer.text().await.unwrap());
    }

    /// Asks for an execution. `path` is the workflow's name, with parameters if any.
    pub(crate) async fn execute(&self, path: &str, key: Option<&str>, input: String) -> Answer {
        let (workflow, parameters) = path.split_once('?').unwrap_or((path, ""));
        let hook = self.hooks.iter().find(|hook| hook.workflow == workflow);
        let mut request = if let Some(hook) = hook {
            let url = format!("{}{}", self.rotation.next(), hook.path());
            Hook::sign(self.http.post(url), &input).body(input)
        } else {
            let path = format!("/api/workflows/{workflow}/execute?{parameters}");
            self.request(Method::POST, &path).body(input)
        };
        if let Some(key) = key {
            request = request.header("Idempotency-Key", key);
        }
        answer(request).await
    }

    /// Makes a trigger of a workflow, which must be valid.
    pub(crate) async fn make_trigger(&self, workflow: &str, settings: &Value) -> Trigger {
        let path = format!("/api/workflows/{workflow}/triggers");
        let request = self.request(Method::POST, &path).json(settings);
        let answer = request.send().await.unwrap();
        let (status, text) = (answer.status(), answer.text().await.unwrap());
        assert_eq!(status, 201, "{text}");
        serde_json::from_str(&text).unwrap()
    }

    /// Any call, with the status and the text of its answer; none when nobody answers.
    pub(crate) async fn call(
        &self,
        method: Method,
        path: &str,
        body: Option<String>,
    ) -> Option<(u16, String)> {
        let mut request = self.request(method, path);
        if let Some(body) = body {
            request = request.body(body);
        }
        let answer = request.send().await.ok()?;
        let status = answer.status().as_u16();
        Some((status, answer.text().await.ok()?))
    }

    /// Where the next call goes.
    pub(crate) fn next_url(&self) -> String {
        self.rotation.next()
    }

    /// Retries a dead letter.
    pub(crate) async fn retry(&self, letter: &str) -> Answer {
        answer(self.request(Method::POST, &format!("/api/dlq/{letter}/retry"))).await
    }

    /// Reads what must be there.
    pub(crate) async fn read<T: DeserializeOwned>(&self, method: Method, path: &str) -> T {
        match self.try_read(method, path).await {
            Ok(read) => read,
            Err(why) => panic!("{path}: {why}"),
        }
    }

    /// Reads what may not be there.
    pub(crate) async fn try_read<T: DeserializeOwned>(
        &self,
        method: Method,
        path: &str,
    ) -> Result<T, String> {
        let mut tries = 1;
        loop {
            let sent = self.request(method.clone(), path).send().await;
            let answer = sent.map_err(|error| words(&error))?;
            let status = answer.status();
            let text = answer.text().await.map_err(|error| words(&error))?;
            if status == 503 && tries < READ_TRIES {
                tries += 1;
                tokio::time::sleep(TRY_AGAIN_AFTER).await;
                continue;
            }
            if status != 200 {
                return Err(format!("{status}: {text}"));
            }
            return serde_json::from_str(&text).map_err(|error| format!("{error}: {text}"));
        }
    }

    /// Reads a list page by page to its end.
    pub(crate) async fn list<T: DeserializeOwned>(&self, path: &str) -> Vec<T> {
        match self.try_list(path).await {
            Ok(items) => items,
            Err(why) => panic!("{path}: {why}"),
        }
    }

    /// The same while the server may be down.
    pub(crate) async fn try_list<T: DeserializeOwned>(&self, path: &str) -> Result<Vec<T>, String> {
        let separator = if path.contains('?') { '&' } else { '?' };
        let first = format!("{path}{separator}limit={PAGE_ROWS}");
        let mut page: Page<T> = self.try_read(Method::GET, &first).await?;
        let mut items = page.items;
        while let Some(cursor) = page.next_cursor {
            let next = format!("{first}&cursor={cursor}");
            page = self.try_read(Method::GET, &next).await?;
            items.append(&mut page.items);
        }
        Ok(items)
    }

    /// The status of `/readyz`; none when nobody answers.
    pub(crate) async fn readiness(&self) -> Option<u16> {
        let answer = self.request(Method::GET, "/readyz").send().await;
        answer.ok().map(|answer| answer.status().as_u16())
    }
}

async fn answer(request: RequestBuilder) -> Answer {
    let response = match request.send().await {
        Ok(response) => response,
        Err(error) => return Answer::None(words(&error)),
    };
    understood(response)
        .await
        .unwrap_or_else(|error| Answer::None(words(&error)))
}

async fn understood(response: Response) -> Result<Answer, reqwest::Error> {
    let status = response.status();
    let has_retry_after = response.headers().contains_key("retry-after");
    let text = response.text().await?;
    if status.is_success() {
        // A webhook names what its key has, and starts nothing for another body.
        let other: Result<WebhookAnswer, _> = serde_json::from_str(&text);
        if other.is_ok_and(|other| other.body_differs == Some(true)) {
            return Ok(Answer::Refused {
                status: status.as_u16(),
                code: "body_differs".to_owned(),
                has_retry_after,
            });
        }
        let accepted: Accepted = serde_json::from_str(&text)
            .unwrap_or_else(|error| panic!("{status} without an execution ({error}): {text}"));
        return Ok(Answer::Accepted {
            execution: accepted.execution_id,
        });
    }
    let problem: Result<Problem, _> = serde_json::from_str(&text);
    Ok(Answer::Refused {
        status: status.as_u16(),
        code: problem.map_or_else(|_| text, |problem| problem.code),
        has_retry_after,
    })
}
