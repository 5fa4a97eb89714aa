//! A result on its way to the committer. It is not let go before the store has it, or has said
//! that it does not count.

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::StepId;
use refire_core::execution::{Began, Command, Execution, Outcome, Report};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use refire_store::WorkRow;

use super::Dispatcher;
use crate::commit::{CommandError, CommitFailure};
use crate::limit::Permit;
use crate::target::Taken;

/// The first wait after a commit that was not written.
const WAIT_MIN: Duration = Duration::from_millis(50);
/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_secs(5);

/// An attempt that ended by a defect of ours.
pub(super) async fn panicked(dispatcher: &Dispatcher, row: &WorkRow) {
    let Ok(step) = StepId::new(row.step.as_str()) else {
        return;
    };
    let failure = Failure::new(
        ErrorClass::Internal,
        "the engine failed to make the attempt",
    );
    let result = Report {
        step,
        attempt: row.attempt,
        began: Began::Called(dispatcher.clock.now()),
        duration_ms: 0,
        outcome: Outcome::Failed(failure),
        mapped: None,
    };
    report(dispatcher, row.execution, result, Held::default()).await;
}

/// What an attempt has until its result is recorded.
#[derive(Default)]
pub(super) struct Held {
    /// The state that it began with.
    pub(super) known: Option<Arc<Execution>>,
    /// Its slot.
    pub(super) permit: Option<Arc<Permit>>,
    /// What its answer takes of the room for long ones.
    pub(super) room: Option<Taken>,
}

/// Brings a result to the store.
pub(super) async fn report(
    dispatcher: &Dispatcher,
    id: ExecutionId,
    mut report: Report,
    held: Held,
) {
    let Held {
        mut known,
        permit,
        mut room,
    } = held;
    let mut wait = WAIT_MIN;
    let mut replaced = false;
    loop {
        let command = Command::Report(report.clone());
        let asked = dispatcher.command(id, command, known.take(), permit.clone());
        let Ok(asked) = asked.await else { return };
        match asked.answer().await {
            Ok(_) => return,
            Err(CommandError::Refused(refusal)) => {
                // Late: the execution was cancelled, or the attempt was given up before.
                tracing::debug!(%id, step = %report.step, %refusal, "a result was dropped");
                return;
            }
            Err(CommandError::Failed(CommitFailure::Unstorable(reason))) if !replaced => {
                // Whatever it is in this result that cannot be stored: a plain failure can.
                tracing::error!(%id, step = %report.step, reason, "a result could not be stored");
                let message = "the attempt's result could not be stored";
                report.outcome = Outcome::Failed(Failure::new(ErrorClass::Internal, message));
                report.mapped = None;
                replaced = true;
            }
            // The committer has gone, or the execution: the disk says what comes next.
            Err(CommandError::Failed(CommitFailure::Stopping | CommitFailure::Unknown))
            | Err(CommandError::NotFound) => return,
            Err(error) => {
                // It waits, and keeps its slot: a result is not let go. Calls that wait for room
                // must not fail because of that; there are no more results than slots.
                room.take();
                tracing::warn!(%id, step = %report.step, %error, "a result waits to be recorded");
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
            }
        }
    }
}
