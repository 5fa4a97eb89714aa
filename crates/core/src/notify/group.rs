//! Notices that are told of together, so that a storm is one message: when a group has its turn, and what its
//! message says. A group is of one channel.
//!
//! The first message comes half a second after the first notice, the next one a minute later, then every five
//! minutes, each only if there is more to tell; after four hours of nothing new a reminder, as long as it is not
//! over; and in the end one message that it is.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::facts::Facts;
use super::kind::{Family, NoticeKind};
use super::message::{Message, Phase};
use crate::definition::WorkflowId;
use crate::id::GroupId;
use crate::time::Timestamp;

/// How long the first message waits for others of its group.
const FIRST_AFTER: Duration = Duration::from_millis(500);
/// The shortest time between the first message and the second.
const SECOND_AFTER: Duration = Duration::from_secs(60);
/// The shortest time between later ones.
const LATER_AFTER: Duration = Duration::from_secs(300);
/// After so long without anything new comes a reminder.
const REMINDED_AFTER: Duration = Duration::from_secs(4 * 3_600);
/// How often is looked, at first, whether something is over that says nothing when it is.
const LOOKED_AT_EVERY: Duration = Duration::from_secs(2);
/// The longest time between two looks; they come the less often the longer nothing happened.
const LOOKED_AT_LEAST_EVERY: Duration = Duration::from_secs(300);
/// Of the time since something happened, this part goes by until the next look.
const LOOK_SHARE: u32 = 20;
/// How long a group that is over is remembered: what comes again within it goes on at the same pace.
const REMEMBERED_FOR: Duration = Duration::from_secs(600);
/// Notices of a group that are shown.
const NEWEST_MAX: usize = 5;

/// A group.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Group {
    /// What kind of notices they are.
    pub family: Family,
    /// The workflow that they are about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowId>,
    /// What they are about.
    pub subject: String,
    /// How many there were.
    pub count: u64,
    /// How many of those people have been told of.
    pub told: u64,
    /// The newest of them, newest first.
    pub newest: Vec<Facts>,
    /// When the first came.
    pub since: Timestamp,
    /// When the last came.
    pub until: Timestamp,
    /// How many messages there were.
    pub messages: u32,
    /// When the last one was.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub told_at: Option<Timestamp>,
    /// When it was over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub over_at: Option<Timestamp>,
    /// Whether people are still to be told that it is.
    #[serde(default, skip_serializing_if = "is_false")]
    pub ends_untold: bool,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks in this way")]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// What notices of one group have in common, as sixteen bytes.
#[must_use]
pub fn group_id(family: Family, workflow: Option<&WorkflowId>, subject: &str) -> GroupId {
    let mut hash = Sha256::new();
    hash.update(family.beginning().name());
    hash.update([0]);
    hash.update(workflow.map_or("", WorkflowId::as_str));
    hash.update([0]);
    hash.update(subject);
    let digest = hash.finalize();
    let mut id = [0; 16];
    id.copy_from_slice(&digest[..16]);
    GroupId::from_bytes(id)
}

/// What is to be done with a group whose time has come.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Turn {
    /// It has a message to send.
    Tell(Phase),
    /// Somebody must look whether it is over.
    Look,
    /// It goes.
    Forget,
}

impl Group {
    /// A group with its first notice; none for an end of what nobody was told of.
    #[must_use]
    pub fn begin(
        kind: NoticeKind,
        workflow: Option<&WorkflowId>,
        subject: &str,
        facts: &Facts,
        now: Timestamp,
    ) -> Option<Self> {
        if kind.is_end() {
            return None;
        }
        let mut group = Self {
            family: kind.family(),
            workflow: workflow.cloned(),
            subject: subject.to_owned(),
            count: 0,
            told: 0,
            newest: Vec::new(),
            since: now,
            until: now,
            messages: 0,
            told_at: None,
            over_at: None,
            ends_untold: false,
        };
        group.add(kind, facts, now);
        Some(group)
    }

    /// One more notice.
    pub fn add(&mut self, kind: NoticeKind, facts: &Facts, now: Timestamp) {
        if kind.is_end() {
            self.over(now);
            return;
        }
        if self.over_at.take().is_some() {
            // It begins again.
            self.ends_untold = false;
            self.since = now;
        }
        self.count += 1;
        self.until = now;
        self.newest.insert(0, facts.clone());
        self.newest.truncate(NEWEST_MAX);
    }

