//! Tells whether a call that ran out of time was still connecting, over a value that travels with
//! the call's task to where its connection is made.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

tokio::task_local! {
    static CONNECTING: Connecting;
}

/// Whether a call is waiting for a new connection right now.
#[derive(Debug, Clone, Default)]
pub(super) struct Connecting(Arc<AtomicBool>);

impl Connecting {
    /// Runs the call so that its connection is seen.
    pub(super) async fn watch<F: Future>(&self, call: F) -> F::Output {
        CONNECTING.scope(self.clone(), call).await
    }

    /// The one of the call whose task this is.
    pub(super) fn of_this_call() -> Self {
        CONNECTING.try_with(Self::clone).unwrap_or_default()
    }

    /// False also when a pooled connection was used.
    pub(super) fn is_under_way(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    pub(super) fn set(&self, under_way: bool) {
        self.0.store(under_way, Ordering::Relaxed);
    }
}
