//! The capabilities of an engine: each is a handle with its loops, in a file or folder of its own,
//! and one line here.

use std::sync::Arc;

use crate::alert::Alerts;
use crate::breaker::Targets;
use crate::bulk::BulkJobs;
use crate::callback::Callbacks;
use crate::clock::clock_loop;
use crate::context::Context;
use crate::definitions::Definitions;
use crate::engine::Engine;
use crate::executions::Executions;
use crate::letter::Letters;
use crate::maintenance::prune_loop;
use crate::notify::Notifications;
use crate::scheduled::ScheduledTasks;
use crate::session::Sessions;
use crate::tally::Stats;
use crate::task::Tasks;
use crate::trigger::{Triggers, Webhooks};
use crate::vital::Vital;

macro_rules! services {
    ($($(#[$doc:meta])* $name:ident: $service:ident,)+) => {
        /// The handles of a running engine.
        pub(crate) struct Services {
            $($name: Arc<$service>,)+
        }

        impl Services {
            /// Makes the handles and begins their loops.
            pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Self {
                Self {
                    $($name: $service::open(context, vital),)+
                }
            }
        }

        impl Engine {
            $(
                $(#[$doc])*
                #[must_use]
                pub fn $name(&self) -> &$service {
                    &self.services.$name
                }
            )+
        }
    };
}

services! {
    /// Definitions of workflows.
    definitions: Definitions,
    /// Executions.
    executions: Executions,
    /// Dead letters.
    letters: Letters,
    /// Bulk jobs.
    bulk: BulkJobs,
    /// Tasks for workers.
    tasks: Tasks,
    /// Callbacks of targets.
    callbacks: Callbacks,
    /// Triggers of all kinds.
    triggers: Triggers,
    /// Scheduled tasks.
    scheduled: ScheduledTasks,
    /// Sessions of the console.
    sessions: Sessions,
    /// Targets, and the breakers before them.
    targets: Targets,
    /// What happened to workflows, in numbers.
    stats: Stats,
    /// Alerts, their rules, and silences.
    alerts: Alerts,
    /// Channels, and messages to people.
    notifications: Notifications,
    /// Requests to webhooks.
    webhooks: Webhooks,
}

/// Begins the loops that nobody asks anything.
pub(crate) fn run_in_background(context: &Arc<Context>, vital: &Vital) {
    vital.spawn_until(&context.stopping, prune_loop(Arc::clone(context)));
    vital.spawn_until(&context.stopping, clock_loop(Arc::clone(context)));
}