    /// It is over.
    pub fn over(&mut self, now: Timestamp) {
        if self.over_at.is_none() {
            self.over_at = Some(now);
            // Who was told of nothing need not be told that it is over; what is not told yet is, with its end.
            self.ends_untold = self.messages > 0;
        }
    }

    /// When it is to be looked at next.
    #[must_use]
    pub fn due_at(&self) -> Timestamp {
        if self.count > self.told && (self.messages == 0 || self.over_at.is_none()) {
            return match (self.messages, self.told_at) {
                (0, _) | (_, None) => self.since.plus(FIRST_AFTER),
                (1, Some(told_at)) => told_at.plus(SECOND_AFTER),
                (_, Some(told_at)) => told_at.plus(LATER_AFTER),
            };
        }
        if let Some(over_at) = self.over_at {
            return match self.ends_untold {
                true => over_at,
                false => over_at.plus(REMEMBERED_FOR),
            };
        }
        match self.is_watched() {
            true => self.until.plus(LOOKED_AT_EVERY),
            false => self.reminded_at(),
        }
    }

    /// The same for a group that was looked at now and is not over.
    #[must_use]
    pub fn due_after_look(&self, now: Timestamp) -> Timestamp {
        match self.count > self.told || self.over_at.is_some() {
            true => self.due_at(),
            false => {
                let quiet = now.since(self.until) / LOOK_SHARE;
                let wait = quiet.clamp(LOOKED_AT_EVERY, LOOKED_AT_LEAST_EVERY);
                now.plus(wait).min(self.reminded_at().max(now))
            }
        }
    }

    /// Whether its end says nothing, so that somebody must look.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.family == Family::DeadLetter
    }

    fn reminded_at(&self) -> Timestamp {
        match self.family {
            // Nothing ends it: it is told of and forgotten.
            Family::Missed => self.until.plus(REMEMBERED_FOR),
            _ => self.told_at.unwrap_or(self.until).plus(REMINDED_AFTER),
        }
    }

    /// What is to be done with it now.
    #[must_use]
    pub fn turn(&self, now: Timestamp) -> Option<Turn> {
        let is_untold = self.count > self.told && (self.messages == 0 || self.over_at.is_none());
        if is_untold {
            let phase = match self.messages {
                0 => Phase::First,
                _ => Phase::More,
            };
            return (self.due_at() <= now).then_some(Turn::Tell(phase));
        }
        if let Some(over_at) = self.over_at {
            return match self.ends_untold {
                true => Some(Turn::Tell(Phase::Over)),
                false => (over_at.plus(REMEMBERED_FOR) <= now).then_some(Turn::Forget),
            };
        }
        match self.family {
            Family::Missed => (self.reminded_at() <= now).then_some(Turn::Forget),
            _ if self.is_watched() => Some(Turn::Look),
            _ => (self.reminded_at() <= now).then_some(Turn::Tell(Phase::Reminder)),
        }
    }

    /// Whether a group that was looked at, and is not over, is to be reminded of.
    #[must_use]
    pub fn is_to_be_reminded_of(&self, now: Timestamp) -> bool {
        self.over_at.is_none() && self.messages > 0 && self.reminded_at() <= now
    }

    /// The message of its turn; from now on people have been told.
    pub fn tell(&mut self, phase: Phase, now: Timestamp) -> Message {
        let kind = match phase {
            Phase::Over => self.family.end().unwrap_or_else(|| self.family.beginning()),
            _ => self.family.beginning(),
        };
        let message = Message {
            kind,
            phase,
            group: Some(group_id(self.family, self.workflow.as_ref(), &self.subject)),
            workflow: self.workflow.clone(),
            subject: self.subject.clone(),
            count: self.count,
            increase: self.count - self.told,
            since: self.since,
            until: self
                .over_at
                .filter(|_| phase == Phase::Over)
                .unwrap_or(self.until),
            newest: self.newest.clone(),
            groups: Vec::new(),
        };
        self.told = self.count;
        self.told_at = Some(now);
        match phase {
            Phase::Over => self.ends_untold = false,
            _ => self.messages += 1,
        }
        message
    }
}

#[cfg(test)]
mod tests;
