//! Workers that have said who they are, as this node sees them. Nothing is decided by that: it is for people.
//! So it is kept in memory and written every ten seconds; a node that dies loses what it has not written.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::id::LockToken;
use refire_core::task::WorkerStatus;
use refire_core::time::Timestamp;
use refire_store::{
    KnownBy, LIMIT_MAX, Part, PartOutcome, PolledTypes, ReadError, TaskRow, Touch, TouchTask,
    WORKERS_MAX, WorkerRow,
};

use super::{Poll, TRIES_MAX, TaskError, Tasks};
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::lock::Mutex;

/// How often what was seen is written.
const WRITE_EVERY: Duration = Duration::from_secs(10);
/// Whoever waits asks all the time; that is written only so often.
const WAITING_WRITTEN_EVERY: Duration = Duration::from_secs(30);
/// Workers that are written together.
const TOGETHER_MAX: usize = 500;
/// Locks whose workers are remembered, twice that many at most.
const LOCKS_MAX: usize = 50_000;

/// A worker, as people see it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Worker {
    /// What was seen of it.
    pub row: WorkerRow,
    /// How it is.
    pub status: WorkerStatus,
    /// Tasks that it has.
    pub held: u64,
}

/// Which workers are listed.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct WorkerFilter {
    /// One of these; empty = any.
    pub statuses: Vec<WorkerStatus>,
    /// Of this kind.
    pub worker_type: Option<String>,
    /// Whose name, kind or types contain this, in any case.
    pub text: Option<String>,
}

impl WorkerFilter {
    fn has(&self, worker: &Worker) -> bool {
        let row = &worker.row;
        let has_text = |text: &String| {
            let texts = [Some(&row.id), row.worker_type.as_ref()];
            let mut texts = texts.into_iter().flatten().chain(&row.task_types.0);
            let text = text.to_lowercase();
            texts.any(|it| it.to_lowercase().contains(&text))
        };
        (self.statuses.is_empty() || self.statuses.contains(&worker.status))
            && (self.worker_type.is_none() || self.worker_type == row.worker_type)
            && self.text.as_ref().is_none_or(has_text)
    }
}

/// See the module.
#[derive(Default)]
pub(crate) struct Registry {
    inner: Mutex<Inner>,
    /// Held while something is written, so that who reads sees it in one place.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inner {
    seen: BTreeMap<String, Seen>,
    /// Whose locks there are: the newer ones, and those before.
    locks: HashMap<LockToken, Arc<str>>,
    older_locks: HashMap<LockToken, Arc<str>>,
}

struct Seen {
    /// What is not written yet; of whoever waits, also what it asks for.
    row: WorkerRow,
    is_changed: bool,
    /// Its polls that wait.
    waiting: u32,
}

impl Registry {
    /// Something is seen of a worker.
    fn see(&self, id: &str, now: Timestamp, change: impl FnOnce(&mut Seen)) {
        let mut inner = self.inner.lock();
        if inner.seen.len() >= WORKERS_MAX && !inner.seen.contains_key(id) {
            // No more are kept anyway.
            return;
        }
        let seen = inner.seen.entry(id.to_owned()).or_insert_with(|| Seen {
            row: WorkerRow::seen(id, now),
            is_changed: true,
            waiting: 0,
        });
        seen.is_changed = true;
        seen.row.updated_at = seen.row.updated_at.max(now);
        change(seen);
    }

    /// A worker's task has ended by its word.
    pub(super) fn ended(&self, worker: Option<&str>, is_done: bool, now: Timestamp) {
        let Some(worker) = worker else { return };
        self.see(worker, now, |seen| match is_done {
            true => seen.row.completed += 1,
            false => seen.row.failed += 1,
        });
    }

    /// A worker is still at it.
    pub(super) fn is_at_it(&self, worker: &str, now: Timestamp) {
        self.see(worker, now, |seen| {
            seen.row.heartbeat_at = seen.row.heartbeat_at.max(Some(now));
        });
    }

    /// A worker has got a lock.
    pub(super) fn has_lock(&self, token: LockToken, worker: &str) {
        let mut inner = self.inner.lock();
        if inner.locks.len() >= LOCKS_MAX {
            inner.older_locks = std::mem::take(&mut inner.locks);
        }
        inner.locks.insert(token, worker.into());
    }

