//! Triggers, where they stand, and the ledger of their slots.

use async_trait::async_trait;
use refire_core::definition::WorkflowId;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Entry, State};

use super::{Database, OF_WORKFLOW, Query};
use crate::column::{Columns, Cursor, Field, Named};
use crate::unreadable::{LEFT_OUT_MAX, readable_trigger};
use crate::{
    DueTrigger, LIMIT_MAX, ReadError, SlotFilter, SlotRow, TriggerFilter, TriggerRow, Triggers,
};

const LIVE: &str = "FROM workflow_triggers AS t JOIN workflows ON workflows.key = t.workflow
     WHERE t.deleted_at IS NULL";

/// Whether an expected success of a trigger is missing.
const ALARMED: &str = "EXISTS (SELECT 1 FROM trigger_state AS s
     WHERE s.trigger = t.id AND s.alarmed_at IS NOT NULL) = ?";

/// Those of scheduled tasks are shown with their tasks.
const NOT_OF_A_TASK: &str = "AND NOT EXISTS (SELECT 1 FROM scheduled_tasks WHERE id = t.id)";

/// A row of a walk over triggers that are due: its place, and what it says, if it can be read.
struct Due {
    due_at: i64,
    trigger: Vec<u8>,
    readable: Option<DueTrigger>,
}

impl Field for Due {
    fn take<R: Columns>(cursor: &mut Cursor<'_, R>) -> Result<Self, ReadError> {
        let (due_at, trigger): (i64, Vec<u8>) = cursor.next()?;
        let read = cursor.next();
        let name = || match <[u8; 16]>::try_from(&trigger[..]) {
            Ok(id) => TriggerId::from_bytes(id).to_string(),
            Err(_) => "?".to_owned(),
        };
        let readable = readable_trigger(read, name);
        Ok(Self {
            due_at,
            trigger,
            readable,
        })
    }
}

fn ledger(trigger: TriggerId) -> Query {
    let columns = Entry::COLUMNS;
    Query::new(format!("SELECT seq, {columns} FROM trigger_slots"))
        .with("WHERE trigger = ?", trigger)
}

fn live() -> Query {
    Query::new(format!("SELECT {} {LIVE}", TriggerRow::COLUMNS))
}

/// Those that pass a filter, by this form of their kind.
fn that(query: Query, filter: &TriggerFilter, kind: &str) -> Query {
    let query = match filter.workflow {
        Some(_) => query,
        None => query.end(NOT_OF_A_TASK),
    };
    query
        .and(
            &format!("t.{OF_WORKFLOW}"),
            filter.workflow.as_ref().map(|id| id.as_str()),
        )
        .and_in(kind, filter.kinds.iter().map(|kind| kind.name()))
        .and("t.enabled = ?", filter.enabled)
        .and(ALARMED, filter.is_alarmed)
}

#[async_trait]
impl<D: Database> Triggers for D {
    async fn trigger(&self, id: TriggerId) -> Result<Option<TriggerRow>, ReadError> {
        self.row(live().with("AND t.id = ?", id)).await
    }

    async fn webhook(&self, id: WebhookId) -> Result<Option<TriggerRow>, ReadError> {
        self.row(live().with("AND t.webhook = ?", id)).await
    }

    async fn triggers(
        &self,
        filter: &TriggerFilter,
        after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        // Compared so that the index of kinds is not taken, which has another order.
        let query = that(live(), filter, "t.kind || ''").and("t.id > ?", after);
        self.rows(query.page("t.id", limit)).await
    }

    async fn count_triggers(&self, filter: &TriggerFilter) -> Result<u64, ReadError> {
        let along = D::along(match filter.workflow {
            Some(_) => "triggers_by_workflow",
            None => "triggers_by_kind",
        });
        let counted = Query::new(format!(
            "SELECT count(*) FROM workflow_triggers AS t {along} WHERE t.deleted_at IS NULL"
        ));
        let count = self.row(that(counted, filter, "t.kind")).await?;
        Ok(count.unwrap_or(0))
    }

