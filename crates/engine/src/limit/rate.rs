//! A rate limit as one number: the time at which the next start is due if all come evenly.

use std::collections::HashMap;
use std::hash::Hash;
use std::time::Duration;

use refire_core::time::Timestamp;

/// Rates kept before idle ones are forgotten.
const RATES_MAX: usize = 100_000;
/// Turns kept before those that are over are forgotten.
const TURNS_MAX: usize = 100_000;

/// Rates by what they limit, and the turns of those that were put off.
#[derive(Debug)]
pub(super) struct Rates<K, W> {
    rates: HashMap<K, Rate>,
    turns: HashMap<W, Timestamp>,
    /// Sizes at which what is idle is forgotten; they grow with what is not, so that tidying is
    /// rare whatever the load.
    tidy_rates_at: usize,
    tidy_turns_at: usize,
}

impl<K, W> Default for Rates<K, W> {
    fn default() -> Self {
        Self {
            rates: HashMap::new(),
            turns: HashMap::new(),
            tidy_rates_at: RATES_MAX,
            tidy_turns_at: TURNS_MAX,
        }
    }
}

impl<K: Hash + Eq, W: Hash + Eq> Rates<K, W> {
    /// Takes one of `max` per `per`, or gives out a turn: each that is put off has its own, so
    /// that they do not all come back at the same moment for the one that is free.
    pub(super) fn take(
        &mut self,
        key: K,
        who: W,
        limit: (u32, Duration),
        now: Timestamp,
    ) -> Result<(), Timestamp> {
        if let Some(turn) = self.turns.get(&who).copied() {
            if turn > now {
                return Err(turn);
            }
            self.turns.remove(&who);
            return Ok(());
        }
        let turn = self.book(key, limit, now);
        if turn <= now {
            return Ok(());
        }
        self.give_turn(who, turn, now);
        Err(turn)
    }

    /// The turn of one that does not come back for it: now, or later. Asked again, it is the same.
    pub(super) fn turn(
        &mut self,
        key: K,
        who: W,
        limit: (u32, Duration),
        now: Timestamp,
    ) -> Timestamp {
        if let Some(turn) = self.turns.get(&who) {
            return *turn;
        }
        let turn = self.book(key, limit, now);
        self.give_turn(who, turn, now);
        turn
    }

    fn book(&mut self, key: K, (max, per): (u32, Duration), now: Timestamp) -> Timestamp {
        if self.rates.len() >= self.tidy_rates_at {
            self.rates.retain(|_, rate| !rate.is_idle(now));
            self.tidy_rates_at = RATES_MAX.max(2 * self.rates.len());
        }
        self.rates.entry(key).or_default().book(max, per, now)
    }

    fn give_turn(&mut self, who: W, turn: Timestamp, now: Timestamp) {
        if self.turns.len() >= self.tidy_turns_at {
            // Those whose time is long over were cancelled, or run elsewhere.
            self.turns.retain(|_, turn| *turn > now);
            self.tidy_turns_at = TURNS_MAX.max(2 * self.turns.len());
        }
        self.turns.insert(who, turn);
    }

    /// Releases one that was taken but not used.
    pub(super) fn release(&mut self, key: &K, (max, per): (u32, Duration)) {
        if let Some(rate) = self.rates.get_mut(key) {
            rate.unbook(max, per);
        }
    }

    /// Forgets the turn of one that does not come.
    pub(super) fn forget(&mut self, who: &W) {
        self.turns.remove(who);
    }
}

/// The generic cell rate algorithm: a whole window's worth may come at once, then they are spaced.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Rate {
    /// The theoretical arrival time of the next start.
    next: Timestamp,
}

impl Rate {
    /// Books the next of `max` per `per` and says when it is: now, or later.
    pub(super) fn book(&mut self, max: u32, per: Duration, now: Timestamp) -> Timestamp {
        let spacing = per / max.max(1);
        let next = self.next.max(now);
        self.next = next.plus(spacing);
        self.next.minus(per).max(now)
    }

    /// Takes one of `max` per `per`, or says after how long there is one.
    pub(crate) fn take(&mut self, max: u32, per: Duration, now: Timestamp) -> Result<(), Duration> {
        let turn = self.book(max, per, now);
        if turn > now {
            self.unbook(max, per);
            return Err(turn.since(now));
        }
        Ok(())
    }

    /// Takes one booking back.
    fn unbook(&mut self, max: u32, per: Duration) {
        self.next = self.next.minus(per / max.max(1));
    }

    /// Whether forgetting it would change nothing.
    pub(super) fn is_idle(&self, now: Timestamp) -> bool {
        self.next <= now
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_was_put_off_passes_at_its_turn_and_only_then() {
        let mut rates: Rates<&str, u32> = Rates::default();
        let limit = (1, Duration::from_secs(1));
        let start = Timestamp::from_millis(1_000_000);
        assert_eq!(rates.take("a", 1, limit, start), Ok(()));
        let turn = rates.take("a", 2, limit, start).unwrap_err();
        let later = rates.take("a", 3, limit, start).unwrap_err();
        assert!(later > turn && turn > start);
        assert_eq!(
            rates.take("a", 2, limit, start),
            Err(turn),
            "asking again changes nothing"
        );
        assert_eq!(rates.take("a", 2, limit, turn), Ok(()));
        assert_eq!(rates.take("a", 3, limit, turn), Err(later));
        assert_eq!(
            rates.take("b", 4, limit, start),
            Ok(()),
            "another key has its own rate"
        );
    }

    #[test]
    fn who_does_not_come_back_has_one_turn_for_all_it_does() {
        let mut rates: Rates<&str, u32> = Rates::default();
        let limit = (1, Duration::from_secs(1));
        let start = Timestamp::from_millis(1_000_000);
        assert_eq!(rates.turn("a", 1, limit, start), start);
        assert_eq!(rates.turn("a", 1, limit, start), start, "its other step");
        assert_eq!(rates.take("a", 1, limit, start), Ok(()), "and one of ours");
        let turn = start.plus(Duration::from_secs(1));
        assert_eq!(rates.turn("a", 2, limit, start), turn);
        assert_eq!(rates.take("a", 2, limit, start), Err(turn));
    }

    #[test]
    fn a_window_may_come_at_once_and_then_they_are_spaced() {
        let mut rate = Rate::default();
        let second = Duration::from_secs(1);
        let start = Timestamp::from_millis(1_000_000);
        for _ in 0..10 {
            assert_eq!(rate.book(10, second, start), start);
        }
        let waits: Vec<u128> = (0..3)
            .map(|_| rate.book(10, second, start).since(start).as_millis())
            .collect();
        assert_eq!(waits, [100, 200, 300], "each has a turn of its own");
        assert!(!rate.is_idle(start));
        assert!(rate.is_idle(start.plus(2 * second)));
    }
}
