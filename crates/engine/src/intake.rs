//! The way in: a request to run something becomes a durable execution, or a reason why not.

use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::{RetrySettings, WorkflowId};
use refire_core::execution::{Start, Trigger, start};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::limit;
use refire_core::trace::Trace;
use refire_store::{BulkItem, IdempotencyClaim, LetterRetry};
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::catalog::{CatalogError, Definition};
use crate::commit::{AdmitRequest, AdmitTerms, Admitted, Cause, CommitFailure, Request};
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

/// An admission that was decided but not committed.
pub(crate) struct Drafted {
    pub(crate) id: ExecutionId,
    request: AdmitRequest,
    /// The start that it was decided from, if another node may save a newer definition in between.
    again: Option<Box<Start>>,
}

impl Drafted {
    /// Refused if the definition is not the workflow's newest any more, where another node may have
    /// saved one.
    pub(crate) fn only_newest(mut self, is_asked: bool) -> Self {
        self.request.terms.only_newest = is_asked;
        self
    }

    /// Its key counts as this claim says.
    pub(crate) fn claiming(mut self, claim: Option<IdempotencyClaim>) -> Self {
        self.request.terms.claim = claim;
        self
    }

    /// It is committed with the row of what it does for a bulk job.
    pub(crate) fn part_of(mut self, item: BulkItem) -> Self {
        self.request.terms.bulk = Some(item);
        self
    }

    /// It is committed with what of a trigger causes it.
    pub(crate) fn caused_by(mut self, cause: Cause) -> Self {
        self.request.terms.cause = Some(cause);
        self
    }

    /// Its workflow.
    pub(crate) fn workflow(&self) -> &WorkflowId {
        &self.request.workflow.id
    }

    /// What it can be decided again from.
    fn basis(&mut self) -> Option<Basis> {
        let terms = &self.request.terms;
        Some(Basis {
            begin: *self.again.take()?,
            workflow: self.request.workflow.id.clone(),
            claim: terms.claim.clone(),
            cause: terms.cause.clone(),
        })
    }
}

/// What an admission was decided from.
struct Basis {
    workflow: WorkflowId,
    begin: Start,
    claim: Option<IdempotencyClaim>,
    cause: Option<Cause>,
}

/// Deciding admissions and putting them into the commit queue.
impl Context {
    /// Decides a start that somebody asks for.
    pub(crate) async fn draft(&self, submission: Submission) -> Result<Drafted, IntakeError> {
        self.is_open()?;
        self.draft_always(submission).await
    }

    /// The same, also while the node stops. The id is known before the commit, so that a waiter can register.
    pub(crate) async fn draft_always(
        &self,
        submission: Submission,
    ) -> Result<Drafted, IntakeError> {
        let definition = self.catalog.newest(&submission.workflow).await?;
        let missing = || IntakeError::NoSuchWorkflow(submission.workflow.clone());
        let definition = definition.ok_or_else(missing)?;
        Ok(self.draft_by(&definition, submission).await)
    }

    /// The same by a definition that is at hand, or is saved in the same commit.
    pub(crate) async fn draft_by(
        &self,
        definition: &Definition,
        submission: Submission,
    ) -> Drafted {
        let now = self.clock.now();
        let id = entropy::execution_id(self.entropy.as_ref(), now);
        let claim = submission
            .idempotency_key
            .as_deref()
            .map(|key| IdempotencyClaim {
                scope: submission.workflow.to_string(),
                key_hash: key_hash(key),
                body_hash: hash(submission.input.as_str().as_bytes()),
                expires_at: now.plus(IDEMPOTENCY_WINDOW),
                over: None,
            });
        let seed = entropy::seed(self.entropy.as_ref());
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
        let again = self.store.is_shared().then(|| Box::new(begin.clone()));
        let drafted = self.decide_admission(definition, begin, claim, None).await;
        Drafted {
            again,
            ..drafted.only_newest(self.store.is_shared())
        }
    }

    /// Decides a start that was put together elsewhere. Only what takes results over, has a condition or
    /// counts by a key searches values; any other start, however large its input, must not wait for those
    /// that do.
    pub(crate) async fn decide_admission(
        &self,
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
        let (with, now) = (Arc::clone(&definition.workflow), self.clock.now());
        let work = move || Box::new(start(&with, begin, now));
        let decision = self.aside.run(bytes, work).await;
        let workflow = Arc::clone(&definition.workflow);
        let request = AdmitRequest {
            id,
            workflow,
            decision,
            terms: AdmitTerms {
                claim,
                letter,
                ..AdmitTerms::default()
            },
        };
        Drafted {
            id,
            request,
            again: None,
        }
    }

