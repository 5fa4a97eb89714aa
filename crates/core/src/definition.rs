//! Workflow definitions: from YAML or JSON text to a checked, compiled [`Workflow`].
//!
//! The way: `source` reads text into nodes that know their line, `parse` reads nodes into types,
//! `check` looks at what only the whole can tell (cycles, unknown steps, parallel mappings). All
//! problems are collected, never only the first. `canonical` and `diff` compare definitions by
//! content. Nothing here runs anything or knows which version is stored.

mod callback;
pub(crate) mod canonical;
mod check;
mod diff;
pub(crate) mod fields;
mod graph;
mod header;
pub(crate) mod keys;
mod name;
mod parse;
mod problem;
mod retry;
mod schema;
pub mod source;
mod status;
mod step;
mod step_type;
pub(crate) mod url;
mod workflow;
mod yaml;

pub use callback::Callback;
pub use canonical::{canonical, content_hash};
pub use diff::{Change, ChangeKind, diff};
pub use name::{NAME_LENGTH_MAX, NameError, StepId, WorkflowId, is_system};
pub use parse::{ParseOptions, STEPS_MAX};
pub use problem::{Problem, Problems};
pub use retry::{FAIL_STATUSES, JitterSetting, RETRY_STATUSES, RetryRules, RetrySettings};
pub use schema::json_schema;
pub use source::Mark;
pub use status::StatusRange;
pub use step_type::*;
pub(crate) use url::host as authority;
pub use workflow::{Concurrency, DeadLetterMode, RateLimit, Step, Workflow};
