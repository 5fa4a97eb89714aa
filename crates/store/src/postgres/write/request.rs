//! Requests to webhooks: beside the executions that they started, or in their triggers' rings.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use refire_core::id::{ExecutionId, RequestId, TriggerId};
use uuid::Uuid;

use super::Failed;
use super::arrays::{Parameter, columns, statement};
use super::ledger::id_of;
use super::link::{Link, Query, values};
use crate::postgres::columns::{count, get, signed, uuid};
use crate::request::{Cut, Ring};
use crate::words::in_ring;
use crate::{PartOutcome, RequestRow};

static PUT: LazyLock<String> = LazyLock::new(|| {
    let text = concat!(
        "INSERT INTO webhook_requests ({requests.names!of}) SELECT {requests.given!of}
          FROM {requests} ORDER BY given.id
        ON CONFLICT (id) DO UPDATE SET {requests.replaced!of,id} WHERE ",
        in_ring!()
    );
    statement(text, &[Parameter::Arrays("requests", Requests::COLUMNS)])
});

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

columns! {
    /// Requests, each under the execution that it started.
    pub(super) struct Requests(of: Option<ExecutionId>, request: &'a RequestRow) {
        of: Option<Uuid> = of.as_ref().map(id_of),
        id: Uuid = uuid(request.id.as_bytes()),
        trigger: Uuid = uuid(request.trigger.as_bytes()),
        at: i64 = request.at.as_micros(),
        status: &'static str = request.status.name(),
        source: &'a [u8] = request.source.as_bytes(),
        headers: &'a [u8] = &request.headers,
        body: Option<&'a [u8]> = request.body.as_deref(),
        body_bytes: i64 = signed(request.body_bytes),
        execution: Option<Uuid> = request.execution.as_ref().map(id_of),
        error: Option<&'a [u8]> = request.error.as_deref().map(str::as_bytes),
        is_test: bool = request.is_test,
        size: i64 = signed(request.size()),
    }
}

impl Requests<'_> {
    pub(super) fn is_empty(&self) -> bool {
        self.id.is_empty()
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
    link.ask(Query::new(&PUT, rows.values())).await?;
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
