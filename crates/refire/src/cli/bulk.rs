//! `refire bulk`: jobs that do something with many dead letters or executions.

pub(crate) mod follow;
pub(crate) mod which;

use refire_client::model::{BulkItem, BulkJob};
use refire_client::query::{BulkItemQuery, BulkQuery, Paging, Query};

use crate::cli::prelude::*;

/// Commands about bulk jobs.
#[derive(Debug, Subcommand)]
pub(crate) enum BulkCommand {
    /// List bulk jobs, newest first
    List(ListArgs),
    /// Show a bulk job, and what became of the dead letters or executions that it is about
    Show(ShowArgs),
    /// Pause a bulk job: what is under way ends, nothing else begins
    Pause(PauseArgs),
    /// Let a paused bulk job go on where it stopped
    Resume(ResumeArgs),
    /// End a bulk job where it stands; what it has done stays done
    Cancel(CancelArgs),
}

/// Options of `bulk list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bulk list
  refire bulk list --state running,paused")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: BulkQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `bulk show`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bulk show bulk_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire bulk show bulk_01j9x8w7v6t5s4r3q2p1n0m9k8 --outcome failed --limit 1000
  refire bulk show bulk_01j9x8w7v6t5s4r3q2p1n0m9k8 --watch")]
pub(crate) struct ShowArgs {
    /// The job (bulk_…)
    id: String,
    #[command(flatten)]
    query: BulkItemQuery,
    /// How many things to show
    #[arg(long, value_name = "N", default_value_t = 10)]
    limit: u32,
    /// Follow it to its end
    #[arg(long)]
    watch: bool,
}

/// Options of `bulk pause`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bulk pause bulk_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct PauseArgs {
    /// The job (bulk_…)
    id: String,
}

/// Options of `bulk resume`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bulk resume bulk_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct ResumeArgs {
    /// The job (bulk_…)
    id: String,
}

/// Options of `bulk cancel`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bulk cancel bulk_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct CancelArgs {
    /// The job (bulk_…)
    id: String,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &BulkCommand) -> anyhow::Result<Outcome> {
    match command {
        BulkCommand::List(args) => list(session, args).await,
        BulkCommand::Show(args) => show(session, args).await,
        BulkCommand::Pause(args) => change(session, &args.id, "pause").await,
        BulkCommand::Resume(args) => change(session, &args.id, "resume").await,
        BulkCommand::Cancel(args) => change(session, &args.id, "cancel").await,
    }
}

const COLUMNS: [Column<BulkJob>; 8] = [
    text("JOB", |job, _| cell(&job.id)),
    text("ACTION", |job, _| cell(job.action.name())),
    text("STATE", |job, _| status_cell(job.state.name())),
    number("DONE", |job, _| cell(progress(job))),
    number("OK", |job, _| Cell::new(job.ok)),
    number("FAILED", |job, _| Cell::new(job.failed)),
    number("SKIPPED", |job, _| Cell::new(job.skipped)),
    text("CREATED", |job, now| cell(relative(&job.created_at, now))),
];

const ITEMS: [Column<BulkItem>; 4] = [
    text("THING", |item, _| cell(&item.id)),
    text("OUTCOME", |item, _| status_cell(item.outcome.name())),
    optional("EXECUTION", |item, _| maybe(item.execution_id.as_ref())),
    optional("WHY", |item, _| maybe(item.detail.as_ref())),
];

fn progress(job: &BulkJob) -> String {
    match job.total {
        Some(total) => format!("{}/{total}", job.done),
        None => job.done.to_string(),
    }
}

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let paging = Paging::first(args.limit);
    let page = session.client()?.bulk_jobs(&args.query, &paging).await?;
    let nothing = match args.query.is_empty() {
        false => "no matching bulk jobs".to_owned(),
        true => format!(
            "no bulk jobs yet. One is made by, for example: {}",
            command("refire dlq retry --workflow ship_order")
        ),
    };
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn show(session: &Session, args: &ShowArgs) -> anyhow::Result<Outcome> {
    let id = ids::bulk(&args.id)?;
    let client = session.client()?;
    if args.watch {
        return follow::to_the_end(session, &client, id).await;
    }
    let job = client.bulk_job(id).await?;
    if session.is_json() && args.query.is_empty() {
        return print_json(&job);
    }
    let paging = Paging::first(args.limit);
    let items = client.bulk_items(id, &args.query, &paging).await?;
    session.answer(&items, || screen(session, &job, &items.items))
}

fn screen(session: &Session, job: &BulkJob, items: &[BulkItem]) -> String {
    let now = session.now();
    let filter = job.filter.as_ref().map(|filter| {
        let parts = filter.iter().map(|(name, text)| format!("{name}={text}"));
        clean(&parts.collect::<Vec<_>>().join(" ")).into_owned()
    });
    let named = job.ids.map(|count| format!("{count} named by id"));
    let is_true = |flag: Option<bool>| flag.filter(|flag| *flag).map(|_| "yes".to_owned());
    let facts = [
        ("action", Some(job.action.name().to_owned())),
        ("which", filter.or(named)),
        ("done", Some(progress(job))),
        ("ok", Some(job.ok.to_string())),
        ("failed", Some(job.failed.to_string())),
        ("skipped", Some(job.skipped.to_string())),
        ("rate", Some(format!("{} a second at most", job.rate))),
        ("from", job.from.clone()),
        ("automatic retries", is_true(job.retries)),
        ("pending ones, too", is_true(job.include_pending)),
        ("undoes steps", is_true(job.compensate)),
        (
            "created",
            Some(format!(
                "{} by {}",
                both(&job.created_at, now),
                clean(&job.created_by)
            )),
        ),
        ("ended", job.ended_at.as_ref().map(|at| both(at, now))),
    ];
    let rows = match items.is_empty() {
        true => String::new(),
        false => table(&ITEMS, items, now).lines(2),
    };
    let id = &job.id;
    let next = match job.state.name() {
        "running" => vec![
            format!("refire bulk show {id} --watch"),
            format!("refire bulk pause {id}"),
        ],
        "paused" => vec![
            format!("refire bulk resume {id}"),
            format!("refire bulk cancel {id}"),
        ],
        _ if job.failed > 0 => vec![format!("refire bulk show {id} --outcome failed")],
        _ => Vec::new(),
    };
    Screen::of(id, job.state.name())
        .facts(17, facts)
        .json("Transform", job.transform.as_deref())
        .section("Things", rows)
        .next(&next)
}

async fn change(session: &Session, id: &str, change: &str) -> anyhow::Result<Outcome> {
    let id = ids::bulk(id)?;
    let job = session.client()?.change_bulk_job(id, change).await?;
    session.answer(&job, || {
        format!("{id}  {}  {}", status(job.state.name()), progress(&job))
    })
}
