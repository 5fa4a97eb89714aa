//! Changing scheduled tasks: patched, paused, resumed, cancelled, deleted.

use refire_core::definition::{Mark, Problem, Problems};
use refire_core::execution::{Cancel, Command, Status};
use refire_core::id::ScheduledTaskId;
use refire_core::scheduled::{Planned, ScheduleType, ScheduledTask, patched, plan_alike};
use refire_core::trigger::{CatchUp, Trigger, changed};
use refire_store::{
    ChangeTrigger, ExecutionFilter, LIMIT_MAX, PutScheduled, Scheduled, ScheduledRow,
    ScheduledTrigger, Stretch,
};

use super::{AGAIN_MAX, ScheduledError, ScheduledTasks, ScheduledView, definition};
use crate::commit::{CommandError, CommitFailure};
use crate::trigger::rows;

/// Executions that have not ended.
const OPEN: [Status; 5] = [
    Status::Pending,
    Status::Running,
    Status::Retrying,
    Status::Waiting,
    Status::Paused,
];

impl ScheduledTasks {
    /// Lays a JSON merge patch over the request that made a task. Open executions keep what they began
    /// with; planned times count from now on. With a version, only if the task still has it.
    pub async fn patch(
        &self,
        id: ScheduledTaskId,
        patch: &str,
        version: Option<u32>,
        by: &str,
    ) -> Result<ScheduledView, ScheduledError> {
        for _ in 0..AGAIN_MAX {
            let found = self.changeable(id).await?;
            if version.is_some_and(|version| version != found.row.version) {
                return Err(ScheduledError::Changed(found.row.version));
            }
            let put = self.patched(&found, patch, by)?;
            if self.commit(put).await? {
                return self.get(id).await;
            }
        }
        Err(ScheduledError::Contended)
    }

    fn patched(
        &self,
        found: &Scheduled,
        patch: &str,
        by: &str,
    ) -> Result<PutScheduled, ScheduledError> {
        let now = self.context.now();
        let before = String::from_utf8_lossy(&found.row.request);
        let request = patched(&before, patch)?;
        let stored = String::from_utf8_lossy(&found.trigger.settings);
        let is_alike = plan_alike(&before, request.as_str());
        let planned = match is_alike {
            true => Planned::As(&stored),
            false => Planned::From(now),
        };
        let task = ScheduledTask::read(found.row.id, request.as_str(), planned);
        let task = task.map_err(unplaced)?;
        self.can_be_called_back(&task)?;
        if !is_alike && task.schedule_type == ScheduleType::Immediate {
            let message = "a task that is there cannot become immediate";
            let problem = Problem::new("scheduleType", Mark::NOWHERE, message);
            let problem = problem.with_hint("run it now with POST /api/scheduled-tasks/{id}/run");
            return Err(ScheduledError::Invalid(problem.into()));
        }
        let row = ScheduledRow {
            name: task.name.clone(),
            task_type: task.task_type.to_owned(),
            schedule_type: task.schedule_type.name().to_owned(),
            request: request.as_str().as_bytes().to_vec(),
            ..next(&found.row)
        };
        let settings = task.trigger.as_str();
        let version = found.trigger.version + 1;
        let workflow = row.workflow.clone();
        let after = Trigger::new(
            row.trigger(),
            workflow,
            version,
            found.trigger.enabled,
            settings,
        )?;
        Ok(PutScheduled {
            row,
            definition: Some(definition(&task, by)?),
            trigger: ScheduledTrigger::Change(self.change_of(found, Some(&after))),
            admission: None,
        })
    }

    /// No new cycle begins. Open ones, their retries and their callbacks go on.
    pub async fn pause(&self, id: ScheduledTaskId) -> Result<ScheduledView, ScheduledError> {
        self.enable(id, false).await
    }

    /// Cycles begin again; those of the pause are skipped.
    pub async fn resume(&self, id: ScheduledTaskId) -> Result<ScheduledView, ScheduledError> {
        self.enable(id, true).await
    }

    async fn enable(
        &self,
        id: ScheduledTaskId,
        is_enabled: bool,
    ) -> Result<ScheduledView, ScheduledError> {
        for _ in 0..AGAIN_MAX {
            let found = self.changeable(id).await?;
            if found.trigger.enabled == is_enabled {
                return Ok(self.view(found));
            }
            let change = self.change_to(&found, is_enabled)?;
            let put = PutScheduled {
                row: next(&found.row),
                definition: None,
                trigger: ScheduledTrigger::Change(change),
                admission: None,
            };
            if self.commit(put).await? {
                return self.get(id).await;
            }
        }
        Err(ScheduledError::Contended)
    }

