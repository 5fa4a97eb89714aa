//! From a row that this node owns to an attempt: the state is read, a slot is taken, and the row
//! is marked as begun.

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{StepId, StepKind, Workflow};
use refire_core::execution::Execution;
use refire_store::{Part, WorkRow};
use tokio::sync::oneshot;

use super::Dispatcher;
use crate::commit::Request;
use crate::limit::{Ask, Blocked};

/// How long a row stays with the store after it found no slot.
const BLOCKED_WAIT: Duration = Duration::from_millis(50);

/// Begins the row's attempt, or gives the row back.
pub(super) async fn begin(dispatcher: &Arc<Dispatcher>, row: WorkRow) {
    let Some((state, workflow)) = load(dispatcher, &row).await else {
        return;
    };
    let Some((step, definition)) = workflow.step(&row.step) else {
        return;
    };
    let Some(origin) = state.origin.as_ref() else {
        return;
    };
    let ask = Ask {
        workflow: &workflow,
        step,
        execution: row.execution,
        origin,
        is_first: state.started_at.is_none(),
        is_retry: row.is_retry,
    };
    let permit = match dispatcher.slots.reserve(&ask, dispatcher.clock.now()) {
        Ok(permit) => permit,
        Err(blocked) => return give_back(dispatcher, row, blocked).await,
    };
    if !row.begun {
        // A task of this program may take the process down with it, so its beginning must be
        // durable first; a call to elsewhere cannot, so it need not wait.
        let must_be_durable = matches!(definition.kind, StepKind::Local(_));
        if !mark_begun(dispatcher, &row, must_be_durable).await {
            return;
        }
    }
    dispatcher.spawn(row, permit, Arc::new(state), Arc::clone(&workflow));
}

async fn give_back(dispatcher: &Dispatcher, row: WorkRow, blocked: Blocked) {
    let again = match blocked {
        Blocked::Rate(until) => until,
        // Somebody else took the room since it was counted; not at once, lest it goes in circles.
        Blocked::Node | Blocked::Workflow | Blocked::Host => {
            dispatcher.clock.now().plus(BLOCKED_WAIT)
        }
    };
    dispatcher.release(vec![(row.key(), Some(again))]).await;
    dispatcher.slots.look_again_at(again);
}

/// True unless the mark was needed and could not be written.
async fn mark_begun(dispatcher: &Dispatcher, row: &WorkRow, must_be_durable: bool) -> bool {
    let part = Part::Begin(vec![(row.key(), row.attempt)]);
    if !must_be_durable {
        // A lost mark only means that a loss of this attempt is not counted.
        let _ = dispatcher
            .queue
            .try_result(Request::Part { part, reply: None });
        return true;
    }
    let (reply, answer) = oneshot::channel();
    let request = Request::Part {
        part,
        reply: Some(reply),
    };
    dispatcher.queue.result(request).await.is_ok() && matches!(answer.await, Ok(Ok(_)))
}

/// The execution's state, if the row's attempt is still the live one.
async fn load(dispatcher: &Dispatcher, row: &WorkRow) -> Option<(Execution, Arc<Workflow>)> {
    let stored = match dispatcher.store.execution(row.execution).await {
        Ok(stored) => stored?,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "reading claimed work"
            );
            dispatcher.release(vec![(row.key(), None)]).await;
            return None;
        }
    };
    let step = StepId::new(row.step.as_str()).ok()?;
    if stored.state.paused_at.is_some() {
        // Nothing begins while it is paused; the store drops the row and resuming makes it again.
        dispatcher.release(vec![(row.key(), None)]).await;
        return None;
    }
    let state = stored.state.step(&step);
    if !state.is_some_and(|state| state.is_live() && state.attempt == row.attempt) {
        // The row was read before the execution moved on, which removed or replaced it.
        return None;
    }
    let origin = stored.state.origin.as_ref()?;
    match dispatcher
        .catalog
        .version(&origin.workflow, origin.workflow_version)
        .await
    {
        Ok(workflow) => Some((stored.state, workflow)),
        Err(error) => {
            tracing::error!(execution = %row.execution, %error, "the definition cannot be had");
            None
        }
    }
}
