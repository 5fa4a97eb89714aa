//! From rows that this node owns to attempts: the states are read, slots are taken, and the rows
//! are marked as begun.
//!
//! Rows come in crowds, out of a claim or from timers that are due together: so one read serves
//! many of them, and one mark.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::{join, join_all};
use refire_core::definition::{StepId, Workflow};
use refire_core::execution::Execution;
use refire_core::id::ExecutionId;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_core::time::Timestamp;
use refire_store::{Begin, Part, PartOutcome, ReadError, WorkRow};

use super::flight::Ticket;
use super::{Dispatcher, park};
use crate::commit::{Request, TIMER_OWNED_WITHIN};
use crate::limit::{Ask, Blocked, Permit};
use crate::step;

/// Rows that are read and marked together: few enough that the first does not wait for long.
const TOGETHER_MAX: usize = 64;
/// How long a row waits that found no slot although there was one when it was claimed.
const BLOCKED_WAIT: Duration = Duration::from_millis(50);
/// How long a row waits when something it needs could not be read or written.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);

/// Between two rows that could not be read together.
const TROUBLE_APART: Duration = Duration::from_millis(10);

/// A row on its way to an attempt.
struct Candidate {
    row: WorkRow,
    ticket: Ticket,
}

/// What an attempt needs.
struct Ready {
    permit: Permit,
    state: Arc<Execution>,
    workflow: Arc<Workflow>,
}

/// Why a row does not become an attempt now.
#[derive(Debug, Clone, Copy)]
enum NotBegun {
    /// Not yet.
    Before(Timestamp),
    /// It is released.
    Released,
    /// Its target is left alone: it is released, and nobody claims it before that is over.
    Parked,
    /// It belongs to the past.
    Void,
}

/// Begins the attempt of each row, puts it off, or releases the row.
pub(super) async fn begin_all(dispatcher: &Arc<Dispatcher>, rows: Vec<WorkRow>) {
    let mut groups = Vec::with_capacity(rows.len().div_ceil(TOGETHER_MAX));
    let mut rows = rows.into_iter().peekable();
    while rows.peek().is_some() {
        let group: Vec<WorkRow> = rows.by_ref().take(TOGETHER_MAX).collect();
        groups.push(begin_group(dispatcher, group));
    }
    join_all(groups).await;
}

async fn begin_group(dispatcher: &Arc<Dispatcher>, rows: Vec<WorkRow>) {
    let enter = |row: WorkRow| {
        if !dispatcher.membership.owns(&row) {
            // Claimed under a lease that is lost: whoever recovers it runs it.
            return None;
        }
        // None: that very attempt runs already; its result removes the row.
        let Some(ticket) = dispatcher.flights.enter(&row) else {
            if dispatcher.store.is_shared() {
                // Or it was given up by another node's doing and is about to leave.
                let again = dispatcher.clock.now().plus(TROUBLE_WAIT);
                dispatcher.keep(row, again);
            }
            return None;
        };
        Some(Candidate { row, ticket })
    };
    let candidates: Vec<Candidate> = rows.into_iter().filter_map(enter).collect();
    let states = read(dispatcher, &candidates).await;
    let mut ready = Vec::with_capacity(candidates.len());
    let (mut back, mut parked) = (Vec::new(), BTreeSet::new());
    for (candidate, state) in candidates.into_iter().zip(states) {
        let prepared = match state {
            Ok(state) => prepare(dispatcher, &candidate, state).await,
            Err(not) => Err(not),
        };
        match prepared {
            Ok(prepared) => ready.push((candidate, prepared)),
            Err(not) => {
                if matches!(not, NotBegun::Parked) {
                    parked.insert(candidate.row.workflow.clone());
                }
                back.extend(turn_away(dispatcher, candidate, not));
            }
        }
    }
    join(go(dispatcher, ready), dispatcher.release(back)).await;
    for workflow in &parked {
        dispatcher.slots.mark_backlog(workflow);
    }
}

