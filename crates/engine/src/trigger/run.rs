//! Running a trigger by hand: now, or for planned times of the past.

use std::time::Duration;

use refire_core::id::{ExecutionId, TriggerId};
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::trigger::ledger::Share;
use refire_core::trigger::range::BACKFILL_MAX;
use refire_core::trigger::{Entry, Slots, Trigger, Upcoming, backfill, backfilled, upcoming};
use refire_store::{IdempotencyClaim, LIMIT_MAX, SlotFilter, SlotRow, SlotStatus};

use super::manage::own;
use super::{TriggerError, Triggers, rows};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::executions::{Accepted, accepted};
use crate::intake::{self, IDEMPOTENCY_WINDOW};

/// Times a slot is tried again because the trigger moved meanwhile.
const AGAIN_MAX: u32 = 20;

/// The shortest time between two moments.
pub(super) const MOMENT: Duration = Duration::from_micros(1);

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

impl Triggers {
    /// Starts an execution as the trigger would, with another input if one is given. The same key never
    /// starts a second one through this trigger, nor does it meet the keys of requests to a webhook.
    pub async fn run(
        &self,
        id: TriggerId,
        input: Option<Json>,
        key: Option<String>,
        by: Option<String>,
    ) -> Result<Accepted, TriggerError> {
        // Who comes when nothing is started any more hears it at once.
        self.context.is_open()?;
        let trigger = self.working(id).await?;
        // The trigger's own input may be another one when the request is repeated.
        let said = input.as_ref().map_or("", Json::as_str);
        let claim = key.as_ref().map(|key| IdempotencyClaim {
            scope: format!("{id} run"),
            key_hash: intake::key_hash(key),
            body_hash: intake::hash(said.as_bytes()),
            expires_at: self.context.now().plus(IDEMPOTENCY_WINDOW),
            over: None,
        });
        let mut submission = rows::submission(&trigger, None, None, by);
        submission.idempotency_key = key;
        if let Some(input) = input {
            submission.input = input;
        }
        let draft = self.context.draft(submission).await?.claiming(claim);
        let execution = draft.id;
        Ok(accepted(
            execution,
            self.context.commit_draft(draft).await?,
        )?)
    }

    /// The next planned times.
    pub async fn upcoming(
        &self,
        id: TriggerId,
        count: usize,
    ) -> Result<Vec<Upcoming>, TriggerError> {
        let view = self.get(id).await?;
        let trigger = view.trigger?;
        if trigger.schedule.is_none() {
            return Err(TriggerError::Without {
                kind: trigger.settings.kind.name(),
                what: "planned times",
            });
        }
        let cursor = view.state.map(|state| state.cursor);
        Ok(upcoming(&trigger, cursor, self.context.now(), count))
    }

    /// The planned times that a backfill would run.
    pub async fn backfill_slots(
        &self,
        id: TriggerId,
        range: Backfill,
    ) -> Result<Vec<Timestamp>, TriggerError> {
        let trigger = self.enabled(id).await?;
        self.slots_of(&trigger, range).await
    }

    /// Runs planned times of the past, the oldest first. The ledger has each of them with its execution, so
    /// the same backfill again, also at the same time, runs only what is still missing.
    pub async fn backfill(
        &self,
        id: TriggerId,
        range: Backfill,
        by: Option<String>,
    ) -> Result<Vec<(Timestamp, ExecutionId)>, TriggerError> {
        self.context.is_open()?;
        let trigger = self.enabled(id).await?;
        let slots = self.slots_of(&trigger, range).await?;
        let mut started = Vec::with_capacity(slots.len());
        for slot in slots {
            match self.run_slot(id, slot, range.only_missed, by.clone()).await {
                Ok(Some(execution)) => started.push((slot, execution)),
                Ok(None) => {}
                Err(error) if started.is_empty() => return Err(error),
                Err(error) => {
                    let because = Box::new(error);
                    return Err(TriggerError::Partly { started, because });
                }
            }
        }
        Ok(started)
    }

    /// From when on the ledger has all that was skipped, and all that was run of it; none if it has from the
    /// beginning.
    pub async fn ledger_known_from(
        &self,
        id: TriggerId,
    ) -> Result<Option<Timestamp>, TriggerError> {
        Ok(Known::of(&self.ledger(id, &[]).await?).from)
    }

    /// The whole ledger, oldest first; only what has one of these statuses, if some are named.
    pub async fn ledger(
        &self,
        id: TriggerId,
        statuses: &[SlotStatus],
    ) -> Result<Vec<SlotRow>, TriggerError> {
        let (store, mut rows, mut before) = (&self.context.store, Vec::new(), None);
        let filter = SlotFilter {
            statuses: statuses.to_vec(),
            ..SlotFilter::default()
        };
        loop {
            let page = store.slots(id, &filter, before, LIMIT_MAX).await?;
            before = page.last().map(|row| row.seq);
            let is_last = page.len() < LIMIT_MAX as usize;
            rows.extend(page);
            if is_last {
                rows.reverse();
                return Ok(rows);
            }
        }
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
        let now = self.context.now();
        // What has not been passed, or waits, is still the plan's own.
        let state = self.context.store.trigger_state(trigger.id).await?;
        let to = state.map_or(to, |state| to.min(state.cursor));
        if to < from {
            return Ok(Vec::new());
        }
        if only_missed {
            let known = Known::of(&self.ledger(trigger.id, &[]).await?);
            let slots = Slots::Missed(&known.entries);
            return Ok(backfill(trigger, slots, from, to, now, BACKFILL_MAX)?);
        }
        let mut slots = backfill(trigger, Slots::All, from, to, now, BACKFILL_MAX)?;
        // What waits for an execution to end is started without anybody.
        slots.retain(|slot| state.and_then(|state| state.buffered) != Some(*slot));
        Ok(slots)
    }

