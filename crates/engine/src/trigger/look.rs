//! Looking at many triggers: lists that are searched, and what fires next.

use refire_core::definition::WorkflowId;
use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use refire_core::trigger::{Trigger, Upcoming, mentions, upcoming};
use refire_store::{DueTrigger, LIMIT_MAX, ReadError, TriggerFilter, TriggerRow};

use super::{Triggers, rows};
use crate::definitions::is_of_task;
use crate::search::Search;

/// Triggers beyond those that are asked for which are read: some are due for another reason than a planned
/// time, or belong to scheduled tasks.
const SPARE: u32 = 100;
/// Triggers of one workflow that are looked at for its next planned time.
const OF_WORKFLOW_MAX: u32 = 100;

/// A trigger and its next planned time.
#[derive(Debug, Clone)]
pub struct Coming {
    /// The trigger.
    pub trigger: Trigger,
    /// Its next planned time.
    pub next: Upcoming,
}

impl Triggers {
    /// Triggers after this one, oldest first; those whose workflow, name, expression or address has some
    /// words, if some are given.
    pub async fn list(
        &self,
        filter: &TriggerFilter,
        words: Option<&str>,
        mut after: Option<TriggerId>,
        limit: u32,
    ) -> Result<Vec<TriggerRow>, ReadError> {
        let mut search = Search::new(words, limit);
        loop {
            let store = &self.context.store;
            let page = store.triggers(filter, after, search.asked()).await?;
            after = page.last().map(|row| row.id);
            if !search.goes_on(page, has) {
                return Ok(search.found());
            }
        }
    }

    /// The next planned time of each enabled trigger, the soonest first; without those of scheduled tasks.
    pub async fn coming(&self, limit: u32) -> Result<Vec<Coming>, ReadError> {
        let now = self.context.now();
        let asked = limit.saturating_add(SPARE).min(LIMIT_MAX);
        let due = self.context.store.due_triggers(Timestamp::LAST, asked);
        let due = due.await?.into_iter();
        let own = due.filter(|due| !is_of_task(&due.row.workflow));
        let mut coming: Vec<Coming> = own.filter_map(|due| next(&due, now)).collect();
        coming.sort_by_key(|coming| (coming.next.planned, coming.trigger.id));
        coming.truncate(limit as usize);
        Ok(coming)
    }

    /// When the first of a workflow's enabled triggers fires next; of very many the oldest count.
    pub async fn next_of(&self, workflow: &WorkflowId) -> Result<Option<Timestamp>, ReadError> {
        let now = self.context.now();
        let store = &self.context.store;
        let standing = store.standing_triggers(workflow, OF_WORKFLOW_MAX).await?;
        let coming = standing.iter().filter_map(|due| next(due, now));
        Ok(coming.map(|coming| coming.next.planned).min())
    }
}

fn has(row: &TriggerRow, words: &str) -> bool {
    let webhook = row.webhook.map(|id| id.to_string());
    mentions(&row.workflow, &row.settings, webhook.as_deref(), words)
}

/// None for what cannot be read, and for what no planned time starts any more.
fn next(due: &DueTrigger, now: Timestamp) -> Option<Coming> {
    let trigger = rows::trigger(&due.row).ok()?;
    let next = upcoming(&trigger, Some(due.state.cursor), now, 1);
    Some(Coming {
        next: *next.first()?,
        trigger,
    })
}
