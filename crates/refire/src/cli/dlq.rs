//! `refire dlq`: executions that failed for good, and giving them another chance.

mod list;
mod retry;
mod show;
mod story;

use refire_client::model::BulkDeadLetters;

use crate::cli::bulk::follow::{self, Wish};
use crate::cli::bulk::which::{How, Which};
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
    /// Run a dead letter again, or many, with their own or changed inputs
    Retry(Box<retry::RetryArgs>),
    /// Delete a dead letter, or many: they are not retried any more
    Delete(DeleteArgs),
    /// Remove dead letters for good, with their executions; pending ones only with --include-pending
    Purge(PurgeArgs),
}

/// Options of `dlq delete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq delete dlq_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire dlq delete dlq_01j9x8w7v6t5s4r3q2p1n0m9k8 --yes
  refire dlq delete --workflow ship_order --error-type template --dry-run

Several ids, or options that say which, make a bulk job.")]
pub(crate) struct DeleteArgs {
    /// The dead letter (dlq_…), or several
    #[arg(value_name = "ID")]
    id: Vec<String>,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
}

/// Options of `dlq purge`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire dlq purge --status resolved,deleted --until 90d --archived=all
  refire dlq purge --workflow ship_order --archived=all --include-pending --yes

Without --status, resolved and deleted ones go. What is purged cannot be had back.")]
pub(crate) struct PurgeArgs {
    /// Dead letters (dlq_…)
    #[arg(value_name = "ID")]
    id: Vec<String>,
    /// Pending ones, too
    #[arg(long)]
    include_pending: bool,
    #[command(flatten)]
    which: Which,
    #[command(flatten)]
    how: How,
}

/// Does what was asked.
pub(crate) async fn run(session: &Session, command: &DlqCommand) -> anyhow::Result<Outcome> {
    match command {
        DlqCommand::List(args) => list::list(session, args).await,
        DlqCommand::Summary(args) => list::summary(session, args).await,
        DlqCommand::Show(args) => show::run(session, args).await,
        DlqCommand::Retry(args) => retry::run(session, args).await,
        DlqCommand::Delete(args) => delete(session, args).await,
        DlqCommand::Purge(args) => purge(session, args).await,
    }
}

/// A job for letters that are named by ids, or by what they have in common.
fn which_letters(
    session: &Session,
    action: &str,
    ids: &[String],
    which: &Which,
) -> anyhow::Result<BulkDeadLetters> {
    let (ids, filter) = match (ids.is_empty(), which.is_empty()) {
        (false, true) => {
            let ids = ids.iter().map(|id| ids::letter(id).map(str::to_owned));
            (Some(ids.collect::<Result<Vec<_>, _>>()?), None)
        }
        (true, false) => (None, Some(which.filter(session.now())?)),
        (false, false) => {
            let message = "give ids, or options that say which, not both";
            return Err(Usage(message.to_owned()).into());
        }
        (true, true) => {
            let message =
                "which dead letters? Give an id, or options such as --workflow or --status";
            return Err(Usage(message.to_owned()).into());
        }
    };
    Ok(BulkDeadLetters {
        action: action.to_owned(),
        ids,
        filter,
        ..BulkDeadLetters::default()
    })
}

async fn purge(session: &Session, args: &PurgeArgs) -> anyhow::Result<Outcome> {
    let wish = BulkDeadLetters {
        include_pending: args.include_pending.then_some(true),
        ..which_letters(session, "purge", &args.id, &args.which)?
    };
    let wish = Wish::Letters(Box::new(wish));
    follow::run(session, wish, &args.how, "Remove for good").await
}

async fn delete(session: &Session, args: &DeleteArgs) -> anyhow::Result<Outcome> {
    let is_plain = args.which.is_empty() && !args.how.dry_run;
    let id = match args.id.as_slice() {
        [id] if is_plain => ids::letter(id)?,
        _ => {
            let wish = which_letters(session, "delete", &args.id, &args.which)?;
            let wish = Wish::Letters(Box::new(wish));
            return follow::run(session, wish, &args.how, "Delete").await;
        }
    };
    let client = session.client()?;
    if !confirm(&format!("Delete the dead letter {id}?"), args.how.yes)? {
        return Ok(Outcome::Refused);
    }
    client.delete_dead_letter(id).await?;
    let hint = "`refire dlq list --status deleted` still shows it";
    session.deleted(id, hint)
}
