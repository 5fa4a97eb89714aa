//! Notices, their groups, and channels.

use async_trait::async_trait;
use refire_core::id::{ChannelId, GroupId};
use refire_core::time::Timestamp;

use super::{Database, Query};
use crate::column::Named;
use crate::{ChannelRow, GroupRow, NewNotice, Notices, ReadError};

/// Groups that one statement asks for.
const GROUPS_PER_READ: usize = 64;

fn groups() -> Query {
    Query::new(format!(
        "SELECT {} FROM notify_groups WHERE true",
        GroupRow::COLUMNS
    ))
}

#[async_trait]
impl<D: Database> Notices for D {
    async fn channels(&self) -> Result<Vec<ChannelRow>, ReadError> {
        let columns = ChannelRow::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM notify_channels ORDER BY id"));
        self.rows(query).await
    }

    async fn notices(&self, limit: u32) -> Result<Vec<NewNotice>, ReadError> {
        let columns = NewNotice::COLUMNS;
        let query = Query::new(format!("SELECT {columns} FROM notify_queue WHERE true"));
        self.rows(query.page("id", limit)).await
    }

    async fn groups(&self, ids: &[(ChannelId, GroupId)]) -> Result<Vec<GroupRow>, ReadError> {
        let mut found = Vec::with_capacity(ids.len());
        for ids in ids.chunks(GROUPS_PER_READ) {
            let mut query = groups().end("AND (false");
            for (channel, id) in ids {
                query = query
                    .with("OR (channel = ?", *channel)
                    .with("AND id = ?)", *id);
            }
            found.extend(self.rows::<GroupRow>(query.end(")")).await?);
        }
        Ok(found)
    }

    async fn due_groups(&self, now: Timestamp, limit: u32) -> Result<Vec<GroupRow>, ReadError> {
        let query = groups().with("AND due_at <= ?", now);
        self.rows(query.page("due_at, channel, id", limit)).await
    }
}
