//! The promises to those who ask for tasks: they get what they ask for, in their order; no task is
//! ready beside somebody who waits for it; what does not reach them goes back; and nobody is left
//! without an answer.

use std::collections::BTreeMap;
use std::time::Duration;

use refire_core::id::TaskId;
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_store::model::Image;
use refire_store::{CallbackKey, LockTasks, TaskRow};

use super::Judge;
use crate::mark::{Mark, Marks};
use crate::world::Violation;

/// All polls, by their numbers.
#[derive(Default)]
pub(super) struct Polls(Vec<Poll>);

/// Somebody who asks for tasks.
#[derive(Debug, Clone)]
pub(crate) struct Poll {
    /// The life that it was made to.
    pub(crate) life: u32,
    pub(crate) wishes: Vec<&'static str>,
    pub(crate) max: u32,
    /// When, in milliseconds that the world had lived.
    pub(crate) began_ms: u64,
    pub(crate) waits_ms: u64,
    pub(crate) ended: Option<(u64, PollEnd)>,
    /// Tasks that were to be made for it, and those that were, locked from the beginning.
    pub(crate) born: u32,
    /// Tasks that it had, durably.
    pub(crate) locked: u32,
    /// When it last looked for what is in the store.
    pub(crate) looked_ms: Option<u64>,
}

/// How a poll ended for whoever asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PollEnd {
    /// With tasks, which it took.
    Taken,
    /// With tasks, which it did not take any more.
    NotTaken,
    /// With none.
    Empty,
    /// With an error.
    Failed,
    /// It hung up.
    HungUp,
}

/// What a worker's name is made of.
const NAMED: &str = "poll ";

/// The name of the worker that makes a poll.
pub(crate) fn name_of(worker: usize, poll: usize) -> String {
    format!("worker {worker} {NAMED}{poll}")
}

/// The poll that a task is locked for.
pub(super) fn poll_of(row: &TaskRow) -> Option<usize> {
    number_of(row.worker.as_ref().filter(|_| row.token.is_some())?)
}

/// The poll of a worker's name.
fn number_of(worker: &str) -> Option<usize> {
    worker.split_once(NAMED)?.1.parse().ok()
}

impl Poll {
    /// One that begins.
    pub(crate) fn new(
        (life, began_ms): (u32, u64),
        wishes: &[&'static str],
        (max, waits_ms): (u32, u64),
    ) -> Self {
        Self {
            life,
            wishes: wishes.to_vec(),
            max,
            began_ms,
            waits_ms,
            ended: None,
            born: 0,
            locked: 0,
            looked_ms: None,
        }
    }

    fn wants(&self, task_type: &str) -> bool {
        self.wishes.iter().any(|wish| match wish.strip_suffix('*') {
            Some(prefix) => task_type.starts_with(prefix),
            None => *wish == task_type,
        })
    }
}

impl Polls {
    /// A task is locked for a poll; whether that asks for it.
    pub(super) fn locked(&mut self, row: &TaskRow) -> bool {
        let poll = poll_of(row).and_then(|number| self.0.get_mut(number));
        poll.is_some_and(|poll| {
            poll.locked += 1;
            poll.wants(&row.task_type) && poll.locked <= poll.max
        })
    }
}

/// How long what is promised at once may take, in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Patience {
    /// For a task that is ready beside somebody who waits for it.
    pub(crate) ready_ms: u64,
    /// For a task that did not reach whom it was locked for.
    pub(crate) gone_ms: u64,
    /// For a clock that has run out.
    pub(crate) clock_ms: u64,
}

/// What was seen at earlier looks, and since when.
#[derive(Default)]
pub(crate) struct Sights {
    ready: BTreeMap<(TaskId, u64, usize), u64>,
    late: BTreeMap<(TaskId, u64), u64>,
    windows: BTreeMap<CallbackKey, u64>,
}

impl Judge {
    /// Somebody asks for tasks; the number of the poll.
    pub(crate) fn poll_begins(&mut self, poll: Poll) -> usize {
        let polls = &mut self.tasks.polls.0;
        polls.push(poll);
        polls.len() - 1
    }

    /// It is over.
    pub(crate) fn poll_ends(&mut self, poll: usize, end: PollEnd, now_ms: u64, marks: &mut Marks) {
        let poll = &mut self.tasks.polls.0[poll];
        poll.ended = Some((now_ms, end));
        let mark = match end {
            PollEnd::HungUp if poll.born > poll.locked => Mark::HungUpInCommit,
            PollEnd::HungUp if poll.locked == 0 => Mark::HungUpWaiting,
            PollEnd::HungUp => Mark::HungUpInCommit,
            PollEnd::NotTaken => Mark::HungUpDelivered,
            PollEnd::Taken | PollEnd::Empty if poll.born > poll.locked => Mark::BornLockRefused,
            _ => return,
        };
        marks.reach(mark);
    }

    /// A batch is about to be written that makes a task for a poll.
    pub(crate) fn is_to_be_born(&mut self, row: &TaskRow) {
        if let Some(poll) = poll_of(row).and_then(|poll| self.tasks.polls.0.get_mut(poll)) {
            poll.born += 1;
        }
    }

    /// A batch is about to be written by which somebody looks for what is in the store.
    pub(crate) fn looks(&mut self, lock: &LockTasks, now_ms: u64) {
        let holders = lock.wanted.iter().flat_map(|wanted| &wanted.holders);
        let workers = holders.filter_map(|holder| holder.worker.as_deref());
        for poll in workers.filter_map(number_of) {
            if let Some(poll) = self.tasks.polls.0.get_mut(poll) {
                poll.looked_ms = Some(now_ms);
            }
        }
    }

