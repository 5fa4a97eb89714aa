//! `outputMapping`: where the values that a step's output gives to the context stand in it.
//!
//! This costs by the size of the output, so whoever reports a result works it out beforehand and
//! hands it over; replay does it again and compares.

use crate::definition::Step;
use crate::execution::event::Mapped;
use crate::failure::{ErrorClass, Failure};
use crate::json::Json;
use crate::jsonpath::{Budget, JsonPath, PathError, Search};
use crate::limit;

/// Context keys and where their values stand in the output.
pub type Mapping = Vec<(String, Mapped)>;

/// The rules from which on a path that cannot be evaluated fails the step. Before, it mapped to null,
/// which nobody could tell from a value that is not there.
const FAILS_THE_STEP: u16 = 2;

/// What the step's `outputMapping` gives for this output under those rules.
///
/// # Errors
/// When a path would be too costly on this output, or gives too many values.
pub fn map_output(step: &Step, output: &Json, rules: u16) -> Result<Mapping, Failure> {
    let (fails, budget) = match rules >= FAILS_THE_STEP {
        true => (true, Budget::ALONE),
        false => (false, Budget::SHARED),
    };
    let paths = step.output_mapping.iter().map(|(_, path)| path);
    let mut search = Search::with(output, budget);
    let found = search.matches_of(paths);
    let mapped = |((key, _), found): (&(String, _), Result<Vec<_>, PathError>)| match found {
        Ok(ranges) => Ok((key.clone(), place(ranges))),
        Err(error) if fails => Err(failure(key, &error, output)),
        Err(_) => Ok((key.clone(), Mapped::Nothing)),
    };
    step.output_mapping.iter().zip(found).map(mapped).collect()
}

/// About how many bytes [`map_output`] searches: plain paths share one walk, others read the output into
/// a tree and walk that.
#[must_use]
pub fn mapping_bytes(step: &Step, output: &Json) -> usize {
    /// What a walk over the tree costs beside one over the text.
    const WALK_OF_TREE: usize = 64;
    let general = |(_, path): &&(String, JsonPath)| path.as_plain().is_none();
    let walks = match step.output_mapping.iter().filter(general).count() {
        0 => usize::from(!step.output_mapping.is_empty()),
        paths => paths.saturating_mul(WALK_OF_TREE),
    };
    output.as_str().len().saturating_mul(walks)
}

fn place(ranges: Vec<std::ops::Range<usize>>) -> Mapped {
    let mut parts: Vec<(u32, u32)> = ranges
        .into_iter()
        // Outputs are far below 4 GiB (OUTPUT_BYTES_MAX), so offsets fit.
        .map(|range| (range.start as u32, (range.end - range.start) as u32))
        .collect();
    match parts.len() {
        0 => Mapped::Nothing,
        1 => parts
            .pop()
            .map_or(Mapped::Nothing, |(start, len)| Mapped::One(start, len)),
        _ => Mapped::Many(parts),
    }
}

fn failure(key: &str, error: &PathError, output: &Json) -> Failure {
    let mut failure = Failure::new(
        ErrorClass::Mapping,
        format!("`outputMapping.{key}`: {error}"),
    );
    let text = output.as_str();
    let end = text.floor_char_boundary(limit::RESPONSE_EXCERPT_BYTES_MAX);
    failure.response = Some(text[..end].to_owned());
    failure
}
