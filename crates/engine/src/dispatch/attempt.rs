//! One attempt, from a claimed row to a committed result.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::breaker::Verdict;
use refire_core::definition::{StepId, Workflow};
use refire_core::execution::{
    Began, Execution, Mapping, Outcome, Report, map_output, mapping_bytes,
};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::limit;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{CallbackKey, WorkRow};

use super::flight::Ticket;
use super::{Dispatcher, park, report};
use crate::callback;
use crate::clock::until;
use crate::limit::{Blocked, Permit};
use crate::membership::MayCall;
use crate::step::{self, Answer, Prepared};

/// How long an attempt waits when its host has no slot; then it is claimed again.
const HOST_FULL_WAIT: Duration = Duration::from_millis(500);

/// How long an attempt waits when the node's lease is about to end.
const RENEWED_WITHIN: Duration = Duration::from_secs(1);
/// How long to wait before a store that could not be read is asked again.
const READ_AGAIN_AFTER: Duration = Duration::from_secs(1);
/// The shortest sleep of an attempt that waits for its time: a clock may stand still.
const DOZE_MIN: Duration = Duration::from_millis(1);
/// Causes kept of one failure.
const CAUSES_MAX: usize = 20;

/// An attempt that may run.
pub(super) struct Attempt {
    pub(super) ticket: Ticket,
    pub(super) row: WorkRow,
    pub(super) permit: Permit,
    pub(super) state: Arc<Execution>,
    pub(super) workflow: Arc<Workflow>,
}

/// load → prepare → call → settle.
pub(super) async fn run(dispatcher: &Arc<Dispatcher>, attempt: Attempt) {
    let Attempt {
        ticket,
        row,
        mut permit,
        state,
        workflow,
    } = attempt;
    let Ok(step) = StepId::new(row.step.as_str()) else {
        return;
    };
    let Some(state) = load(dispatcher, &row, &state).await else {
        // Nothing was called: released, this is no loss.
        release(dispatcher, &ticket, row, None).await;
        return;
    };
    let prepared = prepare_aside(dispatcher, &row, &state, &workflow).await;
    if !on_time(dispatcher, &row).await {
        release(dispatcher, &ticket, row, None).await;
        return;
    }
    if let Some(host) = prepared.as_ref().ok().and_then(Prepared::host) {
        let now = dispatcher.clock.now();
        let timeout = park::timeout(&workflow, &row.step);
        if let Err(blocked) = park::add_host(dispatcher, &mut permit, (&host, timeout)).await {
            let again = turn(&row, blocked, now);
            // Through the store, since the row may be marked as begun there.
            release(dispatcher, &ticket, row, Some(again)).await;
            dispatcher.slots.look_again_at(again);
            return;
        }
    }
    match dispatcher.membership.may_call(row.owner) {
        MayCall::Yes => {}
        MayCall::NotNow => {
            let again = dispatcher.clock.now().plus(RENEWED_WITHIN);
            release(dispatcher, &ticket, row, Some(again)).await;
            dispatcher.slots.look_again_at(again);
            return;
        }
        MayCall::Never => return,
    }
    if dispatcher.broken.is_cancelled() || !dispatcher.flights.calls(&ticket) {
        // Its work was withdrawn meanwhile, and its row with it; or nobody knows whether it was.
        return;
    }
    if let Err(blocked) = permit.begin(dispatcher.clock.now()) {
        park::give_up(dispatcher, (ticket, row), (&permit, &workflow), blocked).await;
        return;
    }
    let started_at = dispatcher.clock.now();
    let began = tokio::time::Instant::now();
    let answer = match prepared {
        Ok(Prepared { call, redact }) => {
            let made = call.make(&dispatcher.clients, redact).await;
            judged(&mut permit, made, dispatcher.clock.now())
        }
        Err(failure) => Err(failure),
    };
    let (outcome, room) = match answer {
        Ok(answer) => (Outcome::Succeeded(answer.output), answer.room),
        Err(failure) => (Outcome::Failed(failure), None),
    };
    let duration_ms = u64::try_from(began.elapsed().as_millis()).unwrap_or(u64::MAX);
    let outcome = accepted(dispatcher, &row, &workflow, bounded(outcome));
    let (outcome, mapped) = map(dispatcher, outcome, &step, &state, &workflow).await;
    let result = Report {
        step,
        attempt: row.attempt,
        began: Began::Called(started_at),
        duration_ms,
        outcome,
        mapped,
    };
    let held = report::Held {
        known: Some(state),
        permit: Some(Arc::new(permit)),
        room,
    };
    report::report(dispatcher, row.execution, result, held).await;
}

/// When an attempt whose host cannot be called now is looked at again.
fn turn(row: &WorkRow, blocked: Blocked, now: Timestamp) -> Timestamp {
    match blocked {
        Blocked::Rate(turn) => turn,
        Blocked::Breaker(_) | Blocked::Ramp | Blocked::Probe => {
            park::put_off_in_store(row.execution, blocked, now)
        }
        _ => now.plus(HOST_FULL_WAIT),
    }
}

/// A failure with what it says of its target: who that is, and how long it had better be left alone.
fn judged(
    permit: &mut Permit,
    made: Result<Answer, Failure>,
    now: Timestamp,
) -> Result<Answer, Failure> {
    let failure = made.as_ref().err();
    let cause = failure.map_or("", |failure| {
        failure
            .code
            .as_deref()
            .unwrap_or_else(|| failure.class.name())
    });
    let verdict = Verdict::of(failure);
    let backoff = permit.note(verdict, cause, now);
    made.map_err(|mut failure| {
        failure.target = permit.host().map(str::to_owned);
        if let Some(wait) = backoff {
            let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
            failure.retry_after_ms = Some(failure.retry_after_ms.unwrap_or(0).max(wait_ms));
        }
        failure
    })
}