    /// Who waits longest is served first. Whoever came only now may have looked by himself, and who looks
    /// for one type does not wait for another meanwhile.
    pub(crate) fn is_served_in_turn(
        &self,
        poll: usize,
        types: &[&str],
        now_ms: u64,
    ) -> Result<(), Violation> {
        /// How long somebody waits whose turn counts, in milliseconds.
        const WAITS_FOR: u64 = 50;
        let served = &self.tasks.polls.0[poll];
        if served.began_ms + WAITS_FOR > now_ms {
            return Ok(());
        }
        let is_before = |other: &&Poll| {
            let is_looking = other.looked_ms.is_some_and(|at| at + WAITS_FOR > now_ms);
            other.life == served.life
                && !is_looking
                && other.ended.is_none()
                && other.locked == 0
                && other.born == 0
                && other.began_ms + WAITS_FOR < served.began_ms
                && other.began_ms + other.waits_ms > now_ms
                && types.iter().all(|name| other.wants(name))
        };
        match self.tasks.polls.0.iter().find(is_before) {
            Some(other) => {
                let what = format!("{served:?} before {other:?}, it is {now_ms}");
                Err(Violation::new("who waits longest is served first", what))
            }
            None => Ok(()),
        }
    }

    /// A poll that a life has not answered although its time is over.
    pub(crate) fn unanswered_poll(&self, life: u32) -> Option<String> {
        let mut polls = self.tasks.polls.0.iter();
        let open = polls.find(|poll| poll.life == life && poll.ended.is_none());
        open.map(|poll| format!("{poll:?}"))
    }

    /// Whether a task is locked for a poll of this life which did not take it.
    pub(crate) fn kept_from(&self, image: &Image, life: u32) -> Option<TaskRow> {
        let is_kept = |row: &&TaskRow| {
            let poll = poll_of(row).and_then(|poll| self.tasks.polls.0.get(poll));
            poll.is_some_and(|poll| poll.life == life && !is_received(poll))
        };
        let mut rows = image.tasks.values().map(|row| &**row);
        rows.find(is_kept).cloned()
    }

    /// Looks at what should have happened by now. Somebody has been well since `somebody_ms`, and
    /// `is_well` tells whether a life has been since then (milliseconds).
    pub(crate) fn is_in_time(
        &self,
        image: &Image,
        (now, now_ms, somebody_ms): (Timestamp, u64, u64),
        patience: Patience,
        sights: &mut Sights,
        is_well: &dyn Fn(u32, u64) -> bool,
    ) -> Result<(), Violation> {
        let before = std::mem::take(sights);
        for row in image.tasks.values() {
            let (id, rev) = (row.id(), row.rev);
            let is_ready = row.status == TaskStatus::Pending && row.available_at <= now;
            let waiting =
                self.tasks.polls.0.iter().enumerate().filter(|(_, poll)| {
                    poll.ended.is_none() && is_ready && poll.wants(&row.task_type)
                });
            for (number, poll) in waiting.filter(|(_, poll)| is_well(poll.life, now_ms)) {
                let key = (id, rev, number);
                let since = before.ready.get(&key).copied().unwrap_or(now_ms);
                if now_ms - since > patience.ready_ms && is_well(poll.life, since) {
                    let what = format!("since {since}: {row:#?} and {poll:?}");
                    return Err(Violation::new("no task is ready beside who waits", what));
                }
                sights.ready.insert(key, since);
            }
            let poll = poll_of(row).and_then(|poll| self.tasks.polls.0.get(poll));
            if let Some((poll, (ended, _))) = poll.and_then(|poll| Some((poll, poll.ended?)))
                && !is_received(poll)
                && now_ms - ended > patience.gone_ms
                // One whose time is over is brought back by its clock, on whichever node has that turn.
                && row.wake_at.is_none_or(|at| at > now)
                && is_well(poll.life, ended)
            {
                let what = format!("{poll:?} is over: {row:#?}");
                return Err(Violation::new("what reaches nobody goes back", what));
            }
            let is_late = row.wake_at.is_some() && row.clocks().next() <= now
                || row.status == TaskStatus::Retired;
            if is_late {
                let since = before.late.get(&(id, rev)).copied().unwrap_or(now_ms);
                if now_ms - since.max(somebody_ms) > patience.clock_ms {
                    let what = format!("since {since}, it is {now}: {row:#?}");
                    return Err(Violation::new(
                        "a clock that has run out is looked at",
                        what,
                    ));
                }
                sights.late.insert((id, rev), since);
            }
        }
        for (key, row) in &image.callbacks {
            if row.wake_at.is_none_or(|wake_at| wake_at > now) {
                continue;
            }
            let since = before.windows.get(key).copied().unwrap_or(now_ms);
            if now_ms - since.max(somebody_ms) > patience.clock_ms {
                let what = format!("since {since}, it is {now}: {row:#?}");
                return Err(Violation::new("a window that is over is looked at", what));
            }
            sights.windows.insert(*key, since);
        }
        Ok(())
    }
}

/// Whether whoever made a poll has what it was given, or may still get it.
fn is_received(poll: &Poll) -> bool {
    matches!(poll.ended, None | Some((_, PollEnd::Taken)))
}

/// Between two looks.
pub(crate) const LOOKS_EVERY: Duration = Duration::from_millis(100);
