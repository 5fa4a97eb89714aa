//! Takes connections off the system's queue, one place for each, and outlives a system that has no
//! more files to give.

use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;

/// After an error of the system, so that running out of files is not a busy loop.
const PAUSE_AFTER_ERROR: Duration = Duration::from_millis(50);
/// Between two lines of the log about it; it can last, and every line would say the same.
const LINES_APART: Duration = Duration::from_secs(10);

/// The listener and its places.
pub(super) struct Entrance {
    listener: TcpListener,
    places: Arc<Semaphore>,
    told: Option<Instant>,
}

impl Entrance {
    pub(super) fn new(listener: TcpListener, places: usize) -> Self {
        Self {
            listener,
            places: Arc::new(Semaphore::new(places)),
            told: None,
        }
    }

    /// The next connection, once there is a place for it; the system's queue holds the others.
    pub(super) async fn next(&mut self) -> anyhow::Result<(TcpStream, OwnedSemaphorePermit)> {
        let place = Arc::clone(&self.places).acquire_owned().await;
        let place = place.context("the places were closed")?;
        loop {
            let error = match self.listener.accept().await {
                Ok((stream, _)) => return Ok((stream, place)),
                Err(error) => error,
            };
            // One connection that went away at once is its own affair; no more files is ours.
            if !matches!(
                error.kind(),
                ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset
            ) {
                if self.told.is_none_or(|told| told.elapsed() >= LINES_APART) {
                    self.told = Some(Instant::now());
                    tracing::warn!(%error, "connections cannot be accepted; they wait");
                }
                tokio::time::sleep(PAUSE_AFTER_ERROR).await;
            }
        }
    }
}
