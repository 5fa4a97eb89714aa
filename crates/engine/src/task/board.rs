//! What the committer and the handle of tasks share: who waits, which types may have tasks in the store,
//! what is to be given back, and when the next clock runs out.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};

use refire_core::time::Timestamp;
use tokio::sync::{Notify, Semaphore, mpsc};

use super::delivery::{Undelivered, WayBack};
use super::matcher::Matcher;
use super::registry::Registry;
use crate::lock::Mutex;
use crate::next_look::NextLook;

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
    /// Types whose tasks may be fetched then, and whether this node made them, so that the others hear of
    /// it from this one. What was heard of twice is marked once: a second mark would send somebody to look
    /// in vain, perhaps before the one whose turn it is.
    later: Mutex<BTreeMap<(Timestamp, String), bool>>,
    /// Types of which the store told only when the first may be fetched: there may be others behind it
    /// that this node has not heard of.
    told: Mutex<BTreeSet<String>>,
    /// Rings when there is an earlier one.
    pub(super) bell: Notify,
    /// Whether the store was asked what there is since this node began.
    pub(super) has_looked: AtomicBool,
    /// Whether it must be asked again, since news may have been missed.
    pub(super) is_asked: AtomicBool,
    /// When the clocks are looked at next.
    pub(crate) clocks: NextLook,
    /// For polls that begin; none when the node stops.
    back: Mutex<Option<WayBack>>,
    pub(super) undelivered: Mutex<Option<mpsc::UnboundedReceiver<Undelivered>>>,
}

impl Default for Board {
    fn default() -> Self {
        let (back, undelivered) = WayBack::new();
        Self {
            matcher: Matcher::default(),
            workers: Registry::default(),
            room: Semaphore::new(WAITING_MAX),
            later: Mutex::default(),
            told: Mutex::default(),
            bell: Notify::new(),
            has_looked: AtomicBool::new(false),
            is_asked: AtomicBool::new(false),
            clocks: NextLook::default(),
            back: Mutex::new(Some(back)),
            undelivered: Mutex::new(Some(undelivered)),
        }
    }
}

impl Board {
    /// The way back for what a poll does not take; none when no poll may begin any more.
    pub(super) fn way_back(&self) -> Option<WayBack> {
        self.back.lock().clone()
    }

    /// No poll begins any more: when those under way have ended, nothing can come back.
    pub(super) fn no_more_polls(&self) {
        self.back.lock().take();
    }

    /// Tasks of this type may be fetched from the store from then on.
    pub(crate) fn available(&self, task_type: &str, at: Timestamp, now: Timestamp) {
        match at <= now {
            true => self.matcher.mark(task_type),
            false => self.remember(task_type.to_owned(), at, true),
        }
    }

    /// The store says that tasks of this type may be fetched from then on.
    pub(super) fn told(&self, task_type: String, at: Timestamp) {
        self.told.lock().insert(task_type.clone());
        self.remember(task_type, at, false);
    }

    fn remember(&self, task_type: String, at: Timestamp, is_ours: bool) {
        let mut later = self.later.lock();
        let first = later.first_key_value();
        let is_first = first.is_none_or(|((first, _), _)| at < *first);
        // What a look found is one time for each type.
        if !is_ours || later.len() < LATER_MAX {
            *later.entry((at, task_type)).or_default() |= is_ours;
        }
        drop(later);
        if is_first {
            self.bell.notify_one();
        }
    }

    /// There are none of these types now. What may be fetched later of what the store told is asked for.
    pub(super) fn none_now(&self, types: &[String]) {
        let mut told = self.told.lock();
        let before = told.len();
        told.retain(|task_type| !types.contains(task_type));
        if told.len() < before {
            self.ask();
        }
    }

    /// The store is asked what there is.
    pub(super) fn ask(&self) {
        self.is_asked.store(true, Ordering::Relaxed);
        self.bell.notify_one();
    }

    /// Marks what may be fetched by now, and tells it if this node made it; when the next may.
    pub(super) fn mark_available(
        &self,
        now: Timestamp,
        tell: impl Fn(String),
    ) -> Option<Timestamp> {
        let mut later = self.later.lock();
        while let Some(first) = later.first_entry() {
            if first.key().0 > now {
                return Some(first.key().0);
            }
            let ((_, task_type), is_ours) = first.remove_entry();
            self.matcher.mark(&task_type);
            if is_ours {
                tell(task_type);
            }
        }
        None
    }
}
