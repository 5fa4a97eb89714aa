//! What happened to workflows, in numbers.

use std::collections::BTreeMap;
use std::time::Duration;

use async_trait::async_trait;
use refire_core::alert::WindowSum;
use refire_core::definition::WorkflowId;
use refire_core::minute::{Minute, OfWorkflow, floor};
use refire_core::time::Timestamp;

use crate::ReadError;
use crate::minute::{MINUTES_READ_MAX, MinuteFilter, MinutePoint, Minutes};
use crate::model::{Image, Model};

/// The newest first, then by workflow.
fn found(image: &Image, filter: &MinuteFilter) -> Vec<OfWorkflow> {
    let rows = image.minutes.values().filter(|one| filter.passes(one));
    let mut rows: Vec<OfWorkflow> = rows.map(|one| (**one).clone()).collect();
    rows.sort_by(|a, b| (b.at, &a.workflow).cmp(&(a.at, &b.workflow)));
    rows
}

#[async_trait]
impl Minutes for Model {
    async fn minutes(
        &self,
        filter: &MinuteFilter,
        limit: u32,
    ) -> Result<Vec<OfWorkflow>, ReadError> {
        self.read("minutes", |image| {
            let mut rows = found(image, filter);
            rows.truncate(limit.min(MINUTES_READ_MAX) as usize);
            Ok(rows)
        })
        .await
    }

    async fn minute_points(
        &self,
        filter: &MinuteFilter,
        step: Duration,
    ) -> Result<Vec<MinutePoint>, ReadError> {
        self.read("minute_points", |image| {
            let mut points: BTreeMap<Timestamp, Minute> = BTreeMap::new();
            for one in found(image, filter) {
                let point = points.entry(floor(one.at, step)).or_default();
                point.add(&one.minute);
            }
            let point = |(at, sum)| MinutePoint { at, sum };
            Ok(points.into_iter().map(point).collect())
        })
        .await
    }

    async fn minute_sums(&self, filter: &MinuteFilter) -> Result<Vec<WindowSum>, ReadError> {
        self.read("minute_sums", |image| {
            let mut sums: BTreeMap<WorkflowId, WindowSum> = BTreeMap::new();
            for one in found(image, filter) {
                let sum = sums
                    .entry(one.workflow.clone())
                    .or_insert_with(|| WindowSum {
                        workflow: one.workflow.clone(),
                        sum: Minute::default(),
                        failed_at: None,
                        completed_at: None,
                    });
                sum.sum.add(&one.minute);
                let at = |count: u64| (count > 0).then_some(one.at);
                sum.failed_at = sum.failed_at.max(at(one.minute.failed));
                sum.completed_at = sum.completed_at.max(at(one.minute.completed));
            }
            Ok(sums.into_values().collect())
        })
        .await
    }
}
