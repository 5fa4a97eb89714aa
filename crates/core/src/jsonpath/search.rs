//! Several queries of one document: it is read once, and there is a bound for all of them together.

use std::ops::Range;

use super::cost::VISITS_MAX;
use super::document::Document;
use super::{JsonPath, MATCHES_MAX, PathError, Query};
use crate::json::{Json, locate};

/// The most values that the queries of one document may give together.
pub const MATCHES_TOGETHER_MAX: usize = 2 * MATCHES_MAX;

/// The most that they may cost together: a few of the most costly, or many usual ones.
const VISITS_TOGETHER_MAX: u64 = 8 * VISITS_MAX;

/// A document that is being queried.
pub struct Search<'a> {
    json: &'a Json,
    /// Read when the first query needs it.
    document: Option<Document<'a>>,
    visits_left: u64,
    matches_left: usize,
}

impl<'a> Search<'a> {
    /// A document that no query has been made of.
    #[must_use]
    pub fn new(json: &'a Json) -> Self {
        Self {
            json,
            document: None,
            visits_left: VISITS_TOGETHER_MAX,
            matches_left: MATCHES_TOGETHER_MAX,
        }
    }

    /// The byte ranges of the matching values in the document's text, in the order of the query.
    ///
    /// # Errors
    /// When the query is too costly for this document or gives too many values, by itself or
    /// together with those before it.
    pub fn matches(&mut self, path: &JsonPath) -> Result<Vec<Range<usize>>, PathError> {
        let found = self.find(path)?;
        let Some(left) = self.matches_left.checked_sub(found.len()) else {
            return Err(too_many(path, found.len()));
        };
        self.matches_left = left;
        Ok(found)
    }

    fn find(&mut self, path: &JsonPath) -> Result<Vec<Range<usize>>, PathError> {
        let (query, weight) = match &path.query {
            Query::Plain(segments) => {
                return Ok(locate(self.json.as_str(), segments).into_iter().collect());
            }
            Query::General { path, weight } => (path, weight),
        };
        let text = self.json.as_str();
        let document = self.document.get_or_insert_with(|| Document::read(text));
        let measures = document.measures();
        let left = weight
            .visits(measures)
            .and_then(|visits| self.visits_left.checked_sub(visits));
        let Some(left) = left else {
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
