//! What the committer and the handle of tasks share: who waits, which types may have tasks in the store,
//! what is to be given back, and when the next clock runs out.

use std::collections::BTreeSet;
use std::sync::atomic::AtomicBool;

use refire_core::time::Timestamp;
use tokio::sync::{Notify, mpsc};

use super::delivery::{Delivery, Fetched, Undelivered};
use super::matcher::Matcher;
use crate::lock::Mutex;
use crate::next_look::NextLook;

/// Types that are waited for because their tasks may be fetched later; beyond that, only looks find them.
const LATER_MAX: usize = 100_000;

/// See the module.
pub(crate) struct Board {
    pub(crate) matcher: Matcher,
    /// Types whose tasks may be fetched then.
    later: Mutex<BTreeSet<(Timestamp, String)>>,
    /// Rings when there is an earlier one.
    pub(super) bell: Notify,
    /// Whether the store was asked what there is since this node began.
    pub(super) has_looked: AtomicBool,
    /// Whether it must be asked again, since news may have been missed.
    pub(super) is_asked: AtomicBool,
    /// When the clocks are looked at next.
    pub(crate) clocks: NextLook,
    back: mpsc::UnboundedSender<Undelivered>,
    pub(super) undelivered: Mutex<Option<mpsc::UnboundedReceiver<Undelivered>>>,
}

impl Default for Board {
    fn default() -> Self {
        let (back, undelivered) = mpsc::unbounded_channel();
        Self {
            matcher: Matcher::default(),
            later: Mutex::default(),
            bell: Notify::new(),
            has_looked: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            clocks: NextLook::default(),
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
}
