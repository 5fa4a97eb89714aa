//! Bulk jobs, and what became of what they are about.

use async_trait::async_trait;
use refire_core::bulk::{ItemOutcome, JobState};
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};

use super::page;
use crate::model::Model;
use crate::model::image::{Image, Job};
use crate::{BulkItemRow, BulkJobs, BulkRow, BulkWish, ReadError};

impl Image {
    /// What became of things of a job that are older than this one, newest first.
    pub(in crate::model) fn items_behind(
        &self,
        job: BulkId,
        before: Option<ItemId>,
    ) -> impl Iterator<Item = &BulkItemRow> {
        let all = self.bulk_items.range((job, ItemId::END)..);
        let all = all.take_while(move |((of, _), _)| *of == job);
        let mut rows: Vec<&BulkItemRow> = all.map(|(_, row)| &**row).collect();
        rows.retain(|row| before.is_none_or(|before| row.item < before));
        rows.into_iter().rev()
    }

    /// A job with all that is counted.
    fn job_counted(&self, job: &Job) -> BulkRow {
        let mut row = job.row.clone();
        for item in self.items_behind(row.id, row.cursor) {
            row.counts.add(item.outcome, 1);
        }
        row
    }
}

#[async_trait]
impl BulkJobs for Model {
    async fn bulk_job(&self, id: BulkId) -> Result<Option<BulkRow>, ReadError> {
        self.read("bulk_job", |image| {
            Ok(image.bulk_jobs.get(&id).map(|job| image.job_counted(job)))
        })
        .await
    }

    async fn bulk_wish(&self, id: BulkId) -> Result<Option<BulkWish>, ReadError> {
        self.read("bulk_wish", |image| {
            Ok(image.bulk_jobs.get(&id).map(|job| job.wish.clone()))
        })
        .await
    }

    async fn bulk_jobs(
        &self,
        states: &[JobState],
        before: Option<BulkId>,
        limit: u32,
    ) -> Result<Vec<BulkRow>, ReadError> {
        self.read("bulk_jobs", |image| {
            let jobs = image.bulk_jobs.values().rev();
            let jobs = jobs.filter(|job| before.is_none_or(|before| job.row.id < before));
            let asked =
                |job: &&std::sync::Arc<Job>| states.is_empty() || states.contains(&job.row.state);
            let jobs = jobs.filter(asked).take(page(limit));
            Ok(jobs.map(|job| image.job_counted(job)).collect())
        })
        .await
    }

    async fn bulk_items(
        &self,
        job: BulkId,
        outcomes: &[ItemOutcome],
        before: Option<ItemId>,
        limit: u32,
    ) -> Result<Vec<BulkItemRow>, ReadError> {
        self.read("bulk_items", |image| {
            let rows = image.items_behind(job, before);
            let asked = |row: &&BulkItemRow| outcomes.is_empty() || outcomes.contains(&row.outcome);
            Ok(rows.filter(asked).take(page(limit)).cloned().collect())
        })
        .await
    }

    async fn known_letters(&self, ids: &[DlqId]) -> Result<Vec<DlqId>, ReadError> {
        self.read("known_letters", |image| {
            let known = ids.iter().filter(|id| image.letters.contains_key(id));
            Ok(known.copied().collect())
        })
        .await
    }

    async fn known_executions(&self, ids: &[ExecutionId]) -> Result<Vec<ExecutionId>, ReadError> {
        self.read("known_executions", |image| {
            let known = ids.iter().filter(|id| image.executions.contains_key(id));
            Ok(known.copied().collect())
        })
        .await
    }
}
