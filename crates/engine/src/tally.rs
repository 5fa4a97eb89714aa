//! What happens to workflows, counted in memory where commits are settled, and written every ten seconds. A
//! node that dies loses what it has counted since: these are numbers for charts and alerts, and no execution
//! depends on them.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::WorkflowId;
use refire_core::minute::{MINUTE, Minute, OfWorkflow, floor, points};
use refire_core::time::Timestamp;
use refire_store::{MinuteFilter, Part, ReadError};

use crate::commit::CommitFailure;
use crate::context::Context;
use crate::lock::Mutex;
use crate::vital::Vital;

/// Minutes of workflows that are written together.
const TOGETHER_MAX: usize = 1_000;
/// Minutes of workflows that wait to be written; of more the numbers are lost.
const WAITING_MAX: usize = 100_000;

/// See the module.
#[derive(Default)]
pub(crate) struct Tally {
    inner: Mutex<Inner>,
    /// Held while something is written, so that who reads sees it in one place.
    writing: tokio::sync::Mutex<()>,
}

#[derive(Default)]
struct Inner {
    /// Of each workflow mostly one minute, at times two.
    workflows: HashMap<WorkflowId, Vec<(Timestamp, Minute)>>,
    waiting: usize,
}

impl Tally {
    /// Something happened to a workflow. What the server runs for itself is not counted.
    pub(crate) fn note(&self, workflow: &WorkflowId, at: Timestamp, minute: &Minute) {
        if minute.is_empty() || workflow.is_system() {
            return;
        }
        self.add(workflow, floor(at, MINUTE), minute);
    }

    fn add(&self, workflow: &WorkflowId, at: Timestamp, minute: &Minute) {
        let mut inner = self.inner.lock();
        let minutes = inner.workflows.get_mut(workflow);
        let mut known = minutes.into_iter().flatten();
        if let Some((_, known)) = known.find(|(known, _)| *known == at) {
            known.add(minute);
        } else if inner.waiting < WAITING_MAX {
            inner.waiting += 1;
            let minutes = inner.workflows.entry(workflow.clone()).or_default();
            minutes.push((at, *minute));
        }
    }

    /// Takes what is to be written, all of some workflows.
    fn take(&self) -> Vec<OfWorkflow> {
        let mut inner = self.inner.lock();
        let mut taken = Vec::new();
        let workflows: Vec<WorkflowId> = match inner.waiting > TOGETHER_MAX {
            true => inner
                .workflows
                .keys()
                .take(TOGETHER_MAX / 2)
                .cloned()
                .collect(),
            false => inner.workflows.keys().cloned().collect(),
        };
        for workflow in workflows {
            let minutes = inner.workflows.remove(&workflow).unwrap_or_default();
            inner.waiting = inner.waiting.saturating_sub(minutes.len());
            taken.extend(minutes.into_iter().map(|(at, minute)| OfWorkflow {
                workflow: workflow.clone(),
                at,
                minute,
            }));
            if taken.len() >= TOGETHER_MAX {
                break;
            }
        }
        // Two nodes add to the same rows in the same order, and a simulation sees one order.
        taken.sort_by(|a, b| (a.at, &a.workflow).cmp(&(b.at, &b.workflow)));
        taken
    }

    /// What was counted and is not written yet.
    fn unwritten(&self) -> Vec<OfWorkflow> {
        let inner = self.inner.lock();
        let all = inner.workflows.iter().flat_map(|(workflow, minutes)| {
            minutes.iter().map(|(at, minute)| OfWorkflow {
                workflow: workflow.clone(),
                at: *at,
                minute: *minute,
            })
        });
        all.collect()
    }
}

/// Writes what was counted.
pub(crate) async fn flush(context: &Context) {
    let _writing = context.tally.writing.lock().await;
    loop {
        let rows = context.tally.take();
        if rows.is_empty() {
            return;
        }
        match context.queue.chore(Part::AddMinutes(rows.clone())).await {
            // Counted twice would be worse than not at all.
            Ok(_) | Err(CommitFailure::Unknown | CommitFailure::Unstorable(_)) => {}
            Err(_) => {
                for row in rows {
                    context.tally.add(&row.workflow, row.at, &row.minute);
                }
                return;
            }
        }
    }
}

/// Writes what was counted until the node stops, and then what is left.
async fn write_loop(context: Arc<Context>) {
    while context.goes_on_after(context.alerts_every).await {
        flush(&context).await;
    }
    flush(&context).await;
}

/// What happened to workflows, in numbers.
pub struct Stats {
    context: Arc<Context>,
}

impl Stats {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        vital.spawn(write_loop(Arc::clone(context)));
        Arc::new(Self {
            context: Arc::clone(context),
        })
    }

    /// The numbers of each step of that length, also where nothing happened. What other nodes have counted in
    /// the last seconds is missing.
    pub async fn points(
        &self,
        filter: &MinuteFilter,
        step: Duration,
    ) -> Result<Vec<(Timestamp, Minute)>, ReadError> {
        let step = step.max(MINUTE);
        let tally = &self.context.tally;
        let (written, unwritten) = {
            let _writing = tally.writing.lock().await;
            let written = self.context.store.minute_points(filter, step).await?;
            (written, tally.unwritten())
        };
        let is_asked = |one: &OfWorkflow| filter.workflow.iter().all(|it| *it == one.workflow);
        let here = unwritten
            .iter()
            .filter(|one| is_asked(one) && one.at >= filter.from && one.at < filter.to);
        let mut all = points(here, (filter.from, filter.to), step);
        for (at, minute) in &mut all {
            if let Ok(place) = written.binary_search_by_key(at, |point| point.at) {
                minute.add(&written[place].sum);
            }
        }
        Ok(all)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn completed(count: u64) -> Minute {
        Minute {
            completed: count,
            ..Minute::default()
        }
    }

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_millis(seconds * 1_000)
    }

    #[test]
    fn what_happens_in_one_minute_is_one_row() {
        let (tally, workflow) = (Tally::default(), WorkflowId::new("w").unwrap());
        for second in [0, 59, 61, 30] {
            tally.note(&workflow, at(second), &completed(1));
        }
        tally.note(&workflow, at(0), &Minute::default());
        assert_eq!(tally.unwritten().len(), 2);
        let rows = tally.take();
        let counts: Vec<_> = rows
            .iter()
            .map(|row| (row.at, row.minute.completed))
            .collect();
        assert_eq!(counts, [(at(0), 3), (at(60), 1)]);
        assert!(tally.take().is_empty() && tally.unwritten().is_empty());
        // What could not be written is added to what came meanwhile.
        tally.note(&workflow, at(1), &completed(5));
        tally.add(&workflow, rows[0].at, &rows[0].minute);
        assert_eq!(tally.take()[0].minute.completed, 8);
    }

    #[test]
    fn there_is_an_end_to_what_waits() {
        let tally = Tally::default();
        let workflow = WorkflowId::new("w").unwrap();
        for minute in 0..WAITING_MAX + 5 {
            let at = at(60 * i64::try_from(minute).unwrap());
            tally.inner.lock().waiting = minute;
            tally.note(&workflow, at, &completed(1));
            if minute > 2 && minute < WAITING_MAX - 2 {
                tally.inner.lock().workflows.clear();
            }
        }
        assert!(tally.unwritten().len() <= 4);
    }
}
