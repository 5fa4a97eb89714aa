//! States of open executions at hand, so that a result does not have to read its execution back.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use refire_core::execution::Execution;
use refire_core::id::ExecutionId;

/// Executions kept.
const EXECUTIONS_MAX: usize = 10_000;
/// Bytes of foreign values kept with them.
const BYTES_MAX: usize = 64 * 1024 * 1024;

/// A bounded cache; the oldest entry goes first.
#[derive(Default)]
pub(crate) struct Cache {
    states: HashMap<ExecutionId, Arc<Execution>>,
    /// In order of insertion; may name entries that are gone.
    order: VecDeque<ExecutionId>,
    bytes: usize,
}

impl Cache {
    /// Takes a state out. Whoever changes it puts it back when the change is durable.
    pub(crate) fn take(&mut self, id: &ExecutionId) -> Option<Arc<Execution>> {
        let state = self.states.remove(id)?;
        self.bytes -= state.payloads.bytes();
        Some(state)
    }

    pub(crate) fn put(&mut self, id: ExecutionId, state: Arc<Execution>) {
        self.take(&id);
        self.bytes += state.payloads.bytes();
        self.states.insert(id, state);
        self.order.push_back(id);
        while self.states.len() > EXECUTIONS_MAX
            || self.bytes > BYTES_MAX
            || self.order.len() > 2 * EXECUTIONS_MAX
        {
            let Some(oldest) = self.order.pop_front() else {
                break;
            };
            self.take(&oldest);
        }
    }
}
