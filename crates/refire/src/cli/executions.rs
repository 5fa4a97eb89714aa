//! `refire executions`: what ran, how it went, and steering what still runs.

mod events;
mod list;
mod replay;
mod show;

use refire_client::model::{BulkExecutions, Execution};
use refire_client::query::{ExecutionQuery, Query};

pub(crate) use show::{
    error_lines, failure_lines, left_undone, next_commands, not_undone, started_by,
};

use crate::cli::bulk::follow::{self, Wish};
use crate::cli::bulk::which::{How, filter};
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
    /// Cancel an execution, or many; results of attempts in flight are ignored
    Cancel(Box<CancelArgs>),
    /// Pause an execution, or many: attempts in flight finish, nothing new starts
    Pause(Box<PauseArgs>),
    /// Resume a paused execution, or many
    Resume(Box<ResumeArgs>),
    /// Run an execution again, or many: new executions with the same input and the newest definition
    RunAgain(Box<RunAgainArgs>),
    /// Make a retry that waits now
    RetryNow(RetryNowArgs),
}

/// Options of `executions cancel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions cancel exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions cancel exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --compensate
  refire executions cancel --workflow ship_order --status retrying --dry-run

Several ids, or options that say which, make a bulk job. Without --status it is about those that are open.")]
pub(crate) struct CancelArgs {
    /// Undo completed steps that have a compensation
    #[arg(long)]
    compensate: bool,
    #[command(flatten)]
    which: Which,
}

/// Options of `executions pause`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions pause exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions pause --workflow ship_order

Several ids, or options that say which, make a bulk job. Without --status it is about those that are open.")]
pub(crate) struct PauseArgs {
    #[command(flatten)]
    which: Which,
}

/// Options of `executions resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions resume exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions resume --workflow ship_order --rate 10

Several ids, or options that say which, make a bulk job.")]
pub(crate) struct ResumeArgs {
    #[command(flatten)]
    which: Which,
}

/// Options of `executions run-again`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions run-again exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions run-again --workflow ship_order --status completed --from 2h --dry-run

Several ids, or options that say which, make a bulk job. Without --status it is about those that failed or were cancelled.")]
pub(crate) struct RunAgainArgs {
    #[command(flatten)]
    which: Which,
}

/// An execution, or many.
#[derive(Debug, Args)]
struct Which {
    /// The execution (exec_…), or several
    #[arg(value_name = "EXECUTION")]
    id: Vec<String>,
    #[command(flatten, next_help_heading = "Many at once")]
    query: ExecutionQuery,
    #[command(flatten)]
    how: How,
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
            let one = async |id: &str| steer(session, id, "cancel", args.compensate).await;
            let wish = many("cancel", args.compensate);
            one_or_many(session, &args.which, wish, "Cancel", one).await
        }
        ExecutionsCommand::Pause(args) => {
            let one = async |id: &str| steer(session, id, "pause", false).await;
            one_or_many(session, &args.which, many("pause", false), "Pause", one).await
        }
        ExecutionsCommand::Resume(args) => {
            let one = async |id: &str| steer(session, id, "resume", false).await;
            one_or_many(session, &args.which, many("resume", false), "Resume", one).await
        }
        ExecutionsCommand::RunAgain(args) => {
            let one = async |id: &str| run_again(session, id).await;
            let wish = many("run_again", false);
            one_or_many(session, &args.which, wish, "Run again", one).await
        }
        ExecutionsCommand::RetryNow(args) => {
            let id = ids::execution(&args.id)?;
            let step = args.step.as_deref();
            let execution = session.client()?.retry_now(id, step).await?;
            steered(session, id, &execution)
        }
    }
}

/// A job that does this with executions that are still to be named.
fn many(action: &str, compensate: bool) -> BulkExecutions {
    BulkExecutions {
        action: action.to_owned(),
        compensate: compensate.then_some(true),
        ..BulkExecutions::default()
    }
}

/// One execution at once, many by a job.
async fn one_or_many(
    session: &Session,
    which: &Which,
    mut wish: BulkExecutions,
    verb: &str,
    one: impl AsyncFn(&str) -> anyhow::Result<Outcome>,
) -> anyhow::Result<Outcome> {
    let mut query = which.query.clone();
    moments(&mut query.from, &mut query.to, session.now())?;
    match (which.id.as_slice(), query.is_empty()) {
        ([id], true) if !which.how.dry_run => return one(id).await,
        ([], true) => {
            let message = "which executions? Give an id, or options such as --workflow or --status";
            return Err(Usage(message.to_owned()).into());
        }
        ([], false) => wish.filter = Some(filter(&query)?),
        (named, true) => {
            let named = named.iter().map(|id| ids::execution(id).map(str::to_owned));
            wish.ids = Some(named.collect::<Result<Vec<_>, _>>()?);
        }
        (_, false) => {
            let message = "give ids, or options that say which, not both";
            return Err(Usage(message.to_owned()).into());
        }
    }
    let wish = Wish::Executions(Box::new(wish));
    follow::run(session, wish, &which.how, verb).await
}

async fn run_again(session: &Session, id: &str) -> anyhow::Result<Outcome> {
    let id = ids::execution(id)?;
    let again = session.client()?.run_again(id).await?;
    session.answer(&again, || again.execution_id.clone())
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
