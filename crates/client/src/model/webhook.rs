//! What a sender of a webhook is answered.

use serde::{Deserialize, Serialize};

/// What became of a request to a webhook.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
#[serde(rename_all = "snake_case")]
pub enum WebhookStatus {
    /// It started an execution, which is durable.
    Triggered,
    /// It is not what the trigger waits for.
    Filtered,
    /// An equal request had started an execution before.
    AlreadyProcessed,
}

/// The answer to a request that was taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "openapi", derive(utoipa::ToSchema))]
pub struct WebhookAnswer {
    /// What became of it.
    pub status: WebhookStatus,
    /// The execution that it started, or that an equal one had started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub execution_id: Option<String>,
    /// In words.
    pub message: String,
    /// The key was used before with another body.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body_differs: Option<bool>,
}
