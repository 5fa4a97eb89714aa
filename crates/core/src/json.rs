//! JSON text that is kept exactly as it was received.
//!
//! Payloads pass through Refire without being rebuilt: digits of big integers, the order of keys,
//! `\u0000` and white space inside a value all survive, because values are found as byte ranges in
//! the text and copied. This module never turns a payload into `serde_json::Value`; only
//! [`crate::jsonpath`] does, and only to find where its matches are.

mod build;
mod locate;
pub(crate) mod scan;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use serde::de::{Error as _, IgnoredAny};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

pub use build::{ArrayBuilder, ObjectBuilder};
pub use locate::{Elements, Members, Segment, locate, locate_all};

/// How deep a received text may be nested.
pub const DEPTH_MAX: usize = 128;

/// How deep a text may be that we put together from received ones (a template around a payload,
/// a body inside a step's output). Larger than [`DEPTH_MAX`] so that what was accepted can always
/// be wrapped, stored and read again.
pub const COMPOSED_DEPTH_MAX: usize = 256;

/// A valid JSON text, without the white space around it and otherwise byte for byte as received.
#[derive(Clone, PartialEq, Eq, Hash)]
pub struct Json(Arc<str>);

/// What kind of value a [`Json`] is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `null`
    Null,
    /// `true` or `false`
    Bool,
    /// Any number, of any length.
    Number,
    /// A string.
    String,
    /// An array.
    Array,
    /// An object.
    Object,
}

/// Why a text is not acceptable JSON, and where.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message} (line {line}, column {column})")]
pub struct JsonError {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
    /// What was expected and what stands there.
    pub message: String,
}

impl Json {
    /// Checks a received text and keeps it.
    ///
    /// # Errors
    /// When the text is not JSON, or nested deeper than [`DEPTH_MAX`].
    pub fn parse(text: impl Into<Arc<str>>) -> Result<Self, JsonError> {
        Self::checked(text.into(), DEPTH_MAX)
    }

    /// Checks received bytes and keeps them.
    ///
    /// # Errors
    /// When the bytes are not UTF-8 (the offset of the first bad one is named) or not JSON.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, JsonError> {
        match std::str::from_utf8(bytes) {
            Ok(text) => Self::parse(text),
            Err(error) => {
                let offset = error.valid_up_to();
                let before = String::from_utf8_lossy(&bytes[..offset]);
                let (line, column) = position(&before, before.len());
                let message = format!("the text is not UTF-8: bad byte at offset {offset}");
                Err(JsonError {
                    line,
                    column,
                    message,
                })
            }
        }
    }

    /// The same check for a text we composed ourselves; see [`COMPOSED_DEPTH_MAX`].
    pub(crate) fn composed(text: impl Into<Arc<str>>) -> Result<Self, JsonError> {
        Self::checked(text.into(), COMPOSED_DEPTH_MAX)
    }

    /// Takes a slice of a checked text, or text that a builder wrote, without checking again.
    pub(crate) fn trusted(text: impl Into<Arc<str>>) -> Self {
        let text = text.into();
        debug_assert!(
            Self::checked(Arc::clone(&text), usize::MAX).is_ok(),
            "not JSON: {text}"
        );
        Self(text)
    }

    fn checked(text: Arc<str>, depth_max: usize) -> Result<Self, JsonError> {
        // The depth comes first: it needs no stack, whatever comes after it may.
        if let Some(offset) = scan::too_deep(text.as_bytes(), depth_max) {
            let (line, column) = position(&text, offset);
            let message = format!("nested deeper than {depth_max} levels");
            return Err(JsonError {
                line,
                column,
                message,
            });
        }
        if let Err(error) = serde_json::from_str::<IgnoredAny>(&text) {
            return Err(syntax_error(&text, &error));
        }
        let trimmed = text.trim_matches(scan::is_space_char);
        Ok(if trimmed.len() == text.len() {
            Self(text)
        } else {
            Self(trimmed.into())
        })
    }

    /// The JSON string whose value is `text`.
    #[must_use]
    pub fn string(text: &str) -> Self {
        let mut out = String::with_capacity(text.len() + 2);
        scan::write_string(&mut out, text);
        Self(out.into())
    }

    /// `null`
    #[must_use]
    pub fn null() -> Self {
        Self("null".into())
    }

    /// `{}`
    #[must_use]
    pub fn empty_object() -> Self {
        Self("{}".into())
    }

    /// `true` or `false`
    #[must_use]
    pub fn bool(value: bool) -> Self {
        Self(if value { "true" } else { "false" }.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Whether the value is `null`.
    #[must_use]
    pub fn is_null(&self) -> bool {
        &*self.0 == "null"
    }

    /// The kind of value.
    #[must_use]
    pub fn kind(&self) -> Kind {
        match self.0.as_bytes().first() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Bool,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    /// The value as a Rust bool.
    #[must_use]
    pub fn as_bool(&self) -> Option<bool> {
        match &*self.0 {
            "true" => Some(true),
            "false" => Some(false),
            _ => None,
        }
    }

    /// The decoded characters, if this is a string. A lone surrogate becomes U+FFFD.
    #[must_use]
    pub fn as_text(&self) -> Option<Cow<'_, str>> {
        (self.kind() == Kind::String).then(|| scan::unescape(&self.0))
    }

    /// The members of an object in their order, keys decoded, values as raw text; duplicates are
    /// all given. Empty for every other kind.
    #[must_use]
    pub fn members(&self) -> Members<'_> {
        Members::of(&self.0)
    }

    /// The elements of an array as raw text. Empty for every other kind.
    #[must_use]
    pub fn elements(&self) -> Elements<'_> {
        Elements::of(&self.0)
    }

    /// The value at a path, copied byte for byte.
    #[must_use]
    pub fn at(&self, path: &[Segment]) -> Option<Self> {
        if path.is_empty() {
            return Some(self.clone());
        }
        locate(&self.0, path).map(|range| Self::trusted(&self.0[range]))
    }

    /// The value in a range that [`locate`] or [`crate::jsonpath::JsonPath::matches`] gave for
    /// this text; `None` when the range holds no JSON value.
    #[must_use]
    pub fn slice(&self, range: Range<usize>) -> Option<Self> {
        Self::composed(self.0.get(range)?).ok()
    }
}

