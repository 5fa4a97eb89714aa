//! `refire dlq show`: everything that helps to decide what to do with a dead letter.

use refire_client::model::{
    DeadLetter, DeadLetterDetail, DeadLetterRetry, LetterReason, LetterStatus, RetryHistoryEntry,
};
use refire_core::template::missing_secret;

use super::story::story;
use crate::cli::executions::{error_lines, started_by};
use crate::cli::prelude::*;

/// Options of `dlq show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq show dlq_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire dlq show dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --format json | jq .input_data")]
pub(crate) struct ShowArgs {
    /// The dead letter (dlq_…)
    id: String,
}

/// Shows the letter.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let detail = client.dead_letter(ids::letter(&args.id)?).await?;
    session.answer(&detail, || summary(&detail, session.now()))
}

fn summary(detail: &DeadLetterDetail, now: Timestamp) -> String {
    let letter = &detail.entry;
    let history = match letter.retry_history.as_slice() {
        [] => String::new(),
        entries => table(&HISTORY, entries, now).lines(2),
    };
    let obstacle = detail.more.retry_obstacle.as_deref();
    let obstacle = obstacle.map(|obstacle| format!("  {}\n", clean(obstacle)));
    let fixes = letter.suggestions.iter().enumerate();
    let fixes = fixes.filter(|_| letter.status == LetterStatus::Pending);
    let fixes = fixes.map(|(at, fix)| {
        let (title, more) = (clean(&fix.title), clean(&fix.detail));
        format!("  {}. {title}\n     {}\n", at + 1, dim(&more))
    });
    Screen::of(&letter.id, letter.status.name())
        .facts(11, all_facts(detail, now))
        .section("Error", error(letter))
        .lines(story(detail, now))
        .section("Attempts", history)
        .json("Input", Some(&letter.input_data))
        .section("A retry cannot work", obstacle.unwrap_or_default())
        .section("What to try", fixes.collect::<String>())
        .section("Next", next(detail))
        .text()
}

