//! Executions as the API shows them: the log's state, what the work rows say about it, and the
//! values that the state only refers to.

use std::collections::HashMap;

use refire_client::model::{Execution, ExecutionStatus, Parked, Raw, RetryContext, StartedBy};
use refire_core::definition::{StepId, Workflow};
use refire_core::execution::state::Origin;
use refire_core::execution::{self, OutputRef, Status, StepState, StepStatus};
use refire_core::json::{Json, ObjectBuilder};
use refire_core::time::Timestamp;
use refire_engine::Engine;
use refire_store::{Stored, Summary};

use super::{error, raw, step};
use crate::api::Problem;

/// Foreign values by the number of the event that keeps them.
pub(super) type Values = HashMap<u64, Json>;

/// An execution with everything.
pub(crate) async fn full(engine: &Engine, stored: &Stored) -> Result<Execution, Problem> {
    let state = &stored.state;
    let origin = origin(state)?;
    let workflow = engine.catalog().of(origin).await.ok();
    let mut wanted = state.referenced();
    if let Some(OutputRef::Value(value)) = &state.output {
        wanted.push(value.sequence);
    }
    let values: Values = engine
        .store()
        .values(stored.id, &wanted)
        .await?
        .into_iter()
        .collect();
    let now = (stored.status(), stored.running_since());
    let mut shown = head(state, now, workflow.as_deref())?;
    shown.parked = parked(engine, state, workflow.as_deref(), |step| {
        let mut rows = stored.work.iter();
        rows.any(|row| row.begun && row.step == step)
    });
    shown.input = values.get(&origin.input.sequence).map(raw).transpose()?;
    shown.output = output(state, &values)?;
    let awaits = state.steps.values().any(|step| step.awaited.is_some());
    let callbacks = match awaits {
        true => engine.callbacks().of(stored.id).await?,
        false => Vec::new(),
    };
    shown.steps = step::steps(stored, workflow.as_deref(), (&values, &callbacks))?;
    Ok(shown)
}

/// An execution in a list: without input, output and steps.
pub(crate) async fn listed(engine: &Engine, summary: &Summary) -> Result<Execution, Problem> {
    let origin = origin(&summary.state)?;
    let workflow = engine.catalog().of(origin).await.ok();
    let now = (summary.status(), summary.running_since);
    let mut shown = head(&summary.state, now, workflow.as_deref())?;
    let runs = summary.running_since.is_some();
    shown.parked = parked(engine, &summary.state, workflow.as_deref(), |_| runs);
    Ok(shown)
}

/// What an execution waits for, if that is a target which is left alone.
fn parked(
    engine: &Engine,
    state: &execution::Execution,
    workflow: Option<&Workflow>,
    runs: impl Fn(&str) -> bool,
) -> Option<Parked> {
    let parked = engine.targets().parked(state, workflow?, runs)?;
    Some(Parked {
        host: parked.host,
        until: parked.until.map(|until| until.to_string()),
    })
}

/// What the first event fixed; every stored execution has one.
pub(super) fn origin(state: &execution::Execution) -> Result<&Origin, Problem> {
    state
        .origin
        .as_ref()
        .ok_or_else(|| Problem::internal("an execution without a first event"))
}

/// Retries that the step that failed last may have, or any step if none has failed.
pub(super) fn max_retries(state: &execution::Execution, workflow: Option<&Workflow>) -> u32 {
    let (Some(workflow), Some(origin)) = (workflow, &state.origin) else {
        return 0;
    };
    let failed = state.last_failed_step();
    let is_compensation = failed.is_some_and(|(_, step)| step.undoes.is_some());
    if !origin.automatic_retries && !is_compensation {
        return 0;
    }
    let index = failed
        .and_then(|(id, _)| Some(workflow.step(id.as_str())?.0))
        .unwrap_or(0);
    workflow
        .retry_for(index, origin.retry.as_ref())
        .policy
        .max_retries
}

/// When the next attempt of the step that failed last is due, if it waits for one.
pub(super) fn next_retry_at(state: &execution::Execution, status: Status) -> Option<String> {
    let (_, step) = state.last_failed_step()?;
    let waits = step.status == StepStatus::Retrying && status != Status::Running;
    step.due_at.filter(|_| waits).map(|due| due.to_string())
}

