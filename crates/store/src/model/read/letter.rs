//! Dead letters: one, lists of them, and their overview.

use std::collections::BTreeMap;

use refire_core::dead_letter::{RetryEntry, RetryHistory, Tried};
use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{DlqId, ExecutionId};

use super::{corrupt, page};
use crate::model::image::{Filed, Image};
use crate::{LetterFilter, LetterGroup, LetterRow, LetterSummary, ReadError, RetryRow};

/// The event that keeps an execution's input.
const INPUT: u64 = 1;
impl Image {
    pub(in crate::model) fn letter(&self, id: DlqId) -> Result<Option<LetterRow>, ReadError> {
        let filed = self.letters.get(&id);
        filed.map(|filed| self.letter_row(filed)).transpose()
    }

    /// The last retries by people, oldest first.
    pub(in crate::model) fn letter_retries(&self, id: DlqId, limit: u32) -> Vec<RetryRow> {
        let filed = self.letters.get(&id);
        let retries = filed.map(|filed| &filed.retries[..]).unwrap_or_default();
        retries[retries.len().saturating_sub(page(limit))..].to_vec()
    }

    /// The newest letters that pass the filter.
    pub(in crate::model) fn letter_page(
        &self,
        filter: &LetterFilter,
        before: Option<DlqId>,
        limit: u32,
    ) -> Result<Vec<LetterRow>, ReadError> {
        self.letters
            .iter()
            .rev()
            .filter(|(id, filed)| {
                before.is_none_or(|before| **id < before) && passes(filter, filed)
            })
            .take(page(limit))
            .map(|(_, filed)| self.letter_row(filed))
            .collect()
    }

    pub(in crate::model) fn letter_summary(&self, filter: &LetterFilter) -> LetterSummary {
        let mut summary = LetterSummary::default();
        let mut groups: BTreeMap<(WorkflowId, &str, Option<String>), u64> = BTreeMap::new();
        for filed in self.letters.values().filter(|filed| passes(filter, filed)) {
            let letter = &filed.letter;
            let at = letter.failed_at;
            summary.count += 1;
            summary.oldest = Some(summary.oldest.map_or(at, |oldest| oldest.min(at)));
            summary.newest = Some(summary.newest.map_or(at, |newest| newest.max(at)));
            let code = letter.failure.code.clone().filter(|code| !code.is_empty());
            let group = (letter.workflow.clone(), letter.failure.class.name(), code);
            *groups.entry(group).or_default() += 1;
        }
        let groups = groups.into_iter();
        summary.groups = groups
            .map(|((workflow, error_type, error_code), count)| LetterGroup {
                workflow,
                error_type: error_type.to_owned(),
                error_code,
                count,
            })
            .collect();
        // The most first. The groups are in the order of their names, and equal ones stay so.
        summary
            .groups
            .sort_by_key(|group| std::cmp::Reverse(group.count));
        summary
    }

    fn letter_row(&self, filed: &Filed) -> Result<LetterRow, ReadError> {
        let letter = &filed.letter;
        let input = self.value(letter.execution, INPUT)?;
        let what = || format!("dead letter {}", letter.id);
        let input = input.ok_or_else(|| corrupt(what)("its execution has no input"))?;
        let step = letter.step.as_ref().map(ToString::to_string);
        let retry_history = step
            .as_ref()
            .map(|step| self.retry_history(letter.execution, step));
        Ok(LetterRow {
            id: letter.id,
            execution: letter.execution,
            workflow: letter.workflow.clone(),
            workflow_name: letter.workflow_name.clone(),
            workflow_deleted: self
                .workflows
                .get(&letter.workflow)
                .is_some_and(|workflow| workflow.deleted_at.is_some()),
            step,
            input,
            reason: letter.reason,
            failure: letter.failure.clone(),
            fingerprint: letter.fingerprint,
            retry_count: letter.retry_count,
            max_retries: letter.max_retries,
            retry_history: retry_history.unwrap_or_default(),
            generation: filed.state.generation,
            status: filed.state.status,
            retry_attempted: filed.state.retry_attempted.clone(),
            resolution_execution: filed.state.resolved_by(),
            resolved: filed.state.resolved.clone(),
            deleted: filed.state.deleted.clone(),
            failed_at: letter.failed_at,
            created_at: filed.created_at,
        })
    }

    /// The last failed attempts of a step, oldest first, each with the wait that followed it.
    fn retry_history(&self, id: ExecutionId, step: &str) -> Vec<RetryEntry> {
        let mut history = RetryHistory::default();
        let of_step = |row: &&EventRow| row.step.as_deref() == Some(step);
        for row in self.log(id).rev().filter(of_step) {
            if let Some(attempt) = row.attempt
                && RetryHistory::EVENTS.contains(&&*row.name)
            {
                history.add(Tried {
                    is_failure: row.name == RetryHistory::FAILED,
                    attempt,
                    reason: row.reason.clone(),
                    backoff_ms: row.backoff_ms,
                    at: row.at,
                });
            }
        }
        history.oldest_first()
    }
}

/// Whether a letter passes, by the words of the filter.
fn passes(filter: &LetterFilter, filed: &Filed) -> bool {
    let letter = &filed.letter;
    let mut words = vec![
        letter.failure.message.as_str(),
        letter.workflow.as_str(),
        &letter.workflow_name,
    ];
    words.extend(letter.failure.code.as_deref());
    words.extend(letter.step.as_ref().map(|step| step.as_str()));
    let contain = |text: &String| {
        let text = text.to_lowercase();
        words.iter().any(|it| it.to_lowercase().contains(&text))
    };
    let class = letter.failure.class.name();
    filter
        .workflow
        .as_ref()
        .is_none_or(|id| *id == letter.workflow)
        && (filter.error_types.is_empty() || filter.error_types.iter().any(|name| name == class))
        && (filter.statuses.is_empty() || filter.statuses.contains(&filed.state.status))
        && filter.from.is_none_or(|from| letter.failed_at >= from)
        && filter.to.is_none_or(|to| letter.failed_at < to)
        && filter.fingerprint.is_none_or(|it| it == letter.fingerprint)
        && filter.text.as_ref().is_none_or(contain)
}
