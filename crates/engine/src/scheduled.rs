//! Scheduled tasks: made, changed, asked, run. Underneath each is a workflow with a trigger, and all of it
//! changes in one commit; what happens then is executions like any others.

mod change;
mod history;
mod query;
mod run;

pub use history::{HistoryFilter, HistoryPage, HistoryRecord};
pub use query::Asked;
pub use run::RunNow;

use std::sync::Arc;

use refire_core::definition::{Mark, Problem, Problems, canonical, content_hash};
use refire_core::failure::Failure;
use refire_core::id::{ExecutionId, ScheduledTaskId};
use refire_core::json::Json;
use refire_core::scheduled::record::ExecutionStatus;
use refire_core::scheduled::{Planned, ScheduleType, ScheduledTask};
use refire_core::time::Timestamp;
use refire_core::trigger::{State, Trigger, created, upcoming};
use refire_store::{
    CreateTrigger, News, Part, PartOutcome, PutScheduled, PutWorkflow, ReadError, Scheduled,
    ScheduledFilter, ScheduledRow, ScheduledTrigger,
};

use tokio::sync::Semaphore;

use crate::catalog::{CatalogError, Definition};
use crate::commit::{Admitted, Cause, CommandError, CommitFailure};
use crate::context::Context;
use crate::definitions::secret_notes;
use crate::entropy;
use crate::intake::{self, IntakeError};
use crate::search::Search;
use crate::step::NO_MASTER_KEY;
use crate::trigger::rows;
use crate::vital::Vital;

/// Times a change is made again because somebody else was faster.
const AGAIN_MAX: u32 = 100;

/// Scheduled tasks.
pub struct ScheduledTasks {
    context: Arc<Context>,
    /// Room for questions to targets: they wait on people's requests, and must not pile up.
    questions: Semaphore,
}

/// A scheduled task, as it is now.
#[derive(Debug, Clone)]
pub struct ScheduledView {
    /// Its row.
    pub row: ScheduledRow,
    /// Where its trigger stands.
    pub state: State,
    /// Whether it is neither paused nor cancelled.
    pub is_active: bool,
    /// Whether no cycle of it will begin by itself any more.
    pub is_finished: bool,
    /// When the next cycle begins by itself.
    pub next: Option<Timestamp>,
}

/// A scheduled task that was made, or had been made with the same key before.
#[derive(Debug, Clone)]
pub struct NewScheduled {
    /// What it is now.
    pub view: ScheduledView,
    /// Whether it was made just now.
    pub is_new: bool,
    /// What is allowed but probably not meant.
    pub warnings: Vec<String>,
}

