//! What a process that died left behind: begun attempts are lost and run again, everything else
//! it held is free again. Runs beside normal work; nobody waits for it.

use std::sync::Arc;

use refire_core::definition::StepId;
use refire_core::execution::{Command, Lost};
use refire_store::{Part, Release, WorkKey, WorkRow};
use tokio::sync::oneshot;

use super::Dispatcher;
use crate::commit::Request;

/// Rows read at once.
const PAGE_ROWS: u32 = 500;

/// How many rows were found.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Recovered {
    pub(crate) lost: u64,
    pub(crate) freed: u64,
}

/// Goes once through all work that another process owned.
pub(crate) async fn recover(dispatcher: Arc<Dispatcher>) -> Recovered {
    let mut recovered = Recovered::default();
    let mut after: Option<WorkKey> = None;
    loop {
        let page = dispatcher
            .store
            .orphans(dispatcher.node, after.as_ref(), PAGE_ROWS)
            .await;
        let page = match page {
            Ok(page) => page,
            Err(error) => {
                tracing::error!(error = &error as &dyn std::error::Error, "recovery stopped");
                return recovered;
            }
        };
        let Some(last) = page.last() else { break };
        after = Some(last.key());
        settle_page(&dispatcher, page, &mut recovered).await;
        if dispatcher.stopping.is_cancelled() {
            break;
        }
    }
    if recovered != Recovered::default() {
        let Recovered { lost, freed } = recovered;
        tracing::info!(lost, freed, "recovered the work of a process that died");
    }
    recovered
}

async fn settle_page(dispatcher: &Dispatcher, page: Vec<WorkRow>, recovered: &mut Recovered) {
    let (begun, held): (Vec<_>, Vec<_>) = page.into_iter().partition(|row| row.begun);
    recovered.freed += held.len() as u64;
    free(dispatcher, held).await;
    let mut answers = Vec::with_capacity(begun.len());
    for row in begun {
        let Ok(step) = StepId::new(row.step.as_str()) else {
            continue;
        };
        let lost = Lost {
            step,
            attempt: row.attempt,
            node: row.owner,
            begun: true,
        };
        let (reply, answer) = oneshot::channel();
        let request = Request::Command {
            id: row.execution,
            command: Box::new(Command::Lost(lost)),
            reply: Some(reply),
            permit: None,
        };
        if dispatcher.queue.result(request).await.is_err() {
            return;
        }
        answers.push(answer);
    }
    for answer in answers {
        recovered.lost += u64::from(matches!(answer.await, Ok(Ok(_))));
    }
}

/// Rows of each former owner are given back in its name.
async fn free(dispatcher: &Dispatcher, mut rows: Vec<WorkRow>) {
    rows.sort_by_key(|row| row.owner);
    for group in rows.chunk_by(|a, b| a.owner == b.owner) {
        let Some(node) = group[0].owner else { continue };
        let work = group.iter().map(|row| (row.key(), None)).collect();
        let (reply, answer) = oneshot::channel();
        let part = Part::Release(Release { node, work });
        let request = Request::Part {
            part,
            reply: Some(reply),
        };
        if dispatcher.queue.result(request).await.is_err() {
            return;
        }
        let _ = answer.await;
        for row in group {
            if row.due_at.is_none_or(|due| due <= dispatcher.clock.now()) {
                dispatcher.slots.mark_backlog(&row.workflow);
            }
        }
    }
}
