//! What happens to local times that a change of the clock skips or repeats.

use serde::{Deserialize, Serialize};

/// The policy for schedules that name times of the day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Dst {
    /// For a local time that does not exist.
    pub gap: Gap,
    /// For a local time that comes twice.
    pub repeat: Repeat,
}

impl Dst {
    /// Whether nothing but the default is said.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What becomes of a local time that does not exist because the clock was moved forward.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Gap {
    /// It fires at the first moment after the gap; several that come together there fire once.
    #[default]
    NextValid,
    /// It does not fire on that day.
    Skip,
}

/// When a local time fires that comes twice because the clock was moved back.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Repeat {
    /// The first time only.
    #[default]
    First,
    /// The last time only.
    Last,
    /// Both times.
    Both,
}
