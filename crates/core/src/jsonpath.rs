//! JSONPath (RFC 9535) over JSON text: finds values and says where they stand.
//!
//! The query itself is done by `serde_json_path` on a parsed copy; the answers are byte ranges of
//! the original text, so that what is copied out is exact. Expressions come from definitions and
//! webhook filters, so their cost is bounded twice: by shape before parsing, and by an estimate for
//! the document at hand before the query runs. Plain paths (`$.body.items[0]`) take neither way:
//! they are located in the text directly, all of a document's in one walk.

mod cost;
mod document;
mod search;

use std::ops::Range;

use crate::json::{ArrayBuilder, Json, Segment};

pub use search::{Budget, MATCHES_TOGETHER_MAX, Search};

/// The longest expression, in bytes.
pub const PATH_BYTES_MAX: usize = 1024;

/// How deep brackets and parentheses of an expression may be nested. The parser behind is
/// recursive: some thousand levels would abort the process.
pub const PATH_NESTING_MAX: usize = 32;

/// How many descendant segments (`..`) an expression may have.
pub const PATH_DESCENDANTS_MAX: usize = 2;

/// How deep filters may stand inside filters. The parser behind tries each level twice, so its
/// time doubles with every one.
pub const PATH_FILTERS_NESTED_MAX: usize = 3;

/// The most values that one query may give.
pub const MATCHES_MAX: usize = 10_000;

/// A parsed expression.
#[derive(Debug, Clone)]
pub struct JsonPath {
    text: Box<str>,
    query: Query,
}

#[derive(Debug, Clone)]
enum Query {
    /// Only names and indices: no tree needs to be built.
    Plain(Box<[Segment]>),
    General {
        path: serde_json_path::JsonPath,
        weight: cost::Weight,
    },
}

/// Why an expression is refused, or a query was not carried out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// The expression is not JSONPath.
    #[error("`{path}` is not a JSONPath: {message} (at character {at})")]
    Syntax {
        /// The expression.
        path: String,
        /// The character where the trouble is, from 1.
        at: usize,
        /// What is wrong.
        message: String,
    },
    /// The expression could be too costly for any document.
    #[error("the JSONPath is too costly: {0}")]
    TooCostly(String),
    /// The expression would be too costly for this document.
    #[error("`{path}` would be too costly for this document of {nodes} values")]
    DocumentTooLarge {
        /// The expression.
        path: String,
        /// How many values the document has.
        nodes: usize,
    },
    /// More than [`MATCHES_MAX`] values match.
    #[error("`{path}` matches {count} values; at most {MATCHES_MAX} are given")]
    TooManyMatches {
        /// The expression.
        path: String,
        /// How many there are.
        count: usize,
    },
}

impl JsonPath {
    /// Parses an expression.
    ///
    /// # Errors
    /// When it is no JSONPath, or could be too costly.
    pub fn parse(text: &str) -> Result<Self, PathError> {
        let weight = cost::weigh(text)?;
        let query = match plain(text) {
            Some(segments) => Query::Plain(segments.into()),
            None => match serde_json_path::JsonPath::parse(text) {
                Ok(path) => Query::General { path, weight },
                Err(error) => return Err(syntax(text, &error)),
            },
        };
        Ok(Self {
            text: text.into(),
            query,
        })
    }

    /// The expression as written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Its names and indices, if it has nothing else: such a path is found by walking the text.
    #[must_use]
    pub fn as_plain(&self) -> Option<&[Segment]> {
        match &self.query {
            Query::Plain(segments) => Some(segments),
            Query::General { .. } => None,
        }
    }

    /// The byte ranges of the matching values in `json.as_str()`, in the order of the query.
    ///
    /// # Errors
    /// When the query is too costly for this document or gives too many values.
    pub fn matches(&self, json: &Json) -> Result<Vec<Range<usize>>, PathError> {
        Search::new(json).matches(self)
    }

    /// What an output mapping takes: no match gives `null`, one its value, several an array.
    ///
    /// # Errors
    /// As [`Self::matches`].
    pub fn extract(&self, json: &Json) -> Result<Json, PathError> {
        let ranges = self.matches(json)?;
        Ok(match ranges.as_slice() {
            [] => Json::null(),
            [range] => Json::trusted(&json.as_str()[range.clone()]),
            several => {
                let mut array = ArrayBuilder::new();
                several
                    .iter()
                    .for_each(|range| array.push_raw(&json.as_str()[range.clone()]));
                array.build()
            }
        })
    }

    /// The first match, copied byte for byte.
    ///
    /// # Errors
    /// As [`Self::matches`].
    pub fn first(&self, json: &Json) -> Result<Option<Json>, PathError> {
        let range = self.matches(json)?.into_iter().next();
        Ok(range.map(|range| Json::trusted(&json.as_str()[range])))
    }
}

impl PartialEq for JsonPath {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for JsonPath {}

fn syntax(text: &str, error: &serde_json_path::ParseError) -> PathError {
    let before = text.get(..error.position()).unwrap_or(text);
    let mut message = error.message().to_owned();
    if !text.starts_with('$') {
        "it must begin with `$`, for example `$.body.id`".clone_into(&mut message);
    }
    PathError::Syntax {
        path: text.to_owned(),
        at: before.chars().count() + 1,
        message,
    }
}

/// The segments of an expression that only has names and indices; `None` for all others, also for
/// plain ones in an unusual spelling, which the general way reads just as well.
fn plain(text: &str) -> Option<Vec<Segment>> {
    let mut rest = text.strip_prefix('$')?;
    let mut segments = Vec::new();
    while !rest.is_empty() {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after
                .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
                .unwrap_or(after.len());
            let name = &after[..end];
            if !name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') {
                return None;
            }
            segments.push(Segment::Key(name.into()));
            rest = &after[end..];
        } else {
            let (inside, after) = rest.strip_prefix('[')?.split_once(']')?;
            segments.push(plain_bracket(inside)?);
            rest = after;
        }
    }
    Some(segments)
}

fn plain_bracket(inside: &str) -> Option<Segment> {
    let quoted = inside
        .strip_prefix('\'')
        .and_then(|rest| rest.strip_suffix('\''))
        .or_else(|| {
            inside
                .strip_prefix('"')
                .and_then(|rest| rest.strip_suffix('"'))
        });
    if let Some(name) = quoted {
        let simple = name
            .chars()
            .all(|c| !matches!(c, '\'' | '"' | '\\') && !c.is_control());
        return simple.then(|| Segment::Key(name.into()));
    }
    let canonical = inside == "0"
        || (inside.len() <= 9
            && inside.starts_with(|c: char| c.is_ascii_digit() && c != '0')
            && inside.bytes().all(|b| b.is_ascii_digit()));
    if canonical {
        inside.parse().ok().map(Segment::Index)
    } else {
        None
    }
}

#[cfg(test)]
mod tests;
