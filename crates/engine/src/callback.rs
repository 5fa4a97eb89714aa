//! Callbacks: targets that say later how it went, and attempts that have waited long enough.
//!
//! | | |
//! |---|---|
//! | `issuer.rs` | the tokens and addresses that targets are given |
//! | `query.rs` | how targets can be asked, sealed |
//! | `windows.rs` | attempts that nobody called back for |

mod issuer;
mod query;
mod windows;

use std::sync::Arc;

use refire_core::callback::body::{Body, Wrong};
use refire_core::callback::token::TokenFor;
use refire_core::callback::{CallbackStatus, Noted};
use refire_core::definition::{Step, Workflow};
use refire_core::execution::{
    Callback, Command, Execution, Mapping, Refusal, Said, map_output, mapping_bytes,
};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_store::{
    CallbackKey, CallbackRow, CallbackTouch, Part, PartOutcome, ReadError, TouchCallback,
};

pub(crate) use issuer::{Issued, Issuer};
pub use query::QueryError;
pub(crate) use query::accepted;

use crate::commit::{CommandError, CommitFailure};
use crate::context::Context;
use crate::target::Redactor;
use crate::vital::Vital;

/// How often a word is said again because its attempt moved meanwhile.
const TRIES_MAX: u32 = 20;

/// See the module.
pub struct Callbacks {
    context: Arc<Context>,
}

