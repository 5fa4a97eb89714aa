//! States of executions: the snapshot, brought up to date by the events after it. One statement
//! reads as many as are asked for, with whatever belongs to them, as of one moment.

use std::borrow::Cow;
use std::collections::HashMap;

use refire_core::execution::{Event, EventKind, EventRow, Execution, apply_to};
use refire_core::id::ExecutionId;
use refire_core::limit;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::checksum;
use crate::postgres::columns::{
    count, crc, due, execution_id, get, maybe_count, maybe_foreign, maybe_node_id, maybe_small,
    maybe_time, small, time, uuid, workflow_id,
};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{ReadError, Stored, WorkRow};

/// What an event is read from, in the order of [`event_row`].
pub(super) const EVENT: &str =
    "sequence, type, v, at, step, attempt, backoff_ms, reason, payload, crc";

// The parts of one answer. Every row says what it is, whose it is, and has the columns of an event;
// rows of another kind put what they have into those of the right type.
const HEAD: i16 = 0;
const AFTER: i16 = 1;
const WORK: i16 = 2;
const AHEAD: i16 = 3;

/// The rows of the executions themselves.
const HEADS: &str = "SELECT 0::smallint, executions.id, version, NULL::text, NULL::integer,
        snapshot_version, NULL::text, NULL::integer, NULL::bigint, NULL::bytea, snapshot,
        snapshot_crc, NULL::uuid, NULL::boolean, NULL::boolean
   FROM executions WHERE executions.id = ANY($1)";

/// The events after the snapshots.
const EVENTS_AFTER: &str = "SELECT 1::smallint, executions.id, later.*, NULL::uuid, NULL::boolean,
        NULL::boolean
   FROM executions CROSS JOIN LATERAL (
        SELECT sequence, type, v, at, step, attempt, backoff_ms, reason, payload, crc
          FROM workflow_events
         WHERE execution = executions.id AND sequence > executions.snapshot_version
         ORDER BY sequence) AS later
  WHERE executions.id = ANY($1)";

/// Their work.
const WORK_OF: &str = "SELECT 2::smallint, work.execution, NULL::bigint, workflows.id,
        work.priority::integer, work.due_at, work.step, work.attempt, NULL::bigint,
        work.limit_key, NULL::bytea, work.begun_at, work.owner, work.is_retry, work.begun
   FROM work JOIN workflows ON workflows.key = work.workflow
  WHERE work.execution = ANY($1)";

/// Values that are likely to be wanted: short ones of executions that have not come far.
const VALUES_AHEAD: &str = "SELECT 3::smallint, executions.id, ahead.*, NULL::uuid, NULL::boolean,
        NULL::boolean
   FROM executions CROSS JOIN LATERAL (
        SELECT sequence, type, v, at, step, attempt, backoff_ms, reason, payload, crc
          FROM workflow_events
         WHERE execution = executions.id AND sequence <= executions.snapshot_version
           AND type = ANY($4)
           AND octet_length(payload) <= $2
         ORDER BY sequence) AS ahead
  WHERE executions.id = ANY($1) AND executions.snapshot_version <= $3";

/// An event that keeps a value is longer than the value by no more than this, mostly.
const AROUND_A_VALUE_BYTES: i32 = 1_024;
/// Executions with more events than this in their snapshot have their values read when they are
/// known to be missing.
const EVENTS_AHEAD_MAX: i64 = 64;

/// What was read of one execution.
#[derive(Default)]
pub(super) struct Parts {
    head: Option<Head>,
    events: Vec<EventRow>,
    work: Vec<WorkRow>,
    ahead: Vec<EventRow>,
}

struct Head {
    version: u64,
    snapshot_version: u64,
    snapshot: Option<Vec<u8>>,
    snapshot_crc: Option<i64>,
}

/// What was read of several.
pub(super) struct Gathered(HashMap<ExecutionId, Parts>);

impl Gathered {
    /// With their work.
    async fn with_work(reader: &Reader, ids: &[ExecutionId]) -> Result<Self, ReadError> {
        let sql = format!("{HEADS} UNION ALL {EVENTS_AFTER} UNION ALL {WORK_OF}");
        let rows = reader.rows(&sql, &[&uuids(ids)]).await?;
        Self::of(&rows)
    }

    /// With values that are likely to be wanted.
    pub(super) async fn with_values(
        reader: &Reader,
        ids: &[ExecutionId],
    ) -> Result<Self, ReadError> {
        let sql = format!("{HEADS} UNION ALL {EVENTS_AFTER} UNION ALL {VALUES_AHEAD}");
        let short = i32::try_from(limit::VALUES_BYTES_READ_AHEAD).unwrap_or(i32::MAX);
        let longest = short.saturating_add(AROUND_A_VALUE_BYTES);
        let kept = &Execution::VALUE_EVENTS[..];
        let rows = reader
            .rows(&sql, &[&uuids(ids), &longest, &EVENTS_AHEAD_MAX, &kept])
            .await?;
        Self::of(&rows)
    }

    fn of(rows: &[Row]) -> Result<Self, ReadError> {
        let mut gathered: HashMap<ExecutionId, Parts> = HashMap::new();
        for row in rows {
            let id = execution_id(row, 1)?;
            let parts = gathered.entry(id).or_default();
            match get::<i16>(row, 0)? {
                HEAD => parts.head = Some(head(row)?),
                AFTER => parts.events.push(event_row(row, id, 2)?),
                WORK => parts.work.push(work_row(row, id)?),
                AHEAD => parts.ahead.push(event_row(row, id, 2)?),
                other => {
                    let what = || format!("what was read of {id}");
                    return Err(corrupt(what)(format!("a row of kind {other}")));
                }
            }
        }
        Ok(Self(gathered))
    }

