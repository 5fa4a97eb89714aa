//! The kinds of notices. A beginning and its end are a family: they are one group, and the end is told where
//! the beginning was.

use serde::{Deserialize, Serialize};

/// What a notice is about. New kinds are added at the end.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum NoticeKind {
    /// An execution failed for good.
    DeadLetterCreated,
    /// No dead letter of a group waits any more.
    DeadLetterResolved,
    /// A trigger should have had a success by now.
    TriggerOverdue,
    /// It has had one.
    TriggerRecovered,
    /// A slot of a trigger was missed.
    TriggerMissed,
    /// A target is not called for a while.
    BreakerOpened,
    /// It is called again.
    BreakerClosed,
    /// What an alert watches for is so.
    AlertFiring,
    /// It is so no more.
    AlertResolved,
}

/// Kinds that are told of together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Family {
    /// Dead letters with the same cause.
    DeadLetter,
    /// A trigger that is overdue.
    Trigger,
    /// Slots that a trigger missed. Nothing ends this.
    Missed,
    /// A target.
    Breaker,
    /// An alert.
    Alert,
}

impl NoticeKind {
    /// Every kind.
    pub const ALL: [Self; 9] = [
        Self::DeadLetterCreated,
        Self::DeadLetterResolved,
        Self::TriggerOverdue,
        Self::TriggerRecovered,
        Self::TriggerMissed,
        Self::BreakerOpened,
        Self::BreakerClosed,
        Self::AlertFiring,
        Self::AlertResolved,
    ];

    /// As channels, messages and rows call it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::DeadLetterCreated => "dead_letter.created",
            Self::DeadLetterResolved => "dead_letter.resolved",
            Self::TriggerOverdue => "trigger.overdue",
            Self::TriggerRecovered => "trigger.recovered",
            Self::TriggerMissed => "trigger.missed",
            Self::BreakerOpened => "breaker.opened",
            Self::BreakerClosed => "breaker.closed",
            Self::AlertFiring => "alert.firing",
            Self::AlertResolved => "alert.resolved",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is told of together with.
    #[must_use]
    pub fn family(self) -> Family {
        match self {
            Self::DeadLetterCreated | Self::DeadLetterResolved => Family::DeadLetter,
            Self::TriggerOverdue | Self::TriggerRecovered => Family::Trigger,
            Self::TriggerMissed => Family::Missed,
            Self::BreakerOpened | Self::BreakerClosed => Family::Breaker,
            Self::AlertFiring | Self::AlertResolved => Family::Alert,
        }
    }

    /// Whether it says that something is over.
    #[must_use]
    pub fn is_end(self) -> bool {
        matches!(
            self,
            Self::DeadLetterResolved
                | Self::TriggerRecovered
                | Self::BreakerClosed
                | Self::AlertResolved
        )
    }
}

impl Family {
    /// What begins it.
    #[must_use]
    pub fn beginning(self) -> NoticeKind {
        match self {
            Self::DeadLetter => NoticeKind::DeadLetterCreated,
            Self::Trigger => NoticeKind::TriggerOverdue,
            Self::Missed => NoticeKind::TriggerMissed,
            Self::Breaker => NoticeKind::BreakerOpened,
            Self::Alert => NoticeKind::AlertFiring,
        }
    }

    /// What ends it, if anything does.
    #[must_use]
    pub fn end(self) -> Option<NoticeKind> {
        match self {
            Self::DeadLetter => Some(NoticeKind::DeadLetterResolved),
            Self::Trigger => Some(NoticeKind::TriggerRecovered),
            Self::Missed => None,
            Self::Breaker => Some(NoticeKind::BreakerClosed),
            Self::Alert => Some(NoticeKind::AlertResolved),
        }
    }
}

impl Serialize for NoticeKind {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl<'de> Deserialize<'de> for NoticeKind {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let name = String::deserialize(deserializer)?;
        let unknown = || serde::de::Error::custom(format!("there is no kind of notice {name:?}"));
        Self::from_name(&name).ok_or_else(unknown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_lead_back_and_families_have_both_ends() {
        for kind in NoticeKind::ALL {
            assert_eq!(NoticeKind::from_name(kind.name()), Some(kind));
            let family = kind.family();
            assert_eq!(family.beginning().family(), family);
            assert!(!family.beginning().is_end());
            assert_eq!(kind.is_end(), family.end() == Some(kind));
        }
        assert_eq!(NoticeKind::from_name("dead_letter"), None);
    }
}
