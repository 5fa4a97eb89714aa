//! The one place that judges: which command leads to which events and effects.
//!
//! Each command has its file; what several of them share is in `draft` (a decision being made),
//! `advance` (what comes next when a step is done) and `finish` (how an execution ends).
//! Nothing here depends on anything but the definition, the state, the command and `now`.

mod advance;
mod cancel;
mod draft;
mod finish;
mod lost;
mod pause;
mod report;
mod resume;
mod retry;
mod start;
#[cfg(test)]
pub(super) mod tests;

use super::command::{Command, Refusal};
use super::effect::Effect;
use super::event::Event;
use super::state::Execution;
use crate::definition::Workflow;
use crate::time::Timestamp;
use draft::Draft;

pub use start::{Carried, Start, start};

/// The version of these rules; recorded in the first event of every log.
pub const RULES: u16 = 1;

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
    let rules = state.origin.as_ref().map_or(0, |origin| origin.rules);
    if rules != RULES {
        return Err(Refusal::UnknownRules(rules));
    }
    // What has ended is refused without looking at any value.
    if !state.status.is_terminal()
        && workflow.decides_on_payloads()
        && let Some(missing) = state.missing_values().first()
    {
        return Err(Refusal::MissingPayload(*missing));
    }
    let mut draft = Draft::new(workflow, state.clone(), now);
    match command {
        Command::Report(report) => report::report(&mut draft, report)?,
        Command::Lost(lost) => lost::lost(&mut draft, lost)?,
        Command::Pause { by } => pause::pause(&mut draft, by)?,
        Command::Resume { by } => resume::resume(&mut draft, by)?,
        Command::Cancel { by, compensate } => cancel::cancel(&mut draft, by, compensate)?,
    }
    Ok(draft.into_decision())
}
