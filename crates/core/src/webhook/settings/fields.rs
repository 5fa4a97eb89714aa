//! The fields of one JSON object: each taken once, with its problems collected.

use std::borrow::Cow;
use std::time::Duration;

use crate::duration;
use crate::json::{Json, Kind};
use crate::webhook::problem::Problem;
use refire_schedule::nearest;

/// An object that is being read.
pub(in crate::webhook) struct Fields<'p> {
    /// What stands before the name of a field, such as `filters[0].`.
    prefix: String,
    /// Name and value; a field that is `null` counts as absent.
    members: Vec<(String, Json)>,
    problems: &'p mut Vec<Problem>,
}

impl<'p> Fields<'p> {
    /// The members of `json`, checked against the names that are known. Those in `others` are
    /// somebody else's.
    pub(in crate::webhook) fn of(
        json: &Json,
        prefix: String,
        known: &[&str],
        others: &[&str],
        problems: &'p mut Vec<Problem>,
    ) -> Self {
        if json.kind() != Kind::Object {
            problems.push(Problem::new(
                prefix.trim_end_matches('.'),
                "must be an object",
            ));
        }
        let mut members: Vec<(String, Json)> = Vec::new();
        for (name, value) in json.members() {
            let field = format!("{prefix}{name}");
            if members.iter().any(|(seen, _)| *seen == name) {
                problems.push(Problem::new(field, "is given twice"));
            } else if known.contains(&&*name) {
                members.push((name.into_owned(), Json::trusted(value)));
            } else if !others.contains(&&*name) {
                let near = meant(&name, known)
                    .or_else(|| nearest(&name, known.iter().chain(others).copied()));
                problems.push(Problem::new(field, "is not a known field").suggesting(near));
            }
        }
        members.retain(|(_, value)| !value.is_null());
        Self {
            prefix,
            members,
            problems,
        }
    }

    /// Notes a problem of a field.
    pub(in crate::webhook) fn problem(&mut self, name: &str, message: impl Into<String>) {
        let problem = Problem::new(format!("{}{name}", self.prefix), message);
        self.problems.push(problem);
    }

    /// Notes a problem of a field, with what would be right.
    pub(super) fn suggest(&mut self, name: &str, message: String, near: Option<&str>) {
        let problem = Problem::new(format!("{}{name}", self.prefix), message);
        self.problems.push(problem.suggesting(near));
    }

    pub(super) fn has(&self, name: &str) -> bool {
        self.members.iter().any(|(known, _)| known == name)
    }

    /// The value as it is.
    pub(in crate::webhook) fn value(&self, name: &str) -> Option<Json> {
        let found = self.members.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| value.clone())
    }

    /// A string.
    pub(in crate::webhook) fn text(&mut self, name: &str) -> Option<String> {
        let value = self.value(name)?;
        match value.as_text() {
            Some(text) => Some(text.into_owned()),
            None => {
                self.problem(name, "must be a string");
                None
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn bool(&mut self, name: &str) -> Option<bool> {
        let value = self.value(name)?;
        let flag = value.as_str().parse().ok();
        if flag.is_none() {
            let message = format!("{} is neither true nor false", excerpt(value.as_str()));
            self.problem(name, message);
        }
        flag
    }

    /// One of several words.
    pub(in crate::webhook) fn word<T: Copy>(
        &mut self,
        name: &str,
        words: &[(&'static str, T)],
    ) -> Option<T> {
        let text = self.text(name)?;
        if let Some((_, meant)) = words.iter().find(|(word, _)| *word == text) {
            return Some(*meant);
        }
        let names: Vec<&str> = words.iter().map(|(word, _)| *word).collect();
        let message = format!("{} is not one of {}", excerpt(&text), names.join(", "));
        self.suggest(name, message, nearest(&text, names.iter().copied()));
        None
    }

    /// A string that something else reads; its complaint becomes the problem.
    pub(super) fn parsed<T>(
        &mut self,
        name: &str,
        read: impl FnOnce(&str) -> Result<T, String>,
    ) -> Option<T> {
        let text = self.text(name)?;
        match read(&text) {
            Ok(value) => Some(value),
            Err(message) => {
                self.problem(name, message);
                None
            }
        }
    }

    /// A length of time.
    pub(super) fn duration(
        &mut self,
        name: &str,
        min: Duration,
        max: Duration,
    ) -> Option<Duration> {
        let value = self.value(name)?;
        let text = match value.kind() {
            Kind::String => value.as_text().unwrap_or_default(),
            // A bare number counts seconds, as everywhere.
            Kind::Number => Cow::Borrowed(value.as_str()),
            _ => {
                self.problem(name, "must be a length of time such as \"5m\"");
                return None;
            }
        };
        match duration::parse(&text) {
            Err(error) => self.problem(name, error.to_string()),
            Ok(length) if length < min || length > max => {
                let (min, max) = (duration::plain(min), duration::plain(max));
                self.problem(name, format!("must be between {min} and {max}"));
            }
            Ok(length) => return Some(length),
        }
        None
    }

    /// The elements of a list that has no more than `max`; empty if there is none.
    pub(super) fn list(&mut self, name: &str, max: usize) -> Vec<Json> {
        let Some(value) = self.value(name) else {
            return Vec::new();
        };
        if value.kind() != Kind::Array {
            self.problem(name, "must be a list");
            return Vec::new();
        }
        let elements: Vec<Json> = value.elements().map(Json::trusted).collect();
        if elements.len() > max {
            let count = elements.len();
            self.problem(
                name,
                format!("has {count} entries, at most {max} are allowed"),
            );
            return Vec::new();
        }
        elements
    }

    /// The list where problems go, for what is nested.
    pub(super) fn problems(&mut self) -> &mut Vec<Problem> {
        self.problems
    }
}

/// Other words for a field, which are no slips of the finger.
const OTHER_WORDS: [(&str, &str); 9] = [
    ("path", "json_path"),
    ("jsonpath", "json_path"),
    ("field", "json_path"),
    ("op", "operator"),
    ("values", "value"),
    ("auth", "authentication"),
    ("header", "signature_header"),
    ("idempotency_path", "idempotency_paths"),
    ("ip_allowlist", "ip_allow"),
];

/// The known field that another word stands for.
fn meant<'k>(name: &str, known: &[&'k str]) -> Option<&'k str> {
    let is_meant = |(word, _): &&(&str, &str)| word.eq_ignore_ascii_case(name);
    let (_, field) = OTHER_WORDS.iter().find(is_meant)?;
    known.iter().copied().find(|known| known == field)
}

/// A text as it is quoted in messages, cut where it is long.
pub(in crate::webhook) fn excerpt(text: &str) -> String {
    /// Characters of a value that a message quotes.
    const EXCERPT_CHARS: usize = 60;
    let mut characters = text.chars();
    let mut head: String = characters.by_ref().take(EXCERPT_CHARS).collect();
    if characters.next().is_some() {
        head.push('…');
    }
    format!("{head:?}")
}
