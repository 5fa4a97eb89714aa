//! The end of a run: by a signal, in order; or because the store cannot be trusted any more.

use std::time::Duration;

use anyhow::Context;
use refire_engine::Engine;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;

use crate::api::Gate;

/// How long requests in flight may take to end.
const ANSWERS_WITHIN: Duration = Duration::from_secs(2);
/// How long what was answered may take to be on its way. With the engine's 22 s, a stop takes 25 s at most,
/// whatever the database does.
const CLOSED_WITHIN: Duration = Duration::from_secs(1);
/// Tells a supervisor that a new start is needed.
const EXIT_BROKEN: i32 = 70;
/// What a shell says of a program that was interrupted.
const EXIT_INTERRUPTED: i32 = 130;

/// Waits for the end and brings it about.
pub(super) async fn wait_and_stop(
    mut signals: Signals,
    engine: &Engine,
    gate: &Gate,
    closed: CancellationToken,
    mut serving: JoinHandle<anyhow::Result<()>>,
) -> anyhow::Result<()> {
    tokio::select! {
        name = signals.next() => tracing::info!(signal = name, "stopping"),
        () = engine.broken() => broken(gate, &closed, &mut serving).await,
        ended = &mut serving => {
            ended.context("the listener ended")??;
            anyhow::bail!("the listener ended unexpectedly");
        }
    }
    let stopping = async {
        // From here on nothing new is taken; what was taken is answered.
        gate.close();
        let _ = tokio::time::timeout(ANSWERS_WITHIN, gate.empty()).await;
        // The door stays open meanwhile, so that whoever asks hears that we are not ready.
        engine.stop().await;
        closed.cancel();
        let _ = tokio::time::timeout(CLOSED_WITHIN, &mut serving).await;
    };
    tokio::select! {
        () = stopping => tracing::info!("stopped"),
        name = signals.next() => {
            tracing::warn!(signal = name, "stopped immediately after the second signal");
            std::process::exit(EXIT_INTERRUPTED);
        }
        () = engine.broken() => broken(gate, &closed, &mut serving).await,
    }
    Ok(())
}

/// What is on disk is not known: only a new start finds out. Those who wait hear that first.
async fn broken(
    gate: &Gate,
    closed: &CancellationToken,
    serving: &mut JoinHandle<anyhow::Result<()>>,
) {
    tracing::error!("the store's state is not known; the server must be started again");
    gate.close();
    let _ = tokio::time::timeout(ANSWERS_WITHIN, gate.empty()).await;
    // An answer that has been given may still have to be written to its connection.
    closed.cancel();
    let _ = tokio::time::timeout(ANSWERS_WITHIN, serving).await;
    std::process::exit(EXIT_BROKEN);
}

/// The signals that mean: stop.
pub(super) struct Signals {
    terminate: Signal,
    interrupt: Signal,
}

impl Signals {
    /// From now on a signal is heard rather than deadly.
    pub(super) fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be heard");
        Ok(Self {
            terminate: listen(SignalKind::terminate())?,
            interrupt: listen(SignalKind::interrupt())?,
        })
    }

    /// The next one, by its name.
    pub(super) async fn next(&mut self) -> &'static str {
        tokio::select! {
            _ = self.terminate.recv() => "SIGTERM",
            _ = self.interrupt.recv() => "SIGINT",
        }
    }
}

#[cfg(test)]
mod tests;
