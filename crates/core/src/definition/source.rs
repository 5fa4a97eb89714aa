//! Text into a tree of nodes that know their line and column.
//!
//! JSON goes its own way, YAML is read in `yaml.rs`; both give the same nodes. Scalars keep their
//! text: a number is never more than its digits here. Sizes are bounded before anything is built,
//! so a hostile text costs no more than a large honest one.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::problem::Problem;
use super::yaml;
use crate::json::{Elements, Json, Members, scan};

/// The longest definition, in bytes.
pub const SOURCE_BYTES_MAX: usize = 1024 * 1024;

/// The most values a definition may have, aliases expanded.
pub const SOURCE_NODES_MAX: usize = 20_000;

/// The most text (scalars and keys) a definition may have, in bytes, aliases expanded and the
/// anchored values kept for them counted.
pub const SOURCE_EXPANDED_BYTES_MAX: usize = 4 * SOURCE_BYTES_MAX;

/// How deep a definition may be nested.
pub const SOURCE_DEPTH_MAX: usize = 64;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Mark {
    /// The line, from 1.
    pub line: u32,
    /// The column in characters, from 1.
    pub column: u32,
}

impl Mark {
    /// The beginning of the text.
    pub const START: Self = Self { line: 1, column: 1 };
    /// No place in a text that whoever reads the problem has.
    pub const NOWHERE: Self = Self { line: 0, column: 0 };

    pub(super) fn at(line: usize, column: usize) -> Self {
        let small = |number| u32::try_from(number).unwrap_or(u32::MAX);
        Self {
            line: small(line),
            column: small(column),
        }
    }
}

/// A value of the source.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Node {
    /// Where it begins.
    pub mark: Mark,
    /// What it is.
    pub content: Content,
}

/// What a node is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// `null`, or nothing.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as JSON text.
    Number(Box<str>),
    /// A string.
    String(Box<str>),
    /// A list.
    Sequence(Vec<Node>),
    /// A mapping; keys are unique.
    Mapping(Vec<(Key, Node)>),
}

/// A key of a mapping.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Key {
    /// Where it stands.
    pub mark: Mark,
    /// Its text.
    pub text: Box<str>,
}

impl Node {
    /// Reads YAML or JSON.
    ///
    /// # Errors
    /// The first thing that is wrong; a text that cannot be read has no second one.
    pub fn parse(source: &str) -> Result<Self, Problem> {
        if source.len() > SOURCE_BYTES_MAX {
            let message = format!(
                "the definition has {} bytes, at most {SOURCE_BYTES_MAX} are allowed",
                source.len()
            );
            return Err(Problem::new("", Mark::START, message));
        }
        let source = source.strip_prefix('\u{feff}').unwrap_or(source);
        let start = source.trim_start();
        if !start.starts_with(['{', '[']) {
            return yaml::read(source);
        }
        // Most JSON is YAML too, but not all (tabs, long keys), so JSON is tried first.
        match Json::parse(source) {
            Ok(json) => Self::from_json(&json, source),
            Err(error) => yaml::read(source).map_err(|problem| {
                let meant_as_json = start[1..].trim_start().starts_with(['"', '{', '[']);
                if meant_as_json {
                    let mark = Mark::at(error.line, error.column);
                    Problem::new("", mark, format!("invalid JSON: {}", error.message))
                } else {
                    problem
                }
            }),
        }
    }

    fn from_json(json: &Json, source: &str) -> Result<Self, Problem> {
        // The checked text has lost the white space in front; lines count from the source's start.
        let offset = source.len() - source.trim_start_matches(scan::is_space_char).len();
        let mut reader = JsonReader {
            source,
            last: (0, 1, 1),
            nodes: 0,
        };
        reader.node(json.as_str(), offset, 0)
    }

    /// A JSON merge patch laid over this; what stands under some keys is replaced as a whole.
    pub(crate) fn merged(self, patch: Self, is_whole: fn(&str) -> bool) -> Self {
        let Content::Mapping(changes) = patch.content else {
            return patch;
        };
        let mut members = match self.content {
            Content::Mapping(members) => members,
            _ => Vec::new(),
        };
        for (key, change) in changes {
            let at = members.iter().position(|(known, _)| known.text == key.text);
            let before = at.map(|at| members.remove(at).1);
            if change.content == Content::Null {
                continue;
            }
            let value = if is_whole(&key.text) {
                change
            } else {
                let nothing = Self {
                    mark: change.mark,
                    content: Content::Null,
                };
                before.unwrap_or(nothing).merged(change, is_whole)
            };
            let place = at.unwrap_or(members.len());
            members.insert(place, (key, value));
        }
        Self {
            mark: patch.mark,
            content: Content::Mapping(members),
        }
    }

