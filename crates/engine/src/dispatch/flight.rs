//! What is in flight on this node, by the row it is about. The entry is made before anything is
//! read for the attempt, so that a cancellation in between is seen.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use refire_core::id::ExecutionId;
use refire_store::{WorkKey, WorkRow};
use tokio::task::AbortHandle;

#[derive(Default)]
pub(super) struct Flights(Mutex<HashMap<WorkKey, Flight>>);

struct Flight {
    row: WorkRow,
    abort: Option<AbortHandle>,
}

impl Flights {
    /// Enters an attempt; false if that very attempt is in flight already.
    pub(super) fn enter(&self, row: &WorkRow) -> bool {
        let mut flights = self.flights();
        let key = row.key();
        if flights
            .get(&key)
            .is_some_and(|flight| flight.row.attempt == row.attempt)
        {
            return false;
        }
        flights.insert(
            key,
            Flight {
                row: row.clone(),
                abort: None,
            },
        );
        true
    }

    /// Whether the attempt is still to go on: it was entered and not aborted.
    pub(super) fn goes_on(&self, row: &WorkRow) -> bool {
        self.of(row, |_| ()).is_some()
    }

    /// Gives the attempt's task; if the attempt was aborted meanwhile, the task is too.
    pub(super) fn attach(&self, row: &WorkRow, task: &AbortHandle) {
        let attached = self.of(row, |flight| flight.abort = Some(task.clone()));
        if attached.is_none() && !task.is_finished() {
            task.abort();
        }
    }

    /// The attempt ended, or does not begin after all.
    pub(super) fn leave(&self, row: &WorkRow) {
        let mut flights = self.flights();
        let key = row.key();
        if flights
            .get(&key)
            .is_some_and(|flight| flight.row.attempt == row.attempt)
        {
            flights.remove(&key);
        }
    }

    /// Aborts every attempt of an execution.
    pub(super) fn abort(&self, execution: ExecutionId) {
        self.flights().retain(|key, flight| {
            if key.execution != execution {
                return true;
            }
            flight.abort.iter().for_each(AbortHandle::abort);
            false
        });
    }

    /// Aborts everything and says what it was.
    pub(super) fn abort_all(&self) -> Vec<WorkRow> {
        let mut flights = self.flights();
        let aborted = flights.drain().map(|(_, flight)| {
            flight.abort.iter().for_each(AbortHandle::abort);
            flight.row
        });
        aborted.collect()
    }

    pub(super) fn len(&self) -> usize {
        self.flights().len()
    }

    fn of<T>(&self, row: &WorkRow, act: impl FnOnce(&mut Flight) -> T) -> Option<T> {
        let mut flights = self.flights();
        let flight = flights.get_mut(&row.key())?;
        (flight.row.attempt == row.attempt).then(|| act(flight))
    }

    fn flights(&self) -> MutexGuard<'_, HashMap<WorkKey, Flight>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
