//! Requests to webhooks: beside the execution that they started, or in their trigger's ring.

use refire_core::id::TriggerId;
use rusqlite::{Result, params};

use super::Pen;
use crate::request::{Cut, Ring};
use crate::sqlite::columns::{count, signed};
use crate::table::rows::Requests;
use crate::table::statement::statements;
use crate::words::in_ring;
use crate::{PartOutcome, RequestRow};

/// A trigger's ring, from the newest request to the oldest.
pub(in crate::sqlite) const RING: &str = concat!(
    "SELECT id, size FROM webhook_requests INDEXED BY requests_refused WHERE trigger = ?1 AND ",
    in_ring!(),
    " ORDER BY id DESC"
);

statements! {
    PUT: sqlite(request: Requests) = concat!(
        "INSERT INTO webhook_requests ({request.names}) VALUES ({request.values})
     ON CONFLICT (id) DO UPDATE SET {request.replaced!id} WHERE ",
        in_ring!()
    );
}

impl Pen<'_> {
    pub(super) fn log_requests(&mut self, requests: &[RequestRow]) -> Result<PartOutcome> {
        for request in requests {
            self.put_request(request)?;
        }
        for (trigger, (rows, bytes)) in Ring::added(requests) {
            self.lengthen_ring(trigger, rows, bytes)?;
        }
        Ok(PartOutcome::Done)
    }

    /// Writes a request over one with the same id, unless that one has started something.
    pub(super) fn put_request(&mut self, request: &RequestRow) -> Result<()> {
        self.write(&PUT, |to| Requests::bind(to, 1, request))
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
