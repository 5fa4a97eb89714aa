//! Requests to webhooks.

use async_trait::async_trait;
use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};

use super::page;
use crate::model::Model;
use crate::{ReadError, RequestFilter, RequestRow, Requests, TriggerFilter, TriggerRow};

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

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        self.read("request", |image| {
            Ok(image.requests.get(&id).map(|row| (**row).clone()))
        })
        .await
    }
}
