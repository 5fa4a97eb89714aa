//! Several queries of one document: it is read once, and there is a bound for all of them together.

use std::ops::Range;

use super::document::Document;
use super::{JsonPath, MATCHES_MAX, PathError, Query};
use crate::json::{Json, Segment, locate_all};

/// The most values that the queries of one document may give together.
pub const MATCHES_TOGETHER_MAX: usize = 2 * MATCHES_MAX;

/// What queries may cost, in visited values; a visit takes some ten nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Budget {
    /// A query by itself.
    each: u64,
    /// All queries of one document: a few of the most costly, or many usual ones.
    together: u64,
}

impl Budget {
    /// Where others wait meanwhile.
    pub const SHARED: Self = Self {
        each: 5_000_000,
        together: 40_000_000,
    };
    /// Where nobody does: about a second of one processor.
    pub const ALONE: Self = Self {
        each: 50_000_000,
        together: 100_000_000,
    };
}

/// A document that is being queried.
pub struct Search<'a> {
    json: &'a Json,
    /// Read when the first query needs it.
    document: Option<Document<'a>>,
    each: u64,
    visits_left: u64,
    matches_left: usize,
}

impl<'a> Search<'a> {
    /// A document that no query has been made of.
    #[must_use]
    pub fn new(json: &'a Json) -> Self {
        Self::with(json, Budget::SHARED)
    }

    /// The same with another budget.
    #[must_use]
    pub fn with(json: &'a Json, budget: Budget) -> Self {
        Self {
            json,
            document: None,
            each: budget.each,
            visits_left: budget.together,
            matches_left: MATCHES_TOGETHER_MAX,
        }
    }

    /// The byte ranges of the matching values in the document's text, in the order of the query.
    ///
    /// # Errors
    /// When the query is too costly for this document or gives too many values, by itself or
    /// together with those before it.
    pub fn matches(&mut self, path: &JsonPath) -> Result<Vec<Range<usize>>, PathError> {
        let mut all = self.matches_of(std::iter::once(path));
        all.next().unwrap_or(Ok(Vec::new()))
    }

    /// The same for several, in their order, each when it is asked for. Plain paths take one walk over
    /// the text, however many they are.
    pub fn matches_of<'p>(
        &mut self,
        paths: impl Iterator<Item = &'p JsonPath> + Clone,
    ) -> impl Iterator<Item = Result<Vec<Range<usize>>, PathError>> {
        let plain: Vec<&[Segment]> = paths.clone().filter_map(JsonPath::as_plain).collect();
        let mut located = match plain.is_empty() {
            true => Vec::new(),
            false => locate_all(self.json.as_str(), &plain),
        }
        .into_iter();
        paths.map(move |path| {
            let found = match path.as_plain() {
                Some(_) => located.next().flatten().into_iter().collect(),
                None => self.find(path)?,
            };
            let left = self.matches_left.checked_sub(found.len());
            self.matches_left = left.ok_or_else(|| too_many(path, found.len()))?;
            Ok(found)
        })
    }

    /// What a path that is not plain finds.
    fn find(&mut self, path: &JsonPath) -> Result<Vec<Range<usize>>, PathError> {
        let Query::General {
            path: query,
            weight,
        } = &path.query
        else {
            return Ok(Vec::new());
        };
        let text = self.json.as_str();
        let document = self.document.get_or_insert_with(|| Document::read(text));
        let measures = document.measures();
        let visits = Some(weight.visits(measures)).filter(|visits| *visits <= self.each);
        let Some(left) = visits.and_then(|visits| self.visits_left.checked_sub(visits)) else {
            return Err(PathError::DocumentTooLarge {
                path: path.text.to_string(),
                nodes: measures.nodes,
            });
        };
        self.visits_left = left;
        let found = query.query(document.root()).all();
        if found.len() > MATCHES_MAX {
            return Err(too_many(path, found.len()));
        }
        Ok(document.ranges(&found))
    }
}

fn too_many(path: &JsonPath, count: usize) -> PathError {
    PathError::TooManyMatches {
        path: path.text.to_string(),
        count,
    }
}
