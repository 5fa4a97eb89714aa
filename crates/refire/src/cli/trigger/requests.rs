//! `refire trigger requests`: what came to a webhook and what became of it.

use refire_client::model::{RequestHeader, WebhookRequest};
use refire_client::query::{Paging, Query, RequestQuery};

use super::kind;
use crate::cli::prelude::*;

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
        return session.answer(&request, || screen(session, &request));
    }
    let mut query = args.query.clone();
    moments(&mut query.from, &mut query.to, session.now())?;
    let paging = Paging::first(args.limit);
    let page = client.webhook_requests(id, &query, &paging).await?;
    let nothing = async || {
        let trigger = client.trigger(id).await?;
        Ok(kind::no_requests(&trigger, !query.is_empty()))
    };
    session.list(&page, &COLUMNS, nothing).await
}

const COLUMNS: [Column<WebhookRequest>; 7] = [
    text("REQUEST", |request, _| cell(&request.id)),
    text("RECEIVED", |request, now| {
        cell(relative(&request.received_at, now))
    }),
    text("STATUS", |request, _| status_cell(request.status.name())),
    text("FROM", |request, _| cell(&request.source_ip)),
    number("BYTES", |request, _| Cell::new(request.body_bytes)),
    text("EXECUTION", |request, _| {
        maybe(request.execution_id.as_ref())
    }),
    text("ERROR", |request, _| cell(note(request))),
];

fn note(request: &WebhookRequest) -> String {
    let test = request.test.then(|| "test".to_owned());
    let parts: Vec<String> = test.into_iter().chain(request.error.clone()).collect();
    parts.join("; ")
}

fn screen(session: &Session, request: &WebhookRequest) -> String {
    let cleaned = |text: &Option<String>| text.as_deref().map(|text| clean(text).into_owned());
    let facts = [
        ("received", Some(both(&request.received_at, session.now()))),
        ("from", Some(clean(&request.source_ip).into_owned())),
        ("test", request.test.then(|| "yes".to_owned())),
        ("execution", request.execution_id.clone()),
        ("error", cleaned(&request.error)),
        ("note", cleaned(&request.note)),
        ("body", Some(format!("{} bytes", request.body_bytes))),
    ];
    let mut screen = Screen::of(&request.id, request.status.name()).facts(10, facts);
    if let Some(headers) = &request.headers {
        let left_out = request.headers_left_out;
        let left_out =
            left_out.map(|count| format!("  {}\n", dim(&format!("{count} more were not kept"))));
        screen = screen
            .line(format!("\n{}", heading("Headers")))
            .lines(header_lines(headers))
            .lines(left_out.unwrap_or_default());
    }
    screen.json("Body", request.body.as_deref()).text()
}

/// Headers as they are sent, a line each.
pub(super) fn header_lines(headers: &[RequestHeader]) -> String {
    let lines = headers.iter().map(|header| {
        let name = dim(&format!("{}:", clean(&header.name)));
        format!("  {name} {}\n", clean(&header.value))
    });
    lines.collect()
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
