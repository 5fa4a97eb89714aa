//! What this node knows of its targets: what it saw of their calls, and where their breakers stand. A permit
//! passes here. All of it lies under the lock of the slots, and a target whose breaker is closed costs one
//! count per call.
//!
//! Nothing here is durable, and nothing here decides: the rules are core's, and what is to be written is told
//! to `crate::breaker`.

use std::collections::HashMap;
use std::time::Duration;

use refire_core::breaker::{Breaker, Figures, Phase, Ramp, Standing, Trip, Verdict, Window};
use refire_core::time::Timestamp;

use super::bounds::Limits;
use super::slots::Blocked;

/// Targets that are remembered without need; of more those that were not called lately are forgotten.
const HOSTS_MAX: usize = 10_000;
/// How long a step waits that a person's word, and nothing else, keeps from its target; then it looks again.
const FORCED_WAIT: Duration = Duration::from_secs(300);
/// Who may not try a target asks again after so long: mostly another node does, and is heard of by then.
const ASK_AGAIN_AFTER: Duration = Duration::from_millis(500);
/// How long others wait while one tries the target, at least.
const PROBE_WAIT: Duration = Duration::from_secs(5);

/// What is to be written about a target.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Told {
    /// Too many calls failed.
    Tripped(String),
    /// What came of trying it: why it is not back, if it is not.
    Probed(Option<String>),
    /// It was not tried after all.
    GivenBack,
}

#[derive(Default)]
pub(super) struct Gates {
    hosts: HashMap<String, Gate>,
    /// How many of them are not simply closed.
    standing: usize,
    told: Vec<(String, Told)>,
    /// Nodes that share the targets.
    pub(super) nodes: u32,
}

#[derive(Default)]
struct Gate {
    window: Window,
    live: Option<Box<Live>>,
}

/// A breaker that is not simply closed, or that is about to open.
struct Live {
    breaker: Breaker,
    /// Its calls failed, and that is being written: nothing is called meanwhile.
    is_tripped: bool,
    ramp: Option<Ramp>,
    trying: Trying,
    /// It may not try, and does not ask again before.
    asks_from: Timestamp,
}

/// This node's part in trying a target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Trying {
    No,
    /// It asks whether it may.
    Asks,
    /// It may, with a call that takes so long at most, and no attempt has taken that yet.
    May(Duration),
    /// An attempt does.
    Does(Duration),
}

impl Live {
    fn new(breaker: Breaker) -> Self {
        Self {
            breaker,
            is_tripped: false,
            ramp: None,
            trying: Trying::No,
            asks_from: Timestamp::FIRST,
        }
    }

    /// The ramp, while calls come back.
    fn ramp(&mut self, nodes: u32, full: u32, now: Timestamp) -> &mut Ramp {
        let ramp = self.ramp.get_or_insert_with(|| Ramp::new(nodes, full, now));
        ramp.rise(now);
        ramp
    }
}

impl Gates {
    /// Whether something is to be written.
    pub(super) fn has_told(&self) -> bool {
        !self.told.is_empty()
    }

    /// Whether any target is not simply closed.
    pub(super) fn any_standing(&self) -> bool {
        self.standing > 0
    }

    fn live(&mut self, host: &str) -> Option<&mut Live> {
        if self.standing == 0 {
            return None;
        }
        self.hosts.get_mut(host)?.live.as_deref_mut()
    }

    fn set_live(&mut self, host: &str, live: Option<Live>) {
        let gate = self.hosts.entry(host.to_owned()).or_default();
        self.standing -= usize::from(gate.live.is_some());
        self.standing += usize::from(live.is_some());
        gate.live = live.map(Box::new);
    }

    /// Whether one more call to a target that has so many may be made now; takes nothing.
    pub(super) fn check(
        &mut self,
        limits: &Limits,
        (host, used): (&str, u32),
        now: Timestamp,
    ) -> Result<(), Blocked> {
        let nodes = self.nodes;
        let Some(live) = self.live(host).filter(|_| limits.breakers) else {
            return Ok(());
        };
        if live.is_tripped {
            return Err(Blocked::Breaker(now.plus(PROBE_WAIT)));
        }
        match (live.breaker.standing(now), live.trying) {
            (Standing::Free, _) | (Standing::Parked(Some(_)), Trying::May(_)) => Ok(()),
            (Standing::Closing, _) => {
                let (full, _) = limits.of_host(host);
                let has_room = used < live.ramp(nodes, full, now).limit();
                has_room.then_some(()).ok_or(Blocked::Ramp)
            }
            (Standing::ProbeDue, Trying::No) if now < live.asks_from => {
                Err(Blocked::Breaker(live.asks_from))
            }
            (Standing::ProbeDue, Trying::No) => Err(Blocked::Probe),
            (Standing::ProbeDue, _) => Err(Blocked::Breaker(now.plus(PROBE_WAIT))),
            (Standing::Parked(until), _) => {
                let until = match live.breaker.phase {
                    // The one that tries may be done long before its time is over.
                    Phase::Probing => Some(now.plus(PROBE_WAIT)),
                    _ => until,
                };
                Err(Blocked::Breaker(
                    until.unwrap_or_else(|| now.plus(FORCED_WAIT)),
                ))
            }
        }
    }

