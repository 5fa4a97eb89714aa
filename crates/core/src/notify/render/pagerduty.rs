//! PagerDuty: an event of its Events API, version 2. What begins and what ends an incident has the same key.

use serde_json::json;

use super::{Occasion, cut_chars};
use crate::id::GroupId;
use crate::notify::channel::PagerDuty;
use crate::notify::message::{Message, Phase};
use crate::notify::words::Words;

/// A summary, in characters.
const SUMMARY_CHARS: usize = 1_024;

pub(super) fn body(
    message: &Message,
    words: &Words,
    to: &PagerDuty,
    occasion: Occasion<'_>,
) -> String {
    let key = message.group.map_or_else(
        || format!("refire:{}", occasion.id),
        |group: GroupId| format!("refire:{group}"),
    );
    if message.phase == Phase::Over {
        return json!({"event_action": "resolve", "dedup_key": key}).to_string();
    }
    let mut details = serde_json::Map::new();
    for (name, value) in &words.facts {
        details.insert(name.clone(), json!(value));
    }
    details.insert("count".to_owned(), json!(message.count));
    if let Some(text) = &words.text {
        details.insert("message".to_owned(), json!(text));
    }
    let links: Vec<_> = words
        .links
        .iter()
        .map(|(text, href)| json!({"href": href, "text": text}))
        .collect();
    let second = occasion.at.to_string();
    let second = second.split('.').next().unwrap_or_default();
    let severity = match message.phase {
        Phase::Test => "info",
        _ => to.severity.name(),
    };
    let mut event = json!({
        "event_action": "trigger",
        "dedup_key": key,
        "client": "Refire",
        "payload": {
            "summary": cut_chars(&words.summary(), SUMMARY_CHARS),
            "source": "refire",
            "severity": severity,
            "timestamp": format!("{second}Z"),
            "component": cut_chars(message.name(), SUMMARY_CHARS),
            "class": message.kind.name(),
            "custom_details": details,
        },
        "links": links,
    });
    if let Some(address) = occasion.address {
        event["client_url"] = json!(address);
    }
    event.to_string()
}
