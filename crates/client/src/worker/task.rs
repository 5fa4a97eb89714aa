//! A task as the function gets it that does it.

use std::sync::Arc;

use serde::de::DeserializeOwned;
use tokio::sync::watch;

use super::failure::Failure;
use crate::model::{self, Heartbeat, Raw};

/// Bytes of a message about progress that the server keeps.
const MESSAGE_BYTES_MAX: usize = 500;

/// A task to do.
#[derive(Debug, Clone)]
pub struct Task {
    /// Its id, `xt_…`: the same for all attempts, so it serves as an idempotency key.
    pub id: String,
    /// Its type, also where the worker asked by a `*`.
    pub task_type: String,
    /// The execution that it belongs to.
    pub execution_id: String,
    /// The workflow.
    pub workflow_id: String,
    /// The step that it is.
    pub step_id: String,
    /// Which attempt this is, from 1.
    pub attempt: u32,
    /// How many there are in all.
    pub attempts_max: u32,
    /// How long the worker has it without a word, in seconds.
    pub lock_seconds: u64,
    /// What it is given, as JSON text.
    pub raw_input: Raw,
    link: Arc<Link>,
}

/// Between a function and what holds its lock.
#[derive(Debug)]
pub(super) struct Link {
    progress: watch::Sender<Heartbeat>,
    lost: watch::Sender<bool>,
}

impl Link {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            progress: watch::Sender::new(Heartbeat::default()),
            lost: watch::Sender::new(false),
        })
    }

    /// How far the function says it is.
    pub(super) fn progress(&self) -> watch::Receiver<Heartbeat> {
        self.progress.subscribe()
    }

    /// Tells the function to end.
    pub(super) fn lose(&self) {
        self.lost.send_replace(true);
    }
}

impl Task {
    pub(super) fn new(task: &model::Task, link: Arc<Link>) -> Self {
        Self {
            id: task.id.clone(),
            task_type: task.task_type.clone(),
            execution_id: task.execution_id.clone(),
            workflow_id: task.workflow_id.clone(),
            step_id: task.step_id.clone(),
            attempt: task.retry_count + 1,
            attempts_max: task.max_retries,
            lock_seconds: task.lock_duration_seconds,
            raw_input: task
                .input
                .clone()
                .unwrap_or_else(|| Raw::from(serde_json::value::RawValue::NULL.to_owned())),
            link,
        }
    }

    /// What it is given. If it does not fit, no other attempt makes it fit.
    pub fn input<T: DeserializeOwned>(&self) -> Result<T, Failure> {
        serde_json::from_str(self.raw_input.get())
            .map_err(|error| Failure::permanent(format!("the input is not as expected: {error}")))
    }

    /// Says how far it is: in percent, and in words. It is sent soon, and only the newest if several are said at once.
    pub fn progress(&self, percent: u8, message: impl Into<String>) {
        let mut message = message.into();
        message.truncate(message.floor_char_boundary(MESSAGE_BYTES_MAX));
        self.link.progress.send_replace(Heartbeat {
            progress: Some(percent.min(100)),
            progress_message: Some(message).filter(|text| !text.is_empty()),
        });
    }

    /// Whether the worker does not have it any more, or is about to give it back: nobody waits for the result.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        *self.link.lost.borrow()
    }

    /// Waits until the worker does not have it any more. Whoever holds something that must be ended in order waits
    /// for this beside its work; everybody else is dropped a little later.
    pub async fn lost(&self) {
        let mut lost = self.link.lost.subscribe();
        // The sender is in this task, so it cannot be gone.
        let _ = lost.wait_for(|is_lost| *is_lost).await;
    }
}
