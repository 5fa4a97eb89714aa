//! One chunk of a job: the next things, and what becomes of each. Store trouble stops the chunk, and nothing
//! of it is passed; what is wrong with one thing is the verdict on it.

use futures_util::StreamExt as _;
use futures_util::future::join_all;
use futures_util::stream;
use refire_core::bulk::{Action, LetterWork, Verdict};
use refire_core::dead_letter::{LetterStatus, Source, Transform};
use refire_core::execution::{Cancel, Command};
use refire_core::id::{ItemId, time_ordered};
use refire_core::json::Json;
#[cfg(feature = "planted")]
use refire_core::planted::{self, Defect};
use refire_store::{
    BulkItem, BulkItemRow, BulkLetters, BulkRow, LetterRow, ReadError, Selection, Stretch, Summary,
};

use super::runner::{Chunk, Known, Step};
use super::{BulkError, BulkJobs};
use crate::commit::{Admitted, CommandError, CommitFailure};
use crate::executions::RunAgainError;
use crate::intake::{Drafted, NEWER_MAX};
use crate::letter::{LetterRetryError, LetterRetryRequest};

/// Letters that are read, or retries that are decided, at the same time.
const TOGETHER: usize = 8;

/// A thing that was looked for.
pub(super) enum Found<T> {
    There(T),
    /// It is not there any more.
    Gone(ItemId),
}

/// The next things of a job.
pub(super) struct Page<T> {
    pub(super) things: Vec<Found<T>>,
    /// The last place that was looked at.
    pub(super) cursor: Option<ItemId>,
    /// Whether nothing is behind it.
    pub(super) is_last: bool,
}

impl<T> Page<T> {
    /// Where a job stands after this.
    fn step(&self) -> Step {
        Step {
            cursor: match self.is_last {
                true => Some(ItemId::END),
                false => self.cursor,
            },
            ends: self.is_last,
            ..Step::default()
        }
    }
}

/// What came before a job was made is behind this. Ids say when: what a job itself brings about is never met.
pub(super) fn start(row: &BulkRow) -> ItemId {
    row.cursor
        .unwrap_or_else(|| match row.action.is_about_letters() {
            // Letters of the same millisecond stand in no order.
            true => ItemId::from_bytes(time_ordered(row.id.unix_ms() + 1, [0; 10])),
            false => ItemId::from_bytes(*row.id.as_bytes()),
        })
}

/// The input that a letter is retried with, if it is another one.
pub(super) fn changed_input(
    row: &LetterRow,
    transform: Option<&Transform>,
) -> Result<Option<Json>, String> {
    let source = Source {
        input: &row.input,
        failure: &row.failure,
        letter: row.id,
        workflow: row.workflow.as_str(),
        failed_at: row.failed_at,
    };
    let changed = transform.map(|transform| transform.apply(&source));
    changed.transpose().map_err(|error| error.to_string())
}

/// Those of a list that are behind a place, up to so many, and whether they are the last.
fn named(ids: &[ItemId], before: Option<ItemId>, limit: u32) -> (Vec<ItemId>, bool) {
    let behind = ids.iter().copied();
    let mut behind = behind.filter(|id| before.is_none_or(|before| *id < before));
    let some: Vec<ItemId> = behind.by_ref().take(limit as usize).collect();
    (some, behind.next().is_none())
}

/// The verdict on a thing whose commit failed; none = the store is in trouble.
fn judged(failure: CommitFailure) -> Result<Verdict, BulkError> {
    match failure {
        CommitFailure::Gone
        | CommitFailure::Damaged(_)
        | CommitFailure::Unstorable(_)
        | CommitFailure::Internal(_) => Ok(Verdict::failed(failure.to_string())),
        trouble => Err(trouble.into()),
    }
}

