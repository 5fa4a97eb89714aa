//! Collects: notices become groups, and groups messages. One node is enough for it, the oldest; whatever another one
//! does at the same time is refused by what the commits compare, and nothing is told twice or lost.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::dead_letter::LetterStatus;
use refire_core::id::{ChannelId, GroupId, NoticeId};
use refire_core::notify::{Channel, Choice, Group, Message, NoticeKind, Phase, Turn, group_id};
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{
    ChannelRow, GroupChange, GroupRow, LetterFilter, MoveGroups, NewNotice, Part, PartOutcome,
    ReadError,
};

use super::pace::{How, Pace};
use super::workflow::{self, Input};
use super::{Notifications, NotifyError};
use crate::commit::{Admitted, Cause, CommitFailure};
use crate::turn::Turn as NodeTurn;

/// Notices that are taken at once.
const TAKEN_MAX: u32 = 500;
/// Groups that are looked at in one round.
const GROUPS_MAX: u32 = 500;
/// The longest wait before looking again, while there are channels.
const LOOK_EVERY: Duration = Duration::from_secs(5);
/// The same where other nodes write notices too, and their news may be lost.
const SHARED_LOOK_EVERY: Duration = Duration::from_millis(500);
/// The same where there are no channels.
const IDLE_LOOK_EVERY: Duration = Duration::from_secs(5);
/// The wait after trouble with the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);
/// The shortest wait between two looks: what comes within it is taken together.
const LOOK_APART: Duration = Duration::from_millis(100);
/// A group whose message has to wait is looked at again after this.
const WAIT_AGAIN: Duration = Duration::from_millis(500);

/// See the module.
pub(super) async fn collect_loop(notifications: Arc<Notifications>) {
    let context = &notifications.context;
    let (mut turn, mut pace) = (NodeTurn::default(), Pace::default());
    loop {
        let wait = if turn.is_first(context).await {
            match round(&notifications, &mut pace).await {
                Ok(wait) => wait,
                Err(error) => {
                    tracing::warn!(
                        error = &error as &dyn Error,
                        "collecting what people are to be told"
                    );
                    TROUBLE_WAIT
                }
            }
        } else {
            learn(&notifications).await;
            SHARED_LOOK_EVERY
        };
        tokio::select! {
            () = tokio::time::sleep(wait.max(LOOK_APART)) => {}
            () = notifications.bell.notified() => tokio::time::sleep(LOOK_APART).await,
            () = context.notices.rung() => tokio::time::sleep(LOOK_APART).await,
        }
    }
}

/// A node that does not collect still raises notices.
async fn learn(notifications: &Notifications) {
    if let Ok(rows) = notifications.context.store.channels().await {
        notifications.context.notices.learn(&rows);
    }
}

/// A channel that something can be sent through.
struct Open {
    channel: Channel,
    choice: Choice,
}

type Channels = HashMap<ChannelId, Open>;

/// One look at everything; how long nothing is due.
async fn round(notifications: &Notifications, pace: &mut Pace) -> Result<Duration, NotifyError> {
    let context = &notifications.context;
    let rows = context.store.channels().await?;
    context.notices.learn(&rows);
    if rows.is_empty() {
        return Ok(match context.store.is_shared() {
            true => IDLE_LOOK_EVERY,
            // Whoever makes one is on this node, and rings.
            false => Duration::MAX / 4,
        });
    }
    let channels = open(&rows);
    let mut collector = Collector {
        notifications,
        channels,
        pace,
        now: context.now(),
    };
    while collector.take().await? == TAKEN_MAX as usize {}
    let is_waiting = collector.tell().await?;
    let most = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    if is_waiting {
        return Ok(WAIT_AGAIN.min(most));
    }
    let next = context.store.due_groups(Timestamp::LAST, 1).await?;
    let now = context.now();
    Ok(next
        .first()
        .map_or(most, |row| row.due_at.since(now).min(most)))
}

fn open(rows: &[ChannelRow]) -> Channels {
    let enabled = rows.iter().filter(|row| row.enabled);
    let open = enabled.filter_map(|row| match Channel::kept(&row.settings) {
        Ok(channel) => {
            let choice = channel.choice();
            Some((row.id, Open { channel, choice }))
        }
        Err(error) => {
            tracing::error!(channel = %row.id, %error, "a stored channel cannot be read; nothing is sent through it");
            None
        }
    });
    open.collect()
}

/// A group, as it is stored and as it is to be.
struct Held {
    row: GroupRow,
    group: Group,
}

impl Held {
    fn read(row: GroupRow) -> Option<Self> {
        match serde_json::from_slice(&row.state) {
            Ok(group) => Some(Self { row, group }),
            Err(error) => {
                tracing::error!(group = %row.id, %error, "a stored group of notices cannot be read");
                None
            }
        }
    }

