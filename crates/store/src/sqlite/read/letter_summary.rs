//! The overview of dead letters: from counters where they know the answer, else by walking.

use std::collections::BTreeMap;

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;
use rusqlite::Row;

use super::letter_scan::{Found, Scan};
use super::workflow_key;
use crate::sqlite::columns::{count, text, workflow_id};
use crate::sqlite::failure::corrupt;
use crate::sqlite::readers::Reader;
use crate::{LetterFilter, LetterGroup, LetterSummary, ReadError};

/// Workflow, error type, error code.
type Group = (String, String, Option<String>);

pub(in crate::sqlite) fn summary(
    reader: &Reader,
    filter: &LetterFilter,
) -> Result<LetterSummary, ReadError> {
    let needs_walk = filter.from.is_some()
        || filter.to.is_some()
        || filter.text.is_some()
        || filter.fingerprint.is_some();
    let mut summary = if needs_walk {
        walked(reader, filter)?
    } else {
        counted(reader, filter)?
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

fn walked(reader: &Reader, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
    let mut summary = LetterSummary::default();
    let mut groups: BTreeMap<Group, u64> = BTreeMap::new();
    for scan in Scan::of(reader, filter, None)? {
        scan.run(|found| {
            summary.count += 1;
            widen(&mut summary, found.failed_at);
            *groups.entry(group_of(&found)).or_default() += 1;
            true
        })?;
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

fn group_of(found: &Found<'_>) -> Group {
    let code = found.error_code.map(ToOwned::to_owned);
    (found.workflow.to_owned(), found.error_type.to_owned(), code)
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

fn counted(reader: &Reader, filter: &LetterFilter) -> Result<LetterSummary, ReadError> {
    reader.transaction(|| {
        let workflow = match &filter.workflow {
            None => None,
            Some(id) => match workflow_key(reader, id)? {
                None => return Ok(LetterSummary::default()),
                key => key,
            },
        };
        let mut summary = LetterSummary::default();
        let statuses: Vec<&str> = filter.statuses.iter().map(|status| status.name()).collect();
        let is_asked = |status: &str| statuses.is_empty() || statuses.contains(&status);
        let mut groups: BTreeMap<Group, LetterGroup> = BTreeMap::new();
        let mut select = reader.prepare(
            "SELECT workflows.id, counts.error_type, counts.error_code, counts.n, counts.status
             FROM dlq_counts AS counts JOIN workflows ON workflows.key = counts.workflow
             WHERE counts.n > 0 AND (?1 IS NULL OR counts.workflow = ?1)
               AND (?2 IS NULL OR counts.error_type = ?2)",
        )?;
        let mut rows = select.query((workflow, &filter.error_type))?;
        while let Some(row) = rows.next()? {
            if !is_asked(text(row, 4)?) {
                continue;
            }
            let part = group_row(row)?;
            summary.count += part.count;
            let key = (
                part.workflow.to_string(),
                part.error_type.clone(),
                part.error_code.clone(),
            );
            groups
                .entry(key)
                .and_modify(|group| group.count += part.count)
                .or_insert(part);
        }
        summary.groups = groups.into_values().collect();
        for scan in Scan::of(reader, filter, None)? {
            for end in scan.ends()? {
                widen(&mut summary, end);
            }
        }
        Ok(summary)
    })
}

fn group_row(row: &Row<'_>) -> rusqlite::Result<LetterGroup> {
    let code = text(row, 2)?;
    Ok(LetterGroup {
        workflow: workflow_id(row, 0)?,
        error_type: row.get(1)?,
        error_code: (!code.is_empty()).then(|| code.to_owned()),
        count: count(row, 3)?,
    })
}
