//! Gives back what did not arrive.

use std::sync::Arc;

use refire_core::id::LockToken;
use refire_store::{KnownBy, Part, PartOutcome, Touch, TouchTask};
use tokio::sync::mpsc;

use super::TROUBLE_WAIT;
use super::delivery::{Undelivered, WayBack};
use crate::context::Context;

/// Gives back what did not arrive, until nobody can fetch anything any more. What cannot be written now
/// is tried again.
pub(super) async fn back_loop(
    context: Arc<Context>,
    mut undelivered: mpsc::UnboundedReceiver<Undelivered>,
) {
    let mut again: Vec<Undelivered> = Vec::new();
    loop {
        let is_open = !context.stopping.is_cancelled();
        tokio::select! {
            biased;
            next = undelivered.recv() => match next {
                Some(next) => again.extend(context.give_back(next).await),
                None => return,
            },
            () = context.stopping.cancelled(), if is_open => context.tasks.no_more_polls(),
            () = tokio::time::sleep(TROUBLE_WAIT), if !again.is_empty() => {
                for next in std::mem::take(&mut again) {
                    again.extend(context.give_back(next).await);
                }
            }
        }
    }
}

impl Context {
    /// Gives back what did not arrive; what is left of it if that cannot be written now.
    async fn give_back(&self, undelivered: Undelivered) -> Option<Undelivered> {
        let (id, token, task_type) = match &undelivered {
            // Its own clocks have brought it back.
            Undelivered::Task { until, .. } if *until <= self.now() => return None,
            Undelivered::Task {
                id,
                token,
                task_type,
                ..
            } => (*id, *token, task_type),
            Undelivered::Lock(token) => return self.give_back_all(*token).await,
        };
        let part = Part::TouchTask(TouchTask {
            id,
            known: KnownBy::Token(token),
            touch: Touch::Unlock,
        });
        match self.write(part).await {
            Some(PartOutcome::Touched(true)) => self.is_back(task_type),
            Some(_) => {}
            None => return Some(undelivered),
        }
        None
    }

    /// Gives back all that a lock was given, if it was.
    async fn give_back_all(&self, token: LockToken) -> Option<Undelivered> {
        let again = Some(Undelivered::Lock(token));
        // What was sent under the id of before may still be written; under a new one it is not.
        if !self.membership.is_member() {
            return again;
        }
        let Ok(rows) = self.store.locked_tasks(token).await else {
            return again;
        };
        let (back, mut undelivered) = WayBack::new();
        rows.into_iter().for_each(|row| back.send(row));
        while let Ok(next) = undelivered.try_recv() {
            if Box::pin(self.give_back(next)).await.is_some() {
                return again;
            }
        }
        None
    }
}
