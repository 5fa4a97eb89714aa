//! Query parameters, read strictly: an unknown one is an error, because a filter that is ignored
//! shows or changes more than was meant. All that is wrong is told at once.

use std::fmt::Display;
use std::ops::RangeInclusive;
use std::str::FromStr;
use std::time::Duration;

use axum::extract::FromRequestParts;
use http::request::Parts;
use refire_client::model::FieldProblem;
use refire_client::query::{Kind, Parameter, Query, ReadParameters};
use refire_core::breaker;
use refire_core::definition::{WorkflowId, check_task_type};
use refire_core::duration;
use refire_core::execution::EventKind;
use refire_core::id::{AlertRuleId, ExecutionId, TriggerId};
use refire_core::limit::PRIORITY_LAST;
use refire_core::time::Timestamp;
use refire_core::trigger::range::UPCOMING_MAX;
use refire_store::LIMIT_MAX;
use url::form_urlencoded::parse;

use super::Problem;
use super::execute::{DELAY_MAX, WAIT_MAX};
use super::overview::RANGE_MAX;
use super::problem::wrong;
use super::task::{TASKS_MAX, TYPES_MAX, WAIT_SECONDS_MAX, WORKER_CHARS_MAX};
use crate::codes;

/// Executions or workflows that a list names.
pub(super) const NAMED_MAX: usize = 100;

/// Unknown parameters that are named; a request line could hold thousands.
const UNKNOWN_MAX: usize = 20;

/// The parameters of a call.
pub(super) struct Params<Q>(pub(super) Q);

/// The parameters of a request, taken out one by one.
struct Reader {
    pairs: Vec<(String, String)>,
    known: Vec<&'static str>,
    problems: Vec<FieldProblem>,
}

impl<S: Sync, Q: Query> FromRequestParts<S> for Params<Q> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let mut reader = Reader::parse(parts.uri.query().unwrap_or_default());
        let query = Q::read(&mut reader);
        reader.finish().map(|()| Self(query))
    }
}

/// Reads parameters that came in another way than in a request's address; all that is wrong with them.
pub(super) fn read_pairs<Q: Query>(pairs: Vec<(String, String)>) -> (Q, Vec<FieldProblem>) {
    let mut reader = Reader {
        pairs,
        known: Vec::new(),
        problems: Vec::new(),
    };
    let query = Q::read(&mut reader);
    let known = reader.known.join(", ");
    let unknown = std::mem::take(&mut reader.pairs).into_iter();
    for (name, _) in unknown.take(UNKNOWN_MAX) {
        reader.refuse(&name, format!("is unknown; a filter takes {known}"));
    }
    (query, reader.problems)
}

impl Reader {
    fn parse(text: &str) -> Self {
        Self {
            // What is not UTF-8 is replaced and then found unknown or invalid.
            pairs: parse(text.as_bytes()).into_owned().collect(),
            known: Vec::new(),
            problems: Vec::new(),
        }
    }

    /// Every value of a parameter.
    fn take(&mut self, name: &'static str) -> Vec<String> {
        self.known.push(name);
        let is_it = |pair: &mut (String, String)| pair.0 == name;
        let found = self.pairs.extract_if(.., is_it);
        found.map(|(_, value)| value).collect()
    }

    /// Notes what is wrong with a parameter.
    fn refuse(&mut self, name: &str, message: impl Into<String>) {
        self.problems.push(wrong(name, message));
    }

