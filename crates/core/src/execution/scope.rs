//! Where template references get their values: the input, the context and the steps' outputs.
//!
//! Secrets are not here: only the call to a target may see them (`refire-engine`, dispatch).

use std::borrow::Cow;
use std::cell::Cell;

use super::event::{Mapped, Trigger};
use super::state::{ContextRef, Execution, StepStatus};
use crate::definition::WorkflowId;
use crate::json::{Json, Segment, locate};
use crate::template::{Reference, Root, Scope};
use crate::time::Timestamp;

const NULL: Cow<'static, str> = Cow::Borrowed("null");

/// Bytes of values that may be searched for one rendering: each reference is found by scanning,
/// so thousands of them into a large value would take seconds, and some are rendered by the one
/// thread that commits.
const SEARCHED_BYTES_MAX: usize = 128 * 1024 * 1024;

/// What a decision may search of the payloads, and what it missed. Good for one decision.
#[derive(Debug)]
pub(super) struct Reading {
    bytes_left: Cell<usize>,
    is_too_heavy: Cell<bool>,
    missing: Cell<Option<u64>>,
}

impl Reading {
    pub(super) fn up_to(bytes: usize) -> Self {
        Self {
            bytes_left: Cell::new(bytes),
            is_too_heavy: Cell::new(false),
            missing: Cell::new(None),
        }
    }

    /// The event whose value was asked for and is not at hand.
    pub(super) fn missing(&self) -> Option<u64> {
        self.missing.get()
    }

    /// Whether more was asked for than may be searched.
    pub(super) fn is_too_heavy(&self) -> bool {
        self.is_too_heavy.get()
    }

    fn take(&self, bytes: usize) -> bool {
        match self.bytes_left.get().checked_sub(bytes) {
            Some(left) => self.bytes_left.set(left),
            None => self.is_too_heavy.set(true),
        }
        !self.is_too_heavy.get()
    }
}

/// The values of an execution. The payloads it refers to must be at hand. Good for one rendering.
#[derive(Debug, Clone)]
pub struct StateScope<'a> {
    state: &'a Execution,
    searched: Cell<usize>,
    reading: Option<&'a Reading>,
}

impl<'a> StateScope<'a> {
    /// The values of this execution.
    #[must_use]
    pub fn new(state: &'a Execution) -> Self {
        Self {
            state,
            searched: Cell::new(0),
            reading: None,
        }
    }

    /// The same for a decision, which may not search everything.
    pub(super) fn reading(state: &'a Execution, reading: &'a Reading) -> Self {
        Self {
            reading: Some(reading),
            ..Self::new(state)
        }
    }

    /// The value that an event keeps; notes that it is not at hand.
    fn value(&self, sequence: u64) -> Option<&'a Json> {
        let value = self.state.payloads.get(sequence);
        if let (None, Some(reading)) = (value, self.reading) {
            reading.missing.set(Some(sequence));
        }
        value
    }

    /// The whole value that an event keeps, for a search that costs so much.
    pub(super) fn whole(&self, sequence: u64, cost: impl Fn(&Json) -> usize) -> Option<&'a Json> {
        let value = self.value(sequence)?;
        self.search(cost(value))?;
        Some(value)
    }

    /// The value at a path; counts what is searched.
    fn at(&self, value: &'a Json, path: &[Segment]) -> Option<Cow<'a, str>> {
        self.search(value.as_str().len())?;
        at(value, path)
    }

    /// Counts what is about to be searched; none if that is too much here.
    fn search(&self, bytes: usize) -> Option<()> {
        self.searched.set(self.searched.get().saturating_add(bytes));
        self.reading
            .is_none_or(|reading| reading.take(bytes))
            .then_some(())
    }

    fn input(&self, path: &[Segment]) -> Option<Cow<'a, str>> {
        let origin = self.state.origin.as_ref()?;
        self.at(self.value(origin.input.sequence)?, path)
    }

    /// A context value: what a step mapped, else the input's field of that name.
    fn context(&self, path: &[Segment]) -> Option<Cow<'a, str>> {
        let (first, rest) = path.split_first()?;
        let Segment::Key(key) = first else {
            return None;
        };
        let Some(ContextRef { sequence, part }) = self.state.context.get(key.as_ref()) else {
            return self.input(path);
        };
        let output = self.value(*sequence)?;
        let bytes = length_of(part);
        if rest.is_empty() {
            // Nothing is searched, but a decision copies it.
            self.reading
                .is_none_or(|reading| reading.take(bytes))
                .then_some(())?;
            return part_of(output, part);
        }
        self.search(bytes)?;
        let value = part_of(output, part)?;
        let range = locate(&value, rest)?;
        Some(match value {
            Cow::Borrowed(text) => Cow::Borrowed(&text[range]),
            Cow::Owned(text) => Cow::Owned(text[range].to_owned()),
        })
    }

    fn output(&self, step: &str, path: &[Segment]) -> Option<Cow<'a, str>> {
        let state = self
            .state
            .steps
            .iter()
            .find(|(id, _)| id.as_ref() == step)?
            .1;
        if state.status == StepStatus::Skipped {
            // A skipped step's output is null, and so is everything below it.
            return Some(NULL);
        }
        self.at(self.value(state.output?.sequence)?, path)
    }
}