    /// What the node is, for messages.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self.content {
            Content::Null => "nothing",
            Content::Bool(_) => "true/false",
            Content::Number(_) => "a number",
            Content::String(_) => "a string",
            Content::Sequence(_) => "a list",
            Content::Mapping(_) => "a mapping",
        }
    }

    /// The value under a key, if this is a mapping.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Self> {
        match &self.content {
            Content::Mapping(members) => members
                .iter()
                .find(|(known, _)| &*known.text == key)
                .map(|(_, node)| node),
            _ => None,
        }
    }

    /// The text of a string.
    #[must_use]
    pub fn as_str(&self) -> Option<&str> {
        match &self.content {
            Content::String(text) => Some(text),
            _ => None,
        }
    }

    /// The same value as JSON text.
    #[must_use]
    pub fn to_json(&self) -> Json {
        let mut out = String::new();
        self.write_json(&mut out);
        Json::trusted(out)
    }

    fn write_json(&self, out: &mut String) {
        match &self.content {
            Content::Null => out.push_str("null"),
            Content::Bool(value) => out.push_str(if *value { "true" } else { "false" }),
            Content::Number(digits) => out.push_str(digits),
            Content::String(text) => scan::write_string(out, text),
            Content::Sequence(items) => {
                out.push('[');
                for (at, item) in items.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    item.write_json(out);
                }
                out.push(']');
            }
            Content::Mapping(members) => {
                out.push('{');
                for (at, (key, value)) in members.iter().enumerate() {
                    if at > 0 {
                        out.push(',');
                    }
                    scan::write_string(out, &key.text);
                    out.push(':');
                    value.write_json(out);
                }
                out.push('}');
            }
        }
    }
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, column {}", self.line, self.column)
    }
}

/// Why a definition is too large; said alike for JSON and YAML.
pub(super) fn too_many_nodes(mark: Mark) -> Problem {
    let message =
        format!("the definition has more than {SOURCE_NODES_MAX} values (aliases expanded)");
    Problem::new("", mark, message)
}

pub(super) fn too_much_text(mark: Mark) -> Problem {
    let message = format!(
        "the definition has more than {SOURCE_EXPANDED_BYTES_MAX} bytes of text (aliases expanded)"
    );
    Problem::new("", mark, message)
}

pub(super) fn too_deep(mark: Mark) -> Problem {
    let message = format!("the definition is nested deeper than {SOURCE_DEPTH_MAX} levels");
    Problem::new("", mark, message)
}

pub(super) fn duplicate_key(key: &Key, first: Mark) -> Problem {
    let message = format!(
        "the key \"{}\" is given twice, in line {} and in line {}",
        key.text, first.line, key.mark.line
    );
    Problem::new("", key.mark, message)
}

struct JsonReader<'a> {
    source: &'a str,
    /// The last place asked for: its offset, line and column.
    last: (usize, usize, usize),
    nodes: usize,
}

impl JsonReader<'_> {
    /// `text` is the value, `offset` where it begins in the source.
    fn node(&mut self, text: &str, offset: usize, depth: usize) -> Result<Node, Problem> {
        let mark = self.mark(offset);
        self.nodes += 1;
        if self.nodes > SOURCE_NODES_MAX {
            return Err(too_many_nodes(mark));
        }
        if depth > SOURCE_DEPTH_MAX {
            return Err(too_deep(mark));
        }
        let content = match text.as_bytes().first() {
            Some(b'{') => self.mapping(text, offset, depth)?,
            Some(b'[') => {
                let items = Elements::of(text)
                    .ranges()
                    .map(|range| self.node(&text[range.clone()], offset + range.start, depth + 1))
                    .collect::<Result<_, _>>()?;
                Content::Sequence(items)
            }
            Some(b'"') => Content::String(scan::unescape(text).into()),
            Some(b't') => Content::Bool(true),
            Some(b'f') => Content::Bool(false),
            Some(b'n') | None => Content::Null,
            Some(_) => Content::Number(text.into()),
        };
        Ok(Node { mark, content })
    }

    fn mapping(&mut self, text: &str, offset: usize, depth: usize) -> Result<Content, Problem> {
        let mut members: Vec<(Key, Node)> = Vec::new();
        let mut seen = std::collections::HashMap::new();
        for (raw, range) in Members::of(text).ranges() {
            let key_offset = offset + (raw.as_ptr().addr() - text.as_ptr().addr());
            let key = Key {
                mark: self.mark(key_offset),
                text: scan::unescape(raw).into(),
            };
            if let Some(first) = seen.insert(key.text.clone(), key.mark) {
                return Err(duplicate_key(&key, first));
            }
            let value = self.node(&text[range.clone()], offset + range.start, depth + 1)?;
            members.push((key, value));
        }
        Ok(Content::Mapping(members))
    }

    /// Counts on from the last place: nodes are read in the order of the text, and a text of one
    /// line would otherwise be counted through for each of them.
    fn mark(&mut self, offset: usize) -> Mark {
        let (from, mut line, mut column) = if self.last.0 <= offset {
            self.last
        } else {
            (0, 1, 1)
        };
        for c in self.source[from..offset].chars() {
            (line, column) = if c == '\n' {
                (line + 1, 1)
            } else {
                (line, column + 1)
            };
        }
        self.last = (offset, line, column);
        Mark::at(line, column)
    }
}

#[cfg(test)]
mod tests;