/// Whether a cancel came before the step's last attempt began: that one was never made.
pub(super) fn is_dropped(step: &StepState) -> bool {
    step.status == StepStatus::Cancelled && !step.is_begun
}

/// The status, and since when it runs, are what the work rows say: the log learns them when an attempt ends.
fn head(
    state: &execution::Execution,
    (status, running_since): (Status, Option<Timestamp>),
    workflow: Option<&Workflow>,
) -> Result<Execution, Problem> {
    let origin = origin(state)?;
    let failed = state.last_failed_step();
    let duration = state
        .completed_at
        .zip(state.started_at)
        .and_then(|(ended, began)| u64::try_from(ended.since(began).as_millis()).ok());
    let is_compensating = state.compensating.is_some() && !state.status.is_terminal();
    Ok(Execution {
        execution_id: origin.id.to_string(),
        workflow_id: origin.workflow.to_string(),
        workflow_version: origin.workflow_version,
        status: ExecutionStatus::from_name(status.name()),
        phase: is_compensating.then(|| "compensating".to_owned()),
        input: None,
        output: None,
        error: state.failure().map(error),
        retry_count: failed.map_or(0, |(_, step)| {
            step.retries().saturating_sub(u32::from(is_dropped(step)))
        }),
        max_retries: max_retries(state, workflow),
        next_retry_at: next_retry_at(state, status),
        retry_context: failed.map(|(_, step)| match is_dropped(step) {
            false => RetryContext {
                current_attempt: step.attempt,
                last_backoff_ms: step.backoff_ms,
            },
            true => RetryContext {
                current_attempt: step.attempt.saturating_sub(1),
                last_backoff_ms: None,
            },
        }),
        trigger_type: StartedBy::from_name(origin.trigger.kind.name()),
        trigger_id: origin.trigger.id.clone(),
        scheduled_at: origin.trigger.scheduled_at.map(|at| at.to_string()),
        triggered_by: origin.trigger.by.clone(),
        idempotency_key: origin.idempotency_key.clone(),
        trace_id: Some(origin.trace_id()),
        priority: origin.priority,
        delay_until: origin.delay_until.map(|at| at.to_string()),
        dlq_entry_id: state.dlq_id.map(|id| id.to_string()),
        parent_dlq_entry_id: origin.lineage.letter.map(|id| id.to_string()),
        parent_execution_id: origin.lineage.parent.map(|id| id.to_string()),
        created_at: origin.created_at.to_string(),
        started_at: state.started_at.or(running_since).map(|at| at.to_string()),
        completed_at: state.completed_at.map(|at| at.to_string()),
        duration_ms: duration,
        parked: None,
        steps: Vec::new(),
    })
}

/// The output of an execution, with as little reading as possible; none if it has none.
pub(crate) async fn output_of(engine: &Engine, summary: &Summary) -> Result<Option<Raw>, Problem> {
    let state = &summary.state;
    let of_step = |id: &StepId| Some(state.step(id)?.output?.sequence);
    let wanted: Vec<u64> = match &state.output {
        None => return Ok(None),
        Some(OutputRef::Value(value)) => vec![value.sequence],
        Some(OutputRef::Step(id)) => of_step(id).into_iter().collect(),
        Some(OutputRef::Steps(ids)) => ids.iter().filter_map(of_step).collect(),
    };
    let values = engine.store().values(summary.id, &wanted).await?;
    output(state, &values.into_iter().collect())
}

/// What went wrong with an execution, as shown.
pub(crate) fn error_of(summary: &Summary) -> Option<String> {
    summary
        .state
        .failure()
        .map(|failure| failure.message.clone())
}

fn output(state: &execution::Execution, values: &Values) -> Result<Option<Raw>, Problem> {
    let of_step = |id: &StepId| {
        let sequence = state.step(id)?.output?.sequence;
        values.get(&sequence).cloned()
    };
    let output = match &state.output {
        None => return Ok(None),
        Some(OutputRef::Value(value)) => values.get(&value.sequence).cloned(),
        // A step that was skipped has the output null.
        Some(OutputRef::Step(id)) => Some(of_step(id).unwrap_or_else(Json::null)),
        Some(OutputRef::Steps(ids)) => {
            let mut object = ObjectBuilder::new();
            for id in ids {
                object.push(id.as_str(), &of_step(id).unwrap_or_else(Json::null));
            }
            Some(object.build())
        }
    };
    output.as_ref().map(raw).transpose()
}
