//! The overview of dead letters: from counters where they know the answer, else by walking.

use super::letter_scan::Scan;
use super::workflow_key;
use crate::letter::Tally;
use crate::sqlite::columns::{count, text};
use crate::sqlite::readers::Reader;
use crate::{LetterFilter, LetterSummary, ReadError};

pub(in crate::sqlite) fn summary(
    reader: &Reader,
    filter: &LetterFilter,
) -> Result<LetterSummary, ReadError> {
    let mut tally = Tally::default();
    if filter.needs_walk() {
        walk(reader, filter, &mut tally)?;
    } else {
        reader.transaction(|| count_up(reader, filter, &mut tally))?;
    }
    tally.summary()
}

fn walk(reader: &Reader, filter: &LetterFilter, tally: &mut Tally) -> Result<(), ReadError> {
    for scan in Scan::of(reader, filter, None)? {
        scan.run(|found| {
            tally.widen(found.failed_at);
            tally.add(found.workflow, found.error_type, found.error_code, 1);
            true
        })?;
    }
    Ok(())
}

fn count_up(reader: &Reader, filter: &LetterFilter, tally: &mut Tally) -> Result<(), ReadError> {
    let workflow = match &filter.workflow {
        None => None,
        Some(id) => match workflow_key(reader, id)? {
            None => return Ok(()),
            key => key,
        },
    };
    let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
    let error_types = &filter.error_types;
    let is_asked = |error_type: &str, status: &str| {
        (statuses.is_empty() || statuses.contains(&status))
            && (error_types.is_empty() || error_types.iter().any(|name| name == error_type))
    };
    let mut select = reader.prepare(
        "SELECT workflows.id, counts.error_type, counts.error_code, counts.n, counts.status
         FROM dlq_counts AS counts JOIN workflows ON workflows.key = counts.workflow
         WHERE counts.n > 0 AND (?1 IS NULL OR counts.workflow = ?1)",
    )?;
    let mut rows = select.query([workflow])?;
    while let Some(row) = rows.next()? {
        if is_asked(text(row, 1)?, text(row, 4)?) {
            let code = Some(text(row, 2)?);
            tally.add(text(row, 0)?, text(row, 1)?, code, count(row, 3)?);
        }
    }
    for scan in Scan::of(reader, filter, None)? {
        scan.ends()?.into_iter().for_each(|end| tally.widen(end));
    }
    Ok(())
}