impl BulkJobs {
    /// The next letters of a selection.
    pub(super) async fn letters_behind(
        &self,
        selection: &Selection,
        before: Option<ItemId>,
        limit: u32,
    ) -> Result<Page<LetterRow>, ReadError> {
        let store = &self.context.store;
        match selection {
            Selection::Ids(ids) => {
                let (ids, is_last) = named(ids, before, limit);
                let cursor = ids.last().copied();
                let read = stream::iter(ids).map(|id| async move {
                    let row = store.letter(id.letter()).await?;
                    Ok::<_, ReadError>(row.map_or(Found::Gone(id), Found::There))
                });
                let things: Vec<Result<_, _>> = read.buffered(TOGETHER).collect().await;
                Ok(Page {
                    things: things.into_iter().collect::<Result<_, _>>()?,
                    cursor,
                    is_last,
                })
            }
            Selection::Letters { filter, .. } => {
                let before = before.map(ItemId::letter);
                let rows = store.letters(filter, before, limit).await?;
                Ok(Page {
                    cursor: rows.last().map(|row| row.id.into()),
                    // One that was settled since it was found is left out, so fewer rows mean nothing.
                    is_last: rows.is_empty(),
                    things: rows.into_iter().map(Found::There).collect(),
                })
            }
            Selection::Executions { .. } => Ok(Page {
                things: Vec::new(),
                cursor: None,
                is_last: true,
            }),
        }
    }

    /// The next executions of a selection.
    pub(super) async fn executions_behind(
        &self,
        selection: &Selection,
        before: Option<ItemId>,
        limit: u32,
    ) -> Result<Page<Summary>, ReadError> {
        let store = &self.context.store;
        match selection {
            Selection::Ids(ids) => {
                let (ids, is_last) = named(ids, before, limit);
                let wanted: Vec<_> = ids.iter().map(|id| id.execution()).collect();
                let rows = store.summaries(&wanted).await?;
                let found = ids.iter().zip(rows);
                let found = found.map(|(id, row)| row.map_or(Found::Gone(*id), Found::There));
                Ok(Page {
                    things: found.collect(),
                    cursor: ids.last().copied(),
                    is_last,
                })
            }
            Selection::Executions { filter, .. } => {
                let before = before.map(ItemId::execution);
                let stretch = Stretch::new(before, limit);
                let found = store.executions(filter, &stretch).await?;
                let last = found.rows.last().map(|row| row.id);
                Ok(Page {
                    cursor: found.searched_to.or(last).map(ItemId::from),
                    is_last: found.rows.is_empty() && found.searched_to.is_none(),
                    things: found.rows.into_iter().map(Found::There).collect(),
                })
            }
            Selection::Letters { .. } => Ok(Page {
                things: Vec::new(),
                cursor: None,
                is_last: true,
            }),
        }
    }

    /// Does the next things of a job.
    pub(super) async fn make(
        &self,
        row: &BulkRow,
        job: &Known,
        size: u32,
    ) -> Result<Chunk, BulkError> {
        let selection = &job.wish.selection;
        if row.action.is_about_letters() {
            let page = self
                .letters_behind(selection, Some(start(row)), size)
                .await?;
            let pending = job.wish.options.include_pending;
            return match row.action {
                Action::Delete => Ok(self.give_up(row, page, LetterWork::Delete)),
                Action::Purge => Ok(self.give_up(row, page, LetterWork::Purge { pending })),
                _ => self.retry(row, job, page).await,
            };
        }
        let page = self
            .executions_behind(selection, Some(start(row)), size)
            .await?;
        match row.action {
            Action::RunAgain => self.run_again(row, page).await,
            _ => self.steer(row, job, page).await,
        }
    }

    /// The letters are given up or removed by the step itself, which compares them.
    fn give_up(&self, row: &BulkRow, page: Page<LetterRow>, work: LetterWork) -> Chunk {
        let mut step = page.step();
        let count = page.things.len();
        let mut ids = Vec::with_capacity(count);
        for found in page.things {
            match found {
                Found::There(letter) => ids.push(letter.id),
                Found::Gone(id) => step.items.push(self.gone(id)),
            }
        }
        step.letters = (!ids.is_empty()).then(|| BulkLetters {
            ids,
            work,
            by: row.by.clone(),
        });
        Chunk { step, count }
    }

