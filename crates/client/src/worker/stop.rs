//! How a worker is stopped.

use tokio::sync::watch;

/// How far a stop has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// It works.
    Working,
    /// It fetches nothing more, and finishes what it has.
    Finishing,
    /// It gives back what it has.
    GivingBack,
}

/// Stops a worker from elsewhere.
#[derive(Debug, Clone)]
pub struct Stop(watch::Sender<Stage>);

impl Stop {
    pub(super) fn new() -> Self {
        Self(watch::Sender::new(Stage::Working))
    }

    /// Fetches nothing more, finishes what runs within the grace time, and gives the rest back.
    pub fn stop(&self) {
        self.reach(Stage::Finishing);
    }

    /// Gives back what runs, at once.
    pub fn stop_now(&self) {
        self.reach(Stage::GivingBack);
    }

    fn reach(&self, stage: Stage) {
        self.0.send_if_modified(|now| {
            let is_further = stage > *now;
            *now = stage.max(*now);
            is_further
        });
    }

    /// Waits for this stage, or a later one.
    pub(super) async fn reaches(&self, stage: Stage) {
        let mut now = self.0.subscribe();
        // The sender is this value.
        let _ = now.wait_for(|now| *now >= stage).await;
    }
}

/// Stops at the first signal, at once at the second.
#[cfg(unix)]
pub(super) async fn on_signals(stop: Stop) {
    use tokio::signal::unix::{SignalKind, signal};
    let listen = |kind| signal(kind).ok();
    let both = listen(SignalKind::interrupt()).zip(listen(SignalKind::terminate()));
    // Where signals cannot be heard, they end the program as they always do.
    let Some((mut interrupt, mut terminate)) = both else {
        return;
    };
    for reach in [Stop::stop, Stop::stop_now] {
        tokio::select! {
            _ = interrupt.recv() => {}
            _ = terminate.recv() => {}
        }
        reach(&stop);
    }
}

/// Stops at the first Ctrl-C, at once at the second.
#[cfg(not(unix))]
pub(super) async fn on_signals(stop: Stop) {
    for reach in [Stop::stop, Stop::stop_now] {
        if tokio::signal::ctrl_c().await.is_err() {
            return;
        }
        reach(&stop);
    }
}
