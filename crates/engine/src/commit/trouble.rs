//! A store in trouble, told once and then now and then: while it is away every batch fails, and a
//! log full of the same line hides everything else.

use std::error::Error;
use std::time::Duration;

use refire_store::NotWritten;
use tokio::time::Instant;

/// Between two lines about the same trouble.
const TOLD_EVERY: Duration = Duration::from_secs(10);

/// What was said so far.
#[derive(Default)]
pub(crate) struct Trouble(Option<Since>);

struct Since {
    began: Instant,
    told: Instant,
    failed: u64,
}

impl Trouble {
    /// A commit was not written.
    pub(super) fn not_written(&mut self, reason: NotWritten, source: &(dyn Error + 'static)) {
        let now = Instant::now();
        let since = self.0.get_or_insert(Since {
            began: now,
            told: now,
            failed: 0,
        });
        since.failed += 1;
        if since.failed == 1 || since.told + TOLD_EVERY <= now {
            since.told = now;
            let failed = since.failed;
            tracing::error!(error = source, %reason, failed, "commits are not written");
        }
    }

    /// One was.
    pub(super) fn written(&mut self) {
        if let Some(since) = self.0.take() {
            let (after, failed) = (since.began.elapsed(), since.failed);
            tracing::info!(?after, failed, "commits are written again");
        }
    }
}
