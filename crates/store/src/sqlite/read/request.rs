//! Requests to webhooks, newest first.

use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};
use rusqlite::{Row, params};

use super::{LAST_ID, ROWS_PER_READ};
use crate::request::first_id_at;
use crate::sqlite::columns::{count, maybe_execution_id, time, word};
use crate::sqlite::readers::Reader;
use crate::words::in_ring;
use crate::{LIMIT_MAX, ReadError, RequestFilter, RequestRow, RequestStatus};

/// What a request is read from, without its body.
const REQUEST: &str = "id, trigger, at, status, source, headers, body_bytes, execution, error, \
     is_test";

fn request_row(row: &Row<'_>) -> rusqlite::Result<RequestRow> {
    Ok(RequestRow {
        id: row.get(0).map(RequestId::from_bytes)?,
        trigger: row.get(1).map(TriggerId::from_bytes)?,
        at: time(row, 2)?,
        status: word(row, 3, RequestStatus::from_name)?,
        source: row.get(4)?,
        headers: row.get(5)?,
        body: None,
        body_bytes: count(row, 6)?,
        execution: maybe_execution_id(row, 7)?,
        error: row.get(8)?,
        is_test: row.get(9)?,
    })
}

pub(in crate::sqlite) fn one(
    reader: &Reader,
    id: RequestId,
) -> Result<Option<RequestRow>, ReadError> {
    reader
        .prepare(&format!(
            "SELECT {REQUEST}, body FROM webhook_requests WHERE id = ?1"
        ))?
        .query_and_then([id.as_bytes()], |row| {
            Ok(RequestRow {
                body: row.get(10)?,
                ..request_row(row)?
            })
        })?
        .next()
        .transpose()
}

pub(in crate::sqlite) fn list(
    reader: &Reader,
    trigger: TriggerId,
    filter: &RequestFilter,
    (before, limit): (Option<RequestId>, u32),
) -> Result<Vec<RequestRow>, ReadError> {
    let limit = limit.min(LIMIT_MAX) as usize;
    let mut walk = Walk::new(trigger, filter, before);
    let mut found = Vec::new();
    while found.len() < limit && walk.stretch(reader, limit, &mut found)? {}
    Ok(found)
}

/// Webhooks, and of each the newest request beyond its newest ones: along an index that has nothing else.
pub(in crate::sqlite) fn beyond(
    reader: &Reader,
    newest: u32,
    after: Option<TriggerId>,
    limit: u32,
) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
    let after = after.map_or([0; 16], |id| *id.as_bytes());
    let mut select = reader.prepare(
        "SELECT t.id, (SELECT r.id FROM webhook_requests AS r INDEXED BY requests_by_trigger
                        WHERE r.trigger = t.id ORDER BY r.id DESC LIMIT 1 OFFSET ?1)
           FROM workflow_triggers AS t
          WHERE t.kind = ?4 AND t.deleted_at IS NULL AND t.id > ?2
          ORDER BY t.id LIMIT ?3",
    )?;
    let kind = TriggerKind::Webhook.name();
    let found = select.query_map(params![newest, after, limit.min(LIMIT_MAX), kind], |row| {
        let beyond: Option<[u8; 16]> = row.get(1)?;
        Ok((
            row.get(0).map(TriggerId::from_bytes)?,
            beyond.map(RequestId::from_bytes),
        ))
    })?;
    Ok(found.collect::<rusqlite::Result<_>>()?)
}

/// A walk from an id to older ones along the shortest index that has all that is asked for.
struct Walk<'a> {
    trigger: TriggerId,
    filter: &'a RequestFilter,
    index: &'static str,
    from: [u8; 16],
    before: [u8; 16],
}

impl<'a> Walk<'a> {
    fn new(trigger: TriggerId, filter: &'a RequestFilter, before: Option<RequestId>) -> Self {
        let all = filter.statuses.is_empty() || filter.statuses.contains(&RequestStatus::Triggered);
        let index = match (filter.is_test, all) {
            (Some(true), _) => "INDEXED BY requests_tests WHERE is_test = 1",
            (_, false) => concat!("INDEXED BY requests_refused WHERE ", in_ring!()),
            (_, true) => "INDEXED BY requests_by_trigger WHERE true",
        };
        let before = before.map_or(LAST_ID, |id| *id.as_bytes());
        let to = filter.to.map_or(LAST_ID, |to| *first_id_at(to).as_bytes());
        Self {
            trigger,
            filter,
            index,
            from: filter
                .from
                .map_or([0; 16], |at| *first_id_at(at).as_bytes()),
            before: before.min(to),
        }
    }

    /// Looks at some rows. False at the end.
    fn stretch(
        &mut self,
        reader: &Reader,
        limit: usize,
        found: &mut Vec<RequestRow>,
    ) -> Result<bool, ReadError> {
        reader.restart_clock();
        let mut select = reader.prepare(&format!(
            "SELECT {REQUEST} FROM webhook_requests {}
               AND trigger = ?1 AND id >= ?2 AND id < ?3
             ORDER BY id DESC LIMIT ?4",
            self.index
        ))?;
        let mut rows = select.query(params![
            self.trigger.as_bytes(),
            self.from,
            self.before,
            ROWS_PER_READ
        ])?;
        for _ in 0..ROWS_PER_READ {
            let Some(row) = rows.next()? else {
                return Ok(false);
            };
            self.before = row.get(0)?;
            let row = request_row(row)?;
            let statuses = &self.filter.statuses;
            let is_wanted = (statuses.is_empty() || statuses.contains(&row.status))
                && self.filter.is_test.is_none_or(|test| test == row.is_test);
            if is_wanted {
                found.push(row);
                if found.len() == limit {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}
