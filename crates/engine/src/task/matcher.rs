//! Who waits for tasks on this node, and of which types there may be some in the store.
//!
//! A new task goes to whoever waits longest for its type, without a way through the store; only if
//! nobody waits, or older ones are in the store, does it wait there. Then its type is *marked*: one of
//! those who wait looks, and goes on waiting at its old place if it was in vain. What is not marked
//! nobody looks for.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use refire_store::TaskHolder;
use tokio::sync::oneshot;

use super::delivery::{Delivery, Fetched, WayBack};
use crate::commit::CommitFailure;
use crate::lock::Mutex;

/// The types that a worker asks for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskTypes {
    /// Whole names.
    pub names: Vec<String>,
    /// Beginnings of names.
    pub prefixes: Vec<String>,
}

impl TaskTypes {
    pub(super) fn has(&self, task_type: &str) -> bool {
        self.names.iter().any(|name| name == task_type)
            || self
                .prefixes
                .iter()
                .any(|prefix| task_type.starts_with(prefix))
    }
}

/// What somebody who waits is told.
pub(super) enum Wake {
    /// There may be some in the store.
    Look,
    /// These are his.
    Delivery(Delivery),
    /// He waits here in vain.
    Failed(CommitFailure),
}

#[derive(Default)]
struct Inner {
    /// By arrival.
    waiting: BTreeMap<u64, Waiter>,
    by_name: HashMap<String, BTreeSet<u64>>,
    by_prefix: BTreeMap<String, BTreeSet<u64>>,
    /// Types of which there may be tasks in the store, each with the number of its last mark.
    marked: HashMap<String, u64>,
    marks: u64,
    arrivals: u64,
}

struct Waiter {
    types: Arc<TaskTypes>,
    holder: TaskHolder,
    back: WayBack,
    wake: oneshot::Sender<Wake>,
}

/// See the module.
#[derive(Clone, Default)]
pub(crate) struct Matcher(Arc<Mutex<Inner>>);

impl Matcher {
    /// A place in the order of arrival.
    pub(super) fn arrive(&self) -> u64 {
        let mut inner = self.0.lock();
        inner.arrivals += 1;
        inner.arrivals
    }

    /// How many wait.
    pub(super) fn waiting(&self) -> usize {
        self.0.lock().waiting.len()
    }

    /// Waits at this place, unless there is something to look for.
    pub(super) fn wait(
        &self,
        place: u64,
        types: &Arc<TaskTypes>,
        (holder, back): (&TaskHolder, &WayBack),
    ) -> Option<Waiting> {
        let mut inner = self.0.lock();
        if inner.marked.keys().any(|marked| types.has(marked)) {
            return None;
        }
        let (wake, woken) = oneshot::channel();
        inner.put(
            place,
            Waiter {
                types: Arc::clone(types),
                holder: holder.clone(),
                back: back.clone(),
                wake,
            },
        );
        let matcher = self.clone();
        Some(Waiting {
            matcher,
            place,
            woken,
        })
    }

    /// What there is to look for, and the number of the last mark.
    pub(super) fn marked(&self, types: &TaskTypes) -> (Vec<String>, u64) {
        let inner = self.0.lock();
        let marked = inner.marked.keys().filter(|marked| types.has(marked));
        let mut marked: Vec<String> = marked.cloned().collect();
        marked.sort_unstable();
        (marked, inner.marks)
    }

    /// There may be tasks of this type in the store: one of those who wait for it looks.
    pub(crate) fn mark(&self, task_type: &str) {
        let mut inner = self.0.lock();
        inner.marks += 1;
        let mark = inner.marks;
        match inner.marked.get_mut(task_type) {
            Some(marked) => *marked = mark,
            None => {
                inner.marked.insert(task_type.to_owned(), mark);
            }
        }
        inner.wake(task_type);
    }

    /// Somebody looked for these after that many marks. If it was in vain, there are none but what was
    /// marked meanwhile; else there may be more, and the next one looks.
    pub(super) fn looked(&self, types: &[String], marks: u64, in_vain: bool) {
        let mut inner = self.0.lock();
        for task_type in types {
            let is_new = inner
                .marked
                .get(task_type)
                .is_some_and(|mark| *mark > marks);
            if in_vain && !is_new {
                inner.marked.remove(task_type);
            } else {
                inner.wake(task_type);
            }
        }
    }

    /// Nobody waits here any more, for this reason.
    pub(crate) fn refuse_all(&self, failure: &CommitFailure) {
        let mut inner = self.0.lock();
        while let Some(waiter) = inner.waiting.keys().next().copied() {
            if let Some(waiter) = inner.remove(waiter) {
                let _ = waiter.wake.send(Wake::Failed(failure.clone()));
            }
        }
    }

