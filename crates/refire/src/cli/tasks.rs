//! `refire tasks`: what workers are to do, and stepping in by hand.

mod act;
mod show;

use refire_client::model::{Page, Task, TaskStatus};
use refire_client::query::{Paging, Query, TaskQuery};

use crate::cli::prelude::*;

/// Commands about tasks.
#[derive(Debug, Subcommand)]
pub(crate) enum TasksCommand {
    /// List tasks, newest first
    List(ListArgs),
    /// Show one task: who has it, its clocks, its input and output
    Show(show::ShowArgs),
    /// Take a task from the worker that has it: another one gets it
    ///
    /// That is no attempt. If its step has `requireLockToken`, the token of the lock is needed.
    Unlock(act::UnlockArgs),
    /// Complete a task by hand, in place of the worker that has it
    ///
    /// Its execution goes on with this output, and the worker's own report is refused. Only a task that a
    /// worker has can be completed. If its step has `requireLockToken`, the token of the lock is needed.
    Complete(act::CompleteArgs),
    /// Fail a task by hand, in place of the worker that has it
    ///
    /// That is an attempt. Only a task that a worker has can fail so. If its step has `requireLockToken`, the
    /// token of the lock is needed.
    Fail(act::FailArgs),
}

/// Options of `tasks list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire tasks list --status pending,locked
  refire tasks list --type n8n-jira-create-ticket --limit 5
  refire tasks list --worker n8n-worker-1 --status locked
  refire tasks list --execution exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --format json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: TaskQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &TasksCommand) -> anyhow::Result<Outcome> {
    match command {
        TasksCommand::List(args) => list(session, args).await,
        TasksCommand::Show(args) => show::run(session, args).await,
        TasksCommand::Unlock(args) => act::unlock(session, args).await,
        TasksCommand::Complete(args) => act::complete(session, args).await,
        TasksCommand::Fail(args) => act::fail(session, args).await,
    }
}

const COLUMNS: [Column<Task>; 8] = [
    text("TASK", |task, _| cell(&task.id)),
    text("TYPE", |task, _| cell(&task.task_type)),
    text("STATUS", |task, _| status_cell(task.status.name())),
    number("FAILED", |task, _| {
        cell(format!("{}/{}", task.retry_count, task.max_retries))
    }),
    optional("WORKER", |task, _| maybe(task.worker_id.as_ref())),
    text("CREATED", |task, now| cell(relative(&task.created_at, now))),
    optional("UNTIL", |task, now| maybe(until(task, now))),
    optional("NOTE", |task, _| maybe(note(task))),
];

/// What the task waits for, and how long still.
fn until(task: &Task, now: Timestamp) -> Option<String> {
    let lock = task.lock_expires_at.as_ref();
    match task.status {
        TaskStatus::Locked => lock.map(|at| format!("lock {}", relative(at, now))),
        TaskStatus::Pending if is_ahead(&task.available_at, now) => {
            Some(format!("free {}", relative(&task.available_at, now)))
        }
        TaskStatus::Pending => Some(format!("timeout {}", relative(&task.timeout_at, now))),
        _ => None,
    }
}

fn is_ahead(at: &str, now: Timestamp) -> bool {
    at.parse::<Timestamp>().is_ok_and(|at| at > now)
}

/// How far its worker is, or what the last attempt failed with.
fn note(task: &Task) -> Option<String> {
    progress(task).or_else(|| task.error_message.clone())
}

/// `50%, half of it`
fn progress(task: &Task) -> Option<String> {
    let percent = task.progress.map(|percent| format!("{percent}%"));
    let said: Vec<String> = percent
        .into_iter()
        .chain(task.progress_message.clone())
        .collect();
    (!said.is_empty()).then(|| said.join(", "))
}

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut query = args.query.clone();
    if let Some(id) = &query.execution_id {
        query.execution_id = Some(ids::execution(id)?.to_owned());
    }
    let paging = Paging::first(args.limit);
    let listed = session.client()?.tasks(&query, &paging).await?;
    let page = Page {
        items: listed.items.clone(),
        next_cursor: listed.next_cursor.clone(),
    };
    let nothing = match query.is_empty() {
        false => "no matching tasks. Leave out the options to list all.".to_owned(),
        true => format!(
            "no tasks yet. A step of type external_task makes one when its turn comes; \
             start such a workflow with: {}",
            command("refire execute WORKFLOW --input '{}'")
        ),
    };
    session
        .list_of(&listed, &page, &COLUMNS, async || Ok(nothing))
        .await
}
