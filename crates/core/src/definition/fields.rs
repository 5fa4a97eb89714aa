//! Reading the members of a mapping: unknown keys are found, values are checked for their kind and
//! range, and every complaint knows its path and line.
//!
//! Each reader returns `None` after it has reported a problem, so callers go on and find the next.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::time::Duration;

use refire_schedule::nearest;

use super::keys::Known;
use super::problem::{Problem, Problems};
use super::source::{Content, Mark, Node};
use crate::duration;

/// A value together with the way to it.
#[derive(Debug, Clone)]
pub(crate) struct Field<'a> {
    pub(crate) path: String,
    pub(crate) node: &'a Node,
}

/// Keys of another place, where a key that is unknown here may have been meant to stand.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Elsewhere {
    pub(crate) table: &'static [Known],
    /// Where that is, as in "it belongs …".
    pub(crate) place: &'static str,
}

/// The members of a mapping under their documented names.
pub(crate) struct Fields<'a> {
    path: String,
    mark: Mark,
    found: Vec<(&'static str, &'a str, &'a Node)>,
}

impl<'a> Field<'a> {
    pub(crate) fn new(path: impl Into<String>, node: &'a Node) -> Self {
        Self {
            path: path.into(),
            node,
        }
    }

    pub(crate) fn problem(&self, message: impl Into<String>) -> Problem {
        Problem::new(self.path.clone(), self.node.mark, message)
    }

    fn expected(&self, what: &str, problems: &mut Problems) {
        problems.push(self.problem(format!("expected {what}, found {}", self.node.kind())));
    }

    /// The members of a mapping, keys of which are in `table`.
    pub(crate) fn fields(
        &self,
        table: &'static [Known],
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        self.fields_or(table, &[], problems)
    }

