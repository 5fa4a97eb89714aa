//! Bulk jobs: made, steered, and moved on by what became of the things that they are about.
//!
//! A step locks its job's row first, so that two nodes never move the same one at once. What new executions
//! are for is taken before anything else is written of them: who comes second finds it taken.

use refire_core::bulk::{Counts, ItemOutcome, JobState, LetterEnd};
use refire_core::id::{BulkId, DlqId, ExecutionId, ItemId};
use refire_core::time::Timestamp;
use tokio_postgres::Row;

use super::link::{Link, Query, values};
use super::{Failed, Order, letter, prune};
use crate::column::read_at;
use crate::postgres::columns::signed;
use crate::table::column::Id;
use crate::table::rows::{BulkItems, NewBulks};
use crate::table::statement::statements;
use crate::{BulkItem, BulkItemRow, BulkLetters, BulkPart, BulkStep, NewBulk, PartOutcome};

statements! {
    CREATE: postgres(jobs: NewBulks) =
        "INSERT INTO bulk_jobs ({jobs.names}) SELECT * FROM {jobs}
     ON CONFLICT (id) DO NOTHING RETURNING id";

    KEEP: postgres(items: BulkItems) =
        "INSERT INTO bulk_items ({items.names}) SELECT * FROM {items}
     ORDER BY given.job, given.item ON CONFLICT DO NOTHING RETURNING item";
}

const LOCK: &str = "SELECT state FROM bulk_jobs WHERE id = $1 AND rev = $2 FOR NO KEY UPDATE";

const CHANGE: &str =
    "UPDATE bulk_jobs SET state = $3, rev = rev + 1, updated_at = $4, ended_at = $5
     WHERE id = $1 AND rev = $2 AND ended_at IS NULL RETURNING id";

/// Those behind the cursor, down to another one.
const COUNTED: &str = "SELECT item.outcome, count(*) FROM bulk_jobs AS job JOIN bulk_items AS item
         ON item.job = job.id
     WHERE job.id = $1 AND item.job = $1 AND item.item >= $2
       AND (job.cursor IS NULL OR item.item < job.cursor) GROUP BY item.outcome";

const MOVE: &str = "UPDATE bulk_jobs SET cursor = $2, ok = ok + $3, failed = failed + $4,
         skipped = skipped + $5, updated_at = greatest(updated_at, $6)
     WHERE id = $1";

const DROP_ITEM: &str = "DELETE FROM bulk_items WHERE job = $1 AND item = $2";

const ITEMS: &str = "SELECT item FROM bulk_items WHERE job = $1 AND item = ANY($2::uuid[])";

/// The job that ended first and has rows of things.
const OVER: &str = "SELECT id FROM bulk_jobs AS job WHERE ended_at < $1
       AND EXISTS (SELECT 1 FROM bulk_items AS item WHERE item.job = job.id)
     ORDER BY ended_at, id LIMIT 1 FOR UPDATE";

const REMOVE_ITEMS: &str = "WITH old AS MATERIALIZED (
        SELECT item FROM bulk_items WHERE job = $1 ORDER BY item DESC LIMIT $2
     )
     DELETE FROM bulk_items USING old
      WHERE bulk_items.job = $1 AND bulk_items.item = old.item
     RETURNING 1";

const REMOVE_JOBS: &str = "WITH old AS MATERIALIZED (
        SELECT id FROM bulk_jobs AS job WHERE ended_at < $1
           AND NOT EXISTS (SELECT 1 FROM bulk_items AS item WHERE item.job = job.id)
         ORDER BY ended_at, id LIMIT $2 FOR UPDATE SKIP LOCKED
     )
     DELETE FROM bulk_jobs USING old WHERE bulk_jobs.id = old.id RETURNING 1";

pub(super) async fn write(
    link: &mut Link,
    order: &Order,
    part: &BulkPart,
) -> Result<PartOutcome, Failed> {
    match part {
        BulkPart::Create(new) => create(link, order, new).await,
        BulkPart::Change { id, rev, state } => change(link, order, *id, *rev, *state).await,
        BulkPart::Step(part) => step(link, order, part).await,
    }
}

/// Also for what carries a job with it.
pub(super) async fn create(
    link: &mut Link,
    order: &Order,
    new: &NewBulk,
) -> Result<PartOutcome, Failed> {
    let mut jobs = NewBulks::default();
    jobs.push(new, order.now);
    let made = link.ask(Query::new(&CREATE, jobs.values())).await?;
    Ok(match made.is_empty() {
        true => PartOutcome::Conflict,
        false => PartOutcome::Done,
    })
}

async fn change(
    link: &mut Link,
    order: &Order,
    id: BulkId,
    rev: u64,
    state: JobState,
) -> Result<PartOutcome, Failed> {
    let now = order.now.as_micros();
    let ended = state.is_over().then_some(now);
    let values = values![Id::from(id), signed(rev), state as i16, now, ended];
    let changed = link.ask(Query::new(CHANGE, values)).await?;
    Ok(PartOutcome::Touched(!changed.is_empty()))
}

