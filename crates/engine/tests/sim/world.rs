//! What outlives a process: the disk, the people and what they were told, the targets and what
//! they heard, and the judge who compares all of it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::model::Disk;
use tokio::sync::Notify;
use tokio::time::Instant;

use crate::called_back::Words;
use crate::dice::Dice;
use crate::judge::Judge;
use crate::ledger::Ledger;
use crate::mark::Marks;
use crate::plan::Plan;
use crate::target::InFlight;
use crate::worker::Jobs;

/// Trace lines shown with a failure.
pub(crate) const LINES_SHOWN: usize = 40;
/// The world begins in January 2026.
pub(crate) const BEGINNING_US: i64 = 1_767_225_600_000_000;

/// A promise that was broken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Violation {
    /// The check that noticed.
    pub(crate) check: &'static str,
    pub(crate) what: String,
}

impl Violation {
    pub(crate) fn new(check: &'static str, what: impl Into<String>) -> Self {
        Self {
            check,
            what: what.into(),
        }
    }
}

impl fmt::Display for Violation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.check, self.what)
    }
}

/// See the module.
pub(crate) struct World {
    pub(crate) plan: Plan,
    pub(crate) disk: Arc<Disk>,
    /// Rings when a promise was broken.
    pub(crate) over: Notify,
    /// Rings when targets have something to say later.
    pub(crate) spoken: Notify,
    /// When it began, where several nodes live in it.
    began: Arc<OnceLock<Instant>>,
    inside: Mutex<Inside>,
}

/// What changes in the world.
pub(crate) struct Inside {
    pub(crate) trace: Trace,
    pub(crate) marks: Marks,
    pub(crate) judge: Judge,
    pub(crate) ledger: Ledger,
    pub(crate) in_flight: InFlight,
    pub(crate) jobs: Jobs,
    pub(crate) words: Words,
    pub(crate) violation: Option<Violation>,
    /// Nothing goes wrong any more.
    pub(crate) healed: bool,
    pub(crate) crashes: u32,
    /// How long all processes have lived together, in milliseconds.
    pub(crate) lived_ms: u64,
    /// Deeds that were begun.
    pub(crate) deeds_begun: usize,
    /// Calls that were made.
    pub(crate) calls_made: u64,
    /// Rows that each life had forgotten and found again.
    pub(crate) found_again: BTreeMap<u32, u64>,
    /// Until then (lived) the store refuses every commit, or fails every read.
    pub(crate) refusing_until: u64,
    pub(crate) unreadable_until: u64,
    pub(crate) store_dice: Dice,
    pub(crate) target_dice: Dice,
    pub(crate) people_dice: Dice,
    pub(crate) process_dice: Dice,
    pub(crate) worker_dice: Dice,
    pub(crate) callback_dice: Dice,
    pub(crate) entropy: Dice,
}

impl World {
    /// A world on this disk if it has one node, and else on one that its nodes share.
    pub(crate) fn new(seed: u64, disk: Arc<Disk>, lines_kept: usize) -> Arc<Self> {
        let plan = Plan::roll(seed);
        let began: Arc<OnceLock<Instant>> = Arc::default();
        let clock = Arc::clone(&began);
        let disk = match plan.nodes.count {
            1 => disk,
            _ => Disk::shared(Arc::new(move || since(&clock))),
        };
        let inside = Inside {
            trace: Trace::new(lines_kept),
            marks: Marks::default(),
            judge: Judge::new(plan.nodes.count == 1 && plan.rates.is_calm()),
            ledger: Ledger::default(),
            in_flight: InFlight::default(),
            jobs: Jobs::default(),
            words: Words::default(),
            violation: None,
            healed: false,
            crashes: 0,
            lived_ms: 0,
            deeds_begun: 0,
            calls_made: 0,
            found_again: BTreeMap::new(),
            refusing_until: 0,
            unreadable_until: 0,
            store_dice: Dice::new(seed, "store"),
            target_dice: Dice::new(seed, "target"),
            people_dice: Dice::new(seed, "people"),
            process_dice: Dice::new(seed, "process"),
            worker_dice: Dice::new(seed, "worker"),
            callback_dice: Dice::new(seed, "words"),
            entropy: Dice::new(seed, "entropy"),
        };
        Arc::new(Self {
            plan,
            disk,
            over: Notify::new(),
            spoken: Notify::new(),
            began,
            inside: Mutex::new(inside),
        })
    }

    /// Whether several nodes share the disk.
    pub(crate) fn is_shared(&self) -> bool {
        self.plan.nodes.count > 1
    }

    /// The moment at which a world of several nodes began. The first to ask begins it.
    pub(crate) fn began(&self) -> Instant {
        *self.began.get_or_init(Instant::now)
    }

    /// What time it is by the clock of the database that the nodes share.
    pub(crate) fn now(&self) -> Timestamp {
        since(&self.began)
    }

    pub(crate) fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Looks at all that is durable.
    pub(crate) fn look_at_everything(&self) {
        let inside = &mut *self.inside();
        let seen = self.disk.look(|image| {
            inside
                .judge
                .look_at_all(image, inside.lived_ms, &mut inside.marks)
        });
        if let Err(violation) = seen {
            inside.violate(violation);
        }
    }
}

fn since(began: &OnceLock<Instant>) -> Timestamp {
    let lived = began.get_or_init(Instant::now).elapsed().as_micros();
    let lived = i64::try_from(lived).unwrap_or(i64::MAX);
    Timestamp::from_micros(BEGINNING_US.saturating_add(lived))
}

impl Inside {
    /// Notes the first broken promise; what follows from it is of no interest.
    pub(crate) fn violate(&mut self, violation: Violation) {
        self.violation.get_or_insert(violation);
    }

    pub(crate) fn may_crash(&self, plan: &Plan) -> bool {
        !self.healed && self.crashes < plan.crashes_max
    }
}

/// What happened, line by line. Two runs of a seed must give the same.
pub(crate) struct Trace {
    lines: VecDeque<String>,
    lines_kept: usize,
    hasher: DefaultHasher,
    names: BTreeMap<ExecutionId, usize>,
}

impl Trace {
    fn new(lines_kept: usize) -> Self {
        Self {
            lines: VecDeque::new(),
            lines_kept,
            // Without keys of its own: the same in every process.
            hasher: DefaultHasher::new(),
            names: BTreeMap::new(),
        }
    }

    pub(crate) fn say(&mut self, line: String) {
        line.hash(&mut self.hasher);
        if self.lines.len() >= self.lines_kept {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// A short name for an execution.
    pub(crate) fn name(&mut self, id: ExecutionId) -> String {
        let next = self.names.len() + 1;
        format!("e{}", self.names.entry(id).or_insert(next))
    }

    pub(crate) fn hash(&self) -> u64 {
        self.hasher.finish()
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.iter().cloned().collect()
    }
}
