//! What a worker tells of what it does.

use std::fmt::{Display, Formatter};
use std::time::Duration;

/// Something that a worker did, or that happened to it.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum Notice {
    /// It begins to ask for tasks.
    Started {
        /// Its name.
        worker: String,
        /// Whom it asks.
        url: String,
        /// What it asks for.
        types: Vec<String>,
        /// How many it does at once.
        concurrency: usize,
    },
    /// The server cannot be asked; the next try comes after the wait.
    Trouble {
        /// What is wrong.
        error: String,
        /// Until the next try.
        wait: Duration,
    },
    /// The server answers again.
    Recovered,
    /// A task has arrived.
    Fetched {
        /// The task.
        task: String,
        /// Its type.
        task_type: String,
        /// Which attempt it is.
        attempt: u32,
    },
    /// A task is done, and the server knows.
    Completed {
        /// The task.
        task: String,
        /// How long its function took.
        took: Duration,
    },
    /// A task could not be done, and the server knows.
    Failed {
        /// The task.
        task: String,
        /// Why.
        message: String,
        /// Whether another attempt may help.
        retryable: bool,
    },
    /// The worker does not have the task any more; its function is told to end.
    Lost {
        /// The task.
        task: String,
        /// How that was noticed.
        why: String,
    },
    /// A result that the server does not take any more.
    Dropped {
        /// The task.
        task: String,
        /// Why.
        why: String,
    },
    /// A report could not be delivered; it is sent again.
    Repeating {
        /// The task.
        task: String,
        /// What is wrong.
        error: String,
    },
    /// A task was given back; that is no attempt.
    GivenBack {
        /// The task.
        task: String,
    },
    /// A stop has begun.
    Stopping {
        /// Tasks that are finished first.
        running: usize,
        /// How long that may take.
        grace: Duration,
    },
    /// The grace time is over, or nobody wants to wait: what runs is given back.
    GivingBack {
        /// Tasks that still run.
        running: usize,
    },
}

/// What became of a worker's tasks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Done.
    pub completed: u64,
    /// Reported as failed.
    pub failed: u64,
    /// Whose lock was lost, or whose report was not taken.
    pub lost: u64,
    /// Given back.
    pub given_back: u64,
}

impl Notice {
    /// Whether somebody may have to look into it.
    #[must_use]
    pub fn is_trouble(&self) -> bool {
        matches!(
            self,
            Self::Trouble { .. }
                | Self::Failed { .. }
                | Self::Lost { .. }
                | Self::Dropped { .. }
                | Self::Repeating { .. }
        )
    }
}

impl Display for Notice {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Started {
                worker,
                url,
                types,
                concurrency,
            } => {
                let types = types.join(", ");
                write!(f, "{worker} asks {url} for {types}, {concurrency} at once")
            }
            Self::Trouble { error, wait } => {
                write!(
                    f,
                    "no tasks can be fetched: {error}; next try in {}",
                    seconds(*wait)
                )
            }
            Self::Recovered => f.write_str("the server answers again"),
            Self::Fetched {
                task,
                task_type,
                attempt,
            } => write!(f, "{task} fetched: {task_type}, attempt {attempt}"),
            Self::Completed { task, took } => write!(f, "{task} completed in {}", seconds(*took)),
            Self::Failed {
                task,
                message,
                retryable,
            } => {
                let kind = if *retryable {
                    "failed"
                } else {
                    "failed for good"
                };
                write!(f, "{task} {kind}: {message}")
            }
            Self::Lost { task, why } => write!(f, "{task} is lost: {why}"),
            Self::Dropped { task, why } => write!(f, "{task}: its result is dropped: {why}"),
            Self::Repeating { task, error } => {
                write!(f, "{task}: the report is sent again: {error}")
            }
            Self::GivenBack { task } => write!(f, "{task} is given back"),
            Self::Stopping { running: 0, .. } => f.write_str("stopping"),
            Self::Stopping { running, grace } => {
                let grace = seconds(*grace);
                write!(f, "stopping: {running} running may finish within {grace}")
            }
            Self::GivingBack { running } => write!(f, "giving back what still runs: {running}"),
        }
    }
}

impl Display for Tally {
    fn fmt(&self, f: &mut Formatter<'_>) -> std::fmt::Result {
        let Self {
            completed,
            failed,
            lost,
            given_back,
        } = self;
        write!(
            f,
            "{completed} completed, {failed} failed, {lost} lost, {given_back} given back"
        )
    }
}

fn seconds(time: Duration) -> String {
    match time.as_secs() {
        0 => format!("{} ms", time.as_millis()),
        _ => format!("{:.1} s", time.as_secs_f64()),
    }
}

/// To the log.
pub(super) fn log(notice: &Notice) {
    match notice.is_trouble() {
        true => tracing::warn!("{notice}"),
        false => tracing::info!("{notice}"),
    }
}
