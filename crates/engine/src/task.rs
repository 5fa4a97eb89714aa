//! Tasks for workers outside: they fetch them, say that they are still at it, and report what came of it.
//!
//! | | |
//! |---|---|
//! | `matcher.rs` | who waits for which types, and who gets a new task |
//! | `delivery.rs` | tasks on their way to a worker, which go back if it is gone |
//! | `back.rs` | what did not arrive is given back |
//! | `available.rs` | tasks that may be fetched later |
//! | `board.rs` | what the committer shares with this |
//! | `clocks.rs` | attempts whose time, lock or heartbeats are over |
//! | `registry.rs` | workers, as people see them |

mod available;
mod back;
mod board;
mod clocks;
mod delivery;
mod matcher;
mod registry;
mod tally;

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::{Command, Execution, Outcome, Report, map_output, mapping_bytes};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, LockToken, TaskId};
use refire_core::json::Json;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::task::TaskStatus;
use refire_store::{
    KnownBy, LockTasks, News, Part, PartOutcome, ReadError, SeenTask, TaskCall, TaskFilter,
    TaskHolder, TaskRow, Touch, TouchTask, WantedTasks,
};
use tokio::time::Instant;

pub(crate) use board::Board;
use delivery::WayBack;
pub use delivery::{Delivery, Fetched};
pub(crate) use matcher::Taken;
pub use matcher::TaskTypes;
pub(crate) use registry::workers;
pub use registry::{Worker, WorkerFilter};
pub use tally::{TaskTally, TaskTypeTally};

use crate::commit::{CommandError, CommitFailure};
use crate::context::{Context, Listener};
use crate::vital::Vital;
use matcher::Wake;
use registry::Polling;

/// How often a report is sent again because its task changed meanwhile.
const TRIES_MAX: u32 = 20;
/// How long to wait after trouble with the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// See the module.
pub struct Tasks {
    context: Arc<Context>,
}

/// A worker that asks for tasks.
#[derive(Debug, Clone)]
pub struct Poll {
    /// Of which types.
    pub types: TaskTypes,
    /// Who it is, if it says so.
    pub worker: Option<String>,
    /// What kind of worker it is.
    pub worker_type: Option<String>,
    /// How many it takes at most.
    pub max: u32,
    /// How long it waits for the first.
    pub wait: Duration,
}

