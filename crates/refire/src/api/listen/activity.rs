//! Knows of a connection how many requests are in flight and since when there are none.

use std::convert::Infallible;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use axum::response::Response;
use http::Request;
use hyper::body::Incoming;
use tokio::time::Instant;

use super::{Peer, unread_body};
use crate::api::Api;

/// What happens on a connection.
#[derive(Debug, Clone)]
pub(super) struct Activity(Arc<Mutex<State>>);

#[derive(Debug)]
struct State {
    in_flight: usize,
    quiet_since: Instant,
}

impl Default for Activity {
    fn default() -> Self {
        Self(Arc::new(Mutex::new(State {
            in_flight: 0,
            quiet_since: Instant::now(),
        })))
    }
}

impl Activity {
    /// Ends when no request has been in flight for so long, counted from the given time or from
    /// the last one's end.
    pub(super) async fn idle_for(&self, limit: Duration, since: Instant) {
        loop {
            let until = {
                let state = self.state();
                let from = if state.in_flight > 0 {
                    Instant::now()
                } else {
                    state.quiet_since
                };
                from.max(since) + limit
            };
            if until <= Instant::now() {
                return;
            }
            tokio::time::sleep_until(until).await;
        }
    }

    fn begin(&self) -> InFlight {
        self.state().in_flight += 1;
        InFlight(self.clone())
    }

    fn state(&self) -> std::sync::MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in flight on the connection.
struct InFlight(Activity);

impl Drop for InFlight {
    fn drop(&mut self) {
        let mut state = self.0.state();
        state.in_flight = state.in_flight.saturating_sub(1);
        state.quiet_since = Instant::now();
    }
}

/// The server, with every call counted.
pub(super) struct Watched {
    api: Api,
    activity: Activity,
    peer: Option<Peer>,
}

impl Watched {
    pub(super) fn new(api: Api, activity: Activity, peer: Option<Peer>) -> Self {
        Self {
            api,
            activity,
            peer,
        }
    }
}

impl hyper::service::Service<Request<Incoming>> for Watched {
    type Response = Response;
    type Error = Infallible;
    type Future = std::pin::Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn call(&self, mut request: Request<Incoming>) -> Self::Future {
        if let Some(peer) = self.peer {
            request.extensions_mut().insert(peer);
        }
        let in_flight = self.activity.begin();
        let api = self.api.clone();
        Box::pin(async move {
            let (request, finish) = unread_body::track(request);
            let mut response = api.answer(request).await;
            finish.with(&mut response).await;
            drop(in_flight);
            Ok(response)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_request_in_flight_is_not_idle() {
        let activity = Activity::default();
        let request = activity.begin();
        let limit = Duration::from_millis(20);
        let idle = tokio::spawn({
            let activity = activity.clone();
            async move { activity.idle_for(limit, Instant::now()).await }
        });
        tokio::time::sleep(limit * 5).await;
        assert!(!idle.is_finished());
        let left = Instant::now();
        drop(request);
        idle.await.unwrap();
        assert!(left.elapsed() >= limit, "{:?}", left.elapsed());
    }
}
