//! `refire executions show`: one execution on one screen, and what to do next.

use std::time::Duration;

use refire_client::Client;
use refire_client::model::{
    ErrorInfo, Execution, ExecutionStatus, StartedBy, Step, StepCallback, StepStatus,
};
use refire_client::query::{EventQuery, Paging};

use super::events::print_new;
use crate::cli::prelude::*;

/// How often a watched execution is looked at.
const WATCH: Duration = Duration::from_millis(300);

/// Options of `executions show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions show exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions show exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --watch
  refire executions show exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --format json | jq .output")]
pub(crate) struct ShowArgs {
    /// The execution (exec_…)
    id: String,
    /// Follow its log until it ends; the exit code tells how it ended
    #[arg(long, short)]
    watch: bool,
}

/// Shows the execution, at its end if it is to be watched.
pub(super) async fn run(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let id = ids::execution(&args.id)?;
    let client = session.client()?;
    let mut execution = client.execution(id).await?;
    let mut outcome = Outcome::Done;
    if args.watch {
        let mut seen = 0;
        loop {
            if !session.is_json() {
                seen = print_new(&client, id, seen).await?;
            }
            if execution.status.is_over() {
                break;
            }
            tokio::time::sleep(WATCH).await;
            execution = client.execution(id).await?;
        }
        outcome = Outcome::of_status(execution.status);
        if !session.is_json() {
            print("\n")?;
        }
    }
    let cancelled = match execution.status {
        ExecutionStatus::Cancelled if !session.is_json() => {
            cancelled(&client, id, session.now()).await?
        }
        _ => None,
    };
    session.answer(&execution, || summary(&execution, cancelled, session.now()))?;
    Ok(outcome)
}

/// When it was cancelled, and by whom.
async fn cancelled(client: &Client, id: &str, now: Timestamp) -> anyhow::Result<Option<String>> {
    let query = EventQuery {
        event_type: vec!["EXECUTION_CANCELLED".to_owned()],
        ..EventQuery::default()
    };
    let page = client.events(id, &query, &Paging::first(1)).await?;
    let Some(event) = page.items.first() else {
        return Ok(None);
    };
    let mut text = both(&event.timestamp, now);
    let payload =
        serde_json::from_str::<serde_json::Value>(event.payload.get()).unwrap_or_default();
    if let Some(by) = payload["by"].as_str() {
        let _ = write!(text, " by {}", clean(by));
    }
    Ok(Some(text))
}

/// The execution on one screen.
fn summary(execution: &Execution, cancelled: Option<String>, now: Timestamp) -> String {
    let phase = execution.phase.as_deref();
    let phase = phase.map(|phase| format!(" ({})", clean(phase)));
    let head = format!(
        "{}  {}{}\n",
        heading(&execution.execution_id),
        status(execution.status.name()),
        phase.unwrap_or_default()
    );
    let steps = match execution.steps.as_slice() {
        [] => String::new(),
        steps => table(&STEPS, steps, now).lines(2),
    };
    let error = execution.error.as_ref();
    let error = error.map(|error| failure_lines(error, "  "));
    let mut screen = Screen::new(head)
        .facts(11, all_facts(execution, now))
        .facts(
            11,
            [("parked", parked(execution, now)), ("cancelled", cancelled)],
        )
        .section("Steps", steps)
        .section("Error", error.unwrap_or_default());
    for line in left_undone(execution) {
        screen = screen.line(format!("\n{line}"));
    }
    for step in execution.steps.iter().filter(|step| is_cut_off(step)) {
        screen = screen.line(format!(
            "\nThe last attempt of step {} was cut off: the target may have done the work.",
            clean(&step.step_id)
        ));
    }
    screen
        .json("Input", execution.input.as_deref())
        .json("Output", execution.output.as_deref())
        .next(&next_commands(execution))
}

/// The target that it waits for, because that is left alone.
fn parked(execution: &Execution, now: Timestamp) -> Option<String> {
    let parked = execution.parked.as_ref()?;
    let host = clean(&parked.host);
    Some(match &parked.until {
        Some(until) => format!("for {host}, which is tried {}", relative(until, now)),
        None => format!("for {host}, until somebody closes or resets its breaker"),
    })
}

