//! `refire executions`: what ran, how it went, and steering what still runs.

mod events;
mod list;
mod replay;
mod show;

use refire_client::model::Execution;

pub(crate) use show::{
    error_lines, failure_lines, left_undone, next_commands, not_undone, started_by,
};

use crate::cli::prelude::*;

/// Commands about executions.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecutionsCommand {
    /// List executions, newest first
    List(list::ListArgs),
    /// Count executions, by status
    Count(list::CountArgs),
    /// Show one execution: steps, retries, error, input and output
    Show(show::ShowArgs),
    /// Show an execution's event log as a timeline
    Events(events::EventsArgs),
    /// Recompute every decision and compare it with the log; starts nothing
    Replay(replay::ReplayArgs),
    /// Cancel an execution; results of attempts in flight are ignored
    Cancel(CancelArgs),
    /// Pause an execution: attempts in flight finish, nothing new starts
    Pause(IdArgs),
    /// Resume a paused execution
    Resume(IdArgs),
    /// Make a retry that waits now
    RetryNow(RetryNowArgs),
}

/// Options of `executions cancel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions cancel exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions cancel exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --compensate")]
pub(crate) struct CancelArgs {
    /// The execution (exec_…)
    id: String,
    /// Undo completed steps that have a compensation
    #[arg(long)]
    compensate: bool,
}

/// The execution to pause or resume.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions pause exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions resume exec_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct IdArgs {
    /// The execution (exec_…)
    id: String,
}

/// Options of `executions retry-now`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions retry-now exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions retry-now exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --step charge

It counts as the attempt that was planned: the retries that are left stay as many.")]
pub(crate) struct RetryNowArgs {
    /// The execution (exec_…)
    id: String,
    /// Only the retry of this step, where several wait
    #[arg(long, value_name = "STEP")]
    step: Option<String>,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &ExecutionsCommand) -> anyhow::Result<Outcome> {
    match command {
        ExecutionsCommand::List(args) => list::run(session, args).await,
        ExecutionsCommand::Count(args) => list::count(session, args).await,
        ExecutionsCommand::Show(args) => show::run(session, args).await,
        ExecutionsCommand::Events(args) => events::run(session, args).await,
        ExecutionsCommand::Replay(args) => replay::run(session, args).await,
        ExecutionsCommand::Cancel(args) => {
            steer(session, &args.id, "cancel", args.compensate).await
        }
        ExecutionsCommand::Pause(args) => steer(session, &args.id, "pause", false).await,
        ExecutionsCommand::Resume(args) => steer(session, &args.id, "resume", false).await,
        ExecutionsCommand::RetryNow(args) => {
            let id = ids::execution(&args.id)?;
            let step = args.step.as_deref();
            let execution = session.client()?.retry_now(id, step).await?;
            steered(session, id, &execution)
        }
    }
}

async fn steer(
    session: &Session,
    id: &str,
    order: &str,
    compensate: bool,
) -> anyhow::Result<Outcome> {
    let id = ids::execution(id)?;
    let execution = session.client()?.command(id, order, compensate).await?;
    steered(session, id, &execution)
}

fn steered(session: &Session, id: &str, execution: &Execution) -> anyhow::Result<Outcome> {
    session.answer(execution, || {
        format!("{id}  {}", status(execution.status.name()))
    })
}
