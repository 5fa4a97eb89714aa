//! Whether the database behind this node answers: a proxy must not send work to a node that has lost
//! it, however well the node itself is.

use std::time::{Duration, Instant};

use refire_engine::Engine;
use tokio::sync::Mutex;

/// An answer of the database counts for so long: anybody may ask, and the database must not notice.
const FRESH_FOR: Duration = Duration::from_millis(500);
/// Nobody who asks waits longer.
const ASKED_FOR: Duration = Duration::from_secs(2);
/// A database that is slow is not away: a proxy that takes all busy nodes for dead makes it worse.
const SILENT_MAX: Duration = Duration::from_secs(6);

/// What was seen last.
#[derive(Debug, Default)]
pub(super) struct Readiness(Mutex<Seen>);

#[derive(Debug, Default)]
struct Seen {
    asked_at: Option<Instant>,
    answered_at: Option<Instant>,
    is_there: bool,
}

impl Seen {
    /// Judges by what came of asking at this time; none = nothing, yet.
    fn learn(&mut self, asked_at: Instant, answer: Option<bool>) {
        self.asked_at = Some(asked_at);
        match answer {
            Some(is_there) => {
                self.is_there = is_there;
                self.answered_at = is_there.then_some(asked_at);
            }
            None => {
                let silent_for = self.answered_at.map(|at| asked_at.duration_since(at));
                self.is_there = silent_for.is_some_and(|silent| silent < SILENT_MAX);
            }
        }
    }
}

impl Readiness {
    /// Whether the store answers now or did a moment ago. One inside this process always does.
    pub(super) async fn store_answers(&self, engine: &Engine) -> bool {
        if !engine.store().is_shared() {
            return true;
        }
        // Whoever comes meanwhile waits for the same answer.
        let mut seen = self.0.lock().await;
        if seen.asked_at.is_some_and(|at| at.elapsed() < FRESH_FOR) {
            return seen.is_there;
        }
        let asking = engine.store().has_lease(engine.node());
        let answer = match tokio::time::timeout(ASKED_FOR, asking).await {
            // A node without one has lost it and does not know it yet.
            Ok(Ok(has_lease)) => Some(has_lease),
            Ok(Err(_)) => Some(false),
            Err(_) => None,
        };
        seen.learn(Instant::now(), answer);
        seen.is_there
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn slow_is_not_away() {
        let began = Instant::now();
        let after = |seconds| began + Duration::from_secs(seconds);
        let mut seen = Seen::default();
        seen.learn(after(0), None);
        assert!(!seen.is_there, "it was never there");
        for (seconds, answer, expected) in [
            (1, Some(true), true),
            (3, None, true),
            (6, None, true),
            (8, None, false),
            (9, Some(true), true),
            (10, Some(false), false),
            (11, None, false),
            (12, Some(true), true),
        ] {
            seen.learn(after(seconds), answer);
            assert_eq!(seen.is_there, expected, "after {seconds} s");
        }
    }
}
