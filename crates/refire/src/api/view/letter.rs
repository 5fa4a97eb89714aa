//! Dead letters as the API shows them.

use refire_client::model::{
    Compensation, CompensationFailure, DeadLetter, DeadLetterGroup, DeadLetterSummary,
    LetterReason, LetterStatus, RetryHistoryEntry, SuggestedFix,
};
use refire_core::dead_letter::{RetryEntry, Situation, Suggestion, suggest};
use refire_core::definition::StepId;
use refire_core::execution::{Execution, StepState, StepStatus};
use refire_core::time::Timestamp;
use refire_core::webhook::body::is_json_as_form;
use refire_store::{LetterRow, LetterSummary};

use super::step::step_status;
use super::{error, raw};
use crate::api::Problem;

/// A dead letter.
pub(crate) fn letter(row: &LetterRow) -> Result<DeadLetter, Problem> {
    let failure = &row.failure;
    let when = |mark: &Option<(Timestamp, String)>| mark.as_ref().map(|(at, _)| at.to_string());
    let who = |mark: &Option<(Timestamp, String)>| mark.as_ref().map(|(_, by)| by.clone());
    let situation = Situation {
        reason: row.reason,
        failure,
        retry_count: row.retry_count,
        max_retries: row.max_retries,
        workflow_deleted: row.workflow_deleted,
        json_as_form: is_json_as_form(&row.input),
    };
    let fix = |fix: &Suggestion| SuggestedFix {
        title: fix.title.to_owned(),
        detail: fix.detail.to_owned(),
    };
    let suggestions = suggest(&situation);
    Ok(DeadLetter {
        id: row.id.to_string(),
        execution_id: row.execution.to_string(),
        workflow_id: row.workflow.to_string(),
        workflow_name: row.workflow_name.clone(),
        workflow_deleted: row.workflow_deleted,
        step_id: row.step.clone(),
        input_data: raw(&row.input)?,
        error_type: failure.class.name().to_owned(),
        error_message: failure.message.clone(),
        error_code: failure.code.clone(),
        target: failure.target.clone(),
        error_stacktrace: (!failure.causes.is_empty()).then(|| failure.causes.join("\n")),
        reason: LetterReason::from_name(row.reason.name()),
        retry_count: row.retry_count,
        max_retries: row.max_retries,
        retry_history: row.retry_history.iter().map(attempt).collect(),
        status: LetterStatus::from_name(row.state.status.name()),
        retry_attempted_at: when(&row.state.retry_attempted),
        retry_attempted_by: who(&row.state.retry_attempted),
        resolution_execution_id: row.state.resolved_by().map(|id| id.to_string()),
        resolved_at: when(&row.state.resolved),
        resolved_by: who(&row.state.resolved),
        deleted_at: when(&row.state.deleted),
        deleted_by: who(&row.state.deleted),
        failed_at: row.failed_at.to_string(),
        created_at: row.created_at.to_string(),
        fingerprint: fingerprint(row.fingerprint),
        suggestions_zh: suggestions
            .iter()
            .map(|suggestion| fix(&suggestion.in_chinese()))
            .collect(),
        suggestions: suggestions.iter().map(fix).collect(),
    })
}

/// What was undone, and what could not be.
pub(crate) fn compensations(state: &Execution) -> Vec<Compensation> {
    let undoing = state.steps.iter();
    let mut undoing: Vec<(&StepId, &StepState, &StepId)> = undoing
        .filter_map(|(id, step)| Some((id, &**step, step.undoes.as_ref()?)))
        .collect();
    undoing.sort_by_key(|(_, step, _)| step.scheduled_at);
    let shown = |(id, step, undoes): (&StepId, &StepState, &StepId)| Compensation {
        step_id: id.to_string(),
        undoes: undoes.to_string(),
        status: step_status(step.status),
        completed_at: step.completed_at.map(|at| at.to_string()),
        error: step
            .failure
            .as_ref()
            .filter(|_| step.status == StepStatus::Failed)
            .map(error),
    };
    undoing.into_iter().map(shown).collect()
}

/// Those of them that failed.
pub(crate) fn not_undone(compensations: &[Compensation]) -> Vec<CompensationFailure> {
    let failed = compensations.iter().filter_map(|one| {
        Some(CompensationFailure {
            step_id: one.step_id.clone(),
            undoes: one.undoes.clone(),
            error: one.error.clone()?,
        })
    });
    failed.collect()
}

/// A cause as shown: sixteen hex digits.
pub(crate) fn fingerprint(number: u64) -> String {
    format!("{number:016x}")
}

fn attempt(entry: &RetryEntry) -> RetryHistoryEntry {
    RetryHistoryEntry {
        attempt: entry.attempt,
        error: entry.error.clone(),
        // Waits are bounded by a year, far below where a float loses milliseconds.
        delay: entry
            .delay_ms
            .map(|ms| std::time::Duration::from_millis(ms).as_secs_f64()),
        at: entry.at.to_string(),
    }
}

/// An overview.
pub(crate) fn summary(summary: LetterSummary) -> DeadLetterSummary {
    let group = |group: refire_store::LetterGroup| DeadLetterGroup {
        workflow_id: group.workflow.to_string(),
        error_type: group.error_type,
        error_code: group.error_code,
        count: group.count,
    };
    DeadLetterSummary {
        count: summary.count,
        oldest: summary.oldest.map(|at| at.to_string()),
        newest: summary.newest.map(|at| at.to_string()),
        groups: summary.groups.into_iter().map(group).collect(),
    }
}
