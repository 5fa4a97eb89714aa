//! A trigger's words for people: its times as the clocks of its zone show them, and how it stands.

use refire_client::model::Trigger;
use refire_core::time::Timestamp;

use crate::cli::moment::relative;
use crate::cli::paint::clean;

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

/// When it fires in one sentence, or where a webhook is; or why it does not work.
pub(super) fn summary(trigger: &Trigger) -> String {
    let about = &trigger.about;
    if let Some(problem) = &about.problem {
        return problem.clone();
    }
    let words = about.description_in_words.as_ref().map(|words| {
        let first = words.en.split_once(". ").map(|(first, _)| first);
        first.unwrap_or(&words.en).to_owned()
    });
    words
        .or_else(|| about.webhook_url.clone())
        .unwrap_or_default()
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
        trigger.about.problem = Some("speed: unknown key".to_owned());
        assert_eq!(told(&trigger), ("broken", "speed: unknown key".to_owned()));
    }
}
