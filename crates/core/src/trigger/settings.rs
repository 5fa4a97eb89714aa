//! A trigger as somebody wrote it, checked.
//!
//! [`Settings::text`] is what is stored: the fields that were said, under their documented names and
//! in a fixed order, values as they were written. What was not said is not in it, so a default may
//! change with a later version. `enabled` is no part of it: it has a column of its own.
//!
//! `input` is kept byte for byte.

use std::time::Duration;

use refire_schedule::{Schedule, ScheduleSettings, jiff};

use super::written::{GivenSecret, Written};
use super::{Timeline, Trigger, read, unset};
use crate::definition::source::{Key, Node};
use crate::definition::{Mark, Problem, Problems, RetrySettings};
use crate::json::Json;
use crate::time::Timestamp;
use crate::webhook;

/// Missed slots that `fire_all` catches up with unless the settings say otherwise.
pub const MISFIRE_MAX_DEFAULT: u64 = 100;
/// The most that they may say.
pub const MISFIRE_MAX_LIMIT: u64 = 1_000;
/// How old a missed slot may be to be caught up with, unless the settings say otherwise.
pub const MISFIRE_WINDOW_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest length that a trigger's settings may name.
pub const LENGTH_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);
/// The shortest.
pub const LENGTH_MIN: Duration = Duration::from_secs(1);
/// The longest name of a trigger, in characters.
pub const NAME_CHARS_MAX: usize = 200;
/// The longest description of a trigger, in characters.
pub const DESCRIPTION_CHARS_MAX: usize = 10_000;

/// What a trigger is told.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// What people call it.
    pub name: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What starts it.
    pub kind: Kind,
    /// What its executions get, byte for byte.
    pub input: Json,
    /// Laid over the workflow's.
    pub retry: RetrySettings,
    /// What happens when a slot is due before the execution of the one before has ended.
    pub overlap: Overlap,
    /// What happens to slots that nobody looked at in time.
    pub misfire: Misfire,
    /// The most slots that [`Misfire::FireAll`] catches up with.
    pub misfire_max: u64,
    /// Slots that are older than this are not caught up with.
    pub misfire_window: Duration,
    /// By when a success is expected.
    pub dead_man: Option<DeadMan>,
    /// What is stored.
    pub text: Json,
}

/// What starts a trigger.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// A cron expression.
    Cron(Box<ScheduleSettings>),
    /// An interval, moments, or times of days.
    Schedule(Box<ScheduleSettings>),
    /// A request.
    Webhook(Box<webhook::Settings>),
}

/// What happens when a slot is due before the execution of the one before has ended.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Overlap {
    /// Both run.
    #[default]
    Allow,
    /// The slot is skipped.
    Skip,
    /// The newest slot waits, those before it are skipped.
    BufferOne,
    /// The execution before is cancelled.
    CancelPrevious,
}

/// What happens to slots that nobody looked at in time.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Misfire {
    /// The latest is fired.
    #[default]
    FireOnce,
    /// The latest are fired, the oldest of them first.
    FireAll,
    /// None is fired.
    Skip,
}

/// By when a success is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DeadMan {
    /// One of each slot, or of a later one, so long after it was planned.
    Grace(Duration),
    /// One so long after the last.
    SuccessWithin(Duration),
}

impl Kind {
    /// The word for it.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Cron(_) => "cron",
            Self::Schedule(_) => "schedule",
            Self::Webhook(_) => "webhook",
        }
    }

    /// What says when, if planned times start it.
    #[must_use]
    pub fn timing(&self) -> Option<&ScheduleSettings> {
        match self {
            Self::Cron(timing) | Self::Schedule(timing) => Some(timing),
            Self::Webhook(_) => None,
        }
    }
}

impl Settings {
    /// Reads what was stored.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn parse(text: &str) -> Result<Self, Problems> {
        read::read(text).map(|(draft, _)| draft.settings)
    }

    /// Whether slots are at other moments than with other settings. The jitter plays no part: it
    /// leaves a slot where it is.
    #[must_use]
    pub fn plans_like(&self, other: &Self) -> bool {
        let slots = |settings: &Self| {
            settings.kind.timing().map(|timing| ScheduleSettings {
                jitter: None,
                ..timing.clone()
            })
        };
        slots(self) == slots(other)
    }
}

/// What a request to create or to change a trigger comes to.
#[derive(Debug, Clone, PartialEq)]
pub struct Draft {
    /// Its settings.
    pub settings: Settings,
    /// Whether it is to be enabled, if that was said.
    pub enabled: Option<bool>,
}

/// A request to create or to change a trigger, in JSON or YAML: read, but not yet understood. A
/// webhook's secret stands apart in it, so that it is never among what is stored as settings.
#[derive(Clone)]
pub struct Wish {
    written: Written,
    secret: Option<GivenSecret>,
    /// Where the secret is said to be none.
    no_secret: Option<Mark>,
}

