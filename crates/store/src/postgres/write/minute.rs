//! What happened to workflows, in numbers. Nodes add to the same rows, in the order of their keys.

use refire_core::minute::OfWorkflow;

use super::Failed;
use super::link::{Link, Query};
use crate::PartOutcome;
use crate::minute::added;
use crate::table::rows::MinuteRows;
use crate::table::statement::statements;

statements! {
    ADD: postgres(minutes: MinuteRows) = &format!(
        "INSERT INTO workflow_minutes ({{minutes.names}}) SELECT * FROM {{minutes}}
     ORDER BY given.workflow, given.minute
     ON CONFLICT (workflow, minute) DO UPDATE SET {}", added("greatest"));
}

pub(super) async fn add(link: &mut Link, minutes: &[OfWorkflow]) -> Result<PartOutcome, Failed> {
    // What is known only here must be forgotten if the commit fails.
    link.learn_for_now(minutes.iter().map(|one| &one.workflow))
        .await?;
    let mut rows = MinuteRows::default();
    for one in minutes {
        if let Some(key) = link.key(&one.workflow) {
            rows.push(key, one);
        }
    }
    link.ask(Query::new(&ADD, rows.values())).await?;
    Ok(PartOutcome::Done)
}
