//! Reading `${…}`: from a string to its parts.
//!
//! Grammar inside the braces: a name, then any of `.name`, `["any name"]`, `['any name']`, `[3]`,
//! then perhaps `??` and a JSON literal, with white space allowed around each. There are no other
//! operators and no calls, on purpose: a template moves values, it does not compute.

use std::fmt;

use refire_schedule::nearest;

use super::{Part, Reference, Root};
use crate::dead_letter::{OfError, OfLetter};
use crate::json::{Json, Segment, scan};

/// The most characters one template string may have.
const TEMPLATE_LENGTH_MAX: usize = 256 * 1024;

/// The most segments one reference may have.
const PATH_LENGTH_MAX: usize = 64;

/// Why a string is not a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TemplateError {
    /// The character in the string where the trouble is, from 1.
    pub at: usize,
    /// What is wrong.
    pub message: String,
    /// What would be right.
    pub hint: Option<String>,
}

impl fmt::Display for TemplateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} (at character {})", self.message, self.at)?;
        self.hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

impl std::error::Error for TemplateError {}

/// The parts of a template string.
pub(super) fn template(text: &str) -> Result<Vec<Part>, TemplateError> {
    let mut reader = Reader { text, at: 0 };
    if text.len() > TEMPLATE_LENGTH_MAX {
        return Err(reader.error(format!(
            "a template has at most {TEMPLATE_LENGTH_MAX} bytes"
        )));
    }
    let mut parts = Vec::new();
    let mut literal = String::new();
    while let Some(dollar) = reader.rest().find('$') {
        literal.push_str(&reader.rest()[..dollar]);
        reader.at += dollar;
        if reader.take("$${") {
            literal.push_str("${");
        } else if reader.take("${") {
            if !literal.is_empty() {
                parts.push(Part::Text(std::mem::take(&mut literal).into()));
            }
            parts.push(reader.value()?);
        } else {
            reader.at += 1;
            literal.push('$');
        }
    }
    literal.push_str(reader.rest());
    if !literal.is_empty() {
        parts.push(Part::Text(literal.into()));
    }
    Ok(parts)
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Reader<'a> {
    fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    fn take(&mut self, token: &str) -> bool {
        let found = self.rest().starts_with(token);
        if found {
            self.at += token.len();
        }
        found
    }

    fn skip_space(&mut self) {
        let rest = self.rest();
        self.at += rest.len() - rest.trim_start().len();
    }

    fn error(&self, message: impl Into<String>) -> TemplateError {
        self.error_at(self.at, message)
    }

    fn error_at(&self, at: usize, message: impl Into<String>) -> TemplateError {
        let at = self.text.get(..at).unwrap_or(self.text).chars().count() + 1;
        TemplateError {
            at,
            message: message.into(),
            hint: None,
        }
    }

    /// Everything between `${` (already taken) and `}`.
    fn value(&mut self) -> Result<Part, TemplateError> {
        self.skip_space();
        let start = self.at;
        if self.rest().starts_with('}') {
            let error = self.error("`${}` is empty");
            return Err(hint(
                error,
                "name a value, for example `${input.customer_id}`",
            ));
        }
        let first = self.name()?;
        let mut path = Vec::new();
        loop {
            self.skip_space();
            match self.rest().chars().next() {
                Some('}') => {
                    self.at += 1;
                    return Ok(Part::Value {
                        reference: self.rooted(start, first, path)?,
                        default: None,
                    });
                }
                Some('?') if self.take("??") => {
                    let reference = self.rooted(start, first, path)?;
                    let default = Some(self.default(start)?);
                    return Ok(Part::Value { reference, default });
                }
                Some('.') => {
                    self.at += 1;
                    path.push(Segment::Key(self.name()?.into()));
                }
                Some('[') => path.push(self.bracket()?),
                Some(found) => {
                    let error = self.error(format!("expected `.`, `[` or `}}`, found {found:?}"));
                    return Err(hint(
                        error,
                        "templates have no operators but `?? <default>`; write a literal `${` as `$${`",
                    ));
                }
                None => return Err(self.never_closed(start)),
            }
            if path.len() > PATH_LENGTH_MAX {
                return Err(self.error(format!("a reference has at most {PATH_LENGTH_MAX} parts")));
            }
        }
    }

    fn never_closed(&self, start: usize) -> TemplateError {
        let error = self.error_at(start.saturating_sub(2), "`${` is never closed");
        hint(error, "add `}`, or write a literal `${` as `$${`")
    }

    /// The literal after `??` (already taken), and the `}`.
    fn default(&mut self, start: usize) -> Result<Json, TemplateError> {
        const LITERAL: &str =
            "write one JSON value after `??`: `\"text\"`, `0`, `true`, `null`, `[]`";
        self.skip_space();
        let rest = self.rest();
        if rest.is_empty() {
            return Err(self.never_closed(start));
        }
        let json = scan::skip_value(rest.as_bytes(), 0)
            .and_then(|end| rest.get(..end))
            .and_then(|text| Some((text.len(), Json::parse(text).ok()?)));
        let Some((length, json)) = json else {
            return Err(hint(self.error("the default is not JSON"), LITERAL));
        };
        self.at += length;
        self.skip_space();
        if self.take("}") {
            Ok(json)
        } else if self.rest().is_empty() {
            Err(self.never_closed(start))
        } else {
            Err(hint(self.error("expected `}` after the default"), LITERAL))
        }
    }

    fn name(&mut self) -> Result<&'a str, TemplateError> {
        let rest = self.rest();
        let end = rest
            .find(|c: char| !(c.is_alphanumeric() || c == '_' || c == '-'))
            .unwrap_or(rest.len());
        if end == 0 {
            let error = match rest.chars().next() {
                Some(found) => self.error(format!("expected a name, found {found:?}")),
                None => self.error("expected a name, found the end of the text"),
            };
            return Err(hint(error, "write unusual names as `[\"like this\"]`"));
        }
        self.at += end;
        Ok(&rest[..end])
    }

    /// `["name"]`, `['name']` or `[3]`.
    fn bracket(&mut self) -> Result<Segment, TemplateError> {
        self.at += 1;
        self.skip_space();
        let segment = match self.rest().chars().next() {
            Some(quote @ ('"' | '\'')) => Segment::Key(self.quoted(quote)?.into()),
            Some('0'..='9') => {
                let rest = self.rest();
                let end = rest
                    .find(|c: char| !c.is_ascii_digit())
                    .unwrap_or(rest.len());
                let index = rest[..end]
                    .parse()
                    .map_err(|_| self.error("the index is too large"))?;
                self.at += end;
                Segment::Index(index)
            }
            _ => {
                let error = self.error("expected an index or a quoted name after `[`");
                return Err(hint(error, "write `[0]` or `[\"name\"]`"));
            }
        };
        self.skip_space();
        if self.take("]") {
            Ok(segment)
        } else {
            Err(self.error("expected `]`"))
        }
    }

    fn quoted(&mut self, quote: char) -> Result<String, TemplateError> {
        let start = self.at;
        let rest = &self.rest()[1..];
        let mut escaped = false;
        for (at, c) in rest.char_indices() {
            if escaped {
                escaped = false;
            } else if c == '\\' {
                escaped = true;
            } else if c == quote {
                self.at += at + 2;
                // The escapes are those of JSON, plus `\'`.
                return Ok(scan::unescape(&format!("\"{}\"", &rest[..at])).into_owned());
            }
        }
        Err(self.error_at(start, "the quoted name is never closed"))
    }

    /// Turns the words into a root and the path below it.
    fn rooted(
        &self,
        start: usize,
        first: &str,
        path: Vec<Segment>,
    ) -> Result<Reference, TemplateError> {
        let fail = |message: String, right: &str| Err(hint(self.error_at(start, message), right));
        let key = |at: usize| match path.get(at) {
            Some(Segment::Key(key)) => Some(&**key),
            _ => None,
        };
        let (root, taken) = match (first, key(0), key(1)) {
            ("input", _, _) => (Root::Input, 0),
            ("workflow", Some("context"), Some(_)) => (Root::Context, 1),
            ("workflow", Some("context"), None) => {
                return fail(
                    "`workflow.context` needs a name after it".to_owned(),
                    "write for example `${workflow.context.customer}`",
                );
            }
            ("workflow", Some("id"), _) => (Root::WorkflowId, 1),
            ("steps", Some(id), Some("output")) => (Root::Step(id.into()), 2),
            ("steps", Some(id), _) => {
                return fail(
                    format!("`steps.{id}` must be followed by `output`"),
                    &format!("write `${{steps.{id}.output}}` or `${{steps.{id}.output.body}}`"),
                );
            }
            ("execution", Some("id"), _) => (Root::ExecutionId, 1),
            ("trigger", Some("type"), _) => (Root::TriggerType, 1),
            ("trigger", Some("scheduled_at" | "scheduledAt"), _) => (Root::TriggerScheduledAt, 1),
            ("trigger", Some("cycle"), _) => (Root::TriggerCycle, 1),
            ("step", Some("attempt"), _) => (Root::Attempt, 1),
            ("callback", Some("url"), _) => (Root::CallbackUrl, 1),
            ("callback", Some("token"), _) => (Root::CallbackToken, 1),
            ("secret", Some(name), _) => (Root::Secret(name.into()), 1),
            (short, _, _) if short.starts_with("SECRET_") => {
                (Root::Secret(short["SECRET_".len()..].into()), 0)
            }
            ("error" | "letter", Some(second), _) => match of_letter(first, second) {
                Some(root) => (root, 1),
                None => {
                    return fail(
                        format!("`{first}.{second}` is not a known reference"),
                        match first {
                            "error" => "use error.type, error.code or error.message",
                            _ => "use letter.id, letter.workflow_id or letter.failed_at",
                        },
                    );
                }
            },
            _ => return Err(self.unknown(start, first, key(0))),
        };
        if let Some(name) = root_secret(&root)
            && !is_secret_name(name)
        {
            return fail(
                format!("`{name}` is not the name of a secret"),
                "names of secrets consist of letters, digits and `_`",
            );
        }
        let deep = matches!(root, Root::Input | Root::Context | Root::Step(_));
        if !deep && path.len() > taken {
            let whole = Reference {
                root,
                path: Box::default(),
            };
            return fail(
                format!("`{whole}` is a single value and has nothing inside"),
                &format!("write `${{{whole}}}`"),
            );
        }
        Ok(Reference {
            root,
            path: path.into_iter().skip(taken).collect(),
        })
    }

    fn unknown(&self, start: usize, first: &str, second: Option<&str>) -> TemplateError {
        const WHOLE: [&str; 12] = [
            "input",
            "workflow.context.<key>",
            "workflow.id",
            "steps.<id>.output",
            "execution.id",
            "trigger.type",
            "trigger.scheduled_at",
            "trigger.cycle",
            "step.attempt",
            "callback.url",
            "callback.token",
            "secret.<NAME>",
        ];
        const ROOTS: [&str; 8] = [
            "input",
            "workflow",
            "steps",
            "execution",
            "trigger",
            "step",
            "callback",
            "secret",
        ];
        let written = second.map_or_else(|| first.to_owned(), |second| format!("{first}.{second}"));
        let error = self.error_at(start, format!("`{written}` is not a known reference"));
        let all = || format!("use one of {}", WHOLE.join(", "));
        if ROOTS.contains(&first) {
            let fields: Vec<_> = WHOLE
                .iter()
                .filter(|whole| whole.split('.').next() == Some(first))
                .collect();
            let near = second.and_then(|second| {
                let known = fields.iter().filter_map(|whole| whole.split('.').nth(1));
                nearest(second, known)
            });
            return match near {
                Some(near) => hint(error, &format!("did you mean `{first}.{near}`?")),
                None => hint(
                    error,
                    &format!(
                        "use one of {}",
                        fields
                            .iter()
                            .map(|whole| **whole)
                            .collect::<Vec<_>>()
                            .join(", ")
                    ),
                ),
            };
        }
        match nearest(first, ROOTS) {
            Some(near) => hint(error, &format!("did you mean `{near}`?")),
            None => hint(error, &all()),
        }
    }
}

/// What only the transform of dead letters knows.
fn of_letter(first: &str, second: &str) -> Option<Root> {
    Some(match (first, second) {
        ("error", "type") => Root::Error(OfError::Type),
        ("error", "code") => Root::Error(OfError::Code),
        ("error", "message") => Root::Error(OfError::Message),
        ("letter", "id") => Root::Letter(OfLetter::Id),
        ("letter", "workflow_id") => Root::Letter(OfLetter::WorkflowId),
        ("letter", "failed_at") => Root::Letter(OfLetter::FailedAt),
        _ => return None,
    })
}

fn root_secret(root: &Root) -> Option<&str> {
    match root {
        Root::Secret(name) => Some(name),
        _ => None,
    }
}

fn is_secret_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'_')
}

fn hint(mut error: TemplateError, right: &str) -> TemplateError {
    error.hint = Some(right.to_owned());
    error
}
