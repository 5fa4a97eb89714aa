//! The promises about tasks: one worker has a task at a time, by a lock that is durable before it is
//! handed out; only who has it ends it, and whoever repeats that is told the same; no clock runs out
//! early; a pause takes no time from a task; giving a task back is no attempt; and its row says what
//! the log says.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::time::Duration;

use refire_core::definition::StepId;
use refire_core::execution::{Event, EventKind};
use refire_core::failure::ErrorClass;
use refire_core::id::{LockToken, TaskId};
use refire_core::task::TaskStatus;
use refire_core::time::Timestamp;
use refire_engine::task::Fetched;
use refire_store::model::Image;
use refire_store::{TaskCall, TaskRow};

use super::poll::{Polls, poll_of};
use super::{Judge, Known};
use crate::mark::{Mark, Marks};
use crate::world::Violation;

/// How far ahead of the shared database's clock that of a node may be.
const EARLY_MAX: Duration = Duration::from_millis(500);

/// What is known of all tasks.
#[derive(Default)]
pub(super) struct Tasks {
    tracks: BTreeMap<TaskId, Track>,
    pub(super) polls: Polls,
}

/// A task as its durable rows told it, one after the other.
struct Track {
    row: TaskRow,
    locks: BTreeMap<LockToken, Lock>,
    /// The lock that ended last, if a worker's call did that, and which.
    last: Option<(LockToken, TaskCall)>,
    /// How often its lock or that has changed.
    turns: u64,
}

/// A lock that was durable.
struct Lock {
    attempt: u32,
    /// Which calls of its holder ended it.
    ended: Option<TaskCall>,
    /// When its holder was heard of last.
    heard_at: Option<Timestamp>,
    is_handed_out: bool,
}

/// When a batch was written: by its node's clock, and by the clock of a shared database.
#[derive(Debug, Clone, Copy)]
pub(crate) struct When {
    pub(crate) now: Timestamp,
    pub(crate) real: Option<Timestamp>,
}

impl When {
    /// Whether a moment has come.
    pub(super) fn is_past(self, at: Timestamp) -> bool {
        at <= self.now && self.real.is_none_or(|real| at <= real.plus(EARLY_MAX))
    }
}

/// What a worker says about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Saying {
    Heartbeat,
    Extend,
    Ends(TaskCall),
}

/// What it is answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Said {
    /// It is so.
    Yes,
    /// It does not have the task.
    NotHeld,
    /// There is no such task.
    NotFound,
    /// It did not work, or nobody knows.
    Failed,
}

/// A call of a worker on its way.
pub(crate) struct Call {
    task: TaskId,
    token: Option<LockToken>,
    saying: Saying,
    /// When it was made, by the node that it was made to.
    from: Timestamp,
    /// Which turn the task was at when it was made, and whether that was the caller's.
    turns: u64,
    was_held: bool,
}

impl Judge {
    /// Looks at every task that has changed. `when` is when the batch was written that did it; after
    /// a start nobody knows.
    pub(crate) fn follow_tasks(
        &mut self,
        image: &Image,
        when: Option<When>,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        for (id, row) in &image.tasks {
            let track = self.tasks.tracks.get(id);
            if track.is_some_and(|track| track.row.rev == row.rev) {
                continue;
            }
            let Some(known) = self.known.get(&id.execution) else {
                continue;
            };
            let polls = &mut self.tasks.polls;
            let step = Step {
                before: track.map(|track| &track.row),
                after: row,
                known,
                when,
            };
            let changed = step
                .is_counted()
                .and_then(|()| step.locks(track, polls))
                .and_then(|()| step.is_in_turn(image, self.is_lone))
                .and_then(|()| step.clock())
                .and_then(|()| step.pause())
                .and_then(|()| step.give_back());
            changed.map_err(|violation| known.explain(violation, id.execution))?;
            step.marks(marks);
            let ended = step.ended_by();
            self.tasks.track(*id, row, ended);
        }
        Ok(())
    }

    /// A poll is answered with tasks: each is locked for it and for nobody else, durably.
    pub(crate) fn handed_out(&mut self, poll: usize, tasks: &[Fetched]) -> Result<(), Violation> {
        for task in tasks {
            let (id, row) = (task.row.id(), &task.row);
            let fail = |check, what: &str| Err(Violation::new(check, format!("{id}: {what}")));
            let track = self.tasks.tracks.get_mut(&id);
            let lock = track.and_then(|track| track.locks.get_mut(&row.token?));
            let Some(lock) = lock.filter(|lock| lock.attempt == row.attempt) else {
                let check = "a lock is durable before it is handed out";
                return fail(check, &format!("{row:?}"));
            };
            if lock.is_handed_out || poll_of(row) != Some(poll) {
                let check = "a lock is for one poll";
                return fail(check, &format!("poll {poll} gets it: {row:?}"));
            }
            lock.is_handed_out = true;
            let known = self.known.get(&id.execution);
            let input = known.and_then(|known| known.task_input(&row.step));
            if input.is_none_or(|input| input != task.input.as_str()) {
                let what = format!("{:?} instead of {input:?}", task.input);
                return fail("a worker is given what the log says", &what);
            }
        }
        Ok(())
    }

