//! What is signed: a template such as `{timestamp}.{body}`.

use std::fmt;

use hmac::Mac;

use refire_schedule::nearest;

/// The longest template, in bytes.
const TEMPLATE_BYTES_MAX: usize = 256;

/// One piece of the signed text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Literal(Box<str>),
    Timestamp,
    Id,
    Body,
}

/// The signed text as pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct SignedText(Vec<Part>);

/// What the pieces stand for in one request. The texts are those of the headers, not read numbers:
/// `007` and `7` are signed differently.
#[derive(Clone, Copy)]
pub(super) struct Values<'a> {
    pub(super) timestamp: &'a str,
    pub(super) id: &'a str,
    pub(super) body: &'a [u8],
}

impl SignedText {
    /// Only the body.
    pub(super) fn body() -> Self {
        Self(vec![Part::Body])
    }

    /// `{id}.{timestamp}.{body}`
    pub(super) fn standard_webhooks() -> Self {
        let dot = || Part::Literal(".".into());
        Self(vec![Part::Id, dot(), Part::Timestamp, dot(), Part::Body])
    }

    /// `{timestamp}.{body}`
    pub(super) fn stripe() -> Self {
        Self(vec![Part::Timestamp, Part::Literal(".".into()), Part::Body])
    }

    /// `v0:{timestamp}:{body}`
    pub(super) fn slack() -> Self {
        Self(vec![
            Part::Literal("v0:".into()),
            Part::Timestamp,
            Part::Literal(":".into()),
            Part::Body,
        ])
    }

    /// Reads a template of the settings.
    pub(super) fn parse(text: &str) -> Result<Self, String> {
        if text.len() > TEMPLATE_BYTES_MAX {
            return Err(format!(
                "has {} bytes, at most {TEMPLATE_BYTES_MAX} are allowed",
                text.len()
            ));
        }
        let mut parts = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let open = rest.find(['{', '}']).unwrap_or(rest.len());
            if open > 0 {
                parts.push(Part::Literal(rest[..open].into()));
            }
            rest = &rest[open..];
            if rest.is_empty() {
                break;
            }
            let Some((name, after)) = rest
                .strip_prefix('{')
                .and_then(|inside| inside.split_once('}'))
            else {
                return Err("has an unmatched brace".to_owned());
            };
            parts.push(match name {
                "timestamp" => Part::Timestamp,
                "body" => Part::Body,
                other => return Err(unknown(other)),
            });
            rest = after;
        }
        let bodies = parts.iter().filter(|part| **part == Part::Body).count();
        if bodies != 1 {
            return Err(format!("must hold `{{body}}` once, it does {bodies} times"));
        }
        Ok(Self(parts))
    }

    pub(super) fn has_timestamp(&self) -> bool {
        self.0.contains(&Part::Timestamp)
    }

    pub(super) fn feed(&self, mac: &mut impl Mac, values: Values<'_>) {
        for part in &self.0 {
            mac.update(match part {
                Part::Literal(text) => text.as_bytes(),
                Part::Timestamp => values.timestamp.as_bytes(),
                Part::Id => values.id.as_bytes(),
                Part::Body => values.body,
            });
        }
    }
}

fn unknown(name: &str) -> String {
    let known = ["timestamp", "body"];
    match nearest(name, known) {
        Some(near) => format!("has the unknown part `{{{name}}}`; did you mean `{{{near}}}`?"),
        None => {
            format!("has the unknown part `{{{name}}}`; use `{{timestamp}}` and `{{body}}`")
        }
    }
}

impl fmt::Display for SignedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for part in &self.0 {
            f.write_str(match part {
                Part::Literal(text) => text,
                Part::Timestamp => "{timestamp}",
                Part::Id => "{id}",
                Part::Body => "{body}",
            })?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_template_is_read_and_written_back() {
        for text in [
            "{body}",
            "{timestamp}.{body}",
            "v0:{timestamp}:{body}",
            "a{body}b",
        ] {
            assert_eq!(SignedText::parse(text).unwrap().to_string(), text);
        }
        assert!(SignedText::stripe().has_timestamp());
        assert!(!SignedText::body().has_timestamp());
    }

    #[test]
    fn what_is_wrong_is_said() {
        let long = format!("{}{{body}}", "x".repeat(256));
        for (text, expected) in [
            ("", "0 times"),
            ("{timestamp}", "0 times"),
            ("{body}{body}", "2 times"),
            ("{body", "unmatched brace"),
            ("body}", "unmatched brace"),
            ("{boddy}", "did you mean `{body}`?"),
            ("{id}.{body}", "use `{timestamp}` and `{body}`"),
            (&long, "at most 256"),
        ] {
            let said = SignedText::parse(text).expect_err(text);
            assert!(said.contains(expected), "{text}: {said}");
        }
    }
}