    /// No cycle begins any more, and open executions are cancelled unless they may go on. Again: only if
    /// some are left.
    pub async fn cancel(
        &self,
        id: ScheduledTaskId,
        keep_running: bool,
        by: &str,
    ) -> Result<ScheduledView, ScheduledError> {
        for _ in 0..AGAIN_MAX {
            let found = self.found(id).await?;
            if found.row.cancelled_at.is_some() {
                if keep_running || self.cancel_open(&found.row, by).await? == 0 {
                    return Err(ScheduledError::Cancelled);
                }
                return self.get(id).await;
            }
            let put = PutScheduled {
                row: ScheduledRow {
                    cancelled_at: Some(self.context.now()),
                    ..next(&found.row)
                },
                definition: None,
                trigger: ScheduledTrigger::Change(self.change_of(&found, None)),
                admission: None,
            };
            if self.commit(put).await? {
                if !keep_running {
                    self.cancel_open(&found.row, by).await?;
                }
                return self.get(id).await;
            }
        }
        Err(ScheduledError::Contended)
    }

    /// Cancels a task and hides it.
    pub async fn delete(&self, id: ScheduledTaskId, by: &str) -> Result<(), ScheduledError> {
        for _ in 0..AGAIN_MAX {
            let found = self.found(id).await?;
            let now = self.context.now();
            let put = PutScheduled {
                row: ScheduledRow {
                    key_hash: None,
                    cancelled_at: found.row.cancelled_at.or(Some(now)),
                    deleted_at: Some(now),
                    ..next(&found.row)
                },
                definition: None,
                trigger: ScheduledTrigger::Delete,
                admission: None,
            };
            if self.commit(put).await? {
                self.cancel_open(&found.row, by).await?;
                return Ok(());
            }
        }
        Err(ScheduledError::Contended)
    }

    /// Cancels what is open of a task, and says how many executions that were.
    async fn cancel_open(&self, row: &ScheduledRow, by: &str) -> Result<u64, ScheduledError> {
        let filter = ExecutionFilter {
            statuses: OPEN.to_vec(),
            ..ExecutionFilter::of_workflow(row.workflow.clone())
        };
        let (context, mut stretch, mut count) = (&self.context, Stretch::new(None, LIMIT_MAX), 0);
        loop {
            let page = context.store.executions(&filter, &stretch).await?;
            stretch.before = page.next(LIMIT_MAX);
            for execution in page.rows {
                let cancel = Command::Cancel(Cancel::by(Some(by.to_owned())));
                let asked = context.command(execution.id, cancel, None, None).await;
                let asked = asked.map_err(CommitFailure::from)?;
                match asked.answer().await {
                    Ok(_) => count += 1,
                    // It ended meanwhile, or is gone.
                    Err(CommandError::NotFound | CommandError::Refused(_)) => {}
                    Err(error) => return Err(error.into()),
                }
            }
            if stretch.before.is_none() {
                return Ok(count);
            }
        }
    }

    /// A task that was not cancelled.
    pub(super) async fn changeable(
        &self,
        id: ScheduledTaskId,
    ) -> Result<Scheduled, ScheduledError> {
        let found = self.found(id).await?;
        match found.row.cancelled_at {
            Some(_) => Err(ScheduledError::Cancelled),
            None => Ok(found),
        }
    }

    /// The trigger as it is, enabled or not.
    fn change_to(&self, found: &Scheduled, enabled: bool) -> Result<ChangeTrigger, ScheduledError> {
        let before = rows::trigger(&found.trigger)
            .map_err(|problems| ScheduledError::Damaged(found.row.id, problems.to_string()))?;
        let after = Trigger { enabled, ..before };
        Ok(self.change_of(found, Some(&after)))
    }

    /// What makes this of a trigger; none = it is disabled, whether it can be read or not.
    fn change_of(&self, found: &Scheduled, after: Option<&Trigger>) -> ChangeTrigger {
        let row = &found.trigger;
        let before = rows::trigger(row).ok();
        let disabled = before.as_ref().map(|before| Trigger {
            enabled: false,
            ..before.clone()
        });
        let plan = before.as_ref().zip(after.or(disabled.as_ref()));
        let plan = plan.map(|(before, after)| {
            changed(before, after, &found.state, self.context.now(), CatchUp::No)
        });
        let settings = after.map(|after| after.settings.text.as_str().as_bytes().to_vec());
        ChangeTrigger {
            id: row.id,
            workflow: row.workflow.clone(),
            version: row.version,
            enabled: after.is_some_and(|after| after.enabled),
            settings: settings.unwrap_or_else(|| row.settings.clone()),
            secrets: None,
            state: plan.map(|plan| rows::new_state(found.state.rev, &plan)),
        }
    }
}

/// The row that comes after one.
fn next(row: &ScheduledRow) -> ScheduledRow {
    ScheduledRow {
        version: row.version + 1,
        ..row.clone()
    }
}

/// Nobody who is told of a problem has the text that it is in.
fn unplaced(problems: Problems) -> Problems {
    let mut all = Problems::new();
    for problem in problems {
        all.push(Problem {
            line: Mark::NOWHERE.line,
            column: Mark::NOWHERE.column,
            ..problem
        });
    }
    all
}
