//! What is wrong with a definition: where, what, and what would be right.

use std::fmt;

use serde::Serialize;

use super::source::Mark;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Problem {
    /// The way to the value, such as `steps[1].needs[0]`; empty for the whole definition.
    pub path: String,
    /// The line, from 1; 0 if it is in no text that was given.
    pub line: u32,
    /// The column in characters, from 1; 0 likewise.
    pub column: u32,
    /// What is wrong.
    pub message: String,
    /// What would be right, if there is a likely answer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
}

impl Problem {
    /// A problem at a place.
    #[must_use]
    pub fn new(path: impl Into<String>, mark: Mark, message: impl Into<String>) -> Self {
        Self {
            path: path.into(),
            line: mark.line,
            column: mark.column,
            message: message.into(),
            hint: None,
        }
    }

    /// Where it is, if that is in the text that was given.
    #[must_use]
    pub fn place(&self) -> Option<Mark> {
        let mark = Mark {
            line: self.line,
            column: self.column,
        };
        (mark != Mark::NOWHERE).then_some(mark)
    }

    /// The same with what would be right.
    #[must_use]
    pub fn with_hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// The same with "did you mean …?", if there is something to suggest.
    #[must_use]
    pub(crate) fn suggesting(self, near: Option<&str>) -> Self {
        match near {
            Some(near) => self.with_hint(format!("did you mean \"{near}\"?")),
            None => self,
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            path,
            line,
            column,
            message,
            ..
        } = self;
        match (path.is_empty(), line) {
            (true, 0) => f.write_str(message)?,
            (true, _) => write!(f, "line {line}, column {column}: {message}")?,
            (false, 0) => write!(f, "{path}: {message}")?,
            (false, _) => write!(f, "{path} (line {line}): {message}")?,
        }
        self.hint
            .as_ref()
            .map_or(Ok(()), |hint| write!(f, "; {hint}"))
    }
}

/// Everything that is wrong, in the order of the text.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Default)]
#[serde(transparent)]
pub struct Problems(Vec<Problem>);

impl Problems {
    /// None yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds one.
    pub fn push(&mut self, problem: Problem) {
        self.0.push(problem);
    }

    /// Whether nothing is wrong.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// One by one.
    pub fn iter(&self) -> std::slice::Iter<'_, Problem> {
        self.0.iter()
    }

    /// Puts them into the order of the text.
    pub(crate) fn sorted(mut self) -> Self {
        self.0.sort_by_key(|problem| (problem.line, problem.column));
        self
    }
}

impl From<Problem> for Problems {
    fn from(problem: Problem) -> Self {
        Self(vec![problem])
    }
}

impl IntoIterator for Problems {
    type Item = Problem;
    type IntoIter = std::vec::IntoIter<Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.into_iter()
    }
}

impl<'a> IntoIterator for &'a Problems {
    type Item = &'a Problem;
    type IntoIter = std::slice::Iter<'a, Problem>;

    fn into_iter(self) -> Self::IntoIter {
        self.0.iter()
    }
}

impl fmt::Display for Problems {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, problem) in self.0.iter().enumerate() {
            if at > 0 {
                f.write_str("\n")?;
            }
            problem.fmt(f)?;
        }
        Ok(())
    }
}

impl std::error::Error for Problems {}
