//! The loop that looks for attempts that nobody called back for in time. What it finds is decided on the
//! execution as it is then, so it does not matter who looks, or how many do.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::Command;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{CallbackRow, ReadError};

use crate::clock::until;
use crate::commit::CommandError;
use crate::context::Context;
use crate::turn::Turn;

/// Attempts that are looked at together.
const LOOK_MAX: u32 = 256;
/// The longest sleep: the net below the bell.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes' attempts wait, too.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait after trouble.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// Looks until the node stops.
pub(super) async fn window_loop(context: Arc<Context>) {
    let net = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let look_at = &context.clients.issuer.windows;
    let mut turn = Turn::default();
    loop {
        let behind = turn.of(&context).await;
        look_at.begins();
        let wait = match look(&context, behind).await {
            Ok(Some(next)) => {
                look_at.again_at(next);
                until(context.clock.as_ref(), next.plus(behind)).min(net)
            }
            Ok(None) => net,
            Err(error) => {
                let error = &error as &dyn Error;
                tracing::error!(error, "looking for callbacks that did not come");
                TROUBLE_WAIT
            }
        };
        tokio::select! {
            biased;
            () = look_at.rung() => {}
            () = context.clock.doze(wait) => {}
        }
    }
}

/// Ends all waits that have been over for so long; when the next one is.
async fn look(context: &Context, behind: Duration) -> Result<Option<Timestamp>, ReadError> {
    #[cfg(feature = "planted")]
    if planted::is(Defect::WindowForgotten) {
        return Ok(None);
    }
    loop {
        let by = context.now().minus(behind);
        let due = context.store.due_callbacks(by, LOOK_MAX).await?;
        if due.is_empty() {
            return context.store.next_callback_due().await;
        }
        let ended = join_all(due.iter().map(|row| end(context, row))).await;
        if ended.contains(&false) {
            // What could not be written now is tried again a little later.
            return Ok(Some(context.now().plus(TROUBLE_WAIT)));
        }
    }
}

/// Ends one wait; false if nothing could be written now.
async fn end(context: &Context, row: &CallbackRow) -> bool {
    let Ok(step) = row.step.parse() else {
        return false;
    };
    let attempt = row.attempt;
    let command = Command::WindowOver { step, attempt };
    let Ok(asked) = context.command(row.execution, command, None, None).await else {
        return false;
    };
    match asked.answer().await {
        Ok(_) => true,
        // A refusal is mostly news: somebody called back meanwhile. If it were not, asking again at once
        // would go on for ever.
        Err(CommandError::Refused(_) | CommandError::TaskMoved | CommandError::NotFound) => false,
        Err(CommandError::Failed(failure)) => {
            tracing::debug!(%failure, "the end of a callback's window was not committed");
            false
        }
    }
}
