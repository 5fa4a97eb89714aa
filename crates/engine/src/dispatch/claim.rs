//! The loops that find work: timers that come due, timers that will soon, and due work that no
//! node owns.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use refire_core::definition::WorkflowId;
#[cfg(feature = "planted")]
use refire_core::planted;
use refire_store::{Claim, ClaimTimers, Part, PartOutcome, Want, WorkRow};

use super::{Dispatcher, begin};
use crate::commit::TIMER_OWNED_WITHIN;
use crate::limit::bounds;

/// How often timers that are due soon are taken over.
const HORIZON_EVERY: Duration = Duration::from_secs(10);
/// Timers taken over at once.
const TIMERS_CLAIMED_MAX: u32 = 5_000;
/// Timers in memory; the rest stay in the store until there is room.
const TIMERS_HELD_MAX: usize = 100_000;
/// How often to look for due timers while memory holds as many as it may.
const CROWDED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// Rows claimed at once.
const CLAIMED_MAX: u32 = 256;
/// Rows that are worth a claim of their own, where a larger one would have to count retries.
const PLAIN_CLAIM_MIN: u32 = 32;
/// The longest wait before looking again while work is known to wait.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The longest wait before looking again although nothing is known to wait: the net below the
/// bells.
const IDLE_LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes write work too, and their news may be lost.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// On a shared store an attempt may be called only when its beginning is durable. So much before a
/// timer is due that is begun, and the call is then made on time.
const LEAD: Duration = Duration::from_millis(30);
/// Slots that come free within this are filled together.
const TOGETHER: Duration = Duration::from_millis(1);

/// Begins timers as they come due.
pub(crate) async fn timer_loop(dispatcher: Arc<Dispatcher>) {
    loop {
        let due = dispatcher
            .timers
            .due(&dispatcher.clock, || lead(&dispatcher));
        let mut due = due.await;
        hold_back(&dispatcher, &mut due);
        let room = dispatcher.slots.free() as usize;
        // What finds no slot is released, to be claimed by priority.
        dispatcher.release_in_background(due.split_off(room.min(due.len())));
        if !due.is_empty() {
            let beginning = Arc::clone(&dispatcher);
            dispatcher.vital.spawn(async move {
                let due = without_bounded(&beginning, due).await;
                begin::begin_all(&beginning, due).await;
            });
        }
    }
}

/// How early a timer is begun. Not where slots are scarce: one that only waits keeps others out.
fn lead(dispatcher: &Dispatcher) -> Duration {
    if dispatcher.store.is_shared() && dispatcher.slots.beyond_half() > 0 {
        LEAD
    } else {
        Duration::ZERO
    }
}

/// Of what is not due yet no more is begun than leaves half of the slots free.
fn hold_back(dispatcher: &Dispatcher, due: &mut Vec<WorkRow>) {
    let now = dispatcher.clock.now();
    let mut spare = dispatcher.slots.beyond_half();
    let later = due.extract_if(.., |row| {
        let is_early = row.due_at.is_some_and(|due| due > now);
        if is_early {
            let has_room = spare > 0;
            spare = spare.saturating_sub(1);
            return !has_room;
        }
        false
    });
    for row in later {
        dispatcher.timers.add_exact(row);
    }
}