    /// Whose lock it is, if that is remembered.
    pub(super) fn of_lock(&self, token: LockToken) -> Option<Arc<str>> {
        let inner = self.inner.lock();
        let found = inner.locks.get(&token);
        found.or_else(|| inner.older_locks.get(&token)).cloned()
    }

    /// Takes what is to be written, as much as is written together.
    fn take(&self, now: Timestamp) -> Vec<WorkerRow> {
        let mut inner = self.inner.lock();
        let is_behind = |row: &WorkerRow| {
            let written = row.polled_at.unwrap_or(row.created_at);
            written.plus(WAITING_WRITTEN_EVERY) <= now
        };
        for seen in inner.seen.values_mut() {
            if seen.waiting > 0 && is_behind(&seen.row) {
                (seen.row.polled_at, seen.row.updated_at) = (Some(now), now);
                seen.is_changed = true;
            }
        }
        let changed = inner.seen.values_mut().filter(|seen| seen.is_changed);
        let rows: Vec<WorkerRow> = changed
            .take(TOGETHER_MAX)
            .map(|seen| {
                let row = seen.row.clone();
                (seen.row.completed, seen.row.failed) = (0, 0);
                seen.is_changed = false;
                row
            })
            .collect();
        for row in &rows {
            if inner.seen.get(&row.id).is_some_and(|it| it.waiting == 0) {
                inner.seen.remove(&row.id);
            }
        }
        rows
    }

    /// What could not be written waits on.
    fn put_back(&self, rows: Vec<WorkerRow>) {
        for row in rows {
            let id = row.id.clone();
            self.see(&id, row.created_at, |seen| seen.row.add(&row));
        }
    }

    /// What was seen and is not written yet, from one name to another.
    fn unwritten(&self, now: Timestamp) -> Vec<WorkerRow> {
        let inner = self.inner.lock();
        let rows = inner.seen.values().map(|seen| {
            let mut row = seen.row.clone();
            if seen.waiting > 0 {
                (row.polled_at, row.updated_at) = (Some(now), now);
            }
            row
        });
        rows.collect()
    }

    fn forget(&self, id: &str) -> bool {
        self.inner.lock().seen.remove(id).is_some()
    }
}

/// A worker's poll, for as long as it takes.
pub(super) struct Polling<'a> {
    context: &'a Context,
    worker: String,
}

impl<'a> Polling<'a> {
    /// None if nobody says who asks.
    pub(super) fn begin(context: &'a Context, poll: &Poll) -> Option<Self> {
        let worker = poll.worker.clone()?;
        let now = context.now();
        context.tasks.workers.see(&worker, now, |seen| {
            seen.waiting += 1;
            seen.row.polled_at = Some(now);
            seen.row.worker_type.clone_from(&poll.worker_type);
            let prefixes = poll.types.prefixes.iter();
            let prefixes = prefixes.map(|prefix| format!("{prefix}*"));
            let types = poll.types.names.iter().cloned().chain(prefixes);
            seen.row.task_types = PolledTypes(types.collect());
        });
        Some(Self { context, worker })
    }
}

impl Drop for Polling<'_> {
    fn drop(&mut self) {
        let now = self.context.now();
        self.context.tasks.workers.see(&self.worker, now, |seen| {
            seen.waiting = seen.waiting.saturating_sub(1);
            seen.row.polled_at = seen.row.polled_at.max(Some(now));
        });
    }
}

/// Writes what was seen, until the node stops, and then what is left.
pub(super) async fn write_loop(context: Arc<Context>) {
    while context.goes_on_after(WRITE_EVERY).await {
        write(&context).await;
    }
    write(&context).await;
}

async fn write(context: &Context) {
    let registry = &context.tasks.workers;
    loop {
        let _writing = registry.writing.lock().await;
        let rows = registry.take(context.now());
        let is_last = rows.len() < TOGETHER_MAX;
        if rows.is_empty() {
            return;
        }
        match context.queue.chore(Part::SeeWorkers(rows.clone())).await {
            // Counted twice would be worse than not at all.
            Ok(_) | Err(CommitFailure::Unknown | CommitFailure::Unstorable(_)) => {}
            Err(_) => return registry.put_back(rows),
        }
        if is_last {
            return;
        }
    }
}

