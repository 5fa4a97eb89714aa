//! What happened to workflows minute by minute, as it is kept: numbers that are added to.

use std::time::Duration;

use refire_core::alert::WindowSum;
use refire_core::definition::WorkflowId;
use refire_core::minute::{Minute, OfWorkflow};
use refire_core::time::Timestamp;

use crate::ReadError;
use crate::column::{Columns, Cursor, Field, read_from};
use crate::layer::store_trait;

/// Minutes of workflows that are read together, at most.
pub const MINUTES_READ_MAX: u32 = 100_000;

/// Which minutes.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct MinuteFilter {
    /// Of this workflow.
    pub workflow: Option<WorkflowId>,
    /// That began then or later.
    pub from: Timestamp,
    /// That began before then.
    pub to: Timestamp,
}

impl MinuteFilter {
    /// Whether a minute is among those.
    #[cfg(feature = "model")]
    pub(crate) fn passes(&self, one: &OfWorkflow) -> bool {
        self.from <= one.at
            && one.at < self.to
            && self.workflow.iter().all(|asked| *asked == one.workflow)
    }
}

store_trait! {
    /// What happened to workflows, in numbers.
    pub trait Minutes {
        /// Minutes of workflows, the newest first.
        async fn minutes(
            &self,
            filter: &MinuteFilter,
            limit: u32,
        ) -> Result<Vec<OfWorkflow>, ReadError>;

        /// The same added up, for each stretch of that length that has some, the oldest first. Stretches
        /// begin at its multiples.
        async fn minute_points(
            &self,
            filter: &MinuteFilter,
            step: Duration,
        ) -> Result<Vec<MinutePoint>, ReadError>;

        /// The same added up for each workflow, in the order of their names.
        async fn minute_sums(&self, filter: &MinuteFilter) -> Result<Vec<WindowSum>, ReadError>;
    }
}

/// The numbers of a stretch of time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MinutePoint {
    /// When it began.
    pub at: Timestamp,
    /// The numbers.
    pub sum: Minute,
}

read_from! {
    Minute {
        started: "started",
        completed: "completed",
        failed: "failed",
        dead_lettered: "dead_lettered",
        cancelled: "cancelled",
        retries: "retries",
        recovered: "recovered",
        given_up: "given_up",
        fired: "fired",
        missed: "missed",
        duration_ms: "duration_ms",
        duration_max_ms: "duration_max_ms"
    }
}

impl Field for OfWorkflow {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (workflow, at, minute) = cursor.next()?;
        Ok(Self {
            workflow,
            at,
            minute,
        })
    }
}

impl Field for MinutePoint {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (at, sum) = cursor.next()?;
        Ok(Self { at, sum })
    }
}

impl Field for WindowSum {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (workflow, sum) = cursor.next()?;
        let (failed_at, completed_at) = cursor.next()?;
        Ok(Self {
            workflow,
            sum,
            failed_at,
            completed_at,
        })
    }
}

/// How what is there becomes the sum, column by column.
pub(crate) fn added(greatest: &str) -> String {
    let set = |name: &str| match name {
        "duration_max_ms" => {
            format!("{name} = {greatest}(workflow_minutes.{name}, excluded.{name})")
        }
        name => format!("{name} = workflow_minutes.{name} + excluded.{name}"),
    };
    let columns = <Minute as crate::column::Named>::COLUMNS.split(", ");
    columns.map(set).collect::<Vec<_>>().join(", ")
}