/// Why something could not be done to a scheduled task.
#[derive(Debug, thiserror::Error)]
pub enum ScheduledError {
    /// There is no such task, or it was deleted.
    #[error("there is no such scheduled task")]
    NotFound,
    /// There is no such record of its history.
    #[error("there is no such execution of this task")]
    NoSuchRecord,
    /// What was asked for is not right.
    #[error("the task has {} problem(s)", .0.len())]
    Invalid(Problems),
    /// The key was used for another request.
    #[error("the Idempotency-Key was used for another request, which made {0}")]
    KeyUsed(ScheduledTaskId),
    /// It was cancelled: it can only be read, or deleted.
    #[error("the task was cancelled")]
    Cancelled,
    /// It was changed since it was seen.
    #[error("the task was changed by somebody else; it has version {0} now")]
    Changed(u32),
    /// Others kept changing it.
    #[error("the task is being changed by somebody else; nothing was written")]
    Contended,
    /// A kind of query that cannot be made.
    #[error("queries of type `{0}` are not supported yet; only `http` is")]
    Unsupported(String),
    /// The target could not be asked.
    #[error("the target could not be asked: {}", .0.message)]
    NotAsked(Box<Failure>),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The workflow could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
    /// What it was to start could not be started.
    #[error(transparent)]
    Start(#[from] IntakeError),
    /// An execution of it could not be cancelled.
    #[error(transparent)]
    Command(#[from] CommandError),
    /// What is stored of it cannot be understood.
    #[error("the stored task {0} cannot be read: {1}")]
    Damaged(ScheduledTaskId, String),
}

impl From<Problems> for ScheduledError {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

impl ScheduledTasks {
    pub(crate) fn open(context: &Arc<Context>, _: &Vital) -> Arc<Self> {
        Arc::new(Self {
            context: Arc::clone(context),
            questions: Semaphore::new(query::QUESTIONS_MAX),
        })
    }

    /// Makes a task. The same key never makes a second one; an immediate task has begun when this returns.
    pub async fn create(
        &self,
        source: &str,
        key: Option<&str>,
        by: &str,
    ) -> Result<NewScheduled, ScheduledError> {
        let context = &self.context;
        context.is_open()?;
        let key_hash = key.map(|key| intake::hash(key.as_bytes()));
        let body_hash = intake::hash(source.as_bytes());
        for _ in 0..AGAIN_MAX {
            if let Some(key) = key_hash
                && let Some(found) = context.store.scheduled_task_by_key(key).await?
            {
                return match found.row.body_hash == body_hash {
                    true => Ok(NewScheduled {
                        view: self.view(found),
                        is_new: false,
                        warnings: Vec::new(),
                    }),
                    false => Err(ScheduledError::KeyUsed(found.row.id)),
                };
            }
            let now = context.now();
            let id = ScheduledTaskId::from_bytes(entropy::fresh(&*context.entropy, now));
            let task = ScheduledTask::read(id, source, Planned::From(now))?;
            self.can_be_called_back(&task)?;
            let kept = ScheduledTask::kept(source)?;
            let mut row = row(&task, &kept);
            (row.key_hash, row.body_hash) = (key_hash, body_hash);
            let notes = secret_notes(&context.clients, &task.workflow);
            let warnings = notes.into_iter().map(|(_, note)| note).collect();
            if self.commit_new(task, row, now, by).await? {
                return Ok(NewScheduled {
                    view: self.get(id).await?,
                    is_new: true,
                    warnings,
                });
            }
        }
        Err(ScheduledError::Contended)
    }

    /// Refuses a task whose target could not call back for want of a key that its token is made with.
    fn can_be_called_back(&self, task: &ScheduledTask) -> Result<(), ScheduledError> {
        let mut steps = task.workflow.with_callbacks();
        if steps.next().is_none() || self.context.clients.issuer.has_key() {
            return Ok(());
        }
        let problem = Problem::new("taskConfig.callbackWindow", Mark::NOWHERE, NO_MASTER_KEY);
        let problem = problem.with_hint("set it to 0 if the target does not call back");
        Err(ScheduledError::Invalid(problem.into()))
    }

    /// False: it is there already.
    async fn commit_new(
        &self,
        task: ScheduledTask,
        row: ScheduledRow,
        now: Timestamp,
        by: &str,
    ) -> Result<bool, ScheduledError> {
        let context = &self.context;
        let (id, workflow) = (row.trigger(), row.workflow.clone());
        let trigger = Trigger::new(id, workflow.clone(), 1, true, task.trigger.as_str())?;
        let is_immediate = task.schedule_type == ScheduleType::Immediate;
        let state = State {
            cycles: u64::from(is_immediate),
            ..created(&trigger, now)
        };
        let create = CreateTrigger {
            id,
            workflow,
            kind: rows::kind(&trigger.settings.kind),
            enabled: true,
            settings: task.trigger.as_str().as_bytes().to_vec(),
            secrets: None,
            webhook: None,
            state: Some(state),
        };
        let put = PutScheduled {
            definition: Some(definition(&task, by)?),
            trigger: ScheduledTrigger::Create(create),
            admission: None,
            row,
        };
        if !is_immediate {
            return self.commit(put).await;
        }
        let definition = Definition {
            version: 1,
            workflow: Arc::new(task.workflow),
        };
        let submission = rows::submission(&trigger, None, Some(1), Some(by.to_owned()));
        let draft = context.draft_by(&definition, submission).await;
        let draft = draft.caused_by(Cause::Scheduled(Box::new(put)));
        match context.commit_draft(draft).await? {
            Admitted::New(_) => {
                context.announce(News::Trigger(id));
                Ok(true)
            }
            Admitted::TriggerMoved => Ok(false),
            other => Err(CommitFailure::unexpected("answer", &other).into()),
        }
    }

    /// False: it is not what it was.
    async fn commit(&self, put: PutScheduled) -> Result<bool, ScheduledError> {
        let context = &self.context;
        let (trigger, workflow) = (put.row.trigger(), put.row.workflow.clone());
        let is_defined = put.definition.is_some();
        match context
            .queue
            .part(Part::PutScheduled(Box::new(put)))
            .await?
        {
            PartOutcome::Done => {}
            PartOutcome::TriggerMoved => return Ok(false),
            PartOutcome::NoSuchTrigger => return Err(ScheduledError::NotFound),
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        }
        if is_defined {
            context.catalog.forget(&workflow);
            context.announce(News::Definition(workflow));
        }
        context.announce(News::Trigger(trigger));
        Ok(true)
    }

    /// One task.
    pub async fn get(&self, id: ScheduledTaskId) -> Result<ScheduledView, ScheduledError> {
        Ok(self.view(self.found(id).await?))
    }

    async fn found(&self, id: ScheduledTaskId) -> Result<Scheduled, ScheduledError> {
        let found = self.context.store.scheduled_task(id).await?;
        found.ok_or(ScheduledError::NotFound)
    }

    /// Tasks before this one, newest first; with words of their names, if some are given.
    pub async fn list(
        &self,
        filter: &ScheduledFilter,
        words: Option<&str>,
        mut before: Option<ScheduledTaskId>,
        limit: u32,
    ) -> Result<Vec<ScheduledView>, ScheduledError> {
        let mut search = Search::new(words, limit);
        loop {
            let store = &self.context.store;
            let page = store.scheduled_tasks(filter, before, search.asked());
            let page = page.await?;
            before = page.last().map(|task| task.row.id);
            if !search.goes_on(page, |task, words| has(&task.row, words)) {
                let found = search.found().into_iter();
                return Ok(found.map(|task| self.view(task)).collect());
            }
        }
    }

    /// What the newest execution of a task came to, if it has one.
    pub async fn last_status(
        &self,
        id: ScheduledTaskId,
    ) -> Result<Option<ExecutionStatus>, ScheduledError> {
        let newest = self.history(id, &HistoryFilter::default(), None, 1).await?;
        let newest = newest.records.into_iter().next();
        Ok(newest.map(|found| found.record.execution_status))
    }

    fn view(&self, task: Scheduled) -> ScheduledView {
        let is_active = task.trigger.enabled;
        let now = self.context.now();
        let next = rows::trigger(&task.trigger).ok().and_then(|trigger| {
            let slots = upcoming(&trigger, Some(task.state.cursor), now, 1);
            slots.first().map(|slot| slot.planned)
        });
        ScheduledView {
            is_finished: task.is_finished(),
            next: next.filter(|_| is_active),
            is_active,
            state: task.state,
            row: task.row,
        }
    }
}

/// Whether a task has these words in its name, or is the one of this id.
fn has(row: &ScheduledRow, words: &str) -> bool {
    let name = row.name.as_ref().map(|name| name.to_lowercase());
    name.is_some_and(|name| name.contains(words)) || row.id.to_string() == words
}

/// The row of a new task.
fn row(task: &ScheduledTask, request: &Json) -> ScheduledRow {
    ScheduledRow {
        id: task.id,
        workflow: task.workflow.id.clone(),
        name: task.name.clone(),
        task_type: task.task_type.to_owned(),
        schedule_type: task.schedule_type.name().to_owned(),
        version: 1,
        key_hash: None,
        body_hash: [0; 8],
        request: request.as_str().as_bytes().to_vec(),
        created_at: Timestamp::FIRST,
        updated_at: Timestamp::FIRST,
        cancelled_at: None,
        deleted_at: None,
    }
}

fn definition(task: &ScheduledTask, by: &str) -> Result<PutWorkflow, ScheduledError> {
    let id = &task.workflow.id;
    let content = canonical(&task.source, Some(id.as_ref())).map_err(Problems::from)?;
    Ok(PutWorkflow {
        id: id.clone(),
        name: task.workflow.name.clone(),
        content_hash: content_hash(&content),
        source: task.source.clone(),
        by: by.to_owned(),
        expected: None,
    })
}

/// The name of a record: its execution and the attempt.
#[must_use]
pub fn record_id(execution: ExecutionId, attempt: u32) -> String {
    format!("{execution}-{attempt}")
}

/// What a record's name says.
#[must_use]
pub fn read_record_id(text: &str) -> Option<(ExecutionId, u32)> {
    let (execution, attempt) = text.rsplit_once('-')?;
    let is_plain = !attempt.starts_with('0') && attempt.bytes().all(|byte| byte.is_ascii_digit());
    let attempt = attempt.parse().ok().filter(|_| is_plain)?;
    Some((execution.parse().ok()?, attempt))
}
