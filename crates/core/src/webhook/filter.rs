//! Filters: whether a request holds what the trigger waits for.
//!
//! A filter is a JSONPath, an operator and a value. The first value the path finds is compared; where
//! it finds none the request is filtered, whatever the operator, except with `not_exists`. All
//! filters must pass.
//!
//! - `equals`, `not_equals`, `in`: by JSON type (`2` is not `"2"`), numbers by their exact value,
//!   objects whatever the order of their keys.
//! - `contains`: a part of the value's text, which is the characters of a string and the JSON of
//!   everything else. `matches`: a regular expression finds something in that text; `^` and `$` tie
//!   it to the ends. The engine behind takes time in proportion to the text, whatever the expression.
//! - `gt`, `gte`, `lt`, `lte`: numbers with numbers, and RFC 3339 times with such times.
//!
//! A path that would be too costly for the body is neither a pass nor a miss: it is a fault.

mod equal;

use std::cmp::Ordering;

use jiff::Timestamp;
use regex::{Regex, RegexBuilder};

use super::decimal;
use super::excerpt;
use crate::definition::fields::{Field, join};
use crate::definition::keys::Known;
use crate::definition::{Problem, Problems};
use crate::json::{Json, Kind, ObjectBuilder};
use crate::jsonpath::{JsonPath, Search};

/// The longest value of a filter, in bytes.
pub const VALUE_BYTES_MAX: usize = 4096;
/// How deep the value of a filter may be nested.
pub const VALUE_DEPTH_MAX: usize = 16;
/// The most values of `in`.
pub const IN_VALUES_MAX: usize = 100;
/// The longest regular expression, in bytes.
pub const PATTERN_BYTES_MAX: usize = 512;
/// How large it may become once it is compiled, in bytes.
const PATTERN_COMPILED_BYTES_MAX: usize = 1024 * 1024;
/// How deep it may be nested.
const PATTERN_NESTING_MAX: u32 = 32;
/// The longest text that is searched by one, in bytes.
pub const MATCHED_BYTES_MAX: usize = 16 * 1024;

/// What a filter consists of.
pub(crate) const KEYS: &[Known] = &[
    Known::mistaken_for("json_path", &["path", "jsonpath", "field"]),
    Known::mistaken_for("operator", &["op"]),
    Known::mistaken_for("value", &["values"]),
];

/// How a value is compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// The same value.
    Equals,
    /// Another value.
    NotEquals,
    /// A text with this part.
    Contains,
    /// Any value, also `null`.
    Exists,
    /// No value.
    NotExists,
    /// One of several.
    In,
    /// A text that a regular expression finds something in.
    Matches,
    /// Larger or later.
    Gt,
    /// Not smaller or earlier.
    Gte,
    /// Smaller or earlier.
    Lt,
    /// Not larger or later.
    Lte,
}

impl Operator {
    /// Every operator.
    pub const ALL: [Self; 11] = [
        Self::Equals,
        Self::NotEquals,
        Self::Contains,
        Self::Exists,
        Self::NotExists,
        Self::In,
        Self::Matches,
        Self::Gt,
        Self::Gte,
        Self::Lt,
        Self::Lte,
    ];

    /// The word.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Equals => "equals",
            Self::NotEquals => "not_equals",
            Self::Contains => "contains",
            Self::Exists => "exists",
            Self::NotExists => "not_exists",
            Self::In => "in",
            Self::Matches => "matches",
            Self::Gt => "gt",
            Self::Gte => "gte",
            Self::Lt => "lt",
            Self::Lte => "lte",
        }
    }
}

/// One condition.
#[derive(Debug, Clone)]
pub struct Filter {
    path: JsonPath,
    operator: Operator,
    /// As it was written; `exists` and `not_exists` have none.
    value: Option<Json>,
    test: Test,
}

/// The operator with its value made ready.
#[derive(Debug, Clone)]
enum Test {
    Exists,
    NotExists,
    Equals(Json),
    NotEquals(Json),
    In(Vec<Json>),
    Contains(String),
    Matches(Regex),
    Number(Json),
    Time(Timestamp),
}

/// Why a request does not pass.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// Which filter, from 0.
    pub index: usize,
    /// It could not be evaluated, rather than not be fulfilled.
    pub fault: bool,
    /// Which filter and why, in words.
    pub reason: String,
}

/// What one filter says of a body.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verdict {
    /// The first value that its path found.
    pub found: Option<Json>,
    /// Whether it is fulfilled; else why not.
    pub outcome: Result<(), Unfulfilled>,
}

/// Why a filter is not fulfilled.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unfulfilled {
    /// It could not be evaluated.
    pub fault: bool,
    /// Why, in words.
    pub why: String,
}

