//! A parsed copy of a JSON text together with the way back to the text.
//!
//! The copy is only for deciding what matches. Numbers lose digits in it and that is fine: they
//! are copied from the text. A number too large for a float becomes the largest one, so that every
//! valid text has a document.

use std::collections::HashMap;
use std::ops::Range;

use serde_json::{Map, Number, Value};

use super::cost::Measures;
use crate::json::scan;

pub(super) struct Document<'a> {
    text: &'a str,
    root: Value,
    measures: Measures,
}

impl<'a> Document<'a> {
    /// Reads a checked text. The depth of checked texts is bounded, so recursion is safe.
    pub(super) fn read(text: &'a str) -> Self {
        let mut reader = Reader {
            text,
            measures: Measures {
                nodes: 0,
                depth: 0,
                width: 0,
                bytes: text.len(),
            },
        };
        let (root, _) = reader.value(0, 0);
        Self {
            text,
            root,
            measures: reader.measures,
        }
    }

    pub(super) fn root(&self) -> &Value {
        &self.root
    }

    pub(super) fn measures(&self) -> Measures {
        self.measures
    }

    /// Where the given values of this document stand in the text. They are recognised by address:
    /// cheaper than a path for each, and exact, since the tree does not move in between.
    pub(super) fn ranges(&self, found: &[&Value]) -> Vec<Range<usize>> {
        let places = found
            .iter()
            .map(|value| (std::ptr::from_ref(*value), 0..0))
            .collect();
        let mut finder = Finder {
            text: self.text,
            places,
        };
        finder.value(0, &self.root);
        let range = |value: &&Value| finder.places.get(&std::ptr::from_ref(*value)).cloned();
        found.iter().filter_map(range).collect()
    }
}

/// Walks text and tree side by side.
struct Finder<'a> {
    text: &'a str,
    places: HashMap<*const Value, Range<usize>>,
}

impl Finder<'_> {
    /// Notes the value at `at` and returns where it ends.
    fn value(&mut self, at: usize, value: &Value) -> usize {
        // Of duplicate keys the last is noted last, and the tree has its value; what stands under
        // an earlier one may be of another kind and is passed over.
        let end = match (value, self.text.as_bytes().get(at)) {
            (Value::Object(map), Some(b'{')) => {
                scan::walk_object(self.text, at, |key, at| match map.get(&*key) {
                    Some(value) => self.value(at, value),
                    None => end_of(self.text, at),
                })
            }
            (Value::Array(items), Some(b'[')) => {
                let mut items = items.iter();
                scan::walk_array(self.text, at, |at| match items.next() {
                    Some(value) => self.value(at, value),
                    None => end_of(self.text, at),
                })
            }
            _ => end_of(self.text, at),
        };
        if let Some(place) = self.places.get_mut(&std::ptr::from_ref(value)) {
            *place = at..end;
        }
        end
    }
}

struct Reader<'a> {
    text: &'a str,
    measures: Measures,
}

impl Reader<'_> {
    /// The value at `at` and where it ends.
    fn value(&mut self, at: usize, depth: usize) -> (Value, usize) {
        self.measures.nodes += 1;
        self.measures.depth = self.measures.depth.max(depth);
        let text = self.text;
        match text.as_bytes().get(at) {
            Some(b'{') => {
                let mut map = Map::new();
                let end = scan::walk_object(text, at, |key, at| {
                    let (value, end) = self.value(at, depth + 1);
                    map.insert(key.into_owned(), value);
                    end
                });
                self.measures.width = self.measures.width.max(map.len());
                (Value::Object(map), end)
            }
            Some(b'[') => {
                let mut items = Vec::new();
                let end = scan::walk_array(text, at, |at| {
                    let (value, end) = self.value(at, depth + 1);
                    items.push(value);
                    end
                });
                self.measures.width = self.measures.width.max(items.len());
                (Value::Array(items), end)
            }
            _ => {
                let end = end_of(text, at);
                (scalar(&text[at..end]), end)
            }
        }
    }
}

fn end_of(text: &str, at: usize) -> usize {
    scan::skip_value(text.as_bytes(), at).unwrap_or(text.len())
}

fn scalar(text: &str) -> Value {
    match text.as_bytes().first() {
        Some(b'"') => Value::String(scan::unescape(text).into_owned()),
        Some(b't') => Value::Bool(true),
        Some(b'f') => Value::Bool(false),
        Some(b'n') | None => Value::Null,
        Some(_) => Value::Number(number(text)),
    }
}

fn number(text: &str) -> Number {
    if let Ok(whole) = text.parse::<u64>() {
        return whole.into();
    }
    if let Ok(whole) = text.parse::<i64>() {
        return whole.into();
    }
    let float = text.parse::<f64>().unwrap_or(0.0).clamp(f64::MIN, f64::MAX);
    Number::from_f64(float).unwrap_or_else(|| Number::from(0))
}
