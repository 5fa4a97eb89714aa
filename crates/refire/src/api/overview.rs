//! The whole at a glance. Everything is counted up to a bound, so that it costs the same however much there is.

use std::collections::BTreeMap;
use std::time::Duration;

use axum::Json;
use refire_client::model::{
    AlertCounts, ExecutionCounts, LetterCounts, NodeCounts, OpenExecutions, Overview, Storage,
    TaskCounts, TriggerCounts, WorkerCounts,
};
use refire_client::query::OverviewQuery;
use refire_core::alert::Phase;
use refire_core::dead_letter::{LetterStatus, archived_before};
use refire_core::duration;
use refire_core::execution::Status;
use refire_core::task::WorkerStatus;
use refire_core::time::Timestamp;
use refire_engine::task::WorkerFilter;
use refire_store::{
    AlertFilter, COUNTED_MAX, ExecutionFilter, LIMIT_MAX, LetterFilter, TriggerFilter, WORKERS_MAX,
};

use super::{Answer, App, Params, Problem};

/// How far back it looks unless somebody says otherwise.
const RANGE_DEFAULT: &str = "24h";
/// The farthest.
pub(super) const RANGE_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// The whole at a glance: how much happened within a range, how much is open, who is there.
#[utoipa::path(
    get,
    path = "/api/overview",
    params(OverviewQuery),
    responses(
        (status = 200, description = "The whole at a glance", body = Overview),
        (status = 400, description = "The range is wrong"),
    ),
)]
pub(super) async fn get_overview(
    app: App,
    Params(query): Params<OverviewQuery>,
) -> Answer<Overview> {
    let range = query.range.as_deref().unwrap_or(RANGE_DEFAULT);
    let length = duration::parse(range).map_err(Problem::internal)?;
    let from = app.engine.now().minus(length);
    let began = |retried| ExecutionFilter {
        from: Some(from),
        retried,
        ..ExecutionFilter::default()
    };
    let executions = counted(&app, &began(false)).await?;
    let retried = counted(&app, &began(true)).await?;
    Ok(Json(Overview {
        range: range.to_owned(),
        success_rate: completed(&executions.by_status),
        retry_recovery: completed(&retried.by_status),
        executions,
        dead_letters: letters(&app, from).await?,
        open: open(&app).await?,
        triggers: triggers(&app).await?,
        workers: workers(&app).await?,
        nodes: nodes(&app).await?,
        tasks: tasks(&app).await?,
        alerts: alerts(&app).await?,
        storage: Some(storage(&app).await?),
    }))
}

async fn storage(app: &App) -> Result<Storage, Problem> {
    let retention = app.engine.retention();
    let seconds = |age: Option<Duration>| age.map(|age| age.as_secs());
    Ok(Storage {
        bytes: app.engine.store().size().await?,
        keep_completed_s: seconds(retention.completed),
        keep_cancelled_s: seconds(retention.cancelled),
        keep_failed_s: seconds(retention.failed),
    })
}

async fn counted(app: &App, filter: &ExecutionFilter) -> Result<ExecutionCounts, Problem> {
    let store = app.engine.store();
    let counted = store.count_executions(filter, COUNTED_MAX).await?;
    let by_status = counted.by_status.iter();
    let by_status = by_status.map(|(status, count)| (status.name().to_owned(), *count));
    Ok(ExecutionCounts {
        total: counted.total(),
        exact: counted.is_exact,
        by_status: by_status.collect(),
    })
}

/// Of those that came to an end by themselves, the share that completed.
fn completed(by_status: &BTreeMap<String, u64>) -> Option<f64> {
    let of = |status: Status| by_status.get(status.name()).copied().unwrap_or(0);
    let done = of(Status::Completed);
    let ended = done + of(Status::Failed) + of(Status::Dlq);
    (ended > 0).then(|| done as f64 / ended as f64)
}

