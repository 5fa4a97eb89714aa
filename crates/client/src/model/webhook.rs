//! What a sender of a webhook is answered, and trying it out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Raw, RequestHeader, RequestStatus};

/// What happened to a request to a webhook.
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
    /// `message`, for Microsoft Teams, which shows `text` in the conversation.
    #[serde(default, rename = "type", skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// What Teams shows.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

shapes! {
    /// A test request to a webhook, signed as its sender would sign it.
    #[derive(Default)]
    #[serde(deny_unknown_fields)]
    pub struct TestWebhook {
        /// The body as JSON, sent byte for byte; `{}` if there is none.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = Option<Value>))]
        pub body: Option<Raw>,
        /// The body as text instead, such as a form.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub body_text: Option<String>,
        /// The content type of the body; default `application/json`.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub content_type: Option<String>,
        /// Headers to add or replace, including a signature.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pub headers: BTreeMap<String, String>,
        /// The sender address to simulate; yours if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "openapi", schema(value_type = super::MaybeAddress, required = false))]
        pub source_ip: Option<String>,
        /// Signs it, and sends nothing.
        #[serde(default)]
        pub dry_run: bool,
    }

    /// A request to a webhook that was made and signed.
    pub struct TestedWebhook {
        /// The result; null in a dry run.
        pub result: Option<TestResult>,
        /// What was sent.
        pub sent: SentRequest,
    }

    /// The result of a test.
    pub struct TestResult {
        /// The HTTP status that its sender would have got.
        pub http_status: u16,
        /// What the log says of it.
        pub status: RequestStatus,
        /// Why, if it started nothing.
        pub reason: Option<String>,
        /// What it started, or what an equal one had started.
        pub execution_id: Option<String>,
        /// `whr_…`: under this id the log has it, as a test.
        pub request_id: String,
    }

    /// A request as it was sent.
    pub struct SentRequest {
        /// `POST`
        pub method: String,
        /// The webhook's address.
        pub url: String,
        /// Its headers with the signature. The secret itself is never shown: `[removed]` is in its place.
        pub headers: Vec<RequestHeader>,
        /// The header that holds the key, if the sender is authenticated by a key.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub key_header: Option<String>,
        /// Its body.
        pub body: String,
        /// Until when its signature is valid; null if its time is not checked.
        pub valid_until: Option<String>,
    }
}
