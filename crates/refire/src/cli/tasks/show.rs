//! `refire tasks show`: one task.

use refire_client::model::{Task, TaskStatus};

use super::progress;
use crate::cli::prelude::*;

/// Options of `tasks show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire tasks show xt_01j9x8w7v6t5s4r3q2p1n0m9k8001
  refire tasks show xt_01j9x8w7v6t5s4r3q2p1n0m9k8001 --format json | jq .input")]
pub(crate) struct ShowArgs {
    /// The task (xt_…)
    id: String,
}

/// Shows a task.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let task = session.client()?.task(ids::task(&args.id)?).await?;
    session.answer(&task, || screen(session, &task))
}

fn screen(session: &Session, task: &Task) -> String {
    let now = session.now();
    let time = |at: &Option<String>| at.as_ref().map(|at| both(at, now));
    let cleaned = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
    let is_open = matches!(task.status, TaskStatus::Pending | TaskStatus::Locked);
    let is_locked = task.status == TaskStatus::Locked;
    let worker = match is_locked {
        true => cleaned(&task.worker_id).or_else(|| Some("without a name".to_owned())),
        false => cleaned(&task.worker_id),
    };
    let attempts = format!("{} of {} failed", task.retry_count, task.max_retries);
    let heartbeat = task.heartbeat_interval_seconds.map(|seconds| {
        let missed = task.heartbeat_max_missed.unwrap_or(1);
        let last = task.last_heartbeat_at.as_ref().map_or_else(
            || "none yet".to_owned(),
            |at| format!("last {}", relative(at, now)),
        );
        format!("every {seconds}s, {missed} may be missed; {last}")
    });
    let facts = [
        ("type", Some(clean(&task.task_type).into_owned())),
        (
            "step",
            Some(clean(&format!("{} of {}", task.step_id, task.workflow_id)).into_owned()),
        ),
        ("execution", Some(task.execution_id.clone())),
        ("priority", Some(task.priority.to_string())),
        ("created", Some(both(&task.created_at, now))),
        ("worker", worker),
        ("locked", time(&task.locked_at).filter(|_| is_locked)),
        ("until", time(&task.lock_expires_at).filter(|_| is_locked)),
        ("heartbeat", heartbeat.filter(|_| is_locked)),
        (
            "progress",
            progress(task).map(|said| clean(&said).into_owned()),
        ),
        ("attempts", Some(attempts)),
        ("timeout", is_open.then(|| both(&task.timeout_at, now))),
        ("ended", time(&task.completed_at)),
        ("error", cleaned(&task.error_message)),
    ];
    Screen::of(&task.id, task.status.name())
        .facts(10, facts)
        .json("Input", task.input.as_deref())
        .json("Output", task.output.as_deref())
        .next(&next(task))
}

/// What a person would most likely type next.
fn next(task: &Task) -> Vec<String> {
    let (id, execution) = (&task.id, &task.execution_id);
    let mut commands = vec![format!("refire executions show {execution}")];
    match task.status {
        TaskStatus::Locked => {
            commands.push(format!("refire tasks unlock {id}"));
            commands.push(format!("refire tasks complete {id} --output '{{}}'"));
        }
        TaskStatus::Pending => commands.push(format!("refire workers list --q {}", task.task_type)),
        _ => {}
    }
    commands
}
