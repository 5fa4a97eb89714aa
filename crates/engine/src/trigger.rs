//! Triggers at work: the loop that fires what is due, and the ways to make, change and ask them.
//!
//! What is to happen is decided by `refire_core::trigger`; what happened is in the store. Nothing
//! here is remembered between two looks but how long what does not work has rested and what was said of
//! it, so that any node may take the next one.

mod backoff;
mod compiled;
mod cron;
mod logged_headers;
mod look;
mod manage;
mod pause;
mod recheck;
mod report;
mod request_log;
mod request_row;
mod reseal;
mod rotate;
pub(crate) mod rows;
mod run;
mod same_request;
mod secrets;
mod tester;
mod unlogged;
mod webhook;

pub use logged_headers::LoggedHeaders;
pub use look::Coming;
pub use manage::{NewTrigger, TriggerError, TriggerView};
pub use pause::Pause;
pub use recheck::{Equals, Verdict};
pub use report::misfire_word;
pub use request_row::{BODY_HEAD_BYTES, BODY_KEPT_BYTES_MAX};
pub use rotate::{Rotation, SECRET_KEPT_FOR, SECRET_KEPT_MAX};
pub use run::Backfill;
pub use tester::{CONTENT_TYPE_DEFAULT, Sample, SignedSample, Tested};
pub use webhook::{Incoming, Received, Unread, Webhooks};

use std::sync::Arc;

use refire_store::News;
use tokio::sync::Notify;

use crate::context::{Context, Listener};
use crate::vital::Vital;

/// Triggers: made, changed, asked, run.
pub struct Triggers {
    context: Arc<Context>,
    /// Rings when a trigger may be due earlier than was known.
    bell: Notify,
}

impl Triggers {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let triggers = Arc::new(Self {
            context: Arc::clone(context),
            bell: Notify::new(),
        });
        context.listen(&triggers);
        vital.spawn(cron::cron_loop(Arc::clone(&triggers)));
        triggers
    }
}

impl Listener for Triggers {
    fn hear(&self, news: &News) {
        match news {
            News::Trigger(_) | News::Due | News::Missed => self.bell.notify_one(),
            News::Work
            | News::Withdrawn(_)
            | News::Task(_)
            | News::Breaker(_)
            | News::Definition(_)
            | News::Channel
            | News::Notice => {}
        }
    }
}
