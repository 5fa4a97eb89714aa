//! Notices, their groups, and channels.

use refire_core::id::ChannelId;

use super::link::{Link, Query, values};
use super::{Failed, Order, single};
use crate::column::read_at;
use crate::notice::CHANNELS_MAX;
use crate::postgres::columns::{get, small};
use crate::table::column::{Id, columns};
use crate::table::rows::{ChannelRows, Groups, Notices};
use crate::table::statement::statements;
use crate::{ChannelChange, ChannelRow, GroupChange, MoveGroups, NewNotice, PartOutcome};

statements! {
    APPEND: postgres(notices: Notices) =
        "INSERT INTO notify_queue ({notices.names}) SELECT * FROM {notices}";

    /// How many of these groups are not as they were seen.
    OTHERWISE: postgres(seen: Seen) =
        "SELECT count(*) FROM {seen} WHERE given.before <> coalesce((
        SELECT rev FROM notify_groups AS found
         WHERE found.channel = given.channel AND found.id = given.id), 0)";

    PUT_GROUPS: postgres(groups: Groups) =
        "INSERT INTO notify_groups ({groups.names}) SELECT * FROM {groups}
     ON CONFLICT (channel, id) DO UPDATE SET {groups.replaced!channel,id}";

    DELETE_GROUPS: postgres(gone: Seen) =
        "DELETE FROM notify_groups USING {gone}
     WHERE notify_groups.channel = given.channel AND notify_groups.id = given.id";

    PUT_CHANNEL: postgres(channel: ChannelRows) =
        "INSERT INTO notify_channels ({channel.names}) SELECT * FROM {channel}
     ON CONFLICT (id) DO UPDATE SET {channel.replaced!id,created_at}";
}

columns! {
    /// Groups with the revisions that they must have.
    struct Seen(change: &GroupChange) {
        channel: Id = change.row.channel.into(),
        id: Id = change.row.id.into(),
        before: i64 = i64::try_from(change.row.rev).unwrap_or(i64::MAX) - 1,
    }
}

/// Groups move seldom, and one commit after the other: two that make the same group do not see each other
/// otherwise.
const ALONE: &str = "LOCK TABLE notify_groups IN EXCLUSIVE MODE";

const WAITING: &str =
    "SELECT id FROM notify_queue WHERE id = ANY($1::uuid[]) ORDER BY id FOR UPDATE";

const TAKE: &str = "DELETE FROM notify_queue WHERE id = ANY($1::uuid[])";

/// Two that change the same channel, or make one too many, come one after the other.
const CHANNELS_ALONE: &str = "LOCK TABLE notify_channels IN EXCLUSIVE MODE";

const CHANNEL: &str = "SELECT version FROM notify_channels WHERE id = $1";

const COUNT: &str = "SELECT count(*) FROM notify_channels";

const DELETE_GROUPS_OF: &str = "DELETE FROM notify_groups WHERE channel = $1";

const DELETE_CHANNEL: &str = "DELETE FROM notify_channels WHERE id = $1 RETURNING id";

/// Notices that a part carries, when it is certain that it is written.
pub(super) async fn append(link: &mut Link, notices: &[NewNotice]) -> Result<(), Failed> {
    if notices.is_empty() {
        return Ok(());
    }
    let mut rows = Notices::default();
    notices.iter().for_each(|notice| rows.push(notice));
    link.ask(Query::new(&APPEND, rows.values())).await?;
    Ok(())
}

pub(super) async fn move_groups(
    link: &mut Link,
    order: &Order,
    moved: &MoveGroups,
) -> Result<PartOutcome, Failed> {
    link.ask(Query::new(ALONE, Vec::new())).await?;
    let taken: Vec<Id> = moved.taken.iter().map(|id| Id::from(*id)).collect();
    let waiting = link
        .ask(Query::new(WAITING, values![taken.clone()]))
        .await?;
    if waiting.len() != taken.len() {
        return Ok(PartOutcome::Conflict);
    }
    let mut seen = Seen::default();
    moved.groups.iter().for_each(|change| seen.push(change));
    let otherwise = link.ask(Query::new(&OTHERWISE, seen.values())).await?;
    let otherwise: i64 = get(otherwise.first().ok_or_else(Failed::no_row)?, 0)?;
    if otherwise > 0 {
        return Ok(PartOutcome::Conflict);
    }
    if let Some(admit) = &moved.admission {
        let outcome = single::admit(link, order, admit).await?;
        if outcome != PartOutcome::Done {
            return Ok(outcome);
        }
    }
    link.ask(Query::new(TAKE, values![taken])).await?;
    let (mut put, mut gone) = (Groups::default(), Seen::default());
    for change in &moved.groups {
        match change.is_gone {
            true => gone.push(change),
            false => put.push(&change.row),
        }
    }
    link.ask(Query::new(&PUT_GROUPS, put.values())).await?;
    link.ask(Query::new(&DELETE_GROUPS, gone.values())).await?;
    Ok(PartOutcome::Done)
}

pub(super) async fn change_channel(
    link: &mut Link,
    change: &ChannelChange,
) -> Result<PartOutcome, Failed> {
    let is_touched = match change {
        ChannelChange::Put(row) => put_channel(link, row).await?,
        ChannelChange::Delete { id } => delete_channel(link, *id).await?,
    };
    Ok(PartOutcome::Touched(is_touched))
}

async fn put_channel(link: &mut Link, row: &ChannelRow) -> Result<bool, Failed> {
    link.ask(Query::new(CHANNELS_ALONE, Vec::new())).await?;
    let found = link
        .ask(Query::new(CHANNEL, values![Id::from(row.id)]))
        .await?;
    let version = found.first().map(|row| small(row, 0)).transpose()?;
    if version.unwrap_or(0) + 1 != row.version {
        return Ok(false);
    }
    let all = link.ask(Query::new(COUNT, Vec::new())).await?;
    let all: u64 = read_at(all.first().ok_or_else(Failed::no_row)?, 0)?;
    if version.is_none() && all >= CHANNELS_MAX as u64 {
        return Ok(false);
    }
    let mut rows = ChannelRows::default();
    rows.push(row);
    link.ask(Query::new(&PUT_CHANNEL, rows.values())).await?;
    Ok(true)
}

async fn delete_channel(link: &mut Link, id: ChannelId) -> Result<bool, Failed> {
    let groups = Query::new(DELETE_GROUPS_OF, values![Id::from(id)]);
    link.ask(groups).await?;
    let gone = Query::new(DELETE_CHANNEL, values![Id::from(id)]);
    Ok(!link.ask(gone).await?.is_empty())
}
