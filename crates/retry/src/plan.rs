//! A wait and a stop condition together: all that a driver needs to know about when.
//!
//! A [`Policy`] turns into a plan by itself; the parts are for what a policy cannot say.

use crate::policy::Policy;
use crate::stop::Stop;
use crate::wait::Wait;

/// How long to wait, and when to stop.
///
/// Whatever takes a plan also takes a [`Policy`] or a reference to either. Plans are cheap to clone:
/// make one, share it.
#[derive(Clone, Debug)]
pub struct Plan {
    /// How long to wait before each retry.
    pub wait: Wait,
    /// When to stop.
    pub stop: Stop,
}

impl Plan {
    /// A plan from its two parts. [`Wait::stop`] reads better in most places.
    pub fn new(wait: impl Into<Wait>, stop: Stop) -> Self {
        Self {
            wait: wait.into(),
            stop,
        }
    }
}

impl From<Policy> for Plan {
    fn from(policy: Policy) -> Self {
        let stop = Stop::from(&policy);
        Self {
            wait: Wait::from(policy),
            stop,
        }
    }
}

impl From<&Policy> for Plan {
    fn from(policy: &Policy) -> Self {
        policy.clone().into()
    }
}

impl From<&Self> for Plan {
    fn from(plan: &Self) -> Self {
        plan.clone()
    }
}
