//! Notices, their groups, and channels.

use async_trait::async_trait;
use refire_core::id::{ChannelId, GroupId};
use refire_core::time::Timestamp;

use super::page;
use crate::model::Model;
use crate::{ChannelRow, GroupRow, NewNotice, Notices, ReadError};

#[async_trait]
impl Notices for Model {
    async fn channels(&self) -> Result<Vec<ChannelRow>, ReadError> {
        self.read("channels", |image| {
            Ok(image.channels.values().map(|row| (**row).clone()).collect())
        })
        .await
    }

    async fn notices(&self, limit: u32) -> Result<Vec<NewNotice>, ReadError> {
        self.read("notices", |image| {
            let rows = image.notices.values().take(page(limit));
            Ok(rows.map(|row| (**row).clone()).collect())
        })
        .await
    }

    async fn groups(&self, ids: &[(ChannelId, GroupId)]) -> Result<Vec<GroupRow>, ReadError> {
        self.read("groups", |image| {
            let rows = ids.iter().filter_map(|id| image.groups.get(id));
            Ok(rows.map(|row| (**row).clone()).collect())
        })
        .await
    }

    async fn due_groups(&self, now: Timestamp, limit: u32) -> Result<Vec<GroupRow>, ReadError> {
        self.read("due_groups", |image| {
            let due = image.groups.values().filter(|row| row.due_at <= now);
            let mut due: Vec<GroupRow> = due.map(|row| (**row).clone()).collect();
            due.sort_by_key(|row| (row.due_at, row.channel, row.id));
            due.truncate(page(limit));
            Ok(due)
        })
        .await
    }
}
