//! Finding a value inside JSON text as a byte range.
//!
//! Nothing is parsed into a tree: the text is walked once and everything off the path is skipped.

use std::borrow::Cow;
use std::collections::HashMap;
use std::fmt;
use std::ops::Range;

use super::scan;

/// One step of a path into a JSON value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Segment {
    /// The member of an object with this (decoded) name.
    Key(Box<str>),
    /// The element of an array with this index, from 0.
    Index(usize),
}

impl fmt::Display for Segment {
    /// `.name`, `["odd name"]` or `[3]`, as written in templates.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(f, "[{index}]"),
            Self::Key(key) if is_plain(key) => write!(f, ".{key}"),
            Self::Key(key) => {
                let mut quoted = String::new();
                scan::write_string(&mut quoted, key);
                write!(f, "[{quoted}]")
            }
        }
    }
}

/// Whether a name can be written after a dot.
fn is_plain(key: &str) -> bool {
    key.starts_with(|c: char| c.is_alphabetic() || c == '_')
        && key
            .chars()
            .all(|c| c.is_alphanumeric() || c == '_' || c == '-')
}

/// The byte range of the value at `path` inside `text`, which must be valid JSON.
///
/// Keys are compared after unescaping. Where a key occurs twice the last one counts. White space
/// around the value is not part of the range.
#[must_use]
pub fn locate(text: &str, path: &[Segment]) -> Option<Range<usize>> {
    let start = scan::skip_space(text.as_bytes(), 0);
    // One value is all there is, so its end need not be looked for.
    let mut range = start..start + text[start..].trim_end_matches(scan::is_space_char).len();
    if range.is_empty() {
        return None;
    }
    for segment in path {
        let found = match segment {
            Segment::Key(key) => Members::of(&text[range.clone()])
                .ranges()
                .filter(|(raw, _)| scan::unescape(raw) == **key)
                .map(|(_, value)| value)
                .last(),
            Segment::Index(index) => Elements::of(&text[range.clone()]).ranges().nth(*index),
        }?;
        range = range.start + found.start..range.start + found.end;
    }
    Some(range)
}

/// As [`locate`] for several paths, in their order, with a single walk over the text.
#[must_use]
pub fn locate_all(text: &str, paths: &[&[Segment]]) -> Vec<Option<Range<usize>>> {
    let mut walk = Walk {
        text,
        paths,
        found: vec![None; paths.len()],
    };
    let start = scan::skip_space(text.as_bytes(), 0);
    if start < text.len() {
        let all: Vec<usize> = (0..paths.len()).collect();
        walk.value(start, 0, &all);
    }
    walk.found
}

struct Walk<'a> {
    text: &'a str,
    paths: &'a [&'a [Segment]],
    found: Vec<Option<Range<usize>>>,
}

impl Walk<'_> {
    /// Goes through the value at `at`, to which the first `depth` segments of the `wanted` paths lead;
    /// returns where it ends. As deep as the paths are: recursion is safe.
    fn value(&mut self, at: usize, depth: usize, wanted: &[usize]) -> usize {
        let (mut keys, mut indices) = (HashMap::<&str, Vec<usize>>::new(), HashMap::new());
        let paths = self.paths;
        for path in wanted {
            match paths[*path].get(depth) {
                Some(Segment::Key(key)) => keys.entry(key).or_default().push(*path),
                Some(Segment::Index(index)) => {
                    indices.entry(*index).or_insert_with(Vec::new).push(*path);
                }
                None => {}
            }
        }
        let text = self.text;
        let end = match text.as_bytes().get(at) {
            Some(b'{') if !keys.is_empty() => scan::walk_object(text, at, |key, at| {
                self.part(at, depth, keys.get(&*key).map(Vec::as_slice))
            }),
            Some(b'[') if !indices.is_empty() => {
                let mut index = 0..;
                scan::walk_array(text, at, |at| {
                    let wanted = index.next().and_then(|index| indices.get(&index));
                    self.part(at, depth, wanted.map(Vec::as_slice))
                })
            }
            _ => scan::skip_value(text.as_bytes(), at).unwrap_or(text.len()),
        };
        for path in wanted {
            if paths[*path].len() == depth {
                self.found[*path] = Some(at..end);
            }
        }
        end
    }

    /// A member or element. Of equal keys the last counts, so nothing found under an earlier one does.
    fn part(&mut self, at: usize, depth: usize, wanted: Option<&[usize]>) -> usize {
        let Some(wanted) = wanted else {
            return scan::skip_value(self.text.as_bytes(), at).unwrap_or(self.text.len());
        };
        wanted.iter().for_each(|path| self.found[*path] = None);
        self.value(at, depth + 1, wanted)
    }
}

/// Walks the members of an object; see [`super::Json::members`].
#[derive(Debug, Clone)]
pub struct Members<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Members<'a> {
    /// Over the members of `text` if it is an object, else over nothing.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            at: open(text, b'{'),
        }
    }

    /// The same with the raw key (quotes included) and the value's range.
    pub(crate) fn ranges(mut self) -> impl Iterator<Item = (&'a str, Range<usize>)> {
        std::iter::from_fn(move || self.step())
    }

    fn step(&mut self) -> Option<(&'a str, Range<usize>)> {
        let bytes = self.text.as_bytes();
        let key = scan::skip_space(bytes, self.at);
        if bytes.get(key) != Some(&b'"') {
            return None;
        }
        let key_end = scan::skip_string(bytes, key)?;
        let colon = scan::skip_space(bytes, key_end);
        let value = scan::skip_space(bytes, colon + 1);
        let end = scan::skip_value(bytes, value)?;
        self.at = after_comma(bytes, end);
        Some((self.text.get(key..key_end)?, value..end))
    }
}

impl<'a> Iterator for Members<'a> {
    type Item = (Cow<'a, str>, &'a str);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, range) = self.step()?;
        Some((scan::unescape(key), self.text.get(range)?))
    }
}

/// Walks the elements of an array; see [`super::Json::elements`].
#[derive(Debug, Clone)]
pub struct Elements<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Elements<'a> {
    /// Over the elements of `text` if it is an array, else over nothing.
    #[must_use]
    pub fn of(text: &'a str) -> Self {
        Self {
            text,
            at: open(text, b'['),
        }
    }

    /// The same with the value's range.
    pub(crate) fn ranges(mut self) -> impl Iterator<Item = Range<usize>> {
        std::iter::from_fn(move || self.step())
    }

    fn step(&mut self) -> Option<Range<usize>> {
        let bytes = self.text.as_bytes();
        let value = scan::skip_space(bytes, self.at);
        if matches!(bytes.get(value), None | Some(b']')) {
            return None;
        }
        let end = scan::skip_value(bytes, value)?;
        self.at = after_comma(bytes, end);
        Some(value..end)
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<Self::Item> {
        let range = self.step()?;
        self.text.get(range)
    }
}

/// Just inside the opening bracket, or the end of the text if it does not begin with it.
fn open(text: &str, bracket: u8) -> usize {
    let start = scan::skip_space(text.as_bytes(), 0);
    if text.as_bytes().get(start) == Some(&bracket) {
        start + 1
    } else {
        text.len()
    }
}

/// Past the comma after a value, or the end of the text when the closing bracket follows.
fn after_comma(bytes: &[u8], value_end: usize) -> usize {
    let next = scan::skip_space(bytes, value_end);
    if bytes.get(next) == Some(&b',') {
        next + 1
    } else {
        bytes.len()
    }
}
