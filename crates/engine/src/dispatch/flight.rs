//! What is in flight on this node, by the row it is about. The entry is made before anything is
//! read for the attempt, so that a pause, a cancellation or a dropped retry in between is seen.

use std::collections::BTreeMap;

use refire_core::id::ExecutionId;
use refire_store::{WorkKey, WorkRow};
use tokio::task::AbortHandle;

use crate::lock::Mutex;

#[derive(Default)]
pub(super) struct Flights(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_row: BTreeMap<WorkKey, Flight>,
    /// The number of the last entry.
    last: u64,
}

struct Flight {
    number: u64,
    row: WorkRow,
    stage: Stage,
    task: Option<AbortHandle>,
}

/// How far an attempt is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// Its state is being read; the store does not know yet that it begins.
    Preparing,
    /// It begins, as far as the store will know.
    Begun,
    /// Its target is at work, or its result is on the way to the store.
    Calling,
    /// It releases its row without having called; whoever claims the row may enter.
    Leaving,
}

impl Stage {
    /// Whether a pause or a withdrawal still keeps the target from being called.
    fn can_be_dropped(self) -> bool {
        matches!(self, Self::Preparing | Self::Begun)
    }
}

/// An entry: this attempt, entered this time.
#[derive(Debug, Clone)]
pub(super) struct Ticket {
    key: WorkKey,
    number: u64,
}

impl Flights {
    /// Enters an attempt; none if that very attempt, or a later one, is in flight already. An earlier
    /// one has ended, or this one would not be: its call may still go on where a callback ended it, and
    /// nobody waits for its answer.
    pub(super) fn enter(&self, row: &WorkRow) -> Option<Ticket> {
        let mut entries = self.0.lock();
        let key = row.key();
        let entered = entries.by_row.get(&key);
        if let Some(flight) = entered.filter(|flight| flight.stage != Stage::Leaving) {
            if flight.row.attempt >= row.attempt {
                return None;
            }
            flight.task.iter().for_each(AbortHandle::abort);
        }
        entries.last += 1;
        let number = entries.last;
        let flight = Flight {
            number,
            row: row.clone(),
            stage: Stage::Preparing,
            task: None,
        };
        entries.by_row.insert(key.clone(), flight);
        Some(Ticket { key, number })
    }

    /// The attempt is about to be marked as begun; false if it shall not.
    pub(super) fn begins(&self, ticket: &Ticket) -> bool {
        self.set(ticket, |flight| flight.stage = Stage::Begun)
    }

    /// Gives the attempt's task; if the attempt was aborted meanwhile, the task is too.
    pub(super) fn attach(&self, ticket: &Ticket, task: &AbortHandle) {
        let attached = self.set(ticket, |flight| flight.task = Some(task.clone()));
        if !attached && !task.is_finished() {
            task.abort();
        }
    }

    /// The attempt's target is about to be called; false if it shall not.
    pub(super) fn calls(&self, ticket: &Ticket) -> bool {
        self.set(ticket, |flight| flight.stage = Stage::Calling)
    }

    /// The attempt is about to release its row.
    pub(super) fn leaves(&self, ticket: &Ticket) {
        self.set(ticket, |flight| flight.stage = Stage::Leaving);
    }

    /// Whether the attempt is still to go on: it was entered and not dropped.
    pub(super) fn goes_on(&self, ticket: &Ticket) -> bool {
        self.set(ticket, |_| ())
    }

    /// The attempt ended, or does not begin after all.
    pub(super) fn leave(&self, ticket: &Ticket) {
        let mut entries = self.0.lock();
        let entered = entries.by_row.get(&ticket.key);
        if entered.is_some_and(|flight| flight.number == ticket.number) {
            entries.by_row.remove(&ticket.key);
        }
    }

    /// Aborts every attempt of an execution.
    pub(super) fn abort(&self, execution: ExecutionId) {
        self.drop_if(execution, None, |_| true);
    }

    /// Drops the attempts of an execution whose targets have not been called, and says which they
    /// were, and which of them the store may know as begun: it keeps those of a paused execution.
    pub(super) fn drop_uncalled(&self, execution: ExecutionId) -> Vec<WorkRow> {
        let dropped = self.drop_if(execution, None, Stage::can_be_dropped);
        let row = |flight: Flight| WorkRow {
            // One whose beginning was committed with its making may be looked at once more.
            begun: flight.row.begun || flight.stage == Stage::Begun,
            ..flight.row
        };
        dropped.into_iter().map(row).collect()
    }

    /// Drops a step's attempt unless its target has been called: it has no work any more.
    pub(super) fn withdraw(&self, execution: ExecutionId, step: &str) {
        self.drop_if(execution, Some(step), Stage::can_be_dropped);
    }

    fn drop_if(
        &self,
        execution: ExecutionId,
        step: Option<&str>,
        test: fn(Stage) -> bool,
    ) -> Vec<Flight> {
        let mut entries = self.0.lock();
        let first = WorkKey {
            execution,
            step: step.unwrap_or_default().to_owned(),
        };
        let keys: Vec<WorkKey> = entries
            .by_row
            .range(first..)
            .take_while(|(key, _)| {
                key.execution == execution && step.is_none_or(|step| key.step == step)
            })
            .filter(|(_, flight)| test(flight.stage))
            .map(|(key, _)| key.clone())
            .collect();
        let mut dropped = Vec::with_capacity(keys.len());
        for key in keys {
            if let Some(flight) = entries.by_row.remove(&key) {
                flight.task.iter().for_each(AbortHandle::abort);
                dropped.push(flight);
            }
        }
        dropped
    }

