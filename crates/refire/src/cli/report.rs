//! What is said when a command fails, always on the standard error.

use std::io;

use http::Uri;
use refire_client::model::{FieldProblem, Problem};

use super::globals::DEFAULT_URL;
use super::session::is_loopback;
use crate::cli::prelude::*;
use crate::codes;

/// Where plain HTTP goes when an address names no port.
const HTTP_PORT: u16 = 80;

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

/// What the failure means for the exit code: a wrong parameter came from the command line.
pub(crate) fn outcome(error: &anyhow::Error) -> Outcome {
    let is_usage = error.chain().any(|cause| cause.is::<Usage>());
    let is_parameter = match client_error(error) {
        Some(refire_client::Error::Problem(problem)) => {
            problem.code == codes::INVALID_PARAMETER.code
        }
        Some(refire_client::Error::Setting(_)) => true,
        _ => false,
    };
    if is_usage || is_parameter {
        Outcome::Misused
    } else {
        Outcome::Refused
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
            let mut lines = if problem.code == codes::UNAUTHORIZED.code {
                key_help(problem, session)
            } else {
                detail_lines(problem)
            };
            lines[0] = format!("{head} {}", lines[0]);
            lines.extend(task_help(problem));
            lines.push(code_line(problem));
            lines.join("\n")
        }
        Some(unreachable @ refire_client::Error::Unreachable { url, .. }) => {
            format!("{head} {}", unreachable_text(url, unreachable))
        }
        // The whole chain: the outermost sentence alone rarely says why. Lines are our own.
        _ => {
            let chain = format!("{error:#}");
            let lines: Vec<_> = chain.lines().map(clean).collect();
            format!("{head} {}", lines.join("\n"))
        }
    }
}

/// What happened, and what of the fields it does not say.
fn detail_lines(problem: &Problem) -> Vec<String> {
    let short = |field: &FieldProblem| match field.field.as_str() {
        "" => field.message.clone(),
        name => format!("{name}: {}", field.message),
    };
    let all: Vec<String> = problem.errors.iter().map(short).collect();
    if !all.is_empty() && problem.detail == all.join("; ") {
        // The detail is the fields in one line, without their hints: they are told once, in full.
        return problem.errors.iter().map(field_line).collect();
    }
    let unsaid = problem
        .errors
        .iter()
        .filter(|field| !is_said(&problem.detail, field));
    let unsaid = unsaid.map(|field| format!("  {}", field_line(field)));
    std::iter::once(clean(&problem.detail).into_owned())
        .chain(unsaid)
        .collect()
}

/// Whether the detail has all that is to be said about a field.
fn is_said(detail: &str, field: &FieldProblem) -> bool {
    detail.contains(&field.field)
        && detail.contains(&field.message)
        && field.hint.as_ref().is_none_or(|hint| detail.contains(hint))
}

/// What helps who steps in for a worker.
fn task_help(problem: &Problem) -> Option<String> {
    if problem.code != codes::TASK_NOT_HELD.code {
        return None;
    }
    // As it was sent: the client escapes everything that is no letter or digit.
    let path = problem.instance.as_deref()?.replace("%5F", "_");
    let id = path.split('/').find(|part| part.starts_with("xt_"))?;
    let show = command(&format!("refire tasks show {}", clean(id)));
    Some(match problem.detail.contains("lockToken") {
        true => format!(
            "give the token with --lock-token, or take all tasks from its worker with {}; {show} names it",
            command("refire workers remove NAME")
        ),
        false => format!("see where it stands with {show}"),
    })
}

fn code_line(problem: &Problem) -> String {
    let code = clean(&problem.code);
    format!(
        "code {code}; for help run '{}'",
        command(&format!("refire explain {code}"))
    )
}

/// Says what is wrong with an option. It was put together here, so a place in a text says nothing.
pub(crate) fn say_option(field: FieldProblem) {
    let field = FieldProblem {
        line: None,
        column: None,
        ..field
    };
    say!("{} {}", bad("error:"), field_line(&field));
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
    if error.is_plain_http() {
        let plain = url.replacen("https://", "http://", 1);
        return format!("the server answers plain HTTP; use {plain}");
    }
    let cause = error.cause();
    let cause = clean(&cause);
    let help = start_help(url);
    format!("cannot reach {url} — is it running? {help}\n  {cause}")
}

