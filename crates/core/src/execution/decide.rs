//! The one place that judges: which command leads to which events and effects.
//!
//! Each command has its file; what several of them share is in `draft` (a decision being made),
//! `advance` (what comes next when a step is done) and `finish` (how an execution ends).
//! Nothing here depends on anything but the definition, the state, the command and `now`.

mod advance;
mod callback;
mod cancel;
mod draft;
mod finish;
mod lost;
mod mapping;
mod pause;
mod report;
mod resume;
mod retry;
mod retry_now;
mod start;
mod task;
#[cfg(test)]
pub(super) mod tests;

use super::command::{Command, Refusal};
use super::effect::Effect;
use super::event::Event;
use super::state::Execution;
use crate::definition::Workflow;
use crate::time::Timestamp;
use draft::Draft;

pub use mapping::{Mapping, map_output, mapping_bytes};
pub use start::{Carried, Start, start};

/// The version of the rules that new executions get; recorded in the first event of every log. An
/// execution keeps its rules, so what they once decided is decided alike for ever.
///
/// - 1: the first ones.
/// - 2: a cancel records the attempts that it aborts; an `outputMapping` that cannot be worked out
///   fails the step instead of mapping to null.
pub const RULES: u16 = 2;

/// Whether this build has those rules.
#[must_use]
pub fn has_rules(rules: u16) -> bool {
    (1..=RULES).contains(&rules)
}

/// What follows from a command.
#[derive(Debug, Clone, PartialEq)]
pub struct Decision {
    /// What has happened, in order. Empty: the command asked for what is so already.
    pub events: Vec<Event>,
    /// What to do about it, in order, in the same commit.
    pub effects: Vec<Effect>,
    /// The state after the events.
    pub state: Execution,
}

/// Judges a command. A refusal changes nothing.
pub fn decide(
    workflow: &Workflow,
    state: &Execution,
    command: Command,
    now: Timestamp,
) -> Result<Decision, Refusal> {
    decide_within(workflow, state, command, now, usize::MAX)
}

/// As [`decide`], but it searches at most so many bytes of payloads (`when` and `output` do), for
/// callers that keep others waiting; what needs more is refused as [`Refusal::TooHeavy`].
pub fn decide_within(
    workflow: &Workflow,
    state: &Execution,
    command: Command,
    now: Timestamp,
    search_bytes_max: usize,
) -> Result<Decision, Refusal> {
    let rules = state.origin.as_ref().map_or(0, |origin| origin.rules);
    if !has_rules(rules) {
        return Err(Refusal::UnknownRules(rules));
    }
    let mut draft = Draft::new(workflow, state.clone(), now, search_bytes_max);
    match command {
        Command::Report(report) => report::report(&mut draft, report)?,
        Command::Lost(lost) => lost::lost(&mut draft, lost)?,
        Command::Retired { step, attempt } => task::retired(&mut draft, step, attempt)?,
        Command::Callback(called) => callback::callback(&mut draft, called)?,
        Command::WindowOver { step, attempt } => {
            callback::window_over(&mut draft, step, attempt)?;
        }
        Command::Pause { by } => pause::pause(&mut draft, by)?,
        Command::Resume { by } => resume::resume(&mut draft, by)?,
        Command::RetryNow(wish) => retry_now::retry_now(&mut draft, &wish)?,
        Command::Cancel(cancel) => cancel::cancel(&mut draft, cancel)?,
    }
    draft.into_decision()
}