fn all_facts(execution: &Execution, now: Timestamp) -> [(&'static str, Option<String>); 14] {
    let at = |time: &Option<String>| time.as_deref().map(|at| both(at, now));
    let (trigger, by) = (&execution.trigger_id, &execution.triggered_by);
    let started = started_by(execution.trigger_type, trigger.as_deref(), by.as_deref());
    let workflow = format!("{} v{}", execution.workflow_id, execution.workflow_version);
    let late = at(&execution.delay_until).filter(|_| execution.started_at.is_none());
    let priority = (execution.priority != 5).then(|| execution.priority.to_string());
    let key = execution.idempotency_key.as_deref();
    [
        ("workflow", Some(workflow)),
        ("started by", Some(started)),
        ("created", Some(both(&execution.created_at, now))),
        ("planned for", at(&execution.scheduled_at)),
        ("not before", late),
        ("started", at(&execution.started_at)),
        ("ended", at(&execution.completed_at)),
        ("took", execution.duration_ms.map(span)),
        ("retries", retries(execution, now)),
        ("priority", priority),
        ("key", key.map(|key| clean(key).into_owned())),
        ("dead letter", execution.dlq_entry_id.clone()),
        ("retry of", execution.parent_dlq_entry_id.clone()),
        ("repeats", execution.parent_execution_id.clone()),
    ]
}

/// `manual by admin`, `webhook trg_…`
pub(crate) fn started_by(kind: StartedBy, trigger: Option<&str>, by: Option<&str>) -> String {
    let mut text = kind.to_string();
    if let Some(id) = trigger {
        let _ = write!(text, " {}", clean(id));
    }
    if let Some(by) = by {
        let _ = write!(text, " by {}", clean(by));
    }
    text
}

fn retries(execution: &Execution, now: Timestamp) -> Option<String> {
    if execution.retry_count == 0 && execution.next_retry_at.is_none() {
        return None;
    }
    let mut text = format!("{} of {}", execution.retry_count, execution.max_retries);
    if let Some(context) = &execution.retry_context {
        let _ = write!(text, ", attempt {}", context.current_attempt);
        if let Some(ms) = context.last_backoff_ms {
            let _ = write!(text, " after a wait of {}", span(ms));
        }
    }
    if let Some(at) = &execution.next_retry_at {
        let _ = write!(text, ", next {}", relative(at, now));
    }
    Some(text)
}

/// Whether a cancel came while an attempt was under way: it is not among those that failed.
fn is_cut_off(step: &Step) -> bool {
    step.status == StepStatus::Cancelled && step.attempts > step.retry_count
}

/// What a step waits for whose target calls back.
fn awaited(callback: &StepCallback, now: Timestamp) -> String {
    let progress = callback.progress.map(|percent| format!(" {percent} %"));
    let message = callback
        .progress_message
        .as_deref()
        .map(|text| format!(" {}", clean(text)));
    format!(
        "callback {} at the latest ({}{}{})",
        relative(&callback.waits_until, now),
        callback.status.name(),
        progress.unwrap_or_default(),
        message.unwrap_or_default()
    )
}

/// How long a step took, or has been running.
fn took(step: &Step, now: Timestamp) -> Option<String> {
    let began = step.started_at.as_deref();
    if step.status == StepStatus::Running {
        let so_far = between(began, Some(&now.to_string()))?;
        return Some(format!("{} so far", span(so_far)));
    }
    between(began, step.completed_at.as_deref()).map(span)
}

const STEPS: [Column<Step>; 7] = [
    text("STEP", |step, _| cell(&step.step_id)),
    text("TYPE", |step, _| cell(&step.step_type)),
    text("STATUS", |step, _| status_cell(step.status.name())),
    number("ATTEMPTS", |step, _| Cell::new(step.attempts)),
    number("TOOK", |step, now| maybe(took(step, now))),
    text("NEXT", |step, now| {
        let retry = step.next_retry_at.as_ref().map(|at| relative(at, now));
        maybe(retry.or_else(|| Some(awaited(step.callback.as_ref()?, now))))
    }),
    text("ERROR", |step, _| {
        maybe(step.error.as_ref().map(|error| &error.message))
    }),
];

/// A failure with its causes, a line each.
pub(crate) fn failure_lines(error: &ErrorInfo, margin: &str) -> String {
    let kind = if error.retryable {
        ""
    } else {
        " (not retried)"
    };
    let causes = error.causes.iter().map(String::as_str);
    error_lines(
        margin,
        (&error.error_type, error.code.as_deref()),
        &format!("{}{}", clean(&error.message), dim(kind)),
        causes,
    )
}

/// What went wrong: its class and code, what happened, and its causes, a line each.
pub(crate) fn error_lines<'a>(
    margin: &str,
    (class, code): (&str, Option<&str>),
    message: &str,
    causes: impl Iterator<Item = &'a str>,
) -> String {
    let code = code.map(|code| format!(" {code}")).unwrap_or_default();
    let class = bad(&clean(&format!("{class}{code}")));
    let mut out = format!("{margin}{class}: {message}\n");
    for cause in causes {
        let _ = writeln!(out, "{margin}  {} {}", dim("caused by:"), clean(cause));
    }
    out
}

