//! Workers that have said who they are: their rows, and how they are found. Nodes keep what they see of them
//! in memory and write it now and then, so a row is a little behind.

use std::convert::Infallible;

use refire_core::time::Timestamp;

use crate::column::{Column, Columns, read_from};
use crate::layer::store_trait;
use crate::{ReadError, TaskRow};

/// Workers that are kept; of more the ones seen longest ago go.
pub const WORKERS_MAX: usize = 10_000;

/// A worker's row. What a node has seen of a worker since it last wrote is one, too; then its counts are
/// what is to be added.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct WorkerRow {
    /// Its name.
    pub id: String,
    /// What kind of worker it says it is.
    pub worker_type: Option<String>,
    /// What it asked for when it last did.
    pub task_types: PolledTypes,
    /// When it last asked for tasks.
    pub polled_at: Option<Timestamp>,
    /// When it last sent a heartbeat.
    pub heartbeat_at: Option<Timestamp>,
    /// Tasks that it has done.
    pub completed: u64,
    /// Tasks that it has reported as failed.
    pub failed: u64,
    /// When it was first seen.
    pub created_at: Timestamp,
    /// When it was last seen.
    pub updated_at: Timestamp,
}

read_from! {
    WorkerRow {
        id: "worker_id",
        worker_type: "worker_type",
        task_types: "task_types",
        polled_at: "last_poll_at",
        heartbeat_at: "last_heartbeat_at",
        completed: "tasks_completed",
        failed: "tasks_failed",
        created_at: "created_at",
        updated_at: "updated_at";
    }
}

impl WorkerRow {
    /// A worker that is seen now, of which nothing else is known.
    #[must_use]
    pub fn seen(id: &str, now: Timestamp) -> Self {
        Self {
            id: id.to_owned(),
            worker_type: None,
            task_types: PolledTypes::default(),
            polled_at: None,
            heartbeat_at: None,
            completed: 0,
            failed: 0,
            created_at: now,
            updated_at: now,
        }
    }

    /// Adds what was seen of it elsewhere, or later: the latest of the times, all of the counts, and what it
    /// said with the last poll.
    pub fn add(&mut self, seen: &Self) {
        if seen.polled_at.is_some() && seen.polled_at >= self.polled_at {
            self.worker_type.clone_from(&seen.worker_type);
            self.task_types.clone_from(&seen.task_types);
        }
        self.polled_at = self.polled_at.max(seen.polled_at);
        self.heartbeat_at = self.heartbeat_at.max(seen.heartbeat_at);
        self.completed += seen.completed;
        self.failed += seen.failed;
        self.created_at = self.created_at.min(seen.created_at);
        self.updated_at = self.updated_at.max(seen.updated_at);
    }
}

/// What a worker asks for: names of types and, with a `*` at the end, beginnings of names.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolledTypes(pub Vec<String>);

impl PolledTypes {
    /// In one text. No name has a comma.
    pub(crate) fn text(&self) -> String {
        self.0.join(",")
    }
}

impl std::str::FromStr for PolledTypes {
    type Err = Infallible;

    fn from_str(text: &str) -> Result<Self, Infallible> {
        let names = text.split(',').filter(|name| !name.is_empty());
        Ok(Self(names.map(str::to_owned).collect()))
    }
}

impl Column for PolledTypes {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let Ok(types) = row.text(at)?.map(str::parse).transpose();
        Ok(types)
    }
}

store_trait! {
    /// Workers, and what they have.
    pub trait Workers {
        /// Workers after this name, in the order of their names.
        async fn workers(
            &self,
            after: Option<&str>,
            limit: u32,
        ) -> Result<Vec<WorkerRow>, ReadError>;

        /// How many tasks each worker has that has some and has said who it is.
        async fn held_counts(&self) -> Result<Vec<(String, u64)>, ReadError>;

        /// The tasks that a worker has.
        async fn held_tasks(&self, worker: &str) -> Result<Vec<TaskRow>, ReadError>;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_added_and_the_last_poll_counts() {
        let at = Timestamp::from_millis;
        let mut row = WorkerRow {
            worker_type: Some("n8n".to_owned()),
            task_types: "a,b-*".parse().unwrap(),
            polled_at: Some(at(50)),
            completed: 7,
            ..WorkerRow::seen("w", at(10))
        };
        row.updated_at = at(50);
        let earlier = WorkerRow {
            task_types: "old".parse().unwrap(),
            polled_at: Some(at(40)),
            heartbeat_at: Some(at(60)),
            completed: 1,
            failed: 2,
            updated_at: at(60),
            ..WorkerRow::seen("w", at(5))
        };
        row.add(&earlier);
        assert_eq!(row.task_types.0, ["a", "b-*"]);
        assert_eq!(row.worker_type.as_deref(), Some("n8n"));
        assert_eq!(
            (row.polled_at, row.heartbeat_at),
            (Some(at(50)), Some(at(60)))
        );
        assert_eq!((row.completed, row.failed), (8, 2));
        assert_eq!((row.created_at, row.updated_at), (at(5), at(60)));
        let quiet = WorkerRow {
            completed: 1,
            ..WorkerRow::seen("w", at(70))
        };
        row.add(&quiet);
        assert_eq!(
            row.task_types.0,
            ["a", "b-*"],
            "a report says nothing of types"
        );
        let polled = WorkerRow {
            polled_at: Some(at(80)),
            task_types: "c".parse().unwrap(),
            ..WorkerRow::seen("w", at(80))
        };
        row.add(&polled);
        assert_eq!(
            (row.task_types.text().as_str(), row.worker_type),
            ("c", None)
        );
    }
}
