//! Requests to webhooks that do not exist. There is no trigger in whose log they could be, so they are
//! counted, and the server's log tells now and then how many there were: a sender may have a wrong
//! address, or that of a trigger which was deleted.

use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use refire_core::id::WebhookId;
use tokio::time::Instant;

/// They are told at most this often, so that whoever guesses addresses cannot fill the log.
const TOLD_EVERY: Duration = Duration::from_secs(60);

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Nowhere(Mutex<Counted>);

#[derive(Debug, Default)]
struct Counted {
    /// Since they were told last.
    count: u64,
    told_at: Option<Instant>,
}

impl Counted {
    /// One more; how many there were, if it is time to tell.
    fn add(&mut self) -> Option<u64> {
        self.count += 1;
        if self.told_at.is_some_and(|at| at.elapsed() < TOLD_EVERY) {
            return None;
        }
        self.told_at = Some(Instant::now());
        Some(std::mem::take(&mut self.count))
    }
}

impl Nowhere {
    /// One came to this address, from there.
    pub(super) fn came(&self, webhook: WebhookId, source: IpAddr) {
        let told = self.0.lock().unwrap_or_else(PoisonError::into_inner).add();
        if let Some(count) = told {
            tracing::warn!(
                count, %webhook, %source,
                "requests to webhooks that do not exist; this is the last of them"
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn all_are_counted_and_told_now_and_then() {
        let mut counted = Counted::default();
        assert_eq!(counted.add(), Some(1));
        assert_eq!((counted.add(), counted.add()), (None, None));
        tokio::time::advance(TOLD_EVERY).await;
        assert_eq!(counted.add(), Some(3));
        assert_eq!(counted.add(), None);
    }
}
