//! Sessions of the console.

use super::link::{Link, Query, values};
use super::{Failed, Order};
use crate::session::SESSIONS_MAX;
use crate::table::rows::SessionRows;
use crate::table::statement::statements;
use crate::{PartOutcome, SecretHash, SessionChange, SessionRow};

statements! {
    PUT: postgres(sessions: SessionRows) =
        "INSERT INTO sessions ({sessions.names}) SELECT * FROM {sessions}
     ON CONFLICT (id) DO UPDATE SET {sessions.replaced!id}";

    /// Those that have ended, and of too many the ones that end first. What another node is at stays.
    CUT: postgres(now, most) = "DELETE FROM sessions WHERE id IN (
         SELECT id FROM sessions WHERE ends_at <= {now} FOR UPDATE SKIP LOCKED)
     OR id IN (SELECT id FROM sessions ORDER BY ends_at DESC, id OFFSET {most}
               FOR UPDATE SKIP LOCKED)";
}

const EXTEND: &str = "UPDATE sessions SET ends_at = $2 WHERE id = $1 RETURNING id";

/// A second one that takes the same link waits here for the first, and finds nothing.
const REMOVE: &str = "DELETE FROM sessions WHERE id = $1 RETURNING id";

pub(super) async fn change(
    link: &mut Link,
    order: &Order,
    change: &SessionChange,
) -> Result<PartOutcome, Failed> {
    let is_touched = match change {
        SessionChange::Open { row, link: taken } => open(link, order, row, taken.as_ref()).await?,
        SessionChange::Extend { id, ends_at } => {
            let values = values![&id[..], ends_at.as_micros()];
            !link.ask(Query::new(EXTEND, values)).await?.is_empty()
        }
        SessionChange::End { id } => remove(link, id).await?,
    };
    Ok(PartOutcome::Touched(is_touched))
}

async fn open(
    link: &mut Link,
    order: &Order,
    row: &SessionRow,
    taken: Option<&SecretHash>,
) -> Result<bool, Failed> {
    if let Some(taken) = taken
        && !remove(link, taken).await?
    {
        return Ok(false);
    }
    let mut sessions = SessionRows::default();
    sessions.push(row);
    link.ask(Query::new(&PUT, sessions.values())).await?;
    let most = i64::try_from(SESSIONS_MAX).unwrap_or(i64::MAX);
    let values = values![order.now.as_micros(), most];
    link.ask(Query::new(&CUT, values)).await?;
    Ok(true)
}

async fn remove(link: &mut Link, id: &SecretHash) -> Result<bool, Failed> {
    let gone = link.ask(Query::new(REMOVE, values![&id[..]])).await?;
    Ok(!gone.is_empty())
}
