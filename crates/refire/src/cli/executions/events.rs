//! `refire executions events`: the log as a time line.

use refire_client::model::Event;
use refire_client::query::{EventQuery, Paging};
use refire_client::{Client, every};
use refire_core::json::{Json, Segment};

use crate::cli::prelude::*;

/// Wide enough for the longest name of an event.
const TYPE_WIDTH: usize = 22;
/// Where payloads stand under their event.
const PAYLOAD_MARGIN: usize = 20;
/// Wide enough for the number of most events.
const NUMBER_WIDTH: usize = 4;

/// Options of `executions events`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions events exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions events exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --attempt 2
  refire executions events exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --type STEP_FAILED,RETRY_SCHEDULED --full")]
pub(crate) struct EventsArgs {
    /// The execution (exec_…)
    id: String,
    #[command(flatten)]
    query: EventQuery,
    /// Show the whole payload of each event
    #[arg(long)]
    full: bool,
}

/// Shows the log.
pub(super) async fn run(session: &Session, args: &EventsArgs) -> anyhow::Result<Outcome> {
    let id = ids::execution(&args.id)?;
    let client = session.client()?;
    let page = every(async |paging| client.events(id, &args.query, paging).await).await?;
    if session.is_json() {
        return print_json(&page);
    }
    if page.items.is_empty() {
        say("no matching events. Leave out --attempt, --type and --step to show all.");
        return Ok(Outcome::Done);
    }
    // Times count from the execution's first event, also when that one is filtered out.
    let (any, one) = (EventQuery::default(), Paging::first(1));
    let first = client.events(id, &any, &one).await?;
    let start = first.items.first().map(|event| event.timestamp.clone());
    print(&time_line(&page.items, start.as_deref(), args.full))?;
    Ok(Outcome::Done)
}

/// The events, a line each.
pub(crate) fn time_line(events: &[Event], start: Option<&str>, full: bool) -> String {
    let mut out = String::new();
    let mut before: Option<&Event> = None;
    for event in events {
        // A failure is followed by what follows from it, with the same words: once is enough.
        let is_said = before.is_some_and(|before| {
            before.sequence + 1 == event.sequence && before.failure_reason == event.failure_reason
        });
        let reason = event.failure_reason.as_deref().filter(|_| !is_said);
        let _ = writeln!(out, "{}", line(event, reason, start));
        if full && event.payload.get() != "{}" {
            let margin = " ".repeat(PAYLOAD_MARGIN);
            let _ = writeln!(
                out,
                "{margin}{}",
                indented(event.payload.get(), PAYLOAD_MARGIN)
            );
        }
        before = Some(event);
    }
    out
}

/// `   7     +2.1s  STEP_FAILED   tickets#1  the target answered 503`
fn line(event: &Event, reason: Option<&str>, start: Option<&str>) -> String {
    let since = between(start, Some(&event.timestamp));
    let since = since
        .map(|ms| format!("+{}", offset(ms)))
        .unwrap_or_default();
    let mut details = Vec::new();
    if let Some(step) = &event.step_id {
        let attempt = event.attempt_number.map(|attempt| format!("#{attempt}"));
        details.push(heading(&format!(
            "{}{}",
            clean(step),
            attempt.unwrap_or_default()
        )));
    }
    if let Some(ms) = began_earlier(event, start) {
        details.push(format!("began at +{}", offset(ms)));
    }
    details.extend(called_back(event));
    if let Some(ms) = event.backoff_delay_ms {
        details.push(format!("after {}", span(ms)));
    }
    if let Some(reason) = reason {
        details.push(clean(reason).into_owned());
    }
    let name = clean(&event.event_type);
    let padded = format!("{name:<TYPE_WIDTH$}");
    let number = event.sequence;
    let text = format!(
        "{}  {}  {}",
        dim(&format!("{number:>NUMBER_WIDTH$}{since:>12}")),
        tone(&padded),
        details.join("  ")
    );
    text.trim_end().to_owned()
}

/// When the attempt really began, where that is before the event's own time: a start is recorded
/// with its result, and times in a log never go back.
fn began_earlier(event: &Event, start: Option<&str>) -> Option<u64> {
    let payload = Json::parse(event.payload.get()).ok()?;
    let began = payload.at(&[Segment::Key("started_at".into())])?;
    let began = began.as_text()?.into_owned();
    if event.event_type != "STEP_STARTED" || between(Some(&began), Some(&event.timestamp))? == 0 {
        return None;
    }
    between(start, Some(&began))
}

