//! A result on its way to the committer. It is not let go before the store has it, or has said
//! that it does not count.

use std::time::Duration;

use refire_core::execution::{Command, Outcome, Report};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::ExecutionId;
use tokio::sync::oneshot;

use super::Dispatcher;
use crate::commit::{CommandError, CommitFailure, Request};
use crate::limit::Permit;

/// The first wait after a commit that was not written.
const WAIT_MIN: Duration = Duration::from_millis(50);
/// The longest wait between two tries.
const WAIT_MAX: Duration = Duration::from_secs(5);

pub(super) async fn report(
    dispatcher: &Dispatcher,
    id: ExecutionId,
    mut report: Report,
    permit: Permit,
) {
    let mut permit = Some(permit);
    let mut wait = WAIT_MIN;
    let mut replaced = false;
    loop {
        let (reply, answer) = oneshot::channel();
        let request = Request::Command {
            id,
            command: Box::new(Command::Report(report.clone())),
            reply: Some(reply),
            permit: permit.take(),
        };
        if dispatcher.queue.result(request).await.is_err() {
            return;
        }
        match answer.await {
            Ok(Ok(_)) => return,
            Ok(Err(CommandError::Refused(refusal))) => {
                // Late: the execution was cancelled, or the attempt was given up before.
                tracing::debug!(%id, step = %report.step, %refusal, "a result was dropped");
                return;
            }
            Ok(Err(CommandError::Failed(CommitFailure::Internal(reason)))) if !replaced => {
                // Whatever it is in this result that cannot be stored: a plain failure can.
                tracing::error!(%id, step = %report.step, reason, "a result could not be stored");
                let message = "the attempt's result could not be stored";
                report.outcome = Outcome::Failed(Failure::new(ErrorClass::Internal, message));
                replaced = true;
            }
            Ok(Err(CommandError::Failed(
                CommitFailure::Unavailable
                | CommitFailure::DiskFull
                | CommitFailure::Overloaded
                | CommitFailure::Contended,
            ))) => {
                tokio::time::sleep(wait).await;
                wait = (wait * 2).min(WAIT_MAX);
            }
            Ok(Err(error)) => {
                tracing::error!(%id, step = %report.step, %error, "a result was not recorded");
                return;
            }
            // The committer has gone; the disk says what comes next.
            Err(_) => return,
        }
    }
}
