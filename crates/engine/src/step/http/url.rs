//! A step's URL: values go into their places and cannot leave them.
//!
//! Input often comes from strangers, and the call carries the step's secrets. So a value in the
//! path or query is escaped, may not be a dot segment, and cannot choose another host unless the
//! template leaves the whole address to it.

use std::borrow::Cow;
use std::cell::Cell;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use refire_core::json::Json;
use refire_core::template::{Reference, Scope, Template};

use super::super::scope::CallScope;

/// Everything but letters, digits and `-._~` is escaped.
const VALUE: &AsciiSet = &NON_ALPHANUMERIC
    .remove(b'-')
    .remove(b'.')
    .remove(b'_')
    .remove(b'~');

/// Marks where values stand in the rendered text; private characters that no URL has.
const OPEN: char = '\u{e000}';
const CLOSE: char = '\u{e001}';

/// The URL that a template gives.
pub(super) fn render(template: &Template, scope: &CallScope<'_>) -> Result<String, String> {
    let prefix = template.literal_prefix();
    let authority = prefix.split_once("://").map(|(_, rest)| rest);
    let place = match authority {
        _ if prefix.is_empty() => Place::Address,
        Some("") => Place::Host,
        Some(rest) if !rest.contains(['/', '?', '#']) => Place::PartOfHost,
        _ => Place::Path,
    };
    let scope = UrlScope {
        inner: scope,
        first: Cell::new(place != Place::Path),
    };
    let rendered = template.render(&scope).map_err(|error| error.to_string())?;
    let marked = rendered
        .as_text()
        .map_or_else(|| rendered.as_str().to_owned(), Cow::into_owned);
    check_host(&marked, place)?;
    check_segments(&marked)?;
    Ok(marked.replace([OPEN, CLOSE], ""))
}

/// Where the first reference stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// At the beginning: it may be a whole address.
    Address,
    /// Right behind the scheme: it may be a whole host.
    Host,
    /// Inside the host or port.
    PartOfHost,
    /// Behind the host.
    Path,
}

struct UrlScope<'a> {
    inner: &'a CallScope<'a>,
    /// Whether the next reference is the first one and belongs to the address.
    first: Cell<bool>,
}

impl Scope for UrlScope<'_> {
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>> {
        // Taken whether there is a value or not: a default stands in its place.
        let is_address = self.first.replace(false);
        let raw = self.inner.resolve(reference)?;
        let value = Json::parse(raw.as_ref()).ok()?;
        let text = value
            .as_text()
            .map_or_else(|| value.as_str().to_owned(), Cow::into_owned);
        let text = text.replace([OPEN, CLOSE], "\u{fffd}");
        let text = if is_address {
            text
        } else {
            utf8_percent_encode(&text, VALUE).to_string()
        };
        let marked = format!("{OPEN}{text}{CLOSE}");
        Some(Cow::Owned(Json::string(&marked).as_str().to_owned()))
    }

    fn is_exhausted(&self) -> bool {
        self.inner.is_exhausted()
    }
}

/// A value inside the host cannot turn it into another one.
fn check_host(marked: &str, place: Place) -> Result<(), String> {
    let Some((before, rest)) = marked.split_once(OPEN) else {
        return Ok(());
    };
    let Some((value, after)) = rest.split_once(CLOSE) else {
        return Ok(());
    };
    let ends_host = after.is_empty() || after.starts_with(['/', '?', '#']);
    let is_host_text = |text: &str| {
        text.bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b".-".contains(&byte))
    };
    match place {
        Place::Address | Place::Path => Ok(()),
        // A whole host, with its port or address brackets.
        Place::Host if ends_host || after.starts_with(':') => {
            let is_host = value
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b".-:[]".contains(&byte));
            refuse_unless(
                is_host,
                "a value that is the host may hold only a host and a port",
            )
        }
        Place::PartOfHost if ends_host && before.ends_with(':') => {
            let is_port = value.bytes().all(|byte| byte.is_ascii_digit());
            refuse_unless(is_port, "a value that is the port may hold only digits")
        }
        Place::PartOfHost if ends_host => Err(
            "a value may not end the host; let it be the whole host, or put it behind a /".into(),
        ),
        Place::Host | Place::PartOfHost => {
            let what = "a value that is part of the host may hold only letters, digits, . and -";
            refuse_unless(is_host_text(value), what)
        }
    }
}

fn refuse_unless(fine: bool, why: &str) -> Result<(), String> {
    if fine { Ok(()) } else { Err(why.to_owned()) }
}

