//! `refire workflow show`: a workflow and its definition.

use clap::Args;
use refire_client::model::{Workflow, WorkflowVersion};

use crate::cli::moment::both;
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, print_raw};
use crate::cli::paint::{clean, dim, heading};
use crate::cli::session::Session;

/// Options of `workflow show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow show ship_order
  refire workflow show ship_order --version 1
  refire workflow show ship_order --source > ship_order.yaml")]
pub(crate) struct ShowArgs {
    /// The workflow's id
    id: String,
    /// Show this version [default: the newest]
    #[arg(long, value_name = "N")]
    version: Option<u32>,
    /// Print only the definition's text, exactly as it was sent
    #[arg(long)]
    source: bool,
}

/// Shows the workflow.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    if let Some(number) = args.version {
        let version = client.workflow_version(&args.id, number).await?;
        let text = version.source.clone().unwrap_or_default();
        return show(
            session,
            args,
            &version,
            &text,
            &version_head(session, &version),
        );
    }
    let workflow = client.workflow(&args.id).await?;
    let text = workflow.source.clone().unwrap_or_default();
    show(
        session,
        args,
        &workflow,
        &text,
        &workflow_head(session, &workflow),
    )
}

fn show(
    session: &Session,
    args: &ShowArgs,
    document: &impl serde::Serialize,
    source: &str,
    head: &str,
) -> anyhow::Result<Outcome> {
    if args.source {
        print_raw(source.as_bytes())?;
    } else if session.is_json() {
        print_json(document)?;
    } else {
        print(&format!("{head}\n{}", lines(source)))?;
    }
    Ok(Outcome::Done)
}

/// The text with its lines kept and everything else made harmless.
fn lines(source: &str) -> String {
    source
        .lines()
        .map(|line| format!("  {}\n", clean(line)))
        .collect()
}

fn workflow_head(session: &Session, workflow: &Workflow) -> String {
    let now = session.now();
    let mut out = format!("{} v{}", heading(&workflow.workflow_id), workflow.version);
    if workflow.name != workflow.workflow_id {
        out.push_str(&format!("  {}", clean(&workflow.name)));
    }
    out.push('\n');
    if let Some(description) = &workflow.description {
        out.push_str(&format!("  {}\n", clean(description)));
    }
    for (name, value) in [
        ("steps", workflow.steps.to_string()),
        ("created", both(&workflow.created_at, now)),
        ("updated", both(&workflow.updated_at, now)),
    ] {
        out.push_str(&format!("  {} {value}\n", dim(&format!("{name:<8}"))));
    }
    out
}

fn version_head(session: &Session, version: &WorkflowVersion) -> String {
    format!(
        "{} v{}\n  {} {} by {}\n  {} {}\n",
        heading(&version.workflow_id),
        version.version,
        dim("saved   "),
        both(&version.created_at, session.now()),
        clean(&version.created_by),
        dim("content "),
        clean(&version.content_hash),
    )
}
