//! `refire scheduled history`: what became of each attempt.

use refire_client::model::{Page, TaskRecord};
use refire_client::query::{Paging, Query, TaskHistoryQuery};

use crate::cli::prelude::*;

/// Options of `scheduled history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire scheduled history task-01j9x8w7v6t5s4r3q2p1n0m9k8
  refire scheduled history task-01j9x8w7v6t5s4r3q2p1n0m9k8 --status failed --retries false")]
pub(crate) struct HistoryArgs {
    /// The task (task-…)
    id: String,
    #[command(flatten)]
    query: TaskHistoryQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

const COLUMNS: [Column<TaskRecord>; 7] = [
    text("EXECUTION", |record, _| cell(&record.id)),
    number("CYCLE", |record, _| {
        maybe(record.cycle_number.map(|cycle| cycle.to_string()))
    }),
    text("RETRY", |record, _| {
        cell(if record.is_retry { "yes" } else { "" })
    }),
    text("STARTED", |record, now| {
        cell(relative(&record.execution_started_at, now))
    }),
    text("CALL", |record, _| match record.trigger_status {
        Some(status) => status_cell(status.name()),
        None => cell(""),
    }),
    text("STATUS", |record, _| {
        status_cell(record.execution_status.name())
    }),
    text("SAID", |record, _| cell(said(record))),
];

/// How far it is, or what went wrong.
fn said(record: &TaskRecord) -> String {
    let progress = record.progress.map(|progress| format!("{progress} %"));
    let parts: Vec<String> = progress
        .into_iter()
        .chain(record.progress_message.clone())
        .collect();
    if !parts.is_empty() {
        return parts.join(" ");
    }
    let result = record.trigger_result.as_ref();
    let result = result.and_then(|raw| serde_json::from_str::<serde_json::Value>(raw.get()).ok());
    let message = result
        .as_ref()
        .and_then(|result| result["error"]["message"].as_str());
    message.unwrap_or_default().to_owned()
}

/// Lists attempts.
pub(super) async fn run(session: &Session, args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let id = ids::scheduled_task(&args.id)?;
    let paging = Paging::first(args.limit);
    let found = session
        .client()?
        .task_history(id, &args.query, &paging)
        .await?;
    if session.is_json() {
        return print_json(&found);
    }
    let page = Page {
        items: found.items,
        next_cursor: found.next_cursor,
    };
    let nothing = match args.query.is_empty() {
        true => format!(
            "no cycle has begun yet; begin one now with: {}",
            command(&format!("refire scheduled run {id}"))
        ),
        false => format!(
            "no attempt matches; see all with: {}",
            command(&format!("refire scheduled history {id}"))
        ),
    };
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}