fn all_facts(detail: &DeadLetterDetail, now: Timestamp) -> [(&'static str, Option<String>); 10] {
    let (letter, more) = (&detail.entry, &detail.more);
    let workflow = match &letter.step_id {
        Some(step) => format!("{}, step {}", letter.workflow_id, clean(step)),
        None => letter.workflow_id.clone(),
    };
    let started = more.trigger_type.map(|kind| {
        let (trigger, by) = (more.trigger_id.as_deref(), more.triggered_by.as_deref());
        let planned = more.scheduled_at.as_deref();
        let planned = planned.map(|at| format!(", planned for {}", exact(at)));
        started_by(kind, trigger, by) + &planned.unwrap_or_default()
    });
    let same = (more.same_cause > 0).then(|| format!("{} more", more.same_cause));
    let who = |at: &Option<String>, by: &Option<String>| {
        let by = by.as_deref().map(|by| format!(" by {}", clean(by)));
        let at = at.as_deref().map(|at| both(at, now));
        at.map(|at| at + &by.unwrap_or_default())
    };
    let retried = who(&letter.retry_attempted_at, &letter.retry_attempted_by);
    [
        ("workflow", Some(workflow)),
        ("execution", Some(letter.execution_id.clone())),
        ("reason", Some(reason(letter))),
        ("started by", started),
        ("failed", Some(both(&letter.failed_at, now))),
        ("same cause", same),
        ("retried", retried),
        ("resolved", who(&letter.resolved_at, &letter.resolved_by)),
        ("deleted", who(&letter.deleted_at, &letter.deleted_by)),
        ("resolved by", letter.resolution_execution_id.clone()),
    ]
}

fn reason(letter: &DeadLetter) -> String {
    let (count, max) = (letter.retry_count, letter.max_retries);
    match letter.reason {
        LetterReason::Exhausted => format!("exhausted: {}", exhausted(count, max)),
        LetterReason::NonRetryable => "non_retryable: this error is not retried".to_owned(),
        LetterReason::CompensationFailed => {
            "compensation_failed: a completed step could not be undone".to_owned()
        }
        LetterReason::HistoryLimit => "history_limit: its log is full".to_owned(),
        other => format!("{other} ({count} of {max} retries made)"),
    }
}

/// What the policy had left when it gave up. Less than all of its retries are made when its time is over.
fn exhausted(count: u32, max: u32) -> String {
    match (count, max) {
        (_, 0) => "its policy allows no retries".to_owned(),
        (0, _) => "the time for retries was over before the first".to_owned(),
        (1, 1) => "the only retry failed".to_owned(),
        (count, max) if count < max => {
            format!("the time for retries was over after {count} of {max}")
        }
        (_, max) => format!("all {max} retries failed"),
    }
}

fn error(letter: &DeadLetter) -> String {
    let causes = letter.error_stacktrace.iter();
    error_lines(
        "  ",
        (&letter.error_type, letter.error_code.as_deref()),
        &clean(&letter.error_message),
        causes.flat_map(|trace| trace.lines()),
    )
}

const HISTORY: [Column<RetryHistoryEntry>; 4] = [
    number("ATTEMPT", |entry, _| Cell::new(entry.attempt)),
    text("AT", |entry, _| cell(exact(&entry.at))),
    text("THEN WAITED", |entry, _| maybe(entry.delay.map(seconds))),
    text("ERROR", |entry, _| cell(&entry.error)),
];

fn seconds(delay: f64) -> String {
    // Whole milliseconds; a wait that is no number at all counts as none.
    span((delay.max(0.0) * 1_000.0).round() as u64)
}

/// Retries that can work, the best first.
fn retries(detail: &DeadLetterDetail) -> Vec<(String, &'static str)> {
    let (letter, more) = (&detail.entry, &detail.more);
    let id = &letter.id;
    if letter.workflow_deleted {
        let save = "refire workflow apply -f <file>".to_owned();
        return vec![(save, "save the workflow again; then it can be retried")];
    }
    let edit = (
        format!("refire dlq retry {id} --edit"),
        "with a corrected input",
    );
    let again = more.can_retry_from_start.then(|| {
        let again = format!("refire dlq retry {id} --wait 30s");
        (again, "same input, newest definition, from the start")
    });
    let step = more.can_retry_from_failed_step.then(|| {
        let step = format!("refire dlq retry {id} --from failed-step");
        (step, "completed steps are kept")
    });
    // What the input or the definition makes impossible stays so with the same of both.
    let is_content = ["template", "invalid_url"].contains(&letter.error_type.as_str())
        && missing_secret(&letter.error_message).is_none();
    if is_content {
        return std::iter::once(edit).chain(again).collect();
    }
    again.into_iter().chain(step).chain([edit]).collect()
}

/// Commands that can work for this letter.
fn next(detail: &DeadLetterDetail) -> String {
    let letter = &detail.entry;
    let id = &letter.id;
    let mut commands: Vec<(String, &str)> = Vec::new();
    if letter.status == LetterStatus::Pending {
        let delete = format!("refire dlq delete {id}");
        let is_left = |retry: &DeadLetterRetry| !retry.compensation_failures.is_empty();
        let more = &detail.more;
        if more.compensation_failures.is_empty() && !more.retries.iter().any(is_left) {
            commands.extend(retries(detail));
            commands.push((delete, "delete it"));
        } else {
            // A retry would do once more what is still there.
            commands.push((delete, "when you have undone by hand what is not undone"));
            commands.extend(retries(detail));
        }
    }
    let last = detail.more.retries.last();
    let execution = last.map_or(&letter.execution_id, |retry| &retry.execution_id);
    commands.push((
        format!("refire executions events {execution}"),
        "what happened",
    ));
    if letter.error_type == "http_status" {
        commands.push((
            format!(
                "refire executions events {} --type STEP_FAILED --full",
                letter.execution_id
            ),
            "what the target answered",
        ));
    }
    let width = commands
        .iter()
        .map(|(text, _)| text.len())
        .max()
        .unwrap_or(0);
    let lines = commands
        .iter()
        .map(|(text, why)| format!("  {}  {}\n", command(&format!("{text:<width$}")), dim(why)));
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn detail() -> DeadLetterDetail {
        serde_json::from_str(
            r#"{"id": "dlq_1", "execution_id": "exec_1", "workflow_id": "w",
                "workflow_name": "w", "step_id": "call",
                "input_data": {"id": 12345678901234567890, "n": 1.10},
                "error_type": "http_status", "error_message": "the target answered 503",
                "error_code": "503", "error_stacktrace": "first\nsecond", "reason": "exhausted",
                "retry_count": 2, "max_retries": 2,
                "retry_history": [
                    {"attempt": 1, "error": "busy", "delay": 2.1, "at": "2026-11-15T09:29:00Z"},
                    {"attempt": 2, "error": "busy", "delay": null, "at": "2026-11-15T09:29:02Z"}],
                "status": "pending", "retry_attempted_at": null, "retry_attempted_by": null,
                "resolution_execution_id": null, "resolved_at": null, "resolved_by": null,
                "deleted_at": null, "deleted_by": null, "failed_at": "2026-11-15T09:29:48Z",
                "created_at": "2026-11-15T09:29:48Z", "fingerprint": "f",
                "suggestions": [{"title": "Wait", "detail": "It may recover."}],
                "can_retry_from_start": true, "can_retry_from_failed_step": true, "events": [], "input_changes": [], "same_cause": 3}"#,
        )
        .unwrap()
    }

    fn plain(detail: &DeadLetterDetail) -> String {
        let now = "2026-11-15T09:30:00Z".parse().unwrap();
        anstream::adapter::strip_str(&summary(detail, now)).to_string()
    }

    #[test]
    fn a_letter_says_why_and_what_to_do() {
        let text = plain(&detail());
        for part in [
            "dlq_1  pending\n",
            "reason      exhausted: all 2 retries failed",
            "same cause  3 more",
            "  http_status 503: the target answered 503\n    caused by: first\n",
            "2.1s",
            "    \"id\": 12345678901234567890,\n    \"n\": 1.10\n",
            "  1. Wait\n     It may recover.",
            "refire dlq retry dlq_1 --from failed-step",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    #[test]
    fn a_resolved_letter_cannot_be_retried() {
        let mut detail = detail();
        detail.entry.status = LetterStatus::Resolved;
        detail.entry.resolution_execution_id = Some("exec_2".to_owned());
        let text = plain(&detail);
        assert!(
            !text.contains("dlq retry") && text.contains("exec_2"),
            "{text}"
        );
        assert!(!text.contains("What to try"), "{text}");
    }

    #[test]
    fn what_the_policy_did_is_said_truly() {
        for (count, max, expected) in [
            (2, 2, "all 2 retries failed"),
            (1, 1, "the only retry failed"),
            (2, 10, "the time for retries was over after 2 of 10"),
            (0, 10, "the time for retries was over before the first"),
            (0, 0, "its policy allows no retries"),
        ] {
            assert_eq!(exhausted(count, max), expected);
        }
    }

    #[test]
    fn only_what_can_work_is_suggested() {
        let commands = |detail: &DeadLetterDetail| {
            let text = plain(detail);
            let (_, next) = text.split_once("Next\n").unwrap();
            let words = next.lines().filter_map(|line| {
                let (command, _) = line.trim().split_once("  ")?;
                Some(command.replace("refire ", "").replace(" dlq_1", ""))
            });
            words.collect::<Vec<_>>().join(", ")
        };
        let rest = "dlq delete, executions events exec_1, executions events exec_1 --type \
                    STEP_FAILED --full";
        let mut secret = detail();
        secret.entry.error_type = "template".to_owned();
        secret.entry.error_message =
            "`${secret.K}` has no value; set REFIRE_SECRET_K in the server's environment"
                .to_owned();
        let found = commands(&secret);
        assert!(found.starts_with("dlq retry --wait 30s, "), "{found}");
        secret.entry.error_message = "`${input.x}` has no value".to_owned();
        let found = commands(&secret);
        assert!(found.starts_with("dlq retry --edit, "), "{found}");
        let mut full = detail();
        full.more.can_retry_from_start = false;
        full.more.can_retry_from_failed_step = false;
        full.more.retry_obstacle = Some("it is full".to_owned());
        assert_eq!(commands(&full), format!("dlq retry --edit, {rest}"));
        let text = plain(&full);
        assert!(text.contains("A retry cannot work\n  it is full"), "{text}");
        full.entry.workflow_deleted = true;
        assert_eq!(commands(&full), format!("workflow apply -f <file>, {rest}"));
    }

    #[test]
    fn the_story_is_told() {
        let mut detail = detail();
        let more = r#"{"events": [], "input_changes": [], "same_cause": 0,
            "trigger_type": "cron", "trigger_id": "trg_1", "scheduled_at": "2026-11-15T09:00:00Z",
            "response": {"status": "503", "body": "<h1>\u001b[31mbusy</h1>\n\nlater"},
            "compensations": [{"step_id": "cancel", "undoes": "hotel", "status": "completed",
                "completed_at": null, "error": null}],
            "retries": [
                {"execution_id": "exec_2", "retried_at": "2026-11-15T09:29:50Z", "retried_by": "ann",
                 "from": "failed_step", "edited": false, "outcome": "failed", "ended_at": null,
                 "compensation_failures": [{"step_id": "cancel", "undoes": "hotel", "error":
                    {"type": "http_status", "code": "500", "message": "sorry", "retryable": true}}],
                 "error": {"type": "http_status", "code": "500", "message": "no", "retryable": true}},
                {"execution_id": "exec_3", "retried_at": "2026-11-15T09:29:55Z", "retried_by": "bob",
                 "from": "start", "edited": true, "outcome": null, "ended_at": null, "error": null,
                 "input_changes": [{"path": "n", "kind": "changed", "old": 1, "new": 2}]}]}"#;
        detail.more = serde_json::from_str(more).unwrap();
        let text = plain(&detail);
        for part in [
            "The target answered\n  503\n  <h1>",
            "busy</h1>\n  \n  later\n",
            "Undone\n  hotel, by cancel\n",
            "started by  cron trg_1, planned for 2026-11-15 09:00:00.000 UTC\n",
            "    not undone: hotel, because cancel failed: sorry\n",
            "Retries\n  exec_2  failed\n    2026-11-15 09:29:50.000 UTC (10s ago) by ann, from the \
             failed step\n    http_status 500: no\n    not undone:",
            "  exec_3  running\n",
            "by bob, from the start, input edited\n    ~ n: 1 → 2\n",
            "refire executions events exec_3",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
        assert!(!text.contains('\u{1b}'), "nothing of it moves the cursor");
    }

    #[test]
    fn what_could_not_be_undone_is_told_and_what_cannot_work_is_not_suggested() {
        let mut detail = detail();
        detail.entry.reason = LetterReason::CompensationFailed;
        detail.more.can_retry_from_failed_step = false;
        detail.more.compensation_failures = serde_json::from_str(
            r#"[{"step_id": "cancel_hotel", "undoes": "hotel", "error": {"type": "http_status",
                "code": "500", "message": "the target answered 500", "retryable": true}}]"#,
        )
        .unwrap();
        let text = plain(&detail);
        assert!(
            text.contains(
                "Not undone\n  hotel, which cancel_hotel should have undone\n    \
                 http_status 500: the target answered 500\n"
            ),
            "{text}"
        );
        assert!(!text.contains("failed-step"), "{text}");
        let next = text.split_once("Next\n").unwrap().1;
        assert!(next.starts_with("  refire dlq delete dlq_1"), "{text}");
        assert!(text.contains("refire dlq retry dlq_1 --wait"), "{text}");
    }
}
