//! `refire trigger requests`: what came to a webhook and what became of it.

use std::fmt::Write as _;

use clap::Args;
use comfy_table::Cell;
use refire_client::model::WebhookRequest;
use refire_client::query::{Paging, Query, RequestQuery};

use super::kind;
use crate::cli::ids;
use crate::cli::moment::{both, relative};
use crate::cli::outcome::Outcome;
use crate::cli::output::{print, print_json, say};
use crate::cli::paint::{clean, dim, heading, status, status_cell};
use crate::cli::pretty::indented;
use crate::cli::session::Session;
use crate::cli::table::{Grid, cell, maybe};
use crate::cli::when::moments;

/// Options of `trigger requests`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire trigger requests trg_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire trigger requests trg_01j9x8w7v6t5s4r3q2p1n0m9k8 --status auth_failed --from 24h
  refire trigger requests trg_01j9x8w7v6t5s4r3q2p1n0m9k8 whr_01j9x8w7v6t5s4r3q2p1n0m9k8")]
pub(crate) struct RequestsArgs {
    /// The trigger (trg_…)
    id: String,
    /// Show this request (whr_…) with its headers and body
    request: Option<String>,
    #[command(flatten)]
    query: RequestQuery,
    /// How many to show
    #[arg(long, value_name = "N", default_value_t = 50)]
    limit: u32,
}

/// Lists requests, or shows one.
pub(super) async fn run(session: &Session, args: &RequestsArgs) -> anyhow::Result<Outcome> {
    let id = ids::trigger(&args.id)?;
    let client = session.client()?;
    if let Some(request) = &args.request {
        let request = client.webhook_request(id, request).await?;
        if session.is_json() {
            print_json(&request)?;
        } else {
            print(&screen(session, &request))?;
        }
        return Ok(Outcome::Done);
    }
    let mut query = args.query.clone();
    moments(&mut query.from, &mut query.to, session.now())?;
    let paging = Paging::first(args.limit);
    let page = client.webhook_requests(id, &query, &paging).await?;
    if session.is_json() {
        print_json(&page)?;
        return Ok(Outcome::Done);
    }
    if page.items.is_empty() {
        let trigger = client.trigger(id).await?;
        say(&kind::no_requests(&trigger, !query.is_empty()));
        return Ok(Outcome::Done);
    }
    print(&rows(session, &page.items))?;
    if page.next_cursor.is_some() {
        say("more exist: use --limit");
    }
    Ok(Outcome::Done)
}

fn rows(session: &Session, requests: &[WebhookRequest]) -> String {
    let heads = [
        "REQUEST",
        "RECEIVED",
        "STATUS",
        "FROM",
        "BYTES",
        "EXECUTION",
        "ERROR",
    ];
    let mut grid = Grid::new(&heads).right(4);
    for request in requests {
        grid.row(vec![
            cell(&request.id),
            cell(&relative(&request.received_at, session.now())),
            status_cell(request.status.name()),
            cell(&request.source_ip),
            Cell::new(request.body_bytes),
            maybe(request.execution_id.as_deref()),
            cell(&note(request)),
        ]);
    }
    grid.lines(0)
}

fn note(request: &WebhookRequest) -> String {
    let test = request.test.then(|| "test".to_owned());
    let parts: Vec<String> = test.into_iter().chain(request.error.clone()).collect();
    parts.join("; ")
}

fn screen(session: &Session, request: &WebhookRequest) -> String {
    let mut out = format!(
        "{}  {}\n",
        heading(&request.id),
        status(request.status.name())
    );
    let facts = [
        ("received", Some(both(&request.received_at, session.now()))),
        ("from", Some(clean(&request.source_ip).into_owned())),
        ("test", request.test.then(|| "yes".to_owned())),
        ("execution", request.execution_id.clone()),
        (
            "error",
            request
                .error
                .as_deref()
                .map(|text| clean(text).into_owned()),
        ),
        (
            "note",
            request.note.as_deref().map(|text| clean(text).into_owned()),
        ),
        ("body", Some(format!("{} bytes", request.body_bytes))),
    ];
    for (name, value) in facts {
        if let Some(value) = value {
            let _ = writeln!(out, "  {} {value}", dim(&format!("{name:<10}")));
        }
    }
    if let Some(headers) = &request.headers {
        let _ = writeln!(out, "\n{}", heading("Headers"));
        for header in headers {
            let name = format!("{}:", clean(&header.name));
            let _ = writeln!(out, "  {} {}", dim(&name), clean(&header.value));
        }
        if let Some(count) = request.headers_left_out {
            let _ = writeln!(out, "  {}", dim(&format!("{count} more were not kept")));
        }
    }
    if let Some(body) = &request.body {
        let _ = write!(
            out,
            "\n{}\n  {}\n",
            heading("Body"),
            indented(body.get(), 2)
        );
    }
    out
}

#[cfg(test)]
mod tests {
    use refire_client::model::RequestStatus;

    use super::*;

    #[test]
    fn what_was_refused_has_a_reason() {
        let request = |status, error: Option<&str>| WebhookRequest {
            id: "whr_1".to_owned(),
            trigger_id: "trg_1".to_owned(),
            received_at: "a".to_owned(),
            status,
            source_ip: "::1".to_owned(),
            test: false,
            execution_id: None,
            error: error.map(str::to_owned),
            body_bytes: 0,
            headers: None,
            headers_left_out: None,
            body: None,
            body_encoding: None,
            note: None,
        };
        assert_eq!(
            note(&request(RequestStatus::Disabled, Some("told"))),
            "told"
        );
        assert_eq!(note(&request(RequestStatus::Triggered, None)), "");
    }
}
