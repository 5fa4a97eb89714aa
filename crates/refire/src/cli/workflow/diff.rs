//! `refire workflow diff`: what a definition would change, or what a version changed.

use std::path::PathBuf;

use anyhow::bail;
use refire_client::Client;
use refire_client::model::{Change, Raw, WorkflowDiff};

use crate::cli::definitions;
use crate::cli::prelude::*;

/// The longest value that stands on the line of its path.
const SHORT_CHARS_MAX: usize = 80;

/// Options of `workflow diff`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire workflow diff -f ship_order.yaml          the file against the newest version
  refire workflow diff ship_order                  the newest version against the one before
  refire workflow diff ship_order --from 1 --to 3")]
pub(crate) struct DiffArgs {
    /// The workflow's id, to compare two of its versions
    #[arg(required_unless_present = "file", conflicts_with = "file")]
    id: Option<String>,
    /// A definition to compare with the newest version (- for standard input)
    #[arg(long, short = 'f', value_name = "FILE")]
    file: Option<PathBuf>,
    /// The older version [default: the one before --to]
    #[arg(long, value_name = "VERSION", requires = "id")]
    from: Option<u32>,
    /// The newer version [default: the newest]
    #[arg(long, value_name = "VERSION", requires = "id")]
    to: Option<u32>,
}

/// Shows the difference.
pub(super) async fn run(session: &Session, args: &DiffArgs) -> anyhow::Result<Outcome> {
    let diff = match (&args.file, &args.id) {
        (Some(file), _) => {
            let source = definitions::read(file)?;
            let Some(workflow) = source.check() else {
                return Ok(Outcome::Refused);
            };
            session
                .client()?
                .diff_workflow(workflow.id.as_str(), &source.text)
                .await?
        }
        (None, Some(id)) => versions(&session.client()?, id, args).await?,
        (None, None) => bail!("give a workflow id or a file"),
    };
    if session.is_json() {
        return print_json(&diff);
    }
    say(&dim(&sides(&diff)));
    if diff.changes.is_empty() {
        say("no differences");
    } else {
        print(&lines(&diff.changes))?;
    }
    Ok(Outcome::Done)
}

async fn versions(client: &Client, id: &str, args: &DiffArgs) -> anyhow::Result<WorkflowDiff> {
    let to = match args.to {
        Some(to) => to,
        None => client.workflow(id).await?.version,
    };
    let from = args.from.unwrap_or_else(|| to.saturating_sub(1));
    if from == 0 {
        bail!("{id} has only one version, so there is nothing to compare");
    }
    Ok(client.diff_versions(id, from, to).await?)
}

fn sides(diff: &WorkflowDiff) -> String {
    let from = diff
        .from_version
        .map_or_else(|| "nothing".to_owned(), |from| format!("v{from}"));
    let to = diff
        .to_version
        .map_or_else(|| "the file".to_owned(), |to| format!("v{to}"));
    format!("from {from} to {to}")
}

/// The changes, a mark and a path each.
pub(crate) fn lines(changes: &[Change]) -> String {
    let mut out = String::new();
    for change in changes {
        let path = clean(&change.path);
        let path = if path.is_empty() {
            "(all)".into()
        } else {
            path
        };
        let _ = match change.kind.as_str() {
            "added" => writeln!(out, "{} {path}: {}", good("+"), value(change.new.as_ref())),
            "removed" => writeln!(out, "{} {path}: {}", bad("-"), value(change.old.as_ref())),
            "changed" => writeln!(
                out,
                "{} {path}: {} {} {}",
                warning("~"),
                value(change.old.as_ref()),
                dim("→"),
                value(change.new.as_ref())
            ),
            kind => writeln!(out, "{} {path} {}", warning("~"), clean(kind)),
        };
    }
    out
}

fn value(raw: Option<&Raw>) -> String {
    let Some(raw) = raw else {
        return "null".to_owned();
    };
    let text = raw.get();
    if text.chars().count() <= SHORT_CHARS_MAX && !text.contains('\n') {
        clean(text).into_owned()
    } else {
        indented(text, 4)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_of_change_has_its_mark() {
        let changes: Vec<Change> = serde_json::from_str(
            r#"[{"path": "steps[a].config.url", "kind": "changed", "old": "\"x\"", "new": 1},
                {"path": "name", "kind": "added", "old": null, "new": "n"},
                {"path": "retry", "kind": "removed", "old": 12345678901234567890, "new": null},
                {"path": "steps[b]", "kind": "moved", "old": null, "new": null}]"#,
        )
        .unwrap();
        let expected = r#"~ steps[a].config.url: "\"x\"" → 1
+ name: "n"
- retry: 12345678901234567890
~ steps[b] moved
"#;
        assert_eq!(
            anstream::adapter::strip_str(&lines(&changes)).to_string(),
            expected
        );
    }

    #[test]
    fn both_sides_are_named() {
        let diff = |from, to| WorkflowDiff {
            from_version: from,
            to_version: to,
            changes: vec![],
        };
        assert_eq!(sides(&diff(Some(1), Some(2))), "from v1 to v2");
        assert_eq!(sides(&diff(None, None)), "from nothing to the file");
    }
}