/// The states, or why there is none.
async fn read(
    dispatcher: &Dispatcher,
    candidates: &[Candidate],
) -> Vec<Result<Execution, NotBegun>> {
    if dispatcher.stopping.is_cancelled() {
        return candidates.iter().map(|_| Err(NotBegun::Released)).collect();
    }
    let ids: Vec<ExecutionId> = candidates.iter().map(|one| one.row.execution).collect();
    match dispatcher.store.states(&ids).await {
        Ok(states) => {
            let states = states.into_iter();
            states.map(|state| state.ok_or(NotBegun::Void)).collect()
        }
        Err(ReadError::Corrupt { .. }) if ids.len() > 1 => {
            // Only the damaged one is to wait.
            let mut states = Vec::with_capacity(ids.len());
            for candidate in candidates {
                states.extend(Box::pin(read(dispatcher, std::slice::from_ref(candidate))).await);
            }
            states
        }
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "reading claimed work");
            // One after the other, so that they do not come back together: whoever it was because
            // of, the others go on.
            let now = dispatcher.clock.now().plus(TROUBLE_WAIT);
            let later = (0..).map(|place| now.plus(TROUBLE_APART * place));
            let waits = candidates.iter().zip(later);
            waits
                .map(|(_, until)| Err(NotBegun::Before(until)))
                .collect()
        }
    }
}

/// Takes the slot, if the row's attempt is still the live one.
async fn prepare(
    dispatcher: &Dispatcher,
    Candidate { row, ticket }: &Candidate,
    state: Execution,
) -> Result<Ready, NotBegun> {
    if state.paused_at.is_some() {
        // Nothing begins while it is paused; the store drops the row and resuming makes it again.
        return Err(NotBegun::Released);
    }
    let id = StepId::new(row.step.as_str()).map_err(|_| NotBegun::Void)?;
    let step = state.step(&id);
    if !step.is_some_and(|step| step.is_live() && step.attempt == row.attempt) {
        // The row was read before the execution moved on, which removed or replaced it.
        return Err(NotBegun::Void);
    }
    let origin = state.origin.as_ref().ok_or(NotBegun::Void)?;
    let workflow = dispatcher.catalog.of(origin).await.map_err(|error| {
        tracing::error!(execution = %row.execution, %error, "the definition cannot be had");
        NotBegun::Before(dispatcher.clock.now().plus(TROUBLE_WAIT))
    })?;
    let real = dispatcher.clock.now();
    // What is begun ahead of its time counts as what it will be.
    let now = real.max(row.due_at.unwrap_or_default());
    let (step, _) = workflow.step(&row.step).ok_or(NotBegun::Void)?;
    let ask = Ask {
        workflow: &workflow,
        step,
        execution: row.execution,
        origin,
        is_first: state.started_at.is_none(),
        is_retry: row.is_retry,
    };
    let permit = match park::reserve(dispatcher, &ask, now).await {
        Ok(permit) => permit,
        Err(Blocked::Rate(turn)) => return Err(NotBegun::Before(turn)),
        Err(blocked @ (Blocked::Breaker(_) | Blocked::Ramp | Blocked::Probe)) => {
            #[cfg(feature = "planted")]
            if planted::is(Defect::ParkedCounted) {
                park::count(dispatcher, row).await;
                return Err(NotBegun::Void);
            }
            return Err(match park::put_off(&ask, blocked, real) {
                Some(until) => NotBegun::Before(until),
                None => NotBegun::Parked,
            });
        }
        Err(Blocked::Node | Blocked::Workflow | Blocked::Host) => {
            // Who asked ahead of time asks again on time.
            let again = if now > real {
                now
            } else {
                now.plus(BLOCKED_WAIT)
            };
            return Err(NotBegun::Before(again));
        }
    };
    if !dispatcher.flights.begins(ticket) {
        return Err(NotBegun::Void);
    }
    Ok(Ready {
        permit,
        state: Arc::new(state),
        workflow,
    })
}

