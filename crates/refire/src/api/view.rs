//! From what is stored to what the API shows. Nothing here decides or changes anything; foreign
//! JSON is copied byte for byte.

pub(super) mod attempt;
pub(super) mod difference;
pub(super) mod event;
pub(super) mod execution;
pub(super) mod letter;
pub(super) mod notification;
pub(super) mod request;
pub(super) mod retry;
pub(super) mod scheduled;
pub(super) mod step;
pub(super) mod trigger;
pub(super) mod workflow;

use refire_client::model::{ErrorInfo, Raw};
use refire_core::failure::Failure;
use refire_core::json::Json;
use serde_json::value::RawValue;

use super::Problem;

/// Foreign JSON as it is.
pub(super) fn raw(json: &Json) -> Result<Raw, Problem> {
    RawValue::from_string(json.as_str().to_owned()).map_err(Problem::internal)
}

/// A failure without the target's answer, which only the log shows.
pub(super) fn error(failure: &Failure) -> ErrorInfo {
    ErrorInfo {
        error_type: failure.class.name().to_owned(),
        code: failure.code.clone(),
        message: failure.message.clone(),
        retryable: failure.retryable,
        causes: failure.causes.clone(),
        target: failure.target.clone(),
    }
}