/// Whether a body passes all filters; else the first that it does not pass.
///
/// # Errors
/// The first filter that is not fulfilled or could not be evaluated.
pub fn pass(filters: &[Filter], body: &Json, search: &mut Search<'_>) -> Result<(), Miss> {
    for (index, filter) in filters.iter().enumerate() {
        filter
            .judge(body, search)
            .outcome
            .map_err(|Unfulfilled { fault, why }| Miss {
                index,
                fault,
                reason: format!("filter {} ({filter}): {why}", index + 1),
            })?;
    }
    Ok(())
}

impl Filter {
    /// Reads a filter.
    pub(super) fn read(field: &Field<'_>, problems: &mut Problems) -> Option<Self> {
        let before = problems.len();
        let fields = field.fields(KEYS, problems)?;
        let path = fields.required("json_path", problems);
        let path = path.and_then(|field| {
            let text = field.text(problems)?;
            field.keep(JsonPath::parse(text), problems)
        });
        let words = Operator::ALL.map(|operator| (operator.as_str(), operator));
        let operator = fields.required("operator", problems)?;
        let operator = operator.exact_word(&words, problems)?;
        // `null` is a value here: `equals null` means something.
        let written = fields.any("value");
        let value = written.as_ref().map(|field| field.node.to_json());
        match test(operator, value.as_ref()) {
            Err(message) => {
                let path = join(&field.path, "value");
                let place = written.as_ref().map_or(field.node, |field| field.node);
                problems.push(Problem::new(path, place.mark, message));
                None
            }
            Ok(test) if problems.len() == before => Some(Self {
                path: path?,
                operator,
                value,
                test,
            }),
            Ok(_) => None,
        }
    }

    /// Where it looks.
    #[must_use]
    pub fn path(&self) -> &str {
        self.path.as_str()
    }

    /// How it compares.
    #[must_use]
    pub fn operator(&self) -> Operator {
        self.operator
    }

    /// What it compares with, as it was written; `exists` and `not_exists` have none.
    #[must_use]
    pub fn value(&self) -> Option<&Json> {
        self.value.as_ref()
    }

    /// What it says of a body that is being searched.
    pub fn judge(&self, body: &Json, search: &mut Search<'_>) -> Verdict {
        let unfulfilled = |fault, why| Err(Unfulfilled { fault, why });
        match search.matches(&self.path) {
            Err(error) => Verdict {
                found: None,
                outcome: unfulfilled(true, error.to_string()),
            },
            Ok(found) => {
                let first = found.into_iter().next();
                let found = first.map(|range| Json::trusted(&body.as_str()[range]));
                let outcome = self.test(found.as_ref());
                Verdict {
                    outcome: outcome.or_else(|why| unfulfilled(false, why)),
                    found,
                }
            }
        }
    }

    pub(super) fn to_json(&self) -> Json {
        let object = ObjectBuilder::new()
            .text("json_path", self.path.as_str())
            .text("operator", self.operator.as_str());
        match &self.value {
            Some(value) => object.json("value", value).build(),
            None => object.build(),
        }
    }

    /// Whether the value that the path found passes; else why not.
    fn test(&self, value: Option<&Json>) -> Result<(), String> {
        let Some(value) = value else {
            return match self.test {
                Test::NotExists => Ok(()),
                _ => Err("there is no such value".to_owned()),
            };
        };
        let passes = match &self.test {
            Test::Exists => true,
            Test::NotExists => false,
            Test::Equals(wanted) => equal::equal(wanted.as_str(), value.as_str()),
            Test::NotEquals(other) => !equal::equal(other.as_str(), value.as_str()),
            Test::In(wanted) => wanted
                .iter()
                .any(|wanted| equal::equal(wanted.as_str(), value.as_str())),
            Test::Contains(part) => text(value).contains(part.as_str()),
            Test::Matches(pattern) => {
                let text = text(value);
                if text.len() > MATCHED_BYTES_MAX {
                    return Err(format!(
                        "the value has {} bytes, at most {MATCHED_BYTES_MAX} can be searched",
                        text.len()
                    ));
                }
                pattern.is_match(&text)
            }
            Test::Number(bound) if value.kind() == Kind::Number => {
                self.ordered(decimal::compare(value.as_str(), bound.as_str()))
            }
            Test::Number(_) => {
                return Err(format!("the value {} is not a number", said(value)));
            }
            Test::Time(bound) => match time(value) {
                Some(time) => self.ordered(time.cmp(bound)),
                None => {
                    return Err(format!("the value {} is not an RFC 3339 time", said(value)));
                }
            },
        };
        if passes {
            return Ok(());
        }
        Err(format!("the value is {}", said(value)))
    }

    fn ordered(&self, order: Ordering) -> bool {
        match self.operator {
            Operator::Gt => order.is_gt(),
            Operator::Gte => order.is_ge(),
            Operator::Lt => order.is_lt(),
            Operator::Lte => order.is_le(),
            _ => false,
        }
    }
}

