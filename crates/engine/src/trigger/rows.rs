//! Between what core decides on and the rows that the store keeps.

use refire_core::definition::{Problems, RetrySettings};
use refire_core::execution::{Trigger as Origin, TriggerKind};
use refire_core::id::TriggerId;
use refire_core::limit;
use refire_core::time::Timestamp;
use refire_core::trigger::{Kind, Plan, State, Trigger};
use refire_store::{Fire, NewState, Store, TriggerRow};

use super::TriggerError;
use crate::intake::Submission;

/// The row of a trigger that was not deleted.
pub(super) async fn read(store: &dyn Store, id: TriggerId) -> Result<TriggerRow, TriggerError> {
    store.trigger(id).await?.ok_or(TriggerError::NotFound)
}

/// A trigger as core asks it.
pub(crate) fn trigger(row: &TriggerRow) -> Result<Trigger, Problems> {
    let settings = String::from_utf8_lossy(&row.settings);
    let workflow = row.workflow.clone();
    Trigger::new(row.id, workflow, row.version, row.enabled, &settings)
}

/// The kind's word in rows and executions.
pub(crate) fn kind(kind: &Kind) -> TriggerKind {
    match kind {
        Kind::Cron(_) => TriggerKind::Cron,
        Kind::Schedule(_) => TriggerKind::Schedule,
        Kind::Webhook(_) => TriggerKind::Webhook,
    }
}

/// What a trigger starts, for a slot or (none) because somebody asks for it; the how-manieth it is, if it
/// is counted.
pub(crate) fn submission(
    trigger: &Trigger,
    slot: Option<Timestamp>,
    cycle: Option<u64>,
    by: Option<String>,
) -> Submission {
    Submission {
        workflow: trigger.workflow.clone(),
        input: trigger.settings.input.clone(),
        trigger: Origin {
            kind: kind(&trigger.settings.kind),
            id: Some(trigger.id.to_string()),
            by,
            scheduled_at: slot,
            cycle,
            awaits_end: trigger.awaits_ends(),
        },
        idempotency_key: None,
        priority: limit::PRIORITY_DEFAULT,
        delay: None,
        retry: Some(&trigger.settings.retry)
            .filter(|retry| **retry != RetrySettings::default())
            .cloned(),
        trace: None,
    }
}

/// A step of a plan, decided on a trigger of this version and a state of this revision.
pub(crate) fn fire(trigger: &Trigger, rev: u64, plan: &Plan) -> Box<Fire> {
    Box::new(Fire {
        trigger: trigger.id,
        version: trigger.version,
        rev,
        state: plan.state,
        slots: plan.entries.clone(),
        extends: plan.extends(),
        by_hand: false,
        admission: None,
        notices: Vec::new(),
    })
}

/// The state that a changed trigger goes on from.
pub(crate) fn new_state(rev: u64, plan: &Plan) -> NewState {
    NewState {
        rev,
        state: plan.state,
        slots: plan.entries.clone(),
        extends: plan.extends(),
    }
}

/// A step that changes nothing but when the trigger is looked at next.
pub(super) fn look_again(row: &TriggerRow, state: &State, at: Timestamp) -> Box<Fire> {
    Box::new(Fire {
        trigger: row.id,
        version: row.version,
        rev: state.rev,
        state: State {
            due_at: Some(at),
            ..*state
        },
        slots: Vec::new(),
        extends: false,
        by_hand: false,
        admission: None,
        notices: Vec::new(),
    })
}
