//! Judging a refused request again, by what its trigger is now.

use refire_core::execution::PayloadRef;
use refire_core::id::{ExecutionId, RequestId, TriggerId};
use refire_core::json::Json;
use refire_core::webhook::{Admission, admit};
use refire_store::{LIMIT_MAX, ReadError, RequestFilter, RequestRow, RequestStatus};

use super::TriggerError;
use super::request_log::LoggedHeaders;
use super::request_row::{pairs, request};
use super::webhook::{AGAIN_MAX, Incoming, Ready, Received, Time, received};
use crate::engine::Engine;

/// Requests that started something which are looked through for an equal one: the newest.
const LOOKED_THROUGH_MAX: usize = 5_000;
/// Bytes of a body that are kept with a repeat.
const REPEAT_BYTES_MAX: usize = 64 * 1_024;

/// What is made of requests that have no name and are equal to the last byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Equals {
    /// Each is one of its own: somebody has chosen this one.
    #[default]
    Apart,
    /// They are one that was sent several times.
    Same,
}

impl Engine {
    /// Judges a refused request again by what the trigger is now and by the moment it came, and starts
    /// its execution if it passes. The log has it as triggered then, or as a duplicate if its execution
    /// had been started before; else it stays as it is.
    pub async fn recheck_request(
        &self,
        trigger: TriggerId,
        id: RequestId,
        equals: Equals,
    ) -> Result<Received, TriggerError> {
        self.flush_requests().await;
        for _ in 0..AGAIN_MAX {
            // The trigger first: whoever starts this request after the row was read does so by the
            // same version of the trigger, and so under the same name.
            let view = self.trigger(trigger).await?;
            let row = self.store().request(id).await?;
            let row = row.filter(|row| row.trigger == trigger);
            let row = row.ok_or(TriggerError::NoSuchRequest)?;
            if let (RequestStatus::Triggered, Some(execution)) = (row.status, row.execution) {
                return Ok(before(execution));
            }
            let ready = self.ready(&view.row)?;
            if let Some(received) = self.judge_again(&ready, &row, equals).await? {
                return Ok(received);
            }
        }
        Err(TriggerError::Contended)
    }

    /// None: the trigger was changed meanwhile.
    async fn judge_again(
        &self,
        ready: &Ready,
        row: &RequestRow,
        equals: Equals,
    ) -> Result<Option<Received>, TriggerError> {
        let incoming = self.kept(row)?;
        let pairs = pairs(&incoming);
        let request = request(&incoming, &pairs);
        let secrets = ready.secrets.as_ref();
        let started = match admit(&ready.settings, secrets, &request, row.at) {
            Admission::Start(started) => started,
            refused => return Ok(Some(received(&refused))),
        };
        if !ready.trigger.enabled {
            return Err(TriggerError::Disabled);
        }
        if started.key.is_none()
            && equals == Equals::Same
            && let Some(execution) = self.equal_after(row, &started.input).await?
        {
            self.log_repeat(row, execution);
            return Ok(Some(before(execution)));
        }
        let started = self.start(ready, row.id, &incoming, *started, Time::Again);
        let received = started.await?;
        if let Some(Received::AlreadyProcessed { execution, .. }) = &received {
            self.log_repeat(row, *execution);
        }
        Ok(received)
    }

    /// What an equal request has started after this one came: its sender had repeated it by itself, or
    /// somebody has let it be judged again.
    async fn equal_after(
        &self,
        row: &RequestRow,
        input: &Json,
    ) -> Result<Option<ExecutionId>, TriggerError> {
        let filter = RequestFilter {
            statuses: vec![RequestStatus::Triggered],
            ..RequestFilter::default()
        };
        let mut candidates = Vec::new();
        let (mut oldest, mut looked_through) = (None, 0);
        while looked_through < LOOKED_THROUGH_MAX {
            let page = self
                .store()
                .requests(row.trigger, &filter, oldest, LIMIT_MAX);
            let page = page.await?;
            let is_like = |other: &&RequestRow| {
                other.at >= row.at && other.body_bytes == row.body_bytes && !other.is_test
            };
            candidates.extend(page.iter().filter(is_like).filter_map(|row| row.execution));
            looked_through += page.len();
            match page.last() {
                Some(last) if page.len() == LIMIT_MAX as usize => oldest = Some(last.id),
                _ => break,
            }
        }
        // The oldest first: a sender that was refused repeats itself soon.
        for execution in candidates.into_iter().rev() {
            if self.has_input(execution, input).await? {
                return Ok(Some(execution));
            }
        }
        Ok(None)
    }

    /// Whether an execution has this input; not if it is not kept any more, or cannot be read.
    async fn has_input(&self, id: ExecutionId, input: &Json) -> Result<bool, TriggerError> {
        let stored = match self.store().execution(id).await {
            Err(ReadError::Corrupt { .. }) => return Ok(false),
            other => other?,
        };
        let kept = stored.and_then(|stored| Some(stored.state.origin?.input));
        let Some(kept) = kept.filter(|kept| *kept == PayloadRef::to(kept.sequence, input)) else {
            return Ok(false);
        };
        // Equal by length and hash; only now is the value itself worth reading.
        match self.store().values(id, &[kept.sequence]).await {
            Err(ReadError::Corrupt { .. }) => Ok(false),
            other => Ok(other?.iter().any(|(_, value)| value == input)),
        }
    }

    /// The log has it as a duplicate from now on, so that nobody judges it a third time. What has
    /// started something meanwhile stays what it is.
    fn log_repeat(&self, row: &RequestRow, execution: ExecutionId) {
        let mut body = row.body.clone();
        if let Some(body) = &mut body {
            body.truncate(REPEAT_BYTES_MAX);
        }
        self.request_log().write(RequestRow {
            status: RequestStatus::Duplicate,
            execution: Some(execution),
            error: None,
            body,
            ..row.clone()
        });
    }

    /// The request as it came.
    fn kept(&self, row: &RequestRow) -> Result<Incoming, TriggerError> {
        let body = row.body.clone().ok_or(TriggerError::NotKept)?;
        if body.len() as u64 != row.body_bytes {
            return Err(TriggerError::NotKept);
        }
        let logged = LoggedHeaders::read(row).ok_or(TriggerError::NotKept)?;
        Ok(Incoming {
            source: row.source.parse().map_err(|_| TriggerError::NotKept)?,
            query: String::new(),
            headers: logged.open(self.vault(), row.id)?,
            body,
            unread: None,
            is_test: row.is_test,
        })
    }
}

fn before(execution: ExecutionId) -> Received {
    Received::AlreadyProcessed {
        execution,
        body_differs: false,
    }
}
