//! Triggers, where they stand, and the ledger of their slots.

use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, State};
use rusqlite::{OptionalExtension, Row, params};

use super::workflow_key;
use crate::checksum;
use crate::sqlite::columns::{
    bytes, count, maybe_execution_id, maybe_time, outcome, signed, time, word, workflow_id,
};
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::unreadable::{LEFT_OUT_MAX, readable_trigger};
use crate::{DueTrigger, LIMIT_MAX, ReadError, SlotRow, SlotStatus, TriggerFilter, TriggerRow};

const TRIGGER: &str = "t.id, workflows.id, t.kind, t.enabled, t.version, t.settings, t.secrets, \
     t.webhook, t.created_at, t.updated_at, t.crc";

const LIVE: &str = "FROM workflow_triggers AS t JOIN workflows ON workflows.key = t.workflow \
     WHERE t.deleted_at IS NULL";

/// Whether an expected success of a trigger is missing.
const ALARMED: &str = "EXISTS (SELECT 1 FROM trigger_state AS s \
     WHERE s.trigger = t.id AND s.alarmed_at IS NOT NULL)";

const STATE: &str = "s.rev, s.cursor, s.due_at, s.running, s.buffered, s.watched_from, \
     s.alarmed_at, s.success_at, s.success_slot";

/// Where the state stands in a row of [`TRIGGER`] and [`STATE`].
const STATE_FROM: usize = 11;

/// How many columns [`STATE`] has.
pub(in crate::sqlite) const STATE_COLUMNS: usize = 9;

/// Where the state's trigger stands behind those.
const DUE: usize = STATE_FROM + STATE_COLUMNS;

const SLOT: &str = "SELECT seq, nominal, until, count, status, reason, execution, at \
     FROM trigger_slots WHERE trigger = ?1";

fn trigger_id(row: &Row<'_>, at: usize) -> rusqlite::Result<TriggerId> {
    row.get(at).map(TriggerId::from_bytes)
}

/// A row that begins with [`TRIGGER`].
fn trigger_row(row: &Row<'_>) -> Result<TriggerRow, ReadError> {
    let trigger = TriggerRow {
        id: trigger_id(row, 0)?,
        workflow: workflow_id(row, 1)?,
        kind: word(row, 2, TriggerKind::from_name)?,
        enabled: row.get(3)?,
        version: row.get(4)?,
        settings: bytes(row, 5)?.to_vec(),
        secrets: row.get(6)?,
        webhook: row
            .get::<_, Option<[u8; 16]>>(7)?
            .map(WebhookId::from_bytes),
        created_at: time(row, 8)?,
        updated_at: time(row, 9)?,
    };
    let crc = checksum::settings(trigger.id, &trigger.settings);
    checksum::verify(row.get(10)?, crc)
        .map_err(corrupt(|| format!("the settings of {}", trigger.id)))?;
    Ok(trigger)
}

/// A row that holds [`STATE`] from this column on.
pub(in crate::sqlite) fn state_at(row: &Row<'_>, at: usize) -> rusqlite::Result<State> {
    Ok(State {
        rev: count(row, at)?,
        cursor: maybe_time(row, at + 1)?.unwrap_or_default(),
        due_at: maybe_time(row, at + 2)?,
        running: maybe_execution_id(row, at + 3)?,
        buffered: maybe_time(row, at + 4)?,
        watched_from: maybe_time(row, at + 5)?,
        alarmed_at: maybe_time(row, at + 6)?,
        success_at: maybe_time(row, at + 7)?,
        success_slot: maybe_time(row, at + 8)?,
    })
}

fn slot_row(row: &Row<'_>) -> rusqlite::Result<SlotRow> {
    Ok(SlotRow {
        seq: count(row, 0)?,
        slot: Entry {
            nominal: time(row, 1)?,
            to: time(row, 2)?,
            count: count(row, 3)?,
            outcome: outcome(row, 4)?,
            execution: maybe_execution_id(row, 6)?,
            at: time(row, 7)?,
        },
    })
}

