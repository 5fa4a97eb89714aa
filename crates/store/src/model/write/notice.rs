//! Notices, their groups, and channels.

use std::sync::Arc;

use refire_core::id::ChannelId;

use super::{Failed, Pen};
use crate::model::change::Change;
use crate::notice::CHANNELS_MAX;
use crate::{ChannelChange, ChannelRow, GroupChange, MoveGroups, NewNotice, PartOutcome};

impl Pen<'_> {
    /// Notices that a part carries, when it is certain that it is written.
    pub(super) fn append_notices(&mut self, notices: &[NewNotice]) -> Result<(), Failed> {
        for notice in notices {
            if self.image.notices.contains_key(&notice.id) {
                return Err(Failed("a notice has an id of its own"));
            }
            self.change(Change::Notice(notice.id, Some(Arc::new(notice.clone()))));
        }
        Ok(())
    }

    pub(super) fn move_groups(&mut self, moved: &MoveGroups) -> Result<PartOutcome, Failed> {
        let is_waiting = |id| self.image.notices.contains_key(id);
        let is_seen = |change: &GroupChange| {
            let found = self.image.groups.get(&(change.row.channel, change.row.id));
            found.map_or(0, |found| found.rev) + 1 == change.row.rev
        };
        if !moved.taken.iter().all(is_waiting) || !moved.groups.iter().all(is_seen) {
            return Ok(PartOutcome::Conflict);
        }
        if let Some(admit) = &moved.admission {
            let outcome = self.admit(admit)?;
            if outcome != PartOutcome::Done {
                return Ok(outcome);
            }
        }
        for id in &moved.taken {
            self.change(Change::Notice(*id, None));
        }
        for GroupChange { row, is_gone } in &moved.groups {
            let kept = (!is_gone).then(|| Arc::new(row.clone()));
            self.change(Change::Group((row.channel, row.id), kept));
        }
        Ok(PartOutcome::Done)
    }

    pub(super) fn change_channel(&mut self, change: &ChannelChange) -> PartOutcome {
        PartOutcome::Touched(match change {
            ChannelChange::Put(row) => self.put_channel(row),
            ChannelChange::Delete { id } => self.delete_channel(*id),
        })
    }

    fn put_channel(&mut self, row: &ChannelRow) -> bool {
        let known = self.image.channels.get(&row.id).cloned();
        let before = known.as_ref().map_or(0, |known| known.version);
        if before + 1 != row.version {
            return false;
        }
        if known.is_none() && self.image.channels.len() >= CHANNELS_MAX {
            return false;
        }
        let mut row = row.clone();
        if let Some(known) = known {
            row.created_at = known.created_at;
        }
        self.change(Change::Channel(row.id, Some(Arc::new(row))));
        true
    }

    fn delete_channel(&mut self, id: ChannelId) -> bool {
        let groups = self.image.groups.keys().filter(|(of, _)| *of == id);
        for key in groups.copied().collect::<Vec<_>>() {
            self.change(Change::Group(key, None));
        }
        let was = self.image.channels.contains_key(&id);
        self.change(Change::Channel(id, None));
        was
    }
}
