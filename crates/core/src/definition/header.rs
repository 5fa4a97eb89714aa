//! The headers of an `http` step: which names and values may be sent.

use super::fields::Field;
use super::parse::{ParseOptions, template};
use super::problem::Problems;
use crate::template::Template;

/// Headers that the connection itself sets.
const OF_THE_CONNECTION: [&str; 3] = ["content-length", "transfer-encoding", "connection"];

/// Headers that describe the connection or the way, and not the request. Definitions that were
/// stored before these were refused are still read: `Host` is sent, the others fail the call.
const REFUSED_SINCE: [&str; 6] = [
    "host",
    "upgrade",
    "keep-alive",
    "te",
    "trailer",
    "http2-settings",
];

/// What all headers for proxies begin with; they belong to the same list.
const FOR_PROXIES: &str = "proxy-";

pub(super) fn read(
    field: &Field<'_>,
    options: &ParseOptions<'_>,
    problems: &mut Problems,
) -> Vec<(String, Template)> {
    let mut headers: Vec<(String, Template)> = Vec::new();
    for (name, item) in field.members(problems) {
        let lower = name.to_ascii_lowercase();
        if !is_token(name) {
            problems.push(item.problem(format!("{name:?} is not a header name")));
        } else if is_refused(&lower, options) {
            let problem = item.problem(format!("the header `{name}` is set by the connection"));
            problems.push(match lower.as_str() {
                "host" => problem.with_hint("it is the host of `url`"),
                _ => problem,
            });
        } else if headers
            .iter()
            .any(|(known, _)| known.eq_ignore_ascii_case(name))
        {
            problems.push(item.problem(format!("the header `{name}` is given twice")));
        }
        let Some(value) = template(&item, problems) else {
            continue;
        };
        let text = item.scalar(problems).unwrap_or_default();
        if let Some(bad) = text.chars().find(|c| matches!(c, '\r' | '\n' | '\0')) {
            problems.push(item.problem(format!("a header value cannot contain {bad:?}")));
        }
        headers.push((name.to_owned(), value));
    }
    headers
}

fn is_refused(lower: &str, options: &ParseOptions<'_>) -> bool {
    let since = REFUSED_SINCE.contains(&lower) || lower.starts_with(FOR_PROXIES);
    OF_THE_CONNECTION.contains(&lower) || since && !options.stored
}

/// Whether the text is what HTTP calls a token: the name of a header or a method.
pub(super) fn is_token(text: &str) -> bool {
    !text.is_empty()
        && text
            .bytes()
            .all(|b| b.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&b))
}
