//! What people are told of an alert.

use refire_core::alert::{RuleKind, Say};
use refire_core::id::NoticeId;
use refire_core::notify::{FactName, Facts, NoticeKind};
use refire_core::time::Timestamp;
use refire_store::{AlertRow, NewNotice};

use crate::context::Context;
use crate::entropy::fresh;

/// The notice of a change, for these channels.
pub(super) fn notice(
    context: &Context,
    row: &AlertRow,
    say: Say,
    channels: &[String],
    now: Timestamp,
) -> NewNotice {
    let alert = &row.alert;
    let unit = row.kind.unit();
    let subject = match row.kind {
        RuleKind::DeadMan => Some(FactName::Trigger),
        RuleKind::DeadWorkers => Some(FactName::Worker),
        RuleKind::BreakerOpen => Some(FactName::Host),
        _ => None,
    };
    let mut facts = Facts::new(row.name.clone(), now)
        .page(format!("/alerts/{}", alert.id))
        .only_for(channels)
        .fact(FactName::Rule, row.kind.name());
    if let Some(name) = subject {
        facts = facts.fact(name, row.subject.clone());
    }
    if let Some(workflow) = &row.workflow {
        facts = facts.fact(FactName::Workflow, workflow.as_str());
    }
    facts = facts.fact(FactName::Value, unit.shown(alert.value));
    if let Some(threshold) = row.threshold {
        facts = facts.fact(FactName::Threshold, unit.shown(threshold));
    }
    facts = facts.fact(FactName::Since, alert.began_at.to_string());
    let kind = match say {
        Say::Firing | Say::Again => NoticeKind::AlertFiring,
        Say::Resolved => {
            facts = facts.fact(FactName::Until, alert.since.to_string());
            NoticeKind::AlertResolved
        }
    };
    NewNotice {
        id: NoticeId::from_bytes(fresh(context.entropy.as_ref(), now)),
        kind,
        workflow: row.workflow.clone(),
        subject: format!("{}/{}", row.rule, row.subject),
        facts,
    }
}
