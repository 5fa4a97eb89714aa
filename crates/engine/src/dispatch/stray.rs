//! A net below this node's memory. While a node lives, what it owns is left to it; so a row that it
//! owns and has forgotten would wait until it stops. That takes a defect, or an answer of the store
//! that never came: now and then the node compares what the store says it has with what it knows.

use std::collections::BTreeMap;
use std::error::Error;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{ReadError, WorkKey, WorkRow};

use super::Dispatcher;
use super::recover::{Pass, lose};

/// How often to look. The answer of a commit does not take that long: a node that waits for one in
/// vain gives up its id before.
const LOOK_EVERY: Duration = Duration::from_secs(30);
/// How long before what was seen twice is taken up. If the whole process stood still between the two
/// looks, whoever has the row in hand has as long to go on.
const SETTLES_WITHIN: Duration = Duration::from_secs(1);
/// Rows read at once.
const PAGE_ROWS: u32 = 500;

/// Looks again and again, until the node stops.
pub(crate) async fn stray_loop(dispatcher: Arc<Dispatcher>) {
    let mut seen = BTreeMap::new();
    while dispatcher.goes_on_after(LOOK_EVERY).await {
        #[cfg(feature = "planted")]
        if planted::is(Defect::ClaimForgottenForGood) {
            continue;
        }
        let mut found = look(&dispatcher, &mut seen).await;
        if found.as_ref().is_ok_and(|strays| !strays.is_empty()) {
            if !dispatcher.goes_on_after(SETTLES_WITHIN).await {
                return;
            }
            found = look(&dispatcher, &mut seen).await;
        }
        match found {
            Ok(strays) => take_up(&dispatcher, strays).await,
            Err(error) => {
                tracing::warn!(
                    error = &error as &dyn Error,
                    "what this node owns could not be read"
                );
            }
        }
    }
}

/// The rows that are known nowhere, now as at the last look, and have not changed since. At one look
/// alone a row may be on its way from or to the store.
async fn look(
    dispatcher: &Dispatcher,
    seen: &mut BTreeMap<WorkKey, WorkRow>,
) -> Result<Vec<WorkRow>, ReadError> {
    let before = std::mem::take(seen);
    let (node, now) = (dispatcher.membership.id(), dispatcher.clock.now());
    let mut strays = Vec::new();
    let mut after: Option<WorkKey> = None;
    loop {
        let page = dispatcher
            .store
            .owned_due(node, now, after.as_ref(), PAGE_ROWS)
            .await?;
        let Some(last) = page.last() else { break };
        after = Some(last.key());
        for row in page.into_iter().filter(|row| is_stray(dispatcher, row)) {
            if before.get(&row.key()) == Some(&row) {
                strays.push(row.clone());
            }
            seen.insert(row.key(), row);
        }
    }
    Ok(strays)
}

/// Whether a row is this node's and known nowhere in it.
fn is_stray(dispatcher: &Dispatcher, row: &WorkRow) -> bool {
    dispatcher.membership.owns(row)
        && !dispatcher.flights.has(&row.key())
        && !dispatcher.timers.has(row.execution, &row.step)
}

/// What has not begun is released, to be claimed. Of what has begun nobody knows whether
/// its target was called: it is lost, as with a node that is gone.
async fn take_up(dispatcher: &Arc<Dispatcher>, mut rows: Vec<WorkRow>) {
    rows.retain(|row| is_stray(dispatcher, row));
    if rows.is_empty() {
        return;
    }
    let found = rows.len() as u64;
    let in_all = dispatcher.found_again.fetch_add(found, Ordering::Relaxed) + found;
    let (begun, held): (Vec<_>, Vec<_>) = rows.into_iter().partition(|row| row.begun);
    tracing::warn!(
        attempts_again = begun.len(),
        waits_given_back = held.len(),
        in_all,
        "this node had forgotten work that it owns; it is taken up again"
    );
    dispatcher.release_in_background(held);
    // What cannot be settled now is found by the next looks.
    for page in begun.chunks(PAGE_ROWS as usize) {
        lose(dispatcher, page.to_vec(), &mut Pass::default()).await;
    }
}
