//! What became of parts about triggers.

use refire_core::id::TriggerId;

use super::has_row;
use crate::postgres::columns::{signed, signed_small, uuid};
use crate::postgres::write::catalog::LIVE;
use crate::postgres::write::link::{Link, Query, values};
use crate::postgres::write::{Failed, Order};
use crate::{ChangeTrigger, CreateTrigger, Fire, PartOutcome};

const CREATED: &str = "SELECT 1 FROM workflow_triggers WHERE id = $1 AND created_at = $2";

const CHANGED: &str = "SELECT 1 FROM workflow_triggers
     WHERE id = $1 AND version = $2 AND updated_at = $3 AND enabled = $4 AND settings = $5";

const EXISTS: &str = "SELECT 1 FROM workflow_triggers WHERE id = $1 AND deleted_at IS NULL";

const DELETED: &str = "SELECT 1 FROM workflow_triggers WHERE id = $1 AND deleted_at = $2";

const WRITTEN: &str = "SELECT 1 FROM trigger_slots
     WHERE trigger = $1 AND until = $2 AND status = $3 AND at = $4";

const MOVED_ON: &str = "SELECT 1 FROM trigger_state WHERE trigger = $1 AND rev > $2";

/// A step of a plan whose execution is not there, or that has none: its rows of the ledger tell. One
/// without those only planned, and whoever did it reads what stands there before the next.
pub(super) async fn fired(link: &mut Link, fire: &Fire) -> Result<PartOutcome, Failed> {
    let trigger = uuid(fire.trigger.as_bytes());
    let is_there = match (&fire.admission, fire.slots.first()) {
        (Some(_), _) => false,
        (None, Some(slot)) => {
            let (until, at) = (slot.to.as_micros(), slot.at.as_micros());
            let values = values![trigger, until, slot.outcome.status().name(), at];
            has_row(link, Query::new(WRITTEN, values)).await?
        }
        (None, None) => {
            let values = values![trigger, signed(fire.rev)];
            has_row(link, Query::new(MOVED_ON, values)).await?
        }
    };
    Ok(if is_there {
        PartOutcome::Done
    } else {
        PartOutcome::TriggerMoved
    })
}

pub(super) async fn created(
    link: &mut Link,
    order: &Order,
    create: &CreateTrigger,
) -> Result<PartOutcome, Failed> {
    let values = values![uuid(create.id.as_bytes()), order.now.as_micros()];
    if has_row(link, Query::new(CREATED, values)).await? {
        return Ok(PartOutcome::Done);
    }
    let live = Query::new(LIVE, values![create.workflow.as_str()]);
    Ok(match has_row(link, live).await? {
        true => PartOutcome::Conflict,
        false => PartOutcome::NoSuchWorkflow,
    })
}

pub(super) async fn changed(
    link: &mut Link,
    order: &Order,
    change: &ChangeTrigger,
) -> Result<PartOutcome, Failed> {
    let id = uuid(change.id.as_bytes());
    let values = values![
        id,
        signed_small(change.version + 1),
        order.now.as_micros(),
        change.enabled,
        change.settings.as_slice(),
    ];
    if has_row(link, Query::new(CHANGED, values)).await? {
        return Ok(PartOutcome::Done);
    }
    if !has_row(link, Query::new(EXISTS, values![id])).await? {
        return Ok(PartOutcome::NoSuchTrigger);
    }
    let live = Query::new(LIVE, values![change.workflow.as_str()]);
    Ok(match !change.enabled || has_row(link, live).await? {
        true => PartOutcome::TriggerMoved,
        false => PartOutcome::NoSuchWorkflow,
    })
}

pub(super) async fn deleted(
    link: &mut Link,
    order: &Order,
    id: TriggerId,
) -> Result<PartOutcome, Failed> {
    let values = values![uuid(id.as_bytes()), order.now.as_micros()];
    Ok(match has_row(link, Query::new(DELETED, values)).await? {
        true => PartOutcome::Done,
        false => PartOutcome::NoSuchTrigger,
    })
}