/// What an answer says about callbacks is kept, if the step waits for one.
fn accepted(
    dispatcher: &Arc<Dispatcher>,
    row: &WorkRow,
    workflow: &Workflow,
    outcome: Outcome,
) -> Outcome {
    let step = workflow.step(&row.step);
    let Some((at, _)) = step.filter(|(_, step)| step.callback.is_some()) else {
        return outcome;
    };
    let key = CallbackKey {
        execution: row.execution,
        step_no: u16::try_from(at).unwrap_or(u16::MAX),
        attempt: row.attempt,
    };
    callback::accepted(dispatcher, key, outcome)
}

/// Fills templates in, which may mean searching large values.
async fn prepare_aside(
    dispatcher: &Arc<Dispatcher>,
    row: &WorkRow,
    state: &Arc<Execution>,
    workflow: &Arc<Workflow>,
) -> Result<Prepared, Failure> {
    let bytes = state.payloads.bytes();
    let (with, row) = (Arc::clone(dispatcher), row.clone());
    let (state, workflow) = (Arc::clone(state), Arc::clone(workflow));
    let work = move || {
        let now = with.clock.now();
        step::prepare(&with.clients, &row, &state, &workflow, now)
    };
    dispatcher.aside.run(bytes, work).await
}

/// What the step's `outputMapping` gives: worked out here, so that the committer does not have to.
async fn map(
    dispatcher: &Dispatcher,
    outcome: Outcome,
    step: &StepId,
    state: &Execution,
    workflow: &Arc<Workflow>,
) -> (Outcome, Option<Mapping>) {
    let found = workflow.step(step.as_ref());
    // What undoes a step gives nothing to the context: its success is all that counts.
    // And what a target answers that will call back is not its step's output yet.
    let found = found.filter(|(_, step)| !step.is_compensation && step.callback.is_none());
    let (Outcome::Succeeded(output), Some((index, step))) = (&outcome, found) else {
        return (outcome, None);
    };
    let rules = state.origin.as_ref().map_or(0, |origin| origin.rules);
    let bytes = mapping_bytes(step, output);
    let (output, workflow) = (output.clone(), Arc::clone(workflow));
    let work = move || map_output(&workflow.steps[index], &output, rules);
    match dispatcher.aside.map(bytes, work).await {
        Ok(mapped) => (outcome, Some(mapped)),
        Err(failure) => (Outcome::Failed(failure), None),
    }
}

/// Waits until the attempt is due, if it was begun ahead of its time. Who is paused, cancelled or
/// withdrawn meanwhile has not been called yet. False when the node stops before.
async fn on_time(dispatcher: &Dispatcher, row: &WorkRow) -> bool {
    #[cfg(feature = "planted")]
    if planted::is(Defect::CalledAhead) {
        return true;
    }
    let Some(due) = row.due_at else { return true };
    loop {
        let wait = until(dispatcher.clock.as_ref(), due);
        if wait.is_zero() {
            return true;
        }
        tokio::select! {
            biased;
            () = dispatcher.stopping.cancelled() => return false,
            () = dispatcher.clock.doze(wait.max(DOZE_MIN)) => {}
        }
    }
}

/// Releases the row. Whoever claims it next must not find this attempt in its way.
pub(super) async fn release(
    dispatcher: &Dispatcher,
    ticket: &Ticket,
    mut row: WorkRow,
    until: Option<Timestamp>,
) {
    dispatcher.flights.leaves(ticket);
    row.begun = true;
    dispatcher.release(vec![(row, until)]).await;
}

/// The state with every value that the step's templates may read. A store that cannot be read
/// for a while is no failure of the attempt: it waits. None when the node stops.
async fn load(
    dispatcher: &Dispatcher,
    row: &WorkRow,
    state: &Arc<Execution>,
) -> Option<Arc<Execution>> {
    let missing = state.missing_values();
    if missing.is_empty() {
        return Some(Arc::clone(state));
    }
    loop {
        match dispatcher.store.values(row.execution, &missing).await {
            Ok(values) => {
                let mut state = Execution::clone(state);
                for (sequence, value) in values {
                    state.payloads.insert(sequence, value);
                }
                return Some(Arc::new(state));
            }
            Err(error) => {
                tracing::error!(error = &error as &dyn Error, "reading an attempt's values");
            }
        }
        if !dispatcher.goes_on_after(READ_AGAIN_AFTER).await {
            return None;
        }
    }
}

/// Outputs and messages within their bounds, whoever made them.
fn bounded(outcome: Outcome) -> Outcome {
    match outcome {
        Outcome::Succeeded(output) if output.as_str().len() > limit::OUTPUT_BYTES_MAX => {
            let length = output.as_str().len();
            let message = format!(
                "the output has {length} bytes; {} can be kept",
                limit::OUTPUT_BYTES_MAX
            );
            Outcome::Failed(Failure::new(ErrorClass::ResponseTooLarge, message))
        }
        Outcome::Failed(mut failure) => {
            cut(&mut failure.message, limit::MESSAGE_BYTES_MAX);
            failure.causes.truncate(CAUSES_MAX);
            failure
                .causes
                .iter_mut()
                .for_each(|cause| cut(cause, limit::MESSAGE_BYTES_MAX));
            if let Some(response) = &mut failure.response {
                cut(response, limit::RESPONSE_EXCERPT_BYTES_MAX);
            }
            Outcome::Failed(failure)
        }
        fine => fine,
    }
}

fn cut(text: &mut String, bytes_max: usize) {
    if text.len() > bytes_max {
        let end = (0..=bytes_max)
            .rev()
            .find(|end| text.is_char_boundary(*end))
            .unwrap_or(0);
        text.truncate(end);
    }
}
