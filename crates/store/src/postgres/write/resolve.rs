//! A commit whose answer was lost, but which is there. What became of parts that stand alone is in its
//! mark; what became of those that are written together, before anybody knows it, is read from what
//! they left.

use std::collections::HashSet;

use refire_core::execution::EventRow;
use refire_core::id::ExecutionId;
use tokio_postgres::Row;
use uuid::Uuid;

use super::admit::refusals;
use super::link::{Link, Query, values};
use super::{Failed, Mark, Order, claim};
use crate::checksum;
use crate::postgres::columns::{get, signed};
use crate::postgres::failure::corrupt;
use crate::table::column::{Id, columns};
use crate::table::rows::Beginnings;
use crate::table::statement::statements;
use crate::{Batch, Fire, Part, PartOutcome};

const FENCE: &str = "SELECT fence_commit($1, $2)";

const KEEP: &str = "UPDATE commit_marks SET outcomes = $2 WHERE writer = $1";

const KEPT: &str = "SELECT outcomes FROM commit_marks WHERE writer = $1";

// These tell for which of the rows that they are given something is true, by their places. Each
// condition looks up what it asks for by its key.
statements! {
    /// Executions whose very event is there, or, without one, whose row names the commit.
    MOVED: postgres(rows: Moves) =
        "SELECT given.place FROM {rows} WHERE CASE WHEN given.sequence IS NULL
        THEN (SELECT commit_id = given.commit FROM executions WHERE id = given.execution)
        ELSE (SELECT crc = given.crc FROM workflow_events
               WHERE execution = given.execution AND sequence = given.sequence) END";

    BEGUN: postgres(places: Places, rows: Beginnings) =
        "SELECT given.place FROM {places+rows} WHERE (
        SELECT attempt = given.attempt AND owner = given.owner AND begun FROM work
         WHERE execution = given.execution AND step = given.step)";

    /// Steps of plans without executions: their rows of the ledger tell. One without those only planned,
    /// and whoever did it reads what stands there before the next.
    FIRED: postgres(rows: Fires) =
        "SELECT given.place FROM {rows} WHERE CASE WHEN given.until IS NULL
        THEN (SELECT rev > given.rev FROM trigger_state WHERE trigger = given.trigger)
        ELSE EXISTS (SELECT 1 FROM trigger_slots WHERE trigger = given.trigger
             AND until = given.until AND status = given.status AND at = given.at) END";
}

columns! {
    struct Moves(place: usize, order: &Order, id: ExecutionId, event: Option<&EventRow>) {
        place: i64 = signed(place as u64),
        commit: Uuid = order.commit,
        execution: Id = id.into(),
        sequence: Option<i64> = event.map(|event| signed(event.sequence)),
        crc: Option<i64> = event.map(|event| checksum::event(id, event).into()),
    }
}

columns! {
    struct Places(place: usize) {
        place: i64 = signed(place as u64),
    }
}

columns! {
    struct Fires(place: usize, fire: &Fire) {
        place: i64 = signed(place as u64),
        trigger: Id = fire.trigger.into(),
        rev: i64 = signed(fire.rev),
        until: Option<i64> = fire.slots.first().map(|slot| slot.to.as_micros()),
        status: Option<&'static str> = fire.slots.first().map(|slot| slot.outcome.status().name()),
        at: Option<i64> = fire.slots.first().map(|slot| slot.at.as_micros()),
    }
}

/// Keeps the outcomes that are known before the commit ends, but for those of claims.
pub(super) fn keep<'a>(writer: Uuid, outcomes: &[Option<PartOutcome>]) -> Query<'a> {
    let kept = outcomes.iter().map(|outcome| {
        let is_claim = matches!(outcome, Some(PartOutcome::Claimed(_)));
        outcome.as_ref().filter(|_| !is_claim)
    });
    // Plain values of words and numbers: writing them as JSON cannot fail.
    let kept = serde_json::to_vec(&kept.collect::<Vec<_>>()).unwrap_or_default();
    Query::new(KEEP, values![writer, kept])
}

/// What [`keep`] has kept, by place.
async fn kept(link: &mut Link, writer: Uuid) -> Result<Vec<Option<PartOutcome>>, Failed> {
    let rows = link.ask(Query::new(KEPT, values![writer])).await?;
    let row = rows.first().ok_or_else(Failed::no_row)?;
    let kept: Option<&[u8]> = get(row, 0)?;
    let read = serde_json::from_slice(kept.unwrap_or(b"[]"));
    Ok(read.map_err(corrupt(|| "the mark of a commit".to_owned()))?)
}

