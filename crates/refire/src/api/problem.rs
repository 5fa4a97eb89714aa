//! What an error becomes: a status, a code and every wrong field, as RFC 9457 says.
//!
//! A handler returns a [`Problem`]; it becomes text in one place only (`observe.rs`), which knows
//! the request's path and logs it once. What the server knows beyond the detail (causes, paths of
//! files) stays in the log.

use axum::response::{IntoResponse, Response};
use http::header::RETRY_AFTER;
use http::{HeaderName, HeaderValue, StatusCode};
use refire_client::model;
use refire_client::model::FieldProblem;
use refire_core::definition::{self, Problems};
use refire_core::json::JsonError;
use refire_core::trigger::BackfillError;
use refire_engine::alert::AlertError;
use refire_engine::bulk::BulkError;
use refire_engine::catalog::CatalogError;
use refire_engine::notify::NotifyError;
use refire_engine::scheduled::ScheduledError;
use refire_engine::task::TaskError;
use refire_engine::trigger::TriggerError;
use refire_engine::{
    ApplyError, CommandError, CommitFailure, IntakeError, LetterRetryError, ReplayError,
    RunAgainError, in_words,
};
use refire_store::ReadError;

use crate::codes::{self, Code};

/// A request that was not carried out, and why.
#[derive(Debug, Clone)]
pub(crate) struct Problem(Box<Parts>);

#[derive(Debug, Clone)]
struct Parts {
    code: &'static Code,
    detail: String,
    errors: Vec<FieldProblem>,
    headers: Vec<(HeaderName, HeaderValue)>,
    cause: Option<String>,
}

/// Problems named in a detail; the rest are in `errors`.
const NAMED_MAX: usize = 3;

impl Problem {
    /// A problem, with what happened this time.
    pub(crate) fn new(code: &'static Code, detail: impl Into<String>) -> Self {
        Self(Box::new(Parts {
            code,
            detail: detail.into(),
            errors: Vec::new(),
            headers: Vec::new(),
            cause: None,
        }))
    }

    /// A wrong field, and nothing else that is wrong.
    pub(crate) fn field(code: &'static Code, field: &str, message: impl Into<String>) -> Self {
        Self::fields(code, vec![wrong(field, message)])
    }

    /// Wrong fields; the detail is made of them.
    pub(crate) fn fields(code: &'static Code, errors: Vec<FieldProblem>) -> Self {
        let named: Vec<String> = errors
            .iter()
            .take(NAMED_MAX)
            .map(|error| match error.field.as_str() {
                // It is the whole that is wrong.
                "" => error.message.clone(),
                field => format!("{field}: {}", error.message),
            })
            .collect();
        let mut problem = Self::new(code, named.join("; "));
        problem.0.errors = errors;
        problem
    }

    /// The same with the fields that are wrong.
    pub(crate) fn with_errors(mut self, errors: Vec<FieldProblem>) -> Self {
        self.0.errors = errors;
        self
    }

    /// Something else with problems, each with its place in what was sent.
    pub(crate) fn of_body(code: &'static Code, problems: &Problems) -> Self {
        Self::fields(code, found(problems, placed))
    }

    /// A definition or policy with problems.
    pub(crate) fn definition(code: &'static Code, what: &str, problems: &Problems) -> Self {
        let count = problems.len();
        let first = problems
            .iter()
            .next()
            .map(ToString::to_string)
            .unwrap_or_default();
        let plural = if count == 1 { "problem" } else { "problems" };
        let mut problem = Self::new(code, format!("{what} has {count} {plural}: {first}"));
        let place = |problem: &definition::Problem| Some((problem.line, problem.column));
        problem.0.errors = found(problems, place);
        problem
    }

    /// A defect: the cause goes to the log, not to the client.
    pub(crate) fn internal(cause: impl std::fmt::Display) -> Self {
        let mut problem = Self::new(
            &codes::INTERNAL,
            "something went wrong in the server; its log has the cause under the x-request-id of this answer",
        );
        problem.0.cause = Some(cause.to_string());
        problem
    }

