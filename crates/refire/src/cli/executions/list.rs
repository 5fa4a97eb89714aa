//! `refire executions list` and `count`.

use refire_client::every;
use refire_client::model::{Execution, ExecutionCount, ExecutionPage, ExecutionStatus, Page};
use refire_client::query::{ExecutionQuery, Paging, Query};

use crate::cli::prelude::*;

/// Options of `executions list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions list --status retrying
  refire executions list --status failed,dlq --workflow ship_order --limit 5
  refire executions list --from 24h --trigger-type webhook --q 'connection refused'
  refire executions list --all --format json | jq -r '.items[].execution_id'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: ExecutionQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
    /// Show all of them
    #[arg(long, conflicts_with = "limit")]
    all: bool,
}

/// Options of `executions count`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions count --from 24h
  refire executions count --workflow 'ship_*' --status failed,dlq --format json")]
pub(crate) struct CountArgs {
    #[command(flatten)]
    query: ExecutionQuery,
}

const COLUMNS: [Column<Execution>; 7] = [
    text("EXECUTION", |one, _| cell(&one.execution_id)),
    text("WORKFLOW", |one, _| {
        cell(format!("{} v{}", one.workflow_id, one.workflow_version))
    }),
    text("STATUS", |one, now| {
        status_cell_with(one.status.name(), &later(one, now))
    }),
    number("RETRIES", |one, _| {
        cell(format!("{}/{}", one.retry_count, one.max_retries))
    }),
    text("CREATED", |one, now| cell(relative(&one.created_at, now))),
    number("TOOK", |one, _| maybe(one.duration_ms.map(span))),
    text("ERROR", |one, _| {
        maybe(one.error.as_ref().map(|error| &error.message))
    }),
];

/// The query with its times worked out.
fn asked(query: &ExecutionQuery, now: Timestamp) -> Result<ExecutionQuery, Usage> {
    let mut query = query.clone();
    moments(&mut query.from, &mut query.to, now)?;
    Ok(query)
}

/// Lists executions.
pub(super) async fn run(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let client = session.client()?;
    let query = asked(&args.query, session.now())?;
    let page = if args.all {
        let all = async |paging: &Paging| {
            let page = client.executions(&query, paging).await?;
            Ok(Page {
                items: page.items,
                next_cursor: page.next_cursor,
            })
        };
        let all = every(all).await?;
        ExecutionPage {
            items: all.items,
            next_cursor: all.next_cursor,
            searched_to: None,
        }
    } else {
        let paging = Paging::first(args.limit);
        client.executions(&query, &paging).await?
    };
    if session.is_json() {
        return session.answer(&page, String::new);
    }
    let more = match &page.searched_to {
        None => "more exist: use --limit or --all".to_owned(),
        Some(at) => searched_to(at, session.now()),
    };
    let nothing = async || {
        if let [workflow] = &args.query.workflow[..]
            && !workflow.contains('*')
        {
            // That there is none of that name is an error, with the name that is nearest.
            client.workflow(workflow).await?;
        }
        Ok(match &page.searched_to {
            None => nothing(args),
            Some(_) => format!("no matching executions so far. {more}"),
        })
    };
    let rows = Page {
        items: page.items,
        next_cursor: page.next_cursor,
    };
    session.part(&more, &rows, &COLUMNS, nothing).await
}

/// What is said of a search that was not to the end.
fn searched_to(at: &str, now: Timestamp) -> String {
    format!(
        "searched those created since {}: use --from, --to or --all to search further",
        both(at, now)
    )
}

fn nothing(args: &ListArgs) -> String {
    if !args.query.is_empty() {
        return "no matching executions. Without options, all are listed.".to_owned();
    }
    format!(
        "no executions yet. Start one with: {}",
        command("refire execute WORKFLOW --input '{}'")
    )
}

/// Counts executions.
pub(super) async fn count(session: &Session, args: &CountArgs) -> anyhow::Result<Outcome> {
    let query = asked(&args.query, session.now())?;
    let count = session.client()?.count_executions(&query).await?;
    session.answer(&count, || overview(&count, session.now()))
}

const STATUSES: [Column<(ExecutionStatus, u64)>; 2] = [
    number("COUNT", |(_, count), _| Cell::new(*count)),
    text("STATUS", |(status, _), _| status_cell(status.name())),
];

fn overview(count: &ExecutionCount, now: Timestamp) -> String {
    let least = if count.exact { "" } else { "at least " };
    let mut text = format!("{least}{}", heading(&counted(count.total, "execution")));
    if let Some(at) = &count.searched_to {
        text = format!("{text}\n{}", searched_to(at, now).replace(" or --all", ""));
    }
    let rows: Vec<(ExecutionStatus, u64)> = (ExecutionStatus::ALL.iter())
        .filter_map(|status| Some((*status, *count.by_status.get(status.name())?)))
        .collect();
    match rows.is_empty() {
        true => text,
        false => format!("{text}\n\n{}", table(&STATUSES, &rows, now).lines(0)),
    }
}

/// ` in 3h 2m` of an execution that is not to begin before.
fn later(execution: &Execution, now: Timestamp) -> String {
    let is_waiting = execution.status == ExecutionStatus::Pending;
    match execution.delay_until.as_deref().filter(|_| is_waiting) {
        Some(at) => format!(", {}", relative(at, now)),
        None => String::new(),
    }
}
