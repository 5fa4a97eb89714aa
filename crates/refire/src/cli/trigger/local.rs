//! A trigger's words for people: its times as the clocks of its zone show them, and how it stands.

use refire_client::model::Trigger;

use crate::cli::prelude::*;

/// `2026-03-08 03:00:00 -04:00` of a time with its offset; anything else as it is.
pub(super) fn clock(text: &str) -> String {
    let parts = || {
        let (date, rest) = text.split_once('T')?;
        let end = rest.find(['Z', '+', '-'])?;
        let (time, offset) = rest.split_at(end);
        let time = time.split('.').next()?;
        let offset = match offset {
            "Z" | "+00:00" => "UTC",
            other => other,
        };
        Some(format!("{date} {time} {offset}"))
    };
    let shown = parts().unwrap_or_else(|| text.to_owned());
    clean(&shown).into_owned()
}

/// The same with how far away it is.
pub(super) fn clock_and_distance(text: &str, now: Timestamp) -> String {
    format!("{} ({})", clock(text), relative(text, now))
}

/// A text of at most so many characters, with a sign that something was cut.
pub(super) fn shortened(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}…", text[..end].trim_end()),
        None => text.to_owned(),
    }
}

/// How a trigger stands, in a word.
pub(super) fn standing(trigger: &Trigger) -> &'static str {
    let about = &trigger.about;
    match about {
        _ if about.problem.is_some() => "broken",
        _ if about.finished => "finished",
        _ if !about.enabled => "paused",
        _ if about.overdue_since.is_some() => "overdue",
        _ => "enabled",
    }
}

/// When it fires in one sentence, or who sends to a webhook and where; or why it does not work.
pub(super) fn summary(trigger: &Trigger) -> String {
    let about = &trigger.about;
    if let Some(problem) = &about.problem {
        return problem.clone();
    }
    let words = about.description_in_words.as_ref().map(|words| {
        let first = words.en.split_once(". ").map(|(first, _)| first);
        first.unwrap_or(&words.en).to_owned()
    });
    let sender = trigger.settings.text("authentication");
    let address = about.webhook_url.as_ref().map(|address| match &sender {
        Some(sender) => format!("{sender}  {address}"),
        None => address.clone(),
    });
    words.or(address).unwrap_or_default()
}

/// How far behind its planned times a trigger starts, if it spreads them.
pub(super) fn delay(trigger: &Trigger) -> Option<String> {
    let jitter = trigger.settings.get("jitter")?;
    let text = serde_json::from_str::<String>(jitter.get());
    // A bare number counts seconds.
    let length = text.unwrap_or_else(|_| format!("{}s", jitter.get()));
    Some(format!("up to {length} later"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_shown_as_the_clocks_there_show_them() {
        for (text, expected) in [
            ("2026-03-08T03:00:00-04:00", "2026-03-08 03:00:00 -04:00"),
            (
                "2026-03-08T03:00:00.125+08:00",
                "2026-03-08 03:00:00 +08:00",
            ),
            ("2026-03-08T03:00:00.000000Z", "2026-03-08 03:00:00 UTC"),
            ("soon", "soon"),
        ] {
            assert_eq!(clock(text), expected);
        }
    }

    #[test]
    fn a_long_text_is_cut_with_a_sign() {
        assert_eq!(shortened("größer", 6), "größer");
        assert_eq!(shortened("größer als", 6), "größer…");
        assert_eq!(shortened("ab cd", 3), "ab…");
    }

    #[test]
    fn what_does_not_work_says_why() {
        let mut trigger: Trigger = serde_json::from_str(
            r#"{"id":"trg_1","workflow_id":"w","trigger_type":"webhook","enabled":true,"version":1,
            "created_at":"a","updated_at":"b","webhook_url":"http://h/webhooks/wh_1"}"#,
        )
        .unwrap();
        let told = |trigger: &Trigger| (standing(trigger), summary(trigger));
        assert_eq!(
            told(&trigger),
            ("enabled", "http://h/webhooks/wh_1".to_owned())
        );
        trigger.settings = serde_json::from_str(r#"{"authentication":"github"}"#).unwrap();
        assert_eq!(summary(&trigger), "github  http://h/webhooks/wh_1");
        trigger.about.problem = Some("speed: unknown key".to_owned());
        assert_eq!(told(&trigger), ("broken", "speed: unknown key".to_owned()));
    }
}