    /// Whoever waits longest for this type, if no older task of it is in the store.
    pub(crate) fn take(&self, task_type: &str) -> Option<Taken> {
        let mut inner = self.0.lock();
        if inner.marked.contains_key(task_type) {
            return None;
        }
        let place = inner.first(task_type)?;
        let waiter = inner.remove(place)?;
        let matcher = self.clone();
        Some(Taken {
            matcher,
            place,
            waiter: Some(waiter),
        })
    }
}

impl Inner {
    fn put(&mut self, place: u64, waiter: Waiter) {
        for name in &waiter.types.names {
            self.by_name.entry(name.clone()).or_default().insert(place);
        }
        for prefix in &waiter.types.prefixes {
            let waiting = self.by_prefix.entry(prefix.clone()).or_default();
            waiting.insert(place);
        }
        self.waiting.insert(place, waiter);
    }

    fn remove(&mut self, place: u64) -> Option<Waiter> {
        let waiter = self.waiting.remove(&place)?;
        for name in &waiter.types.names {
            if let Some(waiting) = self.by_name.get_mut(name) {
                waiting.remove(&place);
                if waiting.is_empty() {
                    self.by_name.remove(name);
                }
            }
        }
        for prefix in &waiter.types.prefixes {
            if let Some(waiting) = self.by_prefix.get_mut(prefix) {
                waiting.remove(&place);
                if waiting.is_empty() {
                    self.by_prefix.remove(prefix);
                }
            }
        }
        Some(waiter)
    }

    /// The place of whoever waits longest for a type.
    fn first(&self, task_type: &str) -> Option<u64> {
        let by_name = self.by_name.get(task_type).into_iter();
        let by_prefix = self.by_prefix.iter();
        let by_prefix = by_prefix.filter(|(prefix, _)| task_type.starts_with(prefix.as_str()));
        let sets = by_name.chain(by_prefix.map(|(_, waiting)| waiting));
        sets.filter_map(|waiting| waiting.first().copied()).min()
    }

    fn wake(&mut self, task_type: &str) {
        while let Some(waiter) = self.first(task_type).and_then(|place| self.remove(place)) {
            // Whoever is gone is passed over.
            if waiter.wake.send(Wake::Look).is_ok() {
                return;
            }
        }
    }
}

/// Somebody who waits. Gone when it is dropped.
pub(super) struct Waiting {
    matcher: Matcher,
    place: u64,
    woken: oneshot::Receiver<Wake>,
}

impl Waiting {
    /// Until there is something.
    pub(super) async fn wake(&mut self) -> Wake {
        // Nobody drops the other end without a word, except when all of this ends.
        (&mut self.woken).await.unwrap_or(Wake::Look)
    }

    /// Nobody waits here any more; what came at the last moment.
    pub(super) fn leave(mut self) -> Option<Wake> {
        self.matcher.0.lock().remove(self.place);
        self.woken.close();
        self.woken.try_recv().ok()
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        let mut inner = self.matcher.0.lock();
        inner.remove(self.place);
        self.woken.close();
        // Who was woken and is gone did not look: somebody else has to.
        if let Ok(Wake::Look) = self.woken.try_recv() {
            let marked: Vec<String> = inner.marked.keys().cloned().collect();
            marked.iter().for_each(|task_type| inner.wake(task_type));
        }
    }
}

/// Somebody who waited and gets a task when that is durable. Waits on, at the old place, if it is dropped
/// before.
pub(crate) struct Taken {
    matcher: Matcher,
    place: u64,
    waiter: Option<Waiter>,
}

impl Taken {
    /// Who gets it.
    pub(crate) fn holder(&self) -> Option<&TaskHolder> {
        self.waiter.as_ref().map(|waiter| &waiter.holder)
    }

    /// Gives it. If nobody is there any more, the task goes back.
    pub(crate) fn give(mut self, task: Fetched) {
        if let Some(waiter) = self.waiter.take() {
            let delivery = Delivery::new(vec![task], waiter.back);
            let _ = waiter.wake.send(Wake::Delivery(delivery));
        }
    }

