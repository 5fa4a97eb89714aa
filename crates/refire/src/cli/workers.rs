//! `refire workers`: who does tasks, and letting go of who does not any more.

use refire_client::model::{Page, Worker};
use refire_client::query::{Paging, Query, WorkerQuery};

use crate::cli::prelude::*;

/// Commands about workers.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkersCommand {
    /// List workers by name: what they ask for, what they have, when they were last heard of
    ///
    /// ACTIVE: it has a task, or asked for one in the last minute. IDLE: heard of in the last five minutes.
    /// DEAD: not heard of for longer. Workers that send no workerId are not listed.
    List(ListArgs),
    /// Forget a worker: other workers get the tasks that it has
    ///
    /// That is no attempt. A worker that asks for tasks again is listed again.
    Remove(RemoveArgs),
}

/// Options of `workers list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workers list
  refire workers list --status active,idle --type n8n
  refire workers list --q jira --format json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: WorkerQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `workers remove`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workers remove n8n-worker-1
  refire workers remove n8n-worker-1 --yes")]
pub(crate) struct RemoveArgs {
    /// The worker's name
    name: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &WorkersCommand) -> anyhow::Result<Outcome> {
    match command {
        WorkersCommand::List(args) => list(session, args).await,
        WorkersCommand::Remove(args) => remove(session, args).await,
    }
}

const COLUMNS: [Column<Worker>; 8] = [
    text("WORKER", |worker, _| cell(&worker.worker_id)),
    optional("TYPE", |worker, _| maybe(worker.worker_type.as_ref())),
    text("STATUS", |worker, _| status_cell(worker.status.name())),
    number("HAS", |worker, _| Cell::new(worker.held)),
    number("DONE", |worker, _| Cell::new(worker.tasks_completed)),
    number("FAILED", |worker, _| Cell::new(worker.tasks_failed)),
    text("SEEN", |worker, now| {
        cell(relative(&worker.updated_at, now))
    }),
    text("ASKS FOR", |worker, _| cell(worker.task_types.join(", "))),
];

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let paging = Paging::first(args.limit);
    let listed = session.client()?.workers(&args.query, &paging).await?;
    let page = Page {
        items: listed.items.clone(),
        next_cursor: listed.next_cursor.clone(),
    };
    let nothing = match args.query.is_empty() {
        false => "no matching workers. Leave out the options to list all.".to_owned(),
        true => format!(
            "no workers yet. A worker is listed when it asks for tasks with a workerId; \
             see what waits for one with: {}",
            command("refire tasks list --status pending")
        ),
    };
    session
        .list_of(&listed, &page, &COLUMNS, async || Ok(nothing))
        .await
}

async fn remove(session: &Session, args: &RemoveArgs) -> anyhow::Result<Outcome> {
    let name = &args.name;
    let client = session.client()?;
    if !confirm(&format!("Remove the worker {}?", clean(name)), args.yes)? {
        return Ok(Outcome::Refused);
    }
    let removed = client.remove_worker(name).await?;
    session.answer(&removed, || {
        let back = match removed.released {
            0 => "it had no tasks".to_owned(),
            count => format!("others can fetch {}", counted(count, "task")),
        };
        format!("{} is removed; {back}\n", clean(name))
    })
}
