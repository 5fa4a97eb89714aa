//! Ctrl-C as something to hear rather than to die of: what was measured so far is shown, and what
//! was made is deleted.

use anyhow::Context as _;
use tokio::signal::unix::{Signal, SignalKind, signal};

/// Hears requests to end.
pub(super) struct Interrupts {
    interrupt: Signal,
    terminate: Signal,
}

impl Interrupts {
    /// From now on.
    pub(super) fn new() -> anyhow::Result<Self> {
        let listen = |kind| signal(kind).context("signals cannot be heard");
        Ok(Self {
            interrupt: listen(SignalKind::interrupt())?,
            terminate: listen(SignalKind::terminate())?,
        })
    }

    /// The next one.
    pub(super) async fn next(&mut self) {
        tokio::select! {
            _ = self.interrupt.recv() => {}
            _ = self.terminate.recv() => {}
        }
    }
}
