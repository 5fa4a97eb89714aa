//! What became of a task's executions: a record of each attempt, made from their logs. There is no second
//! table that could say something else.

use refire_core::execution::Event;
use refire_core::id::{ExecutionId, ScheduledTaskId};
use refire_core::scheduled::record::{ExecutionStatus, Record, records};
use refire_store::{CallbackRow, EventFilter, ExecutionFilter, LIMIT_MAX, Stretch};

use super::{ScheduledError, ScheduledTasks};
use crate::commit::CommitFailure;

/// Executions that one page looks at, at most.
const EXECUTIONS_MAX: usize = 2_000;
/// Bytes of answers and results of one page, but for one record.
const PAGE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// Executions that are read together.
const TOGETHER: u32 = 50;

/// Which records are shown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct HistoryFilter {
    /// Of this cycle.
    pub cycle: Option<u64>,
    /// That came to one of these; empty = any.
    pub statuses: Vec<ExecutionStatus>,
    /// Only retries, or only first attempts.
    pub is_retry: Option<bool>,
}

/// A record and the execution that it is of.
#[derive(Debug, Clone, PartialEq)]
pub struct HistoryRecord {
    /// The execution.
    pub execution: ExecutionId,
    /// What became of one of its attempts.
    pub record: Record,
    /// What its target has said beside that, if it called back or may.
    pub callback: Option<CallbackRow>,
}

/// Some records, newest first.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct HistoryPage {
    /// The records.
    pub records: Vec<HistoryRecord>,
    /// After which execution and attempt to go on; none = there are no more.
    pub next: Option<(ExecutionId, u32)>,
}

impl HistoryFilter {
    fn has(&self, record: &Record) -> bool {
        let Record {
            cycle,
            execution_status,
            is_retry,
            ..
        } = record;
        self.cycle.is_none_or(|wanted| *cycle == Some(wanted))
            && (self.statuses.is_empty() || self.statuses.contains(execution_status))
            && self.is_retry.is_none_or(|wanted| wanted == *is_retry)
    }
}

impl ScheduledTasks {
    /// Records of a task, newest first, after this one.
    pub async fn history(
        &self,
        id: ScheduledTaskId,
        filter: &HistoryFilter,
        after: Option<(ExecutionId, u32)>,
        limit: usize,
    ) -> Result<HistoryPage, ScheduledError> {
        let workflow = self.found(id).await?.row.workflow;
        let of_task = ExecutionFilter::of_workflow(workflow);
        let mut page = HistoryPage::default();
        let (mut looked_at, mut bytes) = (0, 0);
        let mut before = None;
        if let Some((execution, attempt)) = after {
            let rest = self.records_of(execution).await?;
            let rest = rest
                .into_iter()
                .filter(|found| found.record.attempt < attempt);
            if page.fill(rest, filter, limit, &mut bytes) {
                return Ok(page);
            }
            before = Some(execution);
        }
        loop {
            let store = &self.context.store;
            let stretch = Stretch::new(before, TOGETHER);
            let found = store.executions(&of_task, &stretch).await?;
            let next = found.next(TOGETHER);
            for execution in found.rows {
                let records = self.records_of(execution.id).await?;
                if page.fill(records, filter, limit, &mut bytes) {
                    return Ok(page);
                }
                looked_at += 1;
                if looked_at >= EXECUTIONS_MAX {
                    page.next = Some((execution.id, 0));
                    return Ok(page);
                }
            }
            before = next;
            if before.is_none() {
                page.next = None;
                return Ok(page);
            }
        }
    }

    /// One record of a task.
    pub async fn record(
        &self,
        id: ScheduledTaskId,
        (execution, attempt): (ExecutionId, u32),
    ) -> Result<HistoryRecord, ScheduledError> {
        let workflow = self.found(id).await?.row.workflow;
        let stored = self.context.store.execution(execution).await?;
        let origin = stored.and_then(|stored| stored.state.origin);
        if origin.is_none_or(|origin| origin.workflow != workflow) {
            return Err(ScheduledError::NoSuchRecord);
        }
        let records = self.records_of(execution).await?;
        let found = records
            .into_iter()
            .find(|found| found.record.attempt == attempt);
        found.ok_or(ScheduledError::NoSuchRecord)
    }

    /// The records of an execution, newest first.
    async fn records_of(
        &self,
        execution: ExecutionId,
    ) -> Result<Vec<HistoryRecord>, ScheduledError> {
        let (store, all) = (&self.context.store, EventFilter::default());
        let mut events: Vec<Event> = Vec::new();
        loop {
            let after = events.last().map_or(0, |event| event.sequence);
            let page = store.history(execution, &all, after, LIMIT_MAX).await?;
            let is_last = page.len() < LIMIT_MAX as usize;
            for row in &page {
                let event = Event::decode(row).map_err(|error| {
                    CommitFailure::Damaged(format!("an event of {execution}: {error}"))
                })?;
                events.push(event);
            }
            if is_last {
                break;
            }
        }
        let mut callbacks = store.callbacks(execution).await?;
        let found = records(&events, self.context.now()).into_iter().rev();
        let found = found.map(|record| {
            let place = callbacks
                .iter()
                .position(|row| row.attempt == record.attempt);
            let callback = place.map(|place| callbacks.swap_remove(place));
            HistoryRecord {
                execution,
                record: with_progress(record, callback.as_ref()),
                callback,
            }
        });
        Ok(found.collect())
    }
}

/// The record with how far the target has said that it is: that changes too often for a log.
fn with_progress(mut record: Record, callback: Option<&CallbackRow>) -> Record {
    if let Some(row) = callback {
        record.progress = row.progress.or(record.progress);
        record.progress_message = row.message.clone().or(record.progress_message);
        record.updated_at = record.updated_at.max(row.updated_at);
    }
    record
}

impl HistoryPage {
    /// Adds what passes; true if the page is full and says where to go on.
    fn fill(
        &mut self,
        records: impl IntoIterator<Item = HistoryRecord>,
        filter: &HistoryFilter,
        limit: usize,
        bytes: &mut usize,
    ) -> bool {
        for found in records {
            if !filter.has(&found.record) {
                continue;
            }
            let extra = found.callback.as_ref().and_then(|row| row.extra.as_ref());
            let size = found.record.bytes() + extra.map_or(0, String::len);
            let is_full = self.records.len() >= limit
                || (!self.records.is_empty() && *bytes + size > PAGE_BYTES_MAX);
            if is_full {
                let last = self.records.last();
                self.next = last.map(|last| (last.execution, last.record.attempt));
                return true;
            }
            *bytes += size;
            self.records.push(found);
        }
        false
    }
}
