//! What an open breaker means for attempts: they are not made, and that costs them nothing. One of them may
//! be the one that tries the target.
//!
//! Work of a workflow that calls only that target goes back as it is, and nobody claims it before the target is
//! called again. Other work would be claimed again and again: it is put off until then, once for each opening.

use std::time::Duration;

use refire_core::breaker::put_off_by;
use refire_core::definition::Workflow;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_store::WorkRow;

use super::flight::Ticket;
use super::{Dispatcher, attempt};
use crate::limit::{Ask, Blocked, Permit, is_alone};
use crate::step;

/// How long a row that this node keeps waits when its target is back and has enough calls.
const RAMP_WAIT: Duration = Duration::from_millis(500);
/// How long one waits that goes back to the store.
const RAMP_WAIT_IN_STORE: Duration = Duration::from_secs(2);

/// A permit; perhaps for the attempt that tries a target.
pub(super) async fn reserve(
    dispatcher: &Dispatcher,
    ask: &Ask<'_>,
    now: Timestamp,
) -> Result<Permit, Blocked> {
    let reserved = dispatcher.slots.reserve(ask, now);
    let callable = step::of(&ask.workflow.steps[ask.step].kind);
    let (Err(Blocked::Probe), Some(callable)) = (&reserved, callable) else {
        return reserved;
    };
    let Some(host) = callable.host() else {
        return reserved;
    };
    if !dispatcher.claim_probe(host, callable.timeout()).await {
        return Err(Blocked::Probe);
    }
    let reserved = dispatcher.slots.reserve(ask, now);
    dispatcher.slots.give_back_untaken(host);
    reserved
}

/// The same for a host that came from a template, and the longest time of its call.
pub(super) async fn add_host(
    dispatcher: &Dispatcher,
    permit: &mut Permit,
    (host, timeout): (&str, Duration),
) -> Result<(), Blocked> {
    match permit.add_host(host, dispatcher.clock.now()) {
        Err(Blocked::Probe) => {}
        other => return other,
    }
    if !dispatcher.claim_probe(host, timeout).await {
        return Err(Blocked::Probe);
    }
    let added = permit.add_host(host, dispatcher.clock.now());
    dispatcher.slots.give_back_untaken(host);
    added
}

/// How long a call of a step may take.
pub(super) fn timeout(workflow: &Workflow, step: &str) -> Duration {
    let callable = workflow
        .step(step)
        .and_then(|(_, step)| step::of(&step.kind));
    callable.map_or(Duration::ZERO, |callable| callable.timeout())
}

/// Until when a row is put off that its target keeps from being begun; none if it is not claimed meanwhile.
pub(super) fn put_off(ask: &Ask<'_>, blocked: Blocked, now: Timestamp) -> Option<Timestamp> {
    let callable = step::of(&ask.workflow.steps[ask.step].kind);
    let host = callable.and_then(|callable| callable.host());
    if host.is_some_and(|host| is_alone(ask.workflow, host)) {
        return None;
    }
    Some(later(ask.execution, blocked, (now, RAMP_WAIT)))
}

/// The same for a row that goes through the store.
pub(super) fn put_off_in_store(
    execution: ExecutionId,
    blocked: Blocked,
    now: Timestamp,
) -> Timestamp {
    later(execution, blocked, (now, RAMP_WAIT_IN_STORE))
}

fn later(
    execution: ExecutionId,
    blocked: Blocked,
    (now, wait): (Timestamp, Duration),
) -> Timestamp {
    let until = match blocked {
        Blocked::Breaker(until) => until.max(now.plus(wait)),
        _ => now.plus(wait),
    };
    until.plus(put_off_by(execution, until.since(now)))
}

/// The target was left alone after the attempt had got its slot: it goes back, and has not begun.
pub(super) async fn give_up(
    dispatcher: &Dispatcher,
    (ticket, row): (Ticket, WorkRow),
    (permit, workflow): (&Permit, &Workflow),
    blocked: Blocked,
) {
    #[cfg(feature = "planted")]
    if planted::is(Defect::ParkedCounted) {
        count(dispatcher, &row).await;
        return;
    }
    if permit.host().is_some_and(|host| is_alone(workflow, host)) {
        let workflow = row.workflow.clone();
        attempt::release(dispatcher, &ticket, row, None).await;
        dispatcher.slots.mark_backlog(&workflow);
        return;
    }
    let again = put_off_in_store(row.execution, blocked, dispatcher.clock.now());
    attempt::release(dispatcher, &ticket, row, Some(again)).await;
    dispatcher.slots.look_again_at(again);
}

#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};

/// The defect that what is parked uses up an attempt.
#[cfg(feature = "planted")]
pub(super) async fn count(dispatcher: &Dispatcher, row: &WorkRow) {
    super::report::panicked(dispatcher, row).await;
}