/// Tells the outcomes of a batch that is known to be written, with as many questions as it has kinds of
/// parts.
async fn outcomes(
    link: &mut Link,
    order: &Order,
    mark: Mark,
    batch: &Batch,
) -> Result<Vec<PartOutcome>, Failed> {
    link.learn(super::workflows(batch)).await?;
    let mut kept = kept(link, mark.writer).await?;
    kept.resize(batch.parts.len(), None);
    let parts = || batch.parts.iter().enumerate();
    let moved = moved(link, order, batch).await?;
    let refused = parts().filter_map(|(place, part)| match part {
        Part::Admit(part) if !moved.contains(&place) => Some((place, &**part)),
        _ => None,
    });
    let refused: Vec<_> = refused.collect();
    let mut refused = refusals(link, order, &refused).await?;
    let mut begun = begun(link, batch).await?.into_iter();
    let claims = parts().filter_map(|(place, part)| match part {
        Part::Claim(part) => Some((place, part.node)),
        Part::ClaimTimers(part) => Some((place, part.node)),
        _ => None,
    });
    let mut claimed = claim::claimed_before(link, order, claims).await?;
    let outcomes = parts().zip(kept).map(|((place, part), kept)| {
        let of_rows = match part {
            Part::Admit(_) | Part::Advance(_) | Part::Fire(_) if moved.contains(&place) => {
                Some(PartOutcome::Done)
            }
            Part::Admit(_) => Some(refused.remove(&place).unwrap_or(PartOutcome::Conflict)),
            Part::Advance(_) => Some(PartOutcome::Conflict),
            Part::Fire(_) => Some(PartOutcome::TriggerMoved),
            Part::Claim(_) | Part::ClaimTimers(_) => {
                let rows = claimed.remove(&place).unwrap_or_default();
                Some(claim::told(part, rows))
            }
            Part::Begin(part) => {
                let begun = begun.by_ref().take(part.work.len());
                Some(PartOutcome::Begun(begun.collect()))
            }
            Part::Release(_) => Some(PartOutcome::Done),
            // All others stand alone.
            _ => None,
        };
        kept.or(of_rows).ok_or_else(Failed::no_row)
    });
    outcomes.collect()
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

/// The parts that are there as the batch says: executions that came to be or moved on, and triggers.
async fn moved(link: &mut Link, order: &Order, batch: &Batch) -> Result<HashSet<usize>, Failed> {
    let (mut moves, mut fires) = (Moves::default(), Fires::default());
    for (place, part) in batch.parts.iter().enumerate() {
        if let Some((id, event)) = part.about().execution {
            moves.push(place, order, id, event);
        } else if let Part::Fire(fire) = part {
            fires.push(place, fire);
        }
    }
    let mut moved = places(link, Query::new(&MOVED, moves.values())).await?;
    moved.extend(places(link, Query::new(&FIRED, fires.values())).await?);
    Ok(moved)
}

/// Which attempts have begun, of all that the batch begins, in its order.
async fn begun(link: &mut Link, batch: &Batch) -> Result<Vec<bool>, Failed> {
    let (mut rows, mut numbers, mut count) = (Beginnings::default(), Places::default(), 0);
    for part in &batch.parts {
        let Part::Begin(part) = part else { continue };
        for (key, attempt) in &part.work {
            rows.push(key.execution, &key.step, *attempt, part.node);
            numbers.push(count);
            count += 1;
        }
    }
    let asked = Query::of(&BEGUN, [numbers.values(), rows.values()]);
    let begun = places(link, asked).await?;
    Ok((0..count).map(|place| begun.contains(&place)).collect())
}

/// What looking for a commit whose answer was lost has found.
pub(in crate::postgres) enum Found {
    /// It is there.
    Written(Vec<PartOutcome>),
    /// It is not, and never will be.
    Never,
    /// Nobody knows any more.
    Forgotten,
}

/// Waits for a commit that is under way, and keeps out one that has not arrived yet.
pub(in crate::postgres) async fn find(
    link: &mut Link,
    order: &Order,
    mark: Mark,
    batch: &Batch,
) -> Result<Found, Failed> {
    let values = values![mark.writer, mark.serial];
    let rows = link.ask(Query::new(FENCE, values)).await?;
    let last: Option<i64> = get(rows.first().ok_or_else(Failed::no_row)?, 0)?;
    Ok(match last {
        None => Found::Forgotten,
        Some(last) if last == mark.serial => {
            Found::Written(outcomes(link, order, mark, batch).await?)
        }
        Some(_) => Found::Never,
    })
}
