//! A wait and a stop condition together: all that a driver needs to know about when.
//!
//! A [`Policy`] turns into a plan by itself; the parts are for what a policy cannot say.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use crate::error::GaveUp;
use crate::policy::Policy;
use crate::stop::Stop;
use crate::wait::{Failed, Wait};

/// How long to wait, and when to stop.
///
/// Whatever takes a plan also takes a [`Policy`] or a reference to either. Plans are cheap to clone:
/// make one, share it.
#[derive(Clone)]
pub struct Plan(Kind);

/// A policy stands here itself, and everything else behind one pointer, so that a run by a policy is
/// cheap to make and to drop.
#[derive(Clone)]
enum Kind {
    Policy(Policy),
    Parts(Arc<Parts>),
}

struct Parts {
    wait: Wait,
    stop: Stop,
    reads_time: bool,
}

impl Plan {
    /// A plan from its two parts. [`Wait::stop`] reads better in most places.
    pub fn new(wait: impl Into<Wait>, stop: Stop) -> Self {
        let wait = wait.into();
        let reads_time = stop.reads_time() || wait.reads_time();
        Self(Kind::Parts(Arc::new(Parts {
            wait,
            stop,
            reads_time,
        })))
    }

    /// How long to wait after `failed`.
    pub(crate) fn wait(&self, failed: &Failed) -> Duration {
        match &self.0 {
            Kind::Policy(policy) => {
                policy.delay(failed.attempt, failed.previous, failed.seed.draw())
            }
            Kind::Parts(parts) => parts.wait.after(failed),
        }
    }

    /// Why to stop now, if so, given that the next attempt would come after `delay`.
    pub(crate) fn stop(&self, failed: &Failed, delay: Duration) -> Option<GaveUp> {
        match &self.0 {
            Kind::Policy(policy) => Stop::from(policy).reason(failed, delay),
            Kind::Parts(parts) => parts.stop.reason(failed, delay),
        }
    }

    /// Whether the plan may look at the time that has passed since the first attempt began.
    #[inline]
    pub(crate) fn reads_time(&self) -> bool {
        match &self.0 {
            Kind::Policy(policy) => policy.max_elapsed.is_some(),
            Kind::Parts(parts) => parts.reads_time,
        }
    }
}

impl From<Policy> for Plan {
    #[inline]
    fn from(policy: Policy) -> Self {
        Self(Kind::Policy(policy))
    }
}

impl From<&Policy> for Plan {
    #[inline]
    fn from(policy: &Policy) -> Self {
        policy.clone().into()
    }
}

impl From<&Self> for Plan {
    #[inline]
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}

impl fmt::Debug for Plan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Kind::Policy(policy) => policy.fmt(f),
            Kind::Parts(parts) => f
                .debug_struct("Plan")
                .field("wait", &parts.wait)
                .field("stop", &parts.stop)
                .finish(),
        }
    }
}