    async fn trigger_state(&self, id: TriggerId) -> Result<Option<State>, ReadError> {
        let columns = State::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM trigger_state AS s"));
        self.row(query.with("WHERE s.trigger = ?", id).urgent())
            .await
    }

    /// Those that can be read, however many before them cannot, within reason.
    async fn due_triggers(&self, by: Timestamp, limit: u32) -> Result<Vec<DueTrigger>, ReadError> {
        // Whatever a state lacks makes it unreadable, and not unseen.
        let sql = format!(
            "SELECT s.due_at, s.trigger, {}, {}
               FROM trigger_state AS s {}
               LEFT JOIN workflow_triggers AS t ON t.id = s.trigger
               LEFT JOIN workflows ON workflows.key = t.workflow
              WHERE s.due_at IS NOT NULL",
            TriggerRow::COLUMNS,
            State::COLUMNS,
            D::along("trigger_state_due"),
        );
        let limit = limit.min(LIMIT_MAX);
        let (mut due, mut left_out, mut asked) = (Vec::new(), 0, limit);
        let (mut at, mut trigger) = (i64::MIN, vec![0; 16]);
        loop {
            let query = Query::new(&*sql)
                .with("AND s.due_at <= ?", by)
                .with("AND (s.due_at, s.trigger) > (?,", at)
                .with("?)", trigger.clone())
                .page("s.due_at, s.trigger", asked)
                .urgent();
            let rows = self.rows::<Due>(query).await?;
            let is_end = rows.len() < asked as usize;
            for row in rows {
                (at, trigger) = (row.due_at, row.trigger);
                left_out += u32::from(row.readable.is_none());
                due.extend(row.readable);
            }
            if is_end || due.len() >= limit as usize || left_out >= LEFT_OUT_MAX {
                break;
            }
            // Much cannot be read, and short pages would not get far.
            asked = LIMIT_MAX;
        }
        due.truncate(limit as usize);
        Ok(due)
    }

    /// Nobody waits for one that cannot be read: it would be due for ever.
    async fn next_trigger_due(&self) -> Result<Option<Timestamp>, ReadError> {
        let first = self.due_triggers(Timestamp::LAST, 1).await?;
        Ok(first.first().and_then(|due| due.state.due_at))
    }

    async fn standing_triggers(
        &self,
        workflow: &WorkflowId,
        limit: u32,
    ) -> Result<Vec<DueTrigger>, ReadError> {
        let query = Query::new(format!(
            "SELECT {}, {} FROM workflow_triggers AS t
               JOIN workflows ON workflows.key = t.workflow
               JOIN trigger_state AS s ON s.trigger = t.id
              WHERE t.deleted_at IS NULL",
            TriggerRow::COLUMNS,
            State::COLUMNS,
        ))
        .with(&format!("AND t.{OF_WORKFLOW}"), workflow.as_str())
        .with("AND t.enabled = ?", true);
        self.rows(query.page("t.id", limit)).await
    }

    async fn slots(
        &self,
        trigger: TriggerId,
        filter: &SlotFilter,
        before: Option<u64>,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        let statuses = filter.statuses.iter();
        let query = ledger(trigger)
            .and("seq < ?", before)
            .and("until >= ?", filter.from)
            .and("nominal < ?", filter.to)
            .and_in("status", statuses.map(|status| status.name()));
        self.rows(query.page("seq DESC", limit)).await
    }

    async fn slots_between(
        &self,
        trigger: TriggerId,
        from: Timestamp,
        to: Timestamp,
        limit: u32,
    ) -> Result<Vec<SlotRow>, ReadError> {
        let query = ledger(trigger)
            .with("AND until >= ?", from)
            .with("AND nominal < ?", to);
        self.rows(query.page("seq", limit)).await
    }
}
