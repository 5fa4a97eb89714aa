//! `refire workflow show`: a workflow and its definition.

use refire_client::model::{Workflow, WorkflowVersion};

use crate::cli::prelude::*;

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
        let source = version.source.as_deref().unwrap_or_default();
        return show(session, args, &version, source, |now| {
            of_version(&version, now)
        });
    }
    let workflow = client.workflow(&args.id).await?;
    let source = workflow.source.as_deref().unwrap_or_default();
    show(session, args, &workflow, source, |now| {
        of_workflow(&workflow, now)
    })
}

fn show(
    session: &Session,
    args: &ShowArgs,
    document: &impl serde::Serialize,
    source: &str,
    head: impl FnOnce(Timestamp) -> Screen,
) -> anyhow::Result<Outcome> {
    if args.source {
        print_raw(source.as_bytes())?;
        return Ok(Outcome::Done);
    }
    // The text with its lines kept and everything else made harmless.
    let lines = source.lines().map(|line| format!("  {}\n", clean(line)));
    session.answer(document, || {
        head(session.now())
            .line("")
            .lines(lines.collect::<String>())
            .text()
    })
}

fn of_workflow(workflow: &Workflow, now: Timestamp) -> Screen {
    let mut head = format!("{} v{}", heading(&workflow.workflow_id), workflow.version);
    if workflow.name != workflow.workflow_id {
        let _ = write!(head, "  {}", clean(&workflow.name));
    }
    let about = workflow.description.as_deref();
    let about = about.map(|about| format!("  {}\n", clean(about)));
    let facts = [
        ("steps", Some(workflow.steps.to_string())),
        ("created", Some(both(&workflow.created_at, now))),
        ("updated", Some(both(&workflow.updated_at, now))),
    ];
    Screen::new(head + "\n")
        .lines(about.unwrap_or_default())
        .facts(8, facts)
}

fn of_version(version: &WorkflowVersion, now: Timestamp) -> Screen {
    let saved = both(&version.created_at, now);
    let saved = format!("{saved} by {}", clean(&version.created_by));
    let content = clean(&version.content_hash).into_owned();
    let head = format!("{} v{}\n", heading(&version.workflow_id), version.version);
    Screen::new(head).facts(8, [("saved", Some(saved)), ("content", Some(content))])
}
