//! What other nodes tell: there is work, an execution was steered, a definition changed. Hints
//! only: whoever misses one finds out by looking.

use std::error::Error;
use std::sync::Arc;

use refire_core::id::ExecutionId;
use refire_store::News;

use crate::dispatch::Dispatcher;

/// Acts on news.
pub(crate) async fn news_loop(dispatcher: Arc<Dispatcher>) {
    let catalog = &dispatcher.catalog;
    loop {
        let news = dispatcher.store.news().await;
        dispatcher.hear(&news);
        match news {
            News::Work => look_now(&dispatcher),
            News::Withdrawn(execution) => withdrawn(&dispatcher, execution).await,
            News::Definition(workflow) => catalog.forget(&workflow),
            News::Trigger(_)
            | News::Task(_)
            | News::Breaker(_)
            | News::Due
            | News::Channel
            | News::Notice => {}
            News::Missed => {
                catalog.forget_all();
                look_now(&dispatcher);
            }
        }
    }
}

fn look_now(dispatcher: &Dispatcher) {
    dispatcher.slots.look_again_at(dispatcher.clock.now());
}

/// An execution was held or ended elsewhere: what runs of it here is void. Its state says which.
async fn withdrawn(dispatcher: &Arc<Dispatcher>, id: ExecutionId) {
    if !dispatcher.has_any(id) {
        return;
    }
    match dispatcher.store.execution(id).await {
        Ok(Some(stored)) if stored.state.paused_at.is_some() => dispatcher.release_uncalled(id),
        Ok(Some(stored)) if !stored.state.status.is_terminal() => dispatcher.release_timers(id),
        Ok(_) => dispatcher.abort(id),
        Err(error) => {
            // Its results will be refused, whatever it does until then.
            tracing::warn!(error = &error as &dyn Error, "reading what was withdrawn");
        }
    }
}