/// How a server is started that would be found at an address.
fn start_help(url: &str) -> String {
    let elsewhere = "if it listens elsewhere, set --url or REFIRE_URL";
    if url == DEFAULT_URL {
        let start = command("refire serve");
        return format!("start it with: {start}; {elsewhere}");
    }
    let uri = url.trim().parse::<Uri>().ok();
    let authority = uri.as_ref().and_then(Uri::authority);
    match authority.filter(|_| is_loopback(url) && url.starts_with("http://")) {
        Some(authority) => {
            let host = authority.host();
            let port = authority.port_u16().unwrap_or(HTTP_PORT);
            let start = command(&format!("refire serve --listen {host}:{port}"));
            format!("start it with: {start}")
        }
        // What another machine listens on cannot be told from here.
        None => format!("start it there; {elsewhere}"),
    }
}

/// What to do about a refused key; what can be told about this machine comes first.
fn key_help(problem: &Problem, session: &Session) -> Vec<String> {
    let path = session.key_path();
    let path = path.display();
    let detail = clean(&problem.detail).into_owned();
    if session.has_own_key() {
        let own = "the server does not accept the key given with --api-key or REFIRE_API_KEY";
        let mut lines = vec![own.to_owned(), detail];
        if session.is_local() {
            lines[0].push_str(&format!("; without it, the key in {path} is used"));
        }
        return lines;
    }
    if !session.is_local() {
        let foreign = "the server needs an API key: give it with --api-key or REFIRE_API_KEY; the \
                       local key is never sent to another machine";
        return vec![foreign.to_owned()];
    }
    if session.key_path().exists() {
        let stale = format!(
            "the server does not accept the key in {path}; set --data-dir to the data directory \
             of that server, or give a key with --api-key or REFIRE_API_KEY"
        );
        return vec![stale, detail];
    }
    let missing = format!(
        "no API key found: {path} does not exist; set --data-dir to the data directory of the \
         server, or give a key with --api-key or REFIRE_API_KEY"
    );
    vec![missing]
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
    fn what_the_detail_says_is_not_said_again() {
        let field = |message: &str, hint: Option<&str>| FieldProblem {
            field: "limit".to_owned(),
            message: message.to_owned(),
            line: None,
            column: None,
            hint: hint.map(str::to_owned),
        };
        let detail = "limit: 0 is too small";
        assert!(is_said(detail, &field("0 is too small", None)));
        assert!(!is_said(detail, &field("0 is too small", Some("use 1"))));
        assert!(!is_said(detail, &field("is given twice", None)));
    }

    #[test]
    fn a_field_with_a_hint_is_told_once() {
        let field = FieldProblem {
            field: "secret".to_owned(),
            message: "has 5 bytes".to_owned(),
            line: None,
            column: None,
            hint: Some("leave it out".to_owned()),
        };
        let problem = |detail: &str| Problem {
            problem_type: String::new(),
            title: String::new(),
            status: 400,
            code: "RF0032".to_owned(),
            detail: detail.to_owned(),
            instance: None,
            errors: vec![field.clone()],
        };
        let once = detail_lines(&problem("secret: has 5 bytes"));
        assert_eq!(once, ["secret: has 5 bytes; leave it out"]);
        let other = detail_lines(&problem("the trigger has 1 problem"));
        let lines = [
            "the trigger has 1 problem",
            "  secret: has 5 bytes; leave it out",
        ];
        assert_eq!(other, lines);
    }

    #[test]
    fn a_server_is_started_where_it_is_looked_for() {
        let said = |url: &str| anstream::adapter::strip_str(&start_help(url)).to_string();
        for (url, expected) in [
            (
                "http://127.0.0.1:21860",
                "refire serve --listen 127.0.0.1:21860",
            ),
            ("http://localhost:9/", "refire serve --listen localhost:9"),
            ("http://[::1]:9", "refire serve --listen [::1]:9"),
            ("http://localhost", "refire serve --listen localhost:80"),
            (DEFAULT_URL, "start it with: refire serve; if"),
            ("https://refire.example.com", "start it there; if"),
        ] {
            assert!(said(url).contains(expected), "{url}: {}", said(url));
        }
    }

    #[test]
    fn a_reader_that_left_is_recognised() {
        let pipe = anyhow::Error::from(io::Error::from(io::ErrorKind::BrokenPipe));
        assert!(is_broken_pipe(&pipe.context("writing")));
        assert!(!is_broken_pipe(&anyhow::anyhow!("else")));
    }
}
