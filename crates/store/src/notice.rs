//! What people are to be told: notices that wait, groups of them, and the channels. A notice is written in the
//! commit that makes it true; whoever collects takes it into the groups of the channels that want it.

use refire_core::definition::WorkflowId;
use refire_core::id::{ChannelId, GroupId, NoticeId, TriggerId};
use refire_core::notify::{Facts, NoticeKind};
use refire_core::time::Timestamp;

use crate::checksum;
use crate::column::{Column, Columns, damaged, read_from};
use crate::error::corrupt;
use crate::layer::store_trait;
use crate::{Admit, ReadError};

/// Channels that are kept; another one is refused.
pub const CHANNELS_MAX: usize = 100;

/// A notice. Any part may carry some, which are written if and only if the part is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewNotice {
    /// Its id: sixteen bytes that nobody else uses, those with a time first being collected first.
    pub id: NoticeId,
    /// What kind it is.
    pub kind: NoticeKind,
    /// The workflow that it is about, by which channels may choose.
    pub workflow: Option<WorkflowId>,
    /// What it is about: notices of a family and a workflow with the same subject are one group.
    pub subject: String,
    /// What it says.
    pub facts: Facts,
}

read_from! {
    NewNotice {
        id: "id",
        kind: "kind",
        workflow: "workflow",
        subject: "subject",
        facts: "facts";
    }
}

impl Column for NoticeKind {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let Some(text) = row.text(at)? else {
            return Ok(None);
        };
        let unknown = || {
            damaged(format!(
                "{text:?} is not a kind of notice this program knows"
            ))
        };
        Self::from_name(text).ok_or_else(unknown).map(Some)
    }
}

impl Column for Facts {
    fn read(row: &impl Columns, at: usize) -> Result<Option<Self>, ReadError> {
        let facts = row.bytes(at)?.map(serde_json::from_slice).transpose();
        facts.map_err(damaged)
    }
}

/// A group of notices for one channel. What it holds is core's to say.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupRow {
    /// The channel.
    pub channel: ChannelId,
    /// What its notices have in common.
    pub id: GroupId,
    /// Grows by one with each change.
    pub rev: u64,
    /// When it is to be looked at.
    pub due_at: Timestamp,
    /// What it holds.
    pub state: Vec<u8>,
}

read_from! {
    GroupRow {
        channel: "channel",
        id: "id",
        rev: "rev",
        due_at: "due_at",
        state: "state";
    }
}

/// A change of a group. Refused unless the group has the revision before that of the row; 1 = there must be
/// none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupChange {
    /// How it is then.
    pub row: GroupRow,
    /// Whether it goes instead.
    pub is_gone: bool,
}

/// Notices are taken into groups, or groups are told of; all of it or nothing. Refused if one of the notices is
/// gone, a group is not as it was seen, or the execution is refused.
#[derive(Debug, Clone, Default)]
pub struct MoveGroups {
    /// Notices that go, each once.
    pub taken: Vec<NoticeId>,
    /// Groups that change, each once.
    pub groups: Vec<GroupChange>,
    /// The execution that sends their message.
    pub admission: Option<Box<Admit>>,
}

/// A channel's row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChannelRow {
    /// Its id.
    pub id: ChannelId,
    /// Counted from 1; grows with each change.
    pub version: u32,
    /// Whether anything is sent through it.
    pub enabled: bool,
    /// What it was told, without secrets.
    pub settings: Vec<u8>,
    /// Its sealed secrets.
    pub secrets: Option<Vec<u8>>,
    /// When it was made.
    pub created_at: Timestamp,
    /// When it was changed last.
    pub updated_at: Timestamp,
}

read_from! {
    ChannelRow {
        id: "id",
        version: "version",
        enabled: "enabled",
        settings: "settings",
        secrets: "secrets",
        created_at: "created_at",
        updated_at: "updated_at"
    } checked by "crc" with fits
}

fn fits(row: &ChannelRow, crc: u32) -> Result<(), ReadError> {
    checksum::verify(crc, row.checksum()).map_err(corrupt(|| format!("the settings of {}", row.id)))
}

impl ChannelRow {
    pub(crate) fn checksum(&self) -> u32 {
        checksum::settings(TriggerId::from_bytes(*self.id.as_bytes()), &self.settings)
    }
}

/// A change of channels. The outcome says whether it was as expected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ChannelChange {
    /// One is made, or changed: the version that is there must be the one before that of the row. Refused if
    /// there are too many.
    Put(ChannelRow),
    /// One goes, with its groups.
    Delete {
        /// Which.
        id: ChannelId,
    },
}

store_trait! {
    /// Notices, their groups, and channels.
    pub trait Notices {
        /// All channels, oldest first.
        async fn channels(&self) -> Result<Vec<ChannelRow>, ReadError>;

        /// Notices that wait, those with the smallest ids first.
        async fn notices(&self, limit: u32) -> Result<Vec<NewNotice>, ReadError>;

        /// These groups, as far as there are such.
        async fn groups(&self, ids: &[(ChannelId, GroupId)]) -> Result<Vec<GroupRow>, ReadError>;

        /// Groups that are to be looked at by then, those that wait longest first.
        async fn due_groups(&self, now: Timestamp, limit: u32) -> Result<Vec<GroupRow>, ReadError>;
    }
}
