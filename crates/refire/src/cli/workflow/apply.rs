//! `refire workflow apply` and `validate`: definitions are checked here first, so that mistakes
//! are shown in the file where they were made.

use refire_client::model::{FieldProblem, Page, WorkflowSaved};
use refire_core::definition::Workflow;
use serde::Serialize;

use super::Files;
use crate::cli::definitions::{Source, is_one_file, read_all};
use crate::cli::excerpt::field_problem;
use crate::cli::prelude::*;

/// Options of `workflow apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow apply -f customer_360_view.yaml
  refire workflow apply -f workflows/
  refire workflow apply -f customer_360_view.yaml --if-version 7      only if nobody saved a newer one
  jsonnet -y workflows.jsonnet | refire workflow apply -f -      several YAML documents")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    files: Files,
    /// Save only if this is the newest version; for one definition
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    if_version: Option<u32>,
}

/// Options of `workflow validate`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow validate -f customer_360_view.yaml
  refire workflow validate -f workflows/ --format json
  git show HEAD:ship_order.yaml | refire workflow validate -f -")]
pub(crate) struct ValidateArgs {
    #[command(flatten)]
    files: Files,
}

/// What `validate` found, for programs.
#[derive(Debug, Serialize)]
struct Report {
    valid: bool,
    files: Vec<Checked>,
}

#[derive(Debug, Serialize)]
struct Checked {
    file: String,
    workflow_id: Option<String>,
    problems: Vec<FieldProblem>,
}

/// Saves the definitions, or none of them if one has problems.
pub(super) async fn apply(session: &Session, args: &ApplyArgs) -> anyhow::Result<Outcome> {
    let paths = &args.files.files;
    let sources = read_all(paths)?;
    let checked: Vec<_> = sources
        .iter()
        .map(|source| (source, source.check()))
        .collect();
    if checked.iter().any(|(_, workflow)| workflow.is_none()) {
        say!("{} nothing was saved", bad("error:"));
        return Ok(Outcome::Refused);
    }
    if args.if_version.is_some() && checked.len() != 1 {
        say!(
            "{} --if-version is for one definition, and there are {}; nothing was saved",
            bad("error:"),
            checked.len()
        );
        return Ok(Outcome::Misused);
    }
    let client = session.client()?;
    let mut saved = Vec::new();
    for (source, workflow) in &checked {
        let Some(workflow) = workflow else { continue };
        let one = match client
            .apply_workflow(workflow.id.as_str(), &source.text, args.if_version)
            .await
        {
            Ok(one) => one,
            Err(error) if show_places(source, &error) => {
                say!(
                    "{} the server refused {}; it was not saved",
                    bad("error:"),
                    workflow.id
                );
                return Ok(Outcome::Refused);
            }
            Err(error) => return Err(error.into()),
        };
        if !session.is_json() {
            print(&line(&one))?;
        }
        saved.push(one);
    }
    if session.is_json() {
        return match saved.as_slice() {
            [one] if is_one_file(paths) => print_json(one),
            _ => print_json(&Page {
                items: saved,
                next_cursor: None,
            }),
        };
    }
    Ok(Outcome::Done)
}

/// The server may know more than this program does; what it says about a place is shown there.
/// Gives whether that was all it said.
fn show_places(source: &Source, error: &refire_client::Error) -> bool {
    let refire_client::Error::Problem(problem) = error else {
        return false;
    };
    let has_place = |field: &FieldProblem| field.line.is_some();
    let is_all = !problem.errors.is_empty() && problem.errors.iter().all(has_place);
    if is_all {
        problem
            .errors
            .iter()
            .for_each(|field| source.show_sent(field));
    }
    is_all
}

fn line(saved: &WorkflowSaved) -> String {
    let what = match (saved.created, saved.restored) {
        (true, _) => good("saved"),
        (false, true) => good("restored"),
        (false, false) => dim("unchanged"),
    };
    let mut out = format!("{} v{} {what}\n", clean(&saved.workflow_id), saved.version);
    for note in &saved.notes {
        out.push_str(&format!("  note: {}\n", clean(note)));
    }
    out
}

/// Checks the definitions; needs no server.
pub(super) fn validate(session: &Session, args: &ValidateArgs) -> anyhow::Result<Outcome> {
    let sources = read_all(&args.files.files)?;
    let mut report = Report {
        valid: true,
        files: Vec::new(),
    };
    for source in &sources {
        let parsed = source.parse();
        report.valid &= parsed.is_ok();
        if !session.is_json() {
            if let Some(workflow) = source.shown(parsed) {
                print(&ok_line(source, &workflow))?;
            }
        } else {
            report.files.push(Checked {
                file: source.file.clone(),
                workflow_id: parsed.as_ref().ok().map(|workflow| workflow.id.to_string()),
                problems: parsed.err().iter().flatten().map(field_problem).collect(),
            });
        }
    }
    if session.is_json() {
        print_json(&report)?;
    }
    Ok(Outcome::Refused.unless(report.valid))
}

fn ok_line(source: &Source, workflow: &Workflow) -> String {
    let steps = counted(workflow.steps.len() as u64, "step");
    let (file, id) = (&source.file, &workflow.id);
    format!("{file}: {} ({id}, {steps})", good("valid"))
}
