//! Start: the first events of an execution. Decided before the commit queue, since there is no
//! earlier state to agree with.

use super::draft::{Draft, Header};
use super::{Decision, RULES, advance, map_output};
use crate::definition::{RetrySettings, StepId, Workflow};
use crate::execution::event::{EventKind, ExecutionStarted, Lineage, StepCompleted, Trigger};
use crate::execution::scope::InputScope;
use crate::execution::state::Execution;
use crate::id::ExecutionId;
use crate::json::Json;
use crate::limit;
use crate::template::Template;
use crate::time::Timestamp;
use crate::trace::Trace;

/// What an execution is started with.
#[derive(Debug, Clone, PartialEq)]
pub struct Start {
    /// Its id.
    pub id: ExecutionId,
    /// The rules it is decided by; new ones get [`RULES`].
    pub rules: u16,
    /// The version of the definition it keeps.
    pub workflow_version: u32,
    /// The seed of all jitter.
    pub seed: u64,
    /// The input, byte for byte.
    pub input: Json,
    /// What started it.
    pub trigger: Trigger,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Where it comes from.
    pub lineage: Lineage,
    /// Whether failures are retried.
    pub automatic_retries: bool,
    /// The trigger's own retry settings.
    pub retry: Option<RetrySettings>,
    /// Do not begin before.
    pub delay_until: Option<Timestamp>,
    /// The caller's idempotency key.
    pub idempotency_key: Option<String>,
    /// The caller's trace.
    pub trace: Option<Trace>,
    /// Results taken over from an earlier execution.
    pub carried: Vec<Carried>,
}

impl Start {
    /// A start by hand with nothing special about it: the first version, no delay, no key.
    #[must_use]
    pub fn plain(id: ExecutionId, seed: u64, input: Json) -> Self {
        Self {
            id,
            rules: RULES,
            workflow_version: 1,
            seed,
            input,
            trigger: Trigger::manual(None),
            priority: limit::PRIORITY_DEFAULT,
            lineage: Lineage::first(id),
            automatic_retries: true,
            retry: None,
            delay_until: None,
            idempotency_key: None,
            trace: None,
            carried: Vec::new(),
        }
    }
}

/// A completed step's result, taken over so that it does not run again.
#[derive(Debug, Clone, PartialEq)]
pub struct Carried {
    /// The step.
    pub step: StepId,
    /// Its output.
    pub output: Json,
    /// The execution that ran it.
    pub from: ExecutionId,
}

/// The first decision of an execution.
#[must_use]
pub fn start(workflow: &Workflow, start: Start, now: Timestamp) -> Decision {
    let limit_key = key_of(workflow.concurrency.key.as_ref(), workflow, &start);
    let rate = workflow
        .rate_limit
        .as_ref()
        .and_then(|limit| limit.key.as_ref());
    let rate_key = key_of(rate, workflow, &start);
    let mut draft = Draft::new(workflow, Execution::empty(), now, usize::MAX);
    let carried = start.carried;
    draft.emit(
        Header::default(),
        EventKind::ExecutionStarted(Box::new(ExecutionStarted {
            id: start.id,
            workflow: workflow.id.clone(),
            workflow_version: start.workflow_version,
            rules: start.rules,
            seed: start.seed,
            input: start.input,
            trigger: start.trigger,
            priority: start.priority,
            lineage: start.lineage,
            automatic_retries: start.automatic_retries,
            retry: start.retry,
            delay_until: start.delay_until,
            idempotency_key: start.idempotency_key,
            limit_key,
            rate_key,
            trace: start.trace,
        })),
    );
    for result in carried {
        // Another version of the definition may have made it the step that undoes another: taken
        // over, it would count as done, and nothing would be undone.
        let found = workflow.step(result.step.as_ref());
        let Some((_, step)) = found.filter(|(_, step)| !step.is_compensation) else {
            continue;
        };
        // A result that is done stays done. Under the rules that it may have come from, a path that
        // could not be evaluated mapped to null, and what followed has seen that.
        let mapped = map_output(step, &result.output, start.rules).unwrap_or_else(|_| {
            let first_rules = map_output(step, &result.output, 1);
            first_rules.unwrap_or_default()
        });
        draft.emit(
            Header {
                step: Some(result.step),
                ..Header::default()
            },
            EventKind::StepCompleted(StepCompleted {
                output: Some(result.output),
                answer: None,
                mapped,
                duration_ms: None,
                carried_from: Some(result.from),
            }),
        );
    }
    advance::settle(&mut draft);
    draft.into_first_decision()
}

/// The value that a limit's key gives for this input. An input that does not have it runs
/// without a limit per key.
fn key_of(key: Option<&Template>, workflow: &Workflow, start: &Start) -> Option<String> {
    let scope = InputScope {
        input: &start.input,
        workflow: &workflow.id,
        trigger: &start.trigger,
    };
    let value = key?.render(&scope).ok()?;
    match value.as_text() {
        Some(text) => Some(text.into_owned()),
        None => Some(value.as_str().to_owned()),
    }
}