    /// Ends the reading: what is left over is not known here.
    fn finish(mut self) -> Result<(), Problem> {
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

impl ReadParameters for Reader {
    fn parameter<P: Parameter>(&mut self, name: &'static str) -> P {
        let mut texts = self.take(name);
        if P::IS_LIST {
            texts = (texts.iter().flat_map(|text| text.split(',')))
                .map(|part| part.trim().to_owned())
                .collect();
        } else if texts.len() > 1 {
            self.refuse(name, "is given more than once");
            texts.drain(..texts.len() - 1);
        }
        // An empty one counts as absent.
        texts.retain(|text| !text.is_empty());
        let mut value = P::default();
        if P::IS_LIST
            && let Err(message) = check_list(name, texts.len())
        {
            self.refuse(name, message);
        }
        for text in texts {
            let checked = match (P::IS_LIST, name) {
                (true, "workflow") => workflows(&text),
                _ => check(P::KIND, name, &text),
            };
            if let Err(message) = checked.and_then(|()| value.add(&text)) {
                self.refuse(name, message);
            }
        }
        value
    }
}

/// The numbers that a parameter takes. Almost everything is counted from one.
pub(super) fn numbers(name: &str) -> RangeInclusive<u32> {
    match name {
        "limit" => 1..=LIMIT_MAX,
        "count" => 1..=u32::try_from(UPCOMING_MAX).unwrap_or(u32::MAX),
        "priority" => 1..=PRIORITY_LAST.into(),
        "maxTasks" => 1..=TASKS_MAX,
        "waitSeconds" => 0..=WAIT_SECONDS_MAX,
        _ => 1..=u32::MAX,
    }
}

/// What is wrong with a list as a whole.
fn check_list(name: &str, count: usize) -> Result<(), String> {
    match (name, count) {
        ("taskType", 0) => Err("which tasks? Name one type, or several with commas".to_owned()),
        ("taskType", count) if count > TYPES_MAX => {
            Err(format!("at most {TYPES_MAX} types in one poll"))
        }
        ("ids" | "workflow", count) if count > NAMED_MAX => Err(format!(
            "at most {NAMED_MAX} in one request; these are {count}"
        )),
        _ => Ok(()),
    }
}

/// A workflow, or the beginning of the names of several.
fn workflows(text: &str) -> Result<(), String> {
    match text.strip_suffix('*') {
        // A star alone is every workflow.
        Some("") => Ok(()),
        Some(beginning) => check(Kind::Text, "workflow", beginning),
        None => check(Kind::Text, "workflow", text),
    }
}

/// A type of tasks, or the beginning of several.
fn task_type(text: &str) -> Result<(), String> {
    let name = text.strip_suffix('*').unwrap_or(text);
    if name.contains('*') {
        return Err(format!("`{text}`: a `*` stands only at the end"));
    }
    // A star alone is every type.
    match check_task_type(name) {
        Err(why) if text != "*" => Err(format!("`{text}`: {why}")),
        _ => Ok(()),
    }
}

/// What is wrong with a value, if it means the same wherever it is.
fn check(kind: Kind, name: &str, text: &str) -> Result<(), String> {
    let told = |error: &dyn Display| format!("`{text}`: {error}");
    match (kind, name) {
        (Kind::Number, _) => {
            let range = numbers(name);
            let number = text.parse().ok().filter(|number| range.contains(number));
            let (least, most) = (range.start(), range.end());
            let wrong = || format!("{text} is not a whole number between {least} and {most}");
            number.map(drop).ok_or_else(wrong)
        }
        (Kind::Flag, _) if !["true", "false"].contains(&text) => {
            Err(format!("`{text}` is neither true nor false"))
        }
        (Kind::Text, "workflow" | "workflow_id") => {
            let name = text.parse::<WorkflowId>();
            name.map(drop).map_err(|error| told(&error))
        }
        (Kind::Text, "from" | "to") => {
            let time = text.parse::<Timestamp>();
            time.map(drop).map_err(|error| told(&error))
        }
        (Kind::Text, "taskType") => task_type(text),
        (Kind::Text, "workerId" | "workerType") => {
            let is_long = text.chars().count() > WORKER_CHARS_MAX;
            let wrong = || format!("is longer than {WORKER_CHARS_MAX} characters");
            (!is_long).then_some(()).ok_or_else(wrong)
        }
        (Kind::Text, "trigger") => {
            let id = text.parse::<TriggerId>();
            id.map(drop).map_err(|error| told(&error))
        }
        (Kind::Text, "rule_id") => {
            let id = text.parse::<AlertRuleId>();
            id.map(drop).map_err(|error| told(&error))
        }
        (Kind::Text, "executionId" | "ids") => {
            let id = text.parse::<ExecutionId>();
            id.map(drop).map_err(|error| told(&error))
        }
        (Kind::Text, "sort") => one_of(text, &["name", "-updated"]),
        (Kind::Text, "include") => one_of(text, &["stats"]),
        (Kind::Text, "archived") => one_of(text, &["true", "false", "all"]),
        (Kind::Text, "range") => short(text, RANGE_MAX),
        (Kind::Text, "wait") => short(text, WAIT_MAX),
        (Kind::Text, "delay") => short(text, DELAY_MAX),
        (Kind::Text, "target") => breaker::names(text).map(drop),
        (Kind::Text, "fingerprint") => {
            let is_hex = u64::from_str_radix(text, 16).is_ok() && text.len() == 16;
            let wrong = || format!("`{text}` is not 16 hex digits");
            is_hex.then_some(()).ok_or_else(wrong)
        }
        (Kind::Text, "type") => {
            let name = text.to_ascii_uppercase();
            let known = EventKind::NAMES;
            let wrong = || format!("`{name}` is not one of {}", known.join(", "));
            known
                .contains(&name.as_str())
                .then_some(())
                .ok_or_else(wrong)
        }
        _ => Ok(()),
    }
}

/// A word of a short list.
fn one_of(text: &str, words: &[&str]) -> Result<(), String> {
    let wrong = || format!("`{text}` is not one of {}", words.join(", "));
    words.contains(&text).then_some(()).ok_or_else(wrong)
}

/// A length of time of at most `max`.
fn short(text: &str, max: Duration) -> Result<(), String> {
    match duration::parse(text) {
        Ok(found) if found <= max => Ok(()),
        Ok(_) => Err(format!("`{text}` is longer than {}", duration::plain(max))),
        Err(error) => Err(error.to_string()),
    }
}

/// A value that was checked as what it means.
pub(super) fn parsed<T: FromStr<Err: Display>>(text: Option<&str>) -> Result<Option<T>, Problem> {
    text.map(str::parse).transpose().map_err(Problem::internal)
}

/// Words of the API as the engine has them; a test sees to it that both have the same.
pub(super) fn meant<T>(words: &[impl Display], from_name: fn(&str) -> Option<T>) -> Vec<T> {
    let names = words.iter().map(ToString::to_string);
    names.filter_map(|name| from_name(&name)).collect()
}

#[cfg(test)]
mod tests {
    use refire_client::model;
    use refire_client::query::{ExecuteQuery, LetterQuery, OfWorkflow, Paging, SlotQuery};
    use refire_core::dead_letter::{LetterStatus, Reason};
    use refire_core::execution::{self, TriggerKind};
    use refire_store::{RequestStatus, SlotStatus};

    use super::*;
    use crate::api::trigger;

    fn read<Q: Query>(text: &str) -> (Q, Reader) {
        let mut reader = Reader::parse(text);
        (Q::read(&mut reader), reader)
    }

    #[test]
    fn everything_that_is_wrong_is_told_at_once() {
        let text = "limit=0&workflow=a&workflow=b&colour=red&wait=2h";
        let (query, reader) = read::<(Paging, (OfWorkflow, ExecuteQuery))>(text);
        assert_eq!(query.0.limit, None);
        let problem = reader.finish().expect_err("wrong").to_model(None);
        let fields: Vec<_> = problem
            .errors
            .iter()
            .map(|error| error.field.as_str())
            .collect();
        assert_eq!(fields, ["limit", "workflow", "wait", "colour"]);
        let known = "takes limit, cursor, workflow, wait";
        assert!(problem.errors[3].message.contains(known), "{problem:?}");
    }

    #[test]
    fn values_are_decoded_and_lists_split() {
        let text = "error_type=a,b&error_type=c,&q=a%20b%2Bc+d%zz&from=";
        let (query, reader) = read::<LetterQuery>(text);
        assert_eq!(query.error_type, ["a", "b", "c"]);
        assert_eq!(query.q.as_deref(), Some("a b+c d%zz"));
        assert_eq!(query.from, None);
        assert!(reader.finish().is_ok());
    }

    #[test]
    fn an_unknown_word_is_answered_with_the_known_ones() {
        let (_, reader) = read::<SlotQuery>("status=done");
        let problem = reader.finish().expect_err("something is wrong");
        let known = "fired, late, skipped, overdue, recovered";
        let expected = format!("status: `done` is not one of {known}");
        assert_eq!(problem.detail(), expected);
    }

    #[test]
    fn what_a_client_sends_is_what_is_read() {
        let sent = LetterQuery {
            workflow: Some("ship_order".to_owned()),
            error_type: vec!["dns".to_owned(), "tls".to_owned()],
            status: model::LetterStatus::ALL.to_vec(),
            from: Some("2026-11-15T09:30:00Z".to_owned()),
            ..LetterQuery::default()
        };
        let pairs = sent.pairs().into_iter();
        let pairs: Vec<_> = pairs.map(|(name, text)| format!("{name}={text}")).collect();
        let (query, reader) = read::<LetterQuery>(&pairs.join("&"));
        assert_eq!(query, sent);
        assert!(reader.finish().is_ok());
    }

    /// The words of the API are those of the engine, in both directions.
    #[test]
    fn the_words_are_the_same_everywhere() {
        fn same<W: Display, T: Copy>(shown: &[W], known: &[T], name: fn(T) -> &'static str) {
            let shown: Vec<_> = shown.iter().map(ToString::to_string).collect();
            let known: Vec<_> = known.iter().map(|known| name(*known)).collect();
            assert_eq!(shown, known);
        }
        let status = model::ExecutionStatus::ALL;
        same(status, &execution::Status::ALL, execution::Status::name);
        let runs = &model::RunStatus::ALL[..status.len()];
        same(runs, &execution::Status::ALL, execution::Status::name);
        let (status, reason) = (model::LetterStatus::ALL, model::LetterReason::ALL);
        same(status, &LetterStatus::ALL, LetterStatus::name);
        same(reason, &Reason::ALL, Reason::name);
        same(model::SlotStatus::ALL, &SlotStatus::ALL, SlotStatus::name);
        let status = model::RequestStatus::ALL;
        same(status, &RequestStatus::ALL, RequestStatus::name);
        let kinds = trigger::KINDS.map(TriggerKind::name);
        same(model::TriggerType::ALL, &kinds, |name| name);
    }
}
