//! The bounds that are settings of the node, not of a workflow.

use std::collections::HashMap;
use std::time::Duration;

/// How much may run at once on this node.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Attempts in flight.
    pub attempts: u32,
    /// Attempts in flight per target host.
    pub attempts_per_host: u32,
    /// Retries in flight per workflow: a storm of them must not crowd out first attempts.
    pub retries_per_workflow: u32,
    /// Retries in flight per target host.
    pub retries_per_host: u32,
    /// Bounds of single hosts (`api.example.com` or `10.0.0.7:8080`), where they differ.
    pub hosts: HashMap<String, HostLimit>,
    /// Whether targets that fail are left alone for a while.
    pub breakers: bool,
}

/// The bounds of one target host; what is absent is as for every host.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct HostLimit {
    /// Attempts in flight.
    pub attempts: Option<u32>,
    /// Retries in flight.
    pub retries: Option<u32>,
    /// So many attempts in so much time.
    pub rate: Option<(u32, Duration)>,
    /// Whether it is left alone for a while when it fails.
    pub breaker: Option<bool>,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            attempts: 256,
            attempts_per_host: 128,
            retries_per_workflow: 50,
            retries_per_host: 20,
            hosts: HashMap::new(),
            breakers: true,
        }
    }
}

impl Limits {
    /// Attempts and retries that a host may have in flight.
    pub(super) fn of_host(&self, host: &str) -> (u32, u32) {
        let own = self.hosts.get(host).copied().unwrap_or_default();
        (
            own.attempts.unwrap_or(self.attempts_per_host),
            own.retries.unwrap_or(self.retries_per_host),
        )
    }

    /// Whether a host has a breaker that opens by itself.
    pub(super) fn has_breaker(&self, host: &str) -> bool {
        let own = self.hosts.get(host).and_then(|own| own.breaker);
        self.breakers && own.unwrap_or(true)
    }

    /// The host's rate, if it has one.
    pub(super) fn rate_of_host(&self, host: &str) -> Option<(u32, Duration)> {
        self.hosts.get(host)?.rate
    }
}