    /// The same, with a word about keys that belong somewhere else.
    pub(crate) fn fields_or(
        &self,
        table: &'static [Known],
        elsewhere: &[Elsewhere],
        problems: &mut Problems,
    ) -> Option<Fields<'a>> {
        let Content::Mapping(members) = &self.node.content else {
            self.expected("a mapping", problems);
            return None;
        };
        let mut fields = Fields {
            path: self.path.clone(),
            mark: self.node.mark,
            found: Vec::new(),
        };
        for (key, node) in members {
            let path = join(&self.path, &key.text);
            let Some(known) = table.iter().find(|known| known.is(&key.text)) else {
                let message = format!("unknown key \"{}\"", key.text);
                let problem = Problem::new(path, key.mark, message);
                problems.push(problem.with_hint(unknown_hint(&key.text, table, elsewhere)));
                continue;
            };
            match fields.found.iter().find(|(name, ..)| *name == known.name) {
                Some((_, other, _)) => {
                    let message = format!("\"{}\" and \"{other}\" are the same key", key.text);
                    problems.push(Problem::new(path, key.mark, message));
                }
                None => fields.found.push((known.name, &key.text, node)),
            }
        }
        Some(fields)
    }

    /// The elements of a list; a single value counts as a list of one.
    pub(crate) fn items(&self) -> Vec<Self> {
        match &self.node.content {
            Content::Sequence(items) => items
                .iter()
                .enumerate()
                .map(|(at, node)| Self::new(format!("{}[{at}]", self.path), node))
                .collect(),
            _ => vec![self.clone()],
        }
    }

    /// The members of a mapping with keys of any name.
    pub(crate) fn members(&self, problems: &mut Problems) -> Vec<(&'a str, Self)> {
        let Content::Mapping(members) = &self.node.content else {
            self.expected("a mapping", problems);
            return Vec::new();
        };
        let field = |(key, node): &'a (super::source::Key, Node)| {
            (&*key.text, Self::new(join(&self.path, &key.text), node))
        };
        members.iter().map(field).collect()
    }

    pub(crate) fn text(&self, problems: &mut Problems) -> Option<&'a str> {
        let text = self.node.as_str();
        if text.is_none() {
            self.expected("a string", problems);
        }
        text
    }

    /// The text of a string, or the source text of a number or of true/false.
    pub(crate) fn scalar(&self, problems: &mut Problems) -> Option<&'a str> {
        match &self.node.content {
            Content::String(text) | Content::Number(text) => Some(text),
            Content::Bool(true) => Some("true"),
            Content::Bool(false) => Some("false"),
            _ => {
                self.expected("a string", problems);
                None
            }
        }
    }

    pub(crate) fn bool(&self, problems: &mut Problems) -> Option<bool> {
        match self.node.content {
            Content::Bool(value) => Some(value),
            _ => {
                self.expected("true or false", problems);
                None
            }
        }
    }

    /// A whole number within a range.
    pub(crate) fn whole(&self, range: RangeInclusive<u64>, problems: &mut Problems) -> Option<u64> {
        let range_text = format!("a whole number from {} to {}", range.start(), range.end());
        let Content::Number(digits) = &self.node.content else {
            self.expected(&range_text, problems);
            return None;
        };
        let number = digits.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            problems.push(self.problem(format!("{digits} is not {range_text}")));
        }
        number
    }

    /// Any number within a range.
    pub(crate) fn number(
        &self,
        range: RangeInclusive<f64>,
        problems: &mut Problems,
    ) -> Option<f64> {
        let range_text = format!("a number from {} to {}", range.start(), range.end());
        let Content::Number(digits) = &self.node.content else {
            self.expected(&range_text, problems);
            return None;
        };
        let number = digits.parse().ok().filter(|number| range.contains(number));
        if number.is_none() {
            problems.push(self.problem(format!("{digits} is not {range_text}")));
        }
        number
    }

    /// A duration within a range; a bare number counts seconds.
    pub(crate) fn duration(
        &self,
        range: RangeInclusive<Duration>,
        problems: &mut Problems,
    ) -> Option<Duration> {
        let (Content::String(text) | Content::Number(text)) = &self.node.content else {
            self.expected("a duration such as 30s", problems);
            return None;
        };
        match duration::parse(text) {
            Err(error) => problems.push(self.problem(error.to_string())),
            Ok(parsed) if range.contains(&parsed) => return Some(parsed),
            Ok(_) => problems.push(self.problem(format!(
                "`{text}` is not between {} and {}",
                duration::plain(*range.start()),
                duration::plain(*range.end())
            ))),
        }
        None
    }

    /// One of some words, in any case.
    pub(crate) fn word<T: Copy>(
        &self,
        words: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        self.one_of(words, str::eq_ignore_ascii_case, problems)
    }

    /// One of some words, exactly: for what is shown as it was written.
    pub(crate) fn exact_word<T: Copy>(
        &self,
        words: &[(&'static str, T)],
        problems: &mut Problems,
    ) -> Option<T> {
        self.one_of(words, |word, text| word == text, problems)
    }

    fn one_of<T: Copy>(
        &self,
        words: &[(&'static str, T)],
        is: fn(&str, &str) -> bool,
        problems: &mut Problems,
    ) -> Option<T> {
        let text = self.text(problems)?;
        let found = words.iter().find(|(word, _)| is(word, text));
        if found.is_none() {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let problem = self.problem(format!("\"{text}\" is not one of {}", known.join(", ")));
            problems.push(problem.suggesting(nearest(text, known)));
        }
        found.map(|(_, value)| *value)
    }

    /// Keeps a parsed value or reports why there is none.
    pub(crate) fn keep<T, E: Display>(
        &self,
        result: Result<T, E>,
        problems: &mut Problems,
    ) -> Option<T> {
        result
            .map_err(|error| problems.push(self.problem(error.to_string())))
            .ok()
    }
}

impl<'a> Fields<'a> {
    /// The member of that name. Nothing written (`retry:`) counts as absent.
    pub(crate) fn get(&self, name: &'static str) -> Option<Field<'a>> {
        self.any(name)
            .filter(|field| field.node.content != Content::Null)
    }

    /// The member of that name, `null` included.
    pub(crate) fn any(&self, name: &'static str) -> Option<Field<'a>> {
        let (_, written, node) = self.found.iter().find(|(known, ..)| *known == name)?;
        Some(Field::new(join(&self.path, written), node))
    }

    /// Where the mapping begins.
    pub(crate) fn mark(&self) -> Mark {
        self.mark
    }

    /// The member of that name, or the complaint that it is missing.
    pub(crate) fn required(
        &self,
        name: &'static str,
        problems: &mut Problems,
    ) -> Option<Field<'a>> {
        let field = self.get(name);
        if field.is_none() {
            let message = format!("`{name}` is required");
            problems.push(Problem::new(join(&self.path, name), self.mark, message));
        }
        field
    }
}

/// What was meant by a key that is not in the table: one of another place, a slip, or nothing
/// that can be guessed.
fn unknown_hint(written: &str, table: &'static [Known], elsewhere: &[Elsewhere]) -> String {
    let has = |table: &'static [Known]| table.iter().find(|known| known.is(written));
    for Elsewhere { table, place } in elsewhere {
        if let Some(known) = has(table) {
            return format!("`{}` belongs {place}", known.name);
        }
    }
    let names = |table: &'static [Known]| table.iter().map(|known| known.name);
    let is_meant = |known: &&Known| {
        let mut words = known.mistaken.iter();
        words.any(|word| word.eq_ignore_ascii_case(written))
    };
    let meant = table.iter().find(is_meant).map(|known| known.name);
    if let Some(near) = meant.or_else(|| nearest(written, names(table))) {
        return format!("did you mean \"{near}\"?");
    }
    for Elsewhere { table, place } in elsewhere {
        if let Some(near) = nearest(written, names(table)) {
            return format!("did you mean \"{near}\"? it belongs {place}");
        }
    }
    let known: Vec<_> = names(table).collect();
    format!("use one of {}", known.join(", "))
}

/// `steps[0]` and `id` → `steps[0].id`.
pub(crate) fn join(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}
