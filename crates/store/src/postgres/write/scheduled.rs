//! Scheduled tasks: their row, definition, trigger and first execution, all of it or nothing. The commit
//! holds the workflow's lock alone, and the trigger's state.

use super::link::{Link, Query, values};
use super::{Failed, Order, catalog, single, trigger};
use crate::postgres::columns::{get, small, uuid};
use crate::table::rows::ScheduledTasks;
use crate::table::statement::statements;
use crate::{PartOutcome, PutScheduled, ScheduledTrigger};

const VERSION: &str = "SELECT version FROM scheduled_tasks WHERE id = $1 FOR UPDATE";

const IS_TAKEN: &str =
    "SELECT EXISTS (SELECT 1 FROM scheduled_tasks WHERE key_hash = $1::bytea AND id <> $2)
         OR ($3::boolean AND EXISTS (SELECT 1 FROM workflow_triggers WHERE id = $2))";

statements! {
    PUT: postgres(tasks: ScheduledTasks) =
        "INSERT INTO scheduled_tasks ({tasks.names}) SELECT * FROM {tasks}
    ON CONFLICT (id) DO UPDATE SET {tasks.replaced!id,workflow,created_at}";
}

pub(super) async fn put(
    link: &mut Link,
    order: &Order,
    put: &PutScheduled,
) -> Result<PartOutcome, Failed> {
    if is_otherwise(link, put).await? {
        return Ok(PartOutcome::TriggerMoved);
    }
    let triggered = match &put.trigger {
        ScheduledTrigger::Create(create) => {
            if let Some(definition) = &put.definition {
                catalog::put(link, order, definition).await?;
            }
            match trigger::create(link, order, create).await? {
                PartOutcome::Done => PartOutcome::Done,
                // What is written already goes with the batch.
                _ => return Err(Failed::no_row()),
            }
        }
        ScheduledTrigger::Change(change) => trigger::change(link, order, change).await?,
        ScheduledTrigger::Delete => trigger::delete(link, order, put.row.trigger()).await?,
    };
    if triggered != PartOutcome::Done {
        return Ok(triggered);
    }
    if let (ScheduledTrigger::Change(_), Some(definition)) = (&put.trigger, &put.definition) {
        catalog::put(link, order, definition).await?;
    }
    // What is known only here must be forgotten if the commit fails.
    link.learn_for_now(std::iter::once(&put.row.workflow))
        .await?;
    let key = link.key(&put.row.workflow);
    let mut rows = ScheduledTasks::default();
    rows.push(key, &put.row, order.now);
    link.ask(Query::new(&PUT, rows.values())).await?;
    match &put.admission {
        None => Ok(PartOutcome::Done),
        Some(admit) => match single::admit(link, order, admit).await? {
            PartOutcome::Done => Ok(PartOutcome::Done),
            _ => Err(Failed::no_row()),
        },
    }
}

/// Whether it is not what was seen, or what is to be made is there.
async fn is_otherwise(link: &mut Link, put: &PutScheduled) -> Result<bool, Failed> {
    let row = &put.row;
    let id = uuid(row.id.as_bytes());
    let version = link.ask(Query::new(VERSION, values![id])).await?;
    let version = version.first().map(|row| small(row, 0)).transpose()?;
    if version.unwrap_or(0) + 1 != row.version {
        return Ok(true);
    }
    let is_made = matches!(put.trigger, ScheduledTrigger::Create(_));
    let key = row.key_hash.map(|key| key.to_vec());
    let taken = link
        .ask(Query::new(IS_TAKEN, values![key, id, is_made]))
        .await?;
    Ok(get(taken.first().ok_or_else(Failed::no_row)?, 0)?)
}