/// Puts a row off. Soon, it stays with this node as a timer; what is to be
/// released is returned.
fn turn_away(
    dispatcher: &Dispatcher,
    Candidate { row, ticket }: Candidate,
    not: NotBegun,
) -> Option<(WorkRow, Option<Timestamp>)> {
    if !dispatcher.flights.goes_on(&ticket) {
        // Cancelled, paused or withdrawn while it was being prepared: the commit that did it has
        // removed the row, or whoever dropped it releases it.
        return None;
    }
    dispatcher.flights.leave(&ticket);
    match not {
        NotBegun::Before(until) if until > dispatcher.clock.now().plus(TIMER_OWNED_WITHIN) => {
            Some((row, Some(until)))
        }
        NotBegun::Before(until) => {
            dispatcher.keep(row, until);
            None
        }
        NotBegun::Released | NotBegun::Parked => Some((row, None)),
        NotBegun::Void => None,
    }
}

/// Marks rows as begun and lets their attempts go.
async fn go(dispatcher: &Arc<Dispatcher>, mut ready: Vec<(Candidate, Ready)>) {
    // Whoever was dropped meanwhile has no row any more, or one that is another's to begin.
    ready.retain(|(candidate, _)| dispatcher.flights.goes_on(&candidate.ticket));
    // Most calls need not wait until their beginning is durable. Where there are other nodes all must:
    // one of them may have paused and resumed the execution, and then the row is not this node's
    // any more, whatever it remembers.
    let is_shared = dispatcher.store.is_shared();
    #[cfg(feature = "planted")]
    let is_shared = is_shared && !planted::is(Defect::CalledUnconfirmed);
    let (durable, other): (Vec<_>, Vec<_>) = ready.into_iter().partition(|(candidate, ready)| {
        let step = ready.workflow.step(&candidate.row.step);
        let waits = step.is_some_and(|(_, step)| {
            step::of(&step.kind).is_some_and(|step| step.begins_durably())
        });
        #[cfg(feature = "planted")]
        let waits = waits && !planted::is(Defect::AttemptCountedLate);
        waits || is_shared
    });
    if !other.is_empty() {
        // A lost mark only means that a loss of this attempt is not counted.
        let part = marks(dispatcher, &other);
        let _ = dispatcher
            .queue
            .try_result(Request::Part { part, reply: None });
    }
    for (candidate, ready) in other {
        spawn(dispatcher, candidate, ready);
    }
    if durable.is_empty() {
        return;
    }
    let marked = dispatcher.write(marks(dispatcher, &durable)).await;
    let mut back = Vec::new();
    for (index, (mut candidate, ready)) in durable.into_iter().enumerate() {
        let not = match &marked {
            Some(PartOutcome::Begun(begun)) if begun.get(index) == Some(&true) => {
                spawn(dispatcher, candidate, ready);
                continue;
            }
            Some(_) => NotBegun::Void,
            None => {
                candidate.row.begun = true;
                NotBegun::Before(dispatcher.clock.now().plus(TROUBLE_WAIT))
            }
        };
        back.extend(turn_away(dispatcher, candidate, not));
    }
    dispatcher.release(back).await;
}

fn marks(dispatcher: &Dispatcher, ready: &[(Candidate, Ready)]) -> Part {
    let rows = ready.iter().map(|(candidate, _)| &candidate.row);
    Part::Begin(Begin {
        node: dispatcher.membership.id(),
        work: rows.map(|row| (row.key(), row.attempt)).collect(),
    })
}

fn spawn(dispatcher: &Arc<Dispatcher>, Candidate { row, ticket }: Candidate, ready: Ready) {
    if dispatcher.flights.goes_on(&ticket) {
        let with = (ready.state, ready.workflow);
        dispatcher.spawn(ticket, row, ready.permit, with);
    }
}
