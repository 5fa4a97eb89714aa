//! A commit whose answer was lost, but which is there: what became of its parts is read from what
//! they left.

mod trigger;

use std::collections::{HashMap, HashSet};

use refire_core::id::ExecutionId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::admit::{WORKFLOWS, keys_of, live, owners_of, read_current, refusal, triggers_of};
use super::link::{Link, Query, values};
use super::{Failed, Mark, Order, claim, letter};
use crate::checksum;
use crate::postgres::columns::{get, signed, signed_small, small, uuid};
use crate::{Admit, Batch, Part, PartOutcome, Prune, PutWorkflow, WorkRow};

const FENCE: &str = "SELECT fence_commit($1, $2)";

/// Which of these events are there: by the places that they were given. This and what follows looks
/// each of them up by its key.
const EVENTS: &str = "SELECT given.place
      FROM unnest($1::bigint[], $2::uuid[], $3::bigint[], $4::bigint[])
        AS given (place, execution, sequence, crc)
     CROSS JOIN LATERAL (
        SELECT crc FROM workflow_events
         WHERE execution = given.execution AND sequence = given.sequence OFFSET 0
     ) AS event
     WHERE event.crc = given.crc";

/// Which of these executions were changed last by this commit.
const LAST_COMMITS: &str = "SELECT given.place
      FROM unnest($1::bigint[], $2::uuid[]) AS given (place, execution)
     CROSS JOIN LATERAL (
        SELECT commit_id FROM executions WHERE id = given.execution OFFSET 0
     ) AS last
     WHERE last.commit_id = $3";

/// Which of these rows have begun.
const BEGUN: &str = "SELECT given.place
      FROM unnest($1::bigint[], $2::uuid[], $3::text[], $4::integer[], $5::uuid[])
        AS given (place, execution, step, attempt, owner)
     CROSS JOIN LATERAL (
        SELECT attempt, owner, begun FROM work
         WHERE execution = given.execution AND step = given.step OFFSET 0
     ) AS row
     WHERE row.attempt = given.attempt AND row.owner = given.owner AND row.begun";

const SAVED: &str = "SELECT versions.version, versions.created_at
      FROM workflows JOIN workflow_versions AS versions ON versions.workflow = workflows.key
     WHERE workflows.ns = 1 AND workflows.id = $1 AND versions.content_hash = $2
     ORDER BY versions.version DESC LIMIT 1";

const WORKFLOW_DELETED: &str =
    "SELECT 1 FROM workflows WHERE ns = 1 AND id = $1 AND deleted_at = $2";

/// Tells the outcomes of a batch that is known to be written. What a batch may have many of is asked
/// for together; the rest is rare, and asked for one by one.
pub(in crate::postgres) async fn outcomes(
    link: &mut Link,
    order: &Order,
    batch: &Batch,
) -> Result<Vec<PartOutcome>, Failed> {
    link.learn(super::workflows(batch)).await?;
    let moved = moved(link, order, batch).await?;
    let refused = refusals(link, order, batch, &moved).await?;
    let mut begun = begun(link, batch).await?;
    let mut claimed = claimed(link, order, batch).await?;
    let mut outcomes = Vec::with_capacity(batch.parts.len());
    for (place, part) in batch.parts.iter().enumerate() {
        outcomes.push(match part {
            Part::Admit(_) | Part::Advance(_) | Part::Fire(_) if moved.contains(&place) => {
                PartOutcome::Done
            }
            Part::Admit(part) => match (refused.get(&place), &part.letter) {
                (Some(refused), _) => refused.clone(),
                (None, Some(retry)) => {
                    let refused = letter::refuse_retry(link, retry).await?;
                    refused.unwrap_or(PartOutcome::Conflict)
                }
                (None, None) => PartOutcome::Conflict,
            },
            Part::Advance(_) => PartOutcome::Conflict,
            Part::Claim(part) => {
                let mut rows = claimed.remove(&place).unwrap_or_default();
                claim::sort_by_wants(&mut rows, &part.wants);
                PartOutcome::Claimed(rows)
            }
            Part::ClaimTimers(_) => {
                let mut rows = claimed.remove(&place).unwrap_or_default();
                claim::sort_by_time(&mut rows);
                PartOutcome::Claimed(rows)
            }
            Part::Begin(part) => {
                let rest = begun.split_off(part.work.len().min(begun.len()));
                PartOutcome::Begun(std::mem::replace(&mut begun, rest))
            }
            Part::Fire(part) => trigger::fired(link, part).await?,
            rare => outcome_of_rare(link, order, rare).await?,
        });
    }
    Ok(outcomes)
}

