//! Reading what a bulk job is to do. Everything that is wrong is told at once.

use std::collections::HashSet;
use std::str::FromStr;

use refire_client::model::{FieldProblem, Raw};
use refire_client::query::Query;
use refire_core::bulk::{Action, IDS_MAX, RATE_DEFAULT, RATE_MAX};
use refire_core::id::ItemId;
use refire_store::Selection;
use serde_json::Value;

use crate::api::Problem;
use crate::api::problem::wrong;
use crate::api::query::read_pairs;
use crate::codes;

/// Wrong ids that are named in an answer.
const WRONG_IDS_MAX: usize = 100;

/// What is wrong so far.
#[derive(Default)]
pub(in crate::api) struct Wrong(Vec<FieldProblem>);

impl Wrong {
    pub(in crate::api) fn add(&mut self, field: &str, message: impl Into<String>) {
        self.0.push(wrong(field, message));
    }

    pub(in crate::api) fn end(self) -> Result<(), Problem> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Problem::fields(&codes::INVALID_BULK, self.0)),
        }
    }

    /// The action, if it is one of these.
    pub(in crate::api) fn action(&mut self, name: &str, known: &[Action]) -> Option<Action> {
        let found = Action::from_name(name).filter(|action| known.contains(action));
        if found.is_none() {
            let known: Vec<_> = known.iter().map(|action| action.name()).collect();
            let message = format!("`{name}` is not one of {}", known.join(", "));
            self.add("action", message);
        }
        found
    }

    /// A setting that only some actions have.
    pub(in crate::api) fn only_for(&mut self, field: &str, is_given: bool, fits: bool, of: &str) {
        if is_given && !fits {
            self.add(field, format!("is only for `{of}`"));
        }
    }

    pub(in crate::api) fn rate(&mut self, rate: Option<u32>) -> u32 {
        match rate {
            None => RATE_DEFAULT,
            Some(rate) if (1..=RATE_MAX).contains(&rate) => rate,
            Some(rate) => {
                self.add("rate", format!("{rate} is not between 1 and {RATE_MAX}"));
                RATE_DEFAULT
            }
        }
    }

    /// Ids as they were named; none twice.
    fn ids<I: FromStr<Err: std::fmt::Display> + Into<ItemId>>(
        &mut self,
        ids: &[String],
    ) -> Selection {
        if ids.is_empty() {
            self.add("ids", "is empty: name at least one");
        }
        if ids.len() > IDS_MAX {
            let message = format!("at most {IDS_MAX} in one job; these are {}", ids.len());
            self.add("ids", message);
            return Selection::Ids(Vec::new());
        }
        let (mut seen, mut read, mut wrongs) = (HashSet::new(), Vec::new(), 0);
        for (at, text) in ids.iter().enumerate() {
            let message = match text.parse::<I>() {
                Ok(id) => {
                    let id: ItemId = id.into();
                    read.push(id);
                    match seen.insert(id) {
                        true => continue,
                        false => format!("`{text}` is there twice"),
                    }
                }
                Err(error) => format!("`{text}`: {error}"),
            };
            wrongs += 1;
            if wrongs <= WRONG_IDS_MAX {
                self.add(&format!("ids[{at}]"), message);
            }
        }
        Selection::of(read)
    }

    /// What is to be done it with: ids, or a filter. None if neither can be used.
    pub(in crate::api) fn selection<I: FromStr<Err: std::fmt::Display> + Into<ItemId>, Q: Query>(
        &mut self,
        ids: Option<&[String]>,
        filter: Option<&Raw>,
    ) -> Option<Chosen<Q>> {
        match (ids, filter) {
            (Some(ids), None) => Some(Chosen::Ids(self.ids::<I>(ids))),
            (None, Some(filter)) => self.filter(filter).map(Chosen::Filter),
            (Some(ids), Some(filter)) => {
                self.ids::<I>(ids);
                self.filter::<Q>(filter);
                self.add("filter", "is given beside `ids`; give one of them");
                None
            }
            (None, None) => {
                self.add("filter", "is missing: say which, by `ids` or by `filter`");
                None
            }
        }
    }

    fn filter<Q: Query>(&mut self, filter: &Raw) -> Option<Q> {
        let Ok(Value::Object(members)) = serde_json::from_str(filter.get()) else {
            self.add("filter", "is not an object");
            return None;
        };
        let mut pairs = Vec::new();
        for (name, value) in members {
            let texts = match value {
                Value::Array(items) => items,
                Value::Null => continue,
                one => vec![one],
            };
            for text in texts {
                match text {
                    Value::String(text) => pairs.push((name.clone(), text)),
                    Value::Number(number) => pairs.push((name.clone(), number.to_string())),
                    Value::Bool(flag) => pairs.push((name.clone(), flag.to_string())),
                    _ => self.add(
                        &format!("filter.{name}"),
                        "is neither a text nor a list of texts",
                    ),
                }
            }
        }
        let (query, problems) = read_pairs::<Q>(pairs);
        let is_fine = problems.is_empty();
        for problem in problems {
            self.add(&format!("filter.{}", problem.field), problem.message);
        }
        if is_fine && narrows_nothing(&query) {
            let message = "is empty, which would mean everything: say which, for example \
                           {\"status\": [\"pending\"]}";
            self.add("filter", message);
        }
        is_fine.then_some(query)
    }
}

/// What was chosen.
pub(in crate::api) enum Chosen<Q> {
    Ids(Selection),
    Filter(Q),
}

/// Whether a filter leaves everything in.
fn narrows_nothing(query: &impl Query) -> bool {
    let widens = |(name, text): &(&str, String)| *name == "archived" && text != "true";
    query.pairs().iter().all(widens)
}

/// A filter in the words of whoever asked.
pub(in crate::api) fn asked(query: &impl Query) -> Vec<(String, String)> {
    let pairs = query.pairs().into_iter();
    pairs.map(|(name, text)| (name.to_owned(), text)).collect()
}
