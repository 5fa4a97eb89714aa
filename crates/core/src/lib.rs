//! The pure heart of Refire: what a workflow is, how an execution moves, how a log is replayed.
//!
//! Nothing here does I/O, reads a clock or rolls dice: time, seeds and payloads are arguments.
//! The shell (`refire-engine`) carries out what [`execution::decide`] returns.

pub mod alert;
pub mod breaker;
pub mod bulk;
pub mod callback;
pub mod dead_letter;
pub mod definition;
pub mod duration;
pub mod execution;
pub mod failure;
pub mod id;
pub mod json;
pub mod jsonpath;
pub mod limit;
pub mod minute;
pub mod notify;
#[cfg(feature = "planted")]
pub mod planted;
pub mod scheduled;
pub mod session;
pub mod task;
pub mod template;
pub mod time;
pub mod trace;
pub mod trigger;
pub mod trouble;
pub mod webhook;
