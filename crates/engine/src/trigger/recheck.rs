//! Judging a refused request again, by what its trigger is now.

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
/// Of those as long as the one that is judged, the inputs of so many are compared: the oldest, since a
/// sender that was refused repeats itself soon.
const COMPARED_MAX: usize = 100;

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
        let started = self.start(ready, row.id, &incoming, *started, Time::Again(equals));
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
        for execution in candidates.into_iter().rev().take(COMPARED_MAX) {
            if self.input_of(execution).await?.as_ref() == Some(input) {
                return Ok(Some(execution));
            }
        }
        Ok(None)
    }

    /// The input of an execution; none if it is not kept any more, or cannot be read.
    async fn input_of(&self, id: ExecutionId) -> Result<Option<Json>, TriggerError> {
        let stored = match self.store().execution(id).await {
            Err(ReadError::Corrupt { .. }) => return Ok(None),
            other => other?,
        };
        let sequence = stored.and_then(|stored| Some(stored.state.origin?.input.sequence));
        let Some(sequence) = sequence else {
            return Ok(None);
        };
        let values = self.store().values(id, &[sequence]).await?;
        Ok(values.into_iter().next().map(|(_, input)| input))
    }

    /// The log has it as a duplicate from now on, so that nobody judges it a third time. What has
    /// started something meanwhile stays what it is.
    fn log_repeat(&self, row: &RequestRow, execution: ExecutionId) {
        self.request_log().write(RequestRow {
            status: RequestStatus::Duplicate,
            execution: Some(execution),
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
