//! Running a trigger by hand: now, or for planned times of the past.

use std::time::Duration;

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::range::BACKFILL_MAX;
use refire_core::trigger::{Entry, Slots, Trigger, Upcoming, backfill, backfilled, upcoming};
use refire_store::{IdempotencyClaim, LIMIT_MAX, SlotRow};

use super::{TriggerError, rows};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::engine::{Accepted, Engine, accepted};
use crate::intake::{self, IDEMPOTENCY_WINDOW};

/// Times a slot is tried again because the trigger moved meanwhile.
const AGAIN_MAX: u32 = 20;

/// The shortest time between two moments.
const MOMENT: Duration = Duration::from_micros(1);

/// Which planned times of the past are to be run.
#[derive(Debug, Clone, Copy)]
pub struct Backfill {
    /// From this moment on.
    pub from: Timestamp,
    /// Up to this one.
    pub to: Timestamp,
    /// Only those that the ledger knows as left out.
    pub only_missed: bool,
}

impl Engine {
    /// Starts an execution as the trigger would, with another input if one is given. The same key never
    /// starts a second one through this trigger, nor does it meet the keys of requests to a webhook.
    pub async fn run_trigger(
        &self,
        id: TriggerId,
        input: Option<Json>,
        key: Option<String>,
        by: Option<String>,
    ) -> Result<Accepted, TriggerError> {
        let trigger = self.working(id).await?;
        // The trigger's own input may be another one when the request is repeated.
        let said = input.as_ref().map_or("", Json::as_str);
        let claim = key.as_ref().map(|key| IdempotencyClaim {
            scope: format!("{id} run"),
            key_hash: intake::hash(key.as_bytes()),
            body_hash: intake::hash(said.as_bytes()),
            expires_at: self.now().plus(IDEMPOTENCY_WINDOW),
        });
        let mut submission = rows::submission(&trigger, None, by);
        submission.idempotency_key = key;
        if let Some(input) = input {
            submission.input = input;
        }
        let draft = self.draft(submission).await?.claiming(claim);
        let execution = draft.id;
        Ok(accepted(execution, self.intake().commit(draft).await?)?)
    }

    /// The next planned times.
    pub async fn upcoming(
        &self,
        id: TriggerId,
        count: usize,
    ) -> Result<Vec<Upcoming>, TriggerError> {
        let trigger = self.working(id).await?;
        if trigger.schedule.is_none() {
            return Err(TriggerError::Without {
                kind: trigger.settings.kind.name(),
                what: "planned times",
            });
        }
        Ok(upcoming(&trigger, self.now(), count))
    }

    /// The planned times that a backfill would run.
    pub async fn backfill_slots(
        &self,
        id: TriggerId,
        range: Backfill,
    ) -> Result<Vec<Timestamp>, TriggerError> {
        let trigger = self.working(id).await?;
        self.slots_of(&trigger, range).await
    }

    /// Runs planned times of the past, the oldest first, and tells each execution as it is durable.
    /// The ledger has them afterwards, so the same backfill again runs only what is still missing.
    pub async fn backfill(
        &self,
        id: TriggerId,
        range: Backfill,
        by: Option<String>,
    ) -> Result<Vec<(Timestamp, ExecutionId)>, TriggerError> {
        let trigger = self.working(id).await?;
        let slots = self.slots_of(&trigger, range).await?;
        let mut started = Vec::with_capacity(slots.len());
        for slot in slots {
            let execution = self.run_slot(id, slot, range.only_missed, by.clone());
            started.extend(execution.await?.map(|execution| (slot, execution)));
        }
        Ok(started)
    }

    async fn slots_of(
        &self,
        trigger: &Trigger,
        range: Backfill,
    ) -> Result<Vec<Timestamp>, TriggerError> {
        let Backfill {
            from,
            to,
            only_missed,
        } = range;
        let now = self.now();
        // What has not been passed, or waits, is still the plan's own.
        let state = self.store().trigger_state(trigger.id).await?;
        let cursor = state.and_then(|state| state.plan.cursor);
        let waiting = state.and_then(|state| state.plan.buffered);
        let to = cursor.map_or(to, |cursor| to.min(cursor));
        if to < from {
            return Ok(Vec::new());
        }
        if !only_missed {
            let mut slots = backfill(trigger, Slots::All, from, to, now, BACKFILL_MAX)?;
            slots.retain(|slot| Some(*slot) != waiting);
            return Ok(slots);
        }
        let rows = self
            .store()
            .slots_between(trigger.id, from, to.plus(MOMENT), LIMIT_MAX)
            .await?;
        let ledger: Vec<Entry> = rows.iter().filter_map(entry).collect();
        let slots = Slots::Missed(&ledger);
        Ok(backfill(trigger, slots, from, to, now, BACKFILL_MAX)?)
    }

    /// None: it was missed, and somebody has run it meanwhile.
    async fn run_slot(
        &self,
        id: TriggerId,
        slot: Timestamp,
        only_missed: bool,
        by: Option<String>,
    ) -> Result<Option<ExecutionId>, TriggerError> {
        for _ in 0..AGAIN_MAX {
            let view = self.trigger(id).await?;
            let trigger = view.trigger.map_err(TriggerError::Invalid)?;
            let state = view.state.ok_or(TriggerError::NotFound)?;
            if !trigger.enabled {
                return Err(TriggerError::Disabled);
            }
            // Read after the state: what comes into the ledger later moves that.
            if only_missed && self.is_started(id, slot).await? {
                return Ok(None);
            }
            let submission = rows::submission(&trigger, Some(slot), by.clone());
            let draft = self.draft(submission).await?;
            let execution = draft.id;
            let plan = backfilled(&state, slot, execution, self.now());
            let cause = Cause::Fire(rows::fire(&trigger, state.rev, &plan));
            match self.intake().commit(draft.caused_by(cause)).await? {
                Admitted::New(_) => return Ok(Some(execution)),
                Admitted::TriggerMoved => {}
                Admitted::NoSuchWorkflow => return Err(CommitFailure::Gone.into()),
                other => {
                    let what = format!("unexpected answer {other:?}");
                    return Err(CommitFailure::Internal(what).into());
                }
            }
        }
        Err(TriggerError::Contended)
    }

    /// Whether the ledger has an execution of a slot.
    async fn is_started(&self, id: TriggerId, slot: Timestamp) -> Result<bool, TriggerError> {
        let rows = self
            .store()
            .slots_between(id, slot, slot.plus(MOMENT), LIMIT_MAX)
            .await?;
        let mut ledger = rows.iter().filter_map(entry);
        Ok(ledger.any(|entry| entry.nominal == slot && entry.outcome.is_started()))
    }

    /// A trigger that can be read.
    async fn working(&self, id: TriggerId) -> Result<Trigger, TriggerError> {
        let row = self.store().trigger(id).await?;
        rows::trigger(&row.ok_or(TriggerError::NotFound)?).map_err(TriggerError::Invalid)
    }
}

/// What a row of the ledger says; nothing if it is not about slots.
fn entry(row: &SlotRow) -> Option<Entry> {
    let slot = &row.slot;
    Some(Entry {
        nominal: slot.nominal,
        to: slot.until,
        count: slot.count,
        outcome: refire_core::trigger::Outcome::from_words(
            slot.status.name(),
            slot.reason.as_deref(),
        )?,
        execution: slot.execution,
        at: slot.at,
    })
}
