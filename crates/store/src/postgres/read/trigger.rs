//! Triggers, where they stand, and the ledger of their slots.

use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, State};
use tokio_postgres::Row;
use tokio_postgres::types::ToSql;
use uuid::Uuid;

use super::workflow_key;
use crate::checksum;
use crate::postgres::columns::{
    count, crc, get, maybe_execution_id, maybe_time, outcome, signed, small, time, uuid, word,
    workflow_id,
};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
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

/// Where its time stands.
const DUE_AT: usize = STATE_FROM + 2;

/// How many columns [`STATE`] has.
pub(in crate::postgres) const STATE_COLUMNS: usize = 9;

/// Where the state's trigger stands behind those.
const DUE: usize = STATE_FROM + STATE_COLUMNS;

const SLOT: &str = "SELECT seq, nominal, until, count, status, reason, execution, at \
     FROM trigger_slots WHERE trigger = $1";

fn trigger_id(row: &Row, at: usize) -> Result<TriggerId, ReadError> {
    Ok(TriggerId::from_bytes(get::<Uuid>(row, at)?.into_bytes()))
}

/// A row that begins with [`TRIGGER`].
fn trigger_row(row: &Row) -> Result<TriggerRow, ReadError> {
    let webhook: Option<Uuid> = get(row, 7)?;
    let trigger = TriggerRow {
        id: trigger_id(row, 0)?,
        workflow: workflow_id(row, 1)?,
        kind: word(row, 2, TriggerKind::from_name)?,
        enabled: get(row, 3)?,
        version: small(row, 4)?,
        settings: get(row, 5)?,
        secrets: get(row, 6)?,
        webhook: webhook.map(|id| WebhookId::from_bytes(id.into_bytes())),
        created_at: time(row, 8)?,
        updated_at: time(row, 9)?,
    };
    let sum = checksum::settings(trigger.id, &trigger.settings);
    checksum::verify(crc(row, 10)?, sum)
        .map_err(corrupt(|| format!("the settings of {}", trigger.id)))?;
    Ok(trigger)
}

