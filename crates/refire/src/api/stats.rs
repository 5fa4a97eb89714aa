//! What happened to workflows, in numbers, step by step: for charts.

use std::time::Duration;

use axum::Json;
use refire_client::model::{MinuteStats, StatsNumbers, StatsPoint};
use refire_client::query::StatsQuery;
use refire_core::duration;
use refire_core::minute::{MINUTE, Minute, POINTS_MAX, floor};
use refire_core::time::Timestamp;
use refire_store::MinuteFilter;

use super::query::parsed;
use super::{Answer, App, Params, Problem};
use crate::codes;

/// How far back it looks unless somebody says otherwise.
const RANGE_DEFAULT: Duration = Duration::from_secs(24 * 60 * 60);
/// The longest step.
const STEP_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// About so many steps there are unless somebody says otherwise.
const POINTS_DEFAULT: u32 = 100;
/// Steps that are chosen from then.
const STEPS: [u64; 9] = [1, 5, 10, 15, 30, 60, 180, 360, 1_440];

/// What happened within a range, step by step: executions started, completed, failed, retried, and how long they took.
///
/// Numbers are counted when something happens, written every ten seconds and kept for 14 days. They stay when
/// executions are removed.
#[utoipa::path(
    get,
    path = "/api/stats/minutes",
    params(StatsQuery),
    responses(
        (status = 200, description = "What happened", body = MinuteStats),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn get_minute_stats(
    app: App,
    Params(query): Params<StatsQuery>,
) -> Answer<MinuteStats> {
    let now = app.engine.now();
    let to: Timestamp = parsed(query.to.as_deref())?.unwrap_or(now);
    let from: Option<Timestamp> = parsed(query.from.as_deref())?;
    let from = from.unwrap_or_else(|| to.minus(RANGE_DEFAULT));
    if to <= from {
        let message = "the end is not after the beginning";
        return Err(Problem::field(&codes::INVALID_PARAMETER, "to", message));
    }
    let range = to.since(from);
    let step = match query.step.as_deref() {
        Some(text) => chosen(text, range)
            .map_err(|message| Problem::field(&codes::INVALID_PARAMETER, "step", message))?,
        None => usual(range),
    };
    let filter = MinuteFilter {
        workflow: parsed(query.workflow.as_deref())?,
        from: floor(from, step),
        to,
    };
    let points = app.engine.stats().points(&filter, step).await?;
    let mut total = Minute::default();
    points.iter().for_each(|(_, minute)| total.add(minute));
    let point = |(at, minute): &(Timestamp, Minute)| StatsPoint {
        at: at.to_string(),
        numbers: numbers(minute),
    };
    Ok(Json(MinuteStats {
        workflow: query.workflow,
        from: filter.from.to_string(),
        to: to.to_string(),
        step: duration::plain(step),
        points: points.iter().map(point).collect(),
        total: numbers(&total),
    }))
}

/// A step that somebody asks for.
fn chosen(text: &str, range: Duration) -> Result<Duration, String> {
    let step = duration::parse(text).map_err(|error| error.to_string())?;
    if step < MINUTE || step > STEP_MAX {
        return Err(format!("`{text}` is not between 1m and 1d"));
    }
    if step.as_millis() % MINUTE.as_millis() != 0 {
        return Err(format!("`{text}` is not a number of whole minutes"));
    }
    let count = range.as_secs() / step.as_secs();
    if count >= POINTS_MAX as u64 {
        return Err(format!(
            "that makes {count} steps, and there are at most {POINTS_MAX}; ask for longer ones"
        ));
    }
    Ok(step)
}

fn usual(range: Duration) -> Duration {
    let steps = STEPS.into_iter().map(|minutes| MINUTE * minutes as u32);
    let mut long_enough = steps.filter(|step| *step * POINTS_DEFAULT >= range);
    let days = range.as_secs() / STEP_MAX.as_secs() / u64::from(POINTS_DEFAULT) + 1;
    long_enough
        .next()
        .unwrap_or_else(|| STEP_MAX * u32::try_from(days).unwrap_or(u32::MAX))
}

fn numbers(minute: &Minute) -> StatsNumbers {
    let ended = minute.completed + minute.failed + minute.cancelled;
    let average = (ended > 0).then(|| minute.duration_ms as f64 / ended as f64);
    StatsNumbers {
        started: minute.started,
        completed: minute.completed,
        failed: minute.failed,
        dead_lettered: minute.dead_lettered,
        cancelled: minute.cancelled,
        retries: minute.retries,
        recovered: minute.recovered,
        given_up: minute.given_up,
        fired: minute.fired,
        missed: minute.missed,
        duration_avg_ms: average,
        duration_max_ms: (ended > 0).then_some(minute.duration_max_ms),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOUR: Duration = Duration::from_secs(3_600);

    #[test]
    fn a_step_is_whole_minutes_and_there_are_not_too_many() {
        for (text, range, expected) in [
            ("5m", HOUR, Ok(MINUTE * 5)),
            ("0", HOUR, Err("between 1m and 1d")),
            ("90s", HOUR, Err("whole minutes")),
            ("2d", HOUR, Err("between 1m and 1d")),
            ("soon", HOUR, Err("soon")),
            ("1m", HOUR * 24 * 14, Err("at most 1500")),
        ] {
            match (chosen(text, range), expected) {
                (Ok(found), Ok(expected)) => assert_eq!(found, expected),
                (Err(found), Err(expected)) => assert!(found.contains(expected), "{found}"),
                other => panic!("{text}: {other:?}"),
            }
        }
    }

    #[test]
    fn unless_asked_for_there_are_about_a_hundred() {
        assert_eq!(usual(HOUR), MINUTE);
        assert_eq!(usual(HOUR * 24), MINUTE * 15);
        assert_eq!(usual(HOUR * 24 * 14), HOUR * 6);
        assert!(usual(HOUR * 24 * 365 * 100) > STEP_MAX);
    }
}
