//! Runs workflows durably: everything that has a clock or a socket, except our own HTTP API.
//!
//! # Map
//! - [`engine`]: the engine as a whole: start and stop. `services`: the list of what it can do.
//! - `context`: what all parts share.
//! - [`breaker`], [`callback`], `definitions`, `executions`, `letter`, [`scheduled`], [`session`], [`task`], [`trigger`]: the services, each with its loops.
//! - `intake`: a request becomes an execution.
//! - `commit`: the only writer of executions; every change of state happens there.
//! - `dispatch`: due work becomes attempts, attempts become results.
//! - `step`: how steps of each type are prepared and called.
//! - `timer`: waits until exactly the next due time.
//! - [`target`]: the outgoing HTTP call and the addresses it may reach.
//! - [`limit`]: how much may run at once.
//! - `membership`: this node's lease among those that share the store. `news`: what others tell.
//! - `maintenance`: retention. `turn`: which node does what one is enough for.
//! - `vital`: tasks whose panic must stop the engine.
//! - `lock`: a lock that outlives a panic.
//! - [`turns`]: connections that share their thread fairly.
//! - [`vault`]: secrets at rest.
//! - [`clock`], [`entropy`], [`secret`], [`caller`]: the doors to the world, all replaceable.

pub mod alert;
mod aside;
pub mod breaker;
pub mod bulk;
pub mod callback;
pub mod caller;
pub mod catalog;
pub mod clock;
mod commit;
mod context;
mod definitions;
mod dispatch;
pub mod engine;
pub mod entropy;
mod executions;
mod intake;
mod letter;
pub mod limit;
mod lock;
mod maintenance;
mod membership;
mod news;
mod next_look;
pub mod notify;
pub mod scheduled;
mod search;
pub mod secret;
mod services;
pub mod session;
mod step;
mod tally;
pub mod target;
pub mod task;
mod timer;
pub mod trigger;
mod turn;
pub mod turns;
pub mod vault;
mod vital;
mod waiter;

pub use commit::{CommandError, CommitFailure, in_words};
pub use definitions::{Applied, ApplyError, Definitions, Deleted, WorkflowOrder};
pub use engine::{Builder, Engine, StartError, Watched};
pub use executions::{Accepted, Executions, ReplayError, RunAgainError};
pub use intake::{IDEMPOTENCY_WINDOW, IntakeError, Submission, key_hash};
pub use letter::{LetterRetryError, LetterRetryRequest, Letters};
pub use maintenance::Retention;
pub use membership::{LEASE, NodeSettings};
pub use refire_core::dead_letter::RetryFrom;
pub use step::local::{LocalTasks, TaskContext, TaskError};
pub use tally::Stats;
