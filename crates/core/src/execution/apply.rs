//! The fold: one event onto one state. It never fails and never looks at a definition.
//!
//! Whether an event may happen is decided in `decide/`; here it has happened. An event that makes
//! no sense on a state (a damaged or foreign log) changes only what it can.

use super::event::{
    CallAnswered, CompensationCompleted, CompensationFailed, CompensationStarted, Event, EventKind,
    ExecutionCompleted, ExecutionStarted, ExternalTaskCreated, SkipReason, StepCompleted,
    StepFailed, StepStarted,
};
use super::state::{
    Awaited, Compensating, ContextRef, Execution, Failing, Origin, OutputRef, PayloadRef, Status,
    StepState, StepStatus,
};
use crate::callback::CallbackStatus;
use crate::definition::StepId;
use crate::failure::Failure;
use crate::time::Timestamp;

/// The state after `event`.
#[must_use]
pub fn apply(mut state: Execution, event: &Event) -> Execution {
    apply_to(&mut state, event);
    state
}

/// The state of a whole log.
#[must_use]
pub fn fold<'a>(events: impl IntoIterator<Item = &'a Event>) -> Execution {
    let mut state = Execution::empty();
    for event in events {
        apply_to(&mut state, event);
    }
    state
}

/// Changes `state` by `event`.
pub fn apply_to(state: &mut Execution, event: &Event) {
    state.version = event.sequence;
    state.updated_at = event.at;
    if let Some(value) = event.value() {
        grow(state, value.as_str().len());
        state.payloads.insert(event.sequence, value.clone());
    }
    match &event.kind {
        EventKind::ExecutionStarted(started) => start(state, event, started),
        EventKind::StepScheduled(scheduled) => schedule(state, event, scheduled.due_at),
        EventKind::RetryScheduled(retry) => schedule(state, event, Some(retry.due_at)),
        EventKind::StepStarted(started) => {
            begin(state, event, started.started_at);
            wait(state, event, started);
        }
        EventKind::CallbackReceived(received) => {
            let awaited = step_of(state, event).and_then(|step| step.awaited.as_mut());
            awaited
                .into_iter()
                .for_each(|awaited| awaited.status = received.status);
        }
        EventKind::CallAnswered(answered) => answer(state, event, answered),
        EventKind::TimerFired(fired) if fired.early => hasten(state, event),
        EventKind::TimerFired(_)
        | EventKind::ExternalTaskLocked(_)
        | EventKind::ExternalTaskReleased(_)
        | EventKind::Unknown(_) => {}
        EventKind::ExternalTaskCreated(created) => offer(state, event, created),
        EventKind::StepCompleted(completed) => complete(state, event, completed),
        EventKind::StepFailed(failed) => fail(state, event, failed),
        EventKind::StepLost(lost) => {
            if let Some(step) = step_of(state, event) {
                step.losses = step.losses.saturating_add(u32::from(lost.begun));
            }
        }
        EventKind::StepSkipped(skipped) => {
            let status = match skipped.because {
                SkipReason::When => StepStatus::Skipped,
                SkipReason::Failing => StepStatus::Cancelled,
            };
            end_step(state, event, status);
        }
        EventKind::CompensationStarted(started) => compensate(state, event, started),
        EventKind::CompensationCompleted(completed) => undo(state, event, completed),
        EventKind::CompensationFailed(failed) => fail_to_undo(state, event, failed),
        EventKind::ExecutionPaused(_) => {
            state.keep_last_pause();
            state.paused_at = Some(event.at);
        }
        EventKind::ExecutionResumed(_) => {
            state.paused_ms = state.paused_ms_until(event.at);
            state.paused_at = None;
            state.resumed_at = Some(event.at);
        }
        EventKind::DeadLettered(letter) => {
            state.dlq_id = Some(letter.dlq_id);
            state.dlq_reason = Some(letter.reason);
        }
        EventKind::ExecutionCompleted(completed) => finish(state, event, completed),
        EventKind::ExecutionFailed(failed) => {
            state.error = Some(without_response(&failed.error));
            end(
                state,
                event,
                if state.dlq_id.is_some() {
                    Status::Dlq
                } else {
                    Status::Failed
                },
            );
        }
        EventKind::ExecutionCancelled(_) => end(state, event, Status::Cancelled),
    }
    if !state.status.is_terminal() {
        state.status = state.derive_status();
    }
}

/// Counts bytes that came from outside.
fn grow(state: &mut Execution, bytes: usize) {
    state.history_bytes = state.history_bytes.saturating_add(bytes as u64);
}

