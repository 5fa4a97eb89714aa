//! `refire dlq`: executions that failed for good, and giving them another chance.

mod list;
mod retry;
mod show;
mod story;

use crate::cli::prelude::*;

/// Commands about dead letters.
#[derive(Debug, Subcommand)]
pub(crate) enum DlqCommand {
    /// List dead letters, newest first
    List(list::ListArgs),
    /// Count dead letters by workflow and error
    Summary(list::SummaryArgs),
    /// Show one dead letter: the error, its attempts, its input, and what to try
    Show(show::ShowArgs),
    /// Run a dead letter again, with its own or an edited input
    Retry(retry::RetryArgs),
    /// Delete a dead letter: it is not retried any more
    Delete(DeleteArgs),
}

/// Options of `dlq delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq delete dlq_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire dlq delete dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --yes")]
pub(crate) struct DeleteArgs {
    /// The dead letter (dlq_…)
    id: String,
    /// Do not ask for confirmation
    #[arg(long, short)]
    yes: bool,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &DlqCommand) -> anyhow::Result<Outcome> {
    match command {
        DlqCommand::List(args) => list::list(session, args).await,
        DlqCommand::Summary(args) => list::summary(session, args).await,
        DlqCommand::Show(args) => show::run(session, args).await,
        DlqCommand::Retry(args) => retry::run(session, args).await,
        DlqCommand::Delete(args) => delete(session, args).await,
    }
}

async fn delete(session: &Session, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let id = ids::letter(&args.id)?;
    let client = session.client()?;
    if !confirm(&format!("Delete the dead letter {id}?"), args.yes)? {
        return Ok(Outcome::Refused);
    }
    client.delete_dead_letter(id).await?;
    let hint = "`refire dlq list --status deleted` still shows it";
    session.deleted(id, hint)
}
