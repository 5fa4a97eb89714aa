//! Tasks for workers: fetched, spoken of, and ended by whoever has seen them, or has not.

use std::time::Duration;

use refire_core::execution::{Began, Outcome};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, LockToken, TaskId};
use refire_store::{
    KnownBy, LockTasks, Part, SeenTask, TaskHolder, TaskRow, Touch, TouchTask, WantedTasks,
};

use crate::history::History;

/// What workers ask for; nobody makes tasks of the last.
const TYPES: [&str; 3] = ["t", "u", "x"];
/// One has a character that a text of a database may not be able to hold.
const WORKERS: [&str; 2] = ["w1", "w\u{0}2"];

impl History {
    pub(crate) fn worker(&mut self) -> Option<TaskHolder> {
        let worker = self.dice.pick(&WORKERS).to_owned();
        let token = u8::try_from(self.dice.below(200)).ok()?;
        Some(TaskHolder {
            token: LockToken::from_bytes([token; 16]),
            worker: self.dice.maybe(worker),
            worker_type: self.dice.maybe("kind".to_owned()),
        })
    }

    /// Workers that wait, for the same types or for others.
    pub(crate) fn lock_tasks(&mut self) -> Part {
        let mut types = TYPES.map(str::to_owned).to_vec();
        let mut wanted = Vec::new();
        for _ in 0..1 + self.dice.below(2) {
            let some = match self.dice.one_in(2) {
                true => types.clone(),
                false => self.dice.some(&types),
            };
            // A type belongs to one of them.
            types.retain(|name| !some.contains(name));
            let count = self.dice.below(4);
            wanted.push(WantedTasks {
                types: some,
                holders: (0..count).filter_map(|_| self.worker()).collect(),
            });
        }
        Part::LockTasks(LockTasks { wanted, place: 0 })
    }

    /// A word about a task that is mostly there, by somebody who mostly has it.
    pub(crate) fn touch_task(&mut self) -> Part {
        let task = self.dice.pick_from(self.known.tasks.values()).cloned();
        let nobody = TaskId {
            execution: ExecutionId::from_bytes([1; 16]),
            step: 0,
        };
        let id = task.as_ref().map_or(nobody, |task| task.id());
        let token = task.as_ref().and_then(|task| task.token);
        let rev = task.as_ref().map_or(1, |task| task.rev);
        let stranger = LockToken::from_bytes([201; 16]);
        let known = match self.dice.below(8) {
            0 => KnownBy::Token(stranger),
            1 => KnownBy::Name,
            2 => KnownBy::Rev(rev + u64::from(self.dice.one_in(4))),
            _ => KnownBy::Token(token.unwrap_or(stranger)),
        };
        let progress = u8::try_from(self.dice.below(101)).ok();
        let touch = match self.dice.below(5) {
            0 | 1 => Touch::Heartbeat {
                progress: progress.filter(|_| self.dice.one_in(2)),
                message: self.dice.maybe("half \u{0} done".to_owned()),
            },
            2 => Touch::Extend {
                until: self.about_now(100),
            },
            3 => Touch::Unlock,
            _ => Touch::Rearm,
        };
        Part::TouchTask(TouchTask { id, known, touch })
    }

    /// One of an execution's tasks as it was seen, or nearly so.
    pub(crate) fn seen(&mut self, id: ExecutionId) -> Option<SeenTask> {
        let tasks = self.known.tasks_of(id);
        let tasks: Vec<(u16, u64)> = tasks
            .map(|task: &TaskRow| (task.step_no, task.rev))
            .collect();
        if self.dice.one_in(3) {
            return None;
        }
        let (step, rev) = *self.dice.pick_from(tasks.iter())?;
        let rev = rev + u64::from(self.dice.one_in(8));
        Some(SeenTask { step, rev })
    }

    /// How an attempt of a task ended.
    pub(crate) fn word(&mut self) -> (Began, Outcome) {
        let at = self
            .now
            .minus(Duration::from_millis(self.dice.below(3_000)));
        let worker = self.dice.maybe(WORKERS[0].to_owned());
        let failed = |class| Outcome::Failed(Failure::new(class, "no \u{0} answer"));
        let outcome = match self.dice.below(6) {
            0 => failed(ErrorClass::Worker),
            1 => failed(ErrorClass::LockExpired),
            2 => return (Began::Never, failed(ErrorClass::TaskTimeout)),
            _ => self.outcome(),
        };
        (Began::Fetched { worker, at }, outcome)
    }
}
