//! `refire schedule-task` and `refire scheduled`: services that are called at certain times.

mod act;
mod history;
mod show;

use std::path::PathBuf;

use refire_client::model::{Page, ScheduledTask};
use refire_client::query::{Paging, Query, ScheduledQuery};

use super::definitions::read;
use super::report::field_line;
use crate::cli::prelude::*;
use crate::codes;

/// Options of `schedule-task`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire schedule-task -f monthly-report.json
  refire schedule-task -f - < task.yaml

A file has the fields of the API:
  taskName: Monthly report
  scheduleType: cron
  scheduleConfig: { cron: \"0 9 1 * *\", timezone: Asia/Taipei }
  taskConfig:
    taskType: report
    targetConfig: { triggerType: http, url: \"https://reports.example.com/run\" }
    taskPayload: { reportType: monthly }
    retryConfig: { maxRetries: 2, retryIntervalMinutes: 30 }")]
pub(crate) struct ScheduleArgs {
    /// The task, in a file in JSON or YAML, or - for standard input
    #[arg(long, short, value_name = "FILE")]
    file: PathBuf,
}

/// Commands about scheduled tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum ScheduledCommand {
    /// List scheduled tasks, newest first
    List(ListArgs),
    /// Show a scheduled task: what it calls, when, and its state
    Show(show::ShowArgs),
    /// Show what became of each attempt, newest first
    History(history::HistoryArgs),
    /// Change a scheduled task; fields not named stay as they are
    Update(act::UpdateArgs),
    /// Pause a scheduled task: no new cycle begins until it is resumed
    Pause(act::PauseArgs),
    /// Resume a paused task; cycles planned during the pause are skipped
    Resume(act::ResumeArgs),
    /// Cancel a scheduled task, and what is open of it
    Cancel(act::CancelArgs),
    /// Begin a cycle now, also while the task is paused
    Run(act::RunArgs),
    /// Cancel a scheduled task and hide it; its executions are kept
    #[command(visible_alias = "rm")]
    Delete(act::DeleteArgs),
}

/// Options of `scheduled list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled list
  refire scheduled list --active true --schedule cron
  refire scheduled list --finished false --search report --limit 5")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: ScheduledQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

const COLUMNS: [Column<ScheduledTask>; 7] = [
    text("TASK", |task, _| cell(&task.task_id)),
    text("NAME", |task, _| maybe(task.task_name.as_ref())),
    text("SCHEDULE", |task, _| cell(task.schedule_type.name())),
    text("STATE", |task, _| status_cell(state(task))),
    number("CYCLES", |task, _| Cell::new(task.cycles)),
    text("LAST", |task, _| match task.last_execution_status {
        Some(status) => status_cell(status.name()),
        None => cell(""),
    }),
    text("NEXT", |task, now| {
        maybe(
            task.next_execution_time
                .as_ref()
                .map(|at| relative(at, now)),
        )
    }),
];

/// Where a task stands, in a word.
fn state(task: &ScheduledTask) -> &'static str {
    match task {
        _ if task.cancelled_at.is_some() => "cancelled",
        _ if task.is_finished => "finished",
        _ if task.is_active => "active",
        _ => "paused",
    }
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &ScheduledCommand) -> anyhow::Result<Outcome> {
    match command {
        ScheduledCommand::List(args) => list(session, args).await,
        ScheduledCommand::Show(args) => show::run(session, args).await,
        ScheduledCommand::History(args) => history::run(session, args).await,
        ScheduledCommand::Update(args) => act::update(session, args).await,
        ScheduledCommand::Pause(args) => act::pause(session, args).await,
        ScheduledCommand::Resume(args) => act::resume(session, args).await,
        ScheduledCommand::Cancel(args) => act::cancel(session, args).await,
        ScheduledCommand::Run(args) => act::run(session, args).await,
        ScheduledCommand::Delete(args) => act::delete(session, args).await,
    }
}

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let paging = Paging::first(args.limit);
    let found = session
        .client()?
        .scheduled_tasks(&args.query, &paging)
        .await?;
    if session.is_json() {
        return print_json(&found);
    }
    let page = Page {
        items: found.items,
        next_cursor: found.next_cursor,
    };
    let nothing = match args.query.is_empty() {
        true => format!(
            "no scheduled tasks; make one with: {}",
            command("refire schedule-task -f FILE")
        ),
        false => format!(
            "no scheduled task matches; see all with: {}",
            command("refire scheduled list")
        ),
    };
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

/// Makes a task.
pub(crate) async fn schedule(session: &Session, args: &ScheduleArgs) -> anyhow::Result<Outcome> {
    let source = read(&args.file)?;
    let made = match session.client()?.schedule_task(&source.text).await {
        Ok(made) => made,
        Err(error) => return refused(session, &source.file, error),
    };
    if session.is_json() {
        return print_json(&made);
    }
    print(&made.task_id)?;
    for said in &made.warnings {
        say!("{} {said}", warning("warning:"));
    }
    let history = command(&format!("refire scheduled history {}", made.task_id));
    match &made.next_execution_time {
        Some(next) => say!(
            "the first cycle begins {}; see what becomes of it with: {history}",
            both(next, session.now())
        ),
        None => say!("it has begun; see what becomes of it with: {history}"),
    }
    Ok(Outcome::Done)
}

/// Says what the server does not take.
fn refused(session: &Session, file: &str, error: refire_client::Error) -> anyhow::Result<Outcome> {
    let problem = match error {
        refire_client::Error::Problem(problem)
            if problem.code == codes::INVALID_TASK.code && !session.is_json() =>
        {
            problem
        }
        other => return Err(other.into()),
    };
    for field in &problem.errors {
        say!("{} {file}: {}", bad("error:"), field_line(field));
    }
    let page = command(&format!("refire explain {}", codes::INVALID_TASK.code));
    say!("nothing was saved; for help run '{page}'");
    Ok(Outcome::Refused)
}
