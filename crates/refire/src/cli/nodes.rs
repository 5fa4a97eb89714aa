//! `refire nodes`: the servers that share one database, and how they are.

use clap::Args;

use super::moment::relative;
use super::outcome::Outcome;
use super::output::{print, print_json};
use super::session::Session;
use super::table::{Grid, cell, faint};

/// Options of `refire nodes`; there are none of its own.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire nodes list
  refire nodes --url https://refire.example.com --format json

HEARD is when the node last renewed its lease. A node that is silent for longer than its lease is
removed from the list, and the others take over its work. RUNNING counts attempts in flight, HOLDING
counts work that it has taken and not started, such as waits that end soon. NOTE marks the node
that answered this command.")]
pub(crate) struct NodesArgs {
    /// `list`, as for other nouns; may be left out
    #[arg(value_name = "list", value_parser = ["list"], hide_possible_values = true)]
    list: Option<String>,
}

/// Lists them.
pub(crate) async fn run(session: &Session) -> anyhow::Result<Outcome> {
    let page = session.client()?.nodes().await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    let heads = [
        "NAME", "NODE", "ADDRESS", "VERSION", "UP SINCE", "HEARD", "RUNNING", "HOLDING", "NOTE",
    ];
    let mut grid = Grid::new(&heads).right(6).right(7);
    let now = session.now();
    for node in &page.items {
        grid.row(vec![
            cell(&node.name),
            cell(&node.node_id),
            cell(&node.address),
            cell(&node.version),
            cell(&relative(&node.started_at, now)),
            cell(&relative(&node.renewed_at, now)),
            cell(&node.running.to_string()),
            cell(&node.holding.to_string()),
            if node.is_this {
                faint("answered")
            } else {
                cell("")
            },
        ]);
    }
    print(&grid.lines(0))?;
    Ok(Outcome::Done)
}
