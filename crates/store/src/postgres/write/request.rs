//! Requests to webhooks: beside the executions that they started, or in their triggers' rings.

use std::collections::BTreeMap;

use refire_core::id::{RequestId, TriggerId};
use uuid::Uuid;

use super::Failed;
use super::link::{Link, Query, values};
use crate::postgres::columns::{count, get, signed};
use crate::request::{Cut, Ring};
use crate::table::column::{Id, columns};
use crate::table::rows::Requests;
use crate::table::statement::statements;
use crate::words::in_ring;
use crate::{PartOutcome, RequestRow};

statements! {
    PUT: postgres(requests: Requests) = concat!(
        "INSERT INTO webhook_requests ({requests.names}) SELECT * FROM {requests} ORDER BY given.id
        ON CONFLICT (id) DO UPDATE SET {requests.replaced!id} WHERE ",
        in_ring!()
    );

    /// All rings at once, in the order in which every node takes their locks.
    LENGTHEN: postgres(added: Added) =
        "INSERT INTO request_rings ({added.names}) SELECT * FROM {added} ORDER BY given.trigger
    ON CONFLICT (trigger) DO UPDATE SET n = request_rings.n + excluded.n,
        bytes = request_rings.bytes + excluded.bytes
    RETURNING trigger, n, bytes";
}

columns! {
    /// What rings get.
    struct Added(trigger: TriggerId, rows: u64, bytes: u64) {
        trigger: Id = trigger.into(),
        n: i64 = signed(rows),
        bytes: i64 = signed(bytes),
    }
}

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
        rows.push(request);
    }
    link.ask(Query::new(&PUT, rows.values())).await?;
    let mut added = Added::default();
    for (trigger, (rows, bytes)) in Ring::added(requests) {
        added.push(trigger, rows, bytes);
    }
    for length in link.ask(Query::new(&LENGTHEN, added.values())).await? {
        if Ring::is_too_long(count(&length, 1)?, count(&length, 2)?) {
            cut(link, get(&length, 0)?).await?;
        }
    }
    Ok(PartOutcome::Done)
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
