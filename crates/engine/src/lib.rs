//! Runs workflows durably: everything that has a clock or a socket, except our own HTTP API.
//!
//! # Map
//! - [`engine`]: the engine as a whole: start, submit, ask, stop.
//! - `intake`: a request becomes an execution.
//! - `commit`: the only writer of executions; every change of state happens there.
//! - `dispatch`: due work becomes attempts, attempts become results.
//! - `step`: how steps of each type are prepared and called.
//! - `timer`: waits until exactly the next due time.
//! - [`target`]: the outgoing HTTP call and the addresses it may reach.
//! - [`limit`]: how much may run at once.
//! - `membership`: this node's lease among those that share the store. `news`: what others tell.
//! - `letter`: retrying dead letters. `maintenance`: retention.
//! - `vital`: tasks whose panic must stop the engine.
//! - [`turns`]: connections that share their thread fairly.
//! - [`vault`]: secrets at rest.
//! - [`clock`], [`entropy`], [`secret`], [`caller`]: the doors to the world, all replaceable.

mod aside;
pub mod caller;
pub mod catalog;
pub mod clock;
mod commit;
mod dispatch;
pub mod engine;
pub mod entropy;
mod intake;
mod letter;
pub mod limit;
mod maintenance;
mod membership;
mod news;
pub mod secret;
mod step;
pub mod target;
mod timer;
pub mod trigger;
pub mod turns;
pub mod vault;
mod vital;
mod waiter;

pub use commit::{CommandError, CommitFailure};
pub use engine::{
    Accepted, Applied, ApplyError, Builder, Deleted, Engine, ReplayError, StartError,
};
pub use intake::{IDEMPOTENCY_WINDOW, IntakeError, Submission};
pub use letter::{LetterRetryError, LetterRetryRequest};
pub use maintenance::Retention;
pub use membership::{LEASE, NodeSettings};
pub use refire_core::dead_letter::RetryFrom;
pub use step::local::{LocalTasks, TaskContext, TaskError};
