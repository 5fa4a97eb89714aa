//! What is wrong at present, with the page of the console that shows it.

use axum::Json;
use refire_client::model::{TroubleEntry, TroubleKind, TroubleList, TroubleSeverity};
use refire_core::trouble::{Kind, Trouble};
use url::form_urlencoded::byte_serialize;

use super::{Answer, App, Params};

/// What is wrong at present, the worst first.
///
/// Dead letters, triggers that are overdue or cannot be read, tasks that no worker asks for, workers and
/// nodes that are not heard of, webhooks whose requests are refused, channels that nothing gets through, and
/// alerts that fire, unless their cause is in the list already.
#[utoipa::path(
    get,
    path = "/api/trouble",
    responses((status = 200, description = "What is wrong", body = TroubleList)),
)]
pub(super) async fn list_trouble(app: App, _: Params<()>) -> Answer<TroubleList> {
    let watched = app.engine.trouble().await?;
    Ok(Json(TroubleList {
        items: watched.troubles.iter().map(shown).collect(),
        quiet_since: watched.quiet_since.map(|at| at.to_string()),
    }))
}

fn shown(trouble: &Trouble) -> TroubleEntry {
    let words = trouble.words();
    TroubleEntry {
        kind: TroubleKind::from_name(trouble.kind.name()),
        severity: TroubleSeverity::from_name(trouble.severity.name()),
        subject: trouble.subject(),
        workflow_id: trouble.workflow.as_ref().map(ToString::to_string),
        count: trouble.count,
        since: trouble.since.to_string(),
        text: words.en,
        text_zh: words.zh_tw,
        path: path(trouble),
    }
}

/// The page of the console that shows it.
fn path(trouble: &Trouble) -> String {
    let subject = trouble.subject();
    let subject: String = byte_serialize(subject.as_bytes()).collect();
    match trouble.kind {
        Kind::DeadLetters => format!("/dlq?workflow={subject}"),
        Kind::TriggerOverdue(id) | Kind::TriggerUnreadable(id, _) => format!("/triggers/{id}"),
        Kind::Quarantine(id) => format!("/triggers/{id}/requests"),
        Kind::WorkerDead { .. } => format!("/workers?q={subject}"),
        Kind::NodeLost { .. } => "/nodes".to_owned(),
        Kind::TaskWaitingWithoutWorker(_) => format!("/tasks?type={subject}"),
        Kind::ChannelBroken { channel, .. } => format!("/channels/{channel}"),
        Kind::AlertFiring { .. } => format!("/alerts/{subject}"),
    }
}

#[cfg(test)]
mod tests {
    use refire_core::definition::WorkflowId;
    use refire_core::id::TriggerId;
    use refire_core::time::Timestamp;
    use refire_core::trouble::Severity;

    use super::*;

    #[test]
    fn every_trouble_has_its_page_and_its_words() {
        let id = TriggerId::from_bytes([1; 16]);
        let worker = Kind::WorkerDead {
            worker: "n8n 2".to_owned(),
            is_replaced: true,
        };
        for (kind, expected) in [
            (Kind::DeadLetters, "/dlq?workflow=w".to_owned()),
            (Kind::TriggerOverdue(id), format!("/triggers/{id}")),
            (Kind::Quarantine(id), format!("/triggers/{id}/requests")),
            (worker, "/workers?q=n8n+2".to_owned()),
            (
                Kind::TaskWaitingWithoutWorker("a/b".to_owned()),
                "/tasks?type=a%2Fb".to_owned(),
            ),
        ] {
            let entry = shown(&Trouble {
                kind,
                severity: Severity::Warning,
                workflow: WorkflowId::new("w").ok(),
                count: None,
                since: Timestamp::from_millis(0),
            });
            assert_eq!(entry.path, expected);
            assert_ne!(entry.kind, TroubleKind::Unknown);
            assert_ne!(entry.severity, TroubleSeverity::Unknown);
        }
    }
}