fn start(state: &mut Execution, event: &Event, started: &ExecutionStarted) {
    state.origin = Some(Origin {
        id: started.id,
        workflow: started.workflow.clone(),
        workflow_version: started.workflow_version,
        rules: started.rules,
        seed: started.seed,
        trigger: started.trigger.clone(),
        priority: started.priority,
        lineage: started.lineage.clone(),
        automatic_retries: started.automatic_retries,
        created_at: event.at,
        input: PayloadRef::to(event.sequence, &started.input),
        retry: started.retry.clone(),
        delay_until: started.delay_until,
        idempotency_key: started.idempotency_key.clone(),
        limit_key: started.limit_key.clone(),
        rate_key: started.rate_key.clone(),
        trace: started.trace.clone(),
    });
}

/// The step an event is about, made if this is its first event.
fn step_of<'a>(state: &'a mut Execution, event: &Event) -> Option<&'a mut StepState> {
    let id: &StepId = event.step.as_ref()?;
    let paused_ms_before = state.paused_ms_until(event.at);
    let new = || StepState {
        status: StepStatus::Scheduled,
        attempt: 0,
        failures: 0,
        losses: 0,
        due_at: None,
        backoff_ms: None,
        scheduled_at: event.at,
        paused_ms_before,
        started_at: None,
        is_begun: false,
        completed_at: None,
        output: None,
        failure: None,
        task_input: None,
        awaited: None,
        undoes: None,
    };
    let step = state.steps.entry(id.clone());
    Some(step.or_insert_with(|| Box::new(new())))
}

fn schedule(state: &mut Execution, event: &Event, due_at: Option<Timestamp>) {
    let is_retry = matches!(event.kind, EventKind::RetryScheduled(_));
    if let Some(step) = step_of(state, event) {
        step.status = if is_retry {
            StepStatus::Retrying
        } else {
            StepStatus::Scheduled
        };
        step.attempt = event.attempt.unwrap_or(step.attempt);
        step.due_at = due_at;
        step.backoff_ms = event.backoff_ms;
        step.is_begun = false;
        step.awaited = None;
        step.completed_at = None;
    }
}

/// The attempt waits for its time no more.
fn hasten(state: &mut Execution, event: &Event) {
    if let Some(step) = step_of(state, event) {
        step.due_at = None;
        step.status = match step.is_task() {
            true => StepStatus::Waiting,
            false => StepStatus::Scheduled,
        };
    }
}

fn offer(state: &mut Execution, event: &Event, created: &ExternalTaskCreated) {
    let own = created.input.as_ref();
    let own = own.map(|input| PayloadRef::to(event.sequence, input));
    let input = own.or_else(|| state.origin.as_ref().map(|origin| origin.input));
    if let Some(step) = step_of(state, event) {
        step.status = StepStatus::Waiting;
        step.task_input = input;
    }
}

fn begin(state: &mut Execution, event: &Event, started_at: Timestamp) {
    let first = state.started_at.unwrap_or(started_at);
    state.started_at = Some(first.min(started_at));
    let is_begun = state.origin.as_ref().is_some_and(|origin| origin.rules > 1);
    step_of(state, event)
        .into_iter()
        .for_each(|step| step.is_begun = is_begun);
    // Pauses before it began are no part of the step's time; later ones are, and are taken off it.
    let first_time = step_of(state, event).filter(|step| step.started_at.is_none());
    let Some(scheduled) = first_time.map(|step| step.paused_ms_before) else {
        return;
    };
    let paused_ms_before = state.paused_ms_at(started_at, scheduled);
    if let Some(step) = step_of(state, event) {
        step.started_at = Some(started_at);
        step.paused_ms_before = paused_ms_before;
    }
    state.forget_pauses();
}

/// The step waits for a callback, if the event says so.
fn wait(state: &mut Execution, event: &Event, started: &StepStarted) {
    let Some(until) = started.waits_until else {
        return;
    };
    let answer = started.answer.as_ref();
    let answer = answer.map(|answer| PayloadRef::to(event.sequence, answer));
    if let Some(step) = step_of(state, event) {
        step.status = StepStatus::Waiting;
        step.due_at = None;
        step.awaited = Some(Awaited {
            until,
            started_at: started.started_at,
            status: CallbackStatus::Pending,
            is_answered: answer.is_some(),
            answer,
        });
    }
}

fn answer(state: &mut Execution, event: &Event, answered: &CallAnswered) {
    let error = answered.error.as_ref();
    grow(
        state,
        error
            .and_then(|error| error.response.as_ref())
            .map_or(0, String::len),
    );
    let answer = answered.answer.as_ref();
    let answer = answer.map(|answer| PayloadRef::to(event.sequence, answer));
    if let Some(awaited) = step_of(state, event).and_then(|step| step.awaited.as_mut()) {
        awaited.is_answered = true;
        awaited.answer = answer;
    }
}

