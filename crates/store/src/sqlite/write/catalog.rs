//! Definitions: immutable versions, and whether their workflow is deleted.

use refire_core::definition::WorkflowId;
use rusqlite::{OptionalExtension, Result, params};

use super::{Known, Pen};
use crate::table::rows::Versions;
use crate::table::statement::statements;
use crate::words::is_paused;
use crate::{PartOutcome, PutWorkflow};

/// Open work of each kind is counted up to here: the writer has better things to do than to walk a
/// backlog of a million for a number in a refusal.
const OPEN_COUNTED_MAX: i64 = 10_000;
/// Open executions of one workflow, along four indexes that begin with it: what happens to other
/// workflows costs nothing here.
///
/// Whatever is open and not paused has work or a task (a live step has a row; one that fails has those of
/// the steps that still run), so these answer for all statuses but one. Paused ones may have
/// none. Their index is small, and no admission, result or retry writes to it.
pub(in crate::sqlite) const OPEN_EXECUTIONS: &str = concat!(
    "SELECT count(*) FROM (
         SELECT * FROM (SELECT execution FROM work
           WHERE owner IS NULL AND workflow = ?1 LIMIT ?2)
         UNION
         SELECT * FROM (SELECT execution FROM work
           WHERE owner IS NOT NULL AND workflow = ?1 LIMIT ?2)
         UNION
         SELECT * FROM (SELECT id FROM executions
           WHERE status",
    is_paused!(),
    " AND workflow = ?1 LIMIT ?2)
         UNION
         SELECT * FROM (SELECT execution FROM workflow_external_tasks
           WHERE status < 4 AND workflow = (SELECT id FROM workflows WHERE key = ?1) LIMIT ?2)
         UNION
         SELECT * FROM (SELECT execution FROM task_callbacks
           WHERE wake_at IS NOT NULL
             AND workflow = (SELECT id FROM workflows WHERE key = ?1) LIMIT ?2))"
);

statements! {
    INSERT_VERSION: sqlite(version: Versions) =
        "INSERT INTO workflow_versions ({version.names}) VALUES ({version.values})";
}

impl Pen<'_> {
    pub(super) fn put_workflow(&mut self, put: &PutWorkflow) -> Result<PartOutcome> {
        self.forget_workflow(&put.id);
        let newest: Option<(i64, u32, [u8; 32], bool)> = self
            .prepare(
                "SELECT workflows.key, workflows.version, newest.content_hash,
                        workflows.deleted_at IS NULL
                 FROM workflows JOIN workflow_versions AS newest
                   ON newest.workflow = workflows.key AND newest.version = workflows.version
                 WHERE workflows.ns = 1 AND workflows.id = ?1",
            )?
            .query_row([put.id.as_str()], |row| {
                Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?))
            })
            .optional()?;
        let live = newest.filter(|(_, _, _, is_live)| *is_live);
        if !put.may_follow(live.map(|(_, version, ..)| version)) {
            return Ok(PartOutcome::NotNewest);
        }
        let (key, version) = match newest {
            Some((key, version, content_hash, _)) if content_hash == put.content_hash => {
                self.prepare("UPDATE workflows SET deleted_at = NULL WHERE key = ?1")?
                    .execute([key])?;
                return Ok(PartOutcome::Saved {
                    version,
                    created: false,
                });
            }
            Some((key, version, ..)) => {
                let version = version + 1;
                self.prepare(
                    "UPDATE workflows SET name = ?2, version = ?3, updated_at = ?4,
                         deleted_at = NULL
                     WHERE key = ?1",
                )?
                .execute(params![key, put.name, version, self.now.as_micros()])?;
                (key, version)
            }
            None => {
                let mut insert = self.prepare(
                    "INSERT INTO workflows (id, name, version, created_at, updated_at)
                     VALUES (?1, ?2, 1, ?3, ?3)",
                )?;
                let new = params![put.id.as_str(), put.name, self.now.as_micros()];
                (insert.insert(new)?, 1)
            }
        };
        let now = self.now;
        self.write(&INSERT_VERSION, |to| {
            Versions::bind(to, 1, key, version, put, now)
        })?;
        Ok(PartOutcome::Saved {
            version,
            created: true,
        })
    }

    pub(super) fn delete_workflow(&mut self, id: &WorkflowId) -> Result<PartOutcome> {
        let known = self.workflow(id)?.filter(|known| !known.is_deleted);
        let Some(Known { key, .. }) = known else {
            return Ok(PartOutcome::NoSuchWorkflow);
        };
        let open = self.open_executions(key)?;
        if open > 0 {
            return Ok(PartOutcome::OpenExecutions(open));
        }
        self.forget_workflow(id);
        self.prepare("UPDATE workflows SET deleted_at = ?2 WHERE key = ?1")?
            .execute([key, self.now.as_micros()])?;
        self.disable_triggers(key)?;
        Ok(PartOutcome::Done)
    }

    /// How many executions of a workflow have not ended. Exact below [`OPEN_COUNTED_MAX`].
    fn open_executions(&self, workflow: i64) -> Result<u64> {
        let count: i64 = self
            .prepare(OPEN_EXECUTIONS)?
            .query_row([workflow, OPEN_COUNTED_MAX], |row| row.get(0))?;
        Ok(u64::try_from(count).unwrap_or(0))
    }
}