/// What was completed and could not be undone, a line for each step.
pub(crate) fn left_undone(execution: &Execution) -> impl Iterator<Item = String> {
    let steps = execution.steps.iter();
    steps.filter_map(|step| {
        let undoes = step
            .undoes
            .as_deref()
            .filter(|_| step.status == StepStatus::Failed)?;
        let error = step.error.as_ref();
        let message = error.map_or("it failed", |error| error.message.as_str());
        Some(not_undone(undoes, &step.step_id, message))
    })
}

/// `not undone: hotel, because cancel_hotel failed: the target answered 500`
pub(crate) fn not_undone(undoes: &str, by: &str, error: &str) -> String {
    format!(
        "{} {}, because {} failed: {}",
        bad("not undone:"),
        clean(undoes),
        clean(by),
        clean(error)
    )
}

/// What a person would most likely type next.
pub(crate) fn next_commands(execution: &Execution) -> Vec<String> {
    let id = &execution.execution_id;
    let mut commands = vec![format!("refire executions events {id}")];
    match (execution.status, &execution.dlq_entry_id) {
        (_, Some(letter)) => {
            commands.insert(0, format!("refire dlq show {letter}"));
            // What is refused for what it says is refused again unless something is changed.
            let is_final = execution
                .error
                .as_ref()
                .is_some_and(|error| !error.retryable);
            let edit = if is_final { " --edit" } else { "" };
            // What is still there is put right by hand first; the letter says how.
            if left_undone(execution).next().is_none() {
                commands.push(format!("refire dlq retry {letter}{edit}"));
            }
        }
        (ExecutionStatus::Failed, None) if execution.parent_dlq_entry_id.is_some() => {
            let letter = execution.parent_dlq_entry_id.as_deref().unwrap_or_default();
            commands.insert(0, format!("refire dlq show {letter}"));
        }
        (ExecutionStatus::Paused, None) => {
            commands.insert(0, format!("refire executions resume {id}"))
        }
        (status, None) if status.is_over() => {
            commands.push(format!("refire executions replay {id}"));
        }
        _ => {
            commands.insert(0, format!("refire executions show {id} --watch"));
            commands.push(format!("refire executions cancel {id}"));
        }
    }
    commands
}

#[cfg(test)]
mod tests {
    use super::*;

