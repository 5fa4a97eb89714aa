//! The workflow that sends messages: one step, tried for a quarter of an hour and more. It is saved when the first
//! channel is made, like any other, so that executions, replay and backups know nothing special.

use refire_core::definition::WorkflowId;
use refire_core::execution::{Trigger, TriggerKind};
use refire_core::id::{ChannelId, NotificationId, TriggerId};
use refire_core::json::Json;
use refire_core::limit;
use refire_core::notify::Message;
use refire_store::{Part, PartOutcome, PutWorkflow};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::NotifyError;
use crate::catalog::Definition;
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::intake::Submission;

/// Its name, which people cannot give.
const ID: &str = ".notify";

/// Who saves it and starts its executions.
const BY: &str = "refire";

const SOURCE: &str = "\
id: .notify
name: Notifications
retry:
  maxRetries: 9
  initialDelay: 2s
  maxDelay: 10m
  multiplier: 2.5
steps:
  - id: send
    type: local
    config:
      task: .notify
      timeout: 60s
";

/// The name of the workflow that sends messages.
pub(crate) fn id() -> WorkflowId {
    // A dot and letters: always a name of the server's own.
    WorkflowId::kept(ID).unwrap_or_else(|_| unreachable!())
}

/// What an execution is given: a message, and the channel that it goes through.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(super) struct Input {
    pub(super) channel: ChannelId,
    pub(super) message: Message,
    /// The message that it repeats, because somebody asked for that.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) repeats: Option<NotificationId>,
}

impl Input {
    pub(super) fn read(input: &Json) -> Option<Self> {
        serde_json::from_str(input.as_str()).ok()
    }

    /// The execution that sends it. What started it is the channel, so that lists find its messages.
    pub(super) fn submission(&self, by: &str) -> Option<Submission> {
        let text = serde_json::to_string(self).ok()?;
        Some(Submission {
            workflow: id(),
            input: Json::parse(text).ok()?,
            trigger: Trigger {
                kind: TriggerKind::Manual,
                id: Some(trigger_of(self.channel).to_string()),
                ..Trigger::manual(Some(by.to_owned()))
            },
            idempotency_key: None,
            priority: limit::PRIORITY_DEFAULT,
            delay: None,
            retry: None,
            trace: None,
        })
    }
}

/// The name under which executions say which channel they are of.
pub(super) fn trigger_of(channel: ChannelId) -> TriggerId {
    TriggerId::from_bytes(*channel.as_bytes())
}

/// The definition; saved if it is not there, or not the one that this program has.
pub(super) async fn definition(context: &Context) -> Result<Definition, NotifyError> {
    let id = id();
    let content_hash: [u8; 32] = Sha256::digest(SOURCE).into();
    if let Some(row) = context.store.workflow(&id).await?
        && row.source == SOURCE
        && let Some(found) = context.catalog.newest(&id).await?
    {
        return Ok(found);
    }
    let put = PutWorkflow {
        id: id.clone(),
        name: "Notifications".to_owned(),
        content_hash,
        source: SOURCE.to_owned(),
        by: BY.to_owned(),
        expected: None,
    };
    match context.queue.part(Part::PutWorkflow(Box::new(put))).await? {
        PartOutcome::Saved { .. } => {}
        other => return Err(CommitFailure::unexpected("outcome", &other).into()),
    }
    context.catalog.forget(&id);
    let newest = context.catalog.newest(&id).await?;
    newest.ok_or_else(|| CommitFailure::Gone.into())
}

/// Who starts messages that nobody asked for.
pub(super) fn by() -> &'static str {
    BY
}
