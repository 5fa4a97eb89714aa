//! Query parameters, read strictly: an unknown one is an error, because a filter that is ignored
//! shows or changes more than was meant. All that is wrong is told at once.

use std::borrow::Cow;
use std::fmt::Display;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use refire_client::model::FieldProblem;
use refire_core::duration;

use super::problem::{Problem, wrong};
use crate::codes;

/// Rows of a page unless told otherwise.
pub(super) const LIMIT_DEFAULT: u32 = 50;

/// Unknown parameters that are named; a request line could hold thousands.
const UNKNOWN_MAX: usize = 20;

/// The parameters of a request, taken out one by one.
pub(super) struct Query {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
    problems: Vec<FieldProblem>,
}

impl<S: Sync> FromRequestParts<S> for Query {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        Ok(Self::parse(parts.uri.query().unwrap_or_default()))
    }
}

impl Query {
    fn parse(text: &str) -> Self {
        let pairs = text
            .split('&')
            .filter(|pair| !pair.is_empty())
            .map(|pair| {
                let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
                (decoded(name), decoded(value))
            })
            .collect();
        Self {
            pairs,
            known: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Every value of a parameter, also those separated by commas.
    pub(super) fn all(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let mut values = Vec::new();
        self.pairs.retain(|(found, value)| {
            if found == name {
                let parts = value
                    .split(',')
                    .map(str::trim)
                    .filter(|part| !part.is_empty());
                values.extend(parts.map(str::to_owned));
            }
            found != name
        });
        values
    }

    /// The value of a parameter; an empty one counts as absent.
    pub(super) fn text(&mut self, name: &'static str) -> Option<String> {
        self.known.push(name);
        let mut values = Vec::new();
        self.pairs.retain(|(found, value)| {
            if found == name {
                values.push(value.clone());
            }
            found != name
        });
        if values.len() > 1 {
            self.refuse(name, "is given more than once");
        }
        values.pop().filter(|value| !value.is_empty())
    }

    /// The value of a parameter as a type.
    pub(super) fn value<T>(&mut self, name: &'static str) -> Option<T>
    where
        T: FromStr,
        T::Err: Display,
    {
        let text = self.text(name)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => {
                self.refuse(name, format!("`{text}`: {error}"));
                None
            }
        }
    }

    /// A whole number within bounds.
    pub(super) fn number(&mut self, name: &'static str, min: u32, max: u32) -> Option<u32> {
        let text = self.text(name)?;
        match text.parse::<u32>() {
            Ok(number) if (min..=max).contains(&number) => Some(number),
            _ => {
                self.refuse(
                    name,
                    format!("{text} is not a whole number between {min} and {max}"),
                );
                None
            }
        }
    }

    /// A length of time of at most `max`.
    pub(super) fn duration(&mut self, name: &'static str, max: Duration) -> Option<Duration> {
        let text = self.text(name)?;
        match duration::parse(&text) {
            Ok(found) if found <= max => Some(found),
            Ok(_) => {
                let most = duration::plain(max);
                self.refuse(name, format!("`{text}` is longer than {most}"));
                None
            }
            Err(error) => {
                self.refuse(name, error.to_string());
                None
            }
        }
    }

    /// `true` or `false`.
    pub(super) fn flag(&mut self, name: &'static str) -> bool {
        match self.text(name).as_deref() {
            None | Some("false") => false,
            Some("true") => true,
            Some(other) => {
                self.refuse(name, format!("`{other}` is neither true nor false"));
                false
            }
        }
    }

    /// `true`, `false` or absent, where absent means both.
    pub(super) fn maybe_flag(&mut self, name: &'static str) -> Option<bool> {
        let text = self.text(name)?;
        let flag = text.parse().ok();
        if flag.is_none() {
            self.refuse(name, format!("`{text}` is neither true nor false"));
        }
        flag
    }

    /// Words of a closed list, by name.
    pub(super) fn words<T: Copy>(
        &mut self,
        name: &'static str,
        known: &[T],
        word: impl Fn(T) -> &'static str,
    ) -> Vec<T> {
        let mut found = Vec::new();
        for text in self.all(name) {
            match known.iter().find(|known| word(**known) == text) {
                Some(one) => found.push(*one),
                None => {
                    let words: Vec<_> = known.iter().map(|known| word(*known)).collect();
                    self.refuse(name, format!("`{text}` is not one of {}", words.join(", ")));
                }
            }
        }
        found
    }

    /// Rows of a page.
    pub(super) fn limit(&mut self) -> u32 {
        self.number("limit", 1, refire_store::LIMIT_MAX)
            .unwrap_or(LIMIT_DEFAULT)
    }

    /// Notes what is wrong with a parameter.
    pub(super) fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(wrong(name, message));
    }

    /// Ends the reading: what is left over is not known here.
    pub(super) fn finish(mut self) -> Result<(), Problem> {
        for (name, _) in std::mem::take(&mut self.pairs)
            .into_iter()
            .take(UNKNOWN_MAX)
        {
            let message = match self.known.as_slice() {
                [] => "is unknown; this call takes no parameters".to_owned(),
                known => format!("is unknown; this call takes {}", known.join(", ")),
            };
            self.refuse(&name, message);
        }
        if self.problems.is_empty() {
            Ok(())
        } else {
            Err(Problem::fields(&codes::INVALID_PARAMETER, self.problems))
        }
    }
}

/// `%41` and `+` as in forms; what is not UTF-8 is replaced and then found unknown or invalid.
fn decoded(text: &str) -> String {
    let spaced = text.replace('+', " ");
    let bytes = spaced.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let hex = (bytes[at] == b'%')
            .then(|| std::str::from_utf8(bytes.get(at + 1..at + 3)?).ok())
            .flatten()
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match hex {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    match String::from_utf8_lossy(&out) {
        Cow::Borrowed(text) => text.to_owned(),
        Cow::Owned(text) => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(query: Query) -> String {
        query
            .finish()
            .expect_err("something is wrong")
            .detail()
            .to_owned()
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let mut query = Query::parse("limit=0&workflow=a&workflow=b&colour=red&wait=2h");
        assert_eq!(query.limit(), LIMIT_DEFAULT);
        query.text("workflow");
        query.duration("wait", Duration::from_secs(60));
        let problem = query.finish().expect_err("wrong").to_model(None);
        let fields: Vec<_> = problem
            .errors
            .iter()
            .map(|error| error.field.as_str())
            .collect();
        assert_eq!(fields, ["limit", "workflow", "wait", "colour"]);
        assert!(
            problem.errors[3]
                .message
                .contains("takes limit, workflow, wait")
        );
    }

    #[test]
    fn values_are_decoded_and_lists_split() {
        let mut query = Query::parse("status=a,b&status=c&q=a%20b%2Bc+d%zz&empty=");
        assert_eq!(query.all("status"), ["a", "b", "c"]);
        assert_eq!(query.text("q").as_deref(), Some("a b+c d%zz"));
        assert_eq!(query.text("empty"), None);
        assert!(query.finish().is_ok());
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let mut query = Query::parse("status=done");
        let known = [true, false];
        query.words("status", &known, |one| if one { "yes" } else { "no" });
        assert_eq!(said(query), "status: `done` is not one of yes, no");
    }
}
