//! What rules ask for, read from rows. What no rule asks for is not read.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use refire_core::alert::{Facts, OpenBreaker, Rule, RuleKind, WindowSum, window_start};
use refire_core::breaker::Phase;
use refire_core::task::{WorkerStatus, asks_for};
use refire_core::time::Timestamp;
use refire_core::trouble::{Overdue, Silent, TROUBLES_MAX};
use refire_store::{LIMIT_MAX, MinuteFilter, ReadError, TriggerFilter, WORKERS_MAX};

use crate::context::Context;
use crate::task::{Worker, WorkerFilter, workers};

/// Tasks and callbacks that are looked at, each; of more those whose clocks run out first.
const HELD_LOOKED_AT_MAX: u32 = 10_000;

/// What these rules ask for.
pub(super) async fn read(
    context: &Context,
    rules: &[&Rule],
    now: Timestamp,
) -> Result<Facts, ReadError> {
    let is_asked = |kind: RuleKind| rules.iter().any(|rule| rule.kind() == kind);
    let mut facts = Facts {
        windows: windows(context, rules, now).await?,
        ..Facts::default()
    };
    if is_asked(RuleKind::DeadWorkers) {
        facts.workers = dead_workers(context).await?;
    }
    if is_asked(RuleKind::DeadMan) {
        facts.overdue = overdue(context).await?;
    }
    if is_asked(RuleKind::LongProcessing) {
        facts.held = context.store.held_longest(HELD_LOOKED_AT_MAX).await?;
    }
    if is_asked(RuleKind::BreakerOpen) {
        facts.breakers = open_breakers(context).await?;
    }
    Ok(facts)
}

/// Targets that are left alone, or are only being tried.
async fn open_breakers(context: &Context) -> Result<Vec<OpenBreaker>, ReadError> {
    let standing = context.store.standing_breakers().await?;
    let open = standing.into_iter().filter_map(|breaker| {
        let is_open = matches!(breaker.phase, Phase::Open | Phase::Probing);
        is_open.then(|| OpenBreaker {
            since: breaker.opened_at.unwrap_or(breaker.changed_at),
            host: breaker.host,
        })
    });
    Ok(open.collect())
}

async fn windows(
    context: &Context,
    rules: &[&Rule],
    now: Timestamp,
) -> Result<BTreeMap<Duration, Vec<WindowSum>>, ReadError> {
    let asked: BTreeSet<Duration> = rules
        .iter()
        .filter_map(|rule| rule.condition.window())
        .collect();
    let mut windows = BTreeMap::new();
    for window in asked {
        let filter = MinuteFilter {
            workflow: None,
            from: window_start(window, now),
            to: now.plus(Duration::from_micros(1)),
        };
        windows.insert(window, context.store.minute_sums(&filter).await?);
    }
    Ok(windows)
}

/// Triggers of which an expected success is missing.
pub(crate) async fn overdue(context: &Context) -> Result<Vec<Overdue>, ReadError> {
    let filter = TriggerFilter {
        is_alarmed: Some(true),
        ..TriggerFilter::default()
    };
    let most = u32::try_from(TROUBLES_MAX).unwrap_or(LIMIT_MAX);
    let mut found = Vec::new();
    for row in context.store.triggers(&filter, None, most).await? {
        let state = context.store.trigger_state(row.id).await?;
        let since = state.and_then(|state| state.alarmed_at);
        found.extend(since.map(|since| Overdue {
            trigger: row.id,
            workflow: row.workflow,
            since,
        }));
    }
    Ok(found)
}

async fn dead_workers(context: &Context) -> Result<Vec<Silent>, ReadError> {
    let most = u32::try_from(WORKERS_MAX).unwrap_or(u32::MAX);
    let all = workers(context, &WorkerFilter::default(), None, most).await?;
    let is_dead = |worker: &Worker| worker.status == WorkerStatus::Dead;
    let (dead, living): (Vec<Worker>, Vec<Worker>) = all.into_iter().partition(is_dead);
    Ok(dead.into_iter().map(|it| silent(it, &living)).collect())
}

/// A worker that was not heard of, and whether others do all of its tasks.
pub(crate) fn silent(worker: Worker, living: &[Worker]) -> Silent {
    let is_done = |task_type: &String| {
        let mut others = living.iter();
        others.any(|other| asks_for(&other.row.task_types.0, task_type))
    };
    Silent {
        is_replaced: worker.row.task_types.0.iter().all(is_done),
        seen_at: worker.row.updated_at,
        worker: worker.row.id,
    }
}
