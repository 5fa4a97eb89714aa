//! When a loop looks at clocks next, shared with those who set clocks: an earlier one rings.

use std::sync::atomic::{AtomicI64, Ordering};

use refire_core::time::Timestamp;
use tokio::sync::Notify;

/// See the module.
pub(crate) struct NextLook {
    /// In microseconds.
    at_us: AtomicI64,
    bell: Notify,
}

impl Default for NextLook {
    fn default() -> Self {
        Self {
            at_us: AtomicI64::new(i64::MAX),
            bell: Notify::new(),
        }
    }
}

impl NextLook {
    /// A clock runs out then.
    pub(crate) fn clock_at(&self, at: Timestamp) {
        if at.as_micros() < self.at_us.fetch_min(at.as_micros(), Ordering::Relaxed) {
            self.bell.notify_one();
        }
    }

    /// The clocks are looked at; those that come from now on are noticed.
    pub(crate) fn begins(&self) {
        self.at_us.store(i64::MAX, Ordering::Relaxed);
    }

    /// They are looked at again then: only earlier ones ring.
    pub(crate) fn again_at(&self, at: Timestamp) {
        self.at_us.fetch_min(at.as_micros(), Ordering::Relaxed);
    }

    /// Waits for an earlier one.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn only_a_clock_that_nobody_waits_for_rings() {
        let look = NextLook::default();
        let rings = || look.rung().now_or_never().is_some();
        let at = Timestamp::from_millis;
        look.begins();
        look.again_at(at(5_000));
        assert!(!rings(), "whoever looks does not wake itself");
        look.clock_at(at(6_000));
        assert!(!rings());
        look.clock_at(at(4_000));
        assert!(rings());
        look.clock_at(at(4_500));
        assert!(!rings());
    }
}
