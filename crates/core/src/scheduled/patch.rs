//! A change of a task: a JSON merge patch, laid over the request that made it.

use super::object;
use crate::definition::Problems;
use crate::definition::fields::Field;
use crate::definition::source::Node;
use crate::json::Json;

/// The request as the change makes it. What is wrong with the result is found when it is read.
///
/// # Errors
/// When the change cannot be read.
pub fn patched(request: &str, patch: &str) -> Result<Json, Problems> {
    let (request, patch) = (Node::parse(request)?, Node::parse(patch)?);
    let mut problems = Problems::new();
    match object(Field::new("", &patch), &mut problems) {
        Some(_) => Ok(request.merged(patch, |_| false).to_json()),
        None => Err(problems),
    }
}
