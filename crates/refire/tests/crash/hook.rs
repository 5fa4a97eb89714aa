//! Webhooks, and requests to them as a sender signs them.

use std::fmt::Write as _;

use hmac::{Hmac, KeyInit, Mac};
use refire_client::model::Trigger;
use reqwest::RequestBuilder;
use serde_json::json;
use sha2::Sha256;

use crate::client::Client;

/// What all of them are signed with.
const SECRET: &str = "a secret of the crash tests that is long enough";

/// A webhook of a workflow.
#[derive(Debug, Clone)]
pub(crate) struct Hook {
    pub(crate) workflow: &'static str,
    id: String,
}

impl Hook {
    /// Makes one.
    pub(crate) async fn make(client: &Client, workflow: &'static str) -> Self {
        let settings = json!({
            "trigger_type": "webhook",
            "authentication": "hmac",
            "secret": SECRET,
        });
        let made: Trigger = client.make_trigger(workflow, &settings).await;
        let id = made.about.webhook_id.unwrap();
        Self { workflow, id }
    }

    pub(crate) fn path(&self) -> String {
        format!("/webhooks/{}", self.id)
    }

    /// Signs a request with this body.
    pub(crate) fn sign(request: RequestBuilder, body: &str) -> RequestBuilder {
        let mut mac = Hmac::<Sha256>::new_from_slice(SECRET.as_bytes()).unwrap();
        mac.update(body.as_bytes());
        let mut signature = "sha256=".to_owned();
        for byte in mac.finalize().into_bytes() {
            let _ = write!(signature, "{byte:02x}");
        }
        request
            .header("content-type", "application/json")
            .header("X-Signature", signature)
    }
}
