//! `refire alerts`: what rules have found, and that somebody is at it.

use refire_client::model::{Alert, AlertPhase};
use refire_client::query::{AlertQuery, Paging};

use crate::cli::prelude::*;

/// Commands about alerts.
#[derive(Debug, Subcommand)]
pub(crate) enum AlertsCommand {
    /// List alerts, newest first
    List(ListArgs),
    /// Acknowledge an alert: nobody is reminded of it any more
    ///
    /// That it is over is told all the same.
    Ack(AckArgs),
}

/// Options of `alerts list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alerts list
  refire alerts list --phase pending,firing,resolved
  refire alerts list --subject ship_order --format json")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    query: AlertQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Options of `alerts ack`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire alerts ack alert_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct AckArgs {
    /// The alert (alert_…)
    id: String,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &AlertsCommand) -> anyhow::Result<Outcome> {
    match command {
        AlertsCommand::List(args) => list(session, args).await,
        AlertsCommand::Ack(args) => acknowledge(session, args).await,
    }
}

const COLUMNS: [Column<Alert>; 7] = [
    text("ALERT", |alert, _| cell(&alert.id)),
    text("PHASE", |alert, _| status_cell(alert.phase.name())),
    text("RULE", |alert, _| cell(&alert.rule)),
    text("ABOUT", |alert, _| cell(&alert.subject)),
    number("VALUE", |alert, _| cell(&alert.value_text)),
    text("SINCE", |alert, now| cell(relative(&alert.since, now))),
    text("TOLD", |alert, now| match &alert.told_at {
        _ if alert.acked_at.is_some() => cell("acknowledged"),
        Some(at) => cell(relative(at, now)),
        None if alert.muted => cell("muted"),
        None => cell(""),
    }),
];

async fn list(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut query = args.query.clone();
    if query.phase.is_empty() {
        query.phase = vec![AlertPhase::Pending, AlertPhase::Firing];
    }
    let paging = Paging::first(args.limit);
    let page = session.client()?.alerts(&query, &paging).await?;
    let nothing = format!(
        "no such alerts; see the rules with: {}",
        command("refire alert-rules list")
    );
    session.list(&page, &COLUMNS, async || Ok(nothing)).await
}

async fn acknowledge(session: &Session, args: &AckArgs) -> anyhow::Result<Outcome> {
    let alert = session.client()?.acknowledge_alert(&args.id).await?;
    session.answer(&alert, || {
        format!(
            "{} ({}) is acknowledged; nobody is reminded of it",
            alert.id,
            clean(&alert.rule)
        )
    })
}
