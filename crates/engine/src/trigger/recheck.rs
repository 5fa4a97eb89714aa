//! Judging a refused request again, by what its trigger is now.

use refire_core::id::{RequestId, TriggerId};
use refire_core::webhook::{Admission, admit};
use refire_store::{RequestRow, RequestStatus};

use super::TriggerError;
use super::request_log::LoggedHeaders;
use super::request_row::{pairs, request};
use super::webhook::{AGAIN_MAX, Incoming, Received, Time, received};
use crate::engine::Engine;

impl Engine {
    /// Judges a refused request again by what the trigger is now and by the moment it came, and starts
    /// its execution if it passes. The log has it as triggered then; else it stays as it is.
    pub async fn recheck_request(
        &self,
        trigger: TriggerId,
        id: RequestId,
    ) -> Result<Received, TriggerError> {
        for _ in 0..AGAIN_MAX {
            // The trigger first: whoever starts this request after the row was read does so by the
            // same version of the trigger, and so under the same name.
            let view = self.trigger(trigger).await?;
            let row = self.store().request(id).await?;
            let row = row.filter(|row| row.trigger == trigger);
            let row = row.ok_or(TriggerError::NoSuchRequest)?;
            if let (RequestStatus::Triggered, Some(execution)) = (row.status, row.execution) {
                let body_differs = false;
                return Ok(Received::AlreadyProcessed {
                    execution,
                    body_differs,
                });
            }
            let incoming = self.kept(&row)?;
            let ready = self.ready(&view.row)?;
            let pairs = pairs(&incoming);
            let request = request(&incoming, &pairs);
            let secrets = ready.secrets.as_ref();
            let started = match admit(&ready.settings, secrets, &request, row.at) {
                Admission::Start(started) => started,
                refused => return Ok(received(&refused)),
            };
            if !ready.trigger.enabled {
                return Err(TriggerError::Disabled);
            }
            let started = self.start(&ready, id, &incoming, *started, Time::Again);
            if let Some(received) = started.await? {
                return Ok(received);
            }
        }
        Err(TriggerError::Contended)
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
