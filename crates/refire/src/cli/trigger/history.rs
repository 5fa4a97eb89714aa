//! `refire trigger history`: what a trigger started, and what came of it.

use refire_client::model::{CronHistory, CronRun, Problem, RunStatus, Trigger, TriggerType};
use refire_client::query::{OfWorkflow, Paging, TriggerQuery};
use refire_client::{Client, Error};

use super::local::{clock, clock_and_distance, shortened, summary};
use crate::cli::prelude::*;
use crate::codes;

/// Characters of a result that a row has room for; `refire executions show` has all of it.
const RESULT_CHARS_SHOWN: usize = 60;
/// Schedules of one workflow that are looked at to find the one that is meant.
const SCHEDULES_MAX: u32 = 1_000;

/// Options of `trigger history`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger history report
  refire trigger history report --trigger trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --limit 10")]
pub(crate) struct HistoryArgs {
    /// The workflow's id
    workflow: String,
    /// The trigger (trg_…) [default: the workflow's oldest cron trigger, else its only schedule]
    #[arg(long, value_name = "ID")]
    trigger: Option<String>,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// What a trigger started.
pub(super) async fn run(session: &Session, args: &HistoryArgs) -> anyhow::Result<Outcome> {
    let trigger = args.trigger.as_deref().map(ids::trigger).transpose()?;
    let client = session.client()?;
    let history = client
        .cron_history(&args.workflow, trigger, Some(args.limit))
        .await;
    let history = match history {
        Err(Error::Problem(problem)) if problem.code == codes::NO_TRIGGER.code => match trigger {
            Some(id) => return Err(not_its(&client, args, id, problem).await),
            None => of_only_schedule(&client, args).await?,
        },
        other => other?,
    };
    if session.is_json() {
        return print_json(&history);
    }
    let paused = if history.enabled { "" } else { ", paused" };
    let head = match &history.cron_expression {
        Some(expression) => format!("{expression} ({}){paused}", history.timezone),
        None => {
            let trigger = client.trigger(&history.trigger_id).await?;
            format!("{}{paused}", summary(&trigger))
        }
    };
    let head = clean(&head);
    if history.history.is_empty() {
        let list = command(&format!(
            "refire executions list --workflow {}",
            args.workflow
        ));
        say!("{head}: no planned time has started anything yet; runs by hand are in {list}");
    } else {
        let runs = table(&COLUMNS, &history.history, session.now()).lines(0);
        print(&format!("{}\n\n{runs}", heading(&head)))?;
    }
    if let Some(next) = &history.next_execution {
        say!("next  {}", clock_and_distance(next, session.now()));
    }
    if history
        .history
        .iter()
        .any(|run| run.status == RunStatus::Dlq)
    {
        let list = command(&format!("refire dlq list --workflow {}", args.workflow));
        say!("failed executions are in: {list}");
    }
    Ok(Outcome::Done)
}

/// The history of a workflow that has no cron trigger: of its schedule, if there is no doubt which.
async fn of_only_schedule(client: &Client, args: &HistoryArgs) -> anyhow::Result<CronHistory> {
    let workflow = &args.workflow;
    let of = OfWorkflow {
        workflow: Some(workflow.clone()),
    };
    let query = TriggerQuery {
        trigger_type: vec![TriggerType::Schedule],
        ..TriggerQuery::default()
    };
    let paging = Paging::first(SCHEDULES_MAX);
    let schedules = client.triggers(&of, &query, &paging).await?.items;
    match schedules.as_slice() {
        [only] => {
            let id = only.about.id.as_str();
            let history = client.cron_history(workflow, Some(id), Some(args.limit));
            Ok(history.await?)
        }
        [] => anyhow::bail!(
            "workflow `{workflow}` has no cron trigger and no schedule; list its triggers with: \
             refire trigger list --workflow {workflow}"
        ),
        several => {
            let line = |one: &Trigger| format!("\n  {}  {}", one.about.id, summary(one));
            let lines: String = several.iter().map(line).collect();
            let count = several.len();
            let message = format!(
                "workflow `{workflow}` has no cron trigger and {count} schedules; choose one with --trigger:{lines}"
            );
            Err(Usage(message).into())
        }
    }
}

/// Why a trigger that was named has no history here.
async fn not_its(
    client: &Client,
    args: &HistoryArgs,
    id: &str,
    problem: Box<Problem>,
) -> anyhow::Error {
    let Ok(trigger) = client.trigger(id).await else {
        return Error::Problem(problem).into();
    };
    let its = &trigger.about.workflow_id;
    if trigger.about.trigger_type == TriggerType::Webhook {
        return anyhow::anyhow!(
            "{id} is a webhook, which has no planned times; see its requests with: refire trigger \
             requests {id}"
        );
    }
    anyhow::anyhow!(
        "{id} starts `{its}`, not `{}`; see it with: refire trigger history {its} --trigger {id}",
        args.workflow
    )
}

const COLUMNS: [Column<CronRun>; 5] = [
    text("SCHEDULED", |run, _| cell(clock(&run.scheduled_at))),
    text("STATUS", |run, _| status_cell(run.status.name())),
    number("TOOK", |run, _| maybe(run.duration_ms.map(span))),
    text("EXECUTION", |run, _| cell(&run.execution_id)),
    text("RESULT", |run, _| {
        let result = run.result.as_deref();
        maybe(result.map(|result| shortened(result, RESULT_CHARS_SHOWN)))
    }),
];