/// A path segment that holds a value is never `.` or `..`: those would move the call elsewhere,
/// and escaping them does not help, since their escaped forms mean the same.
fn check_segments(marked: &str) -> Result<(), String> {
    let rest = marked.split_once("://").map_or(marked, |(_, rest)| rest);
    let path = rest.split(['?', '#']).next().unwrap_or_default();
    for segment in path
        .split(['/', '\\'])
        .skip(1)
        .filter(|segment| segment.contains(OPEN))
    {
        let plain = segment.replace([OPEN, CLOSE], "");
        let decoded = percent_decode_str(&plain).decode_utf8_lossy();
        if matches!(decoded.as_ref(), "." | "..") {
            return Err("a value in the path may not make a segment `.` or `..`".to_owned());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::secret::EnvironmentSecrets;
    use refire_core::definition::{ParseOptions, Workflow};
    use refire_core::execution::{Start, start};
    use refire_core::id::ExecutionId;
    use refire_core::time::Timestamp;

    fn url(template: &str, input: &str) -> Result<String, String> {
        let source = "id: w\nsteps: [{ id: a, type: http, config: { url: 'https://x.example/' } }]";
        let workflow = Workflow::parse(source, &ParseOptions::default()).unwrap();
        let id = ExecutionId::from_bytes([1; 16]);
        let begin = Start::plain(id, 0, Json::parse(input).unwrap());
        let state = start(&workflow, begin, Timestamp::from_millis(1)).state;
        let scope = CallScope::new(&state, &EnvironmentSecrets, (1, None));
        render(&Template::parse(template).unwrap(), &scope)
    }

    #[test]
    fn values_are_escaped_in_their_places() {
        for (template, input, expected) in [
            (
                "https://e.com/a/${input.x}",
                r#"{"x":"b c/../d?e"}"#,
                "https://e.com/a/b%20c%2F..%2Fd%3Fe",
            ),
            (
                "https://e.com/a?q=${input.x}",
                r#"{"x":"1&admin=true"}"#,
                "https://e.com/a?q=1%26admin%3Dtrue",
            ),
            (
                "https://e.com/a/${input.x}",
                r#"{"x":42}"#,
                "https://e.com/a/42",
            ),
            (
                "${input.x}",
                r#"{"x":"https://any.example:8080/p?q=1"}"#,
                "https://any.example:8080/p?q=1",
            ),
            (
                "${input.x}/b/${input.y}",
                r#"{"x":"http://h","y":"a/b"}"#,
                "http://h/b/a%2Fb",
            ),
            (
                "https://${input.x}/b",
                r#"{"x":"any.example:8080"}"#,
                "https://any.example:8080/b",
            ),
            (
                "https://api-${input.x}.e.com/b",
                r#"{"x":"eu-1"}"#,
                "https://api-eu-1.e.com/b",
            ),
            (
                "http://127.0.0.1:${input.x}/b",
                r#"{"x":8080}"#,
                "http://127.0.0.1:8080/b",
            ),
            (
                "https://e.com/v${input.x}.json",
                r#"{"x":".."}"#,
                "https://e.com/v...json",
            ),
        ] {
            assert_eq!(
                url(template, input).as_deref(),
                Ok(expected),
                "{template} {input}"
            );
        }
    }

    #[test]
    fn values_cannot_leave_their_places() {
        for (template, input) in [
            ("https://e.com/c/${input.x}/o", r#"{"x":".."}"#),
            ("https://e.com/c/${input.x}", r#"{"x":"."}"#),
            ("https://e.com/c/.${input.x}", r#"{"x":"."}"#),
            (
                "https://e.com/c/${input.x}${input.y}",
                r#"{"x":".","y":"."}"#,
            ),
            ("https://api-${input.x}.e.com/b", r#"{"x":"evil.com/#"}"#),
            ("https://api-${input.x}.e.com/b", r#"{"x":"evil.com:80@"}"#),
            ("https://e.com${input.x}", r#"{"x":".evil.com/"}"#),
            ("https://e.com${input.x}/p", r#"{"x":".evil.com"}"#),
            ("https://${input.x}/b", r#"{"x":"evil.com/x"}"#),
            ("https://${input.x}/b", r#"{"x":"user@evil.com"}"#),
            ("http://127.0.0.1:${input.x}/b", r#"{"x":"80@evil.com"}"#),
        ] {
            assert!(url(template, input).is_err(), "{template} {input}");
        }
    }
}