/// Leaves out work of workflows whose bounds hold over all nodes: it is released, and claimed
/// when there is room. Retries are not begun ahead of their time where few may run at once: one that
/// only waits keeps others out.
async fn without_bounded(dispatcher: &Arc<Dispatcher>, due: Vec<WorkRow>) -> Vec<WorkRow> {
    if !dispatcher.store.is_shared() {
        return due;
    }
    let (mut free, mut bounded) = (Vec::with_capacity(due.len()), Vec::new());
    for row in due {
        // What is not known to be free of bounds is not free of them.
        let newest = dispatcher.catalog.newest(&row.workflow).await;
        let is_bounded = newest.as_ref().map_or(true, |newest| {
            let newest = newest.as_ref();
            newest.is_some_and(|newest| dispatcher.slots.everywhere(&newest.workflow).is_some())
        });
        let is_early = row.due_at.is_some_and(|due| due > dispatcher.clock.now());
        let is_scarce = || {
            let newest = newest.iter().flatten().next();
            let now = dispatcher.clock.now();
            newest.is_none_or(|newest| dispatcher.slots.retries_are_scarce(&newest.workflow, now))
        };
        if is_bounded {
            bounded.push(row);
        } else if is_early && row.is_retry && is_scarce() {
            dispatcher.timers.add_exact(row);
        } else {
            free.push(row);
        }
    }
    dispatcher.release_in_background(bounded);
    free
}

/// Takes over timers that are due within the next half minute.
pub(crate) async fn horizon_loop(dispatcher: Arc<Dispatcher>) {
    loop {
        take_near_timers(&dispatcher).await;
        let pause = if dispatcher.timers.len() >= TIMERS_HELD_MAX {
            // What is not held comes due in the store, where only looking finds it.
            let soon = dispatcher.clock.now().plus(CROWDED_LOOK_EVERY);
            dispatcher.slots.look_again_at(soon);
            CROWDED_LOOK_EVERY
        } else {
            HORIZON_EVERY
        };
        if !dispatcher.goes_on_after(pause).await {
            return;
        }
    }
}

/// Takes over unowned timers that are due soon, as many as there is room for.
pub(super) async fn take_near_timers(dispatcher: &Dispatcher) {
    while dispatcher.timers.len() < TIMERS_HELD_MAX && !dispatcher.stopping.is_cancelled() {
        let until = dispatcher.clock.now().plus(TIMER_OWNED_WITHIN);
        let claim = ClaimTimers {
            node: dispatcher.membership.id(),
            until,
            up_to: TIMERS_CLAIMED_MAX,
        };
        let rows = claimed(dispatcher, Part::ClaimTimers(claim)).await;
        let found = rows.len();
        for row in rows {
            dispatcher.timers.add(row);
        }
        if found < TIMERS_CLAIMED_MAX as usize {
            return;
        }
    }
}

