//! Workers: what nodes have seen of them. Rows are read, changed by what all backends share, and written as a
//! whole.

use std::collections::BTreeMap;

use super::Failed;
use super::link::{Link, Query, values};
use crate::column::{Named, read_at};
use crate::table::column::Foreign;
use crate::table::rows::Workers;
use crate::table::statement::statements;
use crate::worker::WORKERS_MAX;
use crate::{PartOutcome, WorkerRow};

/// A worker's columns.
const COLUMNS: &str = WorkerRow::COLUMNS;

statements! {
    /// Those that are not there yet: another node may write the same ones now.
    MAKE: postgres(workers: Workers) =
        "INSERT INTO workflow_external_workers ({workers.names}) SELECT * FROM {workers}
     ORDER BY given.worker_id ON CONFLICT (worker_id) DO NOTHING";

    KNOWN: postgres(ids) = &format!("SELECT {COLUMNS} FROM workflow_external_workers
     WHERE worker_id = ANY({{ids}}::bytea[]) ORDER BY worker_id FOR UPDATE");

    PUT: postgres(workers: Workers) =
        "INSERT INTO workflow_external_workers ({workers.names}) SELECT * FROM {workers}
     ORDER BY given.worker_id
     ON CONFLICT (worker_id) DO UPDATE SET {workers.replaced!worker_id}";

    /// Those seen longest ago, if there are too many. What another node is at stays.
    CUT: postgres(most) = "DELETE FROM workflow_external_workers
     WHERE (SELECT count(*) FROM workflow_external_workers) > {most}
       AND worker_id IN (SELECT worker_id FROM workflow_external_workers
        ORDER BY updated_at DESC, worker_id OFFSET {most} FOR UPDATE SKIP LOCKED)";
}

const FORGET: &str =
    "DELETE FROM workflow_external_workers WHERE worker_id = $1 RETURNING worker_id";

async fn put<'a>(
    link: &mut Link,
    sql: &'static str,
    rows: impl Iterator<Item = &'a WorkerRow>,
) -> Result<(), Failed> {
    let mut workers = Workers::default();
    rows.for_each(|row| workers.push(row));
    link.ask(Query::new(sql, workers.values())).await?;
    Ok(())
}

pub(super) async fn see(link: &mut Link, seen: &[WorkerRow]) -> Result<PartOutcome, Failed> {
    // Counts are added to what is there, so a new row begins with none.
    let fresh: Vec<WorkerRow> = seen
        .iter()
        .map(|seen| WorkerRow {
            completed: 0,
            failed: 0,
            ..seen.clone()
        })
        .collect();
    put(link, &MAKE, fresh.iter()).await?;
    let ids: Vec<Foreign<'_>> = seen.iter().map(|seen| Foreign(&seen.id)).collect();
    let known = link.ask(Query::new(&KNOWN, values![ids])).await?;
    let mut rows: BTreeMap<String, WorkerRow> = BTreeMap::new();
    for row in &known {
        let row: WorkerRow = read_at(row, 0)?;
        rows.insert(row.id.clone(), row);
    }
    for seen in seen {
        if let Some(row) = rows.get_mut(&seen.id) {
            row.add(seen);
        }
    }
    put(link, &PUT, rows.values()).await?;
    let most = i64::try_from(WORKERS_MAX).unwrap_or(i64::MAX);
    link.ask(Query::new(&CUT, values![most])).await?;
    Ok(PartOutcome::Done)
}

pub(super) async fn forget(link: &mut Link, id: &str) -> Result<PartOutcome, Failed> {
    let gone = link.ask(Query::new(FORGET, values![Foreign(id)])).await?;
    Ok(PartOutcome::pruned(gone.len()))
}
