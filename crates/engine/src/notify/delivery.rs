//! What became of messages: each is an execution, and this is how people see it.

use refire_core::execution::{Execution, Status};
use refire_core::failure::Failure;
use refire_core::id::{ChannelId, ExecutionId, NotificationId};
use refire_core::notify::Message;
use refire_core::time::Timestamp;
use refire_store::{ExecutionFilter, LOOKED_AT_MAX, Stretch, Summary};

use super::workflow::{self, Input};
use super::{Notifications, NotifyError};

/// A message, and how far it is.
#[derive(Debug, Clone)]
pub struct Delivery {
    /// Its id.
    pub id: NotificationId,
    /// The channel.
    pub channel: ChannelId,
    /// What it says.
    pub message: Message,
    /// The message that it repeats.
    pub repeats: Option<NotificationId>,
    /// Who asked for it; absent if nobody did.
    pub by: Option<String>,
    /// How far it is.
    pub status: Status,
    /// Attempts so far.
    pub attempts: u32,
    /// When it was made.
    pub created_at: Timestamp,
    /// When something happened to it last.
    pub updated_at: Timestamp,
    /// When the next attempt is due.
    pub next_attempt_at: Option<Timestamp>,
    /// What went wrong last.
    pub error: Option<Failure>,
}

impl Delivery {
    /// Whether it is given up.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        matches!(self.status, Status::Failed | Status::Dlq)
    }
}

/// Which messages to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryFilter {
    /// Of this channel.
    pub channel: Option<ChannelId>,
    /// With one of these statuses; empty = all.
    pub statuses: Vec<Status>,
}

impl Notifications {
    /// Messages before this one, newest first; and where to go on, if only a part of them was looked at.
    pub async fn deliveries(
        &self,
        filter: &DeliveryFilter,
        before: Option<NotificationId>,
        limit: u32,
    ) -> Result<(Vec<Delivery>, Option<NotificationId>), NotifyError> {
        let filter = ExecutionFilter {
            workflows: vec![workflow::id().into()],
            trigger: filter.channel.map(workflow::trigger_of),
            statuses: filter.statuses.clone(),
            ..ExecutionFilter::default()
        };
        let stretch = Stretch {
            before: before.map(|id| ExecutionId::from_bytes(*id.as_bytes())),
            limit,
            looks: LOOKED_AT_MAX,
        };
        let store = &self.context.store;
        let listed = store.executions(&filter, &stretch).await?;
        let mut found = Vec::with_capacity(listed.rows.len());
        for summary in listed.rows {
            found.extend(self.delivery_of(summary).await?);
        }
        let searched = listed.searched_to;
        let searched = searched.map(|id| NotificationId::from_bytes(*id.as_bytes()));
        Ok((found, searched))
    }

    /// One message.
    pub async fn delivery(&self, id: NotificationId) -> Result<Delivery, NotifyError> {
        let ids = [ExecutionId::from_bytes(*id.as_bytes())];
        let found = self.context.store.summaries(&ids).await?.pop().flatten();
        let is_message = |summary: &Summary| {
            let origin = summary.state.origin.as_ref();
            origin.is_some_and(|origin| origin.workflow == workflow::id())
        };
        let found = found.filter(is_message);
        let found = found.ok_or(NotifyError::NoSuchNotification)?;
        let delivery = self.delivery_of(found).await?;
        delivery.ok_or(NotifyError::NoSuchNotification)
    }

    /// Sends a message once more, as a new one that has the same id for whoever gets it.
    pub async fn resend(
        &self,
        id: NotificationId,
        by: &str,
    ) -> Result<NotificationId, NotifyError> {
        self.context.is_open()?;
        let again = self.delivery(id).await?;
        self.row(again.channel).await?;
        let input = Input {
            channel: again.channel,
            message: again.message,
            repeats: Some(again.repeats.unwrap_or(id)),
        };
        self.start(&input, by).await
    }

    /// The newest message of a channel that has ended.
    pub(super) async fn last_ended(
        &self,
        channel: ChannelId,
    ) -> Result<Option<Delivery>, NotifyError> {
        let filter = DeliveryFilter {
            channel: Some(channel),
            statuses: vec![Status::Completed, Status::Failed, Status::Dlq],
        };
        let (mut found, _) = self.deliveries(&filter, None, 1).await?;
        Ok(found.pop())
    }

    /// Nothing if its input cannot be read.
    async fn delivery_of(&self, summary: Summary) -> Result<Option<Delivery>, NotifyError> {
        let (status, state) = (summary.status(), &summary.state);
        let Some(origin) = &state.origin else {
            return Ok(None);
        };
        let sequence = origin.input.sequence;
        let input = match state.payloads.get(sequence).cloned() {
            Some(input) => Some(input),
            None => {
                let values = self.context.store.values(summary.id, &[sequence]).await?;
                values.into_iter().next().map(|(_, value)| value)
            }
        };
        let Some(input) = input.as_ref().and_then(Input::read) else {
            return Ok(None);
        };
        let step = state.steps.values().next();
        let is_own = |by: &String| by.as_str() != workflow::by();
        Ok(Some(Delivery {
            id: NotificationId::from_bytes(*summary.id.as_bytes()),
            channel: input.channel,
            message: input.message,
            repeats: input.repeats,
            by: origin.trigger.by.clone().filter(is_own),
            status,
            attempts: attempts(state, summary.begun),
            created_at: origin.created_at,
            updated_at: state.updated_at,
            next_attempt_at: step
                .and_then(|step| step.due_at)
                .filter(|_| !status.is_terminal()),
            error: step
                .and_then(|step| step.failure.clone())
                .filter(|_| status != Status::Completed),
        }))
    }
}

/// Attempts that have begun.
fn attempts(state: &Execution, begun: bool) -> u32 {
    let Some(step) = state.steps.values().next() else {
        return 0;
    };
    match state.status.is_terminal() || begun {
        true => step.attempt,
        false => step.attempt.saturating_sub(1),
    }
}
