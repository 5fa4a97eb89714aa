//! Each channel's messages are what the recorded files say (`REFIRE_UPDATE=1` records them), and within what the
//! services take.

use std::path::Path;

use serde_json::Value;

use super::*;
use crate::definition::WorkflowId;
use crate::id::GroupId;
use crate::notify::channel::*;
use crate::notify::message::{Line, Phase};
use crate::notify::{FactName, Facts, NoticeKind};

const ADDRESS: &str = "https://refire.example.com/r/";

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(1_800_000_000_000 + seconds * 1_000)
}

fn occasion() -> Occasion<'static> {
    Occasion {
        id: NotificationId::from_bytes([7; 16]),
        address: Some(ADDRESS),
        at: at(31),
    }
}

fn letter(text: &str) -> Facts {
    Facts::new("customer_360_view", at(30))
        .text(text)
        .page("/dlq/dlq_1")
        .fact(FactName::Workflow, "customer_360_view")
        .fact(FactName::Step, "tickets (6/6)")
        .fact(FactName::Error, "http_status 503")
        .fact(FactName::Reason, "exhausted")
        .fact(FactName::Execution, "exec_1")
        .fact(FactName::DeadLetter, "dlq_1")
}

fn message(phase: Phase, text: &str) -> Message {
    let is_digest = phase == Phase::Digest;
    let line = |n: u64| Line {
        kind: NoticeKind::DeadLetterCreated,
        name: format!("flow_{n}"),
        count: 100 - n,
        page: None,
    };
    Message {
        kind: match phase {
            Phase::Over => NoticeKind::DeadLetterResolved,
            _ => NoticeKind::DeadLetterCreated,
        },
        phase,
        group: (!is_digest).then(|| GroupId::from_bytes([9; 16])),
        workflow: Some(WorkflowId::new("customer_360_view").unwrap()),
        subject: "00000000deadbeef".to_owned(),
        count: 3,
        increase: 2,
        since: at(0),
        until: at(30),
        newest: if is_digest {
            Vec::new()
        } else {
            vec![letter(text)]
        },
        groups: if is_digest {
            (0..12).map(line).collect()
        } else {
            Vec::new()
        },
    }
}

fn channels() -> Vec<Target> {
    let host = || "prod.logic.azure.com".to_owned();
    vec![
        Target::Teams(Teams {
            host: host(),
            envelope: Envelope::Message,
        }),
        Target::Slack(Slack {
            host: "hooks.slack.com".to_owned(),
        }),
        Target::Email(Email {
            host: "smtp.example.com".to_owned(),
            port: 587,
            tls: MailTls::Starttls,
            username: None,
            from: "refire@example.com".to_owned(),
            to: vec!["ops@example.com".to_owned()],
            ca: None,
        }),
        Target::Webhook(Webhook {
            url: "https://example.com/hook".to_owned(),
        }),
        Target::PagerDuty(PagerDuty {
            url: "https://events.pagerduty.com/v2/enqueue".to_owned(),
            severity: Severity::Error,
        }),
    ]
}

fn channel(target: Target, language: Language) -> Channel {
    Channel {
        name: "ops".to_owned(),
        language,
        kinds: Vec::new(),
        workflows: Vec::new(),
        target,
    }
}

/// As people read it.
fn written(rendered: &Rendered) -> String {
    match rendered {
        Rendered::Json(text) => {
            let value: Value = serde_json::from_str(text).unwrap();
            serde_json::to_string_pretty(&value).unwrap() + "\n"
        }
        Rendered::Mail(mail) => format!(
            "Subject: {}\nMessage-ID: {}\nThread: {:?}\n\n{}\n{}",
            mail.subject, mail.message_id, mail.thread, mail.text, mail.html
        ),
    }
}

#[test]
fn messages_are_as_recorded() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/notify/render/golden");
    let update = std::env::var_os("REFIRE_UPDATE").is_some();
    let phases = [Phase::First, Phase::Over, Phase::Digest, Phase::Test];
    for target in channels() {
        for (code, language) in [("en", Language::English), ("zh-TW", Language::Chinese)] {
            let channel = channel(target.clone(), language);
            let mut text = String::new();
            for phase in phases {
                let mut message = message(
                    phase,
                    "upstream answered 503: [x](https://evil) *now*\n- 1. <b>",
                );
                if phase == Phase::Test {
                    message = Message::test(at(0));
                }
                let rendered = render(&channel, &message, occasion());
                text.push_str(&written(&rendered));
                text.push('\n');
            }
            let path = folder.join(format!("{}.{code}.txt", channel.target.type_name()));
            if update {
                std::fs::write(&path, &text).unwrap();
            }
            let recorded = std::fs::read_to_string(&path).unwrap_or_default();
            assert_eq!(text, recorded, "{}", path.display());
        }
    }
}

