//! `refire workflow`: definitions from file to server and back.

mod apply;
mod diff;
mod show;

use std::path::PathBuf;

use refire_client::model::{Workflow, WorkflowVersion};
use refire_client::query::{OfWorkflow, Paging, TriggerQuery, WorkflowQuery};
use refire_client::{Client, every};

pub(crate) use diff::lines as change_lines;

use crate::cli::prelude::*;

/// Commands about workflows.
#[derive(Debug, Subcommand)]
pub(crate) enum WorkflowCommand {
    /// Save definitions; an unchanged one does not create a new version
    Apply(apply::ApplyArgs),
    /// Check definitions without a server, and show errors with line and column
    Validate(apply::ValidateArgs),
    /// Show what a file would change, or what changed between two versions
    Diff(diff::DiffArgs),
    /// List workflows
    List(ListArgs),
    /// Show a workflow with its definition
    Show(show::ShowArgs),
    /// List a workflow's versions, newest first
    Versions(VersionsArgs),
    /// Delete a workflow; its executions and dead letters are kept
    Delete(DeleteArgs),
}

/// Definition files.
#[derive(Debug, Args)]
pub(crate) struct Files {
    /// Definitions in YAML or JSON, a directory of them, or - for standard input
    #[arg(long = "file", short = 'f', value_name = "FILE", required = true, num_args = 1..)]
    files: Vec<PathBuf>,
}

/// Options of `workflow list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow list
  refire workflow list --search crm --sort=-updated")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: WorkflowQuery,
}

/// Options of `workflow versions`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow versions ship_order
  refire workflow diff ship_order --from 1 --to 2")]
pub(crate) struct VersionsArgs {
    /// The workflow's id
    id: String,
}

/// Options of `workflow delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow delete ship_order
  refire workflow delete ship_order --yes")]
pub(crate) struct DeleteArgs {
    /// The workflow's id
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &WorkflowCommand) -> anyhow::Result<Outcome> {
    match command {
        WorkflowCommand::Apply(args) => apply::apply(session, args).await,
        WorkflowCommand::Validate(args) => apply::validate(session, args),
        WorkflowCommand::Diff(args) => diff::run(session, args).await,
        WorkflowCommand::List(args) => list(session, args).await,
        WorkflowCommand::Show(args) => show::run(session, args).await,
        WorkflowCommand::Versions(args) => versions(session, args).await,
        WorkflowCommand::Delete(args) => delete(session, args).await,
    }
}

const COLUMNS: [Column<Workflow>; 5] = [
    text("WORKFLOW", |one, _| cell(&one.workflow_id)),
    number("VERSION", |one, _| Cell::new(one.version)),
    number("STEPS", |one, _| Cell::new(one.steps)),
    text("UPDATED", |one, now| cell(relative(&one.updated_at, now))),
    text("NAME", |one, _| {
        maybe((one.name != one.workflow_id).then_some(&one.name))
    }),
];

const VERSIONS: [Column<WorkflowVersion>; 4] = [
    number("VERSION", |one, _| Cell::new(one.version)),
    text("SAVED", |one, now| cell(relative(&one.created_at, now))),
    text("BY", |one, _| cell(&one.created_by)),
    text("CONTENT", |one, _| cell(&one.content_hash)),
];

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    // All of them: there are few, and half a list of names is of no use.
    let client = session.client()?;
    let query = &args.query;
    let page = every(async |paging| client.workflows(query, paging).await).await?;
    let nothing = async || {
        Ok(match query.q {
            Some(_) => "no matching workflows. `refire workflow list` shows all.".to_owned(),
            None => {
                let apply = command("refire workflow apply -f FILE");
                format!("no workflows yet. Add one with: {apply}")
            }
        })
    };
    session.list(&page, &COLUMNS, nothing).await
}

async fn versions(session: &Session, args: &VersionsArgs) -> anyhow::Result<Outcome> {
    let page = session.client()?.workflow_versions(&args.id).await?;
    let rows = || table(&VERSIONS, &page.items, session.now()).lines(0);
    session.answer(&page, rows)
}

async fn delete(session: &Session, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    if !args.yes && !confirm(&question(&client, &args.id).await, args.yes)? {
        return Ok(Outcome::Refused);
    }
    let deleted = client.delete_workflow(&args.id).await?;
    if session.is_json() {
        print_json(&deleted)?;
    } else {
        say!(
            "{} is deleted; its executions and dead letters are kept",
            args.id
        );
        if deleted.triggers_disabled > 0 {
            say!("{} with it", disabled(deleted.triggers_disabled));
        }
    }
    Ok(Outcome::Done)
}

/// What is asked before a workflow is deleted, with what becomes of its triggers.
async fn question(client: &Client, id: &str) -> String {
    let of = OfWorkflow {
        workflow: Some(id.to_owned()),
    };
    let query = TriggerQuery {
        enabled: Some(true),
        ..TriggerQuery::default()
    };
    let enabled = client.triggers(&of, &query, &Paging::first(1_000)).await;
    match enabled.map_or(0, |page| page.items.len() as u64) {
        0 => format!("Delete the workflow {id}?"),
        count => format!("Delete the workflow {id}? {} with it.", disabled(count)),
    }
}

fn disabled(count: u64) -> String {
    match count {
        1 => "1 trigger is disabled".to_owned(),
        count => format!("{count} triggers are disabled"),
    }
}