    /// A worker is about to say something of a task.
    pub(crate) fn asked(
        &self,
        task: TaskId,
        token: Option<LockToken>,
        saying: Saying,
        from: Timestamp,
    ) -> Call {
        let track = self.tasks.tracks.get(&task);
        let now = track.and_then(|track| track.row.token);
        Call {
            task,
            token,
            saying,
            from,
            turns: track.map_or(0, |track| track.turns),
            was_held: now.is_some() && now == token,
        }
    }

    /// It is answered.
    pub(crate) fn answered(
        &self,
        call: &Call,
        said: Said,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let Some(track) = self.tasks.tracks.get(&call.task) else {
            return match said {
                Said::Yes => Err(call.wrong("only who has a task ends it", "there is none")),
                _ => Ok(()),
            };
        };
        if said == Said::NotFound {
            return Err(call.wrong("what was handed out is found", "it is not"));
        }
        let is_same = track.turns == call.turns;
        if call.was_held && said == Said::NotHeld && !is_same {
            let ended = call.token.and_then(|token| track.locks.get(&token));
            let by_clock = ended.is_some_and(|lock| lock.ended.is_none());
            if by_clock && !track.row.status.is_over() {
                marks.reach(match call.saying {
                    Saying::Ends(_) => Mark::EndLostToAClock,
                    _ => Mark::HeartbeatLostToAClock,
                });
            }
        }
        if is_same {
            track.is_right(call, said)?;
        }
        match (call.token, said) {
            (Some(token), Said::Yes) => track.counts(call, token),
            _ => Ok(()),
        }
    }
}

impl Call {
    fn wrong(&self, check: &'static str, what: &str) -> Violation {
        let Self {
            task,
            token,
            saying,
            ..
        } = self;
        Violation::new(check, format!("{task} by {token:?}, {saying:?}: {what}"))
    }
}

impl Track {
    /// Nothing happened between a call and its answer: then there is one right answer.
    fn is_right(&self, call: &Call, said: Said) -> Result<(), Violation> {
        let row = &self.row;
        let what = format!("{said:?}, and the row is {row:?}");
        let has_it = match call.token {
            Some(token) => row.token == Some(token),
            None => row.token.is_some() && !row.require_token,
        };
        let is_repeated = match (call.token, call.saying) {
            (Some(token), Saying::Ends(by)) => self.last == Some((token, by)),
            _ => false,
        };
        match said {
            Said::NotHeld if has_it => Err(call.wrong("who has a task is listened to", &what)),
            Said::NotHeld if is_repeated => {
                Err(call.wrong("who repeats a call is told the same", &what))
            }
            Said::Yes if !has_it && !is_repeated => {
                Err(call.wrong("an old lock counts for nothing", &what))
            }
            _ => Ok(()),
        }
    }

    /// What was answered with yes is durable, and was done by that lock.
    fn counts(&self, call: &Call, token: LockToken) -> Result<(), Violation> {
        let row = format!("{:?}", self.row);
        let Some(lock) = self.locks.get(&token) else {
            return Err(call.wrong("only who has a task ends it", "it never had it"));
        };
        match call.saying {
            Saying::Ends(by) if lock.ended != Some(by) => {
                Err(call.wrong("only who has a task ends it", &row))
            }
            Saying::Heartbeat if lock.heard_at < Some(call.from) => {
                Err(call.wrong("a heartbeat that is answered is durable", &row))
            }
            _ => Ok(()),
        }
    }
}

impl Tasks {
    fn track(&mut self, id: TaskId, row: &TaskRow, ended: Option<Ended>) {
        let mut before = None;
        let track = match self.tracks.entry(id) {
            Entry::Vacant(entry) => entry.insert(Track {
                row: row.clone(),
                locks: BTreeMap::new(),
                last: None,
                turns: 0,
            }),
            Entry::Occupied(entry) => {
                let track = entry.into_mut();
                let old = std::mem::replace(&mut track.row, row.clone());
                before = old.token;
                // One batch may have a heartbeat and an end.
                if let Some(lock) = before.and_then(|token| track.locks.get_mut(&token))
                    && row.rev > old.rev + 1
                {
                    lock.heard_at = Some(row.updated_at);
                }
                track
            }
        };
        track.turns += u64::from(before != row.token);
        if let (Some(token), Some(ended)) = (before, ended) {
            track.last = ended.map(|by| (token, by));
            if let Some(lock) = track.locks.get_mut(&token) {
                lock.ended = ended;
            }
        }
        if let Some(token) = row.ended_token
            && !track.locks.contains_key(&token)
        {
            // It came and went with one batch.
            let lock = Lock {
                attempt: row.attempt,
                ended: row.ended_by,
                heard_at: row.heartbeat_at,
                is_handed_out: false,
            };
            track.locks.insert(token, lock);
            track.last = row.ended_by.map(|by| (token, by));
            track.turns += 1;
        }
        if let Some(token) = row.token {
            let lock = track.locks.entry(token).or_insert_with(|| Lock {
                attempt: row.attempt,
                ended: None,
                heard_at: None,
                is_handed_out: false,
            });
            lock.heard_at = row.heartbeat_at;
        }
    }
}