impl fmt::Debug for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Display for Json {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl AsRef<str> for Json {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl Serialize for Json {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serde_json::from_str::<&RawValue>(&self.0)
            .map_err(serde::ser::Error::custom)?
            .serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Json {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        // RawValue has checked the syntax; it has no limit of depth of its own.
        match scan::too_deep(raw.get().as_bytes(), COMPOSED_DEPTH_MAX) {
            Some(_) => Err(D::Error::custom(format!(
                "nested deeper than {COMPOSED_DEPTH_MAX} levels"
            ))),
            None => Ok(Self(raw.get().into())),
        }
    }
}

/// Line and column (both from 1, the column in characters) of a byte offset.
pub(crate) fn position(text: &str, offset: usize) -> (usize, usize) {
    let before = text.get(..offset).unwrap_or(text);
    let line = before.bytes().filter(|byte| *byte == b'\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[start..].chars().count() + 1)
}

/// serde_json names the place in bytes and not what stands there; a person needs both.
fn syntax_error(text: &str, error: &serde_json::Error) -> JsonError {
    let full = error.to_string();
    let said = full
        .rsplit_once(" at line ")
        .map_or(full.as_str(), |(message, _)| message);
    // Of a control character the place before it is named, of everything else the place itself.
    let control = said.starts_with("control character");
    let line_text = text
        .split('\n')
        .nth(error.line().saturating_sub(1))
        .unwrap_or_default();
    let mut byte = error
        .column()
        .saturating_sub(usize::from(!control))
        .min(line_text.len());
    while !line_text.is_char_boundary(byte) {
        byte -= 1;
    }
    let message = match line_text[byte..].chars().next() {
        _ if control => "a line break or control character inside a string".to_owned(),
        Some(found) if !error.is_eof() => format!("{said}, found {found:?}"),
        _ if text.trim_matches(scan::is_space_char).is_empty() => "the text is empty".to_owned(),
        _ => said.to_owned(),
    };
    let column = line_text[..byte].chars().count() + 1;
    JsonError {
        line: error.line().max(1),
        column,
        message,
    }
}

#[cfg(test)]
mod tests;
