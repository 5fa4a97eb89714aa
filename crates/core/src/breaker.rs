//! Circuit breakers: when calls to a target that fails are held back, when one of them tries whether it is
//! back, and how the others follow.
//!
//! Each node has a [`Window`] of what it saw of a target, and while calls come back a [`Ramp`]. Where a breaker
//! stands is one row that all nodes share; it moves by [`Breaker::after`] and nothing else, and whoever writes
//! it compares its revision. Nothing here calls, waits or writes.

mod host;
mod ramp;
#[cfg(test)]
mod tests;
mod verdict;
mod window;

use std::time::Duration;

use refire_retry::Seed;

use crate::id::{ExecutionId, NodeId};
use crate::time::Timestamp;

pub use host::names;
pub use ramp::Ramp;
pub use verdict::Verdict;
pub use window::{BACKOFF_MAX, Figures, Trip, WINDOW, Window};

/// How long a breaker stays open the first time.
const OPEN_FIRST: Duration = Duration::from_secs(15);
/// And at most, however often it has opened.
const OPEN_MAX: Duration = Duration::from_secs(300);
/// How far that is spread to each side, in percent: breakers that opened together do not all try together.
const SPREAD_PERCENT: u64 = 20;
/// How much longer than the call's own time its result may take to be written.
const PROBE_GRACE: Duration = Duration::from_secs(5);
/// Letters that failed so long before a breaker opened belong to the same trouble.
pub const TROUBLE_BEFORE: Duration = Duration::from_secs(300);

/// Where a breaker stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Phase {
    /// Calls are made.
    #[default]
    Closed,
    /// None is made.
    Open,
    /// One is made, to try the target.
    Probing,
    /// The target is back, and so are calls, more and more of them.
    Closing,
}

impl Phase {
    /// All, in the order of their stored numbers.
    pub const ALL: [Self; 4] = [Self::Closed, Self::Open, Self::Probing, Self::Closing];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Closed => "closed",
            Self::Open => "open",
            Self::Probing => "half_open",
            Self::Closing => "closing",
        }
    }
}

/// What a person has said of a breaker; it stays so until they say otherwise.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Forced {
    /// No call, and none that tries.
    Open,
    /// Calls, whatever fails.
    Closed,
}

impl Forced {
    /// Both, in the order of their stored numbers.
    pub const ALL: [Self; 2] = [Self::Open, Self::Closed];

    /// The word used everywhere.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Closed => "closed",
        }
    }
}

/// The call that tries the target.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Probe {
    /// Who makes it.
    pub owner: NodeId,
    /// Who has not said by then what came of it never will.
    pub until: Timestamp,
}

/// The breaker of a target, as all nodes know it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Breaker {
    /// The target: its host, with the port unless that is the scheme's own.
    pub host: String,
    /// Where it stands.
    pub phase: Phase,
    /// When it last left `closed`; kept when it is closed again.
    pub opened_at: Option<Timestamp>,
    /// Open: the target is not tried before. Absent while a person keeps it open.
    pub until: Option<Timestamp>,
    /// How often it has opened since it was last closed.
    pub times: u32,
    /// Who tries the target.
    pub probe: Option<Probe>,
    /// What a person has said.
    pub forced: Option<Forced>,
    /// Why it opened last, in words.
    pub cause: Option<String>,
    /// When it changed last, and who changed it; absent = the calls did.
    pub changed_at: Timestamp,
    /// See [`Breaker::changed_at`].
    pub changed_by: Option<String>,
    /// Counts its changes.
    pub rev: u64,
}

/// What moves a breaker.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Move {
    /// A node has seen too many failures.
    Trip {
        /// In words.
        cause: String,
    },
    /// A node has an attempt that could try the target.
    Claim {
        /// The node.
        node: NodeId,
        /// How long that call may take.
        timeout: Duration,
    },
    /// What came of trying.
    Probed {
        /// Who tried.
        node: NodeId,
        /// Why the target is not back; absent = it is.
        failed: Option<String>,
    },
    /// The call that was to try the target was not made.
    GivenBack {
        /// Whose it was.
        node: NodeId,
    },
    /// All calls are made again, and most of them go well.
    Risen,
    /// A person opens or closes it, for good.
    Force {
        /// Which.
        to: Forced,
        /// Who.
        by: String,
    },
    /// A person takes back what was said, and all that is known of the target.
    Reset {
        /// Who.
        by: String,
    },
    /// A person wants the target tried with the next call.
    ProbeNow {
        /// Who.
        by: String,
    },
}

