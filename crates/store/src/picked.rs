//! Which rows a claim takes of one workflow. They are offered in the order of the queue, and what
//! has no room is passed over.
//!
//! Bounds count executions, not steps: work of an execution that is in flight takes no room, so that
//! its parallel steps run together however full the workflow is.

use std::collections::{HashMap, HashSet};

use refire_core::id::ExecutionId;

use crate::{Want, WorkKey, WorkRow};

/// Rows picked for a want so far.
pub(crate) struct Picked<'a> {
    want: &'a Want,
    rows: Vec<WorkRow>,
    retries: u32,
    /// Executions in flight, with those that were picked.
    executions: HashSet<ExecutionId>,
    /// How many of them each concurrency key has.
    keys: HashMap<String, u32>,
}

/// Concurrency keys that have no room.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum FullKeys<'a> {
    /// These.
    Some(Vec<&'a str>),
    /// Whatever the key is.
    All,
}

impl<'a> Picked<'a> {
    /// Nothing yet. `in_flight` is the work in flight of a workflow with bounds: its execution and
    /// its key.
    pub(crate) fn new(
        want: &'a Want,
        in_flight: impl IntoIterator<Item = (ExecutionId, Option<String>)>,
    ) -> Self {
        let mut picked = Self {
            want,
            rows: Vec::new(),
            retries: 0,
            executions: HashSet::new(),
            keys: HashMap::new(),
        };
        for (execution, key) in in_flight {
            picked.enter(execution, key.as_deref());
        }
        picked
    }

    pub(crate) fn want(&self) -> &'a Want {
        self.want
    }

    pub(crate) fn into_rows(self) -> Vec<WorkRow> {
        self.rows
    }

    /// How many more are wanted.
    pub(crate) fn missing(&self) -> u32 {
        let picked = u32::try_from(self.rows.len()).unwrap_or(u32::MAX);
        self.want.up_to.saturating_sub(picked)
    }

    /// Whether work of any execution may yet be taken, and not only of those in flight.
    pub(crate) fn takes_any(&self) -> bool {
        let max = self.want.bounds.and_then(|bounds| bounds.max);
        self.missing() > 0 && max.is_none_or(|max| self.executions.len() < max as usize)
    }

    /// Whether only the executions in flight can give what is missing: their work need not be
    /// looked for in the whole queue.
    pub(crate) fn takes_only_of_those_in_flight(&self) -> bool {
        self.missing() > 0 && !self.takes_any() && !self.executions.is_empty()
    }

    pub(crate) fn has_room_for_a_retry(&self) -> bool {
        self.retries < self.want.retries_up_to
    }

    fn max_per_key(&self) -> Option<u32> {
        self.want.bounds.and_then(|bounds| bounds.max_per_key)
    }

    /// Whether a key may fill up while rows are picked.
    pub(crate) fn minds_keys(&self) -> bool {
        self.max_per_key().is_some()
    }

    /// The keys whose rows need not be offered, except those of [`Picked::in_flight`].
    pub(crate) fn full_keys(&self) -> FullKeys<'_> {
        match self.max_per_key() {
            None => FullKeys::Some(Vec::new()),
            Some(0) => FullKeys::All,
            Some(max) => {
                let full = self.keys.iter().filter(|(_, count)| **count >= max);
                FullKeys::Some(full.map(|(key, _)| key.as_str()).collect())
            }
        }
    }

    /// The executions in flight of a workflow with bounds, with those that were picked.
    pub(crate) fn in_flight(&self) -> impl Iterator<Item = ExecutionId> {
        let is_bounded = self.want.bounds.is_some();
        let executions = self.executions.iter().filter(move |_| is_bounded);
        executions.copied()
    }

    /// Takes a row if it has room. Rows come in the order of the queue, each once.
    pub(crate) fn offer(&mut self, row: WorkRow) {
        if self.missing() == 0 || (row.is_retry && !self.has_room_for_a_retry()) {
            return;
        }
        if !self.executions.contains(&row.execution) {
            let counted = row.limit_key.as_ref();
            let counted = counted.and_then(|key| self.keys.get(key)).unwrap_or(&0);
            let max = self.max_per_key().filter(|_| row.limit_key.is_some());
            if !self.takes_any() || max.is_some_and(|max| *counted >= max) {
                return;
            }
            self.enter(row.execution, row.limit_key.as_deref());
        }
        self.retries += u32::from(row.is_retry);
        self.rows.push(row);
    }

    /// Takes what is left of executions in flight, in the order of the queue; some of it may have
    /// been offered before.
    pub(crate) fn offer_rest(&mut self, rows: impl IntoIterator<Item = WorkRow>) {
        let picked: HashSet<WorkKey> = self.rows.iter().map(WorkRow::key).collect();
        for row in rows {
            if !picked.contains(&row.key()) {
                self.offer(row);
            }
        }
    }

    fn enter(&mut self, execution: ExecutionId, key: Option<&str>) {
        if self.executions.insert(execution)
            && let Some(key) = key
        {
            *self.keys.entry(key.to_owned()).or_default() += 1;
        }
    }
}
