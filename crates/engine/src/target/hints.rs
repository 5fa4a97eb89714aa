//! Interim answers (103 Early Hints and the like): skipped, but not without end.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use http::Request;
use tokio::sync::Notify;

/// Interim answers before the real one; nobody needs more than a few.
pub(super) const HINTS_MAX: u32 = 100;

/// Counts the interim answers to one request.
#[derive(Debug, Default)]
pub(super) struct Hints {
    seen: AtomicU32,
    too_many: Notify,
}

impl Hints {
    /// Counts for this request.
    pub(super) fn of<B>(request: &mut Request<B>) -> Arc<Self> {
        let hints = Arc::new(Self::default());
        let counted = Arc::clone(&hints);
        hyper::ext::on_informational(request, move |_| {
            if counted.seen.fetch_add(1, Ordering::Relaxed) == HINTS_MAX {
                counted.too_many.notify_one();
            }
        });
        hints
    }

    /// Ends when there are too many.
    pub(super) async fn too_many(&self) {
        self.too_many.notified().await;
    }
}
