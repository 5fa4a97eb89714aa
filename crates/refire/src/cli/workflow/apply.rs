//! `refire workflow apply` and `validate`: definitions are checked here first, so that mistakes
//! are shown in the file where they were made.

use clap::Args;
use refire_client::model::{FieldProblem, Page, WorkflowSaved};
use refire_core::definition::Workflow;
use serde::Serialize;

use super::Files;
use crate::cli::definitions::{Source, is_one_file, read_all};
use crate::cli::excerpt::field_problem;
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{bad, clean, dim, good};
use crate::cli::session::Session;

/// Options of `workflow apply`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow apply -f customer_360_view.yaml
  refire workflow apply -f workflows/
  jsonnet -y workflows.jsonnet | refire workflow apply -f -      several YAML documents")]
pub(crate) struct ApplyArgs {
    #[command(flatten)]
    files: Files,
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
        say(&format!("{} nothing was saved", bad("error:")));
        return Ok(Outcome::Refused);
    }
    let client = session.client()?;
    let mut saved = Vec::new();
    for (source, workflow) in &checked {
        let Some(workflow) = workflow else { continue };
        let one = match client
            .apply_workflow(workflow.id.as_str(), &source.text)
            .await
        {
            Ok(one) => one,
            Err(error) if show_places(source, &error) => {
                say(&format!(
                    "{} the server refused {}; it was not saved",
                    bad("error:"),
                    workflow.id
                ));
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
        match saved.as_slice() {
            [one] if is_one_file(paths) => print_json(one)?,
            _ => print_json(&Page {
                items: saved,
                next_cursor: None,
            })?,
        }
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
    let valid = if session.is_json() {
        let files: Vec<_> = sources.iter().map(check).collect();
        let valid = files.iter().all(|file| file.problems.is_empty());
        print_json(&Report { valid, files })?;
        valid
    } else {
        let mut valid = true;
        for source in &sources {
            match source.check() {
                Some(workflow) => print(&ok_line(source, &workflow))?,
                None => valid = false,
            }
        }
        valid
    };
    Ok(if valid {
        Outcome::Done
    } else {
        Outcome::Refused
    })
}

fn check(source: &Source) -> Checked {
    let file = source.file.clone();
    match source.parse() {
        Ok(workflow) => Checked {
            file,
            workflow_id: Some(workflow.id.to_string()),
            problems: Vec::new(),
        },
        Err(problems) => Checked {
            file,
            workflow_id: None,
            problems: problems.iter().map(field_problem).collect(),
        },
    }
}

fn ok_line(source: &Source, workflow: &Workflow) -> String {
    let count = workflow.steps.len();
    let steps = if count == 1 { "step" } else { "steps" };
    format!(
        "{}: {} ({}, {count} {steps})",
        source.file,
        good("valid"),
        workflow.id
    )
}
