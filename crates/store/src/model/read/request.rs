//! Requests to webhooks.

use std::collections::BTreeMap;

use async_trait::async_trait;
use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::{
    ReadError, RefusedRequests, RequestFilter, RequestRow, RequestStatus, RequestTally, Requests,
    TriggerFilter, TriggerRow,
};

#[async_trait]
impl Requests for Model {
    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        self.read("requests", |image| {
            let own = image.requests.values().rev();
            let own = own.filter(|row| row.trigger == trigger);
            let older = own.filter(|row| before.is_none_or(|before| row.id < before));
            let asked = older.filter(|row| filter.passes(row)).take(page(limit));
            let without_body = asked.map(|row| RequestRow {
                body: None,
                ..(**row).clone()
            });
            Ok(without_body.collect())
        })
        .await
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        let webhooks = TriggerFilter {
            kinds: vec![TriggerKind::Webhook],
            ..TriggerFilter::default()
        };
        self.read("requests_beyond", |image| {
            let beyond = |row: &TriggerRow| {
                let own = image.requests.values().rev();
                let mut own = own.filter(|request| request.trigger == row.id);
                (row.id, own.nth(newest as usize).map(|request| request.id))
            };
            let rows = image.triggers_that(&webhooks, after).take(page(limit));
            Ok(rows.map(beyond).collect())
        })
        .await
    }

    async fn request_tally(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        max: u32,
    ) -> Result<Vec<RequestTally>, ReadError> {
        self.read("request_tally", |image| {
            let own = image.requests.values().rev();
            let own = own.filter(|row| row.trigger == trigger && filter.passes(row));
            let mut found: BTreeMap<&str, RequestTally> = BTreeMap::new();
            for row in own.take(max as usize) {
                let tally = found.entry(row.status.name()).or_insert(RequestTally {
                    status: row.status,
                    count: 0,
                    oldest: row.at,
                    newest: row.at,
                });
                tally.count += 1;
                tally.oldest = tally.oldest.min(row.at);
                tally.newest = tally.newest.max(row.at);
            }
            Ok(found.into_values().collect())
        })
        .await
    }

    async fn refused_requests(
        &self,
        statuses: &[RequestStatus],
        since: Timestamp,
        max: u32,
        limit: u32,
    ) -> Result<Vec<RefusedRequests>, ReadError> {
        let is_webhook = |row: &&TriggerRow| row.kind == TriggerKind::Webhook;
        let filter = RequestFilter {
            statuses: statuses.to_vec(),
            is_test: Some(false),
            from: Some(since),
            to: None,
        };
        self.read("refused_requests", |image| {
            let refused = |row: &TriggerRow| {
                let own = image.requests.values();
                let own = own.filter(|request| request.trigger == row.id);
                let mut such = own.filter(|it| it.is_in_ring() && filter.passes(it));
                let since = such.next()?.at;
                Some(RefusedRequests {
                    trigger: row.id,
                    workflow: row.workflow.clone(),
                    count: (1 + such.count() as u64).min(max.into()),
                    since,
                })
            };
            let rows = image.live_triggers().filter(is_webhook);
            Ok(rows.take(page(limit)).filter_map(refused).collect())
        })
        .await
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        self.read("request", |image| {
            Ok(image.requests.get(&id).map(|row| (**row).clone()))
        })
        .await
    }
}
