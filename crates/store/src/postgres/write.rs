//! One commit on one connection: the stages of a batch inside one transaction.
//!
//! A batch of groups goes out as one row of statements, COMMIT included, before the first answer is
//! read. A part that stands alone, and what triggers are told of ends, wait for the answers before.
//! Either way every answer is looked at: COMMIT of a transaction that has failed answers as if all were
//! well.

mod admit;
mod advance;
mod alert;
mod breaker;
mod bulk;
mod callback;
mod catalog;
mod changes;
mod claim;
mod fire;
mod ledger;
mod letter;
pub(super) mod link;
mod minute;
mod notice;
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
use task::{Locks, Room, Touches};

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
    let rooms: Vec<Room> = stages.iter().map(Stage::room).collect();
    let mut row = Sending {
        order,
        writer: mark.writer,
        has_singles: false,
        queries: begin(mark, batch, &stages),
        unread: Vec::new(),
        outcomes: vec![None; batch.parts.len()],
    };
    for (stage, room) in stages.into_iter().zip(&rooms) {
        if let Err(failed) = row.stage(link, batch, stage, room).await {
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
    /// Whether outcomes are known before the commit that cannot be told from rows: those of parts that
    /// stand alone, other than claims, those of workers, and moves that found a task otherwise than it was
    /// seen: another move of the same batch may leave the same version.
    has_singles: bool,
    /// What is not sent yet.
    queries: Vec<Query<'a>>,
    /// The groups among it, each with the place of its first statement.
    unread: Vec<(usize, Box<Group<'a>>, &'a Room)>,
    outcomes: Vec<Option<PartOutcome>>,
}

impl<'a> Sending<'a> {
    async fn stage(
        &mut self,
        link: &mut Link,
        batch: &Batch,
        stage: Stage<'a>,
        room: &'a Room,
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
            Stage::Group(group) => self.group(link, group, room).await?,
        }
        Ok(())
    }

    async fn group(
        &mut self,
        link: &mut Link,
        mut group: Box<Group<'a>>,
        room: &'a Room,
    ) -> Result<(), Failed> {
        let mut place = self.queries.len();
        self.queries.extend(group.first(link, self.order, room));
        if group.asks_tasks() {
            let answers = self.send(link).await?;
            let mut own = answers.into_iter().skip(place);
            group.read_first(link, self.order, room, &mut own, &mut self.outcomes)?;
            let is_refused = |outcome: &_| matches!(outcome, Some(PartOutcome::Conflict));
            self.has_singles |= self.outcomes.iter().any(is_refused);
            place = self.queries.len();
        }
        self.queries.extend(group.second(link, self.order, room));
        let (touches, locks) = group.take_last();
        let has_ends = group.has_ends();
        self.unread.push((place, group, room));
        if has_ends {
            self.send(link).await?;
        }
        self.last(link, touches, locks, room).await
    }

    /// Words of workers, and workers that wait: their rows are read, changed by what all backends share,
    /// and written with what comes next.
    async fn last(
        &mut self,
        link: &mut Link,
        touches: Touches<'a>,
        locks: Locks<'a>,
        room: &'a Room,
    ) -> Result<(), Failed> {
        self.has_singles |= !touches.is_empty() || !locks.is_empty();
        if !touches.is_empty() {
            self.queries.push(touches.look());
            let rows = self.send(link).await?.pop().unwrap_or_default();
            let put = touches.put(&rows, self.order, room, &mut self.outcomes)?;
            self.queries.extend(put);
        }
        locks.begin(&mut self.outcomes);
        for number in 0..locks.looks() {
            self.queries.push(locks.look(number, self.order));
            let rows = self.send(link).await?.pop().unwrap_or_default();
            let put = locks.put(number, &rows, self.order, room, &mut self.outcomes)?;
            self.queries.extend(put);
        }
        Ok(())
    }

    /// Sends what is not sent yet, and reads the answers; those that no group has taken are left.
    async fn send(&mut self, link: &mut Link) -> Result<Vec<Vec<Row>>, Failed> {
        let queries = std::mem::take(&mut self.queries);
        link.prepare(&queries).await?;
        let answers = match link.send(&queries).await {
            Sent::All(answers) => answers.into_iter().collect::<Result<_, _>>()?,
            Sent::NotTheLast(error) => return Err(error.into()),
        };
        self.read(link, answers)
    }

    fn read(&mut self, link: &Link, mut answers: Vec<Vec<Row>>) -> Result<Vec<Vec<Row>>, Failed> {
        for (first, mut group, room) in std::mem::take(&mut self.unread) {
            let mut own = answers.iter_mut().skip(first).map(std::mem::take);
            let left = group.read(link, self.order, room, &mut own, &mut self.outcomes)?;
            self.queries.extend(left);
        }
        Ok(answers)
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
                Ok(_) => told(self.outcomes),
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
