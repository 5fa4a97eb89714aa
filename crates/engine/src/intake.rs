//! The way in: a request to run something becomes a durable execution, or a reason why not.

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{RetrySettings, WorkflowId};
use refire_core::execution::{Start, Trigger, start};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::limit;
use refire_core::trace::Trace;
use refire_store::{IdempotencyClaim, LetterRetry};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::catalog::{CatalogError, Definition};
use crate::commit::{AdmitRequest, Admitted, Cause, CommitFailure, Request};
use crate::context::Context;
use crate::entropy;

/// How long an idempotency key is remembered.
pub const IDEMPOTENCY_WINDOW: Duration = Duration::from_secs(7 * 24 * 3_600);

/// Times a start is decided again because its workflow was saved anew meanwhile.
pub(crate) const NEWER_MAX: u32 = 5;
/// The longest delay of a start; a longer one is cut to it.
const DELAY_MAX: Duration = Duration::from_secs(10 * 366 * 24 * 3_600);

/// A request to run a workflow.
#[derive(Debug, Clone)]
pub struct Submission {
    /// The workflow; its newest version runs.
    pub workflow: WorkflowId,
    /// The input, byte for byte.
    pub input: Json,
    /// What asks for it.
    pub trigger: Trigger,
    /// The same key never starts a second execution of the workflow.
    pub idempotency_key: Option<String>,
    /// 1 (first) to 10 (last).
    pub priority: u8,
    /// Begin no earlier than this long from now.
    pub delay: Option<Duration>,
    /// Retry settings of the trigger.
    pub retry: Option<RetrySettings>,
    /// The caller's trace.
    pub trace: Option<Trace>,
}

impl Submission {
    /// A plain run by hand.
    #[must_use]
    pub fn manual(workflow: WorkflowId, input: Json) -> Self {
        Self {
            workflow,
            input,
            trigger: Trigger::manual(None),
            idempotency_key: None,
            priority: limit::PRIORITY_DEFAULT,
            delay: None,
            retry: None,
            trace: None,
        }
    }
}

/// Why nothing was started.
#[derive(Debug, thiserror::Error)]
pub enum IntakeError {
    /// There is no such workflow, or it was deleted.
    #[error("there is no workflow `{0}`")]
    NoSuchWorkflow(WorkflowId),
    /// The definition could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
}

/// Decides admissions and puts them into the commit queue.
#[derive(Clone, Copy)]
pub(crate) struct Intake<'a>(pub(crate) &'a Context);

/// An admission that was decided but not committed.
pub(crate) struct Drafted {
    pub(crate) id: ExecutionId,
    request: AdmitRequest,
    /// What it was decided from, if another node may save a newer definition in between.
    again: Option<Box<Basis>>,
}

impl Drafted {
    /// Refused if the definition is not the workflow's newest any more, where another node may have
    /// saved one.
    pub(crate) fn only_newest(mut self, is_asked: bool) -> Self {
        self.request.only_newest = is_asked;
        self
    }

    /// Its key counts as this claim says.
    pub(crate) fn claiming(mut self, claim: Option<IdempotencyClaim>) -> Self {
        if let Some(again) = &mut self.again {
            again.claim.clone_from(&claim);
        }
        self.request.claim = claim;
        self
    }

    /// It is committed with what of a trigger causes it.
    pub(crate) fn caused_by(mut self, cause: Cause) -> Self {
        if let Some(again) = &mut self.again {
            again.cause = Some(cause.clone());
        }
        self.request.cause = Some(cause);
        self
    }
}

/// What an admission was decided from.
#[derive(Clone)]
struct Basis {
    workflow: WorkflowId,
    begin: Start,
    claim: Option<IdempotencyClaim>,
    cause: Option<Cause>,
}

