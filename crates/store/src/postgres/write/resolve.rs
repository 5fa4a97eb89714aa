//! A commit whose answer was lost, but which is there: what became of its parts is read from what
//! they left.

use refire_core::id::ExecutionId;

use super::link::{Link, Query, values};
use super::{Failed, Mark, Order, claim, letter, single};
use crate::checksum;
use crate::postgres::columns::{get, signed, signed_small, small, uuid};
use crate::{Admit, Advance, Batch, Begin, Part, PartOutcome, Prune, PutWorkflow};

const FENCE: &str = "SELECT fence_commit($1, $2)";

const EVENT: &str = "SELECT 1 FROM workflow_events
     WHERE execution = $1 AND sequence = $2 AND crc = $3";

const LAST_COMMIT: &str = "SELECT 1 FROM executions WHERE id = $1 AND commit_id = $2";

const BEGUN: &str = "SELECT 1 FROM work
     WHERE execution = $1 AND step = $2 AND attempt = $3 AND owner = $4 AND begun";

const LETTER_DELETED: &str = "SELECT 1 FROM dead_letter_queue
     WHERE id = $1 AND status = 'deleted' AND deleted_at = $2 AND deleted_by = $3";

const SAVED: &str = "SELECT versions.version, versions.created_at
      FROM workflows JOIN workflow_versions AS versions ON versions.workflow = workflows.key
     WHERE workflows.ns = 1 AND workflows.id = $1 AND versions.content_hash = $2
     ORDER BY versions.version DESC LIMIT 1";

const WORKFLOW_DELETED: &str =
    "SELECT 1 FROM workflows WHERE ns = 1 AND id = $1 AND deleted_at = $2";

/// Tells the outcomes of a batch that is known to be written.
pub(in crate::postgres) async fn outcomes(
    link: &mut Link,
    order: &Order,
    batch: &Batch,
) -> Result<Vec<PartOutcome>, Failed> {
    link.learn(super::workflows(batch)).await?;
    let mut outcomes = Vec::with_capacity(batch.parts.len());
    for (place, part) in batch.parts.iter().enumerate() {
        outcomes.push(outcome(link, order, place, part).await?);
    }
    Ok(outcomes)
}

async fn outcome(
    link: &mut Link,
    order: &Order,
    place: usize,
    part: &Part,
) -> Result<PartOutcome, Failed> {
    Ok(match part {
        Part::Admit(part) => admitted(link, order, part).await?,
        Part::Advance(part) => advanced(link, order, part).await?,
        Part::Claim(part) => {
            let mut rows = claim::claimed_before(link, order, place, part.node).await?;
            claim::sort_by_wants(&mut rows, &part.wants);
            PartOutcome::Claimed(rows)
        }
        Part::ClaimTimers(part) => {
            let mut rows = claim::claimed_before(link, order, place, part.node).await?;
            claim::sort_by_time(&mut rows);
            PartOutcome::Claimed(rows)
        }
        Part::Begin(part) => begun(link, part).await?,
        Part::Release(_) => PartOutcome::Done,
        Part::DeleteLetter { id, by } => {
            let now = order.now.as_micros();
            let values = values![uuid(id.as_bytes()), now, by.as_bytes()];
            if has_row(link, Query::new(LETTER_DELETED, values)).await? {
                PartOutcome::Done
            } else {
                letter::not_pending(letter::standing(link, *id).await?)
            }
        }
        Part::PutWorkflow(part) => saved(link, order, part).await?,
        Part::DeleteWorkflow { id } => {
            let values = values![id.as_str(), order.now.as_micros()];
            if has_row(link, Query::new(WORKFLOW_DELETED, values)).await? {
                PartOutcome::Done
            } else {
                super::catalog::refuse_deletion(link, id).await?
            }
        }
        Part::Prune(part) => again(part),
    })
}

async fn has_row(link: &mut Link, query: Query<'_>) -> Result<bool, Failed> {
    Ok(!link.ask(query).await?.is_empty())
}

