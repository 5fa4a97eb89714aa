//! Requests to webhooks.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};
use refire_core::time::Timestamp;

use super::{Database, Query};
use crate::column::Named;
use crate::request::first_id_at;
use crate::words::in_ring;
use crate::{
    ReadError, RefusedRequests, RequestFilter, RequestRow, RequestStatus, RequestTally, Requests,
};

/// Requests that pass, along the shortest index that has all that is asked for, named so that it is seen.
fn that<D: Database>(columns: &str, trigger: TriggerId, filter: &RequestFilter) -> Query {
    let all = filter.statuses.is_empty() || filter.statuses.contains(&RequestStatus::Triggered);
    let (index, condition) = match (filter.is_test, all) {
        (Some(true), _) => ("requests_tests", D::says_yes("is_test")),
        (_, false) => ("requests_refused", in_ring!().to_owned()),
        (_, true) => ("requests_by_trigger", "true".to_owned()),
    };
    let along = D::along(index);
    Query::new(format!(
        "SELECT {columns} FROM webhook_requests {along} WHERE {condition}"
    ))
    .with("AND trigger = ?", trigger)
    .and("id >= ?", filter.from.map(first_id_at))
    .and("id < ?", filter.to.map(first_id_at))
    .and_in("status", filter.statuses.iter().map(|it| it.name()))
    .and("is_test = ?", filter.is_test)
}

#[async_trait]
impl<D: Database> Requests for D {
    async fn requests(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        before: Option<RequestId>,
        limit: u32,
    ) -> Result<Vec<RequestRow>, ReadError> {
        let query = that::<D>(RequestRow::COLUMNS, trigger, filter).and("id < ?", before);
        self.rows(query.page("id DESC", limit)).await
    }

    async fn request_tally(
        &self,
        trigger: TriggerId,
        filter: &RequestFilter,
        max: u32,
    ) -> Result<Vec<RequestTally>, ReadError> {
        let mut query = that::<D>("status, at", trigger, filter);
        let columns = RequestTally::COLUMNS;
        query.sql = format!("SELECT {columns} FROM ({}", query.sql);
        let query = query
            .with("ORDER BY id DESC LIMIT ?) AS newest", max)
            .end("GROUP BY status ORDER BY status");
        self.rows(query).await
    }

    async fn refused_requests(
        &self,
        statuses: &[RequestStatus],
        since: Timestamp,
        max: u32,
        limit: u32,
    ) -> Result<Vec<RefusedRequests>, ReadError> {
        let along = D::along("requests_refused");
        let such = |query: Query, what: &str| {
            let such = format!(
                "SELECT {what} FROM webhook_requests {along}
                  WHERE {} AND webhook_requests.trigger = t.id",
                in_ring!()
            );
            query
                .end(&such)
                .with("AND webhook_requests.id >= ?", first_id_at(since))
                .and("webhook_requests.is_test = ?", Some(false))
                .and_in(
                    "webhook_requests.status",
                    statuses.iter().map(|it| it.name()),
                )
        };
        let query = Query::new("SELECT t.id, workflows.id, (SELECT count(*) FROM (");
        let query = such(query, "1").with("LIMIT ?) AS such), (", max);
        let query = such(query, "webhook_requests.at")
            .end("ORDER BY webhook_requests.id LIMIT 1)")
            .with(
                "FROM workflow_triggers AS t JOIN workflows ON workflows.key = t.workflow
                  WHERE t.deleted_at IS NULL AND t.kind = ?",
                TriggerKind::Webhook.name(),
            )
            .page("t.id", limit);
        let rows: Vec<(TriggerId, WorkflowId, (u64, Option<Timestamp>))> = self.rows(query).await?;
        let refused = |(trigger, workflow, (count, since))| {
            Some(RefusedRequests {
                trigger,
                workflow,
                count,
                since: since?,
            })
        };
        Ok(rows.into_iter().filter_map(refused).collect())
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
