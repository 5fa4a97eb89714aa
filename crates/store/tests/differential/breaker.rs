//! What happens to circuit breakers.

use std::time::Duration;

use refire_core::breaker::{Breaker, Forced, Phase, Probe};
use refire_core::id::NodeId;
use refire_store::{ChangeBreaker, Part};

use crate::history::History;

pub(crate) const HOSTS: [&str; 4] = [
    "api.example.com",
    "api.example.com:8080",
    "[::1]:80",
    "ü.example",
];

impl History {
    pub(crate) fn any_host(&mut self) -> &'static str {
        self.dice.pick(&HOSTS)
    }

    /// A change that follows what is there, or not.
    pub(crate) fn breaker_part(&mut self) -> Part {
        let phase = *self.dice.pick_from(Phase::ALL.iter()).unwrap();
        let (opened_at, until, changed_at) =
            (self.about_now(60), self.about_now(60), self.about_now(60));
        let owner = NodeId::from_bytes([u8::try_from(self.dice.below(3)).unwrap(); 16]);
        let forced = *self.dice.pick_from(Forced::ALL.iter()).unwrap();
        let host = self.any_host();
        let breaker = Breaker {
            phase,
            opened_at: self.dice.maybe(opened_at),
            until: self.dice.maybe(until),
            times: u32::try_from(self.dice.below(4)).unwrap(),
            probe: self.dice.maybe(Probe {
                owner,
                until: until.plus(Duration::from_secs(1)),
            }),
            forced: self.dice.maybe(forced),
            cause: self.dice.maybe("5 calls in a row failed".to_owned()),
            changed_at,
            changed_by: self.dice.maybe("ü\"\u{0}".to_owned()),
            rev: 1 + self.dice.below(4),
            ..Breaker::closed(host)
        };
        let notices = Vec::new();
        Part::ChangeBreaker(Box::new(ChangeBreaker { breaker, notices }))
    }
}
