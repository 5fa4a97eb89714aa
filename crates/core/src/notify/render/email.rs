//! Mail: a subject, a plain text and the same as HTML.

use super::{Occasion, cut_chars};
use crate::notify::channel::{Channel, Language};
use crate::notify::message::{Message, Phase};
use crate::notify::words::{Tone, Words};

/// A subject, in characters.
const SUBJECT_CHARS: usize = 150;
/// What others said, in characters.
const TEXT_CHARS: usize = 1_000;

/// A mail, as far as it is the same for every relay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mail {
    /// Its subject.
    pub subject: String,
    /// As text.
    pub text: String,
    /// As HTML.
    pub html: String,
    /// What its `Message-ID` begins with.
    pub message_id: String,
    /// The same of its thread, so that clients show a group together.
    pub thread: Option<String>,
}

pub(super) fn mail(
    message: &Message,
    words: &Words,
    channel: &Channel,
    occasion: Occasion<'_>,
) -> Mail {
    let subject: String = words.title.chars().filter(|c| !c.is_control()).collect();
    Mail {
        subject: cut_chars(&format!("[Refire] {subject}"), SUBJECT_CHARS),
        text: text(words),
        html: html(words, channel.language),
        message_id: occasion.id.to_string(),
        thread: message
            .group
            .filter(|_| message.phase != Phase::Test)
            .map(|group| group.to_string()),
    }
}

/// The values of a message, with the time at their end.
fn facts(words: &Words) -> Vec<(String, String)> {
    let mut facts = words.facts.clone();
    facts.extend(
        words
            .at
            .as_ref()
            .map(|(name, at)| (name.clone(), at.to_string())),
    );
    facts
}

fn text(words: &Words) -> String {
    let mut out = format!("{}\n{}\n", words.title, words.subtitle);
    for (name, value) in facts(words) {
        out.push_str(&format!("\n{name}: {value}"));
    }
    for line in &words.lines {
        out.push_str(&format!("\n- {line}"));
    }
    if let Some(said) = &words.text {
        out.push_str("\n\n");
        for line in cut_chars(said, TEXT_CHARS).lines() {
            out.push_str(&format!("> {line}\n"));
        }
    }
    for (name, url) in &words.links {
        out.push_str(&format!("\n{name}: {url}"));
    }
    out.push('\n');
    out
}

fn html(words: &Words, language: Language) -> String {
    let colour = match words.tone {
        Tone::Bad => "#b3261e",
        Tone::Good => "#146c2e",
        Tone::Plain => "#444746",
    };
    let code = match language {
        Language::English => "en",
        Language::Chinese => "zh-Hant",
    };
    let mut out = format!(
        "<!doctype html><html lang=\"{code}\"><body style=\"font-family:sans-serif\">\
         <h2 style=\"color:{colour};margin-bottom:0\">{}</h2><p style=\"color:#444746\">{}</p>",
        escaped(&words.title),
        escaped(&words.subtitle)
    );
    let facts = facts(words);
    if !facts.is_empty() {
        out.push_str("<table>");
        for (name, value) in facts {
            let (name, value) = (escaped(&name), escaped(&value));
            out.push_str(&format!(
                "<tr><td style=\"padding-right:1em;color:#444746\">{name}</td><td><code>{value}</code></td></tr>"
            ));
        }
        out.push_str("</table>");
    }
    if !words.lines.is_empty() {
        let lines = words
            .lines
            .iter()
            .map(|line| format!("<li>{}</li>", escaped(line)));
        out.push_str(&format!("<ul>{}</ul>", lines.collect::<String>()));
    }
    if let Some(said) = &words.text {
        out.push_str(&format!(
            "<pre>{}</pre>",
            escaped(&cut_chars(said, TEXT_CHARS))
        ));
    }
    for (name, url) in &words.links {
        out.push_str(&format!(
            "<p><a href=\"{}\">{}</a></p>",
            escaped(url),
            escaped(name)
        ));
    }
    out.push_str("</body></html>\n");
    out
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
}
