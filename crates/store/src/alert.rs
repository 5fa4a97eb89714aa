//! Alerts as they are kept: the rules that people have written or changed, how far each alert is, and silences.

use refire_core::alert::{Alert, LongHeld, Phase, RuleKind, Told};
use refire_core::definition::WorkflowId;
use refire_core::id::{AlertId, AlertRuleId, SilenceId};
use refire_core::time::Timestamp;

use crate::column::{Columns, Cursor, Field, read_from};
use crate::layer::store_trait;
use crate::task::numbered;
use crate::{NewNotice, ReadError};

/// A rule, or that one of those from the start was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRuleRow {
    /// Its id.
    pub id: AlertRuleId,
    /// What people call it.
    pub name: String,
    /// Counted from 1; grows with each change.
    pub version: u32,
    /// What it says.
    pub settings: Vec<u8>,
    /// When it was made, or changed first.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
    /// When it was removed.
    pub deleted_at: Option<Timestamp>,
}

read_from! {
    AlertRuleRow {
        id: "id",
        name: "name",
        version: "version",
        settings: "settings",
        created_at: "created_at",
        updated_at: "updated_at",
        deleted_at: "deleted_at"
    }
}

/// A change of a rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRuleChange {
    /// The rule.
    pub id: AlertRuleId,
    /// The version that its row must have; 0 = there must be none.
    pub seen: u32,
    /// Its row afterwards; none = it goes.
    pub to: Option<AlertRuleRow>,
}

/// How far an alert of a rule about a subject is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertRow {
    /// The rule.
    pub rule: AlertRuleId,
    /// What it is about.
    pub subject: String,
    /// Grows with every change.
    pub rev: u64,
    /// What the rule was called.
    pub name: String,
    /// What it watches.
    pub kind: RuleKind,
    /// The workflow that it concerns.
    pub workflow: Option<WorkflowId>,
    /// What the value is compared with, in thousandths.
    pub threshold: Option<i64>,
    /// How far it is.
    pub alert: Alert,
}

impl AlertRow {
    /// What there is one of.
    #[must_use]
    pub fn key(&self) -> (AlertRuleId, String) {
        (self.rule, self.subject.clone())
    }
}

numbered!(Phase, Told);

read_from! {
    Alert {
        id: "id",
        phase: "phase",
        began_at: "began_at",
        since: "since",
        value: "value",
        told: "told",
        told_at: "told_at",
        is_muted: "is_muted",
        acked: "acked_at, acked_by",
        updated_at: "updated_at"
    }
}

read_from! {
    AlertRow {
        rule: "rule",
        subject: "subject",
        rev: "rev",
        name: "name",
        kind: "kind",
        workflow: "workflow",
        threshold: "threshold",
        alert: "id, phase, began_at, since, value, told, told_at, is_muted, acked_at, acked_by, updated_at"
    }
}

/// A change of an alert.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AlertChange {
    /// Of which rule.
    pub rule: AlertRuleId,
    /// About what.
    pub subject: String,
    /// The revision that its row must have; 0 = there must be none.
    pub seen: u64,
    /// Its row afterwards; none = it goes.
    pub to: Option<AlertRow>,
    /// What people are told of it.
    pub notices: Vec<NewNotice>,
}

/// A silence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SilenceRow {
    /// Its id.
    pub id: SilenceId,
    /// Only of this rule.
    pub rule: Option<AlertRuleId>,
    /// Only about this.
    pub subject: Option<String>,
    /// When it begins.
    pub starts_at: Timestamp,
    /// When it ends.
    pub ends_at: Timestamp,
    /// Why.
    pub comment: Option<String>,
    /// Who made it.
    pub created_by: String,
    /// When it was made.
    pub created_at: Timestamp,
}

read_from! {
    SilenceRow {
        id: "id",
        rule: "rule",
        subject: "subject",
        starts_at: "starts_at",
        ends_at: "ends_at",
        comment: "comment",
        created_by: "created_by",
        created_at: "created_at"
    }
}

/// Which alerts are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AlertFilter {
    /// One of these; empty = any.
    pub phases: Vec<Phase>,
    /// Of this rule.
    pub rule: Option<AlertRuleId>,
    /// About this.
    pub subject: Option<String>,
}

impl AlertFilter {
    /// Whether an alert is among those.
    #[cfg(feature = "model")]
    pub(crate) fn passes(&self, row: &AlertRow) -> bool {
        (self.phases.is_empty() || self.phases.contains(&row.alert.phase))
            && self.rule.is_none_or(|asked| asked == row.rule)
            && self.subject.iter().all(|asked| *asked == row.subject)
    }
}

impl Field for LongHeld {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (workflow, since) = cursor.next()?;
        Ok(Self { workflow, since })
    }
}

store_trait! {
    /// Alerts, their rules, and silences.
    pub trait Alerts {
        /// Rules that people have written, changed or removed, in the order of their ids.
        async fn alert_rules(&self) -> Result<Vec<AlertRuleRow>, ReadError>;

        /// How far all alerts are, by rule and subject.
        async fn alert_states(&self) -> Result<Vec<AlertRow>, ReadError>;

        /// Alerts before this one, the newest first.
        async fn alerts(
            &self,
            filter: &AlertFilter,
            before: Option<AlertId>,
            limit: u32,
        ) -> Result<Vec<AlertRow>, ReadError>;

        /// One alert.
        async fn alert(&self, id: AlertId) -> Result<Option<AlertRow>, ReadError>;

        /// Silences, those that end last first.
        async fn silences(&self) -> Result<Vec<SilenceRow>, ReadError>;

        /// Since when the oldest task that a worker has, or the oldest callback that is waited for, is under
        /// way, by workflow. Of many those are looked at whose clocks run out first.
        async fn held_longest(&self, looked_at: u32) -> Result<Vec<LongHeld>, ReadError>;
    }
}
