//! Tasks for workers outside: they fetch them, say that they are still at it, and report what came of it.
//!
//! | | |
//! |---|---|
//! | `matcher.rs` | who waits for which types, and who gets a new task |
//! | `delivery.rs` | tasks on their way to a worker, which go back if it is gone |
//! | `board.rs` | what the committer shares with this |
//! | `clocks.rs` | attempts whose time, lock or heartbeats are over |

mod board;
mod clocks;
mod delivery;
mod matcher;

use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::{Command, Execution, Outcome, Report, map_output, mapping_bytes};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, LockToken, TaskId};
use refire_core::json::Json;
use refire_core::task::TaskStatus;
use refire_store::{
    KnownBy, LockTasks, News, Part, PartOutcome, ReadError, SeenTask, TaskCall, TaskFilter,
    TaskHolder, TaskRow, Touch, TouchTask, WantedTasks,
};
use tokio::sync::mpsc;
use tokio::time::Instant;

pub(crate) use board::Board;
pub use delivery::{Delivery, Fetched};
pub(crate) use matcher::Taken;
pub use matcher::TaskTypes;

use crate::clock::until;
use crate::commit::{CommandError, CommitFailure};
use crate::context::{Context, Listener};
use crate::vital::Vital;
use matcher::Wake;

/// Polls that wait on one node; others are refused, so that they leave room for other requests.
const WAITING_MAX: usize = 10_000;
/// How often a report is sent again because its task changed meanwhile.
const TRIES_MAX: u32 = 20;
/// Looks for types that somebody waits for: the net below marks and news.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes make tasks, too.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
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
                self.context.tasks.is_asked.store(true, Ordering::Relaxed);
                self.context.tasks.bell.notify_one();
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
        vital.spawn_until(stopping, available_loop(Arc::clone(context)));
        if let Some(undelivered) = context.tasks.undelivered.lock().take() {
            vital.spawn(back_loop(Arc::clone(context), undelivered));
        }
        tasks
    }

    /// Fetches tasks, and waits for the first. Who lets go of what comes back gives the tasks back.
    pub async fn poll(&self, poll: Poll) -> Result<Delivery, TaskError> {
        let context = &self.context;
        context.is_open()?;
        let matcher = &context.tasks.matcher;
        if !poll.wait.is_zero() && matcher.waiting() >= WAITING_MAX {
            return Err(TaskError::TooManyWaiting);
        }
        let mut token = [0; 16];
        context.entropy.fill(&mut token);
        let holder = TaskHolder {
            token: LockToken::from_bytes(token),
            worker: poll.worker,
            worker_type: poll.worker_type,
        };
        let types = Arc::new(poll.types);
        let place = matcher.arrive();
        let deadline = Instant::now() + poll.wait;
        // There may be tasks that this node has not heard of yet: from before its start, or of others.
        let has_looked = context.tasks.has_looked.load(Ordering::Relaxed);
        let mut asks_store = poll.wait.is_zero() && (context.store.is_shared() || !has_looked);
        loop {
            let found = self.look(&types, &holder, poll.max, asks_store).await?;
            if !found.tasks().is_empty() {
                return Ok(found);
            }
            asks_store = false;
            if Instant::now() >= deadline {
                return Ok(found);
            }
            let Some(mut waiting) = matcher.wait(place, &types, &holder) else {
                continue;
            };
            tokio::select! {
                biased;
                wake = waiting.wake() => match wake {
                    Wake::Look => {}
                    Wake::Delivery(delivery) => return Ok(delivery),
                },
                () = context.closing.cancelled() => return Ok(found),
                () = tokio::time::sleep_until(deadline) => match waiting.leave() {
                    Some(Wake::Delivery(delivery)) => return Ok(delivery),
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
        holder: &TaskHolder,
        max: u32,
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
            return Ok(context.tasks.delivery(Vec::new()));
        }
        let lock = LockTasks {
            wanted: vec![WantedTasks {
                types: wanted.clone(),
                holders: vec![holder.clone(); max as usize],
            }],
        };
        // Whoever asks may be gone meanwhile: what was fetched then goes back.
        let context = Arc::clone(context);
        let fetching = tokio::spawn(async move {
            let locked = match context.queue.part(Part::LockTasks(lock)).await {
                Ok(PartOutcome::Locked(rows)) => Ok(rows),
                Ok(other) => Err(CommitFailure::unexpected("outcome", &other)),
                Err(failure) => Err(failure),
            };
            let is_short = |rows: &Vec<TaskRow>| rows.len() < max as usize;
            let in_vain = locked.as_ref().is_ok_and(is_short);
            context.tasks.matcher.looked(&wanted, marks, in_vain);
            context.fetched(locked?).await
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
                Ok(_) => return Ok(()),
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
        let context = &self.context;
        let is_unlock = touch == Touch::Unlock;
        let known = token.map_or(KnownBy::Name, KnownBy::Token);
        let part = Part::TouchTask(TouchTask { id, known, touch });
        let was = match context.queue.part(part).await? {
            PartOutcome::Touched(was) => was,
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        };
        if was && !is_unlock {
            return Ok(());
        }
        let row = context.store.task(id).await?.ok_or(TaskError::NotFound)?;
        if was {
            context.is_back(&row.task_type);
            return Ok(());
        }
        match held(&row, token, TaskCall::Unlock) {
            Ok(false) if is_unlock => Ok(()),
            Err(error) => Err(error),
            // It became so in between.
            Ok(_) => Err(not_held(&row)),
        }
    }
}

/// Whether whoever sends this token has the task; false if its own call has ended that already.
fn held(row: &TaskRow, token: Option<LockToken>, call: TaskCall) -> Result<bool, TaskError> {
    let is_held = row.status == TaskStatus::Locked;
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
    /// Tasks that a worker has now, with what it is given.
    async fn fetched(&self, rows: Vec<TaskRow>) -> Result<Delivery, TaskError> {
        // Whatever happens, they go back if they do not arrive.
        let tasks = rows.into_iter().map(|row| Fetched {
            row,
            input: Json::null(),
        });
        let mut delivery = self.tasks.delivery(tasks.collect());
        let inputs = delivery.tasks().iter().map(|task| {
            self.tasks.clock_at(task.row.clocks().next());
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

    /// A task of this type may be fetched again.
    fn is_back(&self, task_type: &str) {
        self.tasks.matcher.mark(task_type);
        self.store.tell(News::Task(task_type.to_owned()));
    }
}

/// Gives back what did not arrive, until nobody can fetch anything any more.
async fn back_loop(
    context: Arc<Context>,
    mut undelivered: mpsc::UnboundedReceiver<delivery::Undelivered>,
) {
    loop {
        let next = tokio::select! {
            biased;
            next = undelivered.recv() => next,
            () = context.stopping.cancelled() => undelivered.try_recv().ok(),
        };
        let Some(task) = next else { return };
        let part = Part::TouchTask(TouchTask {
            id: task.id,
            known: KnownBy::Token(task.token),
            touch: Touch::Unlock,
        });
        // If it cannot be written, its clocks bring it back.
        if let Some(PartOutcome::Touched(true)) = context.write(part).await {
            context.is_back(&task.task_type);
        }
    }
}

/// Marks types whose tasks may be fetched, when their time has come.
async fn available_loop(context: Arc<Context>) {
    let net = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let board = &context.tasks;
    let mut look_at = context.now();
    loop {
        let now = context.now();
        let is_asked = board.is_asked.swap(false, Ordering::Relaxed);
        if is_asked || now >= look_at {
            look_at = now.plus(net);
            let has_looked = board.has_looked.load(Ordering::Relaxed);
            if (is_asked || !has_looked || board.matcher.waiting() > 0) && !look(&context).await {
                look_at = now.plus(TROUBLE_WAIT);
            }
        }
        let next = board.mark_available(context.now());
        let next = next.unwrap_or(look_at).min(look_at);
        tokio::select! {
            biased;
            () = board.bell.notified() => {}
            () = context.clock.doze(until(context.clock.as_ref(), next)) => {}
        }
    }
}

/// Finds out which types there are in the store; false if it cannot be asked.
async fn look(context: &Context) -> bool {
    match context.store.open_task_types().await {
        Ok(types) => {
            let now = context.now();
            for (task_type, at) in types {
                context.tasks.available(&task_type, at, now);
            }
            context.tasks.has_looked.store(true, Ordering::Relaxed);
            true
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "looking for tasks");
            false
        }
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