/// Why a callback did not count.
#[derive(Debug, thiserror::Error)]
pub enum CallbackError {
    /// Its token is nobody's, or its execution is gone.
    #[error("there is nothing that this token is for")]
    NotFound,
    /// Its body is wrong in these ways.
    #[error("the callback has {} problem(s)", .0.len())]
    Invalid(Vec<Wrong>),
    /// Nothing waits for it any more.
    #[error("{0}")]
    Over(String),
    /// It could not be committed.
    #[error(transparent)]
    Failed(#[from] CommitFailure),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

/// What a token is for.
pub struct Awaiting {
    token: String,
    key: CallbackKey,
    state: Arc<Execution>,
    workflow: Arc<Workflow>,
    /// When the attempt began, if it is under way.
    began: Option<Timestamp>,
}

impl Awaiting {
    /// The attempt.
    #[must_use]
    pub fn attempt(&self) -> u32 {
        self.key.attempt
    }

    fn step(&self) -> Option<(usize, &Step)> {
        let at = usize::from(self.key.step_no);
        self.workflow.steps.get(at).map(|step| (at, step))
    }
}

/// The row that a token is about.
fn key_of(of: TokenFor) -> CallbackKey {
    CallbackKey {
        execution: of.execution,
        step_no: of.step_no,
        attempt: of.attempt,
    }
}

impl Callbacks {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let windows = windows::window_loop(Arc::clone(context));
        vital.spawn_until(&context.stopping, windows);
        Arc::new(Self {
            context: Arc::clone(context),
        })
    }

    /// What a token is for.
    pub async fn find(&self, token: &str) -> Result<Awaiting, CallbackError> {
        let context = &self.context;
        context.is_open()?;
        let issuer = &context.clients.issuer;
        let key = issuer
            .read(token)
            .map(key_of)
            .ok_or(CallbackError::NotFound)?;
        let stored = context.store.execution(key.execution).await?;
        let stored = stored.ok_or(CallbackError::NotFound)?;
        let origin = stored
            .state
            .origin
            .as_ref()
            .ok_or(CallbackError::NotFound)?;
        let workflow = context.catalog.of(origin).await;
        let workflow = workflow.map_err(CommitFailure::catalog)?;
        let step = workflow.steps.get(usize::from(key.step_no));
        let step = step.filter(|step| step.callback.is_some());
        let step = step.ok_or(CallbackError::NotFound)?.id.as_str();
        let is_it = |row: &&refire_store::WorkRow| row.step == step && row.attempt == key.attempt;
        let began = stored
            .work
            .iter()
            .find(is_it)
            .and_then(|row| row.running_since());
        Ok(Awaiting {
            token: token.to_owned(),
            key,
            began,
            workflow,
            state: Arc::new(stored.state),
        })
    }

    /// What a target says.
    pub async fn receive(&self, awaiting: &Awaiting, body: &Json) -> Result<(), CallbackError> {
        // Targets send back what they were sent.
        let body = Redactor::new([&awaiting.token]).json(body);
        let body = Body::read(&body).map_err(CallbackError::Invalid)?;
        let noted = self.noted(awaiting, &body)?;
        let (at, step) = awaiting.step().ok_or(CallbackError::NotFound)?;
        let is_at_it = |status: Option<CallbackStatus>| {
            status == Some(CallbackStatus::Processing) && body.status == CallbackStatus::Processing
        };
        let known = awaiting.state.step(&step.id);
        let known = known.filter(|known| known.attempt == awaiting.key.attempt);
        let mut touches = is_at_it(known.and_then(|known| Some(known.awaited.as_ref()?.status)));
        let (said, mapped) = self.said(awaiting, (at, step), &body).await;
        for _ in 0..TRIES_MAX {
            if touches
                && self
                    .touch(awaiting.key, CallbackTouch::Noted(noted.clone()))
                    .await?
            {
                return Ok(());
            }
            let command = Command::Callback(Callback {
                step: step.id.clone(),
                attempt: awaiting.key.attempt,
                began: awaiting.began,
                said: said.clone(),
                mapped: mapped.clone(),
                noted: noted.clone(),
            });
            let known = Some(Arc::clone(&awaiting.state));
            let asked = self
                .context
                .command(awaiting.key.execution, command, known, None);
            match asked.await.map_err(CommitFailure::from)?.answer().await {
                Ok(_) => return Ok(()),
                Err(CommandError::Refused(Refusal::Repeated { .. })) => touches = true,
                Err(CommandError::Refused(refusal)) => return Err(over(&refusal)),
                Err(CommandError::NotFound) => return Err(CallbackError::NotFound),
                Err(CommandError::TaskMoved) => {}
                Err(CommandError::Failed(failure)) => return Err(failure.into()),
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// The rows of an execution's callbacks, by step and attempt.
    pub async fn of(&self, execution: ExecutionId) -> Result<Vec<CallbackRow>, ReadError> {
        self.context.store.callbacks(execution).await
    }

    /// What the row keeps of a callback.
    fn noted(&self, awaiting: &Awaiting, body: &Body) -> Result<Noted, CallbackError> {
        let query = body.query_config.as_ref();
        let query = query.and_then(|query| self.context.seal_query(awaiting.key, query));
        Ok(Noted {
            progress: body.progress,
            message: body.message.clone(),
            extra: body.extra.clone(),
            query_config: query,
        })
    }

    /// Changes only the row; false if it is not as it must be for that.
    async fn touch(&self, key: CallbackKey, touch: CallbackTouch) -> Result<bool, CallbackError> {
        let part = Part::TouchCallback(TouchCallback { key, touch });
        match self.context.queue.part(part).await? {
            PartOutcome::Touched(was) => Ok(was),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// What the body says, and what the step's `outputMapping` gives for a long one: worked out here, so
    /// that the committer does not have to.
    async fn said(
        &self,
        awaiting: &Awaiting,
        (at, step): (usize, &Step),
        body: &Body,
    ) -> (Said, Option<Mapping>) {
        match body.status {
            CallbackStatus::Pending | CallbackStatus::Processing => {
                return (Said::Processing, None);
            }
            CallbackStatus::Failed => return (Said::Failed(body.failure()), None),
            CallbackStatus::Success => {}
        }
        let output = body.whole.clone();
        let aside = &self.context.aside;
        let is_short = output.as_str().len() <= aside.at_once_bytes_max();
        if is_short || step.is_compensation {
            return (Said::Success(output), None);
        }
        let bytes = mapping_bytes(step, &output);
        let rules = awaiting.state.origin.as_ref().map_or(0, |it| it.rules);
        let (workflow, searched) = (Arc::clone(&awaiting.workflow), output.clone());
        let mapping = move || map_output(&workflow.steps[at], &searched, rules);
        match aside.map(bytes, mapping).await {
            Ok(mapped) => (Said::Success(output), Some(mapped)),
            Err(failure) => (Said::Unmapped(failure), None),
        }
    }
}

fn over(refusal: &Refusal) -> CallbackError {
    CallbackError::Over(match refusal {
        Refusal::Ended(status) => {
            format!("nothing waits for this callback any more: the execution has ended ({status})")
        }
        _ => {
            "nothing waits for this callback any more: the last word was said, the window is over, \
              or the attempt was given up"
                .to_owned()
        }
    })
}
