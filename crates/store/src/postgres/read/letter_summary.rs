//! The overview of dead letters: from counters where they know the answer, else by walking.

use std::collections::BTreeMap;

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;

use super::letter_scan::{Found, Scan};
use super::{can_be_text, workflow_key};
use crate::postgres::columns::{count, foreign, get, workflow_id};
use crate::postgres::failure::corrupt;
use crate::postgres::pool::Reader;
use crate::{LetterFilter, LetterGroup, LetterSummary, ReadError};

/// Only the sum over the shards of a counter means anything.
const COUNTED: &str = "SELECT workflows.id, counts.error_type, counts.error_code,
        sum(counts.n)::bigint
   FROM dlq_counts AS counts JOIN workflows ON workflows.key = counts.workflow
  WHERE ($1::bigint IS NULL OR counts.workflow = $1)
    AND ($2::text IS NULL OR counts.error_type = $2)
    AND (cardinality($3::text[]) = 0 OR counts.status = ANY($3))
  GROUP BY workflows.id, counts.error_type, counts.error_code
 HAVING sum(counts.n) > 0";

/// Workflow, error type, error code.
type Group = (String, String, Option<String>);

pub(in crate::postgres) async fn summary(
    reader: &Reader,
    filter: &LetterFilter,
) -> Result<LetterSummary, ReadError> {
    let needs_walk = filter.from.is_some()
        || filter.to.is_some()
        || filter.text.is_some()
        || filter.fingerprint.is_some();
    let mut summary = if needs_walk {
        reader.read(walked(reader, filter)).await?
    } else {
        reader.snapshot(counted(reader, filter)).await?
    };
    summary.groups.sort_by(|a, b| {
        let name = |group: &LetterGroup| {
            (
                group.workflow.clone(),
                group.error_type.clone(),
                group.error_code.clone(),
            )
        };
        b.count.cmp(&a.count).then_with(|| name(a).cmp(&name(b)))
    });
    Ok(summary)
}

async fn walked(reader: &Reader, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
    let mut summary = LetterSummary::default();
    let mut groups: BTreeMap<Group, u64> = BTreeMap::new();
    for scan in Scan::of(reader, filter, None).await? {
        scan.run(usize::MAX, |found| {
            summary.count += 1;
            widen(&mut summary, found.failed_at);
            *groups.entry(group_of(found)).or_default() += 1;
            true
        })
        .await?;
    }
    for ((workflow, error_type, error_code), count) in groups {
        let workflow = WorkflowId::new(workflow)
            .map_err(corrupt(|| "the workflow of a dead letter".to_owned()))?;
        summary.groups.push(LetterGroup {
            workflow,
            error_type,
            error_code,
            count,
        });
    }
    Ok(summary)
}

fn group_of(found: Found<'_>) -> Group {
    let Found {
        workflow,
        error_type,
        error_code,
        ..
    } = found;
    (workflow.to_owned(), error_type.to_owned(), error_code)
}

fn widen(summary: &mut LetterSummary, failed_at: Timestamp) {
    summary.oldest = Some(
        summary
            .oldest
            .map_or(failed_at, |oldest| oldest.min(failed_at)),
    );
    summary.newest = Some(
        summary
            .newest
            .map_or(failed_at, |newest| newest.max(failed_at)),
    );
}

async fn counted(reader: &Reader, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
    let mut summary = LetterSummary::default();
    if !can_be_text(filter.error_type.as_deref()) {
        return Ok(summary);
    }
    let workflow = match &filter.workflow {
        None => None,
        Some(id) => match workflow_key(reader, id).await? {
            None => return Ok(summary),
            key => key,
        },
    };
    let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
    let rows = reader
        .rows(COUNTED, &[&workflow, &filter.error_type, &statuses])
        .await?;
    for row in &rows {
        let code = foreign(row, 2)?;
        let group = LetterGroup {
            workflow: workflow_id(row, 0)?,
            error_type: get(row, 1)?,
            error_code: (!code.is_empty()).then_some(code),
            count: count(row, 3)?,
        };
        summary.count += group.count;
        summary.groups.push(group);
    }
    for scan in Scan::of(reader, filter, None).await? {
        for end in scan.ends().await? {
            widen(&mut summary, end);
        }
    }
    Ok(summary)
}
