//! `refire executions`: what ran, how it went, and steering what still runs.

mod events;
mod replay;
mod show;

use refire_client::every;
use refire_client::model::{Execution, ExecutionStatus};
use refire_client::query::{ExecutionQuery, Paging, Query};

pub(crate) use show::{
    error_lines, failure_lines, left_undone, next_commands, not_undone, started_by,
};

use crate::cli::prelude::*;

/// Commands about executions.
#[derive(Debug, Subcommand)]
pub(crate) enum ExecutionsCommand {
    /// List executions, newest first
    List(ListArgs),
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
}

/// Options of `executions list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions list --status retrying
  refire executions list --status failed,dlq --workflow ship_order --limit 5
  refire executions list --all --format json | jq -r '.items[].execution_id'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: ExecutionQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Show all of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
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

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &ExecutionsCommand) -> anyhow::Result<Outcome> {
    match command {
        ExecutionsCommand::List(args) => list(session, args).await,
        ExecutionsCommand::Show(args) => show::run(session, args).await,
        ExecutionsCommand::Events(args) => events::run(session, args).await,
        ExecutionsCommand::Replay(args) => replay::run(session, args).await,
        ExecutionsCommand::Cancel(args) => {
            steer(session, &args.id, "cancel", args.compensate).await
        }
        ExecutionsCommand::Pause(args) => steer(session, &args.id, "pause", false).await,
        ExecutionsCommand::Resume(args) => steer(session, &args.id, "resume", false).await,
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
    session.answer(&execution, || {
        format!("{id}  {}", status(execution.status.name()))
    })
}

const COLUMNS: [Column<Execution>; 7] = [
    text("EXECUTION", |one, _| cell(&one.execution_id)),
    text("WORKFLOW", |one, _| {
        cell(format!("{} v{}", one.workflow_id, one.workflow_version))
    }),
    text("STATUS", |one, now| {
        status_cell_with(one.status.name(), &later(one, now))
    }),
    number("RETRIES", |one, _| {
        cell(format!("{}/{}", one.retry_count, one.max_retries))
    }),
    text("CREATED", |one, now| cell(relative(&one.created_at, now))),
    number("TOOK", |one, _| maybe(one.duration_ms.map(span))),
    text("ERROR", |one, _| {
        maybe(one.error.as_ref().map(|error| &error.message))
    }),
];

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let page = if args.all {
        every(async |paging| client.executions(&args.query, paging).await).await?
    } else {
        let paging = Paging::first(args.limit);
        client.executions(&args.query, &paging).await?
    };
    let more = "more exist: use --limit or --all";
    let nothing = async || {
        if let Some(workflow) = &args.query.workflow {
            // That there is none of that name is an error, with the name that is nearest.
            client.workflow(workflow).await?;
        }
        Ok(nothing(args))
    };
    session.part(more, &page, &COLUMNS, nothing).await
}

fn nothing(args: &ListArgs) -> String {
    if !args.query.is_empty() {
        return "no matching executions. Leave out --workflow and --status to list all.".to_owned();
    }
    format!(
        "no executions yet. Start one with: {}",
        command("refire execute WORKFLOW --input '{}'")
    )
}

/// ` in 3h 2m` of an execution that is not to begin before.
fn later(execution: &Execution, now: Timestamp) -> String {
    let is_waiting = execution.status == ExecutionStatus::Pending;
    match execution.delay_until.as_deref().filter(|_| is_waiting) {
        Some(at) => format!(", {}", relative(at, now)),
        None => String::new(),
    }
}
