//! What happened around a dead letter: the target's answer, what was undone, and people's retries.

use refire_client::model::{
    DeadLetterDetail, DeadLetterRetry, ExecutionStatus, StepStatus, TargetResponse,
};

use crate::cli::executions::{failure_lines, not_undone};
use crate::cli::prelude::*;
use crate::cli::workflow::change_lines;

/// Lines of an answer that are shown; the log has more.
const ANSWER_LINES_MAX: usize = 12;
/// Characters of such a line.
const LINE_CHARS_MAX: usize = 200;

/// All of it, each part under its heading.
pub(super) fn story(detail: &DeadLetterDetail, now: Timestamp) -> String {
    let more = &detail.more;
    let undone = more.compensations.iter();
    let undone = undone.filter(|one| one.error.is_none()).map(|one| {
        let how = match one.status {
            StepStatus::Completed => String::new(),
            other => format!(" ({other})"),
        };
        let (what, by) = (heading(&clean(&one.undoes)), clean(&one.step_id));
        format!("  {what}, by {by}{how}\n")
    });
    let left = more.compensation_failures.iter().map(|failed| {
        let (what, by) = (heading(&clean(&failed.undoes)), clean(&failed.step_id));
        let error = failure_lines(&failed.error, "    ");
        format!("  {what}, which {by} should have undone\n{error}")
    });
    let retries = more.retries.iter().map(|retry| one_retry(retry, now));
    [
        (
            "The target answered",
            more.response.iter().map(answer).collect::<String>(),
        ),
        ("Undone", undone.collect()),
        ("Not undone", left.collect()),
        ("Retries", retries.collect()),
    ]
    .into_iter()
    .filter(|(_, text)| !text.is_empty())
    .map(|(name, text)| format!("\n{}\n{text}", heading(name)))
    .collect()
}

fn answer(response: &TargetResponse) -> String {
    let mut out = String::new();
    if let Some(code) = &response.status {
        let _ = writeln!(out, "  {}", clean(code));
    }
    let mut lines = response.body.iter().flat_map(|body| body.lines());
    for line in lines.by_ref().take(ANSWER_LINES_MAX) {
        let mut shown: String = line.chars().take(LINE_CHARS_MAX).collect();
        if shown.len() < line.len() {
            shown.push('…');
        }
        let _ = writeln!(out, "  {}", clean(&shown));
    }
    if lines.next().is_some() {
        let _ = writeln!(out, "  {}", dim("…"));
    }
    out
}

fn one_retry(retry: &DeadLetterRetry, now: Timestamp) -> String {
    let from = match retry.from.as_deref() {
        Some("failed_step") => ", from the failed step",
        Some("start") => ", from the start",
        _ => "",
    };
    let edited = match retry.edited {
        Some(true) => ", input edited",
        _ => "",
    };
    let mut out = format!(
        "  {}  {}\n    {} by {}{from}{edited}\n",
        retry.execution_id,
        status(retry.outcome.unwrap_or(ExecutionStatus::Running).name()),
        both(&retry.retried_at, now),
        clean(&retry.retried_by),
    );
    for line in change_lines(&retry.input_changes).lines() {
        let _ = writeln!(out, "    {line}");
    }
    if let Some(error) = &retry.error {
        out.push_str(&failure_lines(error, "    "));
    }
    for failed in &retry.compensation_failures {
        let what = not_undone(&failed.undoes, &failed.step_id, &failed.error.message);
        let _ = writeln!(out, "    {what}");
    }
    out
}
