//! States of executions: the snapshot, brought up to date by the events after it. One statement
//! reads as many as are asked for, with whatever belongs to them, as of one moment.

use std::collections::HashMap;
use std::sync::LazyLock;

use refire_core::execution::{EventRow, Execution};
use refire_core::id::ExecutionId;
use refire_core::limit;
use tokio_postgres::Row;
use uuid::Uuid;

use crate::column::read_at;
use crate::execution::{EVENT, event_at, fold, snapshot};
use crate::postgres::columns::{get, uuid};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{ReadError, Stored, WorkRow};

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

/// The events after the snapshots: so many columns have whatever is read of an execution.
fn events_after() -> String {
    let event = &*EVENT;
    format!(
        "SELECT 1::smallint, executions.id, later.*, NULL::uuid, NULL::boolean, NULL::boolean
   FROM executions CROSS JOIN LATERAL (
        SELECT {event} FROM workflow_events
         WHERE execution = executions.id AND sequence > executions.snapshot_version
         ORDER BY sequence) AS later
  WHERE executions.id = ANY($1)"
    )
}

/// Their work.
const WORK_OF: &str = "SELECT 2::smallint, work.execution, NULL::bigint, workflows.id,
        work.priority::integer, work.due_at, work.step, work.attempt, NULL::bigint,
        work.limit_key, NULL::bytea, work.begun_at, work.owner, work.is_retry, work.begun
   FROM work JOIN workflows ON workflows.key = work.workflow
  WHERE work.execution = ANY($1)";

/// Values that are likely to be wanted: short ones of executions that have not come far.
fn values_ahead() -> String {
    let event = &*EVENT;
    format!(
        "SELECT 3::smallint, executions.id, ahead.*, NULL::uuid, NULL::boolean, NULL::boolean
   FROM executions CROSS JOIN LATERAL (
        SELECT {event} FROM workflow_events
         WHERE execution = executions.id AND sequence <= executions.snapshot_version
           AND type = ANY($4)
           AND octet_length(payload) <= $2
         ORDER BY sequence) AS ahead
  WHERE executions.id = ANY($1) AND executions.snapshot_version <= $3"
    )
}

static WITH_WORK: LazyLock<String> =
    LazyLock::new(|| format!("{HEADS} UNION ALL {} UNION ALL {WORK_OF}", events_after()));

static WITH_VALUES: LazyLock<String> = LazyLock::new(|| {
    format!(
        "{HEADS} UNION ALL {} UNION ALL {}",
        events_after(),
        values_ahead()
    )
});

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
    snapshot_crc: Option<u32>,
}

/// What was read of several.
pub(super) struct Gathered(HashMap<ExecutionId, Parts>);

impl Gathered {
    /// With their work.
    async fn with_work(reader: &Reader, ids: &[ExecutionId]) -> Result<Self, ReadError> {
        let rows = reader.rows(&WITH_WORK, &[&uuids(ids)]).await?;
        Self::of(&rows)
    }

    /// With values that are likely to be wanted.
    pub(super) async fn with_values(
        reader: &Reader,
        ids: &[ExecutionId],
    ) -> Result<Self, ReadError> {
        let short = i32::try_from(limit::VALUES_BYTES_READ_AHEAD).unwrap_or(i32::MAX);
        let longest = short.saturating_add(AROUND_A_VALUE_BYTES);
        let kept = &Execution::VALUE_EVENTS[..];
        let rows = reader
            .rows(
                &WITH_VALUES,
                &[&uuids(ids), &longest, &EVENTS_AHEAD_MAX, &kept],
            )
            .await?;
        Self::of(&rows)
    }

    fn of(rows: &[Row]) -> Result<Self, ReadError> {
        let mut gathered: HashMap<ExecutionId, Parts> = HashMap::new();
        for row in rows {
            let id = read_at(row, 1)?;
            let parts = gathered.entry(id).or_default();
            match get::<i16>(row, 0)? {
                HEAD => parts.head = Some(head(row)?),
                AFTER => parts.events.push(event_at(row, 2, id)?),
                WORK => parts.work.push(work_row(row, id)?),
                AHEAD => parts.ahead.push(event_at(row, 2, id)?),
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
        version: read_at(row, 2)?,
        snapshot_version: read_at(row, 5)?,
        snapshot: get(row, 10)?,
        snapshot_crc: read_at(row, 11)?,
    })
}

fn work_row(row: &Row, execution: ExecutionId) -> Result<WorkRow, ReadError> {
    let read = || {
        Ok(WorkRow {
            execution,
            workflow: read_at(row, 3)?,
            priority: read_at(row, 4)?,
            due_at: read_at(row, 5)?,
            step: read_at(row, 6)?,
            attempt: read_at(row, 7)?,
            limit_key: read_at(row, 9)?,
            owner: read_at(row, 12)?,
            is_retry: read_at(row, 13)?,
            begun: read_at(row, 14)?,
            begun_at: read_at(row, 11)?,
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
    let head = head.ok_or_else(|| corrupt(|| format!("the state of {id}"))("it has no row"))?;
    let known = head.snapshot_version;
    let state = snapshot(id, known, head.snapshot.as_deref(), head.snapshot_crc)?;
    events.sort_unstable_by_key(|event| event.sequence);
    if known >= head.version {
        events.clear();
    }
    fold(id, state, head.version, events)
}
