//! Callbacks of targets: `PUT /task-callback/{token}`. Nobody needs an API key here: the token that the
//! target was given is what it may do.

use axum::extract::Path;
use axum::extract::rejection::PathRejection;
use http::StatusCode;
use refire_client::model::{CallbackBody, FieldProblem};

use super::problem::wrong;
use super::{App, Content, Problem, body};
use crate::codes;
use refire_engine::callback::CallbackError;

/// Where callbacks go.
const PATH: &str = "/task-callback/";
/// Bytes of a callback, if the server takes bodies that long.
const BODY_BYTES_MAX: usize = 1024 * 1024;

/// A target says how it went, or how far it is.
///
/// `processing` may be said as often as wanted; `success` or `failed` is the last word. Nobody needs an API
/// key: the token is the credential. Fields that are not described are kept.
#[utoipa::path(
    put,
    path = "/task-callback/{token}",
    params(
        ("token" = String, Path, description = "What the target was given as `${callback.token}`", example = "cb_AZqLxQAAcACAAAAAAAAAAAAAAAAAAQ.q83vEjRWeJCrze8SNFZ4kA"),
    ),
    request_body(content = CallbackBody),
    responses(
        (status = 200, description = "It is recorded"),
        (status = 400, description = "The body is wrong, or nothing waits for this callback any more"),
        (status = 404, description = "Nothing is known by this token"),
        (status = 413, description = "The body is too large"),
    ),
    security(()),
)]
pub(super) async fn call_back(
    app: App,
    token: Result<Path<String>, PathRejection>,
    content: Content,
) -> Result<StatusCode, Problem> {
    let callbacks = app.engine.callbacks();
    // What cannot be decoded is nobody's token.
    let token = token.map_or_else(|_| String::new(), |Path(token)| token);
    let awaiting = callbacks.find(&token).await?;
    if content.len() > BODY_BYTES_MAX {
        return Err(body::too_large(BODY_BYTES_MAX));
    }
    callbacks.receive(&awaiting, &content.json()?).await?;
    Ok(StatusCode::OK)
}

/// A path as it may be shown: a token is a credential.
pub(super) fn shown(path: &str) -> &str {
    match path.starts_with(PATH) {
        true => "/task-callback/…",
        false => path,
    }
}

impl From<CallbackError> for Problem {
    fn from(error: CallbackError) -> Self {
        let code = match error {
            CallbackError::NotFound => &codes::NO_CALLBACK,
            CallbackError::Over(_) => &codes::CALLBACK_OVER,
            CallbackError::Invalid(problems) => {
                let field = |(field, why): (&str, String)| wrong(field, why);
                let errors: Vec<FieldProblem> = problems.into_iter().map(field).collect();
                return Self::fields(&codes::INVALID_BODY, errors);
            }
            CallbackError::Failed(failure) => return failure.into(),
            CallbackError::Read(error) => return error.into(),
        };
        Self::new(code, error.to_string())
    }
}
