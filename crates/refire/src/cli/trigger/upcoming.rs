//! `refire trigger upcoming`: which triggers fire next.

use refire_client::model::UpcomingFire;

use super::local::{clock, shortened};
use crate::cli::prelude::*;

/// Characters of a name that a row has room for.
const NAME_CHARS_SHOWN: usize = 32;

/// Options of `trigger upcoming`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger upcoming
  refire trigger upcoming --limit 5 --format json | jq -r '.items[].at'")]
pub(crate) struct UpcomingArgs {
    /// How many triggers to show
    #[arg(long, value_name = "N", default_value_t = 20)]
    limit: u32,
}

/// Lists the next planned time of each trigger.
pub(super) async fn run(session: &Session, args: &UpcomingArgs) -> anyhow::Result<Outcome> {
    let page = session.client()?.upcoming(args.limit).await?;
    let nothing =
        async || Ok("nothing is planned: no enabled trigger has planned times".to_owned());
    session.list(&page, &COLUMNS, nothing).await
}

/// The planned time of each, with what it starts.
pub(crate) const COLUMNS: [Column<UpcomingFire>; 6] = [
    text("PLANNED", |fire, _| cell(clock(&fire.local))),
    text("", |fire, now| cell(relative(&fire.at, now))),
    text("WORKFLOW", |fire, _| cell(&fire.workflow_id)),
    text("TRIGGER", |fire, _| cell(&fire.trigger_id)),
    optional("NAME", |fire, _| {
        maybe(
            fire.name
                .as_deref()
                .map(|name| shortened(name, NAME_CHARS_SHOWN)),
        )
    }),
    text("WHEN", |fire, _| cell(&fire.description)),
];