/// Whether an execution has this very event.
async fn has_event(
    link: &mut Link,
    id: ExecutionId,
    event: &refire_core::execution::EventRow,
) -> Result<bool, Failed> {
    let values = values![
        uuid(id.as_bytes()),
        signed(event.sequence),
        i64::from(checksum::event(id, event)),
    ];
    has_row(link, Query::new(EVENT, values)).await
}

async fn has_last_commit(link: &mut Link, order: &Order, id: ExecutionId) -> Result<bool, Failed> {
    let values = values![uuid(id.as_bytes()), order.commit];
    has_row(link, Query::new(LAST_COMMIT, values)).await
}

async fn admitted(link: &mut Link, order: &Order, admit: &Admit) -> Result<PartOutcome, Failed> {
    let is_there = match admit.events.first() {
        Some(event) => has_event(link, admit.row.id, event).await?,
        None => has_last_commit(link, order, admit.row.id).await?,
    };
    if is_there {
        return Ok(PartOutcome::Done);
    }
    if let Some(refused) = single::refuse(link, order, admit).await? {
        return Ok(refused);
    }
    if let Some(retry) = &admit.letter
        && let Some(refused) = letter::refuse_retry(link, retry).await?
    {
        return Ok(refused);
    }
    Ok(PartOutcome::Conflict)
}

async fn advanced(
    link: &mut Link,
    order: &Order,
    advance: &Advance,
) -> Result<PartOutcome, Failed> {
    let is_there = match advance.events.last() {
        Some(event) => has_event(link, advance.id, event).await?,
        None => has_last_commit(link, order, advance.id).await?,
    };
    Ok(if is_there {
        PartOutcome::Done
    } else {
        PartOutcome::Conflict
    })
}

async fn begun(link: &mut Link, begin: &Begin) -> Result<PartOutcome, Failed> {
    let mut told = Vec::with_capacity(begin.work.len());
    for (key, attempt) in &begin.work {
        let values = values![
            uuid(key.execution.as_bytes()),
            key.step.as_str(),
            signed_small(*attempt),
            uuid(begin.node.as_bytes()),
        ];
        told.push(has_row(link, Query::new(BEGUN, values)).await?);
    }
    Ok(PartOutcome::Begun(told))
}

async fn saved(link: &mut Link, order: &Order, put: &PutWorkflow) -> Result<PartOutcome, Failed> {
    let values = values![put.id.as_str(), &put.content_hash[..]];
    let rows = link.ask(Query::new(SAVED, values)).await?;
    let row = rows.first().ok_or_else(Failed::no_row)?;
    Ok(PartOutcome::Saved {
        version: small(row, 0)?,
        created: get::<i64>(row, 1)? == order.now.as_micros(),
    })
}

/// How much a chunk of retention has removed is not known any more; going on from where it began
/// finds nothing there, and goes on.
fn again(prune: &Prune) -> PartOutcome {
    let next = match prune {
        Prune::Executions { after, .. } => Some(after.unwrap_or(ExecutionId::from_bytes([0; 16]))),
        Prune::IdempotencyKeys { .. } => None,
    };
    PartOutcome::Pruned { removed: 0, next }
}

/// What is known of a commit whose answer was lost.
pub(in crate::postgres) enum Fate {
    /// It is there.
    Written,
    /// It is not, and never will be.
    Never,
    /// Nobody knows any more.
    Forgotten,
}

/// Waits for a commit that is under way, and keeps out one that has not arrived yet.
pub(in crate::postgres) async fn fate(link: &mut Link, mark: Mark) -> Result<Fate, Failed> {
    let values = values![mark.writer, mark.serial];
    let rows = link.ask(Query::new(FENCE, values)).await?;
    let last: Option<i64> = get(rows.first().ok_or_else(Failed::no_row)?, 0)?;
    Ok(match last {
        None => Fate::Forgotten,
        Some(last) if last == mark.serial => Fate::Written,
        Some(_) => Fate::Never,
    })
}