    /// A call passes; true if it is the one that tries the target.
    pub(super) fn pass(&mut self, host: &str) -> bool {
        match self.live(host) {
            Some(live) => match live.trying {
                Trying::May(timeout) => {
                    live.trying = Trying::Does(timeout);
                    true
                }
                _ => false,
            },
            None => false,
        }
    }

    /// Whether a call that has passed may still be made.
    pub(super) fn still(
        &mut self,
        (host, tries): (&str, bool),
        now: Timestamp,
    ) -> Result<(), Blocked> {
        let Some(live) = self.live(host) else {
            return Ok(());
        };
        let parked = Blocked::Breaker(now.plus(PROBE_WAIT));
        let until = match live.breaker.standing(now) {
            _ if live.is_tripped => return Err(parked),
            Standing::Free | Standing::Closing => return Ok(()),
            Standing::Parked(until) => until,
            Standing::ProbeDue => return Err(parked),
        };
        // Who tries must be done in its time.
        let is_in_time = |timeout| until.is_some_and(|until| now.plus(timeout) <= until);
        match live.trying {
            Trying::Does(timeout) if tries && is_in_time(timeout) => Ok(()),
            _ if tries => Err(parked),
            _ => Err(Blocked::Breaker(
                until.unwrap_or_else(|| now.plus(FORCED_WAIT)),
            )),
        }
    }

    /// How many calls, and retries among them, may be begun to a target that has so many.
    pub(super) fn room(
        &mut self,
        limits: &Limits,
        (host, used, retrying): (&str, u32, u32),
        now: Timestamp,
    ) -> (u32, u32) {
        let nodes = self.nodes;
        let (attempts, retries) = limits.of_host(host);
        let free = |most: u32| {
            let free = attempts.min(most).saturating_sub(used);
            (free, retries.saturating_sub(retrying).min(free))
        };
        let wide = (
            attempts.saturating_sub(used),
            retries.saturating_sub(retrying),
        );
        let Some(live) = self.live(host).filter(|_| limits.breakers) else {
            return wide;
        };
        match (live.breaker.standing(now), live.trying) {
            _ if live.is_tripped => (0, 0),
            (Standing::Free, _) => wide,
            (Standing::Closing, _) => free(live.ramp(nodes, attempts, now).limit()),
            (Standing::ProbeDue, Trying::No) if now >= live.asks_from => (1, 1),
            (Standing::ProbeDue | Standing::Parked(_), _) => (0, 0),
        }
    }

    /// A call has ended. How long its target is to be left alone at least, if the call failed and most do.
    pub(super) fn note(
        &mut self,
        limits: &Limits,
        (host, tries): (&str, bool),
        (verdict, cause): (Verdict, &str),
        now: Timestamp,
    ) -> Option<Duration> {
        if !limits.breakers {
            return None;
        }
        self.forget_some(now);
        let nodes = self.nodes;
        if !self.hosts.contains_key(host) {
            self.hosts.insert(host.to_owned(), Gate::default());
        }
        let gate = self.hosts.get_mut(host)?;
        gate.window.note(verdict, now);
        let backoff = verdict.backs_off().then(|| gate.window.backoff(now));
        if tries {
            let told = match verdict {
                Verdict::Good | Verdict::Limited => Told::Probed(None),
                Verdict::Bad => Told::Probed(Some(cause.to_owned())),
                Verdict::Nothing => Told::GivenBack,
            };
            self.told.push((host.to_owned(), told));
            return backoff.flatten();
        }
        let trip = match gate.live.as_deref_mut() {
            None if verdict == Verdict::Bad => gate.window.trips(now),
            Some(live) if !live.is_tripped && live.breaker.standing(now) == Standing::Closing => {
                let (full, _) = limits.of_host(host);
                live.ramp(nodes, full, now).note(verdict)
            }
            _ => None,
        };
        let trip = trip.filter(|_| limits.has_breaker(host));
        if let Some(trip) = trip {
            self.trip(host, trip, cause);
        }
        backoff.flatten()
    }

    fn trip(&mut self, host: &str, trip: Trip, cause: &str) {
        if self.live(host).is_none() {
            self.set_live(host, Some(Live::new(Breaker::closed(host))));
        }
        if let Some(live) = self.live(host) {
            live.is_tripped = true;
        }
        let cause = format!("{trip}, the last one by {cause}");
        self.told.push((host.to_owned(), Told::Tripped(cause)));
    }

    /// The one that was to try a target does not.
    pub(super) fn give_back(&mut self, host: &str) {
        self.told.push((host.to_owned(), Told::GivenBack));
    }

    /// What is to be written; whoever takes it tells it again if that fails.
    pub(super) fn take_told(&mut self) -> Vec<(String, Told)> {
        std::mem::take(&mut self.told)
    }

    pub(super) fn tell_again(&mut self, host: String, told: Told) {
        self.told.push((host, told));
    }

    /// The breaker of a target, if it is not simply closed.
    pub(super) fn breaker(&mut self, host: &str) -> Option<Breaker> {
        let live = self.live(host)?;
        (live.breaker.rev > 0).then(|| live.breaker.clone())
    }