    /// Whether any attempt of an execution is in flight.
    pub(super) fn has_any(&self, execution: ExecutionId) -> bool {
        let first = WorkKey {
            execution,
            step: String::new(),
        };
        let entries = self.0.lock();
        let next = entries.by_row.range(first..).next();
        next.is_some_and(|(key, _)| key.execution == execution)
    }

    /// Whether any attempt of a step is in flight.
    pub(super) fn has(&self, key: &WorkKey) -> bool {
        self.0.lock().by_row.contains_key(key)
    }

    /// Whether an attempt of a step needs its row: it is in flight and does not release it.
    pub(super) fn holds(&self, key: &WorkKey) -> bool {
        let entries = self.0.lock();
        let flight = entries.by_row.get(key);
        flight.is_some_and(|flight| flight.stage != Stage::Leaving)
    }

    /// Aborts everything and says what it was.
    pub(super) fn abort_all(&self) -> Vec<WorkRow> {
        let aborted = std::mem::take(&mut self.0.lock().by_row);
        let rows = aborted.into_values().map(|flight| {
            flight.task.iter().for_each(AbortHandle::abort);
            flight.row
        });
        rows.collect()
    }

    pub(super) fn len(&self) -> usize {
        self.0.lock().by_row.len()
    }

    /// Changes an entry; false if it is not there any more.
    fn set(&self, ticket: &Ticket, change: impl FnOnce(&mut Flight)) -> bool {
        let mut entries = self.0.lock();
        let flight = entries.by_row.get_mut(&ticket.key);
        let flight = flight.filter(|flight| flight.number == ticket.number);
        flight.map(change).is_some()
    }
}

#[cfg(test)]
mod tests {
    use refire_core::definition::WorkflowId;

    use super::*;

    fn row(step: &str, attempt: u32) -> WorkRow {
        WorkRow {
            execution: ExecutionId::from_bytes([7; 16]),
            step: step.to_owned(),
            attempt,
            is_retry: false,
            workflow: WorkflowId::new("w").unwrap(),
            priority: 5,
            due_at: None,
            limit_key: None,
            owner: None,
            begun: false,
            begun_at: None,
        }
    }

    #[test]
    fn a_pause_drops_what_was_not_called_and_gives_back_what_had_begun() {
        let flights = Flights::default();
        let preparing = flights.enter(&row("a", 1)).unwrap();
        let begun = flights.enter(&row("b", 1)).unwrap();
        let called = flights.enter(&row("c", 1)).unwrap();
        let begun_in_the_store = |step| WorkRow {
            begun: true,
            ..row(step, 1)
        };
        // The commit that made it has begun it, and it is looked at once more.
        flights.enter(&begun_in_the_store("d")).unwrap();
        assert!(flights.begins(&begun) && flights.calls(&called));
        let dropped = flights.drop_uncalled(row("a", 1).execution);
        let (begun_rows, others): (Vec<_>, Vec<_>) = dropped.into_iter().partition(|row| row.begun);
        assert_eq!(begun_rows, ["b", "d"].map(begun_in_the_store));
        assert_eq!(others, [row("a", 1)]);
        assert!(!flights.begins(&preparing) && !flights.calls(&begun));
        assert!(flights.goes_on(&called));
    }

    #[test]
    fn a_dropped_retry_is_not_called_but_a_call_goes_on() {
        let flights = Flights::default();
        let (a, ab) = (row("a", 1), row("ab", 1));
        let begun = flights.enter(&a).unwrap();
        let other = flights.enter(&ab).unwrap();
        assert!(flights.begins(&begun));
        flights.withdraw(a.execution, "a");
        assert!(!flights.calls(&begun));
        assert!(flights.calls(&other));
        flights.withdraw(a.execution, "ab");
        assert!(flights.goes_on(&other));
    }

    #[test]
    fn who_releases_its_row_is_in_nobodys_way() {
        let flights = Flights::default();
        let first = flights.enter(&row("a", 1)).unwrap();
        assert!(flights.begins(&first));
        flights.leaves(&first);
        let dropped = flights.drop_uncalled(row("a", 1).execution);
        assert!(dropped.is_empty(), "it does so");
        assert!(flights.goes_on(&first), "and is not aborted meanwhile");
        let second = flights.enter(&row("a", 1)).unwrap();
        flights.leave(&first);
        assert!(flights.goes_on(&second));
    }

    #[tokio::test]
    async fn a_later_attempt_ends_the_call_of_an_earlier_one() {
        let flights = Flights::default();
        let first = flights.enter(&row("a", 1)).unwrap();
        assert!(flights.begins(&first) && flights.calls(&first));
        let call = tokio::spawn(std::future::pending::<()>());
        flights.attach(&first, &call.abort_handle());
        let second = flights.enter(&row("a", 2)).unwrap();
        assert!(call.await.unwrap_err().is_cancelled());
        assert!(flights.enter(&row("a", 1)).is_none(), "an old copy");
        flights.leave(&first);
        assert!(flights.goes_on(&second));
    }

    #[test]
    fn who_was_dropped_does_not_take_the_place_of_who_came_after() {
        let flights = Flights::default();
        let first = flights.enter(&row("a", 1)).unwrap();
        assert!(flights.enter(&row("a", 1)).is_none(), "it is in flight");
        flights.drop_uncalled(row("a", 1).execution);
        let second = flights.enter(&row("a", 1)).unwrap();
        assert!(!flights.begins(&first) && flights.begins(&second));
        flights.leave(&first);
        assert!(flights.goes_on(&second));
    }
}
