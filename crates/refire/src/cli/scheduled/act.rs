//! What can be done to a scheduled task: change, pause, resume, cancel, run, delete.

use std::path::PathBuf;

use super::refused;
use crate::cli::definitions::read;
use crate::cli::prelude::*;

/// Options of `scheduled update`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled update task-01j9x8w7v6t5s4r3q2p1n0m9k8 -f change.json
  echo '{\"scheduleConfig\": {\"time\": \"03:00\"}}' | refire scheduled update task-01j9x8w7v6t5s4r3q2p1n0m9k8 -f -")]
pub(crate) struct UpdateArgs {
    /// The task (task-…)
    id: String,
    /// A file with the fields to change (null removes one), or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Options of `scheduled pause`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled pause task-01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct PauseArgs {
    /// The task (task-…)
    id: String,
}

/// Options of `scheduled resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled resume task-01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct ResumeArgs {
    /// The task (task-…)
    id: String,
}

/// Options of `scheduled cancel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled cancel task-01j9x8w7v6t5s4r3q2p1n0m9k8
  refire scheduled cancel task-01j9x8w7v6t5s4r3q2p1n0m9k8 --keep-running --yes")]
pub(crate) struct CancelArgs {
    /// The task (task-…)
    id: String,
    /// Let open executions go on
    #[arg(long)]
    keep_running: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Options of `scheduled run`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled run task-01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct RunArgs {
    /// The task (task-…)
    id: String,
}

/// Options of `scheduled delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled delete task-01j9x8w7v6t5s4r3q2p1n0m9k8
  refire scheduled delete task-01j9x8w7v6t5s4r3q2p1n0m9k8 --yes")]
pub(crate) struct DeleteArgs {
    /// The task (task-…)
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Changes a task.
pub(super) async fn update(session: &Session, args: &UpdateArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let source = read(&args.file)?;
    let changed = session
        .client()?
        .change_scheduled_task(id, &source.text)
        .await;
    let task = match changed {
        Ok(task) => task,
        Err(error) => return refused(session, &source.file, error),
    };
    session.answer(&task, || format!("{id} v{} saved", task.version))
}

/// Pauses a task.
pub(super) async fn pause(session: &Session, args: &PauseArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let task = session.client()?.pause_scheduled_task(id).await?;
    if session.is_json() {
        return print_json(&task);
    }
    print(&format!("{id} is paused"))?;
    let resume = command(&format!("refire scheduled resume {id}"));
    say!("open executions continue; resume it with: {resume}");
    Ok(Outcome::Done)
}

/// Resumes a task.
pub(super) async fn resume(session: &Session, args: &ResumeArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let task = session.client()?.resume_scheduled_task(id).await?;
    if session.is_json() {
        return print_json(&task);
    }
    print(&format!("{id} is active"))?;
    match &task.next_execution_time {
        Some(next) => say!("the next cycle begins {}", both(next, session.now())),
        None => say!("no cycle is left: its schedule is over"),
    }
    Ok(Outcome::Done)
}

/// Cancels a task.
pub(super) async fn cancel(session: &Session, args: &CancelArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let client = session.client()?;
    let question = match args.keep_running {
        true => format!("Cancel the task {id}?"),
        false => format!("Cancel the task {id} and its open executions?"),
    };
    if !confirm(&question, args.yes)? {
        return Ok(Outcome::Refused);
    }
    let task = client.cancel_scheduled_task(id, args.keep_running).await?;
    session.answer(&task, || format!("{id} is cancelled"))
}

/// Begins a cycle.
pub(super) async fn run(session: &Session, args: &RunArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let run = session.client()?.run_scheduled_task(id).await?;
    if session.is_json() {
        return print_json(&run);
    }
    print(&run.execution_id)?;
    let history = format!("refire scheduled history {id} --cycle {}", run.cycle_number);
    let history = command(&history);
    say!(
        "cycle {} has begun; see what becomes of it with: {history}",
        run.cycle_number
    );
    Ok(Outcome::Done)
}

/// Deletes a task.
pub(super) async fn delete(session: &Session, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let client = session.client()?;
    if !confirm(
        &format!("Delete the task {id} and cancel its open executions?"),
        args.yes,
    )? {
        return Ok(Outcome::Refused);
    }
    client.delete_scheduled_task(id).await?;
    session.deleted(id, "its executions are kept")
}