    pub(super) fn take(&mut self, id: ExecutionId) -> Option<Parts> {
        self.0.remove(&id).filter(|parts| parts.head.is_some())
    }
}

impl Parts {
    /// The state, and the events whose values came with it.
    pub(super) fn state_and_values(
        self,
        id: ExecutionId,
    ) -> Result<(Execution, Vec<EventRow>), ReadError> {
        let state = state(id, self.head.as_ref(), self.events)?;
        Ok((state, self.ahead))
    }

    fn stored(mut self, id: ExecutionId) -> Result<Stored, ReadError> {
        let state = state(id, self.head.as_ref(), self.events)?;
        self.work.sort_unstable_by(|a, b| a.step.cmp(&b.step));
        Ok(Stored {
            id,
            state,
            work: self.work,
        })
    }
}

/// These executions with their work, in this order, as of one moment.
pub(super) async fn stored_of(
    reader: &Reader,
    ids: &[ExecutionId],
) -> Result<Vec<Option<Stored>>, ReadError> {
    let mut gathered = Gathered::with_work(reader, ids).await?;
    ids.iter()
        .map(|id| {
            let parts = gathered.take(*id);
            parts.map(|parts| parts.stored(*id)).transpose()
        })
        .collect()
}

fn uuids(ids: &[ExecutionId]) -> Vec<Uuid> {
    ids.iter().map(|id| uuid(id.as_bytes())).collect()
}

fn head(row: &Row) -> Result<Head, ReadError> {
    Ok(Head {
        version: count(row, 2)?,
        snapshot_version: count(row, 5)?,
        snapshot: get(row, 10)?,
        snapshot_crc: get(row, 11)?,
    })
}

fn work_row(row: &Row, execution: ExecutionId) -> Result<WorkRow, ReadError> {
    let read = || {
        Ok(WorkRow {
            execution,
            workflow: workflow_id(row, 3)?,
            priority: get::<i32>(row, 4)?
                .try_into()
                .map_err(corrupt(|| "a priority".to_owned()))?,
            due_at: due(get(row, 5)?),
            step: get(row, 6)?,
            attempt: small(row, 7)?,
            limit_key: maybe_foreign(row, 9)?,
            owner: maybe_node_id(row, 12)?,
            is_retry: get(row, 13)?,
            begun: get(row, 14)?,
            begun_at: maybe_time(row, 11)?,
        })
    };
    read().map_err(|error: ReadError| corrupt(|| format!("the work of {execution}"))(error))
}

/// The snapshot, brought up to date by the events after it.
fn state(
    id: ExecutionId,
    head: Option<&Head>,
    mut events: Vec<EventRow>,
) -> Result<Execution, ReadError> {
    let what = || format!("the state of {id}");
    let head = head.ok_or_else(|| corrupt(what)("it has no row"))?;
    let mut state = match head.snapshot_version {
        0 => Execution::empty(),
        version => {
            let snapshot = head.snapshot.as_deref().unwrap_or_default();
            let stored = head.snapshot_crc.and_then(|crc| u32::try_from(crc).ok());
            let stored = stored.ok_or_else(|| corrupt(what)("its snapshot has no checksum"))?;
            checksum::verify(stored, checksum::snapshot(id, version, snapshot))
                .map_err(corrupt(what))?;
            serde_json::from_slice::<Execution>(snapshot).map_err(corrupt(what))?
        }
    };
    events.sort_unstable_by_key(|event| event.sequence);
    if head.snapshot_version < head.version {
        for event in events {
            let event = Event::decode(&event).map_err(corrupt(what))?;
            if event.sequence != state.version + 1 {
                let gap = format!("event {} follows {}", event.sequence, state.version);
                return Err(corrupt(what)(gap));
            }
            apply_to(&mut state, &event);
        }
    }
    if state.version != head.version {
        let differ = format!(
            "its row says version {}, its log {}",
            head.version, state.version
        );
        return Err(corrupt(what)(differ));
    }
    Ok(state)
}

/// An event of an execution, from this column on, if its checksum fits.
pub(super) fn event_row(row: &Row, id: ExecutionId, at: usize) -> Result<EventRow, ReadError> {
    let name: &str = get(row, at + 1)?;
    let known = EventKind::NAMES.iter().find(|known| **known == name);
    let event = EventRow {
        sequence: count(row, at)?,
        name: known.map_or_else(
            || Cow::Owned(name.to_owned()),
            |known| Cow::Borrowed(*known),
        ),
        v: get::<i32>(row, at + 2)?
            .try_into()
            .map_err(corrupt(|| format!("an event of {id}")))?,
        at: time(row, at + 3)?,
        step: get(row, at + 4)?,
        attempt: maybe_small(row, at + 5)?,
        backoff_ms: maybe_count(row, at + 6)?,
        reason: maybe_foreign(row, at + 7)?,
        payload: get(row, at + 8)?,
    };
    checksum::verify(crc(row, at + 9)?, checksum::event(id, &event))
        .map_err(corrupt(|| format!("event {} of {id}", event.sequence)))?;
    Ok(event)
}
