//! Asking a target how a task goes, by what it has said itself about how to ask. No templates, no secrets of
//! ours, and the same guard against addresses inside as for every call.

use std::time::Duration;

use refire_core::definition::StatusRange;
use refire_core::json::{Json, Segment};
use refire_core::time::Timestamp;

use super::{ScheduledError, ScheduledTasks};
use crate::commit::CommitFailure;
use crate::target::{HttpRequest, Redactor};

/// Questions that may be under way at once.
pub(super) const QUESTIONS_MAX: usize = 16;
/// How long one may take if the target does not say.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(10);
/// And at most.
const TIMEOUT_MAX: Duration = Duration::from_secs(30);
/// The largest answer that is read.
const RESPONSE_BYTES_MAX: u64 = 1024 * 1024;
/// The only kind of query that there is.
const HTTP: &str = "http";

/// What a target answered.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    /// When.
    pub at: Timestamp,
    /// The status.
    pub status: u16,
    /// The body.
    pub body: Json,
}

impl ScheduledTasks {
    /// Asks a target by its `queryConfig`.
    pub async fn ask(&self, query: &Json) -> Result<Asked, ScheduledError> {
        let kind = text(query, &["type"]).unwrap_or_default();
        if kind != HTTP {
            return Err(ScheduledError::Unsupported(kind));
        }
        let Ok(_room) = self.questions.try_acquire() else {
            return Err(CommitFailure::Overloaded.into());
        };
        let at = self.context.now();
        let request = request(query, at);
        let answer = self.context.clients.http.call(request).await;
        let answer = answer.map_err(|failure| ScheduledError::NotAsked(Box::new(failure)))?;
        let body = answer.output.at(&[Segment::Key("body".into())]);
        Ok(Asked {
            at,
            status: answer.status,
            body: body.unwrap_or_else(Json::null),
        })
    }
}

fn request(query: &Json, now: Timestamp) -> HttpRequest {
    let seconds = at(query, &["config", "timeout"]);
    let seconds = seconds.and_then(|seconds| seconds.as_str().parse::<f64>().ok());
    let timeout = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok());
    let headers = at(query, &["config", "headers"]).unwrap_or_else(Json::empty_object);
    let header = |(name, value): (std::borrow::Cow<'_, str>, &str)| {
        let value = Json::parse(value).ok()?;
        let value = value.as_text()?.into_owned();
        Some((name.into_owned(), value))
    };
    let every = StatusRange::parse("100-599").into_iter().collect();
    HttpRequest {
        method: text(query, &["config", "method"]).unwrap_or_else(|| "GET".to_owned()),
        url: text(query, &["config", "url"]).unwrap_or_default(),
        headers: headers.members().filter_map(header).collect(),
        body: None,
        timeout: timeout.unwrap_or(TIMEOUT_DEFAULT).min(TIMEOUT_MAX),
        expected: every,
        max_response_bytes: RESPONSE_BYTES_MAX,
        follow_redirects: 0,
        redact: Redactor::default(),
        now,
    }
}

fn at(query: &Json, path: &[&str]) -> Option<Json> {
    let path: Vec<Segment> = path.iter().map(|key| Segment::Key((*key).into())).collect();
    query.at(&path)
}

fn text(query: &Json, path: &[&str]) -> Option<String> {
    at(query, path)?.as_text().map(std::borrow::Cow::into_owned)
}
