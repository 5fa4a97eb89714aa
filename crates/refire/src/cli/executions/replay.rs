//! `refire executions replay`: derives an execution's decisions again and compares.

use std::path::PathBuf;

use refire_client::model::{Event, ReplayDifference, ReplayResult};

use super::events::time_line;
use crate::cli::definitions;
use crate::cli::prelude::*;

/// Options of `executions replay`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire executions replay exec_01j9x8w7v6t5s4r3q2p1n0m9k8
  refire executions replay exec_01j9x8w7v6t5s4r3q2p1n0m9k8 --definition changed.yaml

Nothing is started and nothing is called. With --definition the recorded results are used with the
changed definition, and the first decision that would be different is shown. Only decisions are
compared: which steps run, in what order, what is retried and when, how it ends. Requests are not
recorded, so a changed URL, header or body shows no difference.")]
pub(crate) struct ReplayArgs {
    /// The execution (exec_…)
    id: String,
    /// Use this definition instead of the execution's own (- for standard input)
    #[arg(long, short = 'd', value_name = "FILE")]
    definition: Option<PathBuf>,
}

/// Replays and says what was found.
pub(super) async fn run(session: &Session, args: &ReplayArgs) -> anyhow::Result<Outcome> {
    let id = ids::execution(&args.id)?;
    let source = args
        .definition
        .as_deref()
        .map(definitions::read)
        .transpose()?;
    if source
        .as_ref()
        .is_some_and(|source| source.check().is_none())
    {
        return Ok(Outcome::Refused);
    }
    let definition = source.as_ref().map(|source| source.text.as_str());
    let result = session.client()?.replay(id, definition).await?;
    session.answer(&result, || text(&result))?;
    if result.identical && definition.is_some() && !session.is_json() {
        say("only decisions are compared; a changed URL, header or body shows no difference");
    }
    Ok(Outcome::Failed.unless(result.identical))
}

fn text(result: &ReplayResult) -> String {
    let Some(difference) = &result.first_difference else {
        return format!(
            "{} ({} events compared)\n",
            good("identical"),
            result.events
        );
    };
    let ReplayDifference {
        sequence,
        recorded,
        derived,
        note,
    } = difference;
    let mut out = format!(
        "{} at event {sequence} ({} events compared)\n",
        bad("different"),
        result.events
    );
    for (name, event, nothing) in [
        ("recorded", recorded, "the log ends here"),
        ("derived", derived, "nothing follows"),
    ] {
        let shown = event
            .as_ref()
            .map(side)
            .unwrap_or_else(|| format!("  {nothing}\n"));
        let _ = write!(out, "\n{}\n{shown}", heading(name));
    }
    if let Some(note) = note {
        let _ = writeln!(out, "\n{}", clean(note));
    }
    out
}

fn side(event: &Event) -> String {
    time_line(std::slice::from_ref(event), None, true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_shows_both_sides() {
        let result: ReplayResult = serde_json::from_str(
            r#"{"identical": false, "events": 4, "first_difference": {"sequence": 3,
                "recorded": {"sequence": 3, "event_type": "RETRY_SCHEDULED",
                    "timestamp": "2026-11-15T09:30:12Z", "step_id": "call", "payload": {},
                    "attempt_number": 2, "backoff_delay_ms": 2100, "failure_reason": null},
                "derived": null, "note": "the step `call` is gone"}}"#,
        )
        .unwrap();
        let text = anstream::adapter::strip_str(&text(&result)).to_string();
        for part in [
            "different at event 3",
            "RETRY_SCHEDULED",
            "nothing follows",
            "is gone",
        ] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
}