    fn gone(&self, id: ItemId) -> BulkItemRow {
        BulkItemRow::judged(id, Verdict::skipped("it is gone"), self.context.now())
    }

    async fn retry(
        &self,
        row: &BulkRow,
        job: &Known,
        page: Page<LetterRow>,
    ) -> Result<Chunk, BulkError> {
        let mut step = page.step();
        let count = page.things.len();
        let mut left = Vec::with_capacity(count);
        for found in page.things {
            match found {
                Found::There(letter) => left.push(letter),
                Found::Gone(id) => step.items.push(self.gone(id)),
            }
        }
        // Another node may save a newer definition in between: then those are decided again.
        for _ in 0..NEWER_MAX {
            let letters = std::mem::take(&mut left);
            let drafted = stream::iter(letters).map(|letter| self.draft(row, job, letter));
            let drafted: Vec<_> = drafted.buffered(TOGETHER).collect().await;
            let (mut drafts, mut of) = (Vec::new(), Vec::new());
            for drafted in drafted {
                match drafted? {
                    (letter, Ok(draft)) => {
                        drafts.push(draft);
                        of.push(letter);
                    }
                    (letter, Err(verdict)) => {
                        let now = self.context.now();
                        step.items
                            .push(BulkItemRow::judged(letter.id.into(), verdict, now));
                    }
                }
            }
            let answers = self.context.commit_late(drafts).await?;
            for (letter, answer) in of.into_iter().zip(answers) {
                match self.settled(letter.id.into(), answer)? {
                    Settled::Done(item) => step.items.extend(item),
                    Settled::Again => {
                        self.context.catalog.forget(&letter.workflow);
                        left.push(letter);
                    }
                }
            }
            if left.is_empty() {
                return Ok(Chunk { step, count });
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// A retry that is decided, or the verdict on the letter.
    async fn draft(
        &self,
        row: &BulkRow,
        job: &Known,
        letter: LetterRow,
    ) -> Result<(LetterRow, Result<Drafted, Verdict>), BulkError> {
        if letter.state.status != LetterStatus::Pending {
            let verdict = Verdict::not_pending(Some(letter.state.status));
            return Ok((letter, Err(verdict)));
        }
        let input = match changed_input(&letter, job.transform.as_ref()) {
            Ok(input) => input,
            Err(why) => return Ok((letter, Err(Verdict::failed(why)))),
        };
        let request = LetterRetryRequest {
            letter: letter.id,
            input,
            from: job.wish.options.from,
            version: None,
            retries: job.wish.options.retries,
            by: row.by.clone(),
        };
        let drafted = match self.letters.draft(&request, &letter).await {
            Ok((_, draft)) => Ok(self.for_item(draft, row, letter.id.into())),
            Err(LetterRetryError::Read(error)) => return Err(error.into()),
            Err(LetterRetryError::Commit(failure)) => Err(judged(failure)?),
            Err(LetterRetryError::NotFound) => Err(Verdict::skipped("it is gone")),
            Err(error) => Err(Verdict::failed(error.to_string())),
        };
        Ok((letter, drafted))
    }

    /// The commit of a draft has the row of the thing that it is for.
    fn for_item(&self, draft: Drafted, row: &BulkRow, item: ItemId) -> Drafted {
        #[cfg(feature = "planted")]
        if planted::is(Defect::BulkItemTwice) {
            return draft;
        }
        draft.part_of(BulkItem { job: row.id, item })
    }

    /// What the answer to a draft means for its thing.
    fn settled(
        &self,
        item: ItemId,
        answer: Result<Admitted, CommitFailure>,
    ) -> Result<Settled, BulkError> {
        let verdict = match answer {
            #[cfg(feature = "planted")]
            Ok(Admitted::New(_)) if planted::is(Defect::BulkItemTwice) => Verdict::OK,
            // Its row is in the commit that did it.
            Ok(Admitted::New(_) | Admitted::ItemDone) => return Ok(Settled::Done(None)),
            Ok(Admitted::NotNewest | Admitted::TriggerMoved | Admitted::GroupsMoved) => {
                return Ok(Settled::Again);
            }
            Ok(Admitted::LetterNotPending(status)) => Verdict::not_pending(status),
            Ok(Admitted::NoSuchWorkflow) => Verdict::failed("its workflow was deleted"),
            Ok(other @ Admitted::Duplicate { .. }) => {
                let failure = CommitFailure::unexpected("admission", &other);
                Verdict::failed(failure.to_string())
            }
            Err(failure) => judged(failure)?,
        };
        let row = BulkItemRow::judged(item, verdict, self.context.now());
        Ok(Settled::Done(Some(row)))
    }

    async fn run_again(&self, row: &BulkRow, page: Page<Summary>) -> Result<Chunk, BulkError> {
        let mut step = page.step();
        let count = page.things.len();
        let mut left = Vec::with_capacity(count);
        for found in page.things {
            match found {
                Found::There(summary) => left.push(summary.id),
                Found::Gone(id) => step.items.push(self.gone(id)),
            }
        }
        for _ in 0..NEWER_MAX {
            let (mut drafts, mut of) = (Vec::new(), Vec::new());
            for id in std::mem::take(&mut left) {
                match self.executions.draft_again(id, &row.by).await {
                    Ok(draft) => {
                        of.push((id, draft.workflow().clone()));
                        drafts.push(self.for_item(draft, row, id.into()));
                    }
                    Err(RunAgainError::Read(error)) => return Err(error.into()),
                    Err(error) => {
                        let verdict = Verdict::failed(error.to_string());
                        let now = self.context.now();
                        step.items
                            .push(BulkItemRow::judged(id.into(), verdict, now));
                    }
                }
            }
            let answers = self.context.commit_late(drafts).await?;
            for ((id, workflow), answer) in of.into_iter().zip(answers) {
                match self.settled(id.into(), answer)? {
                    Settled::Done(item) => step.items.extend(item),
                    Settled::Again => {
                        self.context.catalog.forget(&workflow);
                        left.push(id);
                    }
                }
            }
            if left.is_empty() {
                return Ok(Chunk { step, count });
            }
        }
        Err(CommitFailure::Contended.into())
    }

    /// Cancels, pauses or resumes. A crash may have it asked twice, which changes nothing then.
    async fn steer(
        &self,
        row: &BulkRow,
        job: &Known,
        page: Page<Summary>,
    ) -> Result<Chunk, BulkError> {
        let mut step = page.step();
        let count = page.things.len();
        let compensate = job.wish.options.compensate;
        let asked = page.things.into_iter().map(|found| async move {
            let id = match found {
                Found::There(summary) => summary.id,
                Found::Gone(id) => return Ok(self.gone(id)),
            };
            let by = Some(row.by.clone());
            let command = match row.action {
                Action::Cancel => Command::Cancel(Cancel {
                    compensate,
                    ..Cancel::by(by)
                }),
                Action::Pause => Command::Pause { by },
                _ => Command::Resume { by },
            };
            let verdict = match self.executions.command(id, command).await {
                Ok(_) => Verdict::OK,
                Err(CommandError::Failed(failure)) => judged(failure)?,
                Err(CommandError::NotFound) => Verdict::skipped("it is gone"),
                Err(refused) => Verdict::skipped(refused.to_string()),
            };
            Ok::<_, BulkError>(BulkItemRow::judged(id.into(), verdict, self.context.now()))
        });
        for item in join_all(asked).await {
            step.items.push(item?);
        }
        Ok(Chunk { step, count })
    }
}

/// What became of a thing.
enum Settled {
    /// Its row is written, or is this one.
    Done(Option<BulkItemRow>),
    /// It is to be decided again.
    Again,
}
