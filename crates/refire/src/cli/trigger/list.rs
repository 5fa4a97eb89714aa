//! `refire trigger list`.

use clap::Args;
use refire_client::model::{Page, Trigger};
use refire_client::query::{OfWorkflow, Paging, Query, TriggerQuery};

use super::local::{clock, delay, shortened, standing, summary};
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{command, status_cell};
use crate::cli::session::Session;
use crate::cli::table::{Grid, cell, maybe};

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
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        if let Some(workflow) = &args.of.workflow {
            // One that does not exist has no triggers either, and is most likely a slip.
            client.workflow(workflow).await?;
        }
        say(&nothing(!args.of.is_empty() || !query.is_empty()));
        return Ok(Outcome::Done);
    }
    print(&rows(&page))?;
    if page.next_cursor.is_some() {
        say("more exist: use --limit");
    }
    Ok(Outcome::Done)
}

fn nothing(is_filtered: bool) -> String {
    if is_filtered {
        "no matching triggers. `refire trigger list` shows all.".to_owned()
    } else {
        let example = "refire trigger create WORKFLOW --cron \"0 9 * * MON\"";
        format!("no triggers yet. Create one with: {}", command(example))
    }
}

fn rows(page: &Page<Trigger>) -> String {
    let name = |trigger: &Trigger| trigger.settings.text("name");
    let has_names = page.items.iter().any(|trigger| name(trigger).is_some());
    let mut heads = vec!["TRIGGER", "WORKFLOW", "TYPE", "STATUS", "NEXT", "WHEN"];
    if has_names {
        heads.insert(1, "NAME");
    }
    let mut grid = Grid::new(&heads);
    for trigger in &page.items {
        let about = &trigger.about;
        let next = about.next_execution.as_deref().map(clock);
        let delay = delay(trigger).map(|delay| format!(", {delay}"));
        let when = summary(trigger) + delay.as_deref().unwrap_or_default();
        let mut row = vec![
            cell(&about.id),
            cell(&about.workflow_id),
            cell(about.trigger_type.name()),
            status_cell(standing(trigger)),
            maybe(next.as_deref()),
            cell(&when),
        ];
        if has_names {
            let name = name(trigger).unwrap_or_default();
            row.insert(1, cell(&shortened(&name, NAME_CHARS_SHOWN)));
        }
        grid.row(row);
    }
    grid.lines(0)
}