/// What a target said, or until when it may.
fn called_back(event: &Event) -> Option<String> {
    let payload = Json::parse(event.payload.get()).ok()?;
    let text = |name: &str| {
        let value = payload.at(&[Segment::Key(name.into())])?;
        let text = value.as_text().map(std::borrow::Cow::into_owned);
        Some(clean(&text.unwrap_or_else(|| value.as_str().to_owned())).into_owned())
    };
    match event.event_type.as_str() {
        "STEP_STARTED" => Some(format!(
            "waits for a callback until {}",
            text("waits_until")?
        )),
        "CALLBACK_RECEIVED" => {
            let progress = text("progress").map(|percent| format!(" {percent} %"));
            let message = text("progress_message").map(|message| format!("  {message}"));
            let early = text("early").map_or("", |_| "  before the answer");
            let (progress, message) = (progress.unwrap_or_default(), message.unwrap_or_default());
            Some(format!("{}{progress}{message}{early}", text("status")?))
        }
        "STEP_COMPLETED" => Some(format!("with the answer of event {}", text("answer")?)),
        _ => None,
    }
}

/// Milliseconds matter here, also after a minute.
fn offset(ms: u64) -> String {
    if ms < 10_000 {
        format!("{ms}ms")
    } else {
        format!("{}.{:03}s", ms / 1_000, ms % 1_000)
    }
}

fn tone(event_type: &str) -> String {
    match event_type.trim_end() {
        kind if kind.ends_with("FAILED") || kind == "DEAD_LETTERED" => bad(event_type),
        kind if kind.ends_with("COMPLETED") => good(event_type),
        "RETRY_SCHEDULED" | "STEP_LOST" | "EXECUTION_PAUSED" => warning(event_type),
        _ => event_type.to_owned(),
    }
}

/// Prints what was added to a log since this event; which is the last one now.
pub(super) async fn print_new(client: &Client, id: &str, seen: u64) -> anyhow::Result<u64> {
    let any = EventQuery::default();
    let page = every(async |paging| client.events(id, &any, paging).await).await?;
    let start = page.items.first().map(|event| event.timestamp.as_str());
    let new = page.items.partition_point(|event| event.sequence <= seen);
    print(&time_line(&page.items[new..], start, false))?;
    Ok(page.items.last().map_or(seen, |event| event.sequence))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn events() -> Vec<Event> {
        let text = r#"[
            {"sequence": 1, "event_type": "EXECUTION_STARTED",
             "timestamp": "2026-11-15T09:30:00Z", "step_id": null, "payload": {"input": 1},
             "attempt_number": null, "backoff_delay_ms": null, "failure_reason": null},
            {"sequence": 2, "event_type": "STEP_FAILED", "timestamp": "2026-11-15T09:30:00.012Z",
             "step_id": "call", "payload": {}, "attempt_number": 1, "backoff_delay_ms": null,
             "failure_reason": "the target answered 503\u001b[2J"},
            {"sequence": 3, "event_type": "RETRY_SCHEDULED",
             "timestamp": "2026-11-15T09:30:12.012Z", "step_id": "call", "payload": {},
             "attempt_number": 2, "backoff_delay_ms": 2100,
             "failure_reason": "the target answered 503\u001b[2J"}
        ]"#;
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn the_time_line_counts_from_the_start() {
        let events = events();
        let text = time_line(&events, Some(&events[0].timestamp), false);
        let expected = "
   1        +0ms  EXECUTION_STARTED
   2       +12ms  STEP_FAILED             call#1  the target answered 503\\u{1b}[2J
   3    +12.012s  RETRY_SCHEDULED         call#2  after 2.1s
";
        assert_eq!(
            anstream::adapter::strip_str(&text).to_string(),
            expected[1..]
        );
    }

    #[test]
    fn payloads_stand_below_when_asked_for() {
        let events = events();
        let text = time_line(&events, None, true);
        assert!(
            text.contains("\n                    {\n                      \"input\": 1\n"),
            "{text}"
        );
        assert_eq!(
            text.matches('{').count() - text.matches("u{").count(),
            1,
            "empty ones do not"
        );
    }
}
