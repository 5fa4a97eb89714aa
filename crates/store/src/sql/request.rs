//! Requests to webhooks.

use async_trait::async_trait;
use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};

use super::{Database, Query};
use crate::column::Named;
use crate::request::first_id_at;
use crate::words::in_ring;
use crate::{ReadError, RequestFilter, RequestRow, RequestStatus, Requests};

#[async_trait]
impl<D: Database> Requests for D {
    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        let all = filter.statuses.is_empty() || filter.statuses.contains(&RequestStatus::Triggered);
        // The shortest index that has all that is asked for, named so that it is seen.
        let (index, condition) = match (filter.is_test, all) {
            (Some(true), _) => ("requests_tests", D::says_yes("is_test")),
            (_, false) => ("requests_refused", in_ring!().to_owned()),
            (_, true) => ("requests_by_trigger", "true".to_owned()),
        };
        let (columns, along) = (RequestRow::COLUMNS, D::along(index));
        let query = Query::new(format!(
            "SELECT {columns} FROM webhook_requests {along} WHERE {condition}"
        ))
        .with("AND trigger = ?", trigger)
        .and("id >= ?", filter.from.map(first_id_at))
        .and("id < ?", filter.to.map(first_id_at))
        .and("id < ?", before)
        .and_in("status", filter.statuses.iter().map(|it| it.name()))
        .and("is_test = ?", filter.is_test)
        .page("id DESC", limit);
        self.rows(query).await
    }

    async fn requests_beyond(
        &self,
        newest: u32,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<(TriggerId, Option<RequestId>)>, ReadError> {
        // Along an index that has nothing else.
        let along = D::along("requests_by_trigger");
        let query = Query::new("SELECT t.id, (SELECT r.id FROM webhook_requests AS r")
            .with(
                &format!("{along} WHERE r.trigger = t.id ORDER BY r.id DESC LIMIT 1 OFFSET ?)"),
                newest,
            )
            .with(
                "FROM workflow_triggers AS t WHERE t.deleted_at IS NULL AND t.kind = ?",
                TriggerKind::Webhook.name(),
            )
            .and("t.id > ?", after)
            .page("t.id", limit);
        self.rows(query).await
    }

    async fn request(&self, id: RequestId) -> Result<Option<RequestRow>, ReadError> {
        let columns = RequestRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns}, body FROM webhook_requests"));
        let found = self.row(query.with("WHERE id = ?", id)).await?;
        Ok(found.map(|(row, body)| RequestRow { body, ..row }))
    }
}
