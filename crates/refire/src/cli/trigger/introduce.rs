//! What is said of a trigger to who has just made or changed it.

use refire_client::model::Trigger;

use super::filter;
use super::local::{clock_and_distance, delay, summary};
use crate::cli::prelude::*;

/// Senders that issue the secret themselves, by their word, their name, and how they sign (a header, and
/// how its value begins): one that was made here is of no use to them.
pub(super) const ISSUERS: [(&str, &str, &str, &str); 4] = [
    ("shopify", "Shopify", "X-Shopify-Hmac-Sha256", ""),
    ("slack", "Slack", "X-Slack-Signature", ""),
    ("stripe", "Stripe", "Stripe-Signature", ""),
    ("teams", "Teams", "Authorization", "HMAC "),
];

/// Where a webhook's new secret comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Secret {
    /// The server made it.
    Made,
    /// A person gave it with a new webhook.
    Given,
    /// A person gave it in place of another one.
    Replaced,
}

/// What a trigger will do.
pub(super) fn introduce(session: &Session, trigger: &Trigger) {
    let about = &trigger.about;
    let now = session.now();
    let what = match &about.webhook_url {
        Some(address) if about.problem.is_none() => address.clone(),
        _ => summary(trigger),
    };
    if !what.is_empty() {
        say(&clean(&what));
    }
    for filter in filter::lines(trigger) {
        say!("only if  {}", clean(&filter));
    }
    for (place, at) in about.next_executions.iter().enumerate() {
        let name = if place == 0 { "next" } else { "then" };
        say!("{name}  {}", clock_and_distance(at, now));
    }
    if let Some(delay) = delay(trigger).filter(|_| !about.next_executions.is_empty()) {
        say!("each starts {}", clean(&delay));
    }
    if !about.enabled {
        let enable = command(&format!("refire trigger enable {}", about.id));
        say!("it is paused; resume it with: {enable}");
    }
}

/// The sender of a webhook, if it issues the secret itself.
pub(super) fn issuer(trigger: &Trigger) -> Option<&'static str> {
    let method = trigger.settings.text("authentication")?;
    let known = ISSUERS.iter().find(|(word, ..)| *word == method);
    known.map(|(_, name, ..)| *name)
}

/// What the sender's side calls it: one that is sent as it is, and signs nothing, is a key.
pub(super) fn secret_word(trigger: &Trigger) -> &'static str {
    match trigger.settings.text("authentication").as_deref() {
        Some("api_key") => "key",
        _ => "secret",
    }
}

/// What is to be done about a webhook's new secret.
pub(super) fn tell_secret(trigger: &Trigger, from: Secret) {
    for line in secret_lines(trigger, from) {
        say(&line);
    }
}

fn secret_lines(trigger: &Trigger, from: Secret) -> Vec<String> {
    let id = &trigger.about.id;
    let word = secret_word(trigger);
    match from {
        Secret::Given => return vec![format!("its {word} is the one you gave")],
        Secret::Replaced => {
            let rotate = command(&format!("refire trigger rotate-secret {id}"));
            return vec![format!(
                "its {word} is the one you gave; the old one no longer works ({rotate} keeps it for a \
                 while)"
            )];
        }
        Secret::Made => {}
    }
    let Some(secret) = &trigger.about.secret else {
        return Vec::new();
    };
    let give = command(&format!("refire trigger update {id} --secret @FILE"));
    if let Some(name) = issuer(trigger) {
        return vec![
            warning(&format!(
                "{name} creates the secret itself: no request passes until this webhook has it"
            )),
            format!("copy it from {name}, then: {give}"),
        ];
    }
    let mut lines = vec![
        format!("{word} {secret}"),
        warning("save it now: it is not shown again"),
    ];
    let method = trigger.settings.text("authentication");
    if method.as_deref() == Some("standard_webhooks") {
        lines.push(format!("if the sender has created its own secret: {give}"));
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn webhook(method: &str) -> Trigger {
        let text = format!(
            r#"{{"id":"trg_1","workflow_id":"w","trigger_type":"webhook","enabled":true,"version":1,
            "created_at":"a","updated_at":"b","webhook_url":"http://h/webhooks/wh_1",
            "secret":"made-here","authentication":"{method}"}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    fn said(method: &str, from: Secret) -> String {
        let lines = secret_lines(&webhook(method), from).join("\n");
        anstream::adapter::strip_str(&lines).to_string()
    }

    #[test]
    fn a_secret_is_shown_where_it_is_of_use() {
        for (method, shown) in [
            ("hmac", "secret made-here\nsave it now"),
            ("github", "secret made-here\nsave it now"),
            ("standard_webhooks", "secret made-here\nsave it now"),
            ("api_key", "key made-here\nsave it now"),
        ] {
            let said = said(method, Secret::Made);
            assert!(said.starts_with(shown), "{said}");
        }
        for method in ["stripe", "slack", "shopify", "teams"] {
            let said = said(method, Secret::Made);
            assert!(!said.contains("made-here"), "{said}");
            assert!(said.contains("creates the secret itself"), "{said}");
            let give = "refire trigger update trg_1 --secret @FILE";
            assert!(said.ends_with(give), "{said}");
        }
    }

    #[test]
    fn what_a_person_gave_is_not_shown() {
        for from in [Secret::Given, Secret::Replaced] {
            for (method, begins) in [("hmac", "its secret is"), ("api_key", "its key is")] {
                let said = said(method, from);
                assert!(!said.contains("made-here"), "{said}");
                assert!(said.starts_with(begins), "{said}");
            }
        }
        assert!(said("hmac", Secret::Replaced).contains("refire trigger rotate-secret trg_1"));
    }
}
