//! Bulk jobs: made and steered.

use refire_core::bulk::{Action, JobChange};
use refire_core::dead_letter::LetterStatus;
use refire_core::id::{BulkId, ItemId};
use refire_engine::bulk::{BulkError, BulkRequest};
use refire_store::{BulkOptions, BulkWish, LetterFilter, Selection};

use super::Clients;
use crate::mark::Mark;
use crate::plan::BulkDeed;
use crate::world::Violation;

impl Clients {
    /// Somebody does something with bulk jobs.
    pub(super) fn in_bulk(&self, deed: BulkDeed) {
        match deed {
            BulkDeed::Make {
                action,
                rate,
                people,
                named,
            } => {
                for _ in 0..people {
                    let people = self.elsewhere();
                    let doing = people.doing.clone();
                    doing.spawn(async move { people.make_job(action, rate, named).await });
                }
            }
            BulkDeed::Change { which, change } => {
                if let Some(id) = self.job(which) {
                    let people = self.clone();
                    self.doing
                        .spawn(async move { people.change_job(id, change).await });
                }
            }
        }
    }

    fn job(&self, which: u64) -> Option<BulkId> {
        self.life.world.disk.look(|image| {
            let index = which % image.bulk_jobs.len().max(1) as u64;
            let index = usize::try_from(index).unwrap_or(0);
            image.bulk_jobs.keys().nth(index).copied()
        })
    }

    /// What somebody names, or what waits.
    fn about(&self, named: Option<usize>) -> Selection {
        let Some(named) = named else {
            return Selection::Letters {
                filter: LetterFilter {
                    statuses: vec![LetterStatus::Pending],
                    ..LetterFilter::default()
                },
                asked: Vec::new(),
            };
        };
        let disk = &self.life.world.disk;
        let ids: Vec<ItemId> = disk.look(|image| {
            let ids = image.letters.keys().rev().take(named);
            ids.map(|id| (*id).into()).collect()
        });
        Selection::of(ids)
    }

    async fn make_job(&self, action: Action, rate: u32, named: Option<usize>) {
        let life = &self.life;
        let by = life.with(|inside| {
            inside.ledger.jobs += 1;
            format!("job {}", inside.ledger.jobs)
        });
        life.say(&format!("somebody makes {by}: {}", action.name()));
        let wish = BulkWish {
            selection: self.about(named),
            options: BulkOptions::default(),
        };
        let request = BulkRequest {
            action,
            wish,
            rate,
            by: by.clone(),
        };
        let answer = self.engine.bulk().create(request).await;
        life.alive().await;
        match answer {
            Ok(id) => life.check(|inside| {
                inside.marks.reach(Mark::JobMade);
                let is_there = life
                    .world
                    .disk
                    .look(|image| image.bulk_jobs.contains_key(&id));
                match is_there {
                    true => Ok(()),
                    false => Err(Violation::new("no answer before it is durable", by)),
                }
            }),
            Err(BulkError::Commit(failure)) => {
                self.failed(&failure);
            }
            Err(_) => {}
        }
    }

    async fn change_job(&self, id: BulkId, change: JobChange) {
        self.life
            .say(&format!("somebody wants {id} to {}", change.name()));
        let answer = self.engine.bulk().change(id, change).await;
        self.life.alive().await;
        match answer {
            Ok(_) => self
                .life
                .with(|inside| inside.marks.reach(Mark::JobSteered)),
            Err(BulkError::Commit(failure)) => {
                self.failed(&failure);
            }
            Err(_) => {}
        }
    }

    /// Jobs that somebody paused and forgot go on.
    pub(crate) async fn resume_jobs(&self) {
        let paused: Vec<BulkId> = self.life.world.disk.look(|image| {
            let jobs = image.bulk_jobs.values();
            let paused = jobs.filter(|job| job.row.state == refire_core::bulk::JobState::Paused);
            paused.map(|job| job.row.id).collect()
        });
        for id in paused {
            self.change_job(id, JobChange::Resume).await;
        }
    }
}
