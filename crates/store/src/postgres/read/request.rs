//! Requests to webhooks, newest first.

use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};
use tokio_postgres::Row;
use uuid::Uuid;

use super::LAST_ID;
use crate::postgres::columns::{
    count, foreign, get, maybe_execution_id, maybe_foreign, time, uuid, word,
};
use crate::postgres::pool::Reader;
use crate::request::first_id_at;
use crate::words::in_ring;
use crate::{LIMIT_MAX, ReadError, RequestFilter, RequestRow, RequestStatus};

/// What a request is read from, without its body.
const REQUEST: &str = "id, trigger, at, status, source, headers, body_bytes, execution, error, \
     is_test";

fn request_row(row: &Row) -> Result<RequestRow, ReadError> {
    Ok(RequestRow {
        id: RequestId::from_bytes(get::<Uuid>(row, 0)?.into_bytes()),
        trigger: TriggerId::from_bytes(get::<Uuid>(row, 1)?.into_bytes()),
        at: time(row, 2)?,
        status: word(row, 3, RequestStatus::from_name)?,
        source: foreign(row, 4)?,
        headers: get(row, 5)?,
        body: None,
        body_bytes: count(row, 6)?,
        execution: maybe_execution_id(row, 7)?,
        error: maybe_foreign(row, 8)?,
        is_test: get(row, 9)?,
    })
}

pub(in crate::postgres) async fn one(
    reader: &Reader,
    id: RequestId,
) -> Result<Option<RequestRow>, ReadError> {
    let sql = format!("SELECT {REQUEST}, body FROM webhook_requests WHERE id = $1");
    let Some(row) = reader.row(&sql, &[&uuid(id.as_bytes())]).await? else {
        return Ok(None);
    };
    Ok(Some(RequestRow {
        body: get(&row, 10)?,
        ..request_row(&row)?
    }))
}

pub(in crate::postgres) async fn list(
    reader: &Reader,
    trigger: TriggerId,
    filter: &RequestFilter,
    (before, limit): (Option<RequestId>, u32),
) -> Result<Vec<RequestRow>, ReadError> {
    let all = filter.statuses.is_empty() || filter.statuses.contains(&RequestStatus::Triggered);
    // So that the server can see which index is the shortest that has all that is asked for.
    let index = match (filter.is_test, all) {
        (Some(true), _) => "is_test",
        (_, false) => in_ring!(),
        (_, true) => "true",
    };
    let sql = format!(
        "SELECT {REQUEST} FROM webhook_requests
          WHERE {index} AND trigger = $1 AND id >= $2 AND id < $3
            AND ($4::text[] = '{{}}' OR status = ANY($4))
            AND ($5::boolean IS NULL OR is_test = $5)
          ORDER BY id DESC LIMIT $6"
    );
    let before = before.map_or(LAST_ID, |id| *id.as_bytes());
    let to = filter.to.map_or(LAST_ID, |to| *first_id_at(to).as_bytes());
    let from = filter
        .from
        .map_or([0; 16], |at| *first_id_at(at).as_bytes());
    let statuses: Vec<&str> = filter.statuses.iter().map(|it| it.name()).collect();
    let rows = reader
        .rows(
            &sql,
            &[
                &uuid(trigger.as_bytes()),
                &uuid(&from),
                &uuid(&before.min(to)),
                &statuses,
                &filter.is_test,
                &i64::from(limit.min(LIMIT_MAX)),
            ],
        )
        .await?;
    rows.iter().map(request_row).collect()
}

/// Webhooks, and of each the newest request beyond its newest ones.
pub(in crate::postgres) async fn beyond(
    reader: &Reader,
    newest: u32,
    after: Option<TriggerId>,
    limit: u32,
) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
    let after = after.map_or([0; 16], |id| *id.as_bytes());
    let sql = "SELECT t.id, (SELECT r.id FROM webhook_requests AS r
                              WHERE r.trigger = t.id ORDER BY r.id DESC OFFSET $1 LIMIT 1)
                 FROM workflow_triggers AS t
                WHERE t.kind = $4 AND t.deleted_at IS NULL AND t.id > $2
                ORDER BY t.id LIMIT $3";
    let (newest, limit) = (i64::from(newest), i64::from(limit.min(LIMIT_MAX)));
    let kind = TriggerKind::Webhook.name();
    let rows = reader
        .rows(sql, &[&newest, &uuid(&after), &limit, &kind])
        .await?;
    let found = rows.iter().map(|row| {
        let (trigger, beyond): (Uuid, Option<Uuid>) = (get(row, 0)?, get(row, 1)?);
        let beyond = beyond.map(|id| RequestId::from_bytes(id.into_bytes()));
        Ok((TriggerId::from_bytes(trigger.into_bytes()), beyond))
    });
    found.collect()
}