/// Workers after this name, in the order of their names.
pub(crate) async fn workers(
    context: &Context,
    filter: &WorkerFilter,
    after: Option<&str>,
    limit: u32,
) -> Result<Vec<Worker>, ReadError> {
    let registry = &context.tasks.workers;
    let _writing = registry.writing.lock().await;
    let now = context.now();
    let held: HashMap<String, u64> = context.store.held_counts().await?.into_iter().collect();
    let unwritten = registry.unwritten(now);
    let (mut found, mut behind) = (Vec::new(), after.map(str::to_owned));
    loop {
        let rows = context.store.workers(behind.as_deref(), LIMIT_MAX).await?;
        let last = rows.last().map(|row| row.id.clone());
        let last = last.filter(|_| rows.len() >= LIMIT_MAX as usize);
        let mut rows: BTreeMap<String, WorkerRow> =
            rows.into_iter().map(|row| (row.id.clone(), row)).collect();
        let is_here = |row: &&WorkerRow| {
            behind.as_ref().is_none_or(|behind| row.id > *behind)
                && last.as_ref().is_none_or(|last| row.id <= *last)
        };
        for row in unwritten.iter().filter(is_here) {
            match rows.get_mut(&row.id) {
                Some(known) => known.add(row),
                None => {
                    rows.insert(row.id.clone(), row.clone());
                }
            }
        }
        for row in rows.into_values() {
            let held = held.get(&row.id).copied().unwrap_or(0);
            let status = WorkerStatus::of(held, row.polled_at, row.updated_at, now);
            let worker = Worker { row, status, held };
            if filter.has(&worker) {
                found.push(worker);
            }
            if found.len() >= limit as usize {
                return Ok(found);
            }
        }
        if last.is_none() {
            return Ok(found);
        }
        behind = last;
    }
}

impl Tasks {
    /// Workers after this name, in the order of their names.
    pub async fn workers(
        &self,
        filter: &WorkerFilter,
        after: Option<&str>,
        limit: u32,
    ) -> Result<Vec<Worker>, ReadError> {
        workers(&self.context, filter, after, limit).await
    }

    /// Forgets a worker, and gives back what it has; how many tasks those were. If it asks for tasks again, it
    /// is there again.
    pub async fn remove_worker(&self, id: &str) -> Result<u64, TaskError> {
        let context = &self.context;
        context.is_open()?;
        let mut released = 0;
        for _ in 0..TRIES_MAX {
            let held = context.store.held_tasks(id).await?;
            if held.is_empty() {
                break;
            }
            for back in join_all(held.iter().map(|row| self.take_from_worker(row))).await {
                released += u64::from(back?);
            }
        }
        let registry = &context.tasks.workers;
        let _writing = registry.writing.lock().await;
        let was_seen = registry.forget(id);
        let part = Part::ForgetWorker { id: id.to_owned() };
        let removed = match context.queue.part(part).await? {
            PartOutcome::Pruned { removed, .. } => removed,
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        };
        match was_seen || removed + released > 0 {
            true => Ok(released),
            false => Err(TaskError::NoSuchWorker),
        }
    }

