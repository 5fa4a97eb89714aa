//! `refire trigger list`.

use refire_client::model::Trigger;
use refire_client::query::{OfWorkflow, Paging, Query, TriggerQuery};

use super::local::{clock, delay, shortened, standing, summary};
use crate::cli::prelude::*;

/// Characters of a name that a row has room for.
const NAME_CHARS_SHOWN: usize = 32;

/// Options of `trigger list`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger list
  refire trigger list --workflow report --type cron
  refire trigger list --disabled --format json | jq -r '.items[].id'")]
pub(crate) struct ListArgs {
    #[command(flatten)]
    of: OfWorkflow,
    #[command(flatten)]
    query: TriggerQuery,
    /// Only paused triggers
    #[arg(long, conflicts_with = "enabled")]
    disabled: bool,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Lists triggers.
pub(super) async fn run(session: &Session, args: &ListArgs) -> anyhow::Result<Outcome> {
    let mut query = args.query.clone();
    if args.disabled {
        query.enabled = Some(false);
    }
    let client = session.client()?;
    let paging = Paging::first(args.limit);
    let page = client.triggers(&args.of, &query, &paging).await?;
    let nothing = async || {
        if let Some(workflow) = &args.of.workflow {
            // One that does not exist has no triggers either, and is most likely a slip.
            client.workflow(workflow).await?;
        }
        Ok(nothing(!args.of.is_empty() || !query.is_empty()))
    };
    session.list(&page, &COLUMNS, nothing).await
}

fn nothing(is_filtered: bool) -> String {
    if is_filtered {
        "no matching triggers. `refire trigger list` shows all.".to_owned()
    } else {
        let example = "refire trigger create WORKFLOW --cron \"0 9 * * MON\"";
        format!("no triggers yet. Create one with: {}", command(example))
    }
}

const COLUMNS: [Column<Trigger>; 7] = [
    text("TRIGGER", |trigger, _| cell(&trigger.about.id)),
    optional("NAME", |trigger, _| {
        let name = trigger.settings.text("name");
        maybe(name.map(|name| shortened(&name, NAME_CHARS_SHOWN)))
    }),
    text("WORKFLOW", |trigger, _| cell(&trigger.about.workflow_id)),
    text("TYPE", |trigger, _| cell(trigger.about.trigger_type.name())),
    text("STATUS", |trigger, _| status_cell(standing(trigger))),
    text("NEXT", |trigger, _| {
        maybe(trigger.about.next_execution.as_deref().map(clock))
    }),
    text("WHEN", |trigger, _| {
        let delay = delay(trigger).map(|delay| format!(", {delay}"));
        cell(summary(trigger) + delay.as_deref().unwrap_or_default())
    }),
];