impl Wish {
    /// Reads a request.
    ///
    /// # Errors
    /// When it cannot be read, or its secret is not a text.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        let mut written = Written::parse(source)?;
        let no_secret = written.no_secret();
        let secret = written.take_secret()?;
        Ok(Self {
            written,
            secret,
            no_secret,
        })
    }

    /// The secret that it names.
    #[must_use]
    pub fn secret(&self) -> Option<&str> {
        self.secret.as_ref().map(|secret| secret.text.as_str())
    }

    /// Where that stands.
    #[must_use]
    pub fn secret_place(&self) -> Mark {
        let secret = self.secret.as_ref();
        secret.map_or(Mark::NOWHERE, |secret| secret.mark)
    }

    /// Refuses one whose planned times have all passed by now: it would never start anything.
    ///
    /// # Errors
    /// The field that says so.
    pub fn to_come(&self, trigger: &Trigger, now: Timestamp) -> Result<(), Problems> {
        self.after(&trigger.settings.kind, trigger.schedule.as_ref(), now)
    }

    /// Refuses one that plans nothing after a moment.
    pub(super) fn after(
        &self,
        kind: &Kind,
        schedule: Option<&Schedule>,
        now: Timestamp,
    ) -> Result<(), Problems> {
        let (Some(timing), Some(schedule)) = (kind.timing(), schedule) else {
            return Ok(());
        };
        // The jitter moves no slot, so any seed will do.
        if Timeline::new(schedule, 0).next(now).is_some() {
            return Ok(());
        }
        let endless = Schedule::new(&ScheduleSettings {
            end: None,
            ..timing.clone()
        });
        let after = endless.ok().and_then(|endless| {
            let now = jiff::Timestamp::from_microsecond(now.as_micros());
            endless.next(now.ok()?)
        });
        let (field, message) = match (after, kind) {
            (Some(next), _) => (
                "end",
                format!("is before the next planned time ({next}), so nothing would be started"),
            ),
            (None, Kind::Cron(_)) => (
                "cron_expression",
                "has no planned times left, so nothing would be started".to_owned(),
            ),
            (None, _) => (
                "at",
                "is in the past, so nothing would be started".to_owned(),
            ),
        };
        let place = self.written.place(field);
        Err(Problem::new(field, place, message).into())
    }

    /// Takes a member out that is no setting.
    pub(super) fn take(&mut self, name: &str) -> Option<(Key, Node)> {
        self.written.take(name)
    }

    /// Where a field stands.
    pub(super) fn place(&self, name: &str) -> Mark {
        self.written.place(name)
    }

    /// As a new trigger is read: an interval that says nothing of where it begins counts from `now`.
    pub(super) fn anchored(&self, now: Timestamp) -> Written {
        self.written.clone().anchored(now)
    }

    /// Refuses one that takes back what there is not.
    fn only_known(&self, kind: &str, stored: &Written) -> Result<(), Problems> {
        let mut problems = unset::unknown(kind, stored, &self.written);
        if let Some(place) = self.no_secret {
            let message = "a secret cannot be removed, only replaced";
            let problem = Problem::new("secret", place, message);
            problems.push(problem.with_hint("rotate it, or set `authentication` to \"none\""));
        }
        match problems.is_empty() {
            true => Ok(()),
            false => Err(problems.sorted()),
        }
    }

    /// Refuses one that names another kind: that of a trigger stays.
    fn only(&self, kind: &str) -> Result<(), Problems> {
        match self.written.other_kind(kind) {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }
}

impl Draft {
    /// Reads a new trigger. An interval that says nothing of where it begins counts from `now`.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn create(wish: &Wish, now: Timestamp) -> Result<Self, Problems> {
        read::read_written(&wish.anchored(now)).map(|(draft, _)| draft)
    }

    /// Reads what takes the place of all settings of a trigger of this kind.
    ///
    /// # Errors
    /// Everything that is wrong with it, in the order of the text.
    pub fn replace(kind: &str, wish: &Wish, now: Timestamp) -> Result<Self, Problems> {
        wish.only(kind)?;
        Self::create(wish, now)
    }

    /// Lays a change over stored settings of this kind as a JSON merge patch: `null` goes back to the
    /// default, objects are changed field by field, except `input`, which is replaced. What is stored
    /// need not be right: what is wrong with it may be what the change mends.
    ///
    /// # Errors
    /// Everything that is wrong with the result.
    pub fn patch(kind: &str, stored: &str, wish: &Wish, now: Timestamp) -> Result<Self, Problems> {
        wish.only(kind)?;
        let stored = Written::stored(stored)?;
        wish.only_known(kind, &stored)?;
        let merged = stored.merged(&wish.written).anchored(now);
        read::read_written(&merged).map(|(draft, _)| draft)
    }
}

#[cfg(test)]
mod tests;
