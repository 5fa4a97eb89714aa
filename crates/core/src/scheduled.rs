//! Scheduled tasks: a request to call a service at certain times becomes a workflow with one step and a
//! trigger that starts it. There is no second engine: what runs, retries, waits and fails is an execution
//! like any other.
//!
//! | question | file |
//! |---|---|
//! | when | `when` |
//! | what is called, and how often it is tried | `target`, `retry` |
//! | what kinds of tasks there are | [`task_type`] |
//! | the workflow that does it | `definition` |
//! | what became of each attempt | [`record`] |
//!
//! The request as it was sent is kept and is the truth: a change is laid over it, and the workflow and the
//! trigger are made from it anew.

mod definition;
mod patch;
pub mod record;
mod retry;
mod target;
pub mod task_type;
mod when;

use crate::definition::fields::{Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::{Content, Node};
use crate::definition::{Problem, Problems, Workflow, WorkflowId};
use crate::id::ScheduledTaskId;
use crate::json::{Json, ObjectBuilder, Segment};
use crate::time::Timestamp;

pub use patch::patched;
pub use when::ScheduleType;

use target::Target;
use task_type::{Given, TaskType};
use when::When;

/// The longest name of a task, in characters.
pub const NAME_CHARS_MAX: usize = 255;
/// The longest description of a task or of its schedule, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;
/// The step of its workflow.
pub const STEP: &str = "call";

const REQUEST: &[Known] = &[
    Known::new("taskName"),
    Known::new("taskDescription"),
    Known::new("isRecurring"),
    Known::new("scheduleType"),
    Known::new("scheduleConfig"),
    Known::new("startTime"),
    Known::new("endTime"),
    Known::new("taskConfig"),
];

const TASK: &[Known] = &[
    Known::new("taskType"),
    Known::new("targetConfig"),
    Known::new("executorConfig"),
    Known::new("taskPayload"),
    Known::new("retryConfig"),
    Known::new("callbackWindow"),
    Known::new("metadata"),
];

/// A scheduled task, checked.
#[derive(Debug, Clone, PartialEq)]
pub struct ScheduledTask {
    /// Its id.
    pub id: ScheduledTaskId,
    /// What people call it.
    pub name: Option<String>,
    /// What kind of task it is.
    pub task_type: &'static str,
    /// What kind of schedule it has.
    pub schedule_type: ScheduleType,
    /// Whether it comes again and again.
    pub is_recurring: bool,
    /// The text of its workflow.
    pub source: String,
    /// That workflow.
    pub workflow: Workflow,
    /// The settings of its trigger, as they are stored.
    pub trigger: Json,
}

/// Which planned times a request means.
#[derive(Debug, Clone, Copy)]
pub enum Planned<'a> {
    /// Those after this moment. What has none is refused.
    From(Timestamp),
    /// Those that the stored settings of its trigger name already: the request does not change them.
    As(&'a str),
}

impl ScheduledTask {
    /// Reads a request.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn read(id: ScheduledTaskId, source: &str, planned: Planned<'_>) -> Result<Self, Problems> {
        let node = Node::parse(source)?;
        let mut problems = Problems::new();
        let payload = || {
            let path = ["taskConfig", "taskPayload"].map(|key| Segment::Key(key.into()));
            Json::parse(source).ok()?.at(&path)
        };
        let read = read(id, &node, planned, payload, &mut problems);
        match read {
            Some(task) if problems.is_empty() => Ok(task),
            _ => Err(problems.sorted()),
        }
    }

    /// The request as it is kept: as it was sent, if that was JSON.
    ///
    /// # Errors
    /// When it cannot be read.
    pub fn kept(source: &str) -> Result<Json, Problems> {
        Ok(match Json::parse(source) {
            Ok(json) => json,
            Err(_) => Node::parse(source)?.to_json(),
        })
    }

    /// The name of its workflow.
    #[must_use]
    pub fn workflow_id(id: ScheduledTaskId) -> WorkflowId {
        // Letters, digits and a dash: always a name.
        WorkflowId::new(id.to_string()).unwrap_or_else(|_| unreachable!())
    }
}

