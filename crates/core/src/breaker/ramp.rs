//! How a node's calls to a target come back: a few at once, and twice as many each five seconds as long as they
//! go well.

use std::time::Duration;

use super::{Trip, Verdict};
use crate::time::Timestamp;

/// Calls at once that all nodes together begin with.
const FIRST_CALLS: u32 = 2;
/// How long so many must go well before there are twice as many.
const STRETCH: Duration = Duration::from_secs(5);
/// A node that makes no call at all does not say sooner that all is well.
const IDLE_AFTER: Duration = Duration::from_secs(60);
/// Of so many newest calls …
const NEWEST: u32 = 10;
/// … so many that failed open the breaker again.
const FAILED_MAX: u32 = 5;

/// See the module.
#[derive(Debug, Clone)]
pub struct Ramp {
    began_at: Timestamp,
    limit: u32,
    /// What the node may do without one.
    full: u32,
    /// When this many began.
    since: Timestamp,
    calls: u32,
    failed: u32,
    /// All calls so far.
    made: u64,
    /// The newest calls, the last one in the lowest bit, set if it failed.
    newest: u16,
}

impl Ramp {
    /// The ramp of one of so many nodes, whose own limit is `full`.
    #[must_use]
    pub fn new(nodes: u32, full: u32, now: Timestamp) -> Self {
        Self {
            began_at: now,
            limit: (FIRST_CALLS / nodes.max(1)).max(1).min(full.max(1)),
            full,
            since: now,
            calls: 0,
            failed: 0,
            made: 0,
            newest: 0,
        }
    }

    /// Calls that the node may make at once.
    #[must_use]
    pub fn limit(&self) -> u32 {
        #[cfg(feature = "planted")]
        if crate::planted::is(crate::planted::Defect::RampIgnored) {
            return self.full;
        }
        self.limit
    }

    /// Notes a call that has ended; why the breaker is to open again, if it is.
    pub fn note(&mut self, verdict: Verdict) -> Option<Trip> {
        let has_failed = match verdict {
            Verdict::Good | Verdict::Limited => false,
            Verdict::Bad => true,
            Verdict::Nothing => return None,
        };
        self.made += 1;
        self.calls = self.calls.saturating_add(1);
        self.failed = self.failed.saturating_add(u32::from(has_failed));
        self.newest = ((self.newest << 1) | u16::from(has_failed)) & ((1 << NEWEST) - 1);
        let failed = self.newest.count_ones();
        let calls = u32::try_from(self.made).unwrap_or(NEWEST).min(NEWEST);
        (failed >= FAILED_MAX).then_some(Trip::Share(failed, calls))
    }

    /// Lets more calls through when their time has come. True if it did.
    pub fn rise(&mut self, now: Timestamp) -> bool {
        if now.since(self.since) < STRETCH || self.limit >= self.full {
            return false;
        }
        // Fewer than one in ten.
        let goes_well = self.failed.saturating_mul(10) < self.calls.max(1);
        if goes_well {
            self.limit = self.limit.saturating_mul(2).min(self.full);
        }
        (self.calls, self.failed, self.since) = (0, 0, now);
        goes_well
    }

    /// When more may be let through.
    #[must_use]
    pub fn next(&self) -> Timestamp {
        self.since.plus(STRETCH)
    }

    /// Whether it holds nothing back any more, and all goes well.
    #[must_use]
    pub fn is_done(&self, now: Timestamp) -> bool {
        let is_tried = self.made > 0 || now.since(self.began_at) >= IDLE_AFTER;
        let goes_well = self.failed.saturating_mul(10) < self.calls.max(1);
        self.limit >= self.full && is_tried && goes_well && now >= self.next()
    }
}