/// Where the output of a step stands that ends with this event: in it, or in its answer.
fn output_of(state: &mut Execution, event: &Event) -> Option<PayloadRef> {
    match event.value() {
        Some(output) => Some(PayloadRef::to(event.sequence, output)),
        None => step_of(state, event)?.awaited.as_ref()?.answer,
    }
}

fn complete(state: &mut Execution, event: &Event, completed: &StepCompleted) {
    let output = output_of(state, event);
    end_step(state, event, StepStatus::Completed);
    if let Some(step) = step_of(state, event) {
        step.output = output;
    }
    for (key, part) in &completed.mapped {
        let value = ContextRef {
            sequence: output.map_or(event.sequence, |output| output.sequence),
            part: part.clone(),
        };
        state.context.insert(key.clone(), value);
    }
    state.completed_order.extend(event.step.clone());
}

fn fail(state: &mut Execution, event: &Event, failed: &StepFailed) {
    grow(state, failed.error.response.as_ref().map_or(0, String::len));
    let failure = without_response(&failed.error);
    state.failed_last.clone_from(&event.step);
    if failed.last.is_some() {
        end_step(state, event, StepStatus::Failed);
    }
    if let Some(step) = step_of(state, event) {
        step.is_begun = false;
        step.failures = step.failures.saturating_add(1);
        step.failure = Some(failure.clone());
    }
    // The first that fails for good is the cause of the end, whatever fails after it.
    if let Some(reason) = failed.last
        && state.failing.is_none()
        && state.compensating.is_none()
    {
        let step = event.step.clone();
        state.failing = Some(Failing {
            step,
            failure,
            reason,
        });
    }
}

fn end_step(state: &mut Execution, event: &Event, status: StepStatus) {
    if let Some(step) = step_of(state, event) {
        step.status = status;
        step.is_begun = false;
        step.due_at = None;
        step.awaited = None;
        step.completed_at = Some(event.at);
    }
}

fn compensate(state: &mut Execution, event: &Event, started: &CompensationStarted) {
    schedule(state, event, None);
    if let Some(step) = step_of(state, event) {
        step.undoes = Some(started.undoes.clone());
    }
    state.compensating.get_or_insert_with(|| Compensating {
        cause: started.cause,
        by: started.by.clone(),
        failed: false,
    });
    // Whatever was still to come is dropped: from here on only undoing happens.
    let undoing: Vec<StepId> = state
        .steps
        .iter()
        .filter(|(_, step)| step.is_live() && step.undoes.is_none())
        .map(|(id, _)| id.clone())
        .collect();
    for id in undoing {
        if let Some(step) = state.steps.get_mut(&id) {
            step.status = StepStatus::Cancelled;
            step.due_at = None;
            step.awaited = None;
        }
    }
}

fn undo(state: &mut Execution, event: &Event, completed: &CompensationCompleted) {
    let output = output_of(state, event);
    end_step(state, event, StepStatus::Completed);
    if let Some(step) = step_of(state, event) {
        step.output = output;
    }
    if let Some(undone) = state.steps.get_mut(&completed.undoes) {
        undone.status = StepStatus::Compensated;
    }
}

fn fail_to_undo(state: &mut Execution, event: &Event, failed: &CompensationFailed) {
    end_step(state, event, StepStatus::Failed);
    if let Some(step) = step_of(state, event) {
        step.failure = Some(without_response(&failed.error));
    }
    if let Some(compensating) = &mut state.compensating {
        compensating.failed = true;
    }
}

fn finish(state: &mut Execution, event: &Event, completed: &ExecutionCompleted) {
    state.output = match completed {
        ExecutionCompleted {
            output: Some(value),
            ..
        } => Some(OutputRef::Value(PayloadRef::to(event.sequence, value))),
        ExecutionCompleted {
            output_of: Some(step),
            ..
        } => Some(OutputRef::Step(step.clone())),
        ExecutionCompleted { outputs_of, .. } => Some(OutputRef::Steps(outputs_of.clone())),
    };
    end(state, event, Status::Completed);
}

fn end(state: &mut Execution, event: &Event, status: Status) {
    state.status = status;
    state.completed_at = Some(event.at);
    state.paused_at = None;
    state.earlier_pauses.clear();
    for step in state.steps.values_mut().filter(|step| step.is_live()) {
        step.status = StepStatus::Cancelled;
        step.due_at = None;
        step.awaited = None;
    }
}

/// The response's excerpt stays in its event: a state that carried it would be rewritten with
/// every commit.
fn without_response(failure: &Failure) -> Failure {
    Failure {
        response: None,
        ..failure.clone()
    }
}
