//! After the load: waits for the executions that were accepted near its end, since figures without
//! them are figures of the quick ones. It only looks; it never ends an execution.

use std::collections::HashSet;
use std::time::Duration;

use refire_client::Client;
use refire_client::model::ExecutionStatus;
use refire_client::query::{ExecutionQuery, Paging};
use refire_core::id::ExecutionId;
use tokio::time::Instant;

use super::figure::{counted, grouped};
use super::subject::{Kind, Subject};
use crate::cli::prelude::*;

/// Between two looks at what is still open; the first comes soon.
const LOOK_MIN: Duration = Duration::from_millis(20);
const LOOK_MAX: Duration = Duration::from_millis(500);
/// Open executions asked for at once: few, because the server that is asked is still at work.
const LOOK_PAGE: u32 = 100;
/// Without a single call for so long, nothing more is waited for.
const SILENCE_MAX: Duration = Duration::from_secs(10);
/// What is said meanwhile.
const WAITING: &str = "waiting for the last executions to end";

/// Waits until the throw-away workflow has no open executions; gives up when nothing moves.
pub(super) async fn throw_away(client: &Client, subject: &Subject) -> anyhow::Result<()> {
    let waiting = Waiting::new(WAITING);
    let calls = || match &subject.kind {
        Kind::Call(target) => target.calls(),
        Kind::Admission | Kind::Existing => 0,
    };
    let (mut seen, mut moved, mut pause) = (calls(), Instant::now(), LOOK_MIN);
    let query = open(&subject.id);
    loop {
        let open = client.executions(&query, &Paging::first(1)).await?;
        if open.items.is_empty() || moved.elapsed() > SILENCE_MAX {
            return Ok(());
        }
        if calls() > seen {
            (seen, moved) = (calls(), Instant::now());
            waiting.say(format!("{WAITING}: {}", counted(seen, "call")));
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(LOOK_MAX);
    }
}

/// Waits until none of these executions of somebody's own workflow is open, but not for longer
/// than this: its steps may take days, and others run it too.
pub(super) async fn existing(
    client: &Client,
    workflow: &str,
    accepted: &HashSet<ExecutionId>,
    within: Duration,
) -> anyhow::Result<()> {
    let Some(oldest) = accepted.iter().min().copied() else {
        return Ok(());
    };
    let waiting = Waiting::new(WAITING);
    let begun = Instant::now();
    let ended = async {
        let mut pause = LOOK_MIN;
        loop {
            let (ours, more) = look(client, workflow, accepted, oldest).await?;
            if ours == 0 {
                return Ok(());
            }
            waiting.say(format!(
                "{WAITING}: {}{} open, {} of {}",
                if more { "at least " } else { "" },
                grouped(ours),
                span(millis(begun.elapsed()) / 100 * 100),
                span(millis(within)),
            ));
            tokio::time::sleep(pause).await;
            pause = (pause * 2).min(LOOK_MAX);
        }
    };
    match tokio::time::timeout(within, ended).await {
        Ok(ended) => ended,
        // What is still open by then is told with the results.
        Err(_) => Ok(()),
    }
}

/// How many of ours are open, and whether there may be more: looks no further than the first page that has
/// one of them, since one is enough to go on waiting.
async fn look(
    client: &Client,
    workflow: &str,
    accepted: &HashSet<ExecutionId>,
    oldest: ExecutionId,
) -> anyhow::Result<(u64, bool)> {
    let (query, mut paging) = (open(workflow), Paging::first(LOOK_PAGE));
    loop {
        let page = client.executions(&query, &paging).await?;
        let (mut ours, mut before) = (0, false);
        for execution in &page.items {
            if let Ok(id) = execution.execution_id.parse::<ExecutionId>() {
                ours += u64::from(accepted.contains(&id));
                // Newest first: from here on there are only others'.
                before |= id < oldest;
            }
        }
        let more = page.next_cursor.is_some() && !before;
        if ours > 0 || !more {
            return Ok((ours, more));
        }
        paging.cursor = page.next_cursor;
    }
}

/// Executions of a workflow that have not ended.
fn open(workflow: &str) -> ExecutionQuery {
    ExecutionQuery {
        workflow: vec![workflow.to_owned()],
        status: ExecutionStatus::OPEN.to_vec(),
        ..ExecutionQuery::default()
    }
}