    /// With what it holds now.
    fn change(mut self, due_at: Timestamp) -> GroupChange {
        self.row.rev += 1;
        self.row.due_at = due_at;
        // Plain structs with string keys: this cannot fail.
        self.row.state = serde_json::to_vec(&self.group).unwrap_or_default();
        GroupChange {
            row: self.row,
            is_gone: false,
        }
    }

    fn gone(mut self) -> GroupChange {
        self.row.rev += 1;
        GroupChange {
            row: self.row,
            is_gone: true,
        }
    }
}

/// A group that has something to say.
struct Due {
    held: Held,
    phase: Phase,
}

struct Collector<'a> {
    notifications: &'a Notifications,
    channels: Channels,
    pace: &'a mut Pace,
    now: Timestamp,
}

impl Collector<'_> {
    /// Takes notices into groups; how many there were.
    async fn take(&mut self) -> Result<usize, NotifyError> {
        let store = &self.notifications.context.store;
        let notices = store.notices(TAKEN_MAX).await?;
        if notices.is_empty() {
            return Ok(0);
        }
        let keys = self.keys(&notices);
        let known = store.groups(&keys).await?;
        let mut groups: HashMap<(ChannelId, GroupId), Held> = HashMap::new();
        for held in known.into_iter().filter_map(Held::read) {
            groups.insert((held.row.channel, held.row.id), held);
        }
        let count = notices.len();
        let mut taken = Vec::with_capacity(count);
        for notice in &notices {
            taken.push(notice.id);
            #[cfg(feature = "planted")]
            if planted::forgets(Defect::NoticeLost) {
                continue;
            }
            for (channel, open) in &self.channels {
                fold(&mut groups, *channel, open, notice, self.now);
            }
        }
        let changes = groups.into_values().map(|held| {
            let due_at = held.group.due_at();
            held.change(due_at)
        });
        let changes = changes.collect();
        match self.commit(taken, changes).await? {
            true => Ok(count),
            // Another node takes them.
            false => Ok(0),
        }
    }

    /// The groups that notices may be of.
    fn keys(&self, notices: &[NewNotice]) -> Vec<(ChannelId, GroupId)> {
        let mut keys: Vec<_> = notices
            .iter()
            .flat_map(|notice| {
                let id = id_of(notice);
                self.channels.keys().map(move |channel| (*channel, id))
            })
            .collect();
        keys.sort_unstable();
        keys.dedup();
        keys
    }

    async fn commit(
        &self,
        taken: Vec<NoticeId>,
        groups: Vec<GroupChange>,
    ) -> Result<bool, NotifyError> {
        let moved = MoveGroups {
            taken,
            groups,
            admission: None,
        };
        let part = Part::MoveGroups(Box::new(moved));
        match self.notifications.context.queue.part(part).await? {
            PartOutcome::Done => Ok(true),
            PartOutcome::Conflict => Ok(false),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// Tells of groups whose time has come. Whether some have to wait because of their channel.
    async fn tell(&mut self) -> Result<bool, NotifyError> {
        let store = &self.notifications.context.store;
        let rows = store.due_groups(self.now, GROUPS_MAX).await?;
        let mut due: HashMap<ChannelId, Vec<Due>> = HashMap::new();
        for row in rows {
            let channel = row.channel;
            if let Some(one) = self.look(row).await? {
                due.entry(channel).or_default().push(one);
            }
        }
        let mut is_waiting = false;
        for (channel, groups) in due {
            is_waiting |= self.tell_channel(channel, groups).await?;
        }
        Ok(is_waiting)
    }

    /// What is to be said of a group; what is not is written down.
    async fn look(&self, row: GroupRow) -> Result<Option<Due>, NotifyError> {
        let Some(mut held) = Held::read(row.clone()) else {
            let gone = GroupChange {
                row: GroupRow {
                    rev: row.rev + 1,
                    ..row
                },
                is_gone: true,
            };
            self.commit(Vec::new(), vec![gone]).await?;
            return Ok(None);
        };
        let Some(open) = self.channels.get(&held.row.channel) else {
            // Nobody is told any more.
            self.commit(Vec::new(), vec![held.gone()]).await?;
            return Ok(None);
        };
        let mut turn = held.group.turn(self.now);
        if turn == Some(Turn::Look) {
            let is_open = self.is_open(&held.group).await?;
            if !is_open {
                held.group.over(self.now);
            }
            turn = match is_open {
                false => held.group.turn(self.now),
                true if held.group.is_to_be_reminded_of(self.now) => {
                    Some(Turn::Tell(Phase::Reminder))
                }
                true => None,
            };
        }
        let is_unwanted = |phase: Phase| {
            let end = held.group.family.end();
            phase == Phase::Over
                && end.is_some_and(|end| !open.choice.wants(end, held.group.workflow.as_ref()))
        };
        let change = match turn {
            Some(Turn::Tell(phase)) if !is_unwanted(phase) => return Ok(Some(Due { held, phase })),
            Some(Turn::Tell(_)) => {
                held.group.ends_untold = false;
                let due_at = held.group.due_at();
                held.change(due_at)
            }
            Some(Turn::Forget) => held.gone(),
            Some(Turn::Look) | None => {
                let due_at = held.group.due_after_look(self.now);
                held.change(due_at)
            }
        };
        self.commit(Vec::new(), vec![change]).await?;
        Ok(None)
    }

    /// Whether a dead letter of a group still waits for somebody.
    async fn is_open(&self, group: &Group) -> Result<bool, ReadError> {
        let fingerprint = u64::from_str_radix(&group.subject, 16).ok();
        let filter = LetterFilter {
            workflow: group.workflow.clone(),
            statuses: vec![LetterStatus::Pending, LetterStatus::Retrying],
            fingerprint,
            ..LetterFilter::default()
        };
        let store = &self.notifications.context.store;
        Ok(!store.letters(&filter, None, 1).await?.is_empty())
    }

    /// Whether some have to wait.
    async fn tell_channel(
        &mut self,
        channel: ChannelId,
        mut groups: Vec<Due>,
    ) -> Result<bool, NotifyError> {
        let Some(open) = self.channels.get(&channel) else {
            return Ok(false);
        };
        let target = open.channel.target.clone();
        // The oldest first.
        groups.reverse();
        while !groups.is_empty() {
            let firsts = groups
                .iter()
                .filter(|one| one.phase == Phase::First)
                .count();
            let told = match self
                .pace
                .how(channel, &target, (groups.len(), firsts), self.now)
            {
                How::Wait => return Ok(true),
                How::One => groups.split_off(groups.len() - 1),
                How::Together => std::mem::take(&mut groups),
            };
            let is_first = told.iter().any(|one| one.phase == Phase::First);
            if self.send(channel, told).await? {
                self.pace.note(channel, is_first, self.now);
            }
        }
        Ok(false)
    }

    /// Commits the message of these groups with their turn. False if one of them is not as it was seen.
    async fn send(&self, channel: ChannelId, groups: Vec<Due>) -> Result<bool, NotifyError> {
        let context = &self.notifications.context;
        let mut messages = Vec::with_capacity(groups.len());
        let mut changes = Vec::with_capacity(groups.len());
        for Due { mut held, phase } in groups {
            messages.push(held.group.tell(phase, self.now));
            let due_at = held.group.due_at();
            changes.push(held.change(due_at));
        }
        #[cfg(feature = "planted")]
        if planted::forgets(Defect::GroupForgotten) {
            return self.commit(Vec::new(), changes).await;
        }
        let message = match messages.len() {
            1 => messages.remove(0),
            _ => Message::digest(&messages, self.now),
        };
        let input = Input {
            channel,
            message,
            repeats: None,
        };
        let unwritten = || CommitFailure::Internal("a message cannot be written".to_owned());
        let submission = input.submission(workflow::by()).ok_or_else(unwritten)?;
        let definition = workflow::definition(context).await?;
        let draft = context.draft_by(&definition, submission).await;
        let moved = MoveGroups {
            taken: Vec::new(),
            groups: changes,
            admission: None,
        };
        let draft = draft.caused_by(Cause::Told(Box::new(moved)));
        match context.commit_draft(draft).await? {
            Admitted::New(_) => Ok(true),
            Admitted::GroupsMoved => Ok(false),
            other => Err(CommitFailure::unexpected("answer", &other).into()),
        }
    }
}

fn id_of(notice: &NewNotice) -> GroupId {
    let family = notice.kind.family();
    group_id(family, notice.workflow.as_ref(), &notice.subject)
}

/// A notice in the group that a channel has of it, if it wants it.
fn fold(
    groups: &mut HashMap<(ChannelId, GroupId), Held>,
    channel: ChannelId,
    open: &Open,
    notice: &NewNotice,
    now: Timestamp,
) {
    let NewNotice {
        kind,
        workflow,
        subject,
        facts,
        ..
    } = notice;
    let key = (channel, id_of(notice));
    let is_meant = facts.is_for(&channel.to_string(), &open.channel.name);
    let is_wanted = |kind: NoticeKind| is_meant && open.choice.wants(kind, workflow.as_ref());
    match groups.get_mut(&key) {
        Some(held) if kind.is_end() => {
            held.group.add(*kind, facts, now);
            held.group.ends_untold &= is_wanted(*kind);
        }
        Some(held) if is_wanted(*kind) => held.group.add(*kind, facts, now),
        None if is_wanted(*kind) => {
            let begun = Group::begin(*kind, workflow.as_ref(), subject, facts, now);
            if let Some(group) = begun {
                let row = GroupRow {
                    channel,
                    id: key.1,
                    rev: 0,
                    due_at: now,
                    state: Vec::new(),
                };
                groups.insert(key, Held { row, group });
            }
        }
        _ => {}
    }
}
