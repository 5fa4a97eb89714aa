//! From a row that this node owns to an attempt: the state is read, a slot is taken, and the row
//! is marked as begun.

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{StepId, StepKind, Workflow};
use refire_core::execution::Execution;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{Part, PartOutcome, WorkRow};

use super::Dispatcher;
use super::flight::Ticket;
use crate::commit::Request;
use crate::limit::{Ask, Blocked, Permit};

/// How long a row waits that found no slot although there was one when it was claimed.
const BLOCKED_WAIT: Duration = Duration::from_millis(50);
/// How long a row waits when something it needs could not be read or written.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// What becomes of a row.
enum Fate {
    /// Its attempt begins.
    Go(Permit, Arc<Execution>, Arc<Workflow>),
    /// Not now.
    Later(Duration),
    /// At its turn.
    At(refire_core::time::Timestamp),
    /// It goes back to the store.
    Back,
    /// It belongs to the past.
    Drop,
}

/// Begins the row's attempt, puts it off, or gives the row back.
pub(super) async fn begin(dispatcher: &Arc<Dispatcher>, row: WorkRow) {
    let Some(ticket) = dispatcher.flights.enter(&row) else {
        // That very attempt runs already; its result removes the row.
        return;
    };
    let fate = fate(dispatcher, &row, &ticket).await;
    if !dispatcher.flights.goes_on(&ticket) {
        // Cancelled, paused or withdrawn while it was being prepared: the commit that did it has
        // removed the row.
        return;
    }
    if let Fate::Go(permit, state, workflow) = fate {
        dispatcher.spawn(ticket, row, permit, (state, workflow));
        return;
    }
    dispatcher.flights.leave(&ticket);
    match fate {
        Fate::Go(..) | Fate::Drop => {}
        Fate::Later(wait) => {
            let until = dispatcher.clock.now().plus(wait);
            dispatcher.put_off(row, until).await;
        }
        Fate::At(turn) => dispatcher.put_off(row, turn).await,
        Fate::Back => dispatcher.release(vec![(row, None)]).await,
    }
}

async fn fate(dispatcher: &Arc<Dispatcher>, row: &WorkRow, ticket: &Ticket) -> Fate {
    if dispatcher.stopping.is_cancelled() {
        return Fate::Back;
    }
    let (state, workflow) = match load(dispatcher, row).await {
        Ok(loaded) => loaded,
        Err(fate) => return fate,
    };
    let (Some((step, definition)), Some(origin)) =
        (workflow.step(&row.step), state.origin.as_ref())
    else {
        return Fate::Drop;
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
        Err(Blocked::Rate(turn)) => return Fate::At(turn),
        Err(Blocked::Node | Blocked::Workflow | Blocked::Host) => {
            return Fate::Later(BLOCKED_WAIT);
        }
    };
    if !dispatcher.flights.begins(ticket) {
        return Fate::Drop;
    }
    // A task of this program may take the process down with it, so its beginning must be durable
    // first; a call to elsewhere cannot, so it need not wait.
    let must_be_durable = matches!(definition.kind, StepKind::Local(_));
    #[cfg(feature = "planted")]
    let must_be_durable = must_be_durable && !planted::is(Defect::AttemptCountedLate);
    match mark_begun(dispatcher, row, must_be_durable).await {
        Marked::Yes => Fate::Go(permit, Arc::new(state), Arc::clone(&workflow)),
        Marked::Gone => Fate::Drop,
        Marked::Trouble => Fate::Later(TROUBLE_WAIT),
    }
}

enum Marked {
    Yes,
    /// There is no such row any more.
    Gone,
    /// The mark could not be written.
    Trouble,
}

async fn mark_begun(dispatcher: &Dispatcher, row: &WorkRow, must_be_durable: bool) -> Marked {
    if row.begun {
        return Marked::Yes;
    }
    let part = Part::Begin(vec![(row.key(), row.attempt)]);
    if !must_be_durable {
        // A lost mark only means that a loss of this attempt is not counted.
        let request = Request::Part { part, reply: None };
        let _ = dispatcher.queue.try_result(request);
        return Marked::Yes;
    }
    match dispatcher.part(part).await {
        Some(PartOutcome::Begun(1..)) => Marked::Yes,
        Some(_) => Marked::Gone,
        None => Marked::Trouble,
    }
}

/// The execution's state, if the row's attempt is still the live one.
async fn load(dispatcher: &Dispatcher, row: &WorkRow) -> Result<(Execution, Arc<Workflow>), Fate> {
    let stored = match dispatcher.store.execution(row.execution).await {
        Ok(stored) => stored.ok_or(Fate::Drop)?,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "reading claimed work"
            );
            return Err(Fate::Later(TROUBLE_WAIT));
        }
    };
    if stored.state.paused_at.is_some() {
        // Nothing begins while it is paused; the store drops the row and resuming makes it again.
        return Err(Fate::Back);
    }
    let step = StepId::new(row.step.as_str()).map_err(|_| Fate::Drop)?;
    let state = stored.state.step(&step);
    if !state.is_some_and(|state| state.is_live() && state.attempt == row.attempt) {
        // The row was read before the execution moved on, which removed or replaced it.
        return Err(Fate::Drop);
    }
    let origin = stored.state.origin.as_ref().ok_or(Fate::Drop)?;
    let version = dispatcher
        .catalog
        .version(&origin.workflow, origin.workflow_version);
    match version.await {
        Ok(workflow) => Ok((stored.state, workflow)),
        Err(error) => {
            tracing::error!(execution = %row.execution, %error, "the definition cannot be had");
            Err(Fate::Later(TROUBLE_WAIT))
        }
    }
}
