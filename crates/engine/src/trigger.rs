//! Triggers at work: the loop that fires what is due, and the ways to make, change and ask them.
//!
//! What is to happen is decided by `refire_core::trigger`; what happened is in the store. Nothing
//! here is remembered between two looks but how long what does not work has rested and what was said of
//! it, so that any node may take the next one.

mod ask;
mod cron;
mod equal;
mod logged_headers;
mod manage;
mod recheck;
mod report;
mod request_log;
mod request_row;
mod reseal;
mod rest;
mod rotate;
mod rows;
mod run;
mod secrets;
mod tester;
mod turn;
mod unlogged;
mod webhook;

pub use ask::Pause;
pub(crate) use cron::{Cron, cron_loop};
pub use logged_headers::LoggedHeaders;
pub use manage::{NewTrigger, TriggerError, TriggerView};
pub use recheck::Equals;
pub(crate) use request_log::{RequestLog, log_loop, request_log};
pub use request_row::{BODY_HEAD_BYTES, BODY_KEPT_BYTES_MAX};
pub use reseal::Resealed;
pub use rotate::{Rotation, SECRET_KEPT_FOR, SECRET_KEPT_MAX};
pub use run::Backfill;
pub use tester::{CONTENT_TYPE_DEFAULT, Sample, SignedSample, Tested};
pub(crate) use webhook::Webhooks;
pub use webhook::{Incoming, Received, Unread};