    /// Commits a draft: when this returns, the execution is durable or certainly (or possibly,
    /// as the error says) not there.
    pub(crate) async fn commit_draft(&self, draft: Drafted) -> Result<Admitted, CommitFailure> {
        let mut answers = self.commit_drafts(vec![draft]).await?;
        answers.pop().unwrap_or(Err(CommitFailure::Stopping))
    }

    /// Commits drafts in one transaction; an answer for each, in order. One that was decided by a
    /// definition that another node has replaced meanwhile is decided again.
    pub(crate) async fn commit_drafts(
        &self,
        mut drafts: Vec<Drafted>,
    ) -> Result<Vec<Result<Admitted, CommitFailure>>, CommitFailure> {
        let again: Vec<_> = drafts.iter_mut().map(Drafted::basis).collect();
        let mut answers = self.commit_once(drafts).await?;
        for (answer, from) in answers.iter_mut().zip(again) {
            if let (Ok(Admitted::NotNewest), Some(from)) = (&answer, from) {
                *answer = self.decide_again(&from).await;
            }
        }
        Ok(answers)
    }

    async fn decide_again(&self, from: &Basis) -> Result<Admitted, CommitFailure> {
        for _ in 0..NEWER_MAX {
            self.catalog.forget(&from.workflow);
            let newest = self.catalog.newest(&from.workflow).await;
            let Some(definition) = newest.map_err(CommitFailure::catalog)? else {
                return Ok(Admitted::NoSuchWorkflow);
            };
            let begin = Start {
                workflow_version: definition.version,
                ..from.begin.clone()
            };
            let claim = from.claim.clone();
            let drafted = self.decide_admission(&definition, begin, claim, None).await;
            let mut drafted = drafted.only_newest(true);
            drafted.request.terms.cause.clone_from(&from.cause);
            let answer = self.commit_once(vec![drafted]).await?.pop();
            match answer.unwrap_or(Err(CommitFailure::Stopping)) {
                Ok(Admitted::NotNewest) => {}
                other => return other,
            }
        }
        Err(CommitFailure::Contended)
    }

    async fn commit_once(
        &self,
        drafts: Vec<Drafted>,
    ) -> Result<Vec<Result<Admitted, CommitFailure>>, CommitFailure> {
        let (request, answers) = asked(drafts);
        self.queue.admission(request).await?;
        Ok(answered(answers).await)
    }

    /// Commits drafts that may wait for everybody else; an answer for each, in order.
    pub(crate) async fn commit_late(
        &self,
        drafts: Vec<Drafted>,
    ) -> Result<Vec<Result<Admitted, CommitFailure>>, CommitFailure> {
        if drafts.is_empty() {
            return Ok(Vec::new());
        }
        let (request, answers) = asked(drafts);
        self.queue.late_admission(request).await?;
        Ok(answered(answers).await)
    }
}

type Answers = Vec<oneshot::Receiver<Result<Admitted, CommitFailure>>>;

/// A request to commit drafts, and where its answers come.
fn asked(drafts: Vec<Drafted>) -> (Request, Answers) {
    let (requests, answers) = drafts
        .into_iter()
        .map(|Drafted { mut request, .. }| {
            let (reply, answer) = oneshot::channel();
            request.terms.reply = Some(reply);
            (request, answer)
        })
        .unzip();
    (Request::Admit(requests), answers)
}

async fn answered(answers: Answers) -> Vec<Result<Admitted, CommitFailure>> {
    let mut all = Vec::with_capacity(answers.len());
    for answer in answers {
        // No answer: the committer died in the middle, and what it wrote is not known.
        all.push(answer.await.unwrap_or(Err(CommitFailure::Unknown)));
    }
    all
}

/// What an idempotency key is remembered by.
#[must_use]
pub fn key_hash(key: &str) -> [u8; 16] {
    hash(key.as_bytes())
}

/// The first bytes of a SHA-256.
pub(crate) fn hash<const N: usize>(bytes: &[u8]) -> [u8; N] {
    let digest = Sha256::digest(bytes);
    let mut short = [0u8; N];
    short.copy_from_slice(&digest[..N]);
    short
}