    /// Takes a task from its worker, which is no attempt; false if it does not have it any more.
    async fn take_from_worker(&self, row: &TaskRow) -> Result<bool, TaskError> {
        let Some(token) = row.token else {
            return Ok(false);
        };
        let part = Part::TouchTask(TouchTask {
            id: row.id(),
            known: KnownBy::Token(token),
            touch: Touch::Unlock,
        });
        let was = match self.context.queue.part(part).await? {
            PartOutcome::Touched(was) => was,
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        };
        if was {
            self.context.is_back(&row.task_type);
        }
        Ok(was)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    fn poll(registry: &Registry, id: &str, now: Timestamp) {
        registry.see(id, now, |seen| {
            seen.waiting += 1;
            seen.row.polled_at = Some(now);
        });
    }

    #[test]
    fn what_is_written_is_not_written_again() {
        let registry = Registry::default();
        registry.ended(Some("a"), true, at(1));
        registry.ended(Some("a"), false, at(2));
        registry.ended(None, true, at(2));
        registry.is_at_it("b", at(3));
        let rows = registry.take(at(4));
        let counts: Vec<_> = rows.iter().map(|row| (row.completed, row.failed)).collect();
        assert_eq!(counts, [(1, 1), (0, 0)]);
        assert_eq!(rows[1].heartbeat_at, Some(at(3)));
        assert!(registry.take(at(5)).is_empty());
        assert!(registry.unwritten(at(5)).is_empty(), "nobody waits");
    }

    #[test]
    fn what_could_not_be_written_is_added_to_what_came_meanwhile() {
        let registry = Registry::default();
        registry.ended(Some("a"), true, at(1));
        let rows = registry.take(at(2));
        registry.ended(Some("a"), true, at(3));
        registry.put_back(rows);
        let rows = registry.take(at(4));
        assert_eq!((rows[0].completed, rows[0].created_at), (2, at(1)));
        assert_eq!(rows[0].updated_at, at(3));
    }

    #[test]
    fn who_waits_is_written_now_and_then() {
        let registry = Registry::default();
        poll(&registry, "a", at(0));
        registry.ended(Some("a"), true, at(0));
        assert_eq!(registry.take(at(10)).len(), 1);
        assert!(registry.take(at(29)).is_empty());
        assert_eq!(registry.unwritten(at(29))[0].polled_at, Some(at(29)));
        let rows = registry.take(at(30));
        assert_eq!((rows[0].polled_at, rows[0].completed), (Some(at(30)), 0));
        assert!(registry.take(at(40)).is_empty());
        registry.see("a", at(41), |seen| seen.waiting -= 1);
        assert_eq!(registry.take(at(41)).len(), 1);
        assert!(registry.unwritten(at(41)).is_empty());
    }

    #[test]
    fn there_is_an_end_to_what_is_remembered() {
        let registry = Registry::default();
        for n in 0..WORKERS_MAX + 5 {
            registry.is_at_it(&n.to_string(), at(0));
        }
        let written = std::iter::repeat_with(|| registry.take(at(1)).len());
        let written: usize = written.take_while(|count| *count > 0).sum();
        assert_eq!(written, WORKERS_MAX);
        let token = |n: usize| {
            let mut bytes = [0; 16];
            bytes[..8].copy_from_slice(&n.to_be_bytes());
            LockToken::from_bytes(bytes)
        };
        for n in 0..3 * LOCKS_MAX {
            registry.has_lock(token(n), "w");
        }
        assert!(registry.of_lock(token(0)).is_none());
        let last = registry.of_lock(token(3 * LOCKS_MAX - 1));
        assert_eq!(last.as_deref(), Some("w"));
        let inner = registry.inner.lock();
        assert!(inner.locks.len() + inner.older_locks.len() <= 2 * LOCKS_MAX);
    }

    #[test]
    fn filters_choose_workers() {
        let worker = Worker {
            row: WorkerRow {
                worker_type: Some("n8n".to_owned()),
                task_types: PolledTypes(vec!["Jira-*".to_owned()]),
                ..WorkerRow::seen("East-1", at(0))
            },
            status: WorkerStatus::Idle,
            held: 0,
        };
        let text = |text: &str| WorkerFilter {
            text: Some(text.to_owned()),
            ..WorkerFilter::default()
        };
        let of = |statuses: &[WorkerStatus], worker_type: Option<&str>| WorkerFilter {
            statuses: statuses.to_vec(),
            worker_type: worker_type.map(str::to_owned),
            text: None,
        };
        for (filter, has) in [
            (WorkerFilter::default(), true),
            (text("east"), true),
            (text("JIRA"), true),
            (text("N8N"), true),
            (text("west"), false),
            (of(&[WorkerStatus::Idle, WorkerStatus::Dead], None), true),
            (of(&[WorkerStatus::Active], None), false),
            (of(&[], Some("n8n")), true),
            (of(&[], Some("lambda")), false),
        ] {
            assert_eq!(filter.has(&worker), has, "{filter:?}");
        }
    }
}
