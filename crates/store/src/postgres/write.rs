//! One commit on one connection: the stages of a batch inside one transaction.
//!
//! A batch of groups goes out as one row of statements, COMMIT included, before the first answer is
//! read. A part that stands alone, and what triggers are told of ends, wait for the answers before.
//! Either way every answer is looked at: COMMIT of a transaction that has failed answers as if all were
//! well.

mod admit;
mod advance;
mod callback;
mod catalog;
mod changes;
mod claim;
mod fire;
mod ledger;
mod letter;
pub(super) mod link;
mod prune;
mod request;
pub(super) mod resolve;
mod scheduled;
mod session;
mod single;
mod stage;
mod task;
mod trigger;
mod work;
mod worker;

use std::collections::BTreeMap;

use refire_core::definition::WorkflowId;
use refire_core::time::Timestamp;
use tokio_postgres::Row;
use uuid::Uuid;

use super::columns::uuid;
use crate::{Batch, Part, PartOutcome, ReadError};
use link::{Link, Query, Sent, values};
use stage::{Group, Stage};

const BEGIN: &str = "BEGIN";
const COMMIT: &str = "COMMIT";
const BEGIN_COMMIT: &str = "SELECT begin_commit($1, $2, $3, $4, $5)";

/// What every part of a commit is written with.
pub(super) struct Order {
    pub(super) commit: Uuid,
    pub(super) now: Timestamp,
    /// Where this connection counts letters.
    pub(super) shard: i16,
}

/// The number of a commit among those of its connection, by which it is found if its answer is lost.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mark {
    pub(super) writer: Uuid,
    pub(super) serial: i64,
}

/// A statement that failed, or an answer that makes no sense.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failed {
    /// The server refused, or could not be reached.
    #[error(transparent)]
    Database(#[from] tokio_postgres::Error),
    /// A row cannot be read, or there was no answer.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Failed {
    /// A statement that always has a row had none.
    fn no_row() -> Self {
        Self::Read(ReadError::Corrupt {
            what: "an answer".to_owned(),
            source: "a row is missing".into(),
        })
    }

    /// Nothing came back.
    pub(super) fn silence() -> Self {
        Self::Read(ReadError::Unavailable("the database is silent".into()))
    }
}

/// How a transaction ended.
pub(super) enum Ended {
    /// Durable.
    Committed(Vec<PartOutcome>),
    /// Certainly nothing was written.
    NotWritten(Failed),
    /// COMMIT was sent, but its answer is missing.
    Lost(Failed),
    /// Durable, but the answers cannot be read.
    Unreadable(Failed),
}

/// Writes a batch.
pub(super) async fn write(link: &mut Link, order: &Order, mark: Mark, batch: &Batch) -> Ended {
    if let Err(error) = link.learn(workflows(batch)).await {
        return Ended::NotWritten(error.into());
    }
    let stages = stage::stages(batch);
    let mut row = Sending {
        order,
        writer: mark.writer,
        has_singles: false,
        queries: begin(mark, batch, &stages),
        unread: Vec::new(),
        outcomes: vec![None; batch.parts.len()],
    };
    for stage in stages {
        if let Err(failed) = row.stage(link, batch, stage).await {
            link.roll_back().await;
            return Ended::NotWritten(failed);
        }
    }
    row.commit(link).await
}