async fn letters(app: &App, from: Timestamp) -> Result<LetterCounts, Problem> {
    let all = LetterFilter {
        statuses: vec![LetterStatus::Pending],
        ..LetterFilter::default()
    };
    let live = LetterFilter {
        from: Some(archived_before(app.engine.now())),
        ..all.clone()
    };
    let store = app.engine.store();
    let summary = store.letter_summary(&live).await?;
    let all = store.letter_summary(&all).await?.count;
    Ok(LetterCounts {
        pending: summary.count,
        archived: all.saturating_sub(summary.count),
        oldest: summary.oldest.map(|at| at.to_string()),
        newest: summary.newest.map(|at| at.to_string()),
        new_in_range: store.letters_since(from, COUNTED_MAX).await?,
    })
}

async fn open(app: &App) -> Result<OpenExecutions, Problem> {
    let of = async |status: Status| {
        let filter = ExecutionFilter {
            statuses: vec![status],
            ..ExecutionFilter::default()
        };
        let store = app.engine.store();
        let counted = store.count_executions(&filter, COUNTED_MAX).await;
        counted.map(|counted| counted.total())
    };
    Ok(OpenExecutions {
        running: of(Status::Running).await?,
        retrying: of(Status::Retrying).await?,
        waiting: of(Status::Waiting).await?,
        paused: of(Status::Paused).await?,
        pending: of(Status::Pending).await?,
    })
}

async fn triggers(app: &App) -> Result<TriggerCounts, Problem> {
    let enabled = TriggerFilter {
        enabled: Some(true),
        ..TriggerFilter::default()
    };
    let overdue = TriggerFilter {
        is_alarmed: Some(true),
        ..TriggerFilter::default()
    };
    let store = app.engine.store();
    Ok(TriggerCounts {
        enabled: store.count_triggers(&enabled).await?,
        overdue: store.count_triggers(&overdue).await?,
    })
}

async fn workers(app: &App) -> Result<WorkerCounts, Problem> {
    let (all, most) = (WorkerFilter::default(), u32::try_from(WORKERS_MAX));
    let tasks = app.engine.tasks();
    let workers = tasks.workers(&all, None, most.unwrap_or(u32::MAX)).await?;
    let of = |status: WorkerStatus| {
        let such = workers.iter().filter(|worker| worker.status == status);
        such.count() as u64
    };
    Ok(WorkerCounts {
        active: of(WorkerStatus::Active),
        idle: of(WorkerStatus::Idle),
        dead: of(WorkerStatus::Dead),
    })
}

async fn nodes(app: &App) -> Result<NodeCounts, Problem> {
    let (nodes, now) = (app.engine.nodes().await?, app.engine.now());
    let alive = nodes.iter().filter(|node| node.expires_at > now);
    Ok(NodeCounts {
        alive: alive.count() as u64,
    })
}

async fn alerts(app: &App) -> Result<AlertCounts, Problem> {
    let of = async |phase: Phase| {
        let filter = AlertFilter {
            phases: vec![phase],
            ..AlertFilter::default()
        };
        let rows = app.engine.alerts().list(&filter, None, LIMIT_MAX).await;
        rows.map(|rows| rows.len() as u64)
    };
    Ok(AlertCounts {
        firing: of(Phase::Firing).await?,
        pending: of(Phase::Pending).await?,
    })
}

async fn tasks(app: &App) -> Result<TaskCounts, Problem> {
    let tally = app.engine.tasks().tally().await?;
    Ok(TaskCounts {
        pending: tally.types.iter().map(|one| one.pending).sum(),
        locked: tally.types.iter().map(|one| one.locked).sum(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cancelled_or_is_open_is_no_success_and_no_failure() {
        let of = |counts: &[(&str, u64)]| {
            let counts = counts
                .iter()
                .map(|(word, count)| ((*word).to_owned(), *count));
            completed(&counts.collect())
        };
        for (counts, expected) in [
            (&[][..], None),
            (&[("running", 3), ("cancelled", 1)], None),
            (&[("completed", 3), ("cancelled", 1)], Some(1.0)),
            (
                &[("completed", 3), ("failed", 1), ("pending", 9)],
                Some(0.75),
            ),
            (&[("completed", 1), ("dlq", 3)], Some(0.25)),
        ] {
            assert_eq!(of(counts), expected, "{counts:?}");
        }
    }
}
