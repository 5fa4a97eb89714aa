//! What a `${…}` points at: a root and a path below it.

use std::fmt;

use crate::dead_letter::{OfError, OfLetter};
use crate::json::Segment;

/// The thing a reference begins at.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Root {
    /// `workflow.id`: the workflow's name.
    WorkflowId,
    /// `workflow.context.…`: a named value of the execution. The path is never empty.
    Context,
    /// `input…`: the execution's input.
    Input,
    /// `steps.<id>.output…`: the raw output of a step.
    Step(Box<str>),
    /// `execution.id`
    ExecutionId,
    /// `trigger.type`: how the execution was started.
    TriggerType,
    /// `trigger.scheduled_at`: the planned time, `null` where there is none.
    TriggerScheduledAt,
    /// `trigger.cycle`: which execution of its trigger it is, `null` where that is not counted.
    TriggerCycle,
    /// `step.attempt`: the number of the attempt that calls.
    Attempt,
    /// `callback.url`: where the target that is called says how it went.
    CallbackUrl,
    /// `callback.token`: what that address ends with.
    CallbackToken,
    /// `secret.NAME`, also written `SECRET_NAME`.
    Secret(Box<str>),
    /// `error.…`: of the dead letter whose input is changed.
    Error(OfError),
    /// `letter.…`: the same letter.
    Letter(OfLetter),
}

/// A parsed `${…}`. Its `Display` is the text inside the braces.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Reference {
    /// Where it begins.
    pub root: Root,
    /// The way from there; empty = the whole value.
    pub path: Box<[Segment]>,
}

impl Reference {
    /// The step whose output is meant.
    #[must_use]
    pub fn step(&self) -> Option<&str> {
        match &self.root {
            Root::Step(id) => Some(id),
            _ => None,
        }
    }

    /// The name of the secret that is meant.
    #[must_use]
    pub fn secret(&self) -> Option<&str> {
        match &self.root {
            Root::Secret(name) => Some(name),
            _ => None,
        }
    }

    /// The context key that is meant.
    #[must_use]
    pub fn context_key(&self) -> Option<&str> {
        match (&self.root, self.path.first()) {
            (Root::Context, Some(Segment::Key(key))) => Some(key),
            _ => None,
        }
    }
}

impl fmt::Display for Reference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.root {
            Root::WorkflowId => f.write_str("workflow.id")?,
            Root::Context => f.write_str("workflow.context")?,
            Root::Input => f.write_str("input")?,
            Root::Step(id) => {
                write!(f, "steps{}.output", Segment::Key(id.clone()))?;
            }
            Root::ExecutionId => f.write_str("execution.id")?,
            Root::TriggerType => f.write_str("trigger.type")?,
            Root::TriggerScheduledAt => f.write_str("trigger.scheduled_at")?,
            Root::TriggerCycle => f.write_str("trigger.cycle")?,
            Root::Attempt => f.write_str("step.attempt")?,
            Root::CallbackUrl => f.write_str("callback.url")?,
            Root::CallbackToken => f.write_str("callback.token")?,
            Root::Secret(name) => write!(f, "secret.{name}")?,
            Root::Error(of) => f.write_str(match of {
                OfError::Type => "error.type",
                OfError::Code => "error.code",
                OfError::Message => "error.message",
            })?,
            Root::Letter(of) => f.write_str(match of {
                OfLetter::Id => "letter.id",
                OfLetter::WorkflowId => "letter.workflow_id",
                OfLetter::FailedAt => "letter.failed_at",
            })?,
        }
        self.path.iter().try_for_each(|segment| segment.fmt(f))
    }
}