    /// Nobody knows whether the task was written. Who waits is told so; if it was, it goes back.
    pub(crate) fn doubt(mut self, task: Fetched) {
        if let Some(waiter) = self.waiter.take() {
            waiter.back.send(task.row);
            let _ = waiter.wake.send(Wake::Failed(CommitFailure::Unknown));
        }
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        let Some(waiter) = self.waiter.take().filter(|waiter| !waiter.wake.is_closed()) else {
            return;
        };
        let mut inner = self.matcher.0.lock();
        if inner.marked.keys().any(|marked| waiter.types.has(marked)) {
            // Something was left in the store while nobody seemed to wait for it.
            let _ = waiter.wake.send(Wake::Look);
        } else {
            inner.put(self.place, waiter);
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::id::LockToken;

    use super::*;

    fn types(text: &str) -> Arc<TaskTypes> {
        let mut types = TaskTypes::default();
        for name in text.split(',') {
            match name.strip_suffix('*') {
                Some(prefix) => types.prefixes.push(prefix.to_owned()),
                None => types.names.push(name.to_owned()),
            }
        }
        Arc::new(types)
    }

    fn holder(number: u8) -> TaskHolder {
        TaskHolder {
            token: LockToken::from_bytes([number; 16]),
            worker: None,
            worker_type: None,
        }
    }

    fn wait(matcher: &Matcher, number: u8, wanted: &str) -> Waiting {
        let place = matcher.arrive();
        let (back, _) = WayBack::new();
        let waiting = matcher.wait(place, &types(wanted), (&holder(number), &back));
        waiting.expect("nothing is marked")
    }

    fn token(taken: Option<&Taken>) -> Option<u8> {
        let holder = taken?.holder()?;
        Some(holder.token.as_bytes()[0])
    }

    #[test]
    fn who_waits_longest_gets_it() {
        let matcher = Matcher::default();
        let _others = wait(&matcher, 9, "b");
        let first = wait(&matcher, 1, "a,c");
        let _second = wait(&matcher, 2, "a*");
        let _third = wait(&matcher, 3, "a");
        let taken = matcher.take("a");
        assert_eq!(token(taken.as_ref()), Some(1));
        let next = matcher.take("a");
        assert_eq!(
            token(next.as_ref()),
            Some(2),
            "also by the beginning of a name"
        );
        drop(taken);
        let again = matcher.take("a");
        assert_eq!(token(again.as_ref()), Some(1), "its place is kept");
        drop((again, first));
        assert_eq!(
            token(matcher.take("a").as_ref()),
            Some(3),
            "who is gone is gone"
        );
        assert_eq!(token(matcher.take("ab").as_ref()), None);
        drop(next);
        assert_eq!(token(matcher.take("ab").as_ref()), Some(2));
        assert!(matcher.take("d").is_none());
    }

    #[tokio::test]
    async fn a_mark_wakes_one_and_older_tasks_come_first() {
        let matcher = Matcher::default();
        let (back, _) = WayBack::new();
        let mut first = wait(&matcher, 1, "a");
        let second = wait(&matcher, 2, "a");
        matcher.mark("a");
        assert!(matches!(first.wake().await, Wake::Look));
        assert_eq!(matcher.waiting(), 1, "one is enough");
        assert!(
            matcher.take("a").is_none(),
            "there is an older one in the store"
        );
        let (marked, marks) = matcher.marked(&types("a,b"));
        assert_eq!(marked, ["a"]);
        matcher.looked(&marked, marks, false);
        assert!(
            matches!(second.leave(), Some(Wake::Look)),
            "there may be more"
        );
        matcher.mark("a");
        matcher.looked(&marked, marks, true);
        assert!(
            matcher.take("a").is_none(),
            "what is marked meanwhile stays so"
        );
        assert!(
            matcher.wait(9, &types("a"), (&holder(1), &back)).is_none(),
            "look at once"
        );
        let (marked, marks) = matcher.marked(&types("a"));
        matcher.looked(&marked, marks, true);
        assert!(matcher.marked(&types("a")).0.is_empty());
        assert!(matcher.wait(9, &types("a"), (&holder(1), &back)).is_some());
    }

    #[tokio::test]
    async fn a_wake_up_is_not_lost_with_who_is_gone() {
        let matcher = Matcher::default();
        let gone = wait(&matcher, 1, "a");
        let mut second = wait(&matcher, 2, "a");
        matcher.mark("a");
        drop(gone);
        assert!(matches!(second.wake().await, Wake::Look));
        let matcher = Matcher::default();
        let mut waiting = wait(&matcher, 1, "a");
        let taken = matcher.take("a").unwrap();
        matcher.mark("a");
        drop(taken);
        assert!(
            matches!(waiting.wake().await, Wake::Look),
            "it waits on, and looks"
        );
    }

    #[tokio::test]
    async fn what_comes_at_the_last_moment_is_not_lost() {
        let matcher = Matcher::default();
        let waiting = wait(&matcher, 1, "a");
        let taken = matcher.take("a").unwrap();
        assert!(waiting.leave().is_none());
        assert_eq!(matcher.waiting(), 0);
        drop(taken);
        assert_eq!(matcher.waiting(), 0, "nobody is put back who is gone");
    }
}
