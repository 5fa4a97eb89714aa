//! Alerts: rules that people are told by when something is wrong for long enough, once, and once more when it
//! is over.
//!
//! | question | file |
//! |---|---|
//! | what a rule says | [`rule`] |
//! | what rules there are from the start | `defaults` |
//! | for whom a rule holds now | [`condition`] |
//! | what becomes of an alert, and what is said of it | [`state`] |
//! | when nothing is said | [`silence`] |
//! | what a rule would have said | [`preview`] |
//!
//! Nothing here reads a store or a clock.

pub mod condition;
mod defaults;
pub mod preview;
pub mod rule;
pub mod silence;
pub mod state;
mod text;

pub use condition::{Facts, Finding, LongHeld, OpenBreaker, WindowSum, findings, window_start};
pub use defaults::{BuiltIn, built_in};
pub use rule::{Condition, Rule, RuleKind, Unit};
pub use silence::Silence;
pub use state::{Alert, Next, Phase, Say, Terms, Told, step};

use std::time::Duration;

/// Rules that there may be.
pub const RULES_MAX: usize = 200;
/// Silences that are kept, those that are over among them.
pub const SILENCES_MAX: usize = 200;
/// Subjects that one rule alerts of at once; of more the worst are told.
pub const SUBJECTS_MAX: usize = 100;
/// How long alerts that are over are kept.
pub const ALERTS_KEPT: Duration = Duration::from_secs(30 * 24 * 60 * 60);
