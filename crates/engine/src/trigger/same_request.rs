//! Requests without a name that are equal to the last byte, when they are judged again: which of them are
//! one event.
//!
//! All that are equal share a name while the log may have one of them. Whoever starts one takes that name
//! with it, from the execution that he has seen to have it: so of all who start equal ones, on whatever
//! node, each knows of every start before his own.

use std::time::Duration;

use refire_core::execution::{Execution, PayloadRef};
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_core::time::Timestamp;
use refire_core::webhook::Started;
use refire_store::{
    IdempotencyClaim, LIMIT_MAX, ReadError, RequestFilter, RequestRow, RequestStatus,
};

use super::TriggerError;
use super::compiled::Ready;
use super::recheck::{Equals, before};
use super::webhook::{Incoming, Received, Time, Webhooks};
use crate::intake;

/// Requests that started something which are looked through for a repetition: the newest.
const LOOKED_THROUGH_MAX: usize = 5_000;
/// A request is judged within this: what is newer by its id is not older by more.
const JUDGED_WITHIN: Duration = Duration::from_secs(60);
/// States that are read together.
const STATES_MAX: usize = 100;
/// Times that a name is taken by others meanwhile before this is given up.
const TAKEN_MAX: u32 = 200;
/// Refused requests are removed so much later than is said, at most.
const REMOVED_WITHIN: Duration = Duration::from_secs(24 * 3_600);

/// The name of all requests that are equal to one.
pub(super) struct SameRequest {
    /// Who has it, as far as is known.
    pub(super) over: Option<ExecutionId>,
    pub(super) is_test: bool,
}

impl Webhooks {
    /// The name that is taken when one of equal requests is judged again.
    pub(super) fn equal_claim(
        &self,
        ready: &Ready,
        body_hash: [u8; 32],
        name: &SameRequest,
    ) -> IdempotencyClaim {
        let trigger = ready.trigger.id;
        // What was only tried is no event.
        let scope = match name.is_test {
            true => format!("{trigger} equal test"),
            false => format!("{trigger} equal"),
        };
        let kept_for = self.context.retention.requests;
        IdempotencyClaim {
            scope,
            key_hash: intake::hash(&body_hash),
            body_hash: intake::hash(&body_hash),
            // None that came before this start is in the log for longer.
            expires_at: kept_for.map_or(Timestamp::LAST, |kept_for| {
                self.context.now().plus(kept_for).plus(REMOVED_WITHIN)
            }),
            over: name.over,
        }
    }

    /// Starts a request that has no name, unless it was started by somebody else meanwhile, or it is to
    /// be the same as what is equal to it and that was started after it came. None: the trigger was
    /// changed meanwhile.
    pub(super) async fn start_equal(
        &self,
        ready: &Ready,
        row: &RequestRow,
        incoming: &Incoming,
        started: &Started,
        equals: Equals,
    ) -> Result<Option<Received>, TriggerError> {
        if equals == Equals::Same
            && let Some(execution) = self.repeated_after(row, &started.input).await?
        {
            self.log_repeat(row, execution);
            return Ok(Some(before(execution)));
        }
        let mut over = None;
        for _ in 0..TAKEN_MAX {
            let is_test = row.is_test;
            let name = SameRequest { over, is_test };
            let start = self.start(ready, row.id, incoming, started.clone(), Time::Equal(name));
            let received = start.await?;
            let Some(Received::AlreadyProcessed { execution, .. }) = received else {
                return Ok(received);
            };
            // Whoever has started this very request has taken the name for it: before this look, so that
            // it is seen, or after it, and then the name is not taken from `execution` any more.
            let now = self.context.store.request(row.id).await?;
            let now = now.ok_or(TriggerError::NoSuchRequest)?;
            if let (RequestStatus::Triggered, Some(execution)) = (now.status, now.execution) {
                return Ok(Some(before(execution)));
            }
            if equals == Equals::Same && self.is_after(execution, row) {
                self.log_repeat(row, execution);
                return Ok(Some(before(execution)));
            }
            over = Some(execution);
        }
        Err(TriggerError::Contended)
    }

    /// Whether an execution was started after a request came. If the clock was set back since, nobody
    /// knows: what may have been is not started twice.
    fn is_after(&self, execution: ExecutionId, row: &RequestRow) -> bool {
        execution.as_bytes() > row.id.as_bytes() || self.context.now() < row.at
    }

    /// What an equal request has started that came after this one and passed: its sender had repeated it
    /// by itself.
    async fn repeated_after(
        &self,
        row: &RequestRow,
        input: &Json,
    ) -> Result<Option<ExecutionId>, TriggerError> {
        let _one_at_a_time = self.looking.lock().await;
        let filter = RequestFilter {
            statuses: vec![RequestStatus::Triggered],
            is_test: Some(false),
            from: Some(row.at.minus(JUDGED_WITHIN)),
            ..RequestFilter::default()
        };
        let mut candidates = Vec::new();
        let (mut oldest, mut looked_through) = (None, 0);
        while looked_through < LOOKED_THROUGH_MAX {
            let page = self
                .context
                .store
                .requests(row.trigger, &filter, oldest, LIMIT_MAX);
            let page = page.await?;
            let is_like =
                |other: &&RequestRow| other.at >= row.at && other.body_bytes == row.body_bytes;
            candidates.extend(page.iter().filter(is_like).filter_map(|row| row.execution));
            looked_through += page.len();
            match page.last() {
                Some(last) if page.len() == LIMIT_MAX as usize => oldest = Some(last.id),
                _ => break,
            }
        }
        // The oldest first: a sender that was refused repeats itself soon.
        candidates.reverse();
        let wanted = PayloadRef::to(0, input);
        for ids in candidates.chunks(STATES_MAX) {
            for (id, state) in ids.iter().zip(self.states_of(ids).await?) {
                let kept = state.and_then(|state| Some(state.origin?.input));
                let is_equal =
                    |kept: &PayloadRef| (kept.len, kept.hash) == (wanted.len, wanted.hash);
                let Some(kept) = kept.filter(is_equal) else {
                    continue;
                };
                // Equal by length and hash; only now is the value itself worth reading.
                if self.has_value(*id, kept.sequence, input).await? {
                    return Ok(Some(*id));
                }
            }
        }
        Ok(None)
    }

    /// The states of executions; none where it is not kept any more, or cannot be read.
    async fn states_of(&self, ids: &[ExecutionId]) -> Result<Vec<Option<Execution>>, TriggerError> {
        match self.context.store.states(ids).await {
            Err(ReadError::Corrupt { .. }) => {}
            other => return Ok(other?),
        }
        let mut states = Vec::with_capacity(ids.len());
        for id in ids {
            states.push(match self.context.store.states(&[*id]).await {
                Err(ReadError::Corrupt { .. }) => None,
                other => other?.pop().flatten(),
            });
        }
        Ok(states)
    }

    async fn has_value(
        &self,
        id: ExecutionId,
        sequence: u64,
        input: &Json,
    ) -> Result<bool, TriggerError> {
        match self.context.store.values(id, &[sequence]).await {
            Err(ReadError::Corrupt { .. }) => Ok(false),
            other => Ok(other?.iter().any(|(_, value)| value == input)),
        }
    }
}