async fn step(link: &mut Link, order: &Order, step: &BulkStep) -> Result<PartOutcome, Failed> {
    let lock = Query::new(LOCK, values![Id::from(step.job), signed(step.rev)]);
    let found = link.ask(lock).await?;
    let state: Option<JobState> = found.first().map(|row| read_at(row, 0)).transpose()?;
    if state != Some(JobState::Running) {
        return Ok(PartOutcome::Touched(false));
    }
    keep(link, step.job, &step.items).await?;
    if let Some(letters) = &step.letters {
        change_letters(link, order, step.job, letters).await?;
    }
    if let Some(cursor) = step.cursor {
        count(link, order, step.job, cursor).await?;
    }
    let state = match step.ends {
        true => JobState::Completed,
        false => JobState::Running,
    };
    change(link, order, step.job, step.rev, state).await
}

async fn keep(link: &mut Link, job: BulkId, rows: &[BulkItemRow]) -> Result<(), Failed> {
    if rows.is_empty() {
        return Ok(());
    }
    let mut items = BulkItems::default();
    rows.iter().for_each(|row| items.push(job, row));
    link.ask(Query::new(&KEEP, items.values())).await?;
    Ok(())
}

async fn change_letters(
    link: &mut Link,
    order: &Order,
    job: BulkId,
    letters: &BulkLetters,
) -> Result<(), Failed> {
    let ids: Vec<Id> = letters.ids.iter().copied().map(Id::from).collect();
    let kept = link
        .ask(Query::new(ITEMS, values![Id::from(job), ids]))
        .await?;
    let kept: Vec<ItemId> = kept
        .iter()
        .map(|row| read_at(row, 0))
        .collect::<Result<_, _>>()?;
    let (mut rows, mut gone): (Vec<BulkItemRow>, Vec<DlqId>) = (Vec::new(), Vec::new());
    for id in &letters.ids {
        if kept.contains(&ItemId::from(*id)) {
            continue;
        }
        let state = letter::state(link, *id).await?;
        let (end, verdict) = letters.work.on(state, &letters.by, order.now);
        match end {
            Some(LetterEnd::Stays(state)) => letter::put_state(link, order, *id, &state).await?,
            Some(LetterEnd::Goes) => gone.push(*id),
            None => {}
        }
        rows.push(BulkItemRow::judged((*id).into(), verdict, order.now));
    }
    prune::purge(link, order, &gone).await?;
    keep(link, job, &rows).await
}

/// Takes what an execution is for; false if it has been done.
pub(super) async fn take(
    link: &mut Link,
    order: &Order,
    item: BulkItem,
    execution: ExecutionId,
) -> Result<bool, Failed> {
    let row = item.done(execution, order.now);
    let mut items = BulkItems::default();
    items.push(item.job, &row);
    let taken = link.ask(Query::new(&KEEP, items.values())).await?;
    Ok(!taken.is_empty())
}

/// The execution is refused for another reason.
pub(super) async fn give_back(link: &mut Link, item: BulkItem) -> Result<(), Failed> {
    let values = values![Id::from(item.job), Id::from(item.item)];
    link.ask(Query::new(DROP_ITEM, values)).await?;
    Ok(())
}

/// Moves a job's cursor, and counts what it passes.
async fn count(link: &mut Link, order: &Order, job: BulkId, cursor: ItemId) -> Result<(), Failed> {
    let values = values![Id::from(job), Id::from(cursor)];
    let rows = link.ask(Query::new(COUNTED, values)).await?;
    let mut counts = Counts::default();
    for row in &rows {
        let (outcome, count): (ItemOutcome, u64) = read_at(row, 0)?;
        counts.add(outcome, count);
    }
    let values = values![
        Id::from(job),
        Id::from(cursor),
        signed(counts.ok),
        signed(counts.failed),
        signed(counts.skipped),
        order.now.as_micros()
    ];
    link.ask(Query::new(MOVE, values)).await?;
    Ok(())
}

/// One job after the other: its things are counted, and go.
pub(super) async fn prune_items(
    link: &mut Link,
    order: &Order,
    before: Timestamp,
    limit: usize,
) -> Result<usize, Failed> {
    let mut removed = 0;
    while removed < limit {
        let over = link
            .ask(Query::new(OVER, values![before.as_micros()]))
            .await?;
        let Some(job) = over.first().map(|row: &Row| read_at(row, 0)).transpose()? else {
            break;
        };
        count(link, order, job, ItemId::END).await?;
        let left = signed((limit - removed) as u64);
        let values = values![Id::from(job), left];
        removed += link.ask(Query::new(REMOVE_ITEMS, values)).await?.len();
    }
    Ok(removed)
}

pub(super) async fn prune_jobs(
    link: &mut Link,
    before: Timestamp,
    limit: u32,
) -> Result<usize, Failed> {
    let values = values![before.as_micros(), i64::from(limit)];
    Ok(link.ask(Query::new(REMOVE_JOBS, values)).await?.len())
}
