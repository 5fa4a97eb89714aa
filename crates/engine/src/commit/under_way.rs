//! Batches on their way to the store: one at a time where a process is alone with its store, two where
//! a database is shared, so that the next is decided and sent while the first is being written.
//!
//! Two batches never touch the same execution: what is decided next on an execution needs to know
//! what became of the last decision.

use std::collections::HashSet;
use std::future::Future;
use std::pin::Pin;

use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;
use refire_core::id::{ExecutionId, NodeId};
use refire_core::time::Timestamp;
use refire_store::{Batch, CommitError, NotWritten, Part, PartOutcome, Store};
use tokio::time::Instant;

use super::decide::Tools;
#[cfg(feature = "planted")]
use super::planted;
use super::request::Request;
use super::unit::Unit;
use crate::entropy;

/// Batches that may be on their way to a shared store.
const SHARED_BATCHES_MAX: usize = 2;

/// What a batch concerns, which keeps others waiting.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Concerns {
    /// No other batch may touch these.
    pub(super) executions: HashSet<ExecutionId>,
    /// It takes or changes what no list of executions tells: nothing else may be on its way.
    pub(super) everything: bool,
}

/// A batch that has come back.
pub(super) struct Returned {
    pub(super) node: NodeId,
    pub(super) now: Timestamp,
    pub(super) executions: HashSet<ExecutionId>,
    /// What could not be decided yet.
    pub(super) again: Vec<Request>,
    /// In the order in which they were written.
    pub(super) groups: Vec<Group>,
}

/// Units that were written in one transaction.
pub(super) struct Group {
    pub(super) units: Vec<Unit>,
    pub(super) written: Result<Vec<PartOutcome>, CommitError>,
}

/// See the module.
pub(super) struct UnderWay {
    batches: FuturesUnordered<Pin<Box<dyn Future<Output = Returned> + Send>>>,
    batches_max: usize,
    concerns: Concerns,
}

impl UnderWay {
    pub(super) fn to(store: &dyn Store) -> Self {
        Self {
            batches: FuturesUnordered::new(),
            batches_max: if store.is_shared() {
                SHARED_BATCHES_MAX
            } else {
                1
            },
            concerns: Concerns::default(),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.batches.is_empty()
    }

    /// Whether the store is shared with other nodes.
    pub(super) fn is_shared(&self) -> bool {
        self.batches_max > 1
    }

    /// Whether one more may set out.
    pub(super) fn has_room(&self) -> bool {
        self.batches.len() < self.batches_max && !self.concerns.everything
    }

    /// Whether a batch on its way changes this execution.
    pub(super) fn concerns(&self, execution: ExecutionId) -> bool {
        self.concerns.everything || self.concerns.executions.contains(&execution)
    }

    pub(super) fn send(
        &mut self,
        concerns: Concerns,
        writing: impl Future<Output = Returned> + Send + 'static,
    ) {
        self.concerns.executions.extend(concerns.executions);
        self.concerns.everything |= concerns.everything;
        self.batches.push(Box::pin(writing));
    }

    /// The next batch that comes back; absent when none is on its way.
    pub(super) async fn next(&mut self) -> Option<Returned> {
        let returned = self.batches.next().await?;
        for execution in &returned.executions {
            self.concerns.executions.remove(execution);
        }
        // Whoever concerns everything is alone.
        self.concerns.everything = false;
        Some(returned)
    }
}

/// Writes units in one transaction. A transaction that fails because of its data is split until the
/// culprit stands alone; its neighbours are written.
pub(super) async fn write(
    tools: &Tools,
    units: Vec<Unit>,
    node: NodeId,
    now: Timestamp,
) -> Vec<Group> {
    let mut groups = Vec::with_capacity(1);
    let mut stack = vec![units];
    while let Some(mut units) = stack.pop() {
        let parts: Vec<Part> = units.iter_mut().flat_map(Unit::take_part).collect();
        if parts.is_empty() {
            let written = Ok(Vec::new());
            groups.push(Group { units, written });
            continue;
        }
        let batch = Batch {
            commit_id: entropy::fresh(tools.entropy.as_ref(), now),
            lease: Some(node),
            now,
            parts,
        };
        let began = Instant::now();
        #[cfg(feature = "planted")]
        let written = planted::commit(tools.store.as_ref(), &batch, &mut units).await;
        #[cfg(not(feature = "planted"))]
        let written = tools.store.commit(&batch).await;
        tools.commit_times.add(began.elapsed());
        if let Err(CommitError::NotWritten {
            reason: NotWritten::Statement,
            source,
        }) = &written
            && batch.parts.len() > 1
        {
            let error: &(dyn std::error::Error + 'static) = source.as_ref();
            tracing::warn!(error, parts = batch.parts.len(), "splitting a failed batch");
            Unit::restore_parts(&mut units, batch.parts);
            let second = units.split_off(units.len() / 2);
            stack.push(second);
            stack.push(units);
            continue;
        }
        let is_known = !matches!(written, Err(CommitError::Unknown(_)));
        groups.push(Group { units, written });
        if !is_known {
            // Nothing is sent under a standing that is in doubt.
            groups.extend(stack.drain(..).map(not_sent));
        }
    }
    groups
}

fn not_sent(units: Vec<Unit>) -> Group {
    let written = Err(CommitError::NotWritten {
        reason: NotWritten::Unavailable,
        source: "a commit before it is not known to be written".into(),
    });
    Group { units, written }
}
