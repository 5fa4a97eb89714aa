//! Retries as the API shows them: executions that had some, and what a policy would do.

use std::time::Duration;

use refire_client::model::{ExecutionStatus, PlannedRetry, RetriedExecution, RetryTimeline};
use refire_core::definition::RetryRules;
use refire_core::time::Timestamp;
use refire_engine::Engine;
use refire_store::Summary;

use super::execution::{max_retries, next_retry_at, origin};
use crate::api::Problem;

/// An execution that was retried.
pub(crate) async fn retried(
    engine: &Engine,
    summary: &Summary,
    now: Timestamp,
) -> Result<RetriedExecution, Problem> {
    let state = &summary.state;
    let origin = origin(state)?;
    let workflow = engine.catalog().of(origin).await.ok();
    let failed = state.last_failed_step();
    let failure = failed
        .and_then(|(_, step)| step.failure.as_ref())
        .or(state.error.as_ref());
    let began = state.started_at.unwrap_or(origin.created_at);
    let until = state.completed_at.unwrap_or(now);
    Ok(RetriedExecution {
        execution_id: origin.id.to_string(),
        workflow_id: origin.workflow.to_string(),
        step_id: failed.map(|(id, _)| id.to_string()),
        retry_count: failed.map_or(0, |(_, step)| step.retries()),
        max_retries: max_retries(state, workflow.as_deref()),
        status: ExecutionStatus::from_name(summary.status().name()),
        error_type: failure.map(|failure| failure.class.name().to_owned()),
        error_code: failure.and_then(|failure| failure.code.clone()),
        error_message: failure.map(|failure| failure.message.clone()),
        next_retry_at: next_retry_at(state, summary.status()),
        total_ms: millis(until.since(began)),
        created_at: origin.created_at.to_string(),
    })
}

/// When the retries of a policy would happen if every attempt failed immediately.
pub(crate) fn timeline(rules: &RetryRules) -> RetryTimeline {
    let policy = &rules.policy;
    let mut timeline = RetryTimeline {
        retries: Vec::new(),
        total_ms: 0,
        total_min_ms: 0,
        total_max_ms: 0,
    };
    for retry in 1..=policy.max_retries {
        let range = policy.range(retry);
        let at_ms = timeline.total_ms.saturating_add(millis(range.nominal));
        if policy
            .max_elapsed
            .is_some_and(|limit| at_ms > millis(limit))
        {
            break;
        }
        timeline.total_ms = at_ms;
        timeline.total_min_ms = timeline.total_min_ms.saturating_add(millis(range.min));
        timeline.total_max_ms = timeline.total_max_ms.saturating_add(millis(range.max));
        timeline.retries.push(PlannedRetry {
            retry,
            delay_ms: millis(range.nominal),
            min_ms: millis(range.min),
            max_ms: millis(range.max),
            at_ms,
        });
    }
    timeline
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use refire_core::definition::RetrySettings;

    use super::*;

    fn of(policy: &str) -> RetryTimeline {
        timeline(&RetrySettings::parse(policy).unwrap().rules())
    }

    #[test]
    fn five_retries_from_two_seconds_take_a_minute() {
        let timeline = of("{}");
        let delays: Vec<_> = timeline
            .retries
            .iter()
            .map(|retry| retry.delay_ms)
            .collect();
        assert_eq!(delays, [2_000, 4_000, 8_000, 16_000, 32_000]);
        let first = &timeline.retries[0];
        assert_eq!(
            (first.retry, first.min_ms, first.max_ms, first.at_ms),
            (1, 1_600, 2_400, 2_000)
        );
        assert_eq!(timeline.retries[4].at_ms, 62_000);
        assert_eq!(
            (
                timeline.total_ms,
                timeline.total_min_ms,
                timeline.total_max_ms
            ),
            (62_000, 49_600, 74_400)
        );
    }

    #[test]
    fn a_time_limit_ends_it_early() {
        assert_eq!(of("maxElapsed: 10s").retries.len(), 2);
        assert_eq!(of("enabled: false").retries.len(), 0);
    }
}
