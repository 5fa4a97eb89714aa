//! Tasks that may be fetched later, and what is in the store that nobody has told of.

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use refire_store::News;

use super::TROUBLE_WAIT;
use crate::clock::until;
use crate::context::Context;

/// Looks for types that somebody waits for: the net below marks and news.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes make tasks, too.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);

/// Marks types whose tasks may be fetched, when their time has come.
pub(super) async fn available_loop(context: Arc<Context>) {
    let net = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let board = &context.tasks;
    let mut look_at = context.now();
    loop {
        let now = context.now();
        let is_asked = board.is_asked.swap(false, Ordering::Relaxed);
        if is_asked || now >= look_at {
            look_at = now.plus(net);
            let has_looked = board.has_looked.load(Ordering::Relaxed);
            if (is_asked || !has_looked || board.matcher.waiting() > 0) && !look(&context).await {
                look_at = now.plus(TROUBLE_WAIT);
            }
        }
        let next = board.mark_available(context.now(), |task_type| {
            context.store.tell(News::Task(task_type));
        });
        let next = next.unwrap_or(look_at).min(look_at);
        tokio::select! {
            biased;
            () = board.bell.notified() => {}
            () = context.clock.doze(until(context.clock.as_ref(), next)) => {}
        }
    }
}

/// Finds out which types there are in the store; false if it cannot be asked.
async fn look(context: &Context) -> bool {
    match context.store.open_task_types().await {
        Ok(types) => {
            for (task_type, at) in types {
                context.tasks.told(task_type, at);
            }
            context.tasks.has_looked.store(true, Ordering::Relaxed);
            true
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "looking for tasks");
            false
        }
    }
}
