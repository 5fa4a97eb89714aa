//! `refire scheduled show`.

use refire_client::model::ScheduledTask;

use super::state;
use crate::cli::prelude::*;

/// Options of `scheduled show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled show task-01j9x8w7v6t5s4r3q2p1n0m9k8
  refire scheduled show task-01j9x8w7v6t5s4r3q2p1n0m9k8 --format json")]
pub(crate) struct ShowArgs {
    /// The task (task-…)
    id: String,
}

/// Shows a task.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let task = session.client()?.scheduled_task(id).await?;
    session.answer(&task, || screen(session, &task))
}

fn screen(session: &Session, task: &ScheduledTask) -> String {
    let cleaned = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
    let time = |text: &Option<String>| text.as_ref().map(|at| both(at, session.now()));
    let recurs = match task.is_recurring {
        true => "",
        false => ", only once",
    };
    let facts = [
        ("name", cleaned(&task.task_name)),
        ("about", cleaned(&task.task_description)),
        ("schedule", Some(format!("{}{recurs}", task.schedule_type))),
        ("from", time(&task.start_time)),
        ("until", time(&task.end_time)),
        ("next", time(&task.next_execution_time)),
        ("cycles", Some(task.cycles.to_string())),
        (
            "last",
            task.last_execution_status.map(|status| status.to_string()),
        ),
        ("cancelled", time(&task.cancelled_at)),
        ("version", Some(task.version.to_string())),
        ("made", Some(both(&task.created_at, session.now()))),
    ];
    let next = match state(task) {
        "active" => format!("refire scheduled pause {}", task.task_id),
        "paused" => format!("refire scheduled resume {}", task.task_id),
        _ => format!("refire executions list --workflow {}", task.task_id),
    };
    Screen::of(&task.task_id, state(task))
        .facts(10, facts)
        .json("Schedule", task.schedule_config.as_deref())
        .json("Task", Some(&*task.task_config))
        .next(&[format!("refire scheduled history {}", task.task_id), next])
}
