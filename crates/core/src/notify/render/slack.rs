//! Slack: blocks, and always a text, which notifications and old clients show.

use serde_json::{Value, json};

use super::cut_chars;
use crate::notify::words::Words;

/// A header's text, in characters.
const HEADER_CHARS: usize = 150;
/// A field's text, in characters; Slack takes 2,000.
const FIELD_CHARS: usize = 400;
/// Fields of a section.
const FIELDS_MAX: usize = 10;
/// What others said, in characters; Slack takes 3,000 in a section, and about 13,000 in all.
const TEXT_CHARS: usize = 1_500;
/// A button's text, in characters.
const BUTTON_CHARS: usize = 75;

pub(super) fn body(words: &Words) -> String {
    let mut blocks = vec![
        json!({"type": "header", "text": {"type": "plain_text", "text": cut_chars(&words.title, HEADER_CHARS)}}),
        section(&escaped(&words.subtitle)),
    ];
    let mut fields: Vec<Value> = words
        .facts
        .iter()
        .map(|(name, value)| field(name, &format!("`{}`", plain(value))))
        .collect();
    if let Some((name, at)) = &words.at {
        let seconds = at.as_millis() / 1_000;
        fields.push(field(
            name,
            &format!("<!date^{seconds}^{{date_short_pretty}} {{time_secs}}|{at}>"),
        ));
    }
    fields.truncate(FIELDS_MAX);
    if !fields.is_empty() {
        blocks.push(json!({"type": "section", "fields": fields}));
    }
    if !words.lines.is_empty() {
        let lines: Vec<String> = words
            .lines
            .iter()
            .map(|line| format!("• {}", escaped(line)))
            .collect();
        blocks.push(section(&cut_chars(&lines.join("\n"), TEXT_CHARS)));
    }
    if let Some(text) = &words.text {
        let text = cut_chars(&plain(text), TEXT_CHARS);
        blocks.push(section(&format!("```{text}```")));
    }
    let buttons: Vec<Value> = words
        .links
        .iter()
        .map(|(title, url)| {
            let text = json!({"type": "plain_text", "text": cut_chars(title, BUTTON_CHARS)});
            json!({"type": "button", "text": text, "url": url})
        })
        .collect();
    if !buttons.is_empty() {
        blocks.push(json!({"type": "actions", "elements": buttons}));
    }
    json!({"text": cut_chars(&escaped(&words.summary()), FIELD_CHARS), "blocks": blocks})
        .to_string()
}

fn section(text: &str) -> Value {
    json!({"type": "section", "text": {"type": "mrkdwn", "text": text}})
}

fn field(name: &str, value: &str) -> Value {
    json!({"type": "mrkdwn", "text": format!("*{}*\n{value}", escaped(name))})
}

/// What would be a link or a mention is text.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

/// The same between back quotes, which it cannot leave.
fn plain(text: &str) -> String {
    escaped(&cut_chars(text, TEXT_CHARS)).replace('`', "'")
}
