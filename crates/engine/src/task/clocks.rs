//! The loop that looks at the clocks of tasks: the attempt's time, the worker's lock, its heartbeats. What
//! it finds is written only if the task is as it was seen, so that a heartbeat in between wins, and it
//! does not matter who looks, or how many do.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::{Began, Command, Outcome, Report};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::{KnownBy, Part, ReadError, SeenTask, TaskRow, Touch, TouchTask};

use crate::clock::until;
use crate::commit::CommandError;
use crate::context::Context;
use crate::turn::Turn;

/// Tasks that are looked at together.
const LOOK_MAX: u32 = 256;
/// The longest sleep: the net below the bell.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes change tasks too.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait after trouble.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// Looks until the node stops.
pub(super) async fn clock_loop(context: Arc<Context>) {
    let net = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let mut turn = Turn::default();
    loop {
        let behind = turn.of(&context).await;
        context.tasks.clocks.begins();
        let wait = match look(&context, behind).await {
            Ok(Some(next)) => {
                context.tasks.clocks.again_at(next);
                until(context.clock.as_ref(), next.plus(behind)).min(net)
            }
            Ok(None) => net,
            Err(error) => {
                tracing::error!(
                    error = &error as &dyn Error,
                    "looking at the clocks of tasks"
                );
                TROUBLE_WAIT
            }
        };
        tokio::select! {
            biased;
            () = context.tasks.clocks.rung() => {}
            () = context.clock.doze(wait) => {}
        }
    }
}

/// Ends all attempts whose time has been over for so long; when the next one is.
async fn look(context: &Context, behind: Duration) -> Result<Option<Timestamp>, ReadError> {
    loop {
        let by = context.now().minus(behind);
        let due = context.store.due_tasks(by, LOOK_MAX).await?;
        if due.is_empty() {
            return context.store.next_task_due().await;
        }
        let ended = join_all(due.iter().map(|row| end(context, row, by))).await;
        if ended.contains(&false) {
            // What could not be written now is tried again a little later.
            return Ok(Some(context.now().plus(TROUBLE_WAIT)));
        }
    }
}

/// Looks at one; false if nothing could be written now.
async fn end(context: &Context, row: &TaskRow, by: Timestamp) -> bool {
    let Ok(step) = row.step.parse() else {
        return false;
    };
    let attempt = row.attempt;
    let command = match (row.status, row.clocks().run_out(by)) {
        (TaskStatus::Retired, _) => Command::Retired { step, attempt },
        (_, Some(failure)) => Command::Report(Report {
            step,
            attempt,
            began: began(row),
            duration_ms: row.held_ms(by),
            outcome: Outcome::Failed(failure),
            mapped: None,
        }),
        (_, None) => {
            // A heartbeat came since its clocks were last looked at.
            let part = Part::TouchTask(TouchTask {
                id: row.id(),
                known: KnownBy::Rev(row.rev),
                touch: Touch::Rearm,
            });
            return context.write(part).await.is_some();
        }
    };
    let seen = SeenTask {
        step: row.step_no,
        rev: row.rev,
    };
    #[cfg(feature = "planted")]
    if planted::is(Defect::ExpiryUncompared) {
        let asked = context.command(row.execution, command, None, None).await;
        return match asked {
            Ok(asked) => asked.answer().await.is_ok(),
            Err(_) => false,
        };
    }
    match context.task_command(row.execution, command, seen).await {
        // It changed meanwhile: whoever looks next sees that.
        Ok(_) | Err(CommandError::TaskMoved) => true,
        // A refusal is mostly news from another node. If it were not, asking again at once would go on
        // for ever.
        Err(CommandError::Refused(_) | CommandError::NotFound | CommandError::Failed(_)) => false,
    }
}

/// Who had the task of the attempt.
pub(super) fn began(row: &TaskRow) -> Began {
    match (row.status, row.locked_at) {
        (TaskStatus::Locked, Some(at)) => Began::Fetched {
            worker: row.worker.clone(),
            at,
        },
        _ => Began::Never,
    }
}
