//! Judging a refused request again, by what its trigger is now.

use refire_core::id::{ExecutionId, RequestId, TriggerId};
use refire_core::webhook::{Admission, Method, admit, admit_verified};
use refire_store::{RequestRow, RequestStatus};

use super::TriggerError;
use super::compiled::Ready;
use super::logged_headers::LoggedHeaders;
use super::request_row::{pairs, request};
use super::webhook::{AGAIN_MAX, Incoming, Received, Time, Webhooks, received};

/// What is made of requests that have no name and are equal to the last byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Equals {
    /// Each is one of its own: somebody has chosen this one.
    #[default]
    Apart,
    /// They are one that was sent several times.
    Same,
}

/// What would become of a refused request.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// It would start an execution, unless another request under its name has.
    Passes,
    /// It has started this execution.
    Before(ExecutionId),
    /// It still does not pass.
    Refused(Received),
}

impl Webhooks {
    /// Judges a refused request again by what the trigger is now and by the moment it came, and starts
    /// its execution if it passes. The log has it as triggered then, or as a duplicate if its execution
    /// had been started before; else it stays as it is.
    pub async fn recheck(
        &self,
        trigger: TriggerId,
        id: RequestId,
        equals: Equals,
    ) -> Result<Received, TriggerError> {
        self.flush().await;
        for _ in 0..AGAIN_MAX {
            // The trigger first: whoever starts this request after the row was read does so by the
            // same version of the trigger, and so under the same name.
            let current = self.row_of_trigger(trigger).await?;
            let row = self.context.store.request(id).await?;
            let row = row.filter(|row| row.trigger == trigger);
            let row = row.ok_or(TriggerError::NoSuchRequest)?;
            if let (RequestStatus::Triggered, Some(execution)) = (row.status, row.execution) {
                return Ok(before(execution));
            }
            let ready = Ready::new(&self.context, &current)?;
            if let Some(received) = self.judge_again(&ready, &row, equals).await? {
                return Ok(received);
            }
        }
        Err(TriggerError::Contended)
    }

    /// What would become of a refused request if it were judged again now. Nothing is started or written.
    pub async fn verdict(
        &self,
        trigger: TriggerId,
        id: RequestId,
    ) -> Result<Verdict, TriggerError> {
        let current = self.row_of_trigger(trigger).await?;
        let row = self.context.store.request(id).await?;
        let row = row.filter(|row| row.trigger == trigger);
        let row = row.ok_or(TriggerError::NoSuchRequest)?;
        if let (RequestStatus::Triggered, Some(execution)) = (row.status, row.execution) {
            return Ok(Verdict::Before(execution));
        }
        let ready = Ready::new(&self.context, &current)?;
        let (_, admission) = self.admission(&ready, &row)?;
        Ok(match admission {
            Admission::Start(_) if !ready.trigger.enabled => return Err(TriggerError::Disabled),
            Admission::Start(_) => Verdict::Passes,
            refused => Verdict::Refused(received(&refused)),
        })
    }

    /// A kept request, and what the trigger makes of it now.
    fn admission(
        &self,
        ready: &Ready,
        row: &RequestRow,
    ) -> Result<(Incoming, Admission), TriggerError> {
        let (incoming, verified_by) = self.kept(row)?;
        let pairs = pairs(&incoming.headers);
        let request = request(&incoming, &pairs);
        let settings = &ready.settings;
        // Its secret may have been changed since. Where another method counts now, the request has to
        // pass that one: what the first did not sign may mean something to it.
        let admission = if verified_by == Some(settings.authentication.method()) {
            admit_verified(settings, &request)
        } else {
            admit(settings, ready.secrets.as_ref(), &request, row.at)
        };
        Ok((incoming, admission))
    }

    /// None: the trigger was changed meanwhile.
    async fn judge_again(
        &self,
        ready: &Ready,
        row: &RequestRow,
        equals: Equals,
    ) -> Result<Option<Received>, TriggerError> {
        let (incoming, admission) = self.admission(ready, row)?;
        let started = match admission {
            Admission::Start(started) => started,
            refused => return Ok(Some(received(&refused))),
        };
        if !ready.trigger.enabled {
            return Err(TriggerError::Disabled);
        }
        if started.key.is_none() {
            let started = self.start_equal(ready, row, &incoming, &started, equals);
            return started.await;
        }
        let started = self.start(ready, row.id, &incoming, *started, Time::Again);
        let received = started.await?;
        if let Some(Received::AlreadyProcessed { execution, .. }) = &received {
            self.log_repeat(row, *execution);
        }
        Ok(received)
    }

    /// The log has it as a duplicate from now on, so that nobody judges it a third time unless he chooses
    /// it: all of it stays. What has started something meanwhile stays what it is.
    pub(super) fn log_repeat(&self, row: &RequestRow, execution: ExecutionId) {
        self.log.write(RequestRow {
            status: RequestStatus::Duplicate,
            execution: Some(execution),
            error: None,
            ..row.clone()
        });
    }

    /// The request as it came, and how its sender was recognised then, if that was so.
    fn kept(&self, row: &RequestRow) -> Result<(Incoming, Option<Method>), TriggerError> {
        let body = row.body.clone().ok_or(TriggerError::NotKept)?;
        if body.len() as u64 != row.body_bytes {
            return Err(TriggerError::NotKept);
        }
        let logged = LoggedHeaders::read(row).ok_or(TriggerError::NotKept)?;
        let incoming = Incoming {
            source: row.source.parse().map_err(|_| TriggerError::NotKept)?,
            query: String::new(),
            headers: logged.open(self.context.vault(), row.id, &body)?,
            body,
            unread: None,
            is_test: row.is_test,
        };
        Ok((incoming, logged.verified_by()))
    }
}

/// An execution that had been started.
pub(super) fn before(execution: ExecutionId) -> Received {
    Received::AlreadyProcessed {
        execution,
        body_differs: false,
    }
}