fn json(target: Target, message: &Message) -> Value {
    let channel = channel(target, Language::Chinese);
    match render(&channel, message, occasion()) {
        Rendered::Json(text) => serde_json::from_str(&text).unwrap(),
        Rendered::Mail(mail) => panic!("{mail:?}"),
    }
}

/// What Microsoft's renderer does not notice.
fn check_card(card: &Value) {
    match card {
        Value::Object(members) => {
            match members.get("type").and_then(Value::as_str) {
                Some("TextBlock") => {
                    let text = members["text"].as_str().unwrap();
                    assert!(!text.trim().is_empty(), "{card}");
                }
                Some("FactSet") => {
                    for fact in members["facts"].as_array().unwrap() {
                        assert!(!fact["value"].as_str().unwrap().is_empty(), "{card}");
                        assert!(!fact["title"].as_str().unwrap().is_empty(), "{card}");
                    }
                }
                Some(kind) if kind.starts_with("Action.") => assert_eq!(kind, "Action.OpenUrl"),
                _ => {}
            }
            members.values().for_each(check_card);
        }
        Value::Array(items) => items.iter().for_each(check_card),
        _ => {}
    }
}

#[test]
fn cards_are_small_and_whole_whatever_was_said() {
    let nasty = [
        "",
        " \n\n ",
        &"錯誤 *[a](b)* ".repeat(2_000),
        &"\u{0}\\\"".repeat(3_000),
    ];
    for text in nasty {
        for phase in [
            Phase::First,
            Phase::More,
            Phase::Reminder,
            Phase::Over,
            Phase::Digest,
        ] {
            let message = message(phase, text);
            let teams = channels().remove(0);
            let card = json(teams, &message);
            assert!(
                card.to_string().len() <= 20_000,
                "{}",
                card.to_string().len()
            );
            check_card(&card);
            let slack = json(channels().remove(1), &message);
            assert!(slack.to_string().chars().count() <= 8_000);
            assert!(!slack["text"].as_str().unwrap().is_empty());
            let blocks = slack["blocks"].as_array().unwrap();
            assert!(blocks.len() <= 50);
            let event = json(channels().remove(4), &message);
            assert!(event.to_string().len() < 512 * 1_024);
            assert!(event["dedup_key"].as_str().unwrap().len() <= 255);
        }
    }
}

#[test]
fn what_others_said_is_no_markup() {
    let message = message(Phase::First, "[x](https://evil) <https://evil|y> <script>");
    let card = json(channels().remove(0), &message).to_string();
    assert!(card.contains("\\\\[x\\\\]\\\\(https://evil\\\\)"), "{card}");
    let slack = json(channels().remove(1), &message).to_string();
    assert!(
        !slack.contains("<https://evil") && slack.contains("&lt;script&gt;"),
        "{slack}"
    );
    let channel = channel(channels().remove(2), Language::English);
    let Rendered::Mail(mail) = render(&channel, &message, occasion()) else {
        panic!("a mail");
    };
    assert!(!mail.html.contains("<script>"), "{}", mail.html);
}

#[test]
fn an_incident_ends_under_the_key_that_it_began_with() {
    let begins = json(channels().remove(4), &message(Phase::First, "x"));
    let ends = json(channels().remove(4), &message(Phase::Over, "x"));
    assert_eq!(begins["dedup_key"], ends["dedup_key"]);
    assert_eq!(
        (&begins["event_action"], &ends["event_action"]),
        (&Value::from("trigger"), &Value::from("resolve"))
    );
}

/// The example that the specification's libraries are tested with.
#[test]
fn a_webhook_is_signed_as_the_standard_says() {
    let id = NotificationId::from_bytes([1; 16]);
    let secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
    let headers = sign(secret, id, Timestamp::from_millis(1_614_265_330_000), b"{}").unwrap();
    let value = |name: &str| {
        let found = headers
            .iter()
            .find(|(header, _)| header.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str()).unwrap()
    };
    assert_eq!(value("webhook-timestamp"), "1614265330");
    assert_eq!(value("webhook-id"), id.to_string());
    assert!(value("webhook-signature").starts_with("v1,"));
    assert!(sign("short", id, at(0), b"{}").is_err());
}
