//! Checksums of rows. Databases guard their logs with them, but not always their pages: a bit that
//! turned over on the disk would be read as if it had been written so.
//!
//! What is believed for long has one: events, definitions, the settings of triggers, and the snapshots
//! that stand for events. A row whose checksum does not fit is never used; whoever reads it is told.

use crc32fast::Hasher;
use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{ExecutionId, TriggerId};

/// What does not fit.
#[derive(Debug, thiserror::Error)]
#[error("its checksum does not match: the row was damaged on the disk, or changed from outside")]
pub(crate) struct Mismatch;

/// Whether a row is what it was when it was written.
pub(crate) fn verify(stored: u32, computed: u32) -> Result<(), Mismatch> {
    if stored == computed {
        Ok(())
    } else {
        Err(Mismatch)
    }
}

/// The checksum of an event, place and all.
pub(crate) fn event(execution: ExecutionId, event: &EventRow) -> u32 {
    let mut sum = Sum::default();
    sum.bytes(execution.as_bytes());
    sum.number(event.sequence);
    sum.bytes(event.name.as_bytes());
    sum.number(event.v.into());
    sum.bytes(&event.at.as_micros().to_le_bytes());
    sum.maybe_bytes(event.step.as_deref().map(str::as_bytes));
    sum.maybe_number(event.attempt.map(u64::from));
    sum.maybe_number(event.backoff_ms);
    sum.maybe_bytes(event.reason.as_deref().map(str::as_bytes));
    sum.bytes(&event.payload);
    sum.end()
}

/// The checksum of a snapshot that stands for so many events.
pub(crate) fn snapshot(execution: ExecutionId, version: u64, snapshot: &[u8]) -> u32 {
    let mut sum = Sum::default();
    sum.bytes(execution.as_bytes());
    sum.number(version);
    sum.bytes(snapshot);
    sum.end()
}

/// The checksum of a definition.
pub(crate) fn definition(workflow: &WorkflowId, version: u32, source: &str) -> u32 {
    let mut sum = Sum::default();
    sum.bytes(workflow.as_str().as_bytes());
    sum.number(version.into());
    sum.bytes(source.as_bytes());
    sum.end()
}

/// The checksum of a trigger's settings.
pub(crate) fn settings(trigger: TriggerId, settings: &[u8]) -> u32 {
    let mut sum = Sum::default();
    sum.bytes(trigger.as_bytes());
    sum.bytes(settings);
    sum.end()
}

/// Sums up values, each with its length, so that no two rows look the same.
#[derive(Default)]
struct Sum(Hasher);

impl Sum {
    fn number(&mut self, number: u64) {
        self.0.update(&number.to_le_bytes());
    }

    fn maybe_number(&mut self, number: Option<u64>) {
        self.0.update(&[u8::from(number.is_some())]);
        self.number(number.unwrap_or_default());
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.0.update(bytes);
    }

    fn maybe_bytes(&mut self, bytes: Option<&[u8]>) {
        self.0.update(&[u8::from(bytes.is_some())]);
        self.bytes(bytes.unwrap_or_default());
    }

    fn end(self) -> u32 {
        self.0.finalize()
    }
}

#[cfg(test)]
mod tests {
    use std::borrow::Cow;

    use refire_core::time::Timestamp;

    use super::*;

    fn row() -> EventRow {
        EventRow {
            sequence: 3,
            name: Cow::Borrowed("STEP_FAILED"),
            v: 1,
            at: Timestamp::from_millis(1_800_000_000_000),
            step: Some("call".to_owned()),
            attempt: Some(1),
            backoff_ms: None,
            reason: Some("no answer".to_owned()),
            payload: b"{}".to_vec(),
        }
    }

    #[test]
    fn every_column_of_an_event_counts() {
        let id = ExecutionId::from_bytes([1; 16]);
        let changes: [fn(&mut EventRow); 11] = [
            |row| row.sequence = 2,
            |row| row.name = Cow::Borrowed("STEP_FAILEE"),
            |row| row.v = 2,
            |row| row.at = Timestamp::from_millis(1_800_000_000_001),
            |row| row.step = Some("cal".to_owned()),
            |row| row.step = None,
            |row| row.attempt = Some(2),
            |row| row.backoff_ms = Some(0),
            |row| row.reason = None,
            |row| row.payload = b"[]".to_vec(),
            // The same bytes, cut elsewhere.
            |row| {
                row.reason = Some("no answer{".to_owned());
                row.payload = b"}".to_vec();
            },
        ];
        for (number, change) in changes.iter().enumerate() {
            let mut changed = row();
            change(&mut changed);
            assert_ne!(event(id, &changed), event(id, &row()), "change {number}");
        }
        assert_ne!(
            event(id, &row()),
            event(ExecutionId::from_bytes([2; 16]), &row())
        );
    }

    #[test]
    fn a_snapshot_belongs_to_its_execution_and_version() {
        let id = ExecutionId::from_bytes([1; 16]);
        let sum = snapshot(id, 3, b"{}");
        assert_ne!(sum, snapshot(id, 4, b"{}"));
        assert_ne!(sum, snapshot(ExecutionId::from_bytes([2; 16]), 3, b"{}"));
        assert_ne!(sum, snapshot(id, 3, b"{ "));
        assert!(verify(sum, sum).is_ok() && verify(sum, sum ^ 1).is_err());
    }
}