/// How a transaction begins, whatever is written in it.
fn begin<'a>(mark: Mark, batch: &'a Batch, stages: &[Stage<'_>]) -> Vec<Query<'a>> {
    let node = batch.lease.as_ref().map(|node| uuid(node.as_bytes()));
    let (names, alone): (Vec<i32>, Vec<bool>) = locks(batch).into_iter().unzip();
    let mut queries = vec![
        Query::new(BEGIN, Vec::new()),
        Query::new(
            BEGIN_COMMIT,
            values![node, mark.writer, mark.serial, names, alone],
        ),
    ];
    let is_one_group = matches!(stages, [Stage::Group(_)]);
    queries.extend(trigger::lock(batch, is_one_group));
    queries.extend(task::locks(batch));
    queries
}

/// A transaction while it is sent: as much as possible before the first answer is read.
struct Sending<'a> {
    order: &'a Order,
    /// Whose commit it is.
    writer: Uuid,
    /// Whether a part stands alone, other than a claim.
    has_singles: bool,
    /// What is not sent yet.
    queries: Vec<Query<'a>>,
    /// The groups among it, each with the place of its first statement.
    unread: Vec<(usize, Box<Group<'a>>)>,
    outcomes: Vec<Option<PartOutcome>>,
}

impl<'a> Sending<'a> {
    async fn stage(
        &mut self,
        link: &mut Link,
        batch: &Batch,
        stage: Stage<'a>,
    ) -> Result<(), Failed> {
        match stage {
            Stage::Single(place, part) => {
                self.send(link).await?;
                let outcome = single::write(link, self.order, place, part).await?;
                self.has_singles |= !matches!(part, Part::Claim(_));
                self.outcomes[place] = Some(outcome);
                if matches!(part, Part::PutWorkflow(_)) {
                    // What is known only here must be forgotten if the commit fails.
                    link.learn_for_now(workflows(batch)).await?;
                }
            }
            Stage::Group(mut group) => {
                let queries = group.queries(link, self.order);
                let has_ends = group.has_ends();
                self.unread.push((self.queries.len(), group));
                self.queries.extend(queries);
                if has_ends {
                    self.send(link).await?;
                }
            }
        }
        Ok(())
    }

    /// Sends what is not sent yet, and reads the answers.
    async fn send(&mut self, link: &mut Link) -> Result<(), Failed> {
        let queries = std::mem::take(&mut self.queries);
        link.prepare(&queries).await?;
        let answers = match link.send(&queries).await {
            Sent::All(answers) => answers.into_iter().collect::<Result<_, _>>()?,
            Sent::NotTheLast(error) => return Err(error.into()),
        };
        self.read(link, answers)
    }

    fn read(&mut self, link: &Link, mut answers: Vec<Vec<Row>>) -> Result<(), Failed> {
        for (first, group) in std::mem::take(&mut self.unread) {
            let mut own = answers.iter_mut().skip(first).map(std::mem::take);
            let left = group.read(link, self.order, &mut own, &mut self.outcomes)?;
            self.queries.extend(left);
        }
        Ok(())
    }

    /// COMMIT goes with what is not sent yet.
    async fn commit(mut self, link: &mut Link) -> Ended {
        if self.has_singles {
            self.queries
                .push(resolve::keep(self.writer, &self.outcomes));
        }
        self.queries.push(Query::new(COMMIT, Vec::new()));
        if let Err(error) = link.prepare(&self.queries).await {
            link.roll_back().await;
            return Ended::NotWritten(error.into());
        }
        let answers = match link.send(&self.queries).await {
            Sent::All(answers) => answers,
            Sent::NotTheLast(error) => {
                link.roll_back().await;
                return Ended::NotWritten(error.into());
            }
        };
        match judge(answers) {
            Ok(answers) => match self.read(link, answers) {
                Ok(()) => told(self.outcomes),
                Err(error) => Ended::Unreadable(error),
            },
            Err(ended) => *ended,
        }
    }
}

/// A statement that the server refused takes the transaction with it, whatever COMMIT answers. A
/// silence says nothing, and neither does a refused COMMIT.
fn judge(
    answers: Vec<Result<Vec<Row>, tokio_postgres::Error>>,
) -> Result<Vec<Vec<Row>>, Box<Ended>> {
    let last = answers.len().saturating_sub(1);
    let mut rows = Vec::with_capacity(answers.len());
    for (place, answer) in answers.into_iter().enumerate() {
        match answer {
            Ok(answer) => rows.push(answer),
            Err(error) if error.code().is_some() && place < last => {
                return Err(Box::new(Ended::NotWritten(error.into())));
            }
            Err(error) => return Err(Box::new(Ended::Lost(error.into()))),
        }
    }
    Ok(rows)
}

/// Every part has an outcome.
fn told(outcomes: Vec<Option<PartOutcome>>) -> Ended {
    match outcomes.into_iter().collect() {
        Some(outcomes) => Ended::Committed(outcomes),
        None => Ended::Unreadable(Failed::no_row()),
    }
}

/// The workflows that a batch names.
fn workflows(batch: &Batch) -> impl Iterator<Item = &WorkflowId> {
    batch.parts.iter().flat_map(|part| part.about().workflows())
}

/// The locks of workflows that a batch takes, in their order, and whether it must be alone. Two
/// workflows may share a lock: they wait for each other without need, and no harm is done.
fn locks(batch: &Batch) -> BTreeMap<i32, bool> {
    let mut locks = BTreeMap::new();
    let needed = batch.parts.iter().filter_map(|part| part.about().lock);
    for (workflow, alone) in needed {
        *locks.entry(lock_name(workflow)).or_default() |= alone;
    }
    locks
}

/// The name of a workflow's lock, the same on every node.
fn lock_name(workflow: &WorkflowId) -> i32 {
    crc32fast::hash(workflow.as_str().as_bytes()).cast_signed()
}
