//! The state machine of one execution: commands in, events and effects out.
//!
//! `decide` is the only judge of what may happen, `apply` the only way a state changes, and
//! `replay` the proof that a log is what `decide` would write again.

mod apply;
mod attempts;
pub mod chart;
mod codec;
mod command;
pub mod decide;
mod effect;
pub mod event;
mod pauses;
pub mod replay;
mod scope;
pub mod state;

#[cfg(test)]
mod properties;

pub use apply::{apply, apply_to, fold};
pub use attempts::{Attempt, AttemptStatus, Attempts};
pub use codec::{CodecError, EventRow};
pub use command::{
    Began, Begun, Callback, Cancel, Command, Lost, Outcome, Refusal, Report, RetryNow, Said,
};
pub use decide::{
    Carried, Decision, Mapping, RULES, Start, decide, decide_within, has_rules, map_output,
    mapping_bytes, start,
};
pub use effect::{Effect, Offer, TaskEnd, Work};
pub use event::{Event, EventKind, Lineage, Trigger, TriggerKind};
pub use pauses::PauseEnd;
pub use scope::StateScope;
pub use state::{Awaited, Execution, OutputRef, PayloadRef, Status, StepState, StepStatus};
