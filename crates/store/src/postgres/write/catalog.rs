//! Definitions: immutable versions, and whether their workflow is deleted. The commit holds the
//! workflow's lock alone, so that nobody admits to it or saves it meanwhile.

use refire_core::definition::WorkflowId;

use super::link::{Link, Query, values};
use super::{Failed, Order, trigger};
use crate::postgres::columns::{count, get, signed_small, small};
use crate::table::rows::Versions;
use crate::table::statement::statements;
use crate::words::is_paused;
use crate::{PartOutcome, PutWorkflow};

/// Open work of each kind is counted up to here: a backlog of a million need not be walked for a
/// number in a refusal.
const OPEN_COUNTED_MAX: i64 = 10_000;

const NEWEST: &str = "SELECT workflows.key, workflows.version, newest.content_hash,
           workflows.deleted_at IS NULL
      FROM workflows JOIN workflow_versions AS newest
        ON newest.workflow = workflows.key AND newest.version = workflows.version
     WHERE workflows.ns = 1 AND workflows.id = $1";

const BRING_BACK: &str = "UPDATE workflows SET deleted_at = NULL WHERE key = $1";

const NEW_VERSION: &str = "UPDATE workflows SET name = $2, version = $3, updated_at = $4,
        deleted_at = NULL
     WHERE key = $1";

const NEW_WORKFLOW: &str = "INSERT INTO workflows (id, name, version, created_at, updated_at)
    VALUES ($1, $2, 1, $3, $3) RETURNING key";

statements! {
    INSERT_VERSION: postgres(version: Versions) =
        "INSERT INTO workflow_versions ({version.names}) SELECT * FROM {version}";
}

pub(super) const LIVE: &str =
    "SELECT key FROM workflows WHERE ns = 1 AND id = $1 AND deleted_at IS NULL";

/// Open executions of one workflow. Whatever is open and not paused has work, a task or a callback, so these answer
/// for all statuses but one; paused ones may have none.
const OPEN_EXECUTIONS: &str = concat!(
    "SELECT count(*) FROM (
        SELECT * FROM (SELECT execution FROM work
          WHERE owner IS NULL AND workflow = $1 LIMIT $2) AS waiting
        UNION
        SELECT * FROM (SELECT execution FROM work
          WHERE owner IS NOT NULL AND workflow = $1 LIMIT $2) AS owned
        UNION
        SELECT * FROM (SELECT id FROM executions
          WHERE listed",
    is_paused!(),
    " AND workflow = $1 LIMIT $2) AS paused
        UNION
        SELECT * FROM (SELECT execution FROM workflow_external_tasks
          WHERE status < 4 AND workflow = (SELECT id FROM workflows WHERE key = $1)
          LIMIT $2) AS tasks
        UNION
        SELECT * FROM (SELECT execution FROM task_callbacks
          WHERE wake_at IS NOT NULL AND workflow = (SELECT id FROM workflows WHERE key = $1)
          LIMIT $2) AS callbacks) AS open"
);

const MARK_DELETED: &str = "UPDATE workflows SET deleted_at = $2 WHERE key = $1";

pub(super) async fn put(
    link: &mut Link,
    order: &Order,
    put: &PutWorkflow,
) -> Result<PartOutcome, Failed> {
    let now = order.now.as_micros();
    let newest = link
        .ask(Query::new(NEWEST, values![put.id.as_str()]))
        .await?;
    let live = match newest.first() {
        Some(row) if get::<bool>(row, 3)? => Some(small(row, 1)?),
        _ => None,
    };
    if !put.may_follow(live) {
        return Ok(PartOutcome::NotNewest);
    }
    let (key, version) = match newest.first() {
        Some(row) if get::<&[u8]>(row, 2)? == put.content_hash => {
            let key: i64 = get(row, 0)?;
            link.ask(Query::new(BRING_BACK, values![key])).await?;
            return Ok(PartOutcome::Saved {
                version: small(row, 1)?,
                created: false,
            });
        }
        Some(row) => {
            let (key, version): (i64, u32) = (get(row, 0)?, small(row, 1)? + 1);
            let values = values![key, put.name.as_bytes(), signed_small(version), now];
            link.ask(Query::new(NEW_VERSION, values)).await?;
            (key, version)
        }
        None => {
            let values = values![put.id.as_str(), put.name.as_bytes(), now];
            let rows = link.ask(Query::new(NEW_WORKFLOW, values)).await?;
            let row = rows.first().ok_or_else(Failed::no_row)?;
            (get(row, 0)?, 1)
        }
    };
    let mut versions = Versions::default();
    versions.push(key, version, put, order.now);
    let insert = Query::new(&INSERT_VERSION, versions.values());
    link.ask(insert).await?;
    Ok(PartOutcome::Saved {
        version,
        created: true,
    })
}

pub(super) async fn delete(
    link: &mut Link,
    order: &Order,
    id: &WorkflowId,
) -> Result<PartOutcome, Failed> {
    let live = link.ask(Query::new(LIVE, values![id.as_str()])).await?;
    let Some(row) = live.first() else {
        return Ok(PartOutcome::NoSuchWorkflow);
    };
    let key: i64 = get(row, 0)?;
    let open = Query::new(OPEN_EXECUTIONS, values![key, OPEN_COUNTED_MAX]);
    let open = link.ask(open).await?;
    let open = count(open.first().ok_or_else(Failed::no_row)?, 0)?;
    if open > 0 {
        return Ok(PartOutcome::OpenExecutions(open));
    }
    let values = values![key, order.now.as_micros()];
    link.ask(Query::new(MARK_DELETED, values)).await?;
    trigger::disable(link, order, key).await?;
    Ok(PartOutcome::Done)
}