    /// Nothing is started if only what was missed is meant and somebody else has run it meanwhile.
    async fn run_slot(
        &self,
        id: TriggerId,
        slot: Timestamp,
        only_missed: bool,
        by: Option<String>,
    ) -> Result<Option<ExecutionId>, TriggerError> {
        for _ in 0..AGAIN_MAX {
            let view = self.get(id).await?;
            let trigger = view.trigger?;
            let state = view.state.ok_or(TriggerError::NotFound)?;
            if !trigger.enabled {
                return Err(TriggerError::Disabled);
            }
            // Read after the state: whoever runs it later moves that.
            if only_missed && self.is_started(id, slot).await? {
                return Ok(None);
            }
            let submission =
                rows::submission(&trigger, Some(slot), Some(state.cycles + 1), by.clone());
            let draft = self.context.draft(submission).await?;
            let execution = draft.id;
            let plan = backfilled(&state, slot, execution, self.context.now());
            let cause = Cause::Fire(rows::fire(&trigger, state.rev, &plan));
            match self.context.commit_draft(draft.caused_by(cause)).await? {
                Admitted::New(_) => return Ok(Some(execution)),
                Admitted::TriggerMoved => {}
                Admitted::NoSuchWorkflow => return Err(CommitFailure::Gone.into()),
                other => return Err(CommitFailure::unexpected("answer", &other).into()),
            }
        }
        Err(TriggerError::Contended)
    }

    /// Whether the ledger has an execution of a slot.
    async fn is_started(&self, id: TriggerId, slot: Timestamp) -> Result<bool, TriggerError> {
        let rows = self
            .context
            .store
            .slots_between(id, slot, slot.plus(MOMENT), LIMIT_MAX)
            .await?;
        let is_it = |row: &SlotRow| row.slot.outcome.is_started() && row.slot.nominal == slot;
        Ok(rows.iter().any(is_it))
    }

    /// A trigger that can be read and is enabled.
    async fn enabled(&self, id: TriggerId) -> Result<Trigger, TriggerError> {
        let trigger = self.working(id).await?;
        match trigger.enabled {
            true => Ok(trigger),
            false => Err(TriggerError::Disabled),
        }
    }

    /// A trigger that can be read.
    async fn working(&self, id: TriggerId) -> Result<Trigger, TriggerError> {
        let row = self.row(id).await?;
        own(&row)?;
        Ok(rows::trigger(&row)?)
    }
}

/// What the ledger says for certain.
struct Known {
    entries: Vec<Entry>,
    /// From when on nothing is missing; none = from the beginning.
    from: Option<Timestamp>,
}

impl Known {
    /// Of a ledger, oldest first. It is cut now and then: of what was skipped before the oldest row that
    /// tells what was run after all, nobody knows whether that was run too.
    fn of(rows: &[SlotRow]) -> Self {
        let of = |share| {
            rows.iter()
                .filter(move |row| row.slot.outcome.share() == share)
        };
        let (run, skips) = (of(Share::Backfills), of(Share::Skips));
        let certain_from = match run.clone().count() as u64 >= Share::Backfills.kept() {
            true => run.map(|row| row.seq).min(),
            false => None,
        };
        let is_certain = |row: &SlotRow| certain_from.is_none_or(|first| row.seq > first);
        let oldest = match skips.clone().count() as u64 >= Share::Skips.kept() {
            true => skips.clone().map(|row| row.slot.nominal).min(),
            false => None,
        };
        let doubtful = skips.filter(|row| !is_certain(row));
        let after = doubtful.map(|row| row.slot.to.plus(MOMENT)).max();
        let entries = rows
            .iter()
            .filter(|row| is_certain(row) || row.slot.outcome.share() != Share::Skips)
            .map(|row| row.slot)
            .collect();
        Self {
            entries,
            from: oldest.max(after),
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::trigger::ledger::BACKFILLS_KEPT;
    use refire_core::trigger::{LateReason, Outcome, SkipReason};

    use super::*;

    fn row(seq: u64, outcome: Outcome) -> SlotRow {
        let at = Timestamp::from_millis(i64::try_from(seq).unwrap() * 1_000);
        SlotRow {
            seq,
            slot: Entry {
                nominal: at,
                to: at,
                count: 1,
                outcome,
                execution: None,
                at,
            },
        }
    }

    #[test]
    fn what_may_have_been_run_by_a_row_that_was_cut_is_not_known() {
        let missed = |seq| row(seq, Outcome::Skipped(SkipReason::Missed));
        let run = |seq| row(seq, Outcome::Late(LateReason::Backfill));
        let ledger = |runs: u64| -> Vec<SlotRow> {
            let runs = (10..10 + runs).map(run);
            [missed(1)]
                .into_iter()
                .chain(runs)
                .chain([missed(9_000)])
                .collect()
        };
        let skipped = |known: &Known| {
            let skips = known
                .entries
                .iter()
                .filter(|entry| !entry.outcome.is_started());
            skips.map(|entry| entry.nominal).collect::<Vec<_>>()
        };
        let [old, new] = [missed(1), missed(9_000)].map(|row| row.slot.nominal);
        let all = Known::of(&ledger(BACKFILLS_KEPT - 1));
        assert_eq!((skipped(&all), all.from), (vec![old, new], None));
        let cut = Known::of(&ledger(BACKFILLS_KEPT));
        assert_eq!(
            (skipped(&cut), cut.from),
            (vec![new], Some(old.plus(MOMENT)))
        );
    }
}
