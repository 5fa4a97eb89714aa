//! Teams: an Adaptive Card, alone or attached to a message, for a workflow that posts it. It is accepted long before
//! it is posted, and a bad card is dropped unseen: so what is sent here is within what Teams takes.

use serde_json::{Value, json};

use super::cut_chars;
use crate::notify::channel::Envelope;
use crate::notify::words::{Tone, Words};

/// The largest message, in bytes. Teams takes a little more.
const BYTES_MAX: usize = 20_000;
/// What others said, in characters, at first and when it is too much.
const TEXT_CHARS: [usize; 3] = [1_000, 300, 0];
/// Values, in characters.
const VALUE_CHARS: usize = 300;

pub(super) fn body(words: &Words, envelope: Envelope) -> String {
    let mut text = String::new();
    for chars in TEXT_CHARS {
        let card = card(words, chars);
        let body = match envelope {
            Envelope::Card => card,
            Envelope::Message => json!({
                "type": "message",
                "attachments": [{
                    "contentType": "application/vnd.microsoft.card.adaptive",
                    "contentUrl": null,
                    "content": card,
                }],
            }),
        };
        text = body.to_string();
        if text.len() <= BYTES_MAX {
            break;
        }
    }
    text
}

fn card(words: &Words, text_chars: usize) -> Value {
    let style = match words.tone {
        Tone::Bad => "attention",
        Tone::Good => "good",
        Tone::Plain => "default",
    };
    let mut body = vec![json!({
        "type": "Container", "style": style, "bleed": true, "items": [
            {"type": "TextBlock", "text": line(&words.title), "weight": "Bolder", "size": "Medium", "wrap": true},
            {"type": "TextBlock", "text": line(&words.subtitle), "isSubtle": true, "spacing": "None", "wrap": true},
        ],
    })];
    let mut facts: Vec<Value> = words
        .facts
        .iter()
        .map(|(name, value)| json!({"title": escaped(name), "value": line(value)}))
        .collect();
    if let Some((name, at)) = &words.at {
        // Without fractions of a second, or the client shows it as it stands.
        let at = at.to_string();
        let second = at.split('.').next().unwrap_or_default();
        let value = format!("{{{{DATE({second}Z,SHORT)}}}} {{{{TIME({second}Z)}}}}");
        facts.push(json!({"title": escaped(name), "value": value}));
    }
    if !facts.is_empty() {
        body.push(json!({"type": "FactSet", "facts": facts}));
    }
    for one in &words.lines {
        body.push(
            json!({"type": "TextBlock", "text": line(one), "wrap": true, "spacing": "Small"}),
        );
    }
    if let Some(text) = words.text.as_ref().filter(|_| text_chars > 0) {
        let text = escaped(&cut_chars(text, text_chars));
        body.push(json!({
            "type": "TextBlock", "text": text, "fontType": "Monospace", "wrap": true, "maxLines": 6,
        }));
    }
    let actions = words
        .links
        .iter()
        .map(|(title, url)| json!({"type": "Action.OpenUrl", "title": title, "url": url}));
    json!({
        "$schema": "http://adaptivecards.io/schemas/adaptive-card.json",
        "type": "AdaptiveCard",
        "version": "1.4",
        "msteams": {"width": "Full"},
        "fallbackText": cut_chars(&words.summary(), VALUE_CHARS),
        "body": body,
        "actions": actions.collect::<Vec<_>>(),
    })
}

fn line(text: &str) -> String {
    escaped(&cut_chars(text, VALUE_CHARS))
}

/// Text is Markdown there: what others said must not become a link, a heading or a list.
fn escaped(text: &str) -> String {
    let mut out = String::with_capacity(text.len() + 8);
    for (number, line) in text.lines().enumerate() {
        if number > 0 {
            out.push_str("\n\n");
        }
        let digits = line.bytes().take_while(u8::is_ascii_digit).count();
        for (at, c) in line.char_indices() {
            let is_list =
                (at == 0 && matches!(c, '-' | '+' | '>')) || (at > 0 && at == digits && c == '.');
            // Two braces begin what the client computes.
            let is_mark = matches!(
                c,
                '\\' | '*' | '_' | '[' | ']' | '(' | ')' | '#' | '`' | '~' | '<' | '{'
            );
            if is_mark || is_list {
                out.push('\\');
            }
            out.push(c);
        }
    }
    // A text block must have a text.
    if out.trim().is_empty() {
        "–".to_owned()
    } else {
        out
    }
}
