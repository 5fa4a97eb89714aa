//! Requests to webhooks: beside the execution that they started, or in their trigger's ring.

use std::sync::Arc;

use refire_core::id::{RequestId, TriggerId};

use super::Pen;
use crate::model::change::Change;
use crate::model::image::RingLength;
use crate::request::{Cut, Ring};
use crate::{PartOutcome, RequestRow};

impl Pen<'_> {
    pub(super) fn log_requests(&mut self, requests: &[RequestRow]) -> PartOutcome {
        for request in requests {
            self.put_request(request);
        }
        for (trigger, (rows, bytes)) in Ring::added(requests) {
            let known = self.image.rings.get(&trigger);
            let mut length = known.map_or_else(RingLength::default, |it| **it);
            length.rows += rows;
            length.bytes += bytes;
            if Ring::is_too_long(length.rows, length.bytes) {
                length = self.cut_ring(trigger);
            }
            self.change(Change::Ring(trigger, Some(Arc::new(length))));
        }
        PartOutcome::Done
    }

    /// Writes a request over one with the same id, unless that one has started something.
    pub(super) fn put_request(&mut self, request: &RequestRow) {
        let standing = self.image.requests.get(&request.id);
        if standing.is_some_and(|standing| !standing.is_in_ring()) {
            return;
        }
        self.change(Change::Request(request.id, Some(Arc::new(request.clone()))));
    }

    fn cut_ring(&mut self, trigger: TriggerId) -> RingLength {
        let rows = self.image.requests.values().rev();
        let mut ring = rows.filter(|row| row.trigger == trigger && row.is_in_ring());
        let mut cut = Cut::default();
        let first_gone = ring.find(|row| !cut.keeps(row.size())).map(|row| row.id);
        let older = ring.map(|row| row.id);
        let gone: Vec<RequestId> = first_gone.into_iter().chain(older).collect();
        for id in gone {
            self.change(Change::Request(id, None));
        }
        RingLength {
            rows: cut.rows,
            bytes: cut.bytes,
        }
    }
}
