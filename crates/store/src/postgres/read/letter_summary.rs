//! The overview of dead letters: from counters where they know the answer, else by walking.

use super::letter_scan::Scan;
use super::workflow_key;
use crate::letter::{Search, Tally};
use crate::postgres::columns::{count, foreign, get};
use crate::postgres::pool::Reader;
use crate::{LetterFilter, LetterSummary, ReadError};

/// Only the sum over the shards of a counter means anything.
const COUNTED: &str = "SELECT workflows.id, counts.error_type, counts.error_code,
        sum(counts.n)::bigint
   FROM dlq_counts AS counts JOIN workflows ON workflows.key = counts.workflow
  WHERE ($1::bigint IS NULL OR counts.workflow = $1)
    AND (NOT $2 OR counts.error_type = ANY($4::text[]))
    AND (cardinality($3::text[]) = 0 OR counts.status = ANY($3))
  GROUP BY workflows.id, counts.error_type, counts.error_code
 HAVING sum(counts.n) > 0";

pub(in crate::postgres) async fn summary(
    reader: &Reader,
    filter: &LetterFilter,
) -> Result<LetterSummary, ReadError> {
    let mut tally = Tally::default();
    if filter.needs_walk() {
        reader.read(walk(reader, filter, &mut tally)).await?;
    } else {
        let counting = count_up(reader, filter, &mut tally);
        reader.snapshot(counting).await?;
    }
    tally.summary()
}

async fn walk(reader: &Reader, filter: &LetterFilter, tally: &mut Tally) -> Result<(), ReadError> {
    for scan in Scan::of(reader, filter, None).await? {
        scan.run(usize::MAX, |found| {
            tally.widen(found.failed_at);
            let code = found.error_code.as_deref();
            tally.add(found.workflow, found.error_type, code, 1);
            true
        })
        .await?;
    }
    Ok(())
}

async fn count_up(
    reader: &Reader,
    filter: &LetterFilter,
    tally: &mut Tally,
) -> Result<(), ReadError> {
    let workflow = match &filter.workflow {
        None => None,
        Some(id) => match workflow_key(reader, id).await? {
            None => return Ok(()),
            key => key,
        },
    };
    let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
    let (is_narrow, types) = (!filter.error_types.is_empty(), Search::error_types(filter));
    let rows = reader
        .rows(COUNTED, &[&workflow, &is_narrow, &statuses, &types])
        .await?;
    for row in &rows {
        let code = foreign(row, 2)?;
        tally.add(get(row, 0)?, get(row, 1)?, Some(&code), count(row, 3)?);
    }
    for scan in Scan::of(reader, filter, None).await? {
        for end in scan.ends().await? {
            tally.widen(end);
        }
    }
    Ok(())
}
