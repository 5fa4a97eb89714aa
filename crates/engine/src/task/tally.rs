//! Tasks by their type, and the workers that ask for each, for people.

use std::collections::BTreeMap;

use refire_core::task::{TaskStatus, WorkerStatus, asks_for};
use refire_core::time::Timestamp;
use refire_store::{ReadError, WORKERS_MAX};

use super::Tasks;
use super::registry::{Worker, WorkerFilter};

/// Tasks that are counted.
const COUNTED_MAX: u32 = 10_000;

/// Open tasks by their type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskTally {
    /// By name.
    pub types: Vec<TaskTypeTally>,
    /// Whether all were counted.
    pub is_exact: bool,
}

/// Open tasks of one type.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TaskTypeTally {
    /// The type.
    pub task_type: String,
    /// Those that workers may fetch, now or later.
    pub pending: u64,
    /// Those that workers have.
    pub locked: u64,
    /// From when on the first that is pending can be fetched.
    pub oldest: Option<Timestamp>,
    /// Workers that ask for it and are not dead.
    pub workers: u64,
}

impl Tasks {
    /// What waits for workers, what they have, and who asks for it.
    pub async fn tally(&self) -> Result<TaskTally, ReadError> {
        let living = WorkerFilter {
            statuses: vec![WorkerStatus::Active, WorkerStatus::Idle],
            ..WorkerFilter::default()
        };
        let most = u32::try_from(WORKERS_MAX).unwrap_or(u32::MAX);
        let workers = self.workers(&living, None, most).await?;
        self.tally_for(&workers).await
    }

    /// The same with workers that are known.
    pub(crate) async fn tally_for(&self, living: &[Worker]) -> Result<TaskTally, ReadError> {
        let store = &self.context.store;
        let counted = store.task_tally(COUNTED_MAX).await?;
        let all: u64 = counted.iter().map(|(_, _, count)| count).sum();
        let mut types: BTreeMap<String, TaskTypeTally> = BTreeMap::new();
        for (task_type, first) in store.open_task_types().await? {
            types.entry(task_type).or_default().oldest = Some(first);
        }
        for (task_type, status, count) in counted {
            match status {
                TaskStatus::Pending => types.entry(task_type).or_default().pending += count,
                TaskStatus::Locked => types.entry(task_type).or_default().locked += count,
                _ => {}
            }
        }
        let whole = |(task_type, tally): (String, TaskTypeTally)| {
            let asks = |worker: &&Worker| asks_for(&worker.row.task_types.0, &task_type);
            TaskTypeTally {
                workers: living.iter().filter(asks).count() as u64,
                task_type,
                ..tally
            }
        };
        Ok(TaskTally {
            types: types.into_iter().map(whole).collect(),
            is_exact: all < COUNTED_MAX.into(),
        })
    }
}
