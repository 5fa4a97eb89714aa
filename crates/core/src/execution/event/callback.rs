//! What the log says of targets that call back.

use serde::{Deserialize, Serialize};

use super::{is_false, present};
use crate::callback::CallbackStatus;
use crate::failure::Failure;
use crate::json::Json;

/// Payload of CALLBACK_RECEIVED.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CallbackReceived {
    /// What the target said.
    pub status: CallbackStatus,
    /// How far it is, in percent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress: Option<u8>,
    /// The same in its words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub progress_message: Option<String>,
    /// Whether the answer to the call was not recorded yet.
    #[serde(default, skip_serializing_if = "is_false")]
    pub early: bool,
}

/// Payload of CALL_ANSWERED: one of the two.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CallAnswered {
    /// What the target answered.
    #[serde(
        default,
        deserialize_with = "present",
        skip_serializing_if = "Option::is_none"
    )]
    pub answer: Option<Json>,
    /// Why no answer came. The attempt goes on: the target has said that it is at it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<Failure>,
    /// How long that took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub duration_ms: Option<u64>,
}