    /// The same with a header.
    pub(crate) fn with_header(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.headers.push((name, value));
        self
    }

    /// The same with what only the log shall know.
    pub(crate) fn caused_by(mut self, cause: &dyn std::error::Error) -> Self {
        self.0.cause = Some(in_words(cause));
        self
    }

    /// The same with something that follows the detail.
    pub(crate) fn and(mut self, more: &str) -> Self {
        self.0.detail.push_str(more);
        self
    }

    pub(crate) fn code(&self) -> &'static Code {
        self.0.code
    }

    pub(crate) fn detail(&self) -> &str {
        &self.0.detail
    }

    /// What the log says beyond the detail.
    pub(crate) fn cause(&self) -> Option<&str> {
        self.0.cause.as_deref()
    }

    pub(crate) fn status(&self) -> StatusCode {
        StatusCode::from_u16(self.0.code.status).unwrap_or(StatusCode::INTERNAL_SERVER_ERROR)
    }

    /// The body.
    pub(crate) fn to_model(&self, instance: Option<&str>) -> model::Problem {
        model::Problem {
            problem_type: format!("/docs/errors/{}", self.0.code.code),
            title: self.0.code.title.to_owned(),
            status: self.0.code.status,
            code: self.0.code.code.to_owned(),
            detail: self.0.detail.clone(),
            instance: instance.map(str::to_owned),
            errors: self.0.errors.clone(),
        }
    }
}

/// A field that is wrong.
pub(crate) fn wrong(field: &str, message: impl Into<String>) -> FieldProblem {
    FieldProblem {
        field: field.to_owned(),
        message: message.into(),
        line: None,
        column: None,
        hint: None,
    }
}

impl IntoResponse for Problem {
    /// Only the status and the headers; the body follows where the path is known.
    fn into_response(self) -> Response {
        let mut response = self.status().into_response();
        let headers = response.headers_mut();
        for (name, value) in &self.0.headers {
            headers.append(name.clone(), value.clone());
        }
        if matches!(self.0.code.status, 503 | 507) {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("1"));
        }
        response.extensions_mut().insert(self);
        response
    }
}

impl From<CommitFailure> for Problem {
    fn from(failure: CommitFailure) -> Self {
        let code = match &failure {
            CommitFailure::Unavailable => &codes::UNAVAILABLE,
            CommitFailure::DiskFull => &codes::DISK_FULL,
            CommitFailure::Overloaded => &codes::OVERLOADED,
            CommitFailure::Stopping => &codes::STOPPING,
            CommitFailure::Contended => &codes::CONTENDED,
            CommitFailure::Unknown => {
                return Self::new(
                    &codes::OUTCOME_UNKNOWN,
                    "may have been accepted; repeat with the same Idempotency-Key",
                );
            }
            CommitFailure::Gone => &codes::NO_WORKFLOW,
            CommitFailure::Damaged(_) => &codes::DAMAGED,
            CommitFailure::Unstorable(cause) | CommitFailure::Internal(cause) => {
                return Self::internal(cause);
            }
        };
        Self::new(code, failure.to_string())
    }
}

impl From<ReadError> for Problem {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Unavailable(_) => {
                Self::new(&codes::UNAVAILABLE, "the store is not available").caused_by(&error)
            }
            ReadError::Corrupt { .. } => {
                Self::new(&codes::DAMAGED, error.to_string()).caused_by(&error)
            }
            ReadError::File { .. } => Self::internal("a read failed").caused_by(&error),
        }
    }
}

impl From<CatalogError> for Problem {
    fn from(error: CatalogError) -> Self {
        match error {
            CatalogError::Read(error) => error.into(),
            CatalogError::Missing { workflow, version } => Self::new(
                &codes::NO_VERSION,
                format!("workflow `{workflow}` has no version {version}"),
            ),
            CatalogError::Unreadable { .. } => Self::internal(&error),
        }
    }
}

