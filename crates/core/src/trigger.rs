//! Triggers: what starts executions of a workflow, and when.
//!
//! Everything here is a function of a [`Trigger`], its [`State`] and a moment. Nothing reads a
//! clock, makes an id or writes anything: the shell asks, commits the answer and starts what it
//! says.
//!
//! | question | file |
//! |---|---|
//! | what somebody wrote, all that is wrong with it, how it is stored and changed | [`settings`] |
//! | what is remembered between two looks, and what the end of an execution changes | [`state`] |
//! | what is to be written and started now | [`plan()`] |
//! | what creating, enabling, disabling and changing a trigger does | [`change`] |
//! | by when a success is expected | [`dead_man`] |
//! | what became of planned times | [`ledger`] |
//! | what comes next, and what is run again for the past | [`range`](mod@range) |
//! | what settings mean that nobody has saved yet | [`preview`] |
//!
//! Three things always hold:
//!
//! - **A slot fires once.** It is known by (trigger, nominal time). The cursor of the state passes it
//!   in the commit that fires it and never goes back, whatever the clock does.
//! - **The ledger is complete.** Every slot up to the cursor is in exactly one entry, or is the one
//!   that is buffered.
//! - **One step fires at most once**, so a step is one commit with one admission.

pub mod change;
pub mod dead_man;
pub(crate) mod keys;
pub mod ledger;
mod mention;
pub mod plan;
pub mod preview;
pub mod range;
mod read;
pub mod settings;
pub mod state;
mod timeline;
pub(crate) mod timing;
mod unset;
mod written;

use std::time::Duration;

use refire_schedule::Schedule;

use crate::definition::{Problems, WorkflowId};
use crate::id::TriggerId;
use crate::time::Timestamp;

/// How long after an alarm somebody looks again: a success may have come while it was being recorded.
const LOOK_AFTER_ALARM: Duration = Duration::from_secs(1);

pub use change::{CatchUp, changed, created, mended};
pub use ledger::{Entry, LateReason, Outcome, SkipReason, SlotStatus};
pub use mention::mentions;
pub use plan::{Fire, Missed, Plan, plan};
pub use preview::Preview;
pub use range::{BackfillError, Slots, Upcoming, backfill, backfilled, run_now, upcoming};
pub use settings::{DeadMan, Draft, Kind, Misfire, Overlap, Settings, Wish};
pub use state::{End, State};
pub use timeline::Timeline;

/// One trigger, ready to be asked.
#[derive(Debug, Clone)]
pub struct Trigger {
    /// Its id; the delays of its jitter follow from it.
    pub id: TriggerId,
    /// What it starts.
    pub workflow: WorkflowId,
    /// Grows with each change.
    pub version: u32,
    /// Whether it starts anything.
    pub enabled: bool,
    /// What somebody wrote.
    pub settings: Settings,
    /// When it is due; none for a webhook.
    pub schedule: Option<Schedule>,
}

impl Trigger {
    /// A trigger from its stored parts.
    ///
    /// # Errors
    /// What is wrong with the settings. They were right when they were stored, but a zone may have
    /// vanished since: such a trigger starts nothing and says why.
    pub fn new(
        id: TriggerId,
        workflow: WorkflowId,
        version: u32,
        enabled: bool,
        settings: &str,
    ) -> Result<Self, Problems> {
        let (draft, schedule) = read::read(settings)?;
        Ok(Self {
            id,
            workflow,
            version,
            enabled,
            settings: draft.settings,
            schedule,
        })
    }

    /// Its slots; none for a webhook.
    #[must_use]
    pub fn timeline(&self) -> Option<Timeline<'_>> {
        let seed = u128::from_be_bytes(*self.id.as_bytes()) as u64;
        let schedule = self.schedule.as_ref()?;
        Some(Timeline::new(schedule, seed))
    }

    /// Whether the commit that ends one of its executions must say so in its state.
    #[must_use]
    pub fn awaits_ends(&self) -> bool {
        self.settings.overlap != Overlap::Allow || self.settings.dead_man.is_some()
    }

    /// Whether it has a state at all: a webhook that nobody watches needs none.
    #[must_use]
    pub fn has_state(&self) -> bool {
        self.schedule.is_some() || self.awaits_ends()
    }

    /// Whether no slot will ever come again: its moments or its window are over.
    #[must_use]
    pub fn is_finished(&self, state: &State) -> bool {
        let next = |timeline: Timeline<'_>| timeline.next(state.cursor);
        self.schedule.is_some()
            && state.buffered.is_none()
            && self.timeline().and_then(next).is_none()
    }

    /// When the next look at it is needed. What is due already is due now, and not when it was planned:
    /// a trigger that catches up must not stand before all that are on time.
    fn due(&self, state: &State, now: Timestamp) -> Option<Timestamp> {
        if !self.enabled {
            return None;
        }
        let slot = if state.buffered.is_some() && state.running.is_none() {
            Some(now)
        } else {
            self.timeline().and_then(|timeline| {
                let next = timeline.next(state.cursor)?;
                Some(timeline.planned(next).max(now))
            })
        };
        let deadline = match state.alarmed_at {
            None => dead_man::deadline(self, state).map(|deadline| deadline.at),
            Some(alarmed) => (alarmed == now).then(|| now.plus(LOOK_AFTER_ALARM)),
        };
        slot.into_iter().chain(deadline).min()
    }
}

#[cfg(test)]
mod fixture;
#[cfg(test)]
mod properties;
