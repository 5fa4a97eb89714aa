//! What the committer and the handle of tasks share: who waits, which types may have tasks in the store,
//! what is to be given back, and when the next clock runs out.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};

use refire_core::time::Timestamp;
use tokio::sync::{Notify, Semaphore, mpsc};

use super::delivery::{Delivery, Fetched, Undelivered};
use super::matcher::Matcher;
use super::registry::Registry;
use crate::lock::Mutex;

/// Types that are waited for because their tasks may be fetched later; beyond that, only looks find them.
const LATER_MAX: usize = 100_000;

/// Polls that wait on one node; others are refused, so that they leave room for other requests.
const WAITING_MAX: usize = 10_000;

/// See the module.
pub(crate) struct Board {
    pub(crate) matcher: Matcher,
    /// Who asks.
    pub(super) workers: Registry,
    /// Room for polls that wait.
    pub(super) room: Semaphore,
    /// Types whose tasks may be fetched then.
    later: Mutex<BTreeSet<(Timestamp, String)>>,
    /// Rings when there is an earlier one.
    pub(super) bell: Notify,
    /// Whether the store was asked what there is since this node began.
    pub(super) has_looked: AtomicBool,
    /// Whether it must be asked again, since news may have been missed.
    pub(super) is_asked: AtomicBool,
    /// When the clocks are looked at next, in microseconds.
    next_clock_us: AtomicI64,
    /// Rings when that is too late.
    pub(super) clocks: Notify,
    back: mpsc::UnboundedSender<Undelivered>,
    pub(super) undelivered: Mutex<Option<mpsc::UnboundedReceiver<Undelivered>>>,
}

impl Default for Board {
    fn default() -> Self {
        let (back, undelivered) = mpsc::unbounded_channel();
        Self {
            matcher: Matcher::default(),
            workers: Registry::default(),
            room: Semaphore::new(WAITING_MAX),
            later: Mutex::default(),
            bell: Notify::new(),
            has_looked: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            next_clock_us: AtomicI64::new(i64::MAX),
            clocks: Notify::new(),
            back,
            undelivered: Mutex::new(Some(undelivered)),
        }
    }
}

impl Board {
    /// Tasks on their way.
    pub(crate) fn delivery(&self, tasks: Vec<Fetched>) -> Delivery {
        Delivery::new(tasks, self.back.clone())
    }

    /// Tasks of this type may be fetched from the store from then on.
    pub(crate) fn available(&self, task_type: &str, at: Timestamp, now: Timestamp) {
        if at <= now {
            return self.matcher.mark(task_type);
        }
        let mut later = self.later.lock();
        let is_first = later.first().is_none_or(|(first, _)| at < *first);
        if later.len() < LATER_MAX {
            later.insert((at, task_type.to_owned()));
        }
        drop(later);
        if is_first {
            self.bell.notify_one();
        }
    }

    /// Marks what may be fetched by now; when the next may.
    pub(super) fn mark_available(&self, now: Timestamp) -> Option<Timestamp> {
        let mut later = self.later.lock();
        while let Some((at, _)) = later.first() {
            if *at > now {
                return Some(*at);
            }
            if let Some((_, task_type)) = later.pop_first() {
                self.matcher.mark(&task_type);
            }
        }
        None
    }

    /// A clock runs out then.
    pub(crate) fn clock_at(&self, at: Timestamp) {
        if at.as_micros()
            < self
                .next_clock_us
                .fetch_min(at.as_micros(), Ordering::Relaxed)
        {
            self.clocks.notify_one();
        }
    }

    /// The clocks are looked at; those that come from now on are noticed.
    pub(super) fn looking_at_clocks(&self) {
        self.next_clock_us.store(i64::MAX, Ordering::Relaxed);
    }

    /// They are looked at again then: only earlier ones ring.
    pub(super) fn looks_again_at(&self, at: Timestamp) {
        self.next_clock_us
            .fetch_min(at.as_micros(), Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use futures_util::FutureExt as _;

    use super::*;

    #[test]
    fn only_a_clock_that_nobody_waits_for_rings() {
        let board = Board::default();
        let rings = || board.clocks.notified().now_or_never().is_some();
        let at = Timestamp::from_millis;
        board.looking_at_clocks();
        board.looks_again_at(at(5_000));
        assert!(!rings(), "whoever looks does not wake itself");
        board.clock_at(at(6_000));
        assert!(!rings());
        board.clock_at(at(4_000));
        assert!(rings());
        board.clock_at(at(4_500));
        assert!(!rings());
    }
}
