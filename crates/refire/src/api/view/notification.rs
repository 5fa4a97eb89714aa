//! Channels and messages, as the API shows them.

use std::collections::HashMap;

use refire_client::model;
use refire_client::model::{
    ChannelLanguage, ChannelType, NoticeKind, NotificationPhase, NotificationStatus,
};
use refire_core::execution::Status;
use refire_core::id::{ChannelId, ExecutionId};
use refire_core::notify::{Language, Phase};
use refire_engine::notify::{Delivery, Shown};

pub(in crate::api) fn channel(shown: &Shown) -> model::Channel {
    let (row, channel) = (&shown.row, &shown.channel);
    let broken = shown.broken.as_ref().map(|last| model::ChannelBroken {
        notification_id: last.id.to_string(),
        error: last
            .error
            .as_ref()
            .map(|error| error.message.clone())
            .unwrap_or_default(),
        code: last.error.as_ref().and_then(|error| error.code.clone()),
        since: last.updated_at.to_string(),
    });
    model::Channel {
        id: row.id.to_string(),
        name: channel.name.clone(),
        channel_type: ChannelType::from_name(channel.target.type_name()),
        enabled: row.enabled,
        language: match channel.language {
            Language::English => ChannelLanguage::English,
            Language::Chinese => ChannelLanguage::Chinese,
        },
        kinds: channel
            .kinds
            .iter()
            .map(|kind| NoticeKind::from_name(kind.name()))
            .collect(),
        workflows: channel.workflows.iter().map(|one| one.0.clone()).collect(),
        config: shown.config(),
        broken,
        version: row.version,
        created_at: row.created_at.to_string(),
        updated_at: row.updated_at.to_string(),
        secret: None,
    }
}

pub(in crate::api) fn notification(
    delivery: &Delivery,
    channels: &HashMap<ChannelId, Shown>,
) -> model::Notification {
    let (message, channel) = (&delivery.message, channels.get(&delivery.channel));
    let error = delivery.error.as_ref();
    model::Notification {
        id: delivery.id.to_string(),
        channel_id: delivery.channel.to_string(),
        channel_name: channel.map(|shown| shown.channel.name.clone()),
        channel_type: channel.map(|shown| ChannelType::from_name(shown.channel.target.type_name())),
        kind: NoticeKind::from_name(message.kind.name()),
        phase: phase(message.phase),
        workflow_id: message.workflow.as_ref().map(ToString::to_string),
        subject: message.name().to_owned(),
        count: message.count,
        increase: message.increase,
        group_id: message.group.map(|group| group.to_string()),
        status: status(delivery.status),
        attempts: delivery.attempts,
        next_attempt_at: delivery.next_attempt_at.map(|at| at.to_string()),
        error: error.map(|error| error.message.clone()),
        error_code: error.and_then(|error| error.code.clone()),
        repeats: delivery.repeats.map(|id| id.to_string()),
        requested_by: delivery.by.clone(),
        execution_id: ExecutionId::from_bytes(*delivery.id.as_bytes()).to_string(),
        created_at: delivery.created_at.to_string(),
        updated_at: delivery.updated_at.to_string(),
    }
}

fn status(status: Status) -> NotificationStatus {
    match status {
        Status::Completed => NotificationStatus::Accepted,
        Status::Failed | Status::Dlq => NotificationStatus::Failed,
        Status::Cancelled => NotificationStatus::Cancelled,
        Status::Retrying => NotificationStatus::Retrying,
        _ => NotificationStatus::Sending,
    }
}

/// The statuses of executions that are shown so.
pub(in crate::api) fn statuses(shown: NotificationStatus) -> Vec<Status> {
    Status::ALL
        .into_iter()
        .filter(|it| status(*it) == shown)
        .collect()
}

fn phase(phase: Phase) -> NotificationPhase {
    match phase {
        Phase::First => NotificationPhase::First,
        Phase::More => NotificationPhase::More,
        Phase::Reminder => NotificationPhase::Reminder,
        Phase::Over => NotificationPhase::Over,
        Phase::Digest => NotificationPhase::Digest,
        Phase::Test => NotificationPhase::Test,
    }
}

/// What is meant by a word; none if it is not known.
pub(in crate::api) fn phase_of(word: NotificationPhase) -> Option<Phase> {
    Some(match word {
        NotificationPhase::First => Phase::First,
        NotificationPhase::More => Phase::More,
        NotificationPhase::Reminder => Phase::Reminder,
        NotificationPhase::Over => Phase::Over,
        NotificationPhase::Digest => Phase::Digest,
        NotificationPhase::Test => Phase::Test,
        NotificationPhase::Unknown => return None,
    })
}