/// Whether two requests say the same about when.
#[must_use]
pub fn plan_alike(one: &str, other: &str) -> bool {
    let said = |source: &str| -> Option<Vec<Option<Json>>> {
        let node = Node::parse(source).ok()?;
        let Content::Mapping(members) = &node.content else {
            return None;
        };
        let timing = REQUEST
            .iter()
            .filter(|known| !["taskName", "taskDescription", "taskConfig"].contains(&known.name));
        let found = timing.map(|known| {
            let mut members = members.iter();
            let (_, node) = members.find(|(key, _)| known.is(&key.text))?;
            (node.content != Content::Null).then(|| node.to_json())
        });
        Some(found.collect())
    };
    said(one).is_some() && said(one) == said(other)
}

fn read(
    id: ScheduledTaskId,
    node: &Node,
    planned: Planned<'_>,
    raw_payload: impl Fn() -> Option<Json>,
    problems: &mut Problems,
) -> Option<ScheduledTask> {
    let fields = Field::new("", node).fields(REQUEST, problems)?;
    let name = limited(&fields, "taskName", NAME_CHARS_MAX, problems);
    limited(&fields, "taskDescription", DESCRIPTION_CHARS_MAX, problems);
    let when = When::read(&fields, planned, problems);
    let work = fields
        .required("taskConfig", problems)
        .and_then(|field| Work::read(&field, problems));
    let Work {
        task_type,
        target,
        retry,
        window,
        payload,
    } = work?;
    let source = definition::source(id, name.as_deref(), task_type, &target, &retry, window);
    let workflow = definition::parse(id, &source, &target, problems);
    let (when, workflow) = (when?, workflow?);
    let input = raw_payload().unwrap_or_else(|| payload.node.to_json());
    Some(ScheduledTask {
        id,
        name,
        task_type: task_type.name,
        schedule_type: when.schedule_type,
        is_recurring: when.is_recurring,
        source,
        workflow,
        trigger: settings(when, &input),
    })
}

/// The settings of the trigger.
fn settings(when: When, input: &Json) -> Json {
    let mut settings = ObjectBuilder::new();
    for (key, value) in when.settings {
        settings.push(&key, &value);
    }
    settings.push("input", input);
    settings.build()
}

/// What is done.
struct Work<'a> {
    task_type: &'static TaskType,
    target: Target,
    retry: retry::Retry,
    window: definition::Window,
    payload: Field<'a>,
}

impl<'a> Work<'a> {
    fn read(field: &Field<'a>, problems: &mut Problems) -> Option<Self> {
        let fields = field.fields(TASK, problems)?;
        let task_type = fields
            .required("taskType", problems)
            .and_then(|field| field.exact_word(&task_type::words(), problems));
        let payload = fields.required("taskPayload", problems);
        let payload = payload.and_then(|field| object(field, problems));
        let executor = fields.get("executorConfig");
        let executor = executor.and_then(|field| object(field, problems));
        if let Some(metadata) = fields.get("metadata") {
            object(metadata, problems);
        }
        let given = Given {
            payload: payload.as_ref(),
        };
        if let Some(task_type) = task_type {
            (task_type.check)(&given, problems);
        }
        let default = task_type.and_then(|task_type| (task_type.target)(&given));
        let target = Target::read(&fields, executor.as_ref(), default, problems);
        let retry = retry::Retry::read(fields.get("retryConfig").as_ref(), problems);
        let window = definition::Window::read(fields.get("callbackWindow").as_ref(), problems);
        Some(Self {
            task_type: task_type?,
            target: target?,
            retry: retry?,
            window: window?,
            payload: payload?,
        })
    }
}

/// The field, if it is an object.
fn object<'a>(field: Field<'a>, problems: &mut Problems) -> Option<Field<'a>> {
    if matches!(field.node.content, Content::Mapping(_)) {
        return Some(field);
    }
    problems.push(field.problem(format!("expected an object, found {}", field.node.kind())));
    None
}

fn limited(
    fields: &Fields<'_>,
    name: &'static str,
    chars_max: usize,
    problems: &mut Problems,
) -> Option<String> {
    let field = fields.get(name)?;
    let text = field.text(problems)?;
    if text.chars().count() > chars_max {
        problems.push(field.problem(format!("longer than {chars_max} characters")));
    }
    Some(text.to_owned())
}

/// A problem of something that was made from a value, under that value's name and at its place.
fn moved_to(problem: Problem, from: &str, place: &Problem) -> Problem {
    let rest = problem.path.strip_prefix(from).unwrap_or_default();
    Problem {
        path: format!("{}{rest}", place.path),
        line: place.line,
        column: place.column,
        ..problem
    }
}

#[cfg(test)]
mod tests;