/// A row that holds [`STATE`] from this column on.
pub(in crate::postgres) fn state_at(row: &Row, at: usize) -> Result<State, ReadError> {
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

fn slot_row(row: &Row) -> Result<SlotRow, ReadError> {
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

pub(in crate::postgres) async fn trigger(
    reader: &Reader,
    id: TriggerId,
) -> Result<Option<TriggerRow>, ReadError> {
    let sql = format!("SELECT {TRIGGER} {LIVE} AND t.id = $1");
    let row = reader.row(&sql, &[&uuid(id.as_bytes())]).await?;
    row.as_ref().map(trigger_row).transpose()
}

pub(in crate::postgres) async fn webhook(
    reader: &Reader,
    id: WebhookId,
) -> Result<Option<TriggerRow>, ReadError> {
    let sql = format!("SELECT {TRIGGER} {LIVE} AND t.webhook = $1");
    let row = reader.row(&sql, &[&uuid(id.as_bytes())]).await?;
    row.as_ref().map(trigger_row).transpose()
}

/// Those that are not deleted, in the order of their ids.
pub(in crate::postgres) async fn triggers(
    reader: &Reader,
    filter: &TriggerFilter,
    after: Option<TriggerId>,
    limit: u32,
) -> Result<Vec<TriggerRow>, ReadError> {
    let after = after.map_or(Uuid::nil(), |id| uuid(id.as_bytes()));
    let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.name()).collect();
    let limit = i64::from(limit.min(LIMIT_MAX));
    let asked = format!(
        "t.id > $1 AND (cardinality($2::text[]) = 0 OR t.kind = ANY($2))
           AND ($3::boolean IS NULL OR t.enabled = $3) AND ($5::boolean IS NULL OR {ALARMED} = $5)"
    );
    let end = "ORDER BY t.id LIMIT $4";
    // Named apart, so that each goes along an index that has its order.
    let rows = match &filter.workflow {
        None => {
            let sql = format!("SELECT {TRIGGER} {LIVE} AND {asked} {end}");
            reader
                .rows(
                    &sql,
                    &[&after, &kinds, &filter.enabled, &limit, &filter.is_alarmed],
                )
                .await?
        }
        Some(workflow) => {
            let Some(key) = workflow_key(reader, workflow).await? else {
                return Ok(Vec::new());
            };
            let sql = format!("SELECT {TRIGGER} {LIVE} AND t.workflow = $6 AND {asked} {end}");
            let alarmed = &filter.is_alarmed;
            reader
                .rows(
                    &sql,
                    &[&after, &kinds, &filter.enabled, &limit, alarmed, &key],
                )
                .await?
        }
    };
    rows.iter().map(trigger_row).collect()
}

pub(in crate::postgres) async fn count_triggers(
    reader: &Reader,
    filter: &TriggerFilter,
) -> Result<u64, ReadError> {
    let key = match &filter.workflow {
        None => None,
        Some(workflow) => match workflow_key(reader, workflow).await? {
            None => return Ok(0),
            key => key,
        },
    };
    let sql = format!(
        "SELECT count(*) FROM workflow_triggers AS t
         WHERE deleted_at IS NULL AND (cardinality($1::text[]) = 0 OR kind = ANY($1))
           AND ($2::boolean IS NULL OR enabled = $2) AND ($3::bigint IS NULL OR workflow = $3)
           AND ($4::boolean IS NULL OR {ALARMED} = $4)"
    );
    let kinds: Vec<&str> = filter.kinds.iter().map(|kind| kind.name()).collect();
    let row = reader
        .row(&sql, &[&kinds, &filter.enabled, &key, &filter.is_alarmed])
        .await?;
    row.map_or(Ok(0), |row| count(&row, 0))
}

pub(in crate::postgres) async fn state(
    reader: &Reader,
    id: TriggerId,
) -> Result<Option<State>, ReadError> {
    let sql = format!("SELECT {STATE} FROM trigger_state AS s WHERE s.trigger = $1");
    let row = reader.row(&sql, &[&uuid(id.as_bytes())]).await?;
    row.map(|row| state_at(&row, 0)).transpose()
}

/// Those that can be read, however many before them cannot, within reason.
pub(in crate::postgres) async fn due(
    reader: &Reader,
    by: Timestamp,
    limit: u32,
) -> Result<Vec<DueTrigger>, ReadError> {
    // Whatever a state lacks makes it unreadable, and not unseen.
    let sql = format!(
        "SELECT {TRIGGER}, {STATE}, s.trigger
           FROM trigger_state AS s
           LEFT JOIN workflow_triggers AS t ON t.id = s.trigger
           LEFT JOIN workflows ON workflows.key = t.workflow
          WHERE s.due_at <= $1 AND (s.due_at, s.trigger) > ($2, $3)
          ORDER BY s.due_at, s.trigger LIMIT $4"
    );
    let limit = limit.min(LIMIT_MAX);
    let (mut due, mut left_out, mut asked) = (Vec::new(), 0, limit);
    let (mut at, mut trigger) = (i64::MIN, Uuid::nil());
    loop {
        let page: [&(dyn ToSql + Sync); 4] = [&by.as_micros(), &at, &trigger, &i64::from(asked)];
        let rows = reader.rows(&sql, &page).await?;
        for row in &rows {
            (at, trigger) = (get(row, DUE_AT)?, get(row, DUE)?);
            match readable_trigger(
                due_trigger(row),
                TriggerId::from_bytes(trigger.into_bytes()),
            ) {
                Some(readable) => due.push(readable),
                None => left_out += 1,
            }
        }
        let is_end = rows.len() < asked as usize;
        if is_end || due.len() >= limit as usize || left_out >= LEFT_OUT_MAX {
            break;
        }
        // Much cannot be read, and short pages would not get far.
        asked = LIMIT_MAX;
    }
    due.truncate(limit as usize);
    Ok(due)
}

fn due_trigger(row: &Row) -> Result<DueTrigger, ReadError> {
    Ok(DueTrigger {
        row: trigger_row(row)?,
        state: state_at(row, STATE_FROM)?,
    })
}

/// Nobody waits for one that cannot be read: it would be due for ever.
pub(in crate::postgres) async fn next_due(reader: &Reader) -> Result<Option<Timestamp>, ReadError> {
    let first = due(reader, Timestamp::LAST, 1).await?;
    Ok(first.first().and_then(|due| due.state.due_at))
}

/// The newest first.
pub(in crate::postgres) async fn slots(
    reader: &Reader,
    trigger: TriggerId,
    statuses: &[SlotStatus],
    (before, limit): (Option<u64>, u32),
) -> Result<Vec<SlotRow>, ReadError> {
    let sql = format!(
        "{SLOT} AND seq < $2 AND ($3::text[] = '{{}}' OR status = ANY($3))
         ORDER BY seq DESC LIMIT $4"
    );
    let statuses: Vec<&str> = statuses.iter().map(|status| status.name()).collect();
    let before = before.map_or(i64::MAX, signed);
    let limit = i64::from(limit.min(LIMIT_MAX));
    let rows = reader
        .rows(
            &sql,
            &[&uuid(trigger.as_bytes()), &before, &statuses, &limit],
        )
        .await?;
    rows.iter().map(slot_row).collect()
}

pub(in crate::postgres) async fn slots_between(
    reader: &Reader,
    trigger: TriggerId,
    (from, to): (Timestamp, Timestamp),
    limit: u32,
) -> Result<Vec<SlotRow>, ReadError> {
    let sql = format!("{SLOT} AND until >= $2 AND nominal < $3 ORDER BY seq LIMIT $4");
    let limit = i64::from(limit.min(LIMIT_MAX));
    let (from, to) = (from.as_micros(), to.as_micros());
    let rows = reader
        .rows(&sql, &[&uuid(trigger.as_bytes()), &from, &to, &limit])
        .await?;
    rows.iter().map(slot_row).collect()
}
