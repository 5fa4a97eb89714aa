//! `${…}` inside the strings of a definition.
//!
//! A template is parsed once, when the definition is read, and rendered each time a step runs. A
//! string that is exactly one `${…}` gives the referenced JSON value byte for byte; in a longer
//! string the values are inserted as text. `${… ?? literal}` gives the JSON literal where the
//! reference has no value. `$${` stands for a literal `${`.
//!
//! Nothing here knows where values come from: the caller's [`Scope`] does. Nothing here decides
//! which references are allowed where: `references()` lets the definition's checks do that.

mod parse;
mod reference;
mod tree;

use std::borrow::Cow;

use crate::json::{Json, JsonError, scan};

pub use parse::TemplateError;
pub use reference::{Reference, Root};
pub use tree::{Tree, TreeError};

/// The most bytes that one rendered value may have: the largest payload plus room for what stands
/// around it.
pub const RENDER_BYTES_MAX: usize = 1024 * 1024 + 64 * 1024;

/// Where the values of references come from.
pub trait Scope {
    /// The raw JSON text of the referenced value; `None` when there is no such value (which is not
    /// the same as `null`).
    fn resolve(&self, reference: &Reference) -> Option<Cow<'_, str>>;

    /// Whether finding values has cost too much to go on; then what it gave last does not count.
    fn is_exhausted(&self) -> bool {
        false
    }
}

/// Why a template could not be rendered.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RenderError {
    /// Nothing stands at the referenced place.
    #[error("`${{{reference}}}` has no value{}", remedy(.reference))]
    Missing {
        /// The reference as written in a template.
        reference: Reference,
    },
    /// The result would be larger than [`RENDER_BYTES_MAX`].
    #[error("the rendered value is larger than {RENDER_BYTES_MAX} bytes")]
    TooLarge,
    /// Finding the values took too long: many references into large values.
    #[error("too many references into values this large")]
    TooCostly,
    /// A scope gave text that is not JSON, or the result is nested too deep.
    #[error("the rendered value is not valid JSON: {0}")]
    Invalid(#[from] JsonError),
}

/// A parsed string.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(Box<str>),
    Value {
        reference: Reference,
        /// What stands after `??`: taken when the reference has no value. Null is a value.
        default: Option<Json>,
    },
}

impl Template {
    /// Parses a string.
    ///
    /// # Errors
    /// Names the position and what would be right.
    pub fn parse(text: &str) -> Result<Self, TemplateError> {
        parse::template(text).map(|parts| Self { parts })
    }

    /// Every reference, in order of appearance.
    pub fn references(&self) -> impl Iterator<Item = &Reference> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value { reference, .. } => Some(reference),
            Part::Text(_) => None,
        })
    }

    /// Every reference that must have a value: those without a default, in order of appearance.
    pub(crate) fn required(&self) -> impl Iterator<Item = &Reference> {
        let with_defaults = self.references().zip(self.defaults());
        with_defaults.filter_map(|(reference, default)| default.is_none().then_some(reference))
    }

    /// The default of every reference, in order of appearance.
    pub(crate) fn defaults(&self) -> impl Iterator<Item = Option<&Json>> {
        self.parts.iter().filter_map(|part| match part {
            Part::Value { default, .. } => Some(default.as_ref()),
            Part::Text(_) => None,
        })
    }

    /// Whether there is no reference in it.
    #[must_use]
    pub fn is_literal(&self) -> bool {
        self.references().next().is_none()
    }

    /// The text, if there is no reference in it.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [] => Some(""),
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The literal text before the first reference.
    #[must_use]
    pub fn literal_prefix(&self) -> &str {
        match self.parts.first() {
            Some(Part::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether the template is exactly one `${…}`, so that it gives any kind of value.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        matches!(self.parts.as_slice(), [Part::Value { .. }])
    }

    /// The value of the template.
    ///
    /// # Errors
    /// When a reference has no value or the result is too large.
    pub fn render(&self, scope: &dyn Scope) -> Result<Json, RenderError> {
        let mut out = String::new();
        self.render_into(scope, &mut out)?;
        Ok(Json::composed(out)?)
    }

    /// The value as text, for places where only text makes sense (a URL, a header, a key): a
    /// string as its characters, everything else as its JSON text.
    ///
    /// # Errors
    /// As [`Self::render`].
    pub fn render_text(&self, scope: &dyn Scope) -> Result<String, RenderError> {
        let mut out = String::new();
        for part in &self.parts {
            match part {
                Part::Text(text) => out.push_str(text),
                Part::Value { reference, default } => {
                    insert(&mut out, &resolve(scope, reference, default.as_ref())?);
                }
            }
            bounded(&out)?;
        }
        Ok(out)
    }

    /// Appends the value's JSON text to `out`.
    fn render_into(&self, scope: &dyn Scope, out: &mut String) -> Result<(), RenderError> {
        if let [Part::Value { reference, default }] = self.parts.as_slice() {
            out.push_str(&resolve(scope, reference, default.as_ref())?);
        } else {
            scan::write_string(out, &self.render_text(scope)?);
        }
        bounded(out)
    }
}

fn resolve<'a>(
    scope: &'a dyn Scope,
    reference: &Reference,
    default: Option<&'a Json>,
) -> Result<Cow<'a, str>, RenderError> {
    let missing = || RenderError::Missing {
        reference: reference.clone(),
    };
    let found = scope.resolve(reference);
    if scope.is_exhausted() {
        return Err(RenderError::TooCostly);
    }
    let value = found
        .or_else(|| default.map(|json| Cow::Borrowed(json.as_str())))
        .ok_or_else(missing)?;
    if value.len() > RENDER_BYTES_MAX {
        return Err(RenderError::TooLarge);
    }
    Ok(value)
}

/// What to do about a missing value, where that is certain.
fn remedy(reference: &Reference) -> String {
    reference.secret().map_or_else(String::new, |name| {
        format!("{SET_SECRET}{name}{WHERE_TO_SET}")
    })
}

const SET_SECRET: &str = "; set REFIRE_SECRET_";
const WHERE_TO_SET: &str = " in the server's environment";

/// The secret that has no value, of a message that says so.
#[must_use]
pub fn missing_secret(message: &str) -> Option<&str> {
    let (_, rest) = message.split_once(SET_SECRET)?;
    let (name, _) = rest.split_once(WHERE_TO_SET)?;
    Some(name)
}

/// A string goes in decoded, anything else as its JSON text.
fn insert(out: &mut String, raw: &str) {
    let raw = raw.trim_matches(scan::is_space_char);
    if raw.starts_with('"') {
        out.push_str(&scan::unescape(raw));
    } else {
        out.push_str(raw);
    }
}

fn bounded(out: &str) -> Result<(), RenderError> {
    if out.len() > RENDER_BYTES_MAX {
        Err(RenderError::TooLarge)
    } else {
        Ok(())
    }
}

#[cfg(test)]
mod tests;
