//! Everything about one dead letter.

use refire_client::model::{
    DeadLetterDetail, DeadLetterMore, DeadLetterRetry, Event, ExecutionStatus, StartedBy,
    TargetResponse,
};
use refire_core::dead_letter::{LetterStatus, Obstacle, RetryFrom};
use refire_core::execution::{Execution, Status};
use refire_core::failure::ErrorClass;
use refire_core::id::ExecutionId;
use refire_core::json::Json;
use refire_store::{LetterFilter, LetterRow, RetryRow, Store};
use serde::Deserialize;

use crate::api::{App, Problem, view};

/// Retries by people that are shown, the last ones.
const RETRIES_MAX: u32 = 50;
/// Bytes of edited inputs that are shown with them, counted from the last.
const INPUTS_BYTES_MAX: usize = 4 * 1024 * 1024;

/// A letter with all that is known about it.
pub(super) async fn detail(app: &App, row: &LetterRow) -> Result<DeadLetterDetail, Problem> {
    let failed = app.engine.store().execution(row.execution).await?;
    let state = failed.as_ref().map(|stored| &stored.state);
    let is_pending = row.state.status == LetterStatus::Pending;
    let ways = match state.filter(|_| is_pending) {
        Some(state) => Some(obstacles(app, row, state).await?),
        None => None,
    };
    let is_open = |way: usize| ways.is_some_and(|ways| ways[way].is_none());
    let events = log(app, row.execution).await?;
    let retries = retries(app, row).await?;
    let compensations = state.map(view::letter::compensations).unwrap_or_default();
    let last = retries.last();
    let origin = state.and_then(|state| state.origin.as_ref());
    let trigger = origin.map(|origin| &origin.trigger);
    Ok(DeadLetterDetail {
        entry: view::letter::letter(row)?,
        more: DeadLetterMore {
            trigger_type: trigger.map(|trigger| StartedBy::from_name(trigger.kind.name())),
            trigger_id: trigger.and_then(|trigger| trigger.id.clone()),
            scheduled_at: trigger.and_then(|trigger| Some(trigger.scheduled_at?.to_string())),
            triggered_by: trigger.and_then(|trigger| trigger.by.clone()),
            can_retry_from_start: is_open(0),
            can_retry_from_failed_step: is_open(1),
            retry_obstacle: ways.and_then(|ways| Some(ways[0]?.to_string())),
            response: response(row, &events),
            compensation_failures: view::letter::not_undone(&compensations),
            compensations,
            events,
            input_changes: last.map_or_else(Vec::new, |last| last.input_changes.clone()),
            retries,
            same_cause: same_cause(app, row).await?,
        },
    })
}

/// What stands in the way of a retry from the start, and of one from the failed step.
async fn obstacles(
    app: &App,
    row: &LetterRow,
    state: &Execution,
) -> Result<[Option<Obstacle>; 2], Problem> {
    let letters = app.engine.letters();
    Ok([
        letters.obstacle(row, state, RetryFrom::Start).await?,
        letters.obstacle(row, state, RetryFrom::FailedStep).await?,
    ])
}

/// Other pending letters with the same cause.
async fn same_cause(app: &App, row: &LetterRow) -> Result<u64, Problem> {
    let same = LetterFilter {
        statuses: vec![LetterStatus::Pending],
        fingerprint: Some(row.fingerprint),
        ..LetterFilter::default()
    };
    let all = app.engine.store().letter_summary(&same).await?.count;
    let itself = u64::from(row.state.status == LetterStatus::Pending);
    Ok(all.saturating_sub(itself))
}

async fn log(app: &App, id: ExecutionId) -> Result<Vec<Event>, Problem> {
    let rows = app.engine.executions().history(id).await?;
    rows.into_iter().map(view::event::event).collect()
}

/// What the log has of a failed attempt's answer.
#[derive(Deserialize)]
struct Failed {
    error: Answer,
}

#[derive(Deserialize)]
struct Answer {
    response: Option<String>,
}

/// What the target answered to the last attempt of the failed step.
fn response(row: &LetterRow, events: &[Event]) -> Option<TargetResponse> {
    let last = events.iter().rev().find(|event| {
        event.event_type == "STEP_FAILED" && event.step_id.as_deref() == row.step.as_deref()
    })?;
    let failed: Failed = serde_json::from_str(last.payload.get()).ok()?;
    let is_answer = row.failure.class == ErrorClass::HttpStatus;
    let status = row.failure.code.clone().filter(|_| is_answer);
    let body = failed.error.response;
    (status.is_some() || body.is_some()).then_some(TargetResponse { status, body })
}

async fn retries(app: &App, row: &LetterRow) -> Result<Vec<DeadLetterRetry>, Problem> {
    let store = app.engine.store();
    let kept = store.letter_retries(row.id, RETRIES_MAX).await?;
    let ids: Vec<ExecutionId> = kept.iter().map(|retry| retry.execution).collect();
    let states = store.summaries(&ids).await?;
    let mut bytes_left = INPUTS_BYTES_MAX;
    let mut shown = Vec::with_capacity(kept.len());
    // From the last, so that it has its input.
    for (retry, state) in kept.iter().zip(&states).rev() {
        let state = state.as_ref().map(|summary| &summary.state);
        let input = match state {
            Some(state) if retry.edited != Some(false) => {
                input(store, retry.execution, state, bytes_left).await?
            }
            _ => None,
        };
        let differs = |input: &Json| *input != row.input;
        let edited = retry.edited.or_else(|| input.as_ref().map(differs));
        let input = input.filter(differs);
        bytes_left -= input.as_ref().map_or(0, |input| input.as_str().len());
        shown.push(one(row, retry, state, edited, input.as_ref())?);
    }
    shown.reverse();
    Ok(shown)
}

/// The input of a retry, unless it is larger than that.
async fn input(
    store: &dyn Store,
    id: ExecutionId,
    state: &Execution,
    bytes_max: usize,
) -> Result<Option<Json>, Problem> {
    let Some(origin) = &state.origin else {
        return Ok(None);
    };
    if origin.input.len > bytes_max as u64 {
        return Ok(None);
    }
    let mut values = store.values(id, &[origin.input.sequence]).await?;
    Ok(values.pop().map(|(_, input)| input))
}

fn one(
    row: &LetterRow,
    retry: &RetryRow,
    state: Option<&Execution>,
    edited: Option<bool>,
    input: Option<&Json>,
) -> Result<DeadLetterRetry, Problem> {
    // A node of the version before may have ended it without a word here.
    let by_state = || {
        let state = state.filter(|state| state.status.is_terminal())?;
        Some((state.status, state.completed_at?))
    };
    let ended = retry.ended.or_else(by_state);
    let has_failed = ended.is_some_and(|(status, _)| status != Status::Completed);
    let failure = state.and_then(|state| state.error.as_ref());
    Ok(DeadLetterRetry {
        execution_id: retry.execution.to_string(),
        retried_at: retry.at.to_string(),
        retried_by: retry.by.clone(),
        from: retry.from.map(|from| from.name().to_owned()),
        edited,
        input: input.map(view::raw).transpose()?,
        input_changes: match input {
            Some(input) => view::difference::changes(&row.input, input)?,
            None => Vec::new(),
        },
        outcome: ended.map(|(status, _)| ExecutionStatus::from_name(status.name())),
        ended_at: ended.map(|(_, at)| at.to_string()),
        error: failure.filter(|_| has_failed).map(view::error),
        compensation_failures: state
            .map(|state| view::letter::not_undone(&view::letter::compensations(state)))
            .unwrap_or_default(),
    })
}
