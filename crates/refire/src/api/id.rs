//! The id in a call's path, and what is said where there is nothing by that id.

use std::fmt::{self, Display};
use std::marker::PhantomData;
use std::str::FromStr;

use axum::extract::rejection::PathRejection;
use axum::extract::{FromRequestParts, Path};
use http::request::Parts;
use refire_core::definition::WorkflowId;
use refire_core::id::{
    AlertId, AlertRuleId, BulkId, ChannelId, DlqId, ExecutionId, NotificationId, ScheduledTaskId,
    SilenceId, TaskId, TriggerId,
};

use super::{App, Problem};
use crate::codes::{self, Code};

/// What calls name by an id.
pub(super) trait Entity: FromStr {
    /// The code of a problem about one that is not there.
    const MISSING: &'static Code;
    /// What it is called.
    const NOUN: &'static str;
}

impl Entity for WorkflowId {
    const MISSING: &'static Code = &codes::NO_WORKFLOW;
    const NOUN: &'static str = "workflow";
}

impl Entity for ExecutionId {
    const MISSING: &'static Code = &codes::NO_EXECUTION;
    const NOUN: &'static str = "execution";
}

impl Entity for DlqId {
    const MISSING: &'static Code = &codes::NO_DEAD_LETTER;
    const NOUN: &'static str = "dead letter";
}

impl Entity for BulkId {
    const MISSING: &'static Code = &codes::NO_BULK_JOB;
    const NOUN: &'static str = "bulk job";
}

impl Entity for TaskId {
    const MISSING: &'static Code = &codes::NO_TASK;
    const NOUN: &'static str = "task";
}

impl Entity for ScheduledTaskId {
    const MISSING: &'static Code = &codes::NO_SCHEDULED_TASK;
    const NOUN: &'static str = "scheduled task";
}

impl Entity for ChannelId {
    const MISSING: &'static Code = &codes::NO_CHANNEL;
    const NOUN: &'static str = "channel";
}

impl Entity for NotificationId {
    const MISSING: &'static Code = &codes::NO_NOTIFICATION;
    const NOUN: &'static str = "notification";
}

impl Entity for AlertId {
    const MISSING: &'static Code = &codes::NO_ALERT;
    const NOUN: &'static str = "alert";
}

impl Entity for AlertRuleId {
    const MISSING: &'static Code = &codes::NO_ALERT_RULE;
    const NOUN: &'static str = "alert rule";
}

impl Entity for SilenceId {
    const MISSING: &'static Code = &codes::NO_ALERT;
    const NOUN: &'static str = "silence";
}

impl Entity for TriggerId {
    const MISSING: &'static Code = &codes::NO_TRIGGER;
    const NOUN: &'static str = "trigger";
}

/// An id as it was written.
pub(super) struct Id<E>(String, PhantomData<fn() -> E>);

impl<E: Entity> Id<E> {
    pub(super) fn new(text: impl Into<String>) -> Self {
        Self(text.into(), PhantomData)
    }

    /// Whose it is; what is not an id is simply not there.
    pub(super) fn known(&self) -> Result<E, Problem> {
        self.0.parse().map_err(|_| self.missing())
    }

    /// There is none by this id.
    pub(super) fn missing(&self) -> Problem {
        let detail = format!("there is no {} `{}`", E::NOUN, self.0);
        Problem::new(E::MISSING, detail)
    }

    /// What comes of asking for it.
    pub(super) async fn outcome<T, P: Into<Problem>>(
        &self,
        asking: impl Future<Output = Result<T, P>>,
    ) -> Result<T, Problem> {
        asking.await.map_err(|error| self.named(error))
    }

    /// A problem; one that nothing is there says which.
    pub(super) fn named(&self, error: impl Into<Problem>) -> Problem {
        let problem = error.into();
        match problem.code() == E::MISSING {
            true => self.missing(),
            false => problem,
        }
    }
}

impl<E> Display for Id<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<E: Entity> FromRequestParts<App> for Id<E> {
    type Rejection = PathRejection;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, PathRejection> {
        let Path(text): Path<String> = Path::from_request_parts(parts, app).await?;
        Ok(Self::new(text))
    }
}
