//! `refire nodes`: the servers that share one database, and how they are.

use refire_client::model::Node;

use crate::cli::prelude::*;

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

const COLUMNS: [Column<Node>; 9] = [
    text("NAME", |node, _| cell(&node.name)),
    text("NODE", |node, _| cell(&node.node_id)),
    text("ADDRESS", |node, _| cell(&node.address)),
    text("VERSION", |node, _| cell(&node.version)),
    text("UP SINCE", |node, now| {
        cell(relative(&node.started_at, now))
    }),
    text("HEARD", |node, now| cell(relative(&node.renewed_at, now))),
    number("RUNNING", |node, _| Cell::new(node.running)),
    number("HOLDING", |node, _| Cell::new(node.holding)),
    text("NOTE", |node, _| match node.is_this {
        true => faint("answered"),
        false => cell(""),
    }),
];

/// Lists them.
pub(crate) async fn run(session: &Session) -> anyhow::Result<Outcome> {
    let page = session.client()?.nodes().await?;
    let rows = || table(&COLUMNS, &page.items, session.now()).lines(0);
    session.answer(&page, rows)
}
