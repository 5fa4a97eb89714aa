//! Tells whether a call that ran out of time was still connecting. The HTTP client does not say;
//! a layer around its connector does, over a value that travels with the call's task.
//!
//! It only watches: it never delays, changes or refuses a connection.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};

use tower::{Layer, Service};

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

    /// False also when a pooled connection was used.
    pub(super) fn is_under_way(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    fn set(&self, under_way: bool) {
        self.0.store(under_way, Ordering::Relaxed);
    }
}

/// Put around the client's connector.
#[derive(Debug, Clone, Copy)]
pub(super) struct WatchLayer;

impl<S> Layer<S> for WatchLayer {
    type Service = Watched<S>;

    fn layer(&self, inner: S) -> Watched<S> {
        Watched { inner }
    }
}

/// The connector, watched.
#[derive(Debug, Clone)]
pub(super) struct Watched<S> {
    inner: S,
}

impl<S, R> Service<R> for Watched<S>
where
    S: Service<R>,
    S::Future: Send + 'static,
    S::Response: Send + 'static,
    S::Error: Send + 'static,
{
    type Response = S::Response;
    type Error = S::Error;
    type Future = Pin<Box<dyn Future<Output = Result<S::Response, S::Error>> + Send>>;

    fn poll_ready(&mut self, context: &mut Context<'_>) -> Poll<Result<(), S::Error>> {
        self.inner.poll_ready(context)
    }

    fn call(&mut self, destination: R) -> Self::Future {
        // The connector is first called from the task of the call that needs it.
        let call = CONNECTING.try_with(Connecting::clone).unwrap_or_default();
        call.set(true);
        let connection = self.inner.call(destination);
        Box::pin(async move {
            let outcome = connection.await;
            call.set(false);
            outcome
        })
    }
}