pub(in crate::sqlite) fn trigger(
    reader: &Reader,
    id: TriggerId,
) -> Result<Option<TriggerRow>, ReadError> {
    reader
        .prepare(&format!("SELECT {TRIGGER} {LIVE} AND t.id = ?1"))?
        .query_and_then([id.as_bytes()], trigger_row)?
        .next()
        .transpose()
}

pub(in crate::sqlite) fn webhook(
    reader: &Reader,
    id: WebhookId,
) -> Result<Option<TriggerRow>, ReadError> {
    reader
        .prepare(&format!("SELECT {TRIGGER} {LIVE} AND t.webhook = ?1"))?
        .query_and_then([id.as_bytes()], trigger_row)?
        .next()
        .transpose()
}

/// Those that are not deleted, in the order of their ids.
pub(in crate::sqlite) fn triggers(
    reader: &Reader,
    filter: &TriggerFilter,
    after: Option<TriggerId>,
    limit: u32,
) -> Result<Vec<TriggerRow>, ReadError> {
    let after = after.map_or([0; 16], |id| *id.as_bytes());
    let (kinds, limit) = (words(&filter.kinds), limit.min(LIMIT_MAX));
    // Named apart, so that each goes along an index that has its order.
    let Some(workflow) = &filter.workflow else {
        return reader
            .prepare(&format!(
                "SELECT {TRIGGER} {LIVE} AND t.id > ?1 AND (?2 IS NULL OR t.kind IN (SELECT value FROM json_each(?2)))
                   AND (?3 IS NULL OR t.enabled = ?3) AND (?5 IS NULL OR {ALARMED} = ?5)
                 ORDER BY t.id LIMIT ?4"
            ))?
            .query_and_then(
                params![after, kinds, filter.enabled, limit, filter.is_alarmed],
                trigger_row,
            )?
            .collect();
    };
    let Some(key) = workflow_key(reader, workflow)? else {
        return Ok(Vec::new());
    };
    reader
        .prepare(&format!(
            "SELECT {TRIGGER} {LIVE} AND t.workflow = ?5 AND t.id > ?1
               AND (?2 IS NULL OR t.kind IN (SELECT value FROM json_each(?2))) AND (?3 IS NULL OR t.enabled = ?3)
               AND (?6 IS NULL OR {ALARMED} = ?6)
             ORDER BY t.id LIMIT ?4"
        ))?
        .query_and_then(
            params![after, kinds, filter.enabled, limit, key, filter.is_alarmed],
            trigger_row,
        )?
        .collect()
}

/// The kinds as a list in JSON; none if all are meant.
fn words(kinds: &[TriggerKind]) -> Option<String> {
    let names = || kinds.iter().map(|kind| kind.name()).collect::<Vec<_>>();
    (!kinds.is_empty()).then(|| serde_json::json!(names()).to_string())
}

pub(in crate::sqlite) fn count_triggers(
    reader: &Reader,
    filter: &TriggerFilter,
) -> Result<u64, ReadError> {
    let kinds = words(&filter.kinds);
    let key = match &filter.workflow {
        None => None,
        Some(workflow) => match workflow_key(reader, workflow)? {
            None => return Ok(0),
            key => key,
        },
    };
    let index = if key.is_some() {
        "triggers_by_workflow"
    } else {
        "triggers_by_kind"
    };
    let of = if key.is_some() {
        "workflow = ?3"
    } else {
        "?3 IS NULL"
    };
    let counted = reader
        .prepare(&format!(
            "SELECT count(*) FROM workflow_triggers AS t INDEXED BY {index}
             WHERE deleted_at IS NULL AND {of} AND (?1 IS NULL OR kind IN (SELECT value FROM json_each(?1)))
               AND (?2 IS NULL OR enabled = ?2) AND (?4 IS NULL OR {ALARMED} = ?4)"
        ))?
        .query_row(
            params![kinds, filter.enabled, key, filter.is_alarmed],
            |row| count(row, 0),
        )?;
    Ok(counted)
}

