//! A page about one thing: a title, facts with their names, sections, and what to type next.

use std::fmt::Write as _;

use serde_json::value::RawValue;

use super::paint::{command, dim, heading, status};
use super::pretty::indented;

/// A page under construction.
#[derive(Debug)]
pub(crate) struct Screen(String);

impl Screen {
    /// `exec_…  completed`
    pub(crate) fn of(id: &str, word: &str) -> Self {
        Self(format!("{}  {}\n", heading(id), status(word)))
    }

    /// One that begins otherwise.
    pub(crate) fn new(head: impl Into<String>) -> Self {
        Self(head.into())
    }

    /// Adds a line.
    pub(crate) fn line(mut self, text: impl AsRef<str>) -> Self {
        let _ = writeln!(self.0, "{}", text.as_ref());
        self
    }

    /// Adds lines as they are.
    pub(crate) fn lines(mut self, text: impl AsRef<str>) -> Self {
        self.0.push_str(text.as_ref());
        self
    }

    /// Adds the facts that there are.
    pub(crate) fn facts<'a>(
        self,
        width: usize,
        all: impl IntoIterator<Item = (&'a str, Option<String>)>,
    ) -> Self {
        self.lines(facts(width, all))
    }

    /// Adds lines under a heading, if there are any.
    pub(crate) fn section(mut self, title: &str, text: impl AsRef<str>) -> Self {
        if !text.as_ref().is_empty() {
            let _ = write!(self.0, "\n{}\n{}", heading(title), text.as_ref());
        }
        self
    }

    /// Adds JSON under a heading, if there is any.
    pub(crate) fn json(self, title: &str, raw: Option<&RawValue>) -> Self {
        let text = raw.map(|raw| format!("  {}\n", indented(raw.get(), 2)));
        self.section(title, text.unwrap_or_default())
    }

    /// Ends it with what a person would most likely type next.
    pub(crate) fn next(self, commands: &[String]) -> String {
        let lines: String = commands.iter().map(|text| next_line(text)).collect();
        self.section("Next", lines).0
    }

    /// The whole.
    pub(crate) fn text(self) -> String {
        self.0
    }
}

fn next_line(text: &str) -> String {
    format!("  {}\n", command(text))
}

/// The facts that there are, a line each: names of at least this width, then what they are.
fn facts<'a>(width: usize, all: impl IntoIterator<Item = (&'a str, Option<String>)>) -> String {
    let lines = all.into_iter().filter_map(|(name, value)| {
        let name = dim(&format!("{name:<width$}"));
        Some(format!("  {name} {}\n", value?))
    });
    lines.collect()
}
