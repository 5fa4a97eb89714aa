//! Pausing a trigger and letting it go on, with what becomes of the planned times in between.

use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use refire_core::trigger::settings::MISFIRE_MAX_LIMIT;
use refire_core::trigger::{CatchUp, State, Timeline, Trigger, change, plan};

use super::run::MOMENT;
use super::{TriggerError, TriggerView, Triggers};

/// The planned times of a pause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Pause {
    /// How many there were.
    pub slots: u64,
    /// The first.
    pub from: Option<Timestamp>,
    /// The last.
    pub to: Option<Timestamp>,
    /// How many of them are started after all, if no execution stands in their way.
    pub caught_up: u64,
}

impl Triggers {
    /// Enables a trigger, and tells what becomes of the planned times of the pause.
    pub async fn enable(
        &self,
        id: TriggerId,
        catch_up: CatchUp,
    ) -> Result<(TriggerView, Pause), TriggerError> {
        let before = self.get(id).await?;
        let trigger = before.trigger.clone()?;
        if trigger.enabled {
            return Ok((before, Pause::default()));
        }
        let now = self.context.now();
        let changed = self.change(id, r#"{"enabled":true}"#, catch_up).await?;
        let states = before.state.as_ref().zip(changed.view.state.as_ref());
        let pause = states.map(|(old, new)| match catch_up {
            // What was written down is what the cursor has passed.
            CatchUp::No => Pause::between(&trigger, old.cursor, new.cursor),
            CatchUp::Yes => Pause::caught_up(&trigger, old, now),
        });
        Ok((changed.view, pause.unwrap_or_default()))
    }

    /// Disables a trigger.
    pub async fn disable(&self, id: TriggerId) -> Result<TriggerView, TriggerError> {
        let before = self.get(id).await?;
        if !before.row.enabled {
            return Ok(before);
        }
        let patch = r#"{"enabled":false}"#;
        let changed = self.change(id, patch, CatchUp::No).await?;
        Ok(changed.view)
    }
}

impl Pause {
    /// The slots after a moment up to another.
    fn between(trigger: &Trigger, after: Timestamp, until: Timestamp) -> Self {
        let Some(timeline) = trigger.timeline() else {
            return Self::default();
        };
        let slots = timeline.count(after, until);
        Self {
            slots,
            from: timeline.next(after).filter(|_| slots > 0),
            to: timeline.previous(until.plus(MOMENT)).filter(|_| slots > 0),
            caught_up: 0,
        }
    }

    /// Those that were planned by now, and how many of them are started.
    fn caught_up(trigger: &Trigger, state: &State, now: Timestamp) -> Self {
        let last = |timeline: Timeline<'_>| timeline.last_planned(state.cursor, now);
        let Some(last) = trigger.timeline().and_then(last) else {
            return Self::default();
        };
        let pause = Self::between(trigger, state.cursor, last);
        let after = change::enabled(trigger, state, now, CatchUp::Yes).state;
        Self {
            caught_up: fires(trigger, after, now).min(pause.slots),
            ..pause
        }
    }
}

/// How many slots looks at this moment start.
fn fires(trigger: &Trigger, mut state: State, now: Timestamp) -> u64 {
    let enabled = Trigger {
        enabled: true,
        ..trigger.clone()
    };
    let mut count = 0;
    while count <= MISFIRE_MAX_LIMIT {
        let step = plan(&enabled, &state, now);
        if step.fire.is_none() {
            break;
        }
        count += 1;
        state = step.state;
    }
    count
}

#[cfg(test)]
mod tests {
    use refire_core::definition::WorkflowId;
    use refire_core::trigger::created;

    use super::*;

    fn pause(misfire: &str, catch_up: CatchUp) -> Pause {
        let settings = format!(
            r#"{{"trigger_type":"cron","cron_expression":"0 * * * *","misfire":"{misfire}","misfire_max":3}}"#
        );
        let id = TriggerId::from_bytes([1; 16]);
        let workflow = WorkflowId::new("w").unwrap();
        let trigger = Trigger::new(id, workflow, 1, false, &settings).unwrap();
        let state = created(&trigger, "2026-11-16T00:30:00Z".parse().unwrap());
        let now = "2026-11-16T05:30:00Z".parse().unwrap();
        match catch_up {
            CatchUp::No => {
                let after = change::enabled(&trigger, &state, now, catch_up).state;
                Pause::between(&trigger, state.cursor, after.cursor)
            }
            CatchUp::Yes => Pause::caught_up(&trigger, &state, now),
        }
    }

    #[test]
    fn what_is_caught_up_is_what_the_misfire_policy_says() {
        let all = Pause {
            slots: 5,
            from: Some("2026-11-16T01:00:00Z".parse().unwrap()),
            to: Some("2026-11-16T05:00:00Z".parse().unwrap()),
            caught_up: 0,
        };
        assert_eq!(pause("fire_all", CatchUp::No), all);
        for (misfire, caught_up) in [("fire_once", 1), ("fire_all", 3), ("skip", 0)] {
            let expected = Pause { caught_up, ..all };
            assert_eq!(pause(misfire, CatchUp::Yes), expected, "{misfire}");
        }
    }
}
