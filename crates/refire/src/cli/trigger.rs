//! `refire trigger`: what starts workflows by itself, and what became of its planned times.

mod act;
mod create;
mod fields;
mod filter;
mod history;
mod introduce;
mod kind;
mod list;
mod local;
mod recheck;
mod requests;
mod show;
mod slots;
mod tester;
pub(crate) mod upcoming;
mod wish;

use crate::cli::prelude::*;

/// Commands about triggers.
#[derive(Debug, Subcommand)]
pub(crate) enum TriggerCommand {
    /// Create a trigger for a workflow
    Create(create::CreateArgs),
    /// List triggers, oldest first
    List(list::ListArgs),
    /// Show a trigger: when it fires, its settings and its state
    Show(show::ShowArgs),
    /// Change a trigger's settings; those not named stay as they are
    Update(create::UpdateArgs),
    /// Delete a trigger; its executions are kept
    #[command(visible_alias = "rm")]
    Delete(act::DeleteArgs),
    /// Resume a paused trigger
    #[command(visible_alias = "resume")]
    Enable(act::EnableArgs),
    /// Pause a trigger: it starts nothing until it is enabled again
    #[command(visible_alias = "pause")]
    Disable(act::DisableArgs),
    /// Start an execution now, as the trigger would
    Run(act::RunArgs),
    /// Show the next planned times
    Next(slots::NextArgs),
    /// Show which triggers fire next, the soonest first
    Upcoming(upcoming::UpcomingArgs),
    /// Show what happened at its planned times (the ledger), newest first
    Slots(slots::SlotsArgs),
    /// List the requests to a webhook, or show one
    Requests(requests::RequestsArgs),
    /// Check refused webhook requests again, and run those that pass
    Recheck(recheck::RecheckArgs),
    /// Send a test request to a webhook, signed as its sender would sign it
    Test(tester::TestArgs),
    /// Print a signed curl command for a webhook
    Curl(tester::CurlArgs),
    /// Run planned times of the past; by default only those that were missed
    Backfill(slots::BackfillArgs),
    /// Give a webhook a new secret; the old one stays valid for a while
    RotateSecret(act::RotateArgs),
    /// Show the latest executions of a workflow's cron trigger or schedule, with their results
    History(history::HistoryArgs),
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &TriggerCommand) -> anyhow::Result<Outcome> {
    match command {
        TriggerCommand::Create(args) => create::create(session, args).await,
        TriggerCommand::List(args) => list::run(session, args).await,
        TriggerCommand::Show(args) => show::run(session, args).await,
        TriggerCommand::Update(args) => create::update(session, args).await,
        TriggerCommand::Delete(args) => act::delete(session, args).await,
        TriggerCommand::Enable(args) => act::enable(session, args).await,
        TriggerCommand::Disable(args) => act::disable(session, args).await,
        TriggerCommand::Run(args) => act::run(session, args).await,
        TriggerCommand::Next(args) => slots::next(session, args).await,
        TriggerCommand::Upcoming(args) => upcoming::run(session, args).await,
        TriggerCommand::Slots(args) => slots::slots(session, args).await,
        TriggerCommand::Requests(args) => requests::run(session, args).await,
        TriggerCommand::Recheck(args) => recheck::run(session, args).await,
        TriggerCommand::Test(args) => tester::test(session, args).await,
        TriggerCommand::Curl(args) => tester::curl(session, args).await,
        TriggerCommand::Backfill(args) => slots::backfill(session, args).await,
        TriggerCommand::RotateSecret(args) => act::rotate(session, args).await,
        TriggerCommand::History(args) => history::run(session, args).await,
    }
}
