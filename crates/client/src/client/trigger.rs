//! The calls about triggers.

use reqwest::Method;

use super::{Client, path_with, segment};
use crate::error::Error;
use crate::model::{
    Accepted, BackfillRequest, BackfillResult, CronHistory, EnableTrigger, LedgerEntry, Page,
    PlannedSlot, RotateSecret, TestWebhook, TestedWebhook, Trigger, WebhookAnswer, WebhookRequest,
};
use crate::query::{
    ChangeQuery, HistoryQuery, NextQuery, OfWorkflow, Paging, RecheckQuery, RequestQuery,
    SlotQuery, TriggerQuery,
};

impl Client {
    /// Makes a trigger of a workflow from JSON or YAML text.
    pub async fn create_trigger(&self, workflow: &str, source: &str) -> Result<Trigger, Error> {
        let path = format!("/api/workflows/{}/triggers", segment(workflow));
        self.send(self.request(Method::POST, &path).body(source.to_owned()))
            .await
    }

    /// Triggers, oldest first.
    pub async fn triggers(
        &self,
        of: &OfWorkflow,
        query: &TriggerQuery,
        paging: &Paging,
    ) -> Result<Page<Trigger>, Error> {
        let query = (of.clone(), query.clone());
        self.list("/api/triggers", &query, paging).await
    }

    /// One trigger.
    pub async fn trigger(&self, id: &str) -> Result<Trigger, Error> {
        self.get(&trigger(id, ""), &()).await
    }

    /// Changes a trigger by a merge patch (JSON or YAML text).
    pub async fn change_trigger(
        &self,
        id: &str,
        patch: &str,
        catch_up: bool,
    ) -> Result<Trigger, Error> {
        let query = ChangeQuery {
            catch_up: catch_up.then_some(true),
        };
        let path = path_with(&trigger(id, ""), &query);
        self.send(self.request(Method::PATCH, &path).body(patch.to_owned()))
            .await
    }

    /// Gives a trigger new settings (JSON or YAML text) in place of all that it was told.
    pub async fn replace_trigger(&self, id: &str, source: &str) -> Result<Trigger, Error> {
        let request = self.request(Method::PUT, &trigger(id, ""));
        self.send(request.body(source.to_owned())).await
    }

    /// Removes a trigger.
    pub async fn delete_trigger(&self, id: &str) -> Result<(), Error> {
        self.send_empty(self.request(Method::DELETE, &trigger(id, "")))
            .await
    }

    /// Enables a trigger.
    pub async fn enable_trigger(&self, id: &str, catch_up: bool) -> Result<Trigger, Error> {
        let body = EnableTrigger {
            catch_up: Some(catch_up),
        };
        self.post(&trigger(id, "/enable"), &body).await
    }

    /// Disables a trigger.
    pub async fn disable_trigger(&self, id: &str) -> Result<Trigger, Error> {
        self.send(self.request(Method::POST, &trigger(id, "/disable")))
            .await
    }

    /// Starts an execution as the trigger would, with another input (JSON text) if one is given. The
    /// same idempotency key never starts a second one.
    pub async fn run_trigger(
        &self,
        id: &str,
        input: Option<&str>,
        idempotency_key: Option<&str>,
    ) -> Result<Accepted, Error> {
        let mut request = self
            .request(Method::POST, &trigger(id, "/run"))
            .header("Content-Type", "application/json")
            .body(input.unwrap_or_default().to_owned());
        if let Some(key) = idempotency_key {
            request = request.header("Idempotency-Key", key);
        }
        self.send(request).await
    }

    /// Gives a webhook a new secret.
    pub async fn rotate_secret(&self, id: &str, rotate: &RotateSecret) -> Result<Trigger, Error> {
        self.post(&trigger(id, "/rotate-secret"), rotate).await
    }

    /// The next planned times.
    pub async fn next_slots(&self, id: &str, count: u32) -> Result<Page<PlannedSlot>, Error> {
        let query = NextQuery { count: Some(count) };
        self.get(&trigger(id, "/next"), &query).await
    }

    /// What became of its planned times, newest first.
    pub async fn slots(
        &self,
        id: &str,
        query: &SlotQuery,
        paging: &Paging,
    ) -> Result<Page<LedgerEntry>, Error> {
        self.list(&trigger(id, "/slots"), query, paging).await
    }

    /// Requests to a webhook, newest first.
    pub async fn webhook_requests(
        &self,
        id: &str,
        query: &RequestQuery,
        paging: &Paging,
    ) -> Result<Page<WebhookRequest>, Error> {
        self.list(&trigger(id, "/requests"), query, paging).await
    }

    /// One request to a webhook, with its body.
    pub async fn webhook_request(
        &self,
        id: &str,
        request_id: &str,
    ) -> Result<WebhookRequest, Error> {
        let path = trigger(id, &format!("/requests/{}", segment(request_id)));
        self.get(&path, &()).await
    }

    /// Judges a refused request again, and runs it if it passes. With `equal_once` what has no name is
    /// the same as what is equal to it.
    pub async fn recheck_request(
        &self,
        id: &str,
        request_id: &str,
        equal_once: bool,
    ) -> Result<WebhookAnswer, Error> {
        let below = format!("/requests/{}/recheck", segment(request_id));
        let query = RecheckQuery {
            equal_once: equal_once.then_some(true),
        };
        let path = path_with(&trigger(id, &below), &query);
        self.send(self.request(Method::POST, &path)).await
    }

    /// Makes a request to a webhook and signs it as its sender would.
    pub async fn test_webhook(&self, id: &str, test: &TestWebhook) -> Result<TestedWebhook, Error> {
        self.post(&trigger(id, "/test"), test).await
    }

    /// Runs planned times of the past.
    pub async fn backfill(
        &self,
        id: &str,
        backfill: &BackfillRequest,
    ) -> Result<BackfillResult, Error> {
        self.post(&trigger(id, "/backfill"), backfill).await
    }

    /// The last executions of a cron trigger of a workflow: the oldest, unless one is named.
    pub async fn cron_history(
        &self,
        workflow: &str,
        trigger: Option<&str>,
        limit: Option<u32>,
    ) -> Result<CronHistory, Error> {
        let query = HistoryQuery {
            trigger_id: trigger.map(str::to_owned),
            limit,
        };
        let path = format!("/api/workflows/{}/cron-history", segment(workflow));
        self.get(&path, &query).await
    }
}

/// The path of something of a trigger.
fn trigger(id: &str, below: &str) -> String {
    format!("/api/triggers/{}{below}", segment(id))
}
