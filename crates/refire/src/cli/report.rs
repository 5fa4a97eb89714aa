//! What is said when a command fails, always on the standard error.

use std::io;

use refire_client::model::{FieldProblem, Problem};

use super::globals::DEFAULT_URL;
use super::output::say;
use super::paint::{bad, clean, command};
use super::session::Session;

const UNAUTHORIZED: u16 = 401;

/// Whether an error only says that nobody reads on, as after `| head -1`.
pub(crate) fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error.chain().any(|cause| {
        cause
            .downcast_ref::<io::Error>()
            .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
    })
}

/// Explains a failure.
pub(crate) fn report(error: &anyhow::Error, session: &Session) {
    if session.is_json() {
        say(&document(error));
    } else {
        say(&text(error, session));
    }
}

fn client_error(error: &anyhow::Error) -> Option<&refire_client::Error> {
    error.chain().find_map(|cause| cause.downcast_ref())
}

/// For people.
fn text(error: &anyhow::Error, session: &Session) -> String {
    let head = bad("error:");
    match client_error(error) {
        Some(refire_client::Error::Problem(problem)) => {
            let mut lines = vec![format!("{head} {}", clean(&problem.detail))];
            lines.extend(
                problem
                    .errors
                    .iter()
                    .map(|field| format!("  {}", field_line(field))),
            );
            if problem.status == UNAUTHORIZED {
                lines.push(key_help(session));
            }
            lines.push(code_line(problem));
            lines.join("\n")
        }
        Some(unreachable @ refire_client::Error::Unreachable { url, .. }) => {
            format!("{head} {}", unreachable_text(url, unreachable))
        }
        // The whole chain: the outermost sentence alone rarely says why.
        _ => format!("{head} {}", clean(&format!("{error:#}"))),
    }
}

fn code_line(problem: &Problem) -> String {
    let code = clean(&problem.code);
    format!(
        "code {code} — run '{}'",
        command(&format!("refire explain {code}"))
    )
}

/// One wrong field.
pub(crate) fn field_line(field: &FieldProblem) -> String {
    let mut line = String::new();
    if !field.field.is_empty() {
        line.push_str(&clean(&field.field));
        line.push_str(": ");
    }
    line.push_str(&clean(&field.message));
    if let (Some(at), Some(column)) = (field.line, field.column) {
        line.push_str(&format!(" (line {at}, column {column})"));
    }
    if let Some(hint) = &field.hint {
        line.push_str("; ");
        line.push_str(&clean(hint));
    }
    line
}

fn unreachable_text(url: &str, error: &refire_client::Error) -> String {
    if error.is_timeout() {
        return format!("{url} did not answer in time");
    }
    let cause = error.cause();
    let start = command(if url == DEFAULT_URL {
        "refire serve"
    } else {
        "refire serve --listen …"
    });
    format!(
        "cannot reach {url} — is it running? start it with: {start}\n  {}",
        clean(&cause)
    )
}

fn key_help(session: &Session) -> String {
    let path = session.key_path();
    let own = if !session.is_local() {
        "a key is never sent to another machine unless you give it".to_owned()
    } else if path.exists() {
        format!(
            "for a server on this machine the one in {} is used",
            path.display()
        )
    } else {
        format!(
            "for a server on this machine the one in {} is used, but that file is not there; \
             --data-dir says where the server keeps it",
            path.display()
        )
    };
    format!("give a key with --api-key or REFIRE_API_KEY; {own}")
}

/// For programs: the problem of the API, or one made of what happened here.
fn document(error: &anyhow::Error) -> String {
    let text = match client_error(error) {
        Some(refire_client::Error::Problem(problem)) => serde_json::to_string(problem),
        Some(unreachable @ refire_client::Error::Unreachable { url, .. }) => {
            let cause = unreachable.cause();
            serde_json::to_string(&serde_json::json!({
                "title": "unreachable",
                "detail": format!("{url} cannot be reached: {cause}"),
            }))
        }
        _ => serde_json::to_string(&serde_json::json!({
            "title": "error",
            "detail": format!("{error:#}"),
        })),
    };
    text.unwrap_or_else(|_| format!("{error:#}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_says_where_and_what_would_be_right() {
        let field = FieldProblem {
            field: "steps[1].needs[0]".to_owned(),
            message: "unknown step \"ticket\"".to_owned(),
            line: Some(8),
            column: Some(12),
            hint: Some("did you mean \"tickets\"?".to_owned()),
        };
        assert_eq!(
            field_line(&field),
            "steps[1].needs[0]: unknown step \"ticket\" (line 8, column 12); \
             did you mean \"tickets\"?"
        );
    }

    #[test]
    fn a_reader_that_left_is_recognised() {
        let pipe = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(is_broken_pipe(&pipe.context("writing")));
        assert!(!is_broken_pipe(&anyhow::anyhow!("else")));
    }
}
