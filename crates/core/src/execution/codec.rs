//! Events to rows and back. The store keeps rows and never looks inside a payload.
//!
//! Every type has a version `v`; a type this build does not know is kept raw, so an older
//! server reading a newer log loses nothing.

use std::borrow::Cow;

use serde::{Deserialize, Serialize};

use super::event::{Event, EventKind, Unknown};
use crate::definition::StepId;
use crate::time::Timestamp;

/// The version written for every type so far.
const V1: u16 = 1;

/// An event as the store keeps it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EventRow {
    /// Counted from 1 without gaps.
    pub sequence: u64,
    /// The type's name.
    pub name: Cow<'static, str>,
    /// The payload's version.
    pub v: u16,
    /// When it was recorded.
    pub at: Timestamp,
    /// The step it is about.
    pub step: Option<String>,
    /// The attempt it is about.
    pub attempt: Option<u32>,
    /// The recorded wait.
    pub backoff_ms: Option<u64>,
    /// Why, in one sentence.
    pub reason: Option<String>,
    /// A JSON object; foreign values inside it are spliced in byte for byte.
    pub payload: Vec<u8>,
}

/// A row that cannot be read: the database was changed from outside, or is damaged.
#[derive(Debug, thiserror::Error)]
#[error("event {sequence} of type {name} cannot be read")]
pub struct CodecError {
    sequence: u64,
    name: String,
    #[source]
    source: Box<dyn std::error::Error + Send + Sync>,
}

fn to_payload<T: Serialize>(value: &T) -> Vec<u8> {
    // Serialising these plain structs cannot fail: no maps with odd keys, no custom errors.
    serde_json::to_vec(value).unwrap_or_default()
}

fn from_payload<'a, T: Deserialize<'a>>(bytes: &'a [u8]) -> Result<T, serde_json::Error> {
    serde_json::from_slice(bytes)
}

macro_rules! kinds {
    ($($variant:ident = $name:literal),+ $(,)?) => {
        impl EventKind {
            /// Every name this build writes.
            pub const NAMES: &'static [&'static str] = &[$($name),+];

            /// The name in the log and the API.
            #[must_use]
            pub fn name(&self) -> Cow<'static, str> {
                match self {
                    $(Self::$variant(_) => Cow::Borrowed($name),)+
                    Self::Unknown(unknown) => Cow::Owned(unknown.name.clone()),
                }
            }

            fn payload(&self) -> Vec<u8> {
                match self {
                    $(Self::$variant(payload) => to_payload(payload),)+
                    Self::Unknown(unknown) => unknown.payload.clone(),
                }
            }

            fn decode(name: &str, v: u16, bytes: &[u8]) -> Result<Self, serde_json::Error> {
                match name {
                    $($name if v == V1 => Ok(Self::$variant(from_payload(bytes)?)),)+
                    _ => Ok(Self::Unknown(Unknown {
                        name: name.to_owned(),
                        v,
                        payload: bytes.to_vec(),
                    })),
                }
            }
        }
    };
}

kinds! {
    ExecutionStarted = "EXECUTION_STARTED",
    StepScheduled = "STEP_SCHEDULED",
    StepStarted = "STEP_STARTED",
    StepCompleted = "STEP_COMPLETED",
    StepFailed = "STEP_FAILED",
    StepLost = "STEP_LOST",
    StepSkipped = "STEP_SKIPPED",
    RetryScheduled = "RETRY_SCHEDULED",
    TimerFired = "TIMER_FIRED",
    ExternalTaskCreated = "EXTERNAL_TASK_CREATED",
    ExternalTaskLocked = "EXTERNAL_TASK_LOCKED",
    ExternalTaskReleased = "EXTERNAL_TASK_RELEASED",
    CallbackReceived = "CALLBACK_RECEIVED",
    CallAnswered = "CALL_ANSWERED",
    CompensationStarted = "COMPENSATION_STARTED",
    CompensationCompleted = "COMPENSATION_COMPLETED",
    CompensationFailed = "COMPENSATION_FAILED",
    ExecutionPaused = "EXECUTION_PAUSED",
    ExecutionResumed = "EXECUTION_RESUMED",
    DeadLettered = "DEAD_LETTERED",
    ExecutionCompleted = "EXECUTION_COMPLETED",
    ExecutionFailed = "EXECUTION_FAILED",
    ExecutionCancelled = "EXECUTION_CANCELLED",
}

impl Event {
    /// The row to store.
    #[must_use]
    pub fn encode(&self) -> EventRow {
        EventRow {
            sequence: self.sequence,
            name: self.kind.name(),
            v: match &self.kind {
                EventKind::Unknown(unknown) => unknown.v,
                _ => V1,
            },
            at: self.at,
            step: self.step.as_ref().map(ToString::to_string),
            attempt: self.attempt,
            backoff_ms: self.backoff_ms,
            reason: self.reason.clone(),
            payload: self.kind.payload(),
        }
    }

    /// The event of a stored row.
    pub fn decode(row: &EventRow) -> Result<Self, CodecError> {
        let fail = |source: Box<dyn std::error::Error + Send + Sync>| CodecError {
            sequence: row.sequence,
            name: row.name.to_string(),
            source,
        };
        let step = row
            .step
            .as_deref()
            .map(StepId::new)
            .transpose()
            .map_err(|error| fail(Box::new(error)))?;
        let kind = EventKind::decode(&row.name, row.v, &row.payload)
            .map_err(|error| fail(Box::new(error)))?;
        Ok(Self {
            sequence: row.sequence,
            at: row.at,
            step,
            attempt: row.attempt,
            backoff_ms: row.backoff_ms,
            reason: row.reason.clone(),
            kind,
        })
    }
}
