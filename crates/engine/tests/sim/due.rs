//! Triggers that are due and that nobody looks at.

use std::time::Duration;

use refire_core::time::Timestamp;
use refire_store::model::Image;

use crate::world::Violation;

/// Where somebody is well, a trigger that is due is looked at within this. Each younger node waits a
/// second longer than the one before it, and those that are dead count until they are removed.
pub(crate) const LOOKED_AT_WITHIN: Duration = Duration::from_secs(10);

/// A trigger that has been due for longer.
pub(crate) fn left_alone(image: &Image, now: Timestamp) -> Result<(), Violation> {
    let since = now.minus(LOOKED_AT_WITHIN);
    let is_late = |due: Option<Timestamp>| due.is_some_and(|due| due < since);
    let mut all = image.trigger_states.iter();
    match all.find(|(_, standing)| is_late(standing.state.due_at)) {
        Some((id, standing)) => {
            let what = format!("{id}, it is {now}: {standing:?}");
            Err(Violation::new("a due trigger is looked at", what))
        }
        None => Ok(()),
    }
}