pub(in crate::sqlite) fn state(reader: &Reader, id: TriggerId) -> Result<Option<State>, ReadError> {
    let state = reader
        .prepare(&format!(
            "SELECT {STATE} FROM trigger_state AS s WHERE s.trigger = ?1"
        ))?
        .query_row([id.as_bytes()], |row| state_at(row, 0))
        .optional()?;
    Ok(state)
}

/// Those that can be read, however many before them cannot, within reason.
pub(in crate::sqlite) fn due(
    reader: &Reader,
    by: Timestamp,
    limit: u32,
) -> Result<Vec<DueTrigger>, ReadError> {
    let limit = limit.min(LIMIT_MAX);
    // Whatever a state lacks makes it unreadable, and not unseen.
    let mut select = reader.prepare(&format!(
        "SELECT {TRIGGER}, {STATE}, s.trigger
         FROM trigger_state AS s INDEXED BY trigger_state_due
         LEFT JOIN workflow_triggers AS t ON t.id = s.trigger
         LEFT JOIN workflows ON workflows.key = t.workflow
         WHERE s.due_at IS NOT NULL AND s.due_at <= ?1
         ORDER BY s.due_at, s.trigger LIMIT ?2"
    ))?;
    let mut rows = select.query(params![by.as_micros(), limit + LEFT_OUT_MAX])?;
    let mut due = Vec::new();
    while due.len() < limit as usize {
        let Some(row) = rows.next()? else { break };
        due.extend(readable_trigger(due_trigger(row), name_of_due(row)));
    }
    Ok(due)
}

fn due_trigger(row: &Row<'_>) -> Result<DueTrigger, ReadError> {
    Ok(DueTrigger {
        row: trigger_row(row)?,
        state: state_at(row, STATE_FROM)?,
    })
}

/// The trigger that a row is about, for a message.
fn name_of_due(row: &Row<'_>) -> String {
    trigger_id(row, DUE).map_or_else(|_| "?".to_owned(), |id| id.to_string())
}

/// Nobody waits for one that cannot be read: it would be due for ever.
pub(in crate::sqlite) fn next_due(reader: &Reader) -> Result<Option<Timestamp>, ReadError> {
    let first = due(reader, Timestamp::LAST, 1)?;
    Ok(first.first().and_then(|due| due.state.due_at))
}

/// The newest first.
pub(in crate::sqlite) fn slots(
    reader: &Reader,
    trigger: TriggerId,
    statuses: &[SlotStatus],
    (before, limit): (Option<u64>, u32),
) -> Result<Vec<SlotRow>, ReadError> {
    // A ledger is short, so that walking it costs little.
    let mut select = reader.prepare(&format!("{SLOT} AND seq < ?2 ORDER BY seq DESC"))?;
    let before = before.map_or(i64::MAX, signed);
    let mut rows = select.query(params![trigger.as_bytes(), before])?;
    let mut found = Vec::new();
    while found.len() < limit.min(LIMIT_MAX) as usize {
        let Some(row) = rows.next()? else { break };
        let row = slot_row(row)?;
        if statuses.is_empty() || statuses.contains(&row.slot.outcome.status()) {
            found.push(row);
        }
    }
    Ok(found)
}

pub(in crate::sqlite) fn slots_between(
    reader: &Reader,
    trigger: TriggerId,
    (from, to): (Timestamp, Timestamp),
    limit: u32,
) -> Result<Vec<SlotRow>, ReadError> {
    reader
        .prepare(&format!(
            "{SLOT} AND until >= ?2 AND nominal < ?3 ORDER BY seq LIMIT ?4"
        ))?
        .query_map(
            params![
                trigger.as_bytes(),
                from.as_micros(),
                to.as_micros(),
                limit.min(LIMIT_MAX)
            ],
            slot_row,
        )?
        .map(|row| row.map_err(ReadError::from))
        .collect()
}
