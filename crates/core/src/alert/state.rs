//! What becomes of an alert: a function from what is known of it and what is found to what is written and
//! what is said.
//!
//! ```text
//!            found            for so long
//!   (none) ────────▶ pending ─────────────▶ firing ──▶ resolved
//!                       │                      ▲            │
//!                       └─▶ (none)             └── found ───┘
//! ```
//!
//! Whoever was told that it fires is told that it is over, once. What is muted is hidden, not forgotten: what
//! fires when it is muted no more is told then, and so is the end of what was told.

use std::time::Duration;

use crate::id::AlertId;
use crate::time::Timestamp;

/// How often the value of what fires is written anew.
const VALUE_EVERY: Duration = Duration::from_secs(60);

/// How far an alert is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// It is bad, but not for long enough.
    Pending,
    /// It is bad.
    Firing,
    /// It is over.
    Resolved,
}

impl Phase {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Pending, Self::Firing, Self::Resolved];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Firing => "firing",
            Self::Resolved => "resolved",
        }
    }

    /// The phase of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|phase| phase.name() == name)
    }
}

/// What people were told last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Told {
    /// Nothing.
    Nothing,
    /// That it fires.
    Firing,
    /// That it is over.
    Resolved,
}

impl Told {
    /// All of them, in the order of their numbers.
    pub const ALL: [Self; 3] = [Self::Nothing, Self::Firing, Self::Resolved];
}

/// An alert as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Alert {
    /// Its id, from when it began until it is over.
    pub id: AlertId,
    /// How far it is.
    pub phase: Phase,
    /// When it began to be bad.
    pub began_at: Timestamp,
    /// Since when it has its phase.
    pub since: Timestamp,
    /// How bad it is, or was last, in thousandths.
    pub value: i64,
    /// What people were told last.
    pub told: Told,
    /// When they were told.
    pub told_at: Option<Timestamp>,
    /// Whether nobody was to be told when it was looked at last.
    pub is_muted: bool,
    /// Who has said that somebody is at it, and when.
    pub acked: Option<(Timestamp, String)>,
    /// When this was written.
    pub updated_at: Timestamp,
}

/// What a rule asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Terms {
    /// For how long it must be bad.
    pub hold: Duration,
    /// How often people are reminded.
    pub repeat: Duration,
}

/// What is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Say {
    /// It fires.
    Firing,
    /// It still fires.
    Again,
    /// It is over.
    Resolved,
}

/// What becomes of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Next {
    /// Nothing changes.
    Same,
    /// It is so now, and this is said with it.
    Put(Alert, Option<Say>),
    /// It was nothing.
    Remove,
}

/// What becomes of an alert of which there is a value, or none, now. `fresh` is the id of one that begins.
#[must_use]
pub fn step(
    before: Option<&Alert>,
    value: Option<i64>,
    terms: Terms,
    is_muted: bool,
    fresh: AlertId,
    now: Timestamp,
) -> Next {
    match (before, value) {
        (None, None) => Next::Same,
        (None, Some(value)) => begins(value, terms, is_muted, fresh, now),
        (Some(before), value) => match (before.phase, value) {
            (Phase::Pending, None) => Next::Remove,
            (Phase::Pending, Some(_)) if now.since(before.since) < terms.hold => Next::Same,
            (Phase::Pending, Some(value)) => fires(before, value, terms, is_muted, now),
            (Phase::Firing, Some(value)) => goes_on(before, value, terms, is_muted, now),
            (Phase::Firing, None) => ends(before, is_muted, now),
            (Phase::Resolved, None) if before.told == Told::Firing && !is_muted => Next::Put(
                says(before.clone(), Say::Resolved, now),
                Some(Say::Resolved),
            ),
            (Phase::Resolved, None) => Next::Same,
            // Nobody was told that it was over: it never was.
            (Phase::Resolved, Some(value)) if before.told == Told::Firing => {
                fires(before, value, terms, is_muted, now)
            }
            (Phase::Resolved, Some(value)) => begins(value, terms, is_muted, fresh, now),
        },
    }
}

fn begins(value: i64, terms: Terms, is_muted: bool, id: AlertId, now: Timestamp) -> Next {
    let pending = Alert {
        id,
        phase: Phase::Pending,
        began_at: now,
        since: now,
        value,
        told: Told::Nothing,
        told_at: None,
        is_muted,
        acked: None,
        updated_at: now,
    };
    match terms.hold.is_zero() {
        true => fires(&pending, value, terms, is_muted, now),
        false => Next::Put(pending, None),
    }
}

fn fires(before: &Alert, value: i64, terms: Terms, is_muted: bool, now: Timestamp) -> Next {
    let after = Alert {
        phase: Phase::Firing,
        since: now,
        value,
        is_muted,
        updated_at: now,
        ..before.clone()
    };
    let say = said_of_firing(before, terms, is_muted, now);
    Next::Put(spoken(after, say, now), say)
}

fn goes_on(before: &Alert, value: i64, terms: Terms, is_muted: bool, now: Timestamp) -> Next {
    let say = said_of_firing(before, terms, is_muted, now);
    let is_new_value = value != before.value && now.since(before.updated_at) >= VALUE_EVERY;
    if say.is_none() && is_muted == before.is_muted && !is_new_value {
        return Next::Same;
    }
    let after = Alert {
        value,
        is_muted,
        updated_at: now,
        ..before.clone()
    };
    Next::Put(spoken(after, say, now), say)
}

/// What is said of what fires.
fn said_of_firing(before: &Alert, terms: Terms, is_muted: bool, now: Timestamp) -> Option<Say> {
    if is_muted {
        return None;
    }
    if before.told != Told::Firing {
        return Some(Say::Firing);
    }
    let is_old = before
        .told_at
        .is_none_or(|at| now.since(at) >= terms.repeat);
    (before.acked.is_none() && (is_old || before.is_muted)).then_some(Say::Again)
}

fn ends(before: &Alert, is_muted: bool, now: Timestamp) -> Next {
    let after = Alert {
        phase: Phase::Resolved,
        since: now,
        is_muted,
        updated_at: now,
        ..before.clone()
    };
    let say = (before.told == Told::Firing && !is_muted).then_some(Say::Resolved);
    Next::Put(spoken(after, say, now), say)
}

fn spoken(alert: Alert, say: Option<Say>, now: Timestamp) -> Alert {
    match say {
        Some(say) => says(alert, say, now),
        None => alert,
    }
}

fn says(alert: Alert, say: Say, now: Timestamp) -> Alert {
    Alert {
        told: match say {
            Say::Firing | Say::Again => Told::Firing,
            Say::Resolved => Told::Resolved,
        },
        told_at: Some(now),
        updated_at: now,
        ..alert
    }
}

#[cfg(test)]
mod tests;
