//! `refire workflow`: definitions from file to server and back.

mod apply;
mod diff;
mod show;

use std::path::PathBuf;

use clap::{Args, Subcommand};
use comfy_table::Cell;
use refire_client::query::{OfWorkflow, Paging, TriggerQuery};
use refire_client::{Client, every};

pub(crate) use diff::lines as change_lines;

use super::moment::relative;
use super::outcome::Outcome;
use super::output::{confirm, print, print_json, say};
use super::paint::command;
use super::session::Session;
use super::table::{Grid, cell, maybe};

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
    List,
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
        WorkflowCommand::List => list(session).await,
        WorkflowCommand::Show(args) => show::run(session, args).await,
        WorkflowCommand::Versions(args) => versions(session, args).await,
        WorkflowCommand::Delete(args) => delete(session, args).await,
    }
}

async fn list(session: &Session) -> anyhow::Result<Outcome> {
    // All of them: there are few, and half a list of names is of no use.
    let client = session.client()?;
    let page = every(async |paging| client.workflows(paging).await).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        say(&format!(
            "no workflows yet. Add one with: {}",
            command("refire workflow apply -f FILE")
        ));
        return Ok(Outcome::Done);
    }
    let mut grid = Grid::new(&["WORKFLOW", "VERSION", "STEPS", "UPDATED", "NAME"]);
    grid = grid.right(1).right(2);
    for workflow in &page.items {
        let named = (workflow.name != workflow.workflow_id).then_some(workflow.name.as_str());
        grid.row(vec![
            cell(&workflow.workflow_id),
            Cell::new(workflow.version),
            Cell::new(workflow.steps),
            cell(&relative(&workflow.updated_at, session.now())),
            maybe(named),
        ]);
    }
    print(&grid.lines(0))?;
    Ok(Outcome::Done)
}

async fn versions(session: &Session, args: &VersionsArgs) -> anyhow::Result<Outcome> {
    let page = session.client()?.workflow_versions(&args.id).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    let mut grid = Grid::new(&["VERSION", "SAVED", "BY", "CONTENT"]).right(0);
    for version in &page.items {
        grid.row(vec![
            Cell::new(version.version),
            cell(&relative(&version.created_at, session.now())),
            cell(&version.created_by),
            cell(&version.content_hash),
        ]);
    }
    print(&grid.lines(0))?;
    Ok(Outcome::Done)
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
        say(&format!(
            "{} is deleted; its executions and dead letters are kept",
            args.id
        ));
        if deleted.triggers_disabled > 0 {
            say(&format!("{} with it", disabled(deleted.triggers_disabled)));
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
