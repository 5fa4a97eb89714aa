//! Notices, their groups, and channels.

use refire_core::id::{ChannelId, NoticeId};
use rusqlite::{OptionalExtension, Result, params};

use super::Pen;
use crate::notice::CHANNELS_MAX;
use crate::sqlite::columns::{count, signed};
use crate::table::rows::{ChannelRows, Groups, Notices};
use crate::table::statement::statements;
use crate::{ChannelChange, ChannelRow, GroupChange, MoveGroups, NewNotice, PartOutcome};

statements! {
    APPEND: sqlite(notice: Notices) =
        "INSERT INTO notify_queue ({notice.names}) VALUES ({notice.values})";

    PUT_GROUP: sqlite(group: Groups) =
        "INSERT INTO notify_groups ({group.names}) VALUES ({group.values})
     ON CONFLICT (channel, id) DO UPDATE SET {group.replaced!channel,id}";

    PUT_CHANNEL: sqlite(channel: ChannelRows) =
        "INSERT INTO notify_channels ({channel.names}) VALUES ({channel.values})
     ON CONFLICT (id) DO UPDATE SET {channel.replaced!id,created_at}";
}

impl Pen<'_> {
    /// Notices that a part carries, when it is certain that it is written.
    pub(super) fn append_notices(&mut self, notices: &[NewNotice]) -> Result<()> {
        for notice in notices {
            self.write(&APPEND, |to| Notices::bind(to, 1, notice))?;
        }
        Ok(())
    }

    pub(super) fn move_groups(&mut self, moved: &MoveGroups) -> Result<PartOutcome> {
        for id in &moved.taken {
            if !self.is_waiting(*id)? {
                return Ok(PartOutcome::Conflict);
            }
        }
        for change in &moved.groups {
            if self.group_rev(change)? + 1 != change.row.rev {
                return Ok(PartOutcome::Conflict);
            }
        }
        if let Some(admit) = &moved.admission {
            let outcome = self.admit(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        for id in &moved.taken {
            self.prepare("DELETE FROM notify_queue WHERE id = ?1")?
                .execute([id.as_bytes()])?;
        }
        for GroupChange { row, is_gone } in &moved.groups {
            match is_gone {
                false => self.write(&PUT_GROUP, |to| Groups::bind(to, 1, row))?,
                true => self
                    .prepare("DELETE FROM notify_groups WHERE channel = ?1 AND id = ?2")?
                    .execute(params![row.channel.as_bytes(), row.id.as_bytes()])?,
            };
        }
        Ok(PartOutcome::Done)
    }

    fn is_waiting(&self, id: NoticeId) -> Result<bool> {
        self.prepare("SELECT EXISTS (SELECT 1 FROM notify_queue WHERE id = ?1)")?
            .query_row([id.as_bytes()], |row| row.get(0))
    }

    /// 0 = there is none.
    fn group_rev(&self, change: &GroupChange) -> Result<u64> {
        let (channel, id) = (change.row.channel, change.row.id);
        let rev = self
            .prepare("SELECT rev FROM notify_groups WHERE channel = ?1 AND id = ?2")?
            .query_row(params![channel.as_bytes(), id.as_bytes()], |row| {
                count(row, 0)
            })
            .optional()?;
        Ok(rev.unwrap_or(0))
    }

    pub(super) fn change_channel(&mut self, change: &ChannelChange) -> Result<PartOutcome> {
        let is_touched = match change {
            ChannelChange::Put(row) => self.put_channel(row)?,
            ChannelChange::Delete { id } => self.delete_channel(*id)?,
        };
        Ok(PartOutcome::Touched(is_touched))
    }

    fn put_channel(&mut self, row: &ChannelRow) -> Result<bool> {
        let version: Option<u32> = self
            .prepare("SELECT version FROM notify_channels WHERE id = ?1")?
            .query_row([row.id.as_bytes()], |row| row.get(0))
            .optional()?;
        if version.unwrap_or(0) + 1 != row.version {
            return Ok(false);
        }
        let all: i64 = self
            .prepare("SELECT count(*) FROM notify_channels")?
            .query_row([], |row| row.get(0))?;
        if version.is_none() && all >= signed(CHANNELS_MAX as u64) {
            return Ok(false);
        }
        self.write(&PUT_CHANNEL, |to| ChannelRows::bind(to, 1, row))?;
        Ok(true)
    }

    fn delete_channel(&mut self, id: ChannelId) -> Result<bool> {
        self.prepare("DELETE FROM notify_groups WHERE channel = ?1")?
            .execute([id.as_bytes()])?;
        let gone = self
            .prepare("DELETE FROM notify_channels WHERE id = ?1")?
            .execute([id.as_bytes()])?;
        Ok(gone > 0)
    }
}