    fn execution() -> Execution {
        let text = r#"{
            "execution_id": "exec_1", "workflow_id": "w", "workflow_version": 3,
            "status": "retrying", "phase": null, "input": {"big": 12345678901234567890},
            "error": {"type": "http_status", "code": "503", "message": "busy", "retryable": true,
                      "causes": ["the target answered 503"]},
            "retry_count": 2, "max_retries": 5, "next_retry_at": "2026-11-15T09:30:03.200000Z",
            "retry_context": {"current_attempt": 3, "last_backoff_ms": 4100},
            "trigger_type": "manual", "trigger_id": null, "triggered_by": "admin",
            "idempotency_key": null, "priority": 5, "delay_until": null, "dlq_entry_id": null,
            "parent_dlq_entry_id": null, "created_at": "2026-11-15T09:29:48Z",
            "started_at": "2026-11-15T09:29:48.001000Z", "completed_at": null, "duration_ms": null,
            "steps": [{"step_id": "call", "type": "http", "status": "retrying", "attempts": 2,
                       "retry_count": 1, "next_retry_at": "2026-11-15T09:30:03.200000Z",
                       "started_at": null, "completed_at": null, "error": null}]
        }"#;
        serde_json::from_str(text).unwrap()
    }

    fn plain(execution: &Execution) -> String {
        let now = "2026-11-15T09:30:00Z".parse().unwrap();
        anstream::adapter::strip_str(&summary(execution, None, now)).to_string()
    }

    #[test]
    fn a_retrying_execution_says_when_it_goes_on() {
        let text = plain(&execution());
        for part in [
            "exec_1  retrying\n",
            "workflow    w v3\n",
            "started by  manual by admin\n",
            "2026-11-15 09:29:48.000 UTC (12s ago)",
            "2 of 5, attempt 3 after a wait of 4.1s, next in 3.2s",
            "  http_status 503: busy\n    caused by: the target answered 503\n",
            "12345678901234567890",
            "refire executions show exec_1 --watch",
        ] {
            assert!(text.contains(part), "{part:?} in\n{text}");
        }
    }

    #[test]
    fn a_running_step_says_for_how_long() {
        let mut running = execution();
        running.steps[0].status = StepStatus::Running;
        running.steps[0].started_at = Some("2026-11-15T09:29:48Z".to_owned());
        let text = plain(&running);
        assert!(text.contains("12s so far"), "{text}");
    }

    #[test]
    fn what_is_left_of_an_end_is_said() {
        let mut ended = execution();
        ended.status = ExecutionStatus::Dlq;
        ended.dlq_entry_id = Some("dlq_9".to_owned());
        ended.next_retry_at = None;
        assert!(plain(&ended).contains("refire dlq retry dlq_9"));
        ended.steps[0].status = StepStatus::Failed;
        ended.steps[0].undoes = Some("hotel".to_owned());
        let text = plain(&ended);
        assert!(
            text.contains("\nnot undone: hotel, because call failed: it failed\n"),
            "{text}"
        );
        assert!(!text.contains("dlq retry"), "{text}");
        ended.steps[0].status = StepStatus::Cancelled;
        let cut_off = "step call was cut off: the target may have done the work.";
        assert!(plain(&ended).contains(cut_off));
        ended.steps[0].retry_count = 2;
        assert!(!plain(&ended).contains("cut off"), "it waited for a retry");
    }

    #[test]
    fn what_a_trigger_started_says_for_when() {
        let mut planned = execution();
        planned.trigger_type = StartedBy::Cron;
        planned.trigger_id = Some("trg_1".to_owned());
        planned.triggered_by = None;
        planned.scheduled_at = Some("2026-11-15T09:29:48Z".to_owned());
        let text = plain(&planned);
        assert!(text.contains("started by  cron trg_1\n"), "{text}");
        let at = "planned for 2026-11-15 09:29:48.000 UTC (12s ago)\n";
        assert!(text.contains(at), "{text}");
    }

    #[test]
    fn the_next_command_follows_from_the_status() {
        let mut dead = execution();
        dead.status = ExecutionStatus::Dlq;
        dead.dlq_entry_id = Some("dlq_9".to_owned());
        assert!(plain(&dead).contains("refire dlq show dlq_9"));
        dead.dlq_entry_id = None;
        dead.status = ExecutionStatus::Paused;
        assert!(plain(&dead).contains("refire executions resume exec_1"));
    }
}