impl Scope for StateScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        let origin = self.state.origin.as_ref()?;
        match &reference.root {
            Root::WorkflowId => Some(quoted(origin.workflow.as_ref())),
            Root::Context => self.context(&reference.path),
            Root::Input => self.input(&reference.path),
            Root::Step(step) => self.output(step, &reference.path),
            Root::ExecutionId => Some(quoted(&origin.id.to_string())),
            Root::TriggerType => Some(quoted(origin.trigger.kind.name())),
            Root::TriggerScheduledAt => Some(moment(origin.trigger.scheduled_at)),
            Root::TriggerCycle => Some(number(origin.trigger.cycle)),
            // Only the call itself knows them.
            Root::Attempt | Root::CallbackUrl | Root::CallbackToken | Root::Secret(_) => None,
            // Only the transform of dead letters knows them.
            Root::Error(_) | Root::Letter(_) => None,
        }
    }

    fn is_exhausted(&self) -> bool {
        self.searched.get() > SEARCHED_BYTES_MAX
    }
}

/// The values known before an execution exists.
pub(super) struct InputScope<'a> {
    pub(super) input: &'a Json,
    pub(super) workflow: &'a WorkflowId,
    pub(super) trigger: &'a Trigger,
}

impl Scope for InputScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        match &reference.root {
            Root::WorkflowId => Some(quoted(self.workflow.as_ref())),
            Root::Input | Root::Context => at(self.input, &reference.path),
            Root::TriggerType => Some(quoted(self.trigger.kind.name())),
            Root::TriggerScheduledAt => Some(moment(self.trigger.scheduled_at)),
            Root::TriggerCycle => Some(number(self.trigger.cycle)),
            Root::Step(_)
            | Root::ExecutionId
            | Root::Attempt
            | Root::CallbackUrl
            | Root::CallbackToken
            | Root::Secret(_)
            | Root::Error(_)
            | Root::Letter(_) => None,
        }
    }
}

fn at<'a>(value: &'a Json, path: &[Segment]) -> Option<Cow<'a, str>> {
    let text = value.as_str();
    Some(Cow::Borrowed(&text[locate(text, path)?]))
}

fn part_of<'a>(output: &'a Json, part: &Mapped) -> Option<Cow<'a, str>> {
    let slice = |(start, len): (u32, u32)| {
        let start = start as usize;
        output.as_str().get(start..start.checked_add(len as usize)?)
    };
    match part {
        Mapped::Nothing => Some(NULL),
        Mapped::One(start, len) => slice((*start, *len)).map(Cow::Borrowed),
        Mapped::Many(parts) => {
            let parts: Option<Vec<&str>> = parts.iter().map(|part| slice(*part)).collect();
            Some(Cow::Owned(format!("[{}]", parts?.join(","))))
        }
    }
}

/// How long a part is as text.
fn length_of(part: &Mapped) -> usize {
    match part {
        Mapped::Nothing => NULL.len(),
        Mapped::One(_, len) => *len as usize,
        Mapped::Many(parts) => {
            1 + parts
                .iter()
                .map(|(_, len)| *len as usize + 1)
                .sum::<usize>()
        }
    }
}

fn quoted(text: &str) -> Cow<'static, str> {
    Cow::Owned(Json::string(text).as_str().to_owned())
}

fn moment(at: Option<Timestamp>) -> Cow<'static, str> {
    at.map_or(NULL, |at| quoted(&at.to_string()))
}

fn number(number: Option<u64>) -> Cow<'static, str> {
    number.map_or(NULL, |number| Cow::Owned(number.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{ParseOptions, Workflow};
    use crate::execution::{Start, start};
    use crate::id::ExecutionId;
    use crate::template::{RenderError, Template};

    #[test]
    fn thousands_of_references_into_a_large_value_are_refused_in_time() {
        let source = "id: w\nsteps: [{ id: a, type: http, config: { url: 'https://x.example/' } }]";
        let workflow = Workflow::parse(source, &ParseOptions::default()).unwrap();
        let id = ExecutionId::from_bytes([1; 16]);
        let filler = "x".repeat(1024 * 1024);
        let begin = Start::plain(
            id,
            0,
            Json::parse(format!(r#"{{"filler":"{filler}","z":1}}"#)).unwrap(),
        );
        let state = start(&workflow, begin, Timestamp::from_millis(1)).state;
        let few = Template::parse(&"${input.z}".repeat(100)).unwrap();
        assert!(few.render(&StateScope::new(&state)).is_ok());
        let many = Template::parse(&"${input.z}".repeat(10_000)).unwrap();
        let refused = many.render(&StateScope::new(&state));
        assert_eq!(refused, Err(RenderError::TooCostly));
    }
}
