//! Requests to webhooks: beside the execution that they started, or in their trigger's ring.

use std::collections::BTreeMap;

use refire_core::id::{ExecutionId, TriggerId};
use rusqlite::{Result, params};

use super::Pen;
use crate::request::{Cut, Ring};
use crate::sqlite::columns::{count, signed};
use crate::words::in_ring;
use crate::{PartOutcome, RequestRow};

/// A trigger's ring, from the newest request to the oldest.
pub(in crate::sqlite) const RING: &str = concat!(
    "SELECT id, size FROM webhook_requests INDEXED BY requests_refused WHERE trigger = ?1 AND ",
    in_ring!(),
    " ORDER BY id DESC"
);

const PUT: &str = concat!(
    "INSERT INTO webhook_requests (id, trigger, at, status, source, headers, body,
         body_bytes, execution, error, is_test, size)
     VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
     ON CONFLICT (id) DO UPDATE SET trigger = excluded.trigger, at = excluded.at,
         status = excluded.status, source = excluded.source, headers = excluded.headers,
         body = excluded.body, body_bytes = excluded.body_bytes,
         execution = excluded.execution, error = excluded.error,
         is_test = excluded.is_test, size = excluded.size
      WHERE ",
    in_ring!()
);

impl Pen<'_> {
    pub(super) fn log_requests(&mut self, requests: &[RequestRow]) -> Result<PartOutcome> {
        let mut added: BTreeMap<TriggerId, (u64, u64)> = BTreeMap::new();
        for request in requests {
            self.put_request(request)?;
            if request.is_in_ring() {
                let (rows, bytes) = added.entry(request.trigger).or_default();
                *rows += 1;
                *bytes += request.size();
            }
        }
        for (trigger, (rows, bytes)) in added {
            self.lengthen_ring(trigger, rows, bytes)?;
        }
        Ok(PartOutcome::Done)
    }

    /// Writes a request over one with the same id, unless that one has started something.
    pub(super) fn put_request(&mut self, request: &RequestRow) -> Result<()> {
        self.hold(PUT)?
            .execute(params![
                request.id.as_bytes(),
                request.trigger.as_bytes(),
                request.at.as_micros(),
                request.status.name(),
                request.source,
                request.headers,
                request.body,
                signed(request.body_bytes),
                request.execution.as_ref().map(ExecutionId::as_bytes),
                request.error,
                request.is_test,
                signed(request.size()),
            ])
            .map(drop)
    }

    /// Counts what a ring has got, and cuts it when it is too long.
    fn lengthen_ring(&self, trigger: TriggerId, rows: u64, bytes: u64) -> Result<()> {
        let (rows, bytes) = self
            .prepare(
                "INSERT INTO request_rings (trigger, n, bytes) VALUES (?1, ?2, ?3)
                 ON CONFLICT (trigger) DO UPDATE SET n = n + excluded.n,
                     bytes = bytes + excluded.bytes
                 RETURNING n, bytes",
            )?
            .query_row(
                params![trigger.as_bytes(), signed(rows), signed(bytes)],
                |row| Ok((count(row, 0)?, count(row, 1)?)),
            )?;
        if Ring::is_too_long(rows, bytes) {
            self.cut_ring(trigger)?;
        }
        Ok(())
    }

    fn cut_ring(&self, trigger: TriggerId) -> Result<()> {
        let mut cut = Cut::default();
        let mut last: Option<[u8; 16]> = None;
        let mut select = self.prepare(RING)?;
        let mut rows = select.query([trigger.as_bytes()])?;
        while let Some(row) = rows.next()? {
            if !cut.keeps(count(row, 1)?) {
                last = Some(row.get(0)?);
                break;
            }
        }
        drop(rows);
        if let Some(last) = last {
            self.prepare(concat!(
                "DELETE FROM webhook_requests INDEXED BY requests_refused
                 WHERE trigger = ?1 AND id <= ?2 AND ",
                in_ring!()
            ))?
            .execute(params![trigger.as_bytes(), last])?;
        }
        self.prepare("UPDATE request_rings SET n = ?2, bytes = ?3 WHERE trigger = ?1")?
            .execute(params![
                trigger.as_bytes(),
                signed(cut.rows),
                signed(cut.bytes)
            ])
            .map(drop)
    }
}