impl From<IntakeError> for Problem {
    fn from(error: IntakeError) -> Self {
        match error {
            IntakeError::NoSuchWorkflow(_) => Self::new(&codes::NO_WORKFLOW, error.to_string()),
            IntakeError::Catalog(error) => error.into(),
            IntakeError::Commit(failure) => failure.into(),
        }
    }
}

impl From<ApplyError> for Problem {
    fn from(error: ApplyError) -> Self {
        match error {
            ApplyError::Invalid(problems) => invalid_definition(&problems),
            ApplyError::Changed => Self::new(&codes::WORKFLOW_CHANGED, error.to_string()),
            ApplyError::Commit(failure) => failure.into(),
        }
    }
}

impl From<CommandError> for Problem {
    fn from(error: CommandError) -> Self {
        match error {
            CommandError::NotFound => Self::new(&codes::NO_EXECUTION, error.to_string()),
            CommandError::Refused(refusal) => Self::new(&codes::REFUSED, refusal.to_string()),
            CommandError::TaskMoved => Self::new(&codes::REFUSED, error.to_string()),
            CommandError::Failed(failure) => failure.into(),
        }
    }
}

impl From<TaskError> for Problem {
    fn from(error: TaskError) -> Self {
        let code = match error {
            TaskError::NotFound => &codes::NO_TASK,
            TaskError::NoSuchWorker => &codes::NO_WORKER,
            TaskError::NotHeld(_) => &codes::TASK_NOT_HELD,
            TaskError::TooManyWaiting => &codes::OVERLOADED,
            TaskError::Failed(failure) => return failure.into(),
            TaskError::Read(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<LetterRetryError> for Problem {
    fn from(error: LetterRetryError) -> Self {
        let code = match error {
            LetterRetryError::NotFound => &codes::NO_DEAD_LETTER,
            LetterRetryError::NotPending(_) => &codes::NOT_PENDING,
            LetterRetryError::CannotWork(_) => &codes::CANNOT_RETRY,
            LetterRetryError::MissingOutput { .. } => &codes::DAMAGED,
            LetterRetryError::Catalog(error) => return error.into(),
            LetterRetryError::Read(error) => return error.into(),
            LetterRetryError::Commit(failure) => return failure.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<RunAgainError> for Problem {
    fn from(error: RunAgainError) -> Self {
        match error {
            RunAgainError::NotFound => Self::new(&codes::NO_EXECUTION, error.to_string()),
            RunAgainError::NoSuchWorkflow(_) => Self::new(&codes::CANNOT_RETRY, error.to_string()),
            RunAgainError::NoInput => Self::new(&codes::DAMAGED, error.to_string()),
            RunAgainError::Catalog(error) => error.into(),
            RunAgainError::Read(error) => error.into(),
            RunAgainError::Commit(failure) => failure.into(),
        }
    }
}

impl From<BulkError> for Problem {
    fn from(error: BulkError) -> Self {
        let code = match error {
            BulkError::NotFound => &codes::NO_BULK_JOB,
            BulkError::Over(_) => &codes::BULK_JOB_OVER,
            BulkError::TooMany => &codes::TOO_MANY_BULK_JOBS,
            BulkError::TooManyIds => {
                return Self::field(&codes::INVALID_BULK, "ids", error.to_string());
            }
            // Whoever knows what the ids are says more.
            BulkError::Unknown(_) => &codes::INVALID_BULK,
            BulkError::Transform(problems) => {
                let field = |path: &str| match path {
                    "" => "transform".to_owned(),
                    path => format!("transform.{path}"),
                };
                let problems = problems.into_iter();
                let problems = problems.map(|it| wrong(&field(&it.path), it.message));
                return Self::fields(&codes::INVALID_BULK, problems.collect());
            }
            BulkError::Read(error) => return error.into(),
            BulkError::Commit(failure) => return failure.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<ReplayError> for Problem {
    fn from(error: ReplayError) -> Self {
        match error {
            ReplayError::NotFound => Self::new(&codes::NO_EXECUTION, error.to_string()),
            ReplayError::Invalid(problems) => invalid_definition(&problems),
            ReplayError::Catalog(error) => error.into(),
            ReplayError::Read(error) => error.into(),
            ReplayError::Codec(error) => {
                Self::internal("an event cannot be read").caused_by(&error)
            }
        }
    }
}

impl From<TriggerError> for Problem {
    fn from(error: TriggerError) -> Self {
        let code = match error {
            TriggerError::NotFound => &codes::NO_TRIGGER,
            TriggerError::NoSuchWorkflow(_) => &codes::NO_WORKFLOW,
            TriggerError::Invalid(problems) => return invalid_trigger(&problems),
            TriggerError::Without { .. } | TriggerError::OfTask(_) => &codes::NOT_OF_THIS_TRIGGER,
            TriggerError::NoSuchRequest => &codes::NO_REQUEST,
            TriggerError::NotKept => &codes::REQUEST_NOT_KEPT,
            TriggerError::Disabled => &codes::TRIGGER_DISABLED,
            TriggerError::Contended => &codes::TRIGGER_CONTENDED,
            TriggerError::PreviousSecret { .. } => &codes::PREVIOUS_SECRET,
            TriggerError::NoMasterKey | TriggerError::Secrets(_) | TriggerError::Vault(_) => {
                &codes::NO_MASTER_KEY
            }
            TriggerError::Read(error) => return error.into(),
            TriggerError::Catalog(error) => return error.into(),
            TriggerError::Commit(failure) => return failure.into(),
            TriggerError::Start(error) => return error.into(),
            TriggerError::Partly { because, .. } => return (*because).into(),
            TriggerError::Backfill(BackfillError::NoSchedule) => &codes::NOT_OF_THIS_TRIGGER,
            TriggerError::Backfill(error) => {
                let field = match error {
                    BackfillError::TooMany { .. } | BackfillError::OtherSchedule { .. } => "from",
                    BackfillError::NoSchedule | BackfillError::Backwards => "to",
                };
                return Self::field(&codes::INVALID_BODY, field, error.to_string());
            }
        };
        Self::new(code, error.to_string())
    }
}

impl From<ScheduledError> for Problem {
    fn from(error: ScheduledError) -> Self {
        let code = match error {
            ScheduledError::NotFound => &codes::NO_SCHEDULED_TASK,
            ScheduledError::NoSuchRecord => &codes::NO_EXECUTION,
            ScheduledError::Invalid(problems) => {
                return Self::fields(&codes::INVALID_TASK, found(&problems, placed));
            }
            ScheduledError::KeyUsed(_) => &codes::IDEMPOTENCY_CONFLICT,
            ScheduledError::Cancelled => &codes::TASK_CANCELLED,
            ScheduledError::Changed(_) => &codes::TASK_CHANGED,
            ScheduledError::Contended => &codes::TASK_CONTENDED,
            ScheduledError::Unsupported(_) => &codes::QUERY_UNSUPPORTED,
            ScheduledError::NotAsked(_) => &codes::QUERY_FAILED,
            ScheduledError::Damaged(..) => &codes::DAMAGED,
            ScheduledError::Read(error) => return error.into(),
            ScheduledError::Catalog(error) => return error.into(),
            ScheduledError::Commit(failure) => return failure.into(),
            ScheduledError::Start(error) => return error.into(),
            ScheduledError::Command(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<NotifyError> for Problem {
    fn from(error: NotifyError) -> Self {
        let code = match error {
            NotifyError::Invalid(problems) => {
                return Self::fields(&codes::INVALID_CHANNEL, found(&problems, placed));
            }
            NotifyError::NoSuchChannel => &codes::NO_CHANNEL,
            NotifyError::NoSuchNotification => &codes::NO_NOTIFICATION,
            NotifyError::TooMany => &codes::TOO_MANY_CHANNELS,
            NotifyError::Contended => &codes::CHANNEL_CHANGED,
            NotifyError::NoMasterKey | NotifyError::Vault(_) => &codes::NO_MASTER_KEY,
            NotifyError::Damaged(..) => &codes::DAMAGED,
            NotifyError::Read(error) => return error.into(),
            NotifyError::Catalog(error) => return error.into(),
            NotifyError::Commit(failure) => return failure.into(),
            NotifyError::Intake(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<AlertError> for Problem {
    fn from(error: AlertError) -> Self {
        let code = match error {
            AlertError::NotFound => &codes::NO_ALERT,
            AlertError::Invalid(problems) => {
                return Self::fields(&codes::INVALID_ALERT_RULE, found(&problems, placed));
            }
            AlertError::NameTaken(_) => {
                return Self::field(&codes::ALERT_CONFLICT, "name", error.to_string());
            }
            AlertError::TooMany(_) | AlertError::Over | AlertError::Contended => {
                &codes::ALERT_CONFLICT
            }
            AlertError::Changed(_) => &codes::ALERT_RULE_CHANGED,
            AlertError::Failed(failure) => return failure.into(),
            AlertError::Read(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}

impl From<JsonError> for Problem {
    fn from(error: JsonError) -> Self {
        Self::new(
            &codes::INVALID_BODY,
            format!("the body is not valid JSON: {error}"),
        )
    }
}

/// A trigger has problems; those in what was sent have a place in it.
fn invalid_trigger(problems: &Problems) -> Problem {
    Problem::fields(&codes::INVALID_TRIGGER, found(problems, placed))
}

/// The line and column of what is in the text that was sent.
fn placed(problem: &definition::Problem) -> Option<(u32, u32)> {
    Some((problem.place()?.line, problem.place()?.column))
}

/// Problems of what was sent, with the line and column of each.
fn found(
    problems: &Problems,
    place: fn(&definition::Problem) -> Option<(u32, u32)>,
) -> Vec<FieldProblem> {
    let named = |problem: &definition::Problem| {
        let (line, column) = place(problem).unzip();
        FieldProblem {
            line,
            column,
            hint: problem.hint.clone(),
            ..wrong(&problem.path, problem.message.clone())
        }
    };
    problems.iter().map(named).collect()
}

/// The definition has problems.
pub(crate) fn invalid_definition(problems: &Problems) -> Problem {
    Problem::definition(&codes::INVALID_DEFINITION, "the definition", problems)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_an_unknown_outcome_leaves_it_open_whether_something_was_written() {
        for (failure, status, code, retry_after) in [
            (CommitFailure::Unavailable, 503, "RF0025", true),
            (CommitFailure::Overloaded, 503, "RF0026", true),
            (CommitFailure::Stopping, 503, "RF0027", true),
            (CommitFailure::Contended, 503, "RF0028", true),
            (CommitFailure::DiskFull, 507, "RF0029", true),
            (CommitFailure::Unknown, 500, "RF0024", false),
            (
                CommitFailure::Damaged("event 3".to_owned()),
                500,
                "RF0030",
                false,
            ),
            (
                CommitFailure::Internal("a table is gone".to_owned()),
                500,
                "RF0023",
                false,
            ),
        ] {
            let problem = Problem::from(failure);
            assert_eq!((problem.code().status, problem.code().code), (status, code));
            let says_nothing = problem.detail().contains("nothing was written");
            let is_certain = matches!(code, "RF0030") || status == 503 || status == 507;
            assert_eq!(says_nothing, is_certain, "{code}");
            assert!(
                !problem.detail().contains("a table is gone"),
                "causes stay in the log"
            );
            let response = problem.into_response();
            assert_eq!(
                response.headers().contains_key(RETRY_AFTER),
                retry_after,
                "{code}"
            );
        }
    }
}