/// The outcome of a part of which a batch has few.
async fn outcome_of_rare(
    link: &mut Link,
    order: &Order,
    part: &Part,
) -> Result<PartOutcome, Failed> {
    Ok(match part {
        Part::DeleteLetter { id, by } => {
            let deleted = Some((order.now, by.clone()));
            match letter::state(link, *id).await? {
                Some(state) if state.deleted == deleted => PartOutcome::Done,
                other => PartOutcome::LetterNotPending(other.map(|it| it.status)),
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
        Part::CreateTrigger(part) => trigger::created(link, order, part).await?,
        Part::ChangeTrigger(part) => trigger::changed(link, order, part).await?,
        Part::DeleteTrigger { id, .. } => trigger::deleted(link, order, *id).await?,
        Part::LogRequests(_)
        | Part::Fire(_)
        | Part::Release(_)
        | Part::Admit(_)
        | Part::Advance(_)
        | Part::Claim(_)
        | Part::ClaimTimers(_)
        | Part::Begin(_) => PartOutcome::Done,
    })
}

pub(super) async fn has_row(link: &mut Link, query: Query<'_>) -> Result<bool, Failed> {
    Ok(!link.ask(query).await?.is_empty())
}

/// The places that a statement answers with.
async fn places(link: &mut Link, query: Query<'_>) -> Result<HashSet<usize>, Failed> {
    let rows = link.ask(query).await?;
    let place = |row: &Row| {
        let place: i64 = get(row, 0)?;
        Ok(usize::try_from(place).unwrap_or(usize::MAX))
    };
    rows.iter().map(place).collect()
}

/// The executions that came to be or moved on as the batch says: those whose very event is there, or
/// whose row names this commit.
async fn moved(link: &mut Link, order: &Order, batch: &Batch) -> Result<HashSet<usize>, Failed> {
    let (mut by_event, mut of, mut sequences, mut sums) = (vec![], vec![], vec![], vec![]);
    let (mut by_row, mut ids) = (Vec::<i64>::new(), Vec::<Uuid>::new());
    for (place, part) in batch.parts.iter().enumerate() {
        let Some((id, event)) = part.about().execution else {
            continue;
        };
        let place = signed(place as u64);
        if let Some(event) = event {
            by_event.push(place);
            of.push(uuid(id.as_bytes()));
            sequences.push(signed(event.sequence));
            sums.push(i64::from(checksum::event(id, event)));
        } else {
            by_row.push(place);
            ids.push(uuid(id.as_bytes()));
        }
    }
    let mut moved = HashSet::new();
    if !by_event.is_empty() {
        let query = Query::new(EVENTS, values![by_event, of, sequences, sums]);
        moved.extend(places(link, query).await?);
    }
    if !by_row.is_empty() {
        let query = Query::new(LAST_COMMITS, values![by_row, ids, order.commit]);
        moved.extend(places(link, query).await?);
    }
    Ok(moved)
}

/// Why admissions that are not there were refused, apart from their letters and ids.
async fn refusals(
    link: &mut Link,
    order: &Order,
    batch: &Batch,
    moved: &HashSet<usize>,
) -> Result<HashMap<usize, PartOutcome>, Failed> {
    let admissions = batch.parts.iter().enumerate();
    let refused: Vec<(usize, &Admit)> = admissions
        .filter_map(|(place, part)| match part {
            Part::Admit(part) if !moved.contains(&place) => Some((place, &**part)),
            _ => None,
        })
        .collect();
    if refused.is_empty() {
        return Ok(HashMap::new());
    }
    let workflows = refused.iter();
    let workflows: HashSet<i64> = workflows
        .filter_map(|(_, admit)| link.key(&admit.row.workflow))
        .collect();
    let workflows: Vec<i64> = workflows.into_iter().collect();
    let live = live(&link.ask(Query::new(WORKFLOWS, values![workflows])).await?)?;
    let claims = refused.iter();
    let claims = claims.filter_map(|(place, admit)| Some((*place, admit.claim.as_ref()?)));
    let owners = owners_of(&link.ask(keys_of(claims, order)).await?)?;
    let current = triggers_of(refused.iter().map(|(_, admit)| *admit));
    let current = read_current(&link.ask(current).await?)?;
    let why = |(place, admit): &(usize, &Admit)| {
        let refused = refusal(admit, link, &live, &current, owners.get(place))?;
        Some((*place, refused))
    };
    Ok(refused.iter().filter_map(why).collect())
}

/// Which attempts have begun, of all that the batch begins, in its order.
async fn begun(link: &mut Link, batch: &Batch) -> Result<Vec<bool>, Failed> {
    let (mut executions, mut steps) = (Vec::<Uuid>::new(), Vec::<&str>::new());
    let (mut attempts, mut owners) = (Vec::<i32>::new(), Vec::<Uuid>::new());
    for part in &batch.parts {
        let Part::Begin(part) = part else { continue };
        for (key, attempt) in &part.work {
            executions.push(uuid(key.execution.as_bytes()));
            steps.push(key.step.as_str());
            attempts.push(signed_small(*attempt));
            owners.push(uuid(part.node.as_bytes()));
        }
    }
    let count = executions.len();
    if count == 0 {
        return Ok(Vec::new());
    }
    let numbers: Vec<i64> = (0..).take(count).collect();
    let values = values![numbers, executions, steps, attempts, owners];
    let begun = places(link, Query::new(BEGUN, values)).await?;
    Ok((0..count).map(|place| begun.contains(&place)).collect())
}

/// What the claims of the batch had taken, by their places.
async fn claimed(
    link: &mut Link,
    order: &Order,
    batch: &Batch,
) -> Result<HashMap<usize, Vec<WorkRow>>, Failed> {
    let parts = batch.parts.iter().enumerate();
    let claims = parts.filter_map(|(place, part)| match part {
        Part::Claim(part) => Some((place, part.node)),
        Part::ClaimTimers(part) => Some((place, part.node)),
        _ => None,
    });
    claim::claimed_before(link, order, claims).await
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
        Prune::IdempotencyKeys { .. }
        | Prune::Requests { .. }
        | Prune::RequestsOf { .. }
        | Prune::Triggers { .. } => None,
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
