//! After the load: does the server have every execution that it accepted, and how do they stand?
//!
//! A tool that measures a promise of durability has to check it. Executions are compared by their
//! ids, not counted, so that nobody else's can stand in for one that is missing.

use std::collections::HashMap;
use std::time::Duration;

use refire_client::Client;
use refire_client::model::{Execution, ExecutionStatus};
use refire_client::query::{ExecutionQuery, Paging};
use refire_core::id::ExecutionId;
use serde::Serialize;

use super::figure::grouped;
use super::subject::Subject;
use super::tally::Latencies;
use crate::cli::prelude::*;

/// Entries asked for at once.
const PAGE: u32 = 1_000;

/// What the server has of the accepted executions, as it is reported.
#[derive(Debug, Clone, Default, Serialize)]
pub(super) struct Verified {
    /// Accepted in the whole run, warm-up included.
    pub(super) accepted: u64,
    /// Those of them that the server lists.
    pub(super) found: u64,
    /// Accepted, but not there.
    pub(super) missing: u64,
    /// Executions of the throw-away workflow that no answer told of: their answers were lost.
    pub(super) untold: u64,
    /// Found, and ended otherwise than completed.
    pub(super) failed: u64,
    /// How many of the failed became dead letters, and so wait for somebody.
    pub(super) dead_letters: u64,
    /// Found, and not ended.
    pub(super) open: u64,
}

/// The same, and the figures of those that were measured.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) verified: Verified,
    /// Measured executions that completed.
    pub(super) completed: u64,
    /// From the first of them that was accepted to the last that completed, by the server's clock.
    pub(super) completing: Duration,
    /// How long each of them took from acceptance to completion, by the server's clock.
    pub(super) latencies: Latencies,
}

/// Looks for every accepted execution. Those that were measured also count for the figures.
pub(super) async fn verify(
    client: &Client,
    subject: &Subject,
    measured: &[ExecutionId],
    others: &[ExecutionId],
) -> anyhow::Result<Found> {
    let waiting = Waiting::new("looking for every accepted execution");
    let mut search = Search::new(measured, others, &subject.probes);
    let Some(oldest) = search.oldest() else {
        return Ok(search.found);
    };
    let mut paging = Paging::first(PAGE);
    let query = ExecutionQuery {
        workflow: vec![subject.id.clone()],
        ..ExecutionQuery::default()
    };
    loop {
        let page = client.executions(&query, &paging).await?;
        let mut before = false;
        for execution in &page.items {
            let Ok(id) = execution.execution_id.parse() else {
                continue;
            };
            // Ids grow with time, so older ones than the first of ours are all somebody else's.
            before |= id < oldest && !subject.is_own();
            search.meet(id, execution, subject.is_own());
        }
        waiting.say(format!(
            "looking for every accepted execution: {} found",
            grouped(search.found.verified.found)
        ));
        paging.cursor = page.next_cursor;
        if paging.cursor.is_none() || before {
            return Ok(search.end());
        }
    }
}

/// A search under way.
struct Search {
    /// The ids that are looked for, and whether they were measured.
    wanted: HashMap<ExecutionId, bool>,
    /// Executions of ours that do not count.
    probes: Vec<ExecutionId>,
    found: Found,
    first: Option<Timestamp>,
    last: Option<Timestamp>,
}

impl Search {
    fn new(measured: &[ExecutionId], others: &[ExecutionId], probes: &[ExecutionId]) -> Self {
        let others = others.iter().map(|id| (*id, false));
        let measured = measured.iter().map(|id| (*id, true));
        let wanted: HashMap<_, _> = others.chain(measured).collect();
        let mut found = Found::default();
        found.verified.accepted = u64::try_from(wanted.len()).unwrap_or(u64::MAX);
        Self {
            wanted,
            probes: probes.to_vec(),
            found,
            first: None,
            last: None,
        }
    }

    fn oldest(&self) -> Option<ExecutionId> {
        self.wanted.keys().min().copied()
    }

    fn meet(&mut self, id: ExecutionId, execution: &Execution, is_own: bool) {
        let counts = &mut self.found.verified;
        let Some(is_measured) = self.wanted.remove(&id) else {
            counts.untold += u64::from(is_own && !self.probes.contains(&id));
            return;
        };
        let status = execution.status;
        let is_failed = status.is_over() && status != ExecutionStatus::Completed;
        counts.found += 1;
        counts.failed += u64::from(is_failed);
        counts.dead_letters += u64::from(status == ExecutionStatus::Dlq);
        counts.open += u64::from(!status.is_over());
        if !is_measured {
            return;
        }
        let accepted = execution.created_at.parse::<Timestamp>().ok();
        self.first = [self.first, accepted].into_iter().flatten().min();
        if execution.status != ExecutionStatus::Completed {
            return;
        }
        let ended = execution.completed_at.as_deref();
        let ended = ended.and_then(|at| at.parse::<Timestamp>().ok());
        self.last = self.last.max(ended);
        self.found.completed += 1;
        if let (Some(accepted), Some(ended)) = (accepted, ended) {
            self.found.latencies.add(ended.since(accepted));
        }
    }

    fn end(mut self) -> Found {
        let counts = &mut self.found.verified;
        counts.missing = counts.accepted - counts.found;
        if let (Some(first), Some(last)) = (self.first, self.last) {
            self.found.completing = last.since(first);
        }
        self.found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn id(number: u8) -> ExecutionId {
        let mut bytes = [0; 16];
        bytes[15] = number;
        ExecutionId::from_bytes(bytes)
    }

    fn execution(status: &str, created: &str, completed: Option<&str>) -> Execution {
        let text = serde_json::json!({
            "execution_id": "exec_01j9x8w7v6t5s4r3q2p1n0m9k8", "workflow_id": "w",
            "workflow_version": 1, "status": status, "phase": null, "error": null,
            "retry_count": 0, "max_retries": 0, "next_retry_at": null, "retry_context": null,
            "trigger_type": "manual", "trigger_id": null, "triggered_by": null,
            "idempotency_key": null, "priority": 5, "delay_until": null, "dlq_entry_id": null,
            "parent_dlq_entry_id": null, "created_at": created, "started_at": null,
            "completed_at": completed, "duration_ms": null,
        });
        serde_json::from_value(text).unwrap()
    }

    #[test]
    fn what_is_missing_is_not_made_good_by_others() {
        let mut search = Search::new(&[id(2), id(3), id(4), id(5)], &[id(1)], &[id(0)]);
        assert_eq!(search.oldest(), Some(id(1)));
        let early = "2026-11-15T09:30:00.000000Z";
        let late = "2026-11-15T09:30:02.000000Z";
        search.meet(id(1), &execution("completed", early, Some(early)), true);
        search.meet(id(2), &execution("completed", early, Some(late)), true);
        search.meet(id(3), &execution("failed", late, Some(late)), true);
        search.meet(id(5), &execution("dlq", late, Some(late)), true);
        search.meet(id(0), &execution("completed", early, Some(early)), true);
        search.meet(id(9), &execution("completed", late, Some(late)), true);
        search.meet(id(2), &execution("completed", early, Some(late)), true);
        let found = search.end();
        let counts = &found.verified;
        assert_eq!((counts.accepted, counts.found, counts.missing), (5, 4, 1));
        assert_eq!(counts.untold, 2, "one unknown, one listed twice");
        assert_eq!((found.completed, counts.failed, counts.open), (1, 2, 0));
        assert_eq!(counts.dead_letters, 1);
        assert_eq!(found.completing, Duration::from_secs(2));
        assert_eq!(found.latencies.len(), 1);
    }
}