/// Whether a target may be called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Standing {
    /// Yes.
    Free,
    /// As many calls at once as the node's ramp allows.
    Closing,
    /// No, and nobody tries it before; absent = until a person says so.
    Parked(Option<Timestamp>),
    /// Whoever claims it may try.
    ProbeDue,
}

impl Breaker {
    /// The breaker of a target that nothing is known of.
    #[must_use]
    pub fn closed(host: &str) -> Self {
        Self {
            host: host.to_owned(),
            phase: Phase::Closed,
            opened_at: None,
            until: None,
            times: 0,
            probe: None,
            forced: None,
            cause: None,
            changed_at: Timestamp::default(),
            changed_by: None,
            rev: 0,
        }
    }

    /// Whether there is nothing to know: calls are made, and nobody has said anything.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        self.phase == Phase::Closed && self.forced.is_none()
    }

    /// Whether the target may be called now.
    #[must_use]
    pub fn standing(&self, now: Timestamp) -> Standing {
        match (self.forced, self.phase) {
            (Some(Forced::Closed), _) | (None, Phase::Closed) => Standing::Free,
            (Some(Forced::Open), _) => Standing::Parked(None),
            (None, Phase::Closing) => Standing::Closing,
            (None, Phase::Open | Phase::Probing) => match self.free_from() {
                Some(from) if from > now => Standing::Parked(Some(from)),
                _ => Standing::ProbeDue,
            },
        }
    }

    /// From when on somebody may claim the call that tries the target.
    fn free_from(&self) -> Option<Timestamp> {
        match self.phase {
            Phase::Probing => self.probe.map(|probe| probe.until),
            _ => self.until,
        }
    }

    /// The breaker after a move; none if it changes nothing.
    #[must_use]
    pub fn after(&self, step: &Move, now: Timestamp) -> Option<Self> {
        let mut next = match step {
            Move::Trip { cause } => self.tripped(cause, now),
            Move::Claim { node, timeout } => self.claimed(*node, *timeout, now),
            Move::Probed { node, failed } => self.probed(*node, failed.as_deref(), now),
            Move::GivenBack { node } => {
                let was = self.is_probed_by(*node).then(|| self.clone());
                was.map(|was| Self {
                    phase: Phase::Open,
                    probe: None,
                    ..was
                })
            }
            Move::Risen => {
                let is_rising = self.phase == Phase::Closing && self.forced.is_none();
                is_rising.then(|| self.as_closed())
            }
            Move::Force { to, by } => self.forced_to(*to, by, now),
            Move::Reset { by } => (!self.is_plain()).then(|| Self {
                forced: None,
                changed_by: Some(by.clone()),
                ..self.as_closed()
            }),
            Move::ProbeNow { by } => self.may_be_probed(now).then(|| Self {
                until: Some(now),
                changed_by: Some(by.clone()),
                ..self.clone()
            }),
        }?;
        next.changed_at = now;
        next.rev = self.rev + 1;
        Some(next)
    }

    /// Whether it opened with this change, for whoever is to be told.
    #[must_use]
    pub fn opened_from(&self, before: Phase) -> bool {
        self.phase == Phase::Open && before == Phase::Closed
    }

    /// Whether it closed with this change.
    #[must_use]
    pub fn closed_from(&self, before: Phase) -> bool {
        self.phase == Phase::Closed && before != Phase::Closed
    }

    /// Whether a node has the call that tries the target.
    #[must_use]
    pub fn is_probed_by(&self, node: NodeId) -> bool {
        self.phase == Phase::Probing && self.probe.is_some_and(|probe| probe.owner == node)
    }

    fn may_be_probed(&self, now: Timestamp) -> bool {
        let waits = self.until.is_some_and(|until| until > now);
        self.phase == Phase::Open && self.forced.is_none() && waits
    }

    /// The same, closed by itself: what it was about is over.
    fn as_closed(&self) -> Self {
        Self {
            phase: Phase::Closed,
            until: None,
            times: 0,
            probe: None,
            changed_by: None,
            ..self.clone()
        }
    }

    fn tripped(&self, cause: &str, now: Timestamp) -> Option<Self> {
        let opened_at = match self.phase {
            Phase::Closed => Some(now),
            Phase::Closing => self.opened_at,
            Phase::Open | Phase::Probing => return None,
        };
        if self.forced.is_some() {
            return None;
        }
        Some(Self {
            opened_at,
            ..self.open_again(cause, now)
        })
    }

    /// The same, open for longer than the last time.
    fn open_again(&self, cause: &str, now: Timestamp) -> Self {
        let times = self.times.saturating_add(1);
        Self {
            phase: Phase::Open,
            until: Some(now.plus(open_for(&self.host, times, now))),
            times,
            probe: None,
            cause: Some(cause.to_owned()),
            changed_by: None,
            ..self.clone()
        }
    }

    fn claimed(&self, node: NodeId, timeout: Duration, now: Timestamp) -> Option<Self> {
        if self.standing(now) != Standing::ProbeDue {
            return None;
        }
        #[cfg(feature = "planted")]
        if self.phase == Phase::Probing
            && crate::planted::is(crate::planted::Defect::ProbeNeverReported)
        {
            return None;
        }
        let until = now.plus(timeout.saturating_add(PROBE_GRACE));
        Some(Self {
            phase: Phase::Probing,
            probe: Some(Probe { owner: node, until }),
            changed_by: None,
            ..self.clone()
        })
    }

    fn probed(&self, node: NodeId, failed: Option<&str>, now: Timestamp) -> Option<Self> {
        if !self.is_probed_by(node) || self.forced.is_some() {
            return None;
        }
        Some(match failed {
            Some(cause) => self.open_again(cause, now),
            None => Self {
                phase: Phase::Closing,
                until: None,
                probe: None,
                changed_by: None,
                ..self.clone()
            },
        })
    }

    fn forced_to(&self, to: Forced, by: &str, now: Timestamp) -> Option<Self> {
        if self.forced == Some(to) {
            return None;
        }
        let by = Some(by.to_owned());
        Some(match to {
            Forced::Open => Self {
                phase: Phase::Open,
                opened_at: match self.phase {
                    Phase::Closed => Some(now),
                    _ => self.opened_at,
                },
                until: None,
                probe: None,
                forced: Some(to),
                changed_by: by,
                ..self.clone()
            },
            Forced::Closed => Self {
                forced: Some(to),
                changed_by: by,
                ..self.as_closed()
            },
        })
    }
}

/// How long a breaker stays open that opens for this time, in a row.
fn open_for(host: &str, times: u32, now: Timestamp) -> Duration {
    let doublings = times.saturating_sub(1).min(16);
    let length = OPEN_FIRST.saturating_mul(1 << doublings).min(OPEN_MAX);
    let seed = Seed::new(u64::from(times)).mix(host.as_bytes());
    let draw = seed.mix_u64(now.as_micros().cast_unsigned()).draw();
    let range = 2 * SPREAD_PERCENT + 1;
    let percent = 100 - SPREAD_PERCENT + draw.bits() % range;
    length * u32::try_from(percent).unwrap_or(100) / 100
}

/// How much later than its breaker allows a step that was put off comes back: they do not come all at once.
#[must_use]
pub fn put_off_by(execution: ExecutionId, wait: Duration) -> Duration {
    let most = u64::try_from((wait / 4).as_millis()).unwrap_or(0);
    let draw = Seed::new(0).mix(execution.as_bytes()).draw();
    Duration::from_millis(draw.bits() % most.max(1))
}
