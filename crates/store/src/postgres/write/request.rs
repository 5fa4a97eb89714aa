//! Requests to webhooks: beside the executions that they started, or in their triggers' rings.

use std::collections::BTreeMap;

use refire_core::id::{ExecutionId, RequestId, TriggerId};
use uuid::Uuid;

use super::Failed;
use super::link::{Link, Query, Value, values};
use crate::postgres::columns::{count, get, signed, uuid};
use crate::request::{Cut, Ring};
use crate::words::in_ring;
use crate::{PartOutcome, RequestRow};

const PUT: &str = concat!(
    "INSERT INTO webhook_requests (id, trigger, at, status, source, headers, body,
        body_bytes, execution, error, is_test, size)
    SELECT given.id, given.trigger, given.at, given.status, given.source, given.headers, given.body,
        given.body_bytes, given.execution, given.error, given.is_test, given.size
      FROM unnest($1::uuid[], $2::uuid[], $3::uuid[], $4::bigint[], $5::text[], $6::bytea[],
            $7::bytea[], $8::bytea[], $9::bigint[], $10::uuid[], $11::bytea[], $12::boolean[],
            $13::bigint[])
        AS given (of, id, trigger, at, status, source, headers, body, body_bytes, execution, error,
            is_test, size)
     ORDER BY given.id
    ON CONFLICT (id) DO UPDATE SET trigger = excluded.trigger, at = excluded.at,
        status = excluded.status, source = excluded.source, headers = excluded.headers,
        body = excluded.body, body_bytes = excluded.body_bytes, execution = excluded.execution,
        error = excluded.error, is_test = excluded.is_test, size = excluded.size
     WHERE ",
    in_ring!()
);

/// All rings at once, in the order in which every node takes their locks.
const LENGTHEN: &str = "INSERT INTO request_rings (trigger, n, bytes)
    SELECT given.trigger, given.n, given.bytes
      FROM unnest($1::uuid[], $2::bigint[], $3::bigint[]) AS given (trigger, n, bytes)
     ORDER BY given.trigger
    ON CONFLICT (trigger) DO UPDATE SET n = request_rings.n + excluded.n,
        bytes = request_rings.bytes + excluded.bytes
    RETURNING trigger, n, bytes";

const RING: &str = concat!(
    "SELECT id, size FROM webhook_requests WHERE trigger = $1 AND ",
    in_ring!(),
    " ORDER BY id DESC LIMIT $2"
);

const CUT: &str = concat!(
    "DELETE FROM webhook_requests WHERE trigger = $1 AND id <= $2 AND ",
    in_ring!()
);

const SHORTEN: &str = "UPDATE request_rings SET n = $2, bytes = $3 WHERE trigger = $1";

/// Requests as columns, each under the execution that it started.
#[derive(Default)]
pub(super) struct Requests<'a> {
    of: Vec<Option<Uuid>>,
    id: Vec<Uuid>,
    trigger: Vec<Uuid>,
    at: Vec<i64>,
    status: Vec<&'static str>,
    source: Vec<&'a [u8]>,
    headers: Vec<&'a [u8]>,
    body: Vec<Option<&'a [u8]>>,
    body_bytes: Vec<i64>,
    execution: Vec<Option<Uuid>>,
    error: Vec<Option<&'a [u8]>>,
    is_test: Vec<bool>,
    size: Vec<i64>,
}

impl<'a> Requests<'a> {
    pub(super) fn push(&mut self, of: Option<ExecutionId>, request: &'a RequestRow) {
        let execution = |id: &ExecutionId| uuid(id.as_bytes());
        self.of.push(of.as_ref().map(execution));
        self.id.push(uuid(request.id.as_bytes()));
        self.trigger.push(uuid(request.trigger.as_bytes()));
        self.at.push(request.at.as_micros());
        self.status.push(request.status.name());
        self.source.push(request.source.as_bytes());
        self.headers.push(&request.headers);
        self.body.push(request.body.as_deref());
        self.body_bytes.push(signed(request.body_bytes));
        self.execution
            .push(request.execution.as_ref().map(execution));
        self.error.push(request.error.as_deref().map(str::as_bytes));
        self.is_test.push(request.is_test);
        self.size.push(signed(request.size()));
    }

    pub(super) fn is_empty(&self) -> bool {
        self.id.is_empty()
    }

    /// Thirteen columns.
    pub(super) fn values(self) -> Vec<Value<'a>> {
        values![
            self.of,
            self.id,
            self.trigger,
            self.at,
            self.status,
            self.source,
            self.headers,
            self.body,
            self.body_bytes,
            self.execution,
            self.error,
            self.is_test,
            self.size,
        ]
    }
}

pub(super) async fn log(link: &mut Link, requests: &[RequestRow]) -> Result<PartOutcome, Failed> {
    // Of several with the same id the last one stays, unless one before it has started something.
    let mut last: BTreeMap<RequestId, &RequestRow> = BTreeMap::new();
    for request in requests {
        let stays = last.entry(request.id).or_insert(request);
        if stays.is_in_ring() {
            *stays = request;
        }
    }
    let mut rows = Requests::default();
    for request in last.into_values() {
        rows.push(None, request);
    }
    link.ask(Query::new(PUT, rows.values())).await?;
    let mut added: BTreeMap<TriggerId, (u64, u64)> = BTreeMap::new();
    for request in requests.iter().filter(|request| request.is_in_ring()) {
        let (rows, bytes) = added.entry(request.trigger).or_default();
        *rows += 1;
        *bytes += request.size();
    }
    lengthen(link, &added).await?;
    Ok(PartOutcome::Done)
}

/// Counts what rings have got, and cuts those that are too long.
async fn lengthen(link: &mut Link, added: &BTreeMap<TriggerId, (u64, u64)>) -> Result<(), Failed> {
    if added.is_empty() {
        return Ok(());
    }
    let triggers: Vec<Uuid> = added.keys().map(|id| uuid(id.as_bytes())).collect();
    let rows: Vec<i64> = added.values().map(|(rows, _)| signed(*rows)).collect();
    let bytes: Vec<i64> = added.values().map(|(_, bytes)| signed(*bytes)).collect();
    let query = Query::new(LENGTHEN, values![triggers, rows, bytes]);
    for length in link.ask(query).await? {
        if Ring::is_too_long(count(&length, 1)?, count(&length, 2)?) {
            cut(link, get(&length, 0)?).await?;
        }
    }
    Ok(())
}

async fn cut(link: &mut Link, trigger: Uuid) -> Result<(), Failed> {
    let mut cut = Cut::default();
    // One more than can stay.
    let ring = Query::new(RING, values![trigger, signed(Ring::ROWS + 1)]);
    for row in link.ask(ring).await? {
        if !cut.keeps(count(&row, 1)?) {
            let last: Uuid = get(&row, 0)?;
            link.ask(Query::new(CUT, values![trigger, last])).await?;
            break;
        }
    }
    let values = values![trigger, signed(cut.rows), signed(cut.bytes)];
    link.ask(Query::new(SHORTEN, values)).await?;
    Ok(())
}
