//! Which executions a list shows, and what of them is looked at to tell.
//!
//! Most of a filter is decided by an execution's row. What no row knows (what went wrong, the trace) is asked
//! of its state, which takes much longer to read: only where the row leaves it open.

use refire_core::definition::{WorkflowId, is_system};
use refire_core::execution::{Execution, Status, TriggerKind};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use serde::{Deserialize, Serialize};

use super::shown_status;
use crate::ReadError;
use crate::column::{Columns, Cursor, Field};
use crate::request::first_bytes_at;

/// After every id.
const LAST_ID: [u8; 16] = [0xff; 16];

/// Which executions to list.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ExecutionFilter {
    /// Of one of these workflows; empty = all.
    pub workflows: Vec<OfWorkflow>,
    /// With one of these statuses, as shown (`running` = has begun work); empty = all.
    pub statuses: Vec<Status>,
    /// That were retried at least once.
    pub retried: bool,
    /// Started by this trigger.
    pub trigger: Option<TriggerId>,
    /// Started in one of these ways; empty = all.
    pub trigger_kinds: Vec<TriggerKind>,
    /// That came at or after, to the millisecond that their ids name.
    pub from: Option<Timestamp>,
    /// That came before, in the same way.
    pub to: Option<Timestamp>,
    /// Of these ids; none of them = none at all.
    pub ids: Option<Vec<ExecutionId>>,
    /// Of this version of their workflow.
    pub version: Option<u32>,
    /// That failed in one of these ways, or are about to; empty = all. A way that there is not finds nothing.
    pub error_types: Vec<String>,
    /// Whose workflow, or whose error's message or code, contains this text, whatever its case.
    pub text: Option<String>,
    /// Of this trace, as 32 hex digits.
    pub trace: Option<String>,
}

/// A workflow, or several by the beginning of their names.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OfWorkflow {
    /// This one.
    Named(WorkflowId),
    /// Those whose names begin so.
    Beginning(String),
}

impl OfWorkflow {
    /// Whether a workflow is meant.
    #[must_use]
    pub fn is(&self, workflow: &str) -> bool {
        match self {
            Self::Named(name) => name.as_str() == workflow,
            Self::Beginning(text) => !is_system(workflow) && workflow.starts_with(text.as_str()),
        }
    }
}

impl From<WorkflowId> for OfWorkflow {
    fn from(id: WorkflowId) -> Self {
        Self::Named(id)
    }
}

/// What the row of an execution says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    pub(crate) id: ExecutionId,
    pub(crate) workflow: String,
    pub(crate) version: u32,
    /// Absent if it is a word of a newer program.
    pub(crate) kind: Option<TriggerKind>,
    pub(crate) trigger: Option<TriggerId>,
    pub(crate) is_retried: bool,
    /// As shown.
    pub(crate) status: Status,
}

impl Field for Candidate {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        Ok(Self {
            id: cursor.next()?,
            workflow: cursor.next()?,
            version: cursor.next()?,
            kind: TriggerKind::from_name(&cursor.next::<String>()?),
            trigger: cursor.next()?,
            is_retried: cursor.next::<u32>()? > 0,
            status: shown_status(cursor.next()?, cursor.next()?),
        })
    }
}

/// What a row says about whether its execution passes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Verdict {
    Passes,
    Fails,
    /// The state must be asked.
    Open,
}

impl ExecutionFilter {
    /// Executions of one workflow.
    #[must_use]
    pub fn of_workflow(id: WorkflowId) -> Self {
        Self {
            workflows: vec![id.into()],
            ..Self::default()
        }
    }

    /// The first id of the range of time, and the first after it.
    pub(crate) fn range(&self) -> (ExecutionId, ExecutionId) {
        let id = |at: Option<Timestamp>, otherwise| {
            ExecutionId::from_bytes(at.map_or(otherwise, first_bytes_at))
        };
        (id(self.from, [0; 16]), id(self.to, LAST_ID))
    }

    /// What can be said of an execution whose id is in the range.
    pub(crate) fn judge(&self, row: &Candidate) -> Verdict {
        let is_wanted = self.is_of(&row.workflow)
            && (self.statuses.is_empty() || self.statuses.contains(&row.status))
            && (!self.retried || row.is_retried)
            && (self.trigger.is_none() || self.trigger == row.trigger)
            && (self.trigger_kinds.is_empty()
                || row
                    .kind
                    .is_some_and(|kind| self.trigger_kinds.contains(&kind)))
            && self.ids.as_ref().is_none_or(|ids| ids.contains(&row.id))
            && self.version.is_none_or(|version| version == row.version);
        let is_of_error = !self.error_types.is_empty() || !self.is_in_name(&row.workflow);
        match (is_wanted, is_of_error, &self.trace) {
            (false, ..) => Verdict::Fails,
            // Whoever has completed has no error.
            (true, true, None) if row.status == Status::Completed => Verdict::Fails,
            (true, false, None) => Verdict::Passes,
            (true, ..) => Verdict::Open,
        }
    }

    /// Whether an execution that [`ExecutionFilter::judge`] has left open passes.
    pub(crate) fn passes(&self, state: &Execution) -> bool {
        let Some(origin) = &state.origin else {
            return false;
        };
        let failure = state.failure();
        let is_of = |name: &String| failure.is_some_and(|failure| failure.class.name() == name);
        let in_error = |text: &String| {
            failure.is_some_and(|failure| {
                let code = failure.code.as_deref();
                contains(&failure.message, text) || code.is_some_and(|code| contains(code, text))
            })
        };
        (self.error_types.is_empty() || self.error_types.iter().any(is_of))
            && (self.is_in_name(origin.workflow.as_str())
                || self.text.as_ref().is_some_and(in_error))
            && (self.trace.as_ref()).is_none_or(|trace| *trace == origin.trace_id())
    }

    /// Whether executions of a workflow are asked for.
    pub(crate) fn is_of(&self, workflow: &str) -> bool {
        match self.workflows.is_empty() {
            // What the server runs for itself is only found by its name.
            true => !is_system(workflow),
            false => self.workflows.iter().any(|it| it.is(workflow)),
        }
    }

    /// Whether the text that is looked for is in a workflow's name, or there is none.
    fn is_in_name(&self, workflow: &str) -> bool {
        (self.text.as_ref()).is_none_or(|text| contains(workflow, text))
    }
}

fn contains(words: &str, text: &str) -> bool {
    words.to_lowercase().contains(&text.to_lowercase())
}
