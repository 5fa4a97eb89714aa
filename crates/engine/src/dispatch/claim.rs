//! The loops that find work: timers that come due, timers that will soon, and due work that no
//! node owns.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::definition::WorkflowId;
use refire_store::{Claim, ClaimTimers, KeyRoom, Part, PartOutcome, Want, WorkRow};
use tokio::sync::oneshot;

use super::{Dispatcher, begin};
use crate::commit::Request;
use crate::commit::TIMER_OWNED_WITHIN;

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
/// The longest wait before looking again while work is known to wait.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// The longest wait before looking again although nothing is known to wait: the net below the
/// bells.
const IDLE_LOOK_EVERY: Duration = Duration::from_secs(10);
/// Slots that come free within this are filled together.
const TOGETHER: Duration = Duration::from_millis(1);

/// Begins timers as they come due.
pub(crate) async fn timer_loop(dispatcher: Arc<Dispatcher>) {
    loop {
        let due = tokio::select! {
            due = dispatcher.timers.due(&dispatcher.clock) => due,
            () = dispatcher.stopping.cancelled() => return,
        };
        let room = dispatcher.slots.free() as usize;
        let mut due = due.into_iter();
        for row in due.by_ref().take(room) {
            let dispatcher = Arc::clone(&dispatcher);
            let tracker = dispatcher.tracker.clone();
            tracker.spawn(async move { begin::begin(&dispatcher, row).await });
        }
        // What finds no slot goes back to the store, to be claimed by priority.
        let rest: Vec<WorkRow> = due.collect();
        if !rest.is_empty() {
            let dispatcher = Arc::clone(&dispatcher);
            let tracker = dispatcher.tracker.clone();
            tracker.spawn(async move {
                dispatcher
                    .release(rest.iter().map(|row| (row.key(), None)).collect())
                    .await;
                for row in &rest {
                    dispatcher.slots.mark_backlog(&row.workflow);
                }
            });
        }
    }
}

/// Takes over timers that are due within the next half minute.
pub(crate) async fn horizon_loop(dispatcher: Arc<Dispatcher>) {
    loop {
        let mut full = false;
        if dispatcher.timers.len() < TIMERS_HELD_MAX {
            let until = dispatcher.clock.now().plus(TIMER_OWNED_WITHIN);
            let claim = ClaimTimers {
                node: dispatcher.node,
                until,
                up_to: TIMERS_CLAIMED_MAX,
            };
            let rows = claimed(&dispatcher, Part::ClaimTimers(claim))
                .await
                .unwrap_or_default();
            full = rows.len() >= TIMERS_CLAIMED_MAX as usize;
            for row in rows {
                dispatcher.timers.add(row);
            }
        }
        if dispatcher.timers.len() >= TIMERS_HELD_MAX {
            // What is not held comes due in the store, where only looking finds it.
            let soon = dispatcher.clock.now().plus(CROWDED_LOOK_EVERY);
            dispatcher.slots.look_again_at(soon);
            full = false;
        }
        let pause = match (full, dispatcher.timers.len() >= TIMERS_HELD_MAX) {
            (true, _) => Duration::ZERO,
            (false, true) => CROWDED_LOOK_EVERY,
            (false, false) => HORIZON_EVERY,
        };
        tokio::select! {
            () = tokio::time::sleep(pause) => {}
            () = dispatcher.stopping.cancelled() => return,
        }
    }
}

/// Claims due work that no node owns, as slots come free, round-robin over workflows.
pub(crate) async fn claim_loop(dispatcher: Arc<Dispatcher>) {
    let mut turn = 0usize;
    // Whatever the last process left unowned is found by the first round.
    let mut look = true;
    loop {
        let mark = dispatcher.slots.backlog();
        let outcome = if look || mark.is_some() {
            round(&dispatcher, mark.unwrap_or(0), &mut turn).await
        } else {
            Round::Nothing
        };
        look = false;
        let wait = match outcome {
            Round::Claimed => continue,
            Round::NoRoom | Round::PutOff => LOOK_EVERY,
            Round::Nothing => IDLE_LOOK_EVERY,
        };
        let now = dispatcher.clock.now();
        let wait = match dispatcher.slots.next_look(now) {
            Some(due) if due <= now => {
                look = true;
                continue;
            }
            Some(later) => wait.min(later.since(now)),
            None => wait,
        };
        tokio::select! {
            () = dispatcher.slots.changed() => {}
            () = tokio::time::sleep(wait) => look = true,
            () = dispatcher.stopping.cancelled() => return,
        }
        if outcome == Round::NoRoom {
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
    NoRoom,
    /// Work is marked, but none is due yet.
    PutOff,
    /// Nothing is marked.
    Nothing,
}

async fn round(dispatcher: &Arc<Dispatcher>, mark: u64, turn: &mut usize) -> Round {
    let now = dispatcher.clock.now();
    let ready = match dispatcher.store.ready_workflows(now).await {
        Ok(ready) => ready,
        Err(error) => {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "looking for due work"
            );
            return Round::PutOff;
        }
    };
    for workflow in &ready {
        if !dispatcher.slots.has_backlog(workflow) {
            dispatcher.slots.mark_backlog(workflow);
        }
    }
    if ready.is_empty() {
        dispatcher.slots.clear_backlog(mark, &[]);
        return if dispatcher.slots.backlog().is_some() {
            Round::PutOff
        } else {
            Round::Nothing
        };
    }
    let wants = share_out(dispatcher, &ready, turn).await;
    if wants.is_empty() {
        return Round::NoRoom;
    }
    let claim = Claim {
        node: dispatcher.node,
        wants,
    };
    let rows = claimed(dispatcher, Part::Claim(claim))
        .await
        .unwrap_or_default();
    if rows.is_empty() {
        return Round::PutOff;
    }
    // Each takes its slot before the next round counts what is free.
    join_all(rows.into_iter().map(|row| begin::begin(dispatcher, row))).await;
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
        if free == 0 {
            break;
        }
        let workflow = &ready[(*turn + index) % ready.len()];
        let mut want = Want::any(workflow.clone(), free.div_ceil(left.max(1)));
        left = left.saturating_sub(1);
        // Work of a deleted workflow runs on under the limits of the node alone.
        if let Ok(Some(definition)) = dispatcher.catalog.newest(workflow).await {
            let room = dispatcher.slots.room(&definition.workflow);
            want.up_to = want.up_to.min(room.attempts);
            want.retries_up_to = room.retries;
            want.keys = room.keys.map(|(max, in_flight)| KeyRoom { max, in_flight });
        }
        if want.up_to > 0 {
            free -= want.up_to;
            wants.push(want);
        }
    }
    wants
}

async fn claimed(dispatcher: &Dispatcher, part: Part) -> Option<Vec<WorkRow>> {
    let (reply, answer) = oneshot::channel();
    let request = Request::Part {
        part,
        reply: Some(reply),
    };
    dispatcher.queue.result(request).await.ok()?;
    match answer.await.ok()? {
        Ok(PartOutcome::Claimed(rows)) => Some(rows),
        Ok(other) => {
            tracing::error!(?other, "a claim was answered with something else");
            None
        }
        Err(failure) => {
            tracing::warn!(%failure, "a claim was not committed");
            None
        }
    }
}