impl PartialEq for Filter {
    fn eq(&self, other: &Self) -> bool {
        self.path == other.path && self.operator == other.operator && self.value == other.value
    }
}

impl std::fmt::Display for Filter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.path.as_str(), self.operator.as_str())?;
        match &self.value {
            Some(value) => write!(f, " {}", said(value)),
            None => Ok(()),
        }
    }
}

/// The operator with its value, or what is wrong with the value.
fn test(operator: Operator, value: Option<&Json>) -> Result<Test, String> {
    let name = operator.as_str();
    let value = match (operator, value) {
        (Operator::Exists | Operator::NotExists, Some(_)) => {
            return Err(format!("has no effect with \"{name}\"; leave it out"));
        }
        (Operator::Exists, None) => return Ok(Test::Exists),
        (Operator::NotExists, None) => return Ok(Test::NotExists),
        (_, None) => return Err(format!("is missing; \"{name}\" needs one")),
        (_, Some(value)) => value,
    };
    if value.as_str().len() > VALUE_BYTES_MAX {
        let bytes = value.as_str().len();
        return Err(format!(
            "has {bytes} bytes, at most {VALUE_BYTES_MAX} are allowed"
        ));
    }
    if crate::json::scan::too_deep(value.as_str().as_bytes(), VALUE_DEPTH_MAX).is_some() {
        return Err(format!("is nested deeper than {VALUE_DEPTH_MAX} levels"));
    }
    match operator {
        Operator::Equals => Ok(Test::Equals(value.clone())),
        Operator::NotEquals => Ok(Test::NotEquals(value.clone())),
        Operator::In => members(value),
        Operator::Contains => match value.kind() {
            Kind::String | Kind::Number | Kind::Bool if !text(value).is_empty() => {
                Ok(Test::Contains(text(value).into_owned()))
            }
            Kind::String => Err("is empty, so it would match everything".to_owned()),
            _ => Err("must be a string, a number or a bool with \"contains\"".to_owned()),
        },
        Operator::Matches => pattern(value),
        _ => match (value.kind(), time(value)) {
            (Kind::Number, _) => Ok(Test::Number(value.clone())),
            (_, Some(time)) => Ok(Test::Time(time)),
            _ => Err(format!(
                "must be a number or an RFC 3339 time such as \"2026-11-15T09:30:00Z\" with \"{name}\""
            )),
        },
    }
}

fn members(value: &Json) -> Result<Test, String> {
    let values: Vec<Json> = value.elements().map(Json::trusted).collect();
    match values.len() {
        _ if value.kind() != Kind::Array => {
            Err("must be a list with \"in\", such as [\"a\", \"b\"]".to_owned())
        }
        0 => Err("is empty, so it would match nothing".to_owned()),
        1..=IN_VALUES_MAX => Ok(Test::In(values)),
        count => Err(format!(
            "has {count} entries, at most {IN_VALUES_MAX} are allowed"
        )),
    }
}

fn pattern(value: &Json) -> Result<Test, String> {
    let Some(text) = value.as_text() else {
        return Err("must be a regular expression in a string with \"matches\"".to_owned());
    };
    if text.len() > PATTERN_BYTES_MAX {
        let bytes = text.len();
        return Err(format!(
            "the regular expression has {bytes} bytes, at most {PATTERN_BYTES_MAX} are allowed"
        ));
    }
    let built = RegexBuilder::new(&text)
        .size_limit(PATTERN_COMPILED_BYTES_MAX)
        .dfa_size_limit(PATTERN_COMPILED_BYTES_MAX)
        .nest_limit(PATTERN_NESTING_MAX)
        .build();
    built.map(Test::Matches).map_err(|error| match error {
        regex::Error::CompiledTooBig(_) => {
            "the regular expression repeats too much to be searched quickly".to_owned()
        }
        // The library draws the place over several lines; the last one says what is wrong.
        other => {
            let drawn = other.to_string();
            let last = drawn.lines().last().unwrap_or_default();
            let said = last.strip_prefix("error: ").unwrap_or(last);
            format!("is not a regular expression: {said}")
        }
    })
}

/// The characters of a string, the JSON of everything else.
fn text(value: &Json) -> std::borrow::Cow<'_, str> {
    value.as_text().unwrap_or_else(|| value.as_str().into())
}

fn time(value: &Json) -> Option<Timestamp> {
    value.as_text()?.parse().ok()
}

/// A value as it is quoted in a reason.
fn said(value: &Json) -> String {
    match value.as_text() {
        Some(text) => excerpt(&text),
        None => excerpt(value.as_str()).trim_matches('"').to_owned(),
    }
}

#[cfg(test)]
mod tests;
