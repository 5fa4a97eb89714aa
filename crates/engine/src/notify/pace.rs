//! How many messages a channel gets. The counts are this node's memory: if another one takes over it begins anew,
//! and a service that finds it too much says so and is asked again later.

use std::collections::{HashMap, VecDeque};
use std::time::Duration;

use refire_core::id::ChannelId;
use refire_core::notify::Target;
use refire_core::time::Timestamp;

/// First messages of groups within [`FIRSTS_IN`] that come one by one; more are one digest.
const FIRSTS_MAX: usize = 10;
/// See [`FIRSTS_MAX`].
const FIRSTS_IN: Duration = Duration::from_secs(60);
/// Counted for the rate of an hour.
const HOUR: Duration = Duration::from_secs(3_600);

/// What a service takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Rate {
    /// The shortest time between two messages.
    apart: Duration,
    /// In an hour, at most.
    hourly: usize,
}

fn rate(target: &Target) -> Rate {
    let (apart_ms, hourly) = match target {
        Target::Teams(_) => (1_000, 90),
        Target::Slack(_) => (1_000, 600),
        Target::Email(_) => (1_000, 120),
        Target::Webhook(_) => (100, 3_600),
        Target::PagerDuty(_) => (100, 3_600),
    };
    Rate {
        apart: Duration::from_millis(apart_ms),
        hourly,
    }
}

/// See the module.
#[derive(Default)]
pub(super) struct Pace {
    sent: HashMap<ChannelId, Sent>,
}

#[derive(Default)]
struct Sent {
    all: VecDeque<Timestamp>,
    /// First messages of groups among them.
    firsts: VecDeque<Timestamp>,
}

/// How what is due is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum How {
    /// One message for the next group.
    One,
    /// One message for all of them.
    Together,
    /// Not now.
    Wait,
}

impl Pace {
    /// How so many groups are told of, so many of them for the first time.
    pub(super) fn how(
        &mut self,
        channel: ChannelId,
        target: &Target,
        (due, firsts): (usize, usize),
        now: Timestamp,
    ) -> How {
        let Rate { apart, hourly } = rate(target);
        let sent = self.sent.entry(channel).or_default();
        sent.forget(now);
        let is_near = |last: &Timestamp| now.since(*last) < apart;
        if sent.all.back().is_some_and(is_near) || sent.all.len() >= hourly {
            return How::Wait;
        }
        let left = hourly - sent.all.len();
        let is_crowd = sent.firsts.len() + firsts > FIRSTS_MAX;
        match due > 1 && !target.is_per_group() && (is_crowd || due > left) {
            true => How::Together,
            false => How::One,
        }
    }

    /// A message was sent.
    pub(super) fn note(&mut self, channel: ChannelId, is_first: bool, now: Timestamp) {
        let sent = self.sent.entry(channel).or_default();
        sent.all.push_back(now);
        if is_first {
            sent.firsts.push_back(now);
        }
    }
}

impl Sent {
    fn forget(&mut self, now: Timestamp) {
        while self.all.front().is_some_and(|at| now.since(*at) >= HOUR) {
            self.all.pop_front();
        }
        while self
            .firsts
            .front()
            .is_some_and(|at| now.since(*at) >= FIRSTS_IN)
        {
            self.firsts.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use refire_core::notify::channel::{Envelope, PagerDuty, Severity, Teams};

    use super::*;

    fn at(millis: u64) -> Timestamp {
        Timestamp::from_millis(1_800_000_000_000).plus(Duration::from_millis(millis))
    }

    fn teams() -> Target {
        let host = "x".to_owned();
        Target::Teams(Teams {
            host,
            envelope: Envelope::Message,
        })
    }

    #[test]
    fn a_channel_is_not_flooded() {
        let (mut pace, id) = (Pace::default(), ChannelId::from_bytes([1; 16]));
        let mut messages = 0;
        // Thousands of groups, all the time, for two hours.
        for tick in 0..2 * 3_600 * 2 {
            let now = at(tick * 500);
            match pace.how(id, &teams(), (500, 500), now) {
                How::Wait => {}
                How::One => panic!("a digest"),
                How::Together => {
                    pace.note(id, true, now);
                    messages += 1;
                }
            }
        }
        assert_eq!(messages, 180, "ninety an hour");
    }

    #[test]
    fn few_groups_come_one_by_one_and_pagerduty_always() {
        let (mut pace, id) = (Pace::default(), ChannelId::from_bytes([1; 16]));
        assert_eq!(pace.how(id, &teams(), (10, 10), at(0)), How::One);
        pace.note(id, true, at(0));
        assert_eq!(pace.how(id, &teams(), (9, 9), at(999)), How::Wait);
        assert_eq!(pace.how(id, &teams(), (9, 9), at(1_000)), How::One);
        assert_eq!(pace.how(id, &teams(), (11, 11), at(1_000)), How::Together);
        assert_eq!(pace.how(id, &teams(), (1, 1), at(1_000)), How::One);
        let duty = Target::PagerDuty(PagerDuty {
            url: String::new(),
            severity: Severity::Error,
        });
        assert_eq!(pace.how(id, &duty, (500, 500), at(2_000)), How::One);
    }
}
