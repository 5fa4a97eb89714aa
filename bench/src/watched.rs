//! A store that counts what is committed through it and notes when, and is otherwise the one below.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use refire_core::execution::Status;
use refire_store::{Admit, Batch, CommitError, Layer, Part, PartOutcome, Store};

use crate::sample::{Waits, locked};

/// See the module.
pub(crate) struct Watched {
    below: Arc<dyn Store>,
    transactions: AtomicU64,
    moves: AtomicU64,
    locked: AtomicU64,
    ended: AtomicU64,
    admitted_at: Mutex<Option<Instant>>,
    claims: Mutex<Waits>,
    fires: Mutex<Fires>,
}

/// Triggers that were fired.
#[derive(Debug, Default)]
struct Fires {
    all: u64,
    /// When the crowd that is being fired began, and the last commit of it.
    crowd: Option<(Instant, Instant)>,
}

/// Fires that lie further apart belong to different crowds.
const CROWD_APART: Duration = Duration::from_secs(5);

/// What was counted so far.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Counts {
    /// Transactions, each with one fsync.
    pub(crate) transactions: u64,
    /// Commits of executions: how often an execution was written, whoever shared the transaction.
    pub(crate) moves: u64,
    /// Tasks that were fetched from the store.
    pub(crate) locked: u64,
    /// Executions that came to their end.
    pub(crate) ended: u64,
}

impl std::ops::Add for Counts {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self {
            transactions: self.transactions + other.transactions,
            moves: self.moves + other.moves,
            locked: self.locked + other.locked,
            ended: self.ended + other.ended,
        }
    }
}

impl Watched {
    pub(crate) fn new(below: Arc<dyn Store>) -> Self {
        Self {
            below,
            transactions: AtomicU64::new(0),
            moves: AtomicU64::new(0),
            locked: AtomicU64::new(0),
            ended: AtomicU64::new(0),
            admitted_at: Mutex::new(None),
            claims: Mutex::default(),
            fires: Mutex::default(),
        }
    }

    pub(crate) fn counts(&self) -> Counts {
        Counts {
            transactions: self.transactions.load(Ordering::Relaxed),
            moves: self.moves.load(Ordering::Relaxed),
            locked: self.locked.load(Ordering::Relaxed),
            ended: self.ended.load(Ordering::Relaxed),
        }
    }

    /// When an admission was last made durable.
    pub(crate) fn admitted_at(&self) -> Option<Instant> {
        *locked(&self.admitted_at)
    }

    /// How long commits took that claimed work, since the last call.
    pub(crate) fn take_claims(&self) -> Waits {
        std::mem::take(&mut *locked(&self.claims))
    }

    /// Triggers that were fired, and how long the last crowd of them took.
    pub(crate) fn fires(&self) -> (u64, Option<Duration>) {
        let fires = locked(&self.fires);
        (fires.all, fires.crowd.map(|(from, to)| to - from))
    }

    fn note_fires(&self, batch: &Batch, began: Instant) {
        let fired = batch
            .parts
            .iter()
            .filter(|part| matches!(part, Part::Fire(_)));
        let fired = fired.count() as u64;
        if fired == 0 {
            return;
        }
        let mut fires = locked(&self.fires);
        fires.all += fired;
        let from = match fires.crowd {
            Some((from, to)) if began.saturating_duration_since(to) < CROWD_APART => from,
            _ => began,
        };
        fires.crowd = Some((from, Instant::now()));
    }

    fn note_admission(&self, admit: &Admit) -> Status {
        *locked(&self.admitted_at) = Some(Instant::now());
        admit.row.update.status
    }

    fn note(&self, batch: &Batch, outcomes: &[PartOutcome], took: Duration) {
        let claimed = |outcome: &PartOutcome| matches!(outcome, PartOutcome::Claimed(rows) if !rows.is_empty());
        if outcomes.iter().any(claimed) {
            locked(&self.claims).add(took);
        }
        self.transactions.fetch_add(1, Ordering::Relaxed);
        for outcome in outcomes {
            if let PartOutcome::Locked(rows) = outcome {
                self.locked.fetch_add(rows.len() as u64, Ordering::Relaxed);
            }
        }
        for part in &batch.parts {
            let status = match part {
                Part::Admit(admit) => self.note_admission(admit),
                Part::Fire(fire) => match &fire.admission {
                    Some(admit) => self.note_admission(admit),
                    None => continue,
                },
                Part::Advance(advance) => advance.update.status,
                _ => continue,
            };
            self.moves.fetch_add(1, Ordering::Relaxed);
            if status.is_terminal() {
                self.ended.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
}

#[async_trait]
impl Layer for Watched {
    fn below(&self) -> &dyn Store {
        &*self.below
    }

    async fn commit(&self, batch: &Batch) -> Result<Vec<PartOutcome>, CommitError> {
        let began = Instant::now();
        let outcomes = self.below.commit(batch).await?;
        self.note(batch, &outcomes, began.elapsed());
        self.note_fires(batch, began);
        Ok(outcomes)
    }
}
