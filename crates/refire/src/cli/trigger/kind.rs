//! What is said where a trigger has nothing to show: what it has instead depends on its type.

use refire_client::model::{Trigger, TriggerType};

/// Why a ledger has no entries, and where to look.
pub(super) fn no_slots(trigger: &Trigger, is_narrowed: bool) -> String {
    let about = &trigger.about;
    let id = &about.id;
    match about {
        _ if about.trigger_type == TriggerType::Webhook => format!(
            "{id} is a webhook, which has no planned times; see its requests with: refire trigger \
             requests {id}"
        ),
        _ if is_narrowed => "no planned time has that status".to_owned(),
        _ if about.finished => "there was no planned time, and there will be none".to_owned(),
        _ if !about.enabled => format!(
            "no planned time has come yet, and it is paused; resume it with: refire trigger enable \
             {id}"
        ),
        _ => format!("no planned time has come yet; see when one will: refire trigger next {id}"),
    }
}

/// Why a log of requests is empty, and where to look.
pub(super) fn no_requests(trigger: &Trigger, is_narrowed: bool) -> String {
    let about = &trigger.about;
    let id = &about.id;
    match &about.webhook_url {
        _ if about.trigger_type != TriggerType::Webhook => format!(
            "{id} is a trigger of type {}, which gets no requests; see its planned times with: \
             refire trigger slots {id}",
            about.trigger_type
        ),
        _ if is_narrowed => {
            format!("no matching requests; see all with: refire trigger requests {id}")
        }
        Some(address) => format!("no requests yet; they go to {address}"),
        None => "no requests yet".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trigger(kind: &str, rest: &str) -> Trigger {
        let text = format!(
            r#"{{"id":"trg_1","workflow_id":"w","trigger_type":"{kind}","version":1,
            "created_at":"a","updated_at":"b",{rest}}}"#
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn each_type_is_told_what_it_has() {
        let webhook = trigger("webhook", r#""enabled":true,"webhook_url":"http://h/wh_1""#);
        let cron = trigger("cron", r#""enabled":true"#);
        let paused = trigger("cron", r#""enabled":false"#);
        let finished = trigger("schedule", r#""enabled":true,"finished":true"#);
        for (said, expected) in [
            (no_slots(&webhook, false), "refire trigger requests trg_1"),
            (no_slots(&webhook, true), "refire trigger requests trg_1"),
            (no_slots(&cron, false), "refire trigger next trg_1"),
            (no_slots(&cron, true), "no planned time has that status"),
            (no_slots(&paused, false), "refire trigger enable trg_1"),
            (no_slots(&finished, false), "and there will be none"),
            (no_requests(&cron, false), "refire trigger slots trg_1"),
            (no_requests(&webhook, false), "http://h/wh_1"),
            (no_requests(&webhook, true), "refire trigger requests trg_1"),
        ] {
            assert!(said.contains(expected), "{said}");
        }
    }
}
