//! What a job would do: how many things it is about, and what would become of a few of them.

use refire_core::bulk::{Action, LetterEnd, LetterWork};
use refire_core::dead_letter::{LetterStatus, Transform};
use refire_core::execution::Status;
use refire_core::id::ItemId;
use refire_core::json::Json;
use refire_store::{COUNTED_MAX, LetterRow, ReadError, Selection, Summary};

use super::item::{Found, changed_input};
use super::{BulkError, BulkJobs, BulkRequest, transform};

/// Things that are shown.
const SAMPLES_MAX: u32 = 10;

/// What a job would do.
#[derive(Debug, Clone)]
pub struct Preview {
    /// How many things it is about.
    pub count: u64,
    /// Whether there may be more.
    pub at_least: bool,
    /// Some of them, the newest.
    pub samples: Vec<Sample>,
}

/// One of the things.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Which.
    pub id: ItemId,
    /// What it is: the input of a letter to be retried, else a status.
    pub before: Json,
    /// What it would be, or why it would not.
    pub after: Result<Json, String>,
}

/// How many things there are.
pub(super) struct Total {
    pub(super) count: u64,
    pub(super) is_exact: bool,
}

impl BulkJobs {
    /// What a job would do. Nothing is written.
    pub async fn preview(&self, request: &BulkRequest) -> Result<Preview, BulkError> {
        let transform = transform(&request.wish)?;
        self.check_ids(request).await?;
        let total = self.count(request).await?;
        let wish = &request.wish;
        let samples = match request.action.is_about_letters() {
            true => {
                let found = self.letters_behind(&wish.selection, None, SAMPLES_MAX);
                let rows = found.await?.things;
                let sample = |found| self.letter_sample(found, request, transform.as_ref());
                rows.into_iter().map(sample).collect()
            }
            false => {
                let found = self.executions_behind(&wish.selection, None, SAMPLES_MAX);
                let rows = found.await?.things;
                let sample = |found| execution_sample(found, request.action);
                rows.into_iter().map(sample).collect()
            }
        };
        Ok(Preview {
            count: total.count,
            at_least: !total.is_exact,
            samples,
        })
    }

    /// How many things a job is about.
    pub(super) async fn count(&self, request: &BulkRequest) -> Result<Total, ReadError> {
        let store = &self.context.store;
        Ok(match &request.wish.selection {
            Selection::Ids(ids) => Total {
                count: ids.len() as u64,
                is_exact: true,
            },
            Selection::Letters { filter, .. } => Total {
                count: store.letter_summary(filter).await?.count,
                is_exact: true,
            },
            Selection::Executions { filter, .. } => {
                let counted = store.count_executions(filter, COUNTED_MAX).await?;
                Total {
                    count: counted.total(),
                    is_exact: counted.is_exact,
                }
            }
        })
    }

    fn letter_sample(
        &self,
        found: Found<LetterRow>,
        request: &BulkRequest,
        transform: Option<&Transform>,
    ) -> Sample {
        let row = match found {
            Found::There(row) => row,
            Found::Gone(id) => return gone(id),
        };
        let status = row.state.status;
        let word = |status: LetterStatus| Json::string(status.name());
        let (before, after) = match request.action {
            Action::Delete => {
                let (end, verdict) = LetterWork::Delete.on(Some(row.state), "", self.context.now());
                let after = match end {
                    Some(LetterEnd::Stays(state)) => Ok(word(state.status)),
                    _ => Err(verdict.detail.unwrap_or_default()),
                };
                (word(status), after)
            }
            Action::Purge => {
                let pending = request.wish.options.include_pending;
                let work = LetterWork::Purge { pending };
                let (end, verdict) = work.on(Some(row.state), "", self.context.now());
                let after = match end {
                    Some(_) => Ok(Json::null()),
                    None => Err(verdict.detail.unwrap_or_default()),
                };
                (word(status), after)
            }
            _ => {
                let after = changed_input(&row, transform);
                let after = after.map(|changed| changed.unwrap_or_else(|| row.input.clone()));
                let after = match status {
                    LetterStatus::Pending if row.workflow_deleted => {
                        Err("its workflow was deleted".to_owned())
                    }
                    LetterStatus::Pending => after,
                    other => Err(format!("it is {}, not pending", other.name())),
                };
                return Sample {
                    id: row.id.into(),
                    before: row.input,
                    after,
                };
            }
        };
        Sample {
            id: row.id.into(),
            before,
            after,
        }
    }
}

fn execution_sample(found: Found<Summary>, action: Action) -> Sample {
    let row = match found {
        Found::There(row) => row,
        Found::Gone(id) => return gone(id),
    };
    let status = row.status();
    let after = match (action, status) {
        (Action::RunAgain, _) => Ok("pending"),
        (Action::Cancel, status) if !status.is_terminal() => Ok("cancelled"),
        (Action::Pause, Status::Paused) => Err("it is paused already".to_owned()),
        (Action::Pause, status) if !status.is_terminal() => Ok("paused"),
        (Action::Resume, Status::Paused) => Ok("pending"),
        (Action::Resume, _) => Err(format!("it is {}, not paused", status.name())),
        (_, status) => Err(format!("it is {} already", status.name())),
    };
    Sample {
        id: row.id.into(),
        before: Json::string(status.name()),
        after: after.map(Json::string),
    }
}

fn gone(id: ItemId) -> Sample {
    Sample {
        id,
        before: Json::null(),
        after: Err("it is gone".to_owned()),
    }
}