/// Claims due work that no node owns, as slots come free, round-robin over workflows.
pub(crate) async fn claim_loop(dispatcher: Arc<Dispatcher>) {
    let mut turn = 0usize;
    // Whatever the last process left unowned is found by the first round.
    let mut look = true;
    let mut looked = tokio::time::Instant::now();
    while !dispatcher.stopping.is_cancelled() {
        let outcome = if look || !dispatcher.slots.backlog.lock().is_empty() {
            let outcome = round(&dispatcher, &mut turn).await;
            looked = tokio::time::Instant::now();
            outcome
        } else {
            Round::Nothing
        };
        look = false;
        let wait = match outcome {
            Round::Claimed => continue,
            Round::Waiting => LOOK_EVERY,
            Round::Nothing if dispatcher.store.is_shared() => SHARED_LOOK_EVERY,
            Round::Nothing => IDLE_LOOK_EVERY,
        };
        let now = dispatcher.clock.now();
        let (due, next) = dispatcher.slots.backlog.lock().looks(now);
        if due {
            look = true;
            continue;
        }
        // A bell does not put off the net: that is as far from the last look however often it rings.
        let net = wait.saturating_sub(looked.elapsed());
        let wait = next.map_or(net, |next| net.min(next.since(now)));
        tokio::select! {
            biased;
            () = dispatcher.stopping.cancelled() => return,
            () = tokio::time::sleep(wait) => look = true,
            () = dispatcher.slots.changed() => {}
        }
        if outcome == Round::Waiting {
            // A freed slot rings at once; without this, many at a time would each cause a round.
            tokio::time::sleep(TOGETHER).await;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Round {
    /// Something was claimed; look again.
    Claimed,
    /// There is due work, but no room for it.
    Waiting,
    /// There is none.
    Nothing,
}

async fn round(dispatcher: &Arc<Dispatcher>, turn: &mut usize) -> Round {
    let marks = dispatcher.slots.backlog.lock().marks();
    let ready = match dispatcher
        .store
        .ready_workflows(dispatcher.clock.now())
        .await
    {
        Ok(ready) => ready,
        Err(error) => {
            tracing::error!(error = &error as &dyn Error, "looking for due work");
            return Round::Waiting;
        }
    };
    dispatcher.slots.backlog.lock().clear(marks, &ready);
    if ready.is_empty() {
        return Round::Nothing;
    }
    let wants = share_out(dispatcher, &ready, turn).await;
    if wants.is_empty() {
        return Round::Waiting;
    }
    let claim = Claim {
        node: dispatcher.membership.id(),
        wants,
    };
    let rows = claimed(dispatcher, Part::Claim(claim)).await;
    if rows.is_empty() {
        return Round::Waiting;
    }
    // Each takes its slot before the next round counts what is free.
    begin::begin_all(dispatcher, rows).await;
    Round::Claimed
}

/// The free slots, shared out over the workflows that have due work, beginning with another one
/// each time.
async fn share_out(dispatcher: &Dispatcher, ready: &[WorkflowId], turn: &mut usize) -> Vec<Want> {
    let mut free = dispatcher.slots.free().min(CLAIMED_MAX);
    let mut wants = Vec::new();
    *turn = turn.wrapping_add(1);
    let mut left = u32::try_from(ready.len()).unwrap_or(u32::MAX);
    for index in 0..ready.len() {
        let workflow = &ready[(*turn + index) % ready.len()];
        if workflow.is_system() {
            wants.extend(own_share(dispatcher, workflow).await);
            left = left.saturating_sub(1);
            continue;
        }
        if free == 0 {
            continue;
        }
        let mut want = Want::any(workflow.clone(), free.div_ceil(left.max(1)));
        left = left.saturating_sub(1);
        let newest = match dispatcher.catalog.newest(workflow).await {
            Ok(newest) => newest,
            Err(error) => {
                // Without its limits nothing of it is claimed.
                tracing::error!(%workflow, %error, "the definition cannot be had");
                continue;
            }
        };
        // Work of a deleted workflow runs on under the limits of the node alone.
        if let Some(definition) = newest {
            let now = dispatcher.clock.now();
            let room = dispatcher.slots.room(&definition.workflow, now);
            want.up_to = want.up_to.min(room.attempts);
            want.retries_up_to = room.retries;
            want.bounds = bounds(&definition.workflow);
        }
        if dispatcher.store.is_shared() && want.retries_up_to >= PLAIN_CLAIM_MIN {
            // If all that is claimed may be retries, none need be counted, and a database server is
            // asked once instead of several times.
            want.up_to = want.up_to.min(want.retries_up_to);
        }
        if want.up_to > 0 {
            free -= want.up_to;
            wants.push(want);
        }
    }
    wants
}

/// What the server runs for itself has slots of its own, whatever else is ready.
async fn own_share(dispatcher: &Dispatcher, workflow: &WorkflowId) -> Option<Want> {
    let definition = dispatcher.catalog.newest(workflow).await.ok()??;
    let free = dispatcher
        .slots
        .room(&definition.workflow, dispatcher.clock.now())
        .attempts;
    (free > 0).then(|| Want::any(workflow.clone(), free))
}

async fn claimed(dispatcher: &Dispatcher, part: Part) -> Vec<WorkRow> {
    match dispatcher.write(part).await {
        #[cfg(feature = "planted")]
        Some(PartOutcome::Claimed(rows)) if !rows.is_empty() && planted::forgets_claim() => {
            Vec::new()
        }
        Some(PartOutcome::Claimed(rows)) => rows,
        _ => Vec::new(),
    }
}
