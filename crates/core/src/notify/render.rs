//! What each service is sent: one file for each. All of it is pure, so that it can be compared with recorded
//! files, and shown before anything is sent.

mod email;
mod pagerduty;
mod slack;
mod teams;
mod webhook;

pub use email::Mail;
pub use webhook::sign;

use super::channel::{Channel, Target};
use super::message::Message;
use super::words::words;
use crate::id::NotificationId;
use crate::time::Timestamp;

/// What is sent, without addresses and secrets.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rendered {
    /// JSON for a POST.
    Json(String),
    /// A mail.
    Mail(Mail),
}

/// Where and when a message is made.
#[derive(Debug, Clone, Copy)]
pub struct Occasion<'a> {
    /// Its id.
    pub id: NotificationId,
    /// Where the console is found, for links.
    pub address: Option<&'a str>,
    /// When it was made.
    pub at: Timestamp,
}

/// The message for a channel. PagerDuty's routing key stands in its body: it is put there by whoever sends it.
#[must_use]
pub fn render(channel: &Channel, message: &Message, occasion: Occasion<'_>) -> Rendered {
    let words = words(message, channel.language, occasion.address);
    match &channel.target {
        Target::Teams(teams) => Rendered::Json(teams::body(&words, teams.envelope)),
        Target::Slack(_) => Rendered::Json(slack::body(&words)),
        Target::Webhook(_) => Rendered::Json(webhook::body(message, &words, occasion)),
        Target::PagerDuty(to) => Rendered::Json(pagerduty::body(message, &words, to, occasion)),
        Target::Email(_) => Rendered::Mail(email::mail(message, &words, channel, occasion)),
    }
}

/// As much of a text as so many characters are.
fn cut_chars(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(chars_max.saturating_sub(1)).collect();
            format!("{kept}…")
        }
    }
}

#[cfg(test)]
mod tests;
