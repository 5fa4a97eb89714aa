//! Tables of the state machine: every command in every status, and the races between them.
//!
//! The tests drive a [`fixture::Run`], which checks after every command that the log folds to the
//! state, that it replays identically and that every live step has its work.

mod ask;
mod callback;
mod cancel;
mod compensation;
mod dag;
mod dead_letter;
pub(in crate::execution) mod fixture;
mod limits;
mod lost;
mod mapping;
mod pause;
mod report;
mod resume;
mod retries;
mod retry_now;
mod start;
mod status;
mod task;
pub(in crate::execution) mod text;
pub(in crate::execution) mod work;