/// Why something about a task was not done.
#[derive(Debug, thiserror::Error)]
pub enum TaskError {
    /// There is no such task.
    #[error("there is no such task")]
    NotFound,
    /// There is no such worker.
    #[error("there is no such worker")]
    NoSuchWorker,
    /// Whoever asks does not have it.
    #[error("{0}")]
    NotHeld(String),
    /// Too many polls wait.
    #[error("too many polls are waiting on this server")]
    TooManyWaiting,
    /// It could not be committed.
    #[error(transparent)]
    Failed(#[from] CommitFailure),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a worker says with its call.
#[derive(Debug, Clone)]
pub enum Ended {
    /// It is done, with this output.
    Completed(Json),
    /// It failed.
    Failed(Failure),
}

impl Context {
    /// Sends a command that ends an attempt of a task, as the task was seen.
    pub(crate) async fn task_command(
        &self,
        id: ExecutionId,
        command: Command,
        seen: SeenTask,
    ) -> Result<Arc<Execution>, CommandError> {
        let asked = self.command_on(id, command, seen).await;
        asked.map_err(CommitFailure::from)?.answer().await
    }
}

impl Listener for Tasks {
    fn hear(&self, news: &News) {
        match news {
            News::Task(task_type) => self.context.tasks.matcher.mark(task_type),
            News::Missed => {
                self.context.tasks.ask();
            }
            _ => {}
        }
    }
}

impl Tasks {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let tasks = Arc::new(Self {
            context: Arc::clone(context),
        });
        context.listen(&tasks);
        let stopping = &context.stopping;
        vital.spawn_until(stopping, clocks::clock_loop(Arc::clone(context)));
        vital.spawn_until(stopping, available::available_loop(Arc::clone(context)));
        vital.spawn(registry::write_loop(Arc::clone(context)));
        if let Some(undelivered) = context.tasks.undelivered.lock().take() {
            vital.spawn(back::back_loop(Arc::clone(context), undelivered));
        }
        tasks
    }

    /// Fetches tasks, and waits for the first. Who lets go of what comes back gives the tasks back.
    pub async fn poll(&self, poll: Poll) -> Result<Delivery, TaskError> {
        let context = &self.context;
        context.is_open()?;
        let room = &context.tasks.room;
        let room = (!poll.wait.is_zero()).then(|| room.try_acquire());
        let _room = room.transpose().map_err(|_| TaskError::TooManyWaiting)?;
        let _polling = Polling::begin(context, &poll);
        let mut token = [0; 16];
        context.entropy.fill(&mut token);
        let holder = TaskHolder {
            token: LockToken::from_bytes(token),
            worker: poll.worker.clone(),
            worker_type: poll.worker_type.clone(),
        };
        let found = self.fetch(poll, &holder).await?;
        if let Some(worker) = holder.worker.filter(|_| !found.tasks().is_empty()) {
            context.tasks.workers.has_lock(holder.token, &worker);
        }
        Ok(found)
    }

    /// Looks and waits until there is something, or it has taken too long.
    async fn fetch(&self, poll: Poll, holder: &TaskHolder) -> Result<Delivery, TaskError> {
        let context = &self.context;
        let matcher = &context.tasks.matcher;
        let back = context.tasks.way_back().ok_or(CommitFailure::Stopping)?;
        let types = Arc::new(poll.types);
        let place = matcher.arrive();
        let deadline = Instant::now() + poll.wait;
        // There may be tasks that this node has not heard of yet: from before its start, or of others.
        let has_looked = context.tasks.has_looked.load(Ordering::Relaxed);
        let mut asks_store = poll.wait.is_zero() && (context.store.is_shared() || !has_looked);
        loop {
            let whose = (holder, &back);
            let found = self
                .look(&types, whose, (place, poll.max), asks_store)
                .await?;
            if !found.tasks().is_empty() {
                return Ok(found);
            }
            asks_store = false;
            if Instant::now() >= deadline {
                return Ok(found);
            }
            let Some(mut waiting) = matcher.wait(place, &types, whose) else {
                continue;
            };
            tokio::select! {
                biased;
                wake = waiting.wake() => match wake {
                    Wake::Look => {}
                    Wake::Delivery(delivery) => return Ok(delivery),
                    Wake::Failed(failure) => return Err(failure.into()),
                },
                () = context.closing.cancelled() => return Ok(found),
                () = tokio::time::sleep_until(deadline) => match waiting.leave() {
                    Some(Wake::Delivery(delivery)) => return Ok(delivery),
                    Some(Wake::Failed(failure)) => return Err(failure.into()),
                    // Somebody has to look, and nobody else was told.
                    Some(Wake::Look) => {}
                    None => return Ok(found),
                },
            }
        }
    }

    /// Fetches what there is in the store.
    async fn look(
        &self,
        types: &TaskTypes,
        (holder, back): (&TaskHolder, &WayBack),
        (place, max): (u64, u32),
        asks_store: bool,
    ) -> Result<Delivery, TaskError> {
        let context = &self.context;
        let (mut wanted, marks) = context.tasks.matcher.marked(types);
        if asks_store {
            let open = context.store.open_task_types().await?;
            let open = open.into_iter().map(|(name, _)| name);
            wanted.extend(open.filter(|name| types.has(name)));
            wanted.sort_unstable();
            wanted.dedup();
        }
        if wanted.is_empty() {
            return Ok(Delivery::new(Vec::new(), back.clone()));
        }
        let lock = LockTasks {
            wanted: vec![WantedTasks {
                types: wanted.clone(),
                holders: vec![holder.clone(); max as usize],
            }],
            place,
        };
        // Whoever asks may be gone meanwhile: what was fetched then goes back.
        let (context, back, token) = (Arc::clone(context), back.clone(), holder.token);
        let fetching = tokio::spawn(async move {
            let locked = match context.queue.part(Part::LockTasks(lock)).await {
                Ok(PartOutcome::Locked(rows)) => Ok(rows),
                Ok(other) => Err(CommitFailure::unexpected("outcome", &other)),
                Err(failure) => Err(failure),
            };
            let is_short = |rows: &Vec<TaskRow>| rows.len() < max as usize;
            let in_vain = locked.as_ref().is_ok_and(is_short);
            context.tasks.matcher.looked(&wanted, marks, in_vain);
            if in_vain {
                context.tasks.none_now(&wanted);
            }
            if locked == Err(CommitFailure::Unknown) {
                back.send_all(token);
            }
            context.fetched(locked?, back).await
        });
        fetching
            .await
            .unwrap_or_else(|_| Err(CommitFailure::Unknown.into()))
    }

    /// One task.
    pub async fn get(&self, id: TaskId) -> Result<Option<TaskRow>, ReadError> {
        self.context.store.task(id).await
    }

    /// Tasks older than `before`, newest first.
    pub async fn list(
        &self,
        filter: &TaskFilter,
        before: Option<TaskId>,
        limit: u32,
    ) -> Result<Vec<TaskRow>, ReadError> {
        self.context.store.tasks(filter, before, limit).await
    }

    /// What a task's worker is given.
    pub async fn input(&self, row: &TaskRow) -> Result<Json, ReadError> {
        self.context.task_input(row).await
    }

    /// A worker's word on how its task ended.
    pub async fn end(
        &self,
        id: TaskId,
        token: Option<LockToken>,
        ended: Ended,
    ) -> Result<(), TaskError> {
        let context = &self.context;
        let (call, outcome) = match ended {
            Ended::Completed(output) => (TaskCall::Complete, Outcome::Succeeded(output)),
            Ended::Failed(failure) => (TaskCall::Fail, Outcome::Failed(failure)),
        };
        for _ in 0..TRIES_MAX {
            let row = context.store.task(id).await?.ok_or(TaskError::NotFound)?;
            if !held(&row, token, call)? {
                return Ok(());
            }
            let (outcome, mapped) = self.map(&row, outcome.clone()).await?;
            let report = Report {
                step: row.step.parse().map_err(|_| TaskError::NotFound)?,
                attempt: row.attempt,
                began: clocks::began(&row),
                duration_ms: row.held_ms(context.now()),
                outcome,
                mapped,
            };
            let seen = SeenTask {
                step: row.step_no,
                rev: row.rev,
            };
            let command = Command::Report(report);
            match context.task_command(row.execution, command, seen).await {
                Ok(_) => {
                    let (is_done, now) = (call == TaskCall::Complete, context.now());
                    let workers = &context.tasks.workers;
                    workers.ended(row.worker.as_deref(), is_done, now);
                    return Ok(());
                }
                // It is not as it was seen any more: it is looked at again.
                Err(CommandError::TaskMoved | CommandError::Refused(_)) => {}
                Err(CommandError::NotFound) => return Err(TaskError::NotFound),
                Err(CommandError::Failed(failure)) => return Err(failure.into()),
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// What the step's `outputMapping` gives for a long output: worked out here, so that the committer does
    /// not have to.
    async fn map(
        &self,
        row: &TaskRow,
        outcome: Outcome,
    ) -> Result<(Outcome, Option<refire_core::execution::Mapping>), TaskError> {
        let context = &self.context;
        let Outcome::Succeeded(output) = &outcome else {
            return Ok((outcome, None));
        };
        if output.as_str().len() <= context.aside.at_once_bytes_max() {
            return Ok((outcome, None));
        }
        let stored = context.store.execution(row.execution).await?;
        let origin = stored.and_then(|stored| stored.state.origin);
        let origin = origin.ok_or(TaskError::NotFound)?;
        let workflow = context.catalog.of(&origin).await;
        let workflow = workflow.map_err(CommitFailure::catalog)?;
        let Some((index, step)) = workflow.step(&row.step) else {
            return Ok((outcome, None));
        };
        if step.is_compensation {
            return Ok((outcome, None));
        }
        let bytes = mapping_bytes(step, output);
        let (output, workflow, rules) = (output.clone(), Arc::clone(&workflow), origin.rules);
        let mapping = move || map_output(&workflow.steps[index], &output, rules);
        Ok(match context.aside.map(bytes, mapping).await {
            Ok(mapped) => (outcome, Some(mapped)),
            Err(failure) => (Outcome::Failed(failure), None),
        })
    }

    /// A worker's word that it is still at it.
    pub async fn heartbeat(
        &self,
        id: TaskId,
        token: Option<LockToken>,
        progress: Option<u8>,
        message: Option<String>,
    ) -> Result<(), TaskError> {
        #[cfg(feature = "planted")]
        if planted::is(Defect::HeartbeatUnwritten) {
            let row = self.get(id).await?.ok_or(TaskError::NotFound)?;
            return held(&row, token, TaskCall::Unlock).map(|_| ());
        }
        let touch = Touch::Heartbeat { progress, message };
        self.touch(id, token, touch).await
    }

    /// A worker's wish to hold its task for so long from now.
    pub async fn extend(
        &self,
        id: TaskId,
        token: Option<LockToken>,
        by: Duration,
    ) -> Result<(), TaskError> {
        let until = self.context.now().plus(by);
        self.touch(id, token, Touch::Extend { until }).await
    }

    /// A worker gives its task back; that is no attempt.
    pub async fn unlock(&self, id: TaskId, token: Option<LockToken>) -> Result<(), TaskError> {
        self.touch(id, token, Touch::Unlock).await
    }

    async fn touch(
        &self,
        id: TaskId,
        token: Option<LockToken>,
        touch: Touch,
    ) -> Result<(), TaskError> {
        let is_unlock = touch == Touch::Unlock;
        let known = token.map_or(KnownBy::Name, KnownBy::Token);
        let part = Part::TouchTask(TouchTask { id, known, touch });
        let context = Arc::clone(&self.context);
        // Whoever asks may be gone meanwhile: that a task is back is told all the same.
        let touching = tokio::spawn(async move { context.touched(part, id, is_unlock).await });
        let left = touching.await;
        let Some(row) = left.unwrap_or_else(|_| Err(CommitFailure::Unknown.into()))? else {
            if !is_unlock {
                self.is_at_it(id, token).await;
            }
            return Ok(());
        };
        match held(&row, token, TaskCall::Unlock) {
            Ok(false) if is_unlock => Ok(()),
            Err(error) => Err(error),
            // It became so in between.
            Ok(_) => Err(not_held(&row)),
        }
    }
}

impl Tasks {
    /// A worker has said that it is still at this task. Who it is its lock tells, or the task.
    async fn is_at_it(&self, id: TaskId, token: Option<LockToken>) {
        let (context, workers) = (&self.context, &self.context.tasks.workers);
        if let Some(worker) = token.and_then(|token| workers.of_lock(token)) {
            return workers.is_at_it(&worker, context.now());
        }
        // It does not matter if that cannot be found out.
        let row = context.store.task(id).await.ok().flatten();
        if let Some((worker, token)) = row.and_then(|row| row.worker.zip(row.token)) {
            workers.is_at_it(&worker, context.now());
            workers.has_lock(token, &worker);
        }
    }
}

/// Whether whoever sends this token has the task; false if its own call has ended that already.
fn held(row: &TaskRow, token: Option<LockToken>, call: TaskCall) -> Result<bool, TaskError> {
    let is_held = row.status == TaskStatus::Locked;
    #[cfg(feature = "planted")]
    if planted::is(Defect::TokenIgnored) && is_held {
        return Ok(true);
    }
    match token {
        Some(token) if is_held && row.token == Some(token) => Ok(true),
        // The answer to its call was lost, and it asks again.
        Some(token) if row.ended_token == Some(token) && row.ended_by == Some(call) => Ok(false),
        None if is_held && !row.require_token => Ok(true),
        None if is_held => Err(TaskError::NotHeld(
            "this task takes reports only with the token of its lock; send it as `lockToken` or \
             `X-Lock-Token`"
                .to_owned(),
        )),
        _ => Err(not_held(row)),
    }
}

fn not_held(row: &TaskRow) -> TaskError {
    TaskError::NotHeld(match row.status {
        TaskStatus::Locked => {
            "the lock is not yours any more: another worker has the task".to_owned()
        }
        TaskStatus::Pending | TaskStatus::Held => {
            "no worker has the task: its lock ran out, or it was given back".to_owned()
        }
        over => format!("the task is over ({})", over.shown()),
    })
}

impl Context {
    /// Touches a task; the task if nothing was done, since it is not as somebody said.
    async fn touched(
        &self,
        part: Part,
        id: TaskId,
        is_unlock: bool,
    ) -> Result<Option<TaskRow>, TaskError> {
        let was = match self.queue.part(part).await? {
            PartOutcome::Touched(was) => was,
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        };
        if was && !is_unlock {
            return Ok(None);
        }
        let row = self.store.task(id).await;
        if was && row.is_err() {
            // Of which type it is, the store says later.
            self.tasks.ask();
        }
        let row = row?.ok_or(TaskError::NotFound)?;
        match row.status {
            // Nobody can fetch it: who is sent to look for it would miss what can be fetched meanwhile.
            TaskStatus::Retired if was => self.tasks.clocks.clock_at(self.now()),
            _ if was => self.is_back(&row.task_type),
            _ => {}
        }
        Ok((!was).then_some(row))
    }

    /// Tasks that a worker has now, with what it is given.
    async fn fetched(&self, rows: Vec<TaskRow>, back: WayBack) -> Result<Delivery, TaskError> {
        // Whatever happens, they go back if they do not arrive.
        let tasks = rows.into_iter().map(|row| Fetched {
            row,
            input: Json::null(),
        });
        let mut delivery = Delivery::new(tasks.collect(), back);
        let inputs = delivery.tasks().iter().map(|task| {
            self.tasks.clocks.clock_at(task.row.clocks().next());
            self.task_input(&task.row)
        });
        let inputs = join_all(inputs).await;
        for (task, input) in delivery.tasks_mut().iter_mut().zip(inputs) {
            task.input = input?;
        }
        Ok(delivery)
    }

    async fn task_input(&self, row: &TaskRow) -> Result<Json, ReadError> {
        let sequences = [row.input_sequence];
        let values = self.store.values(row.execution, &sequences);
        let missing = || ReadError::Corrupt {
            what: format!("the input of task {}", row.id()),
            source: "its event is missing".into(),
        };
        let value = values.await?.pop().ok_or_else(missing)?;
        Ok(value.1)
    }

    /// A task of this type may be fetched again; or it is over by now, since its execution fails, which whoever
    /// looks at the clocks records.
    fn is_back(&self, task_type: &str) {
        self.tasks.clocks.clock_at(self.now());
        self.tasks.matcher.mark(task_type);
        self.store.tell(News::Task(task_type.to_owned()));
    }
}

/// The failure that a worker reports.
#[must_use]
pub fn worker_failure(message: String, trace: Option<&str>) -> Failure {
    /// Lines of a stack trace that are kept apart.
    const CAUSES_MAX: usize = 20;
    /// Bytes of a stack trace that are kept.
    const TRACE_BYTES_MAX: usize = 64 * 1024;
    let mut failure = Failure::new(ErrorClass::Worker, message);
    if let Some(trace) = trace {
        let end = trace.floor_char_boundary(TRACE_BYTES_MAX.min(trace.len()));
        let lines = trace.lines().map(str::trim).filter(|line| !line.is_empty());
        failure.causes = lines.take(CAUSES_MAX).map(str::to_owned).collect();
        failure.response = Some(trace[..end].to_owned());
    }
    failure
}