/// By which call of its holder a lock ended, if by one.
type Ended = Option<TaskCall>;

/// A change of a task.
struct Step<'a> {
    before: Option<&'a TaskRow>,
    after: &'a TaskRow,
    known: &'a Known,
    when: Option<When>,
}

impl Step<'_> {
    fn fail(&self, check: &'static str) -> Result<(), Violation> {
        let (before, after) = (self.before, self.after);
        let what = format!("{before:#?} became {after:#?} at {:?}", self.when);
        Err(Violation::new(check, what))
    }

    /// Whoever has seen a task knows whether it has changed.
    fn is_counted(&self) -> Result<(), Violation> {
        match self
            .before
            .is_some_and(|before| before.rev >= self.after.rev)
        {
            true => self.fail("changes of a task are counted"),
            false => Ok(()),
        }
    }

    /// Whether a worker has it that had it not before.
    fn is_locked(&self) -> bool {
        let before = self.before.and_then(|before| before.token);
        self.after.token.is_some() && self.after.token != before
    }

    /// One worker has a task at a time, and nobody gets one that is held back, over or not due.
    fn locks(&self, track: Option<&Track>, polls: &mut Polls) -> Result<(), Violation> {
        let after = self.after;
        if (after.status == TaskStatus::Locked) != after.token.is_some() {
            return self.fail("a lock has a token");
        }
        if !self.is_locked() {
            return Ok(());
        }
        let is_new = |token| track.is_none_or(|track| !track.locks.contains_key(&token));
        if after.token.is_some_and(|token| !is_new(token)) {
            return self.fail("a lock is used once");
        }
        let same = self.before.filter(|row| row.attempt == after.attempt);
        // One batch may give a task back and give it to another, end a pause and give it out, or do both:
        // each of these is a change that is counted.
        let is_resumed = self.known.state.paused_at.is_none();
        let stood = |before: &TaskRow| {
            let is_back = after.releases > before.releases;
            let (status, changes) = match is_back {
                true => (before.returns_to, 2),
                false => (before.status, 1),
            };
            match status {
                TaskStatus::Held if is_resumed && after.rev > before.rev + changes => {
                    after.returns_to
                }
                status => status,
            }
        };
        match same.map(stood) {
            None | Some(TaskStatus::Pending) => {}
            Some(TaskStatus::Locked) => return self.fail("one worker has a task at a time"),
            Some(_) => return self.fail("nobody gets what is held back"),
        }
        if self
            .when
            .is_some_and(|when| !when.is_past(after.available_at))
        {
            return self.fail("nobody gets a task before its time");
        }
        match polls.locked(after) {
            true => Ok(()),
            false => self.fail("a poll gets what it asks for"),
        }
    }

    /// A new task goes past no other that is ready, of its type and as urgent, where one node has all.
    fn is_in_turn(&self, image: &Image, is_lone: bool) -> Result<(), Violation> {
        /// So long before, the other was ready, in microseconds.
        const READY_FOR: Duration = Duration::from_millis(50);
        let (after, Some(when)) = (self.after, self.when) else {
            return Ok(());
        };
        if !is_lone || !self.is_locked() {
            return Ok(());
        }
        let turn = |row: &TaskRow| (row.priority, row.available_at);
        let is_passed = |row: &&TaskRow| {
            row.status == TaskStatus::Pending
                && row.task_type == after.task_type
                && row.id() != after.id()
                && turn(row) < turn(after)
                && row.available_at.max(row.updated_at).plus(READY_FOR) < when.now
        };
        match image.tasks.values().map(|row| &**row).find(is_passed) {
            Some(passed) => self
                .fail("tasks are given out in their order")
                .map_err(|mut it| {
                    it.what = format!("{} before {passed:#?}", it.what);
                    it
                }),
            None => Ok(()),
        }
    }

    /// The event that ended the attempt as it was before.
    fn end(&self) -> Option<&Event> {
        let before = self.before?;
        let is_it = |event: &&Event| {
            let step = event.step.as_ref().map(StepId::as_str);
            let ends = matches!(
                event.kind,
                EventKind::StepCompleted(_)
                    | EventKind::StepFailed(_)
                    | EventKind::CompensationCompleted(_)
            );
            ends && step == Some(before.step.as_str()) && event.attempt == Some(before.attempt)
        };
        let is_over = self.after.attempt != before.attempt || self.after.status.is_over();
        self.known.log.iter().find(is_it).filter(|_| is_over)
    }

    /// If its lock ended: by which call.
    fn ended_by(&self) -> Option<Ended> {
        let before = self.before.filter(|before| before.token.is_some())?;
        if before.token == self.after.token {
            return None;
        }
        if self.after.releases > before.releases && self.after.attempt == before.attempt {
            return Some(Some(TaskCall::Unlock));
        }
        Some(self.end().and_then(|event| match &event.kind {
            EventKind::StepFailed(failed) => {
                (failed.error.class == ErrorClass::Worker).then_some(TaskCall::Fail)
            }
            _ => Some(TaskCall::Complete),
        }))
    }

    /// No clock runs out before its time.
    fn clock(&self) -> Result<(), Violation> {
        let (Some(before), Some(when)) = (self.before, self.when) else {
            return Ok(());
        };
        let Some(EventKind::StepFailed(failed)) = self.end().map(|event| &event.kind) else {
            return Ok(());
        };
        let until = match failed.error.class {
            ErrorClass::TaskTimeout => Some(before.timeout_at),
            ErrorClass::HeartbeatMissed => before.heartbeat_until,
            ErrorClass::LockExpired => before.lock_until,
            _ => return Ok(()),
        };
        match until.is_some_and(|until| when.is_past(until)) {
            true => Ok(()),
            false => self.fail("no clock runs out before its time"),
        }
    }

    /// What was held back has as much time left as before.
    fn pause(&self) -> Result<(), Violation> {
        let Some(before) = self.before else {
            return Ok(());
        };
        let is_back = before.status == TaskStatus::Held
            && self.after.status == TaskStatus::Pending
            && before.attempt == self.after.attempt;
        let resumed = self
            .known
            .log
            .iter()
            .rev()
            .find(|event| matches!(event.kind, EventKind::ExecutionResumed(_)));
        let Some(resumed) = resumed.filter(|_| is_back) else {
            return Ok(());
        };
        let earlier = |event: &&Event| event.sequence < resumed.sequence;
        let paused = self.known.log.iter().rev().filter(earlier);
        let mut paused = paused.filter(|event| matches!(event.kind, EventKind::ExecutionPaused(_)));
        let from = paused.next().map_or(resumed.at, |event| event.at);
        let stood = resumed.at.since(from.max(before.available_at));
        let moved = self.after.timeout_at.since(before.timeout_at);
        // Rows have milliseconds.
        match moved + Duration::from_millis(1) >= stood {
            true => Ok(()),
            false => self.fail("a pause takes no time from a task"),
        }
    }

    /// What is given back is the same attempt.
    fn give_back(&self) -> Result<(), Violation> {
        let Some(before) = self.before else {
            return Ok(());
        };
        let is_one = self.after.rev == before.rev + 1;
        let is_back = is_one && self.after.releases > before.releases;
        match is_back && before.attempt != self.after.attempt {
            true => self.fail("giving a task back is no attempt"),
            false => Ok(()),
        }
    }

    /// What is worth noting.
    fn marks(&self, marks: &mut Marks) {
        let Some(before) = self.before else {
            return;
        };
        let (after, state) = (self.after, &self.known.state);
        let is_late = |row: &TaskRow| self.when.is_some_and(|it| row.clocks().next() <= it.now);
        let turned = (before.status, after.status);
        let ended = self.ended_by();
        for (seen, mark) in [
            (
                ended.is_some_and(|by| by.is_some()) && is_late(before),
                Mark::EndBeforeItsClock,
            ),
            (
                after.heartbeat_at != before.heartbeat_at
                    && after.heartbeat_at.is_some()
                    && is_late(before),
                Mark::HeartbeatBeforeItsClock,
            ),
            (
                turned == (TaskStatus::Pending, TaskStatus::Held),
                Mark::TaskHeld,
            ),
            (
                turned == (TaskStatus::Held, TaskStatus::Pending)
                    && after.timeout_at > before.timeout_at,
                Mark::TaskTimeMoved,
            ),
            (
                ended.is_some() && state.paused_at.is_some(),
                Mark::TaskEndedWhilePaused,
            ),
            (after.status == TaskStatus::Retired, Mark::TaskRetired),
            (
                ended.is_some_and(|by| by.is_some()) && state.failing.is_some(),
                Mark::TaskEndedWhileFailing,
            ),
            (ended == Some(Some(TaskCall::Unlock)), Mark::TaskGivenBack),
        ] {
            if seen {
                marks.reach(mark);
            }
        }
    }
}