impl Intake<'_> {
    /// Whether other nodes may save definitions too.
    pub(crate) fn is_shared(self) -> bool {
        self.0.store.is_shared()
    }

    /// Decides a submission. The id is known before the commit, so that a waiter can register.
    pub(crate) async fn draft(self, submission: Submission) -> Result<Drafted, IntakeError> {
        let definition = self
            .0
            .catalog
            .newest(&submission.workflow)
            .await?
            .ok_or_else(|| IntakeError::NoSuchWorkflow(submission.workflow.clone()))?;
        let now = self.0.clock.now();
        let id = entropy::execution_id(self.0.entropy.as_ref(), now);
        let claim = submission
            .idempotency_key
            .as_deref()
            .map(|key| IdempotencyClaim {
                scope: submission.workflow.to_string(),
                key_hash: hash(key.as_bytes()),
                body_hash: hash(submission.input.as_str().as_bytes()),
                expires_at: now.plus(IDEMPOTENCY_WINDOW),
                over: None,
            });
        let seed = entropy::seed(self.0.entropy.as_ref());
        let begin = Start {
            workflow_version: definition.version,
            trigger: submission.trigger,
            priority: submission.priority,
            retry: submission.retry,
            delay_until: submission.delay.map(|delay| now.plus(delay.min(DELAY_MAX))),
            idempotency_key: submission.idempotency_key,
            trace: submission.trace,
            ..Start::plain(id, seed, submission.input)
        };
        let again = self.is_shared().then(|| {
            Box::new(Basis {
                workflow: submission.workflow,
                begin: begin.clone(),
                claim: claim.clone(),
                cause: None,
            })
        });
        let mut drafted = self.decide(&definition, begin, claim, None).await;
        drafted.request.only_newest = self.is_shared();
        drafted.again = again;
        Ok(drafted)
    }

    /// Decides a start that was put together elsewhere. Only what takes results over, has a condition or
    /// counts by a key searches values; any other start, however large its input, must not wait for those
    /// that do.
    pub(crate) async fn decide(
        self,
        definition: &Definition,
        begin: Start,
        claim: Option<IdempotencyClaim>,
        letter: Option<LetterRetry>,
    ) -> Drafted {
        let id = begin.id;
        let carried = begin
            .carried
            .iter()
            .map(|result| result.output.as_str().len());
        let workflow = &definition.workflow;
        let rate = workflow.rate_limit.as_ref();
        let searches_nothing = begin.carried.is_empty()
            && workflow.steps.iter().all(|step| step.when.is_none())
            && workflow.concurrency.key.is_none()
            && rate.is_none_or(|limit| limit.key.is_none());
        let bytes = match searches_nothing {
            true => 0,
            false => begin.input.as_str().len() + carried.sum::<usize>(),
        };
        let (with, now) = (Arc::clone(&definition.workflow), self.0.clock.now());
        let work = move || Box::new(start(&with, begin, now));
        let decision = self.0.aside.run(bytes, work).await;
        let workflow = Arc::clone(&definition.workflow);
        let request = AdmitRequest {
            id,
            workflow,
            decision,
            claim,
            letter,
            only_newest: false,
            cause: None,
            reply: None,
        };
        Drafted {
            id,
            request,
            again: None,
        }
    }

    /// Commits a draft: when this returns, the execution is durable or certainly (or possibly,
    /// as the error says) not there.
    pub(crate) async fn commit(self, draft: Drafted) -> Result<Admitted, CommitFailure> {
        let mut answers = self.commit_all(vec![draft]).await?;
        answers.pop().unwrap_or(Err(CommitFailure::Stopping))
    }

    /// Commits drafts in one transaction; an answer for each, in order. One that was decided by a
    /// definition that another node has replaced meanwhile is decided again.
    pub(crate) async fn commit_all(
        self,
        mut drafts: Vec<Drafted>,
    ) -> Result<Vec<Result<Admitted, CommitFailure>>, CommitFailure> {
        let again: Vec<_> = drafts.iter_mut().map(|draft| draft.again.take()).collect();
        let mut answers = self.commit_once(drafts).await?;
        for (answer, from) in answers.iter_mut().zip(again) {
            if let (Ok(Admitted::NotNewest), Some(from)) = (&answer, from) {
                *answer = self.decide_again(&from).await;
            }
        }
        Ok(answers)
    }

    async fn decide_again(self, from: &Basis) -> Result<Admitted, CommitFailure> {
        for _ in 0..NEWER_MAX {
            self.0.catalog.forget(&from.workflow);
            let newest = self.0.catalog.newest(&from.workflow).await;
            let Some(definition) = newest.map_err(CommitFailure::catalog)? else {
                return Ok(Admitted::NoSuchWorkflow);
            };
            let begin = Start {
                workflow_version: definition.version,
                ..from.begin.clone()
            };
            let claim = from.claim.clone();
            let mut drafted = self.decide(&definition, begin, claim, None).await;
            drafted.request.only_newest = true;
            drafted.request.cause.clone_from(&from.cause);
            let answer = self.commit_once(vec![drafted]).await?.pop();
            match answer.unwrap_or(Err(CommitFailure::Stopping)) {
                Ok(Admitted::NotNewest) => {}
                other => return other,
            }
        }
        Err(CommitFailure::Contended)
    }

    async fn commit_once(
        self,
        drafts: Vec<Drafted>,
    ) -> Result<Vec<Result<Admitted, CommitFailure>>, CommitFailure> {
        let (requests, answers): (Vec<_>, Vec<_>) = drafts
            .into_iter()
            .map(|Drafted { mut request, .. }| {
                let (reply, answer) = oneshot::channel();
                request.reply = Some(reply);
                (request, answer)
            })
            .unzip();
        self.0.queue.admission(Request::Admit(requests)).await?;
        let mut all = Vec::with_capacity(answers.len());
        for answer in answers {
            // No answer: the committer died in the middle, and what it wrote is not known.
            all.push(answer.await.unwrap_or(Err(CommitFailure::Unknown)));
        }
        Ok(all)
    }
}

/// The first bytes of a SHA-256.
pub(crate) fn hash<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let digest = Sha256::digest(bytes);
    let mut short = [0u8; N];
    short.copy_from_slice(&digest[..N]);
    short
}
