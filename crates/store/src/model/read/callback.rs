//! Callbacks.

use async_trait::async_trait;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::model::image::Image;
use crate::{CallbackKey, CallbackRow, Callbacks, ReadError};

impl Image {
    pub(in crate::model) fn callbacks_of(
        &self,
        id: ExecutionId,
    ) -> impl Iterator<Item = &CallbackRow> {
        let of = |step_no, attempt| CallbackKey {
            execution: id,
            step_no,
            attempt,
        };
        let rows = self.callbacks.range(of(0, 0)..=of(u16::MAX, u32::MAX));
        rows.map(|(_, row)| &**row)
    }

    /// Those that are waited for, the earliest first.
    fn awaited(&self) -> Vec<&CallbackRow> {
        let rows = self.callbacks.values().map(|row| &**row);
        let mut rows: Vec<&CallbackRow> = rows.filter(|row| row.wake_at.is_some()).collect();
        rows.sort_by_key(|row| (row.wake_at, row.key()));
        rows
    }
}

#[async_trait]
impl Callbacks for Model {
    async fn callback(&self, key: CallbackKey) -> Result<Option<CallbackRow>, ReadError> {
        self.read("callback", |image| {
            Ok(image.callbacks.get(&key).map(|row| (**row).clone()))
        })
        .await
    }

    async fn callbacks(&self, of: ExecutionId) -> Result<Vec<CallbackRow>, ReadError> {
        self.read("callbacks", |image| {
            Ok(image.callbacks_of(of).cloned().collect())
        })
        .await
    }

    async fn due_callbacks(
        &self,
        by: Timestamp,
        limit: u32,
    ) -> Result<Vec<CallbackRow>, ReadError> {
        self.read("due_callbacks", |image| {
            let due = image.awaited().into_iter();
            let due = due.filter(|row| row.wake_at <= Some(by));
            Ok(due.take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn sealed_callbacks(
        &self,
        after: Option<CallbackKey>,
        limit: u32,
    ) -> Result<Vec<CallbackRow>, ReadError> {
        self.read("sealed_callbacks", |image| {
            let rows = image.callbacks.iter();
            let rows = rows.filter(|(key, row)| Some(**key) > after && row.query_config.is_some());
            let rows = rows.take(page(limit)).map(|(_, row)| (**row).clone());
            Ok(rows.collect())
        })
        .await
    }

    async fn next_callback_due(&self) -> Result<Option<Timestamp>, ReadError> {
        self.read("next_callback_due", |image| {
            let first = image.awaited().into_iter().next();
            Ok(first.and_then(|row| row.wake_at))
        })
        .await
    }
}
