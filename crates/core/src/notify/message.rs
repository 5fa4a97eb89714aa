//! A message before it is in anybody's form: what it is about, how many, and the newest of them. It is the input of
//! the execution that sends it.

use serde::{Deserialize, Serialize};

use super::facts::{FactName, Facts};
use super::group::Group;
use super::kind::NoticeKind;
use crate::definition::WorkflowId;
use crate::id::GroupId;
use crate::time::Timestamp;

/// Groups that a digest names; of more only the number.
pub(super) const GROUPS_NAMED_MAX: usize = 10;

/// A message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Message {
    /// What it is about.
    pub kind: NoticeKind,
    /// Which message of its group it is.
    pub phase: Phase,
    /// The group; none for a test or a digest.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<GroupId>,
    /// The workflow.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub workflow: Option<WorkflowId>,
    /// What it is about in particular, such as a fingerprint.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// How many notices there were.
    pub count: u64,
    /// How many of them are new since the last message.
    pub increase: u64,
    /// When the first came.
    pub since: Timestamp,
    /// When the last came, or it was over.
    pub until: Timestamp,
    /// The newest of them, newest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub newest: Vec<Facts>,
    /// The groups of a digest, the largest first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub groups: Vec<Line>,
}

/// Which message of a group it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Phase {
    /// The first.
    First,
    /// There is more.
    More,
    /// Nothing new, and not over.
    Reminder,
    /// It is over.
    Over,
    /// Of several groups at once.
    Digest,
    /// Somebody tries a channel.
    Test,
}

/// A group in a digest.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Line {
    /// What it is about.
    pub kind: NoticeKind,
    /// As people call it.
    pub name: String,
    /// How many notices there were.
    pub count: u64,
    /// The page of the console that shows it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

impl Message {
    /// Of several groups at once.
    #[must_use]
    pub fn digest(messages: &[Self], now: Timestamp) -> Self {
        let mut groups: Vec<Line> = messages.iter().map(Self::line).collect();
        groups.sort_by(|a, b| b.count.cmp(&a.count).then_with(|| a.name.cmp(&b.name)));
        let first = messages
            .first()
            .map_or(NoticeKind::DeadLetterCreated, |one| one.kind);
        let since = messages.iter().map(|one| one.since).min();
        Self {
            kind: first,
            phase: Phase::Digest,
            group: None,
            workflow: None,
            subject: String::new(),
            count: messages.iter().map(|one| one.count).sum(),
            increase: messages.iter().map(|one| one.increase).sum(),
            since: since.unwrap_or(now),
            until: now,
            newest: Vec::new(),
            groups,
        }
    }

    /// To try a channel.
    #[must_use]
    pub fn test(now: Timestamp) -> Self {
        Self {
            kind: NoticeKind::DeadLetterCreated,
            phase: Phase::Test,
            group: None,
            workflow: None,
            subject: String::new(),
            count: 0,
            increase: 0,
            since: now,
            until: now,
            newest: Vec::new(),
            groups: Vec::new(),
        }
    }

    /// What people might be sent, to look at.
    #[must_use]
    pub fn sample(phase: Phase, now: Timestamp) -> Self {
        let facts = Facts::new("orders", now)
            .text("the target answered 503: Service Unavailable")
            .page("/dlq")
            .fact(FactName::Workflow, "orders")
            .fact(FactName::Step, "charge (6/6)")
            .fact(FactName::Error, "http_status 503")
            .fact(FactName::Reason, "exhausted");
        let begun = Group::begin(NoticeKind::DeadLetterCreated, None, "0", &facts, now);
        match (phase, begun) {
            (Phase::Test, _) | (_, None) => Self::test(now),
            (Phase::Digest, Some(mut group)) => {
                let one = group.tell(Phase::First, now);
                Self::digest(&[one.clone(), one], now)
            }
            (phase, Some(mut group)) => {
                group.add(NoticeKind::DeadLetterCreated, &facts, now);
                group.add(NoticeKind::DeadLetterCreated, &facts, now);
                group.tell(phase, now)
            }
        }
    }

    /// As a digest names it.
    fn line(&self) -> Line {
        Line {
            kind: self.kind,
            name: self.name().to_owned(),
            count: self.count,
            page: self.page(),
        }
    }

    /// What it is about, as people call it.
    #[must_use]
    pub fn name(&self) -> &str {
        let workflow = self.workflow.as_ref().map(WorkflowId::as_str);
        match self.newest.first() {
            Some(facts) => &facts.name,
            None => workflow.unwrap_or(&self.subject),
        }
    }

    /// The page of the console with all of it.
    #[must_use]
    pub fn page(&self) -> Option<String> {
        if let (NoticeKind::DeadLetterCreated | NoticeKind::DeadLetterResolved, Some(_)) =
            (self.kind, self.group)
        {
            return Some(format!("/dlq?fingerprint={}", self.subject));
        }
        self.newest.first()?.page.clone()
    }
}