    /// All that are not simply closed.
    pub(super) fn all_standing(&self) -> Vec<String> {
        let hosts = self.hosts.iter().filter(|(_, gate)| gate.live.is_some());
        let mut hosts: Vec<String> = hosts.map(|(host, _)| host.clone()).collect();
        hosts.sort_unstable();
        hosts
    }

    /// A breaker stands so by now. Older news change nothing.
    pub(super) fn apply(&mut self, breaker: &Breaker) {
        let host = &breaker.host;
        let Some(live) = self.live(host) else {
            if !breaker.is_plain() {
                self.set_live(host, Some(Live::new(breaker.clone())));
                self.clear(host);
            }
            return;
        };
        if live.breaker.rev > breaker.rev {
            return;
        }
        let was = (live.breaker.phase, live.breaker.rev);
        live.breaker = breaker.clone();
        if was == (breaker.phase, breaker.rev) {
            return;
        }
        live.is_tripped = false;
        if breaker.phase != Phase::Probing {
            live.trying = Trying::No;
        }
        if was.0 != breaker.phase {
            live.ramp = None;
        }
        if breaker.is_plain() {
            self.set_live(host, None);
            self.clear(host);
        }
    }

    /// What was written about tripping came to nothing: the breaker is as it is.
    pub(super) fn untrip(&mut self, host: &str) {
        let Some(live) = self.live(host) else { return };
        live.is_tripped = false;
        if live.breaker.is_plain() {
            self.set_live(host, None);
            self.clear(host);
        }
    }

    /// What was seen of a target counts no more: it opened, or it is back.
    fn clear(&mut self, host: &str) {
        if let Some(gate) = self.hosts.get_mut(host) {
            gate.window = Window::default();
        }
    }

    /// This node asks whether it may try a target; false if it does so already.
    pub(super) fn ask(&mut self, host: &str) -> bool {
        match self.live(host) {
            Some(live) if live.trying == Trying::No => {
                live.trying = Trying::Asks;
                true
            }
            _ => false,
        }
    }

    /// What came of asking.
    pub(super) fn asked(&mut self, host: &str, may: Option<Duration>, now: Timestamp) {
        if let Some(live) = self.live(host)
            && live.trying == Trying::Asks
        {
            if may.is_none() {
                live.asks_from = now.plus(ASK_AGAIN_AFTER);
            }
            live.trying = may.map_or(Trying::No, Trying::May);
        }
    }

    /// Nobody has taken what this node may try; true if that is so.
    pub(super) fn untaken(&mut self, host: &str) -> bool {
        match self.live(host) {
            Some(live) if matches!(live.trying, Trying::May(_)) => {
                live.trying = Trying::No;
                true
            }
            _ => false,
        }
    }

    /// What came of trying a target is known.
    pub(super) fn over(&mut self, host: &str) {
        if let Some(live) = self.live(host) {
            live.trying = Trying::No;
        }
    }

    /// Whether an attempt of this node tries a target, or is about to.
    pub(super) fn tries(&mut self, host: &str) -> bool {
        self.live(host)
            .is_some_and(|live| live.trying != Trying::No)
    }

    /// Lets more calls through where their time has come, and says which targets have all of them again; and
    /// whether anything changed.
    pub(super) fn rise(&mut self, limits: &Limits, now: Timestamp) -> (Vec<String>, bool) {
        let nodes = self.nodes;
        let (mut done, mut has_risen) = (Vec::new(), false);
        for host in self.all_standing() {
            let Some(live) = self.live(&host) else {
                continue;
            };
            if live.is_tripped || live.breaker.standing(now) != Standing::Closing {
                continue;
            }
            let (full, _) = limits.of_host(&host);
            let before = live.ramp.as_ref().map(Ramp::limit);
            let ramp = live.ramp(nodes, full, now);
            has_risen |= before != Some(ramp.limit());
            if ramp.is_done(now) {
                done.push(host);
            }
        }
        (done, has_risen)
    }

    /// Calls of the last half minute, of each target that had some.
    pub(super) fn figures(&self, now: Timestamp) -> HashMap<String, Figures> {
        let seen = self
            .hosts
            .iter()
            .filter(|(_, gate)| !gate.window.is_over(now));
        seen.map(|(host, gate)| (host.clone(), gate.window.figures(now)))
            .collect()
    }

    /// How many calls at once a target may have while they come back.
    pub(super) fn ramp_limit(&mut self, host: &str) -> Option<u32> {
        self.live(host)?.ramp.as_ref().map(Ramp::limit)
    }

    /// Keeps memory within its bound.
    fn forget_some(&mut self, now: Timestamp) {
        if self.hosts.len() <= HOSTS_MAX {
            return;
        }
        self.hosts
            .retain(|_, gate| gate.live.is_some() || !gate.window.is_over(now));
        if self.hosts.len() > HOSTS_MAX {
            // So many at once: what was seen of each is too little to open anything.
            self.hosts.retain(|_, gate| gate.live.is_some());
        }
    }
}

#[cfg(test)]
mod tests;
