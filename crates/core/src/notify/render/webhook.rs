//! Anybody's service, by Standard Webhooks: a body with a type, a time and data, and three headers that say that it
//! is genuine.

use serde_json::json;

use super::Occasion;
use crate::id::NotificationId;
use crate::notify::message::{Message, Phase};
use crate::notify::words::Words;
use crate::time::Timestamp;
use crate::webhook::{Authentication, Method, Scheme, Secret};

pub(super) fn body(message: &Message, words: &Words, occasion: Occasion<'_>) -> String {
    let kind = match message.phase {
        Phase::Test => "test",
        Phase::Digest => "digest",
        _ => message.kind.name(),
    };
    let links: Vec<_> = words.links.iter().map(|(_, url)| url).collect();
    json!({
        "type": kind,
        "timestamp": occasion.at,
        "data": {
            "id": occasion.id,
            "phase": message.phase,
            "group": message.group,
            "workflow": message.workflow,
            "subject": message.subject,
            "title": words.title,
            "summary": words.subtitle,
            "count": message.count,
            "increase": message.increase,
            "since": message.since,
            "until": message.until,
            "newest": message.newest,
            "groups": message.groups,
            "links": links,
        },
    })
    .to_string()
}

/// The headers of an attempt. The id is that of the message, the same for all attempts; the time is that of this one.
///
/// # Errors
/// When the secret is none.
pub fn sign(
    secret: &str,
    id: NotificationId,
    at: Timestamp,
    body: &[u8],
) -> Result<Vec<(String, String)>, String> {
    let secret =
        Secret::new(secret, Method::StandardWebhooks).map_err(|problem| problem.message)?;
    let scheme = Scheme::of_sender(Method::StandardWebhooks).ok_or("no such scheme")?;
    let signed = Authentication::Signed(Box::new(scheme));
    Ok(crate::webhook::sign(
        &signed,
        Some(&secret),
        &id.to_string(),
        at,
        body,
    ))
}
