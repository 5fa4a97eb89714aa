//! The page itself: a diagram, a table and a list, from what was found out.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

use super::explore::{Asked, Became, Found, Place};
use crate::execution::event::EventKind;

impl Place {
    /// The name in the diagram and the status that the API shows.
    fn name(self) -> &'static str {
        match self {
            Self::Pending => "pending",
            Self::Retrying => "retrying",
            Self::Waiting => "waiting",
            Self::Failing => "failing",
            Self::Undoing => "undoing",
            Self::Paused => "paused",
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Dlq => "dlq",
            Self::Cancelled => "cancelled",
        }
    }

    fn is_end(self) -> bool {
        matches!(
            self,
            Self::Completed | Self::Failed | Self::Dlq | Self::Cancelled
        )
    }
}

impl Asked {
    fn name(self) -> &'static str {
        match self {
            Self::Success => "success",
            Self::Failure => "failure",
            Self::FinalFailure => "final failure",
            Self::Lost => "node lost",
            Self::Retired => "task retired",
            Self::CalledBackAtIt => "callback: processing",
            Self::CalledBackDone => "callback: success",
            Self::CalledBackFailed => "callback: failed",
            Self::WindowOver => "window over",
            Self::Pause => "pause",
            Self::Resume => "resume",
            Self::RetryNow => "retry now",
            Self::Cancel => "cancel",
            Self::CancelAndUndo => "cancel + undo",
        }
    }
}

impl Became {
    fn text(self) -> String {
        match self {
            Self::Place(place) => format!("`{}`", place.name()),
            Self::Unchanged => "no change".to_owned(),
            Self::RefusedEnded => "refused: ended".to_owned(),
            Self::RefusedNotLive => "refused: not live".to_owned(),
            Self::RefusedRepeated => "refused: said already".to_owned(),
            Self::RefusedNotPaused => "refused: not paused".to_owned(),
            Self::RefusedNotRetrying => "refused: no retry waits".to_owned(),
            Self::RefusedPaused => "refused: paused".to_owned(),
            Self::RefusedUndoing => "refused: undoing".to_owned(),
            Self::RefusedUnreadable => "refused: unreadable".to_owned(),
        }
    }
}

const HEAD: &str = "\
# The state machine of an execution

<!-- Generated from crates/core/src/execution/chart.rs, which runs the state machine and writes
     down what it does. Do not edit: REFIRE_UPDATE=1 cargo test -p refire-core --lib chart -->

The words are the statuses of the API, with two situations that share one: `failing` (a step has
failed for good, others still run; the status is `pending`, `retrying`, `waiting` or `running`) and `undoing`
(completed steps are being undone; the status is `running`). The log does not know whether due
work has been picked up: where it has, readers see `running` instead of `pending` or `retrying`.

*success*, *failure* and *final failure* are the results of an attempt: done, failed in a way that
is retried while retries are left, failed in a way that is not. *node lost* means that the process
died during the attempt, *task retired* that no worker had fetched the task of a failing execution.
A target that was called may call back later; *window over* means that it did not in time.
Pausing, resuming and cancelling are done by people.
";

pub(super) fn write(found: &Found) -> String {
    let mut page = HEAD.to_owned();
    diagram(&mut page, found);
    table(&mut page, found);
    events(&mut page, found);
    page
}

/// Every way from one place to another, with what may lead there.
fn diagram(page: &mut String, found: &Found) {
    let mut ways: BTreeMap<(Place, Place), BTreeSet<Asked>> = BTreeMap::new();
    for ((from, asked), results) in &found.results {
        for became in results {
            if let Became::Place(to) = became
                && to != from
            {
                ways.entry((*from, *to)).or_default().insert(*asked);
            }
        }
    }
    page.push_str("\n## Ways\n\n```mermaid\nstateDiagram-v2\n");
    for place in &found.starts {
        let _ = writeln!(page, "    [*] --> {}: start", place.name());
    }
    for ((from, to), asked) in &ways {
        let asked: Vec<_> = asked.iter().map(|asked| asked.name()).collect();
        let _ = writeln!(
            page,
            "    {} --> {}: {}",
            from.name(),
            to.name(),
            asked.join(", ")
        );
    }
    for place in Place::ALL.into_iter().filter(|place| place.is_end()) {
        let _ = writeln!(page, "    {} --> [*]", place.name());
    }
    page.push_str("```\n");
}

/// Every command in every place. Several results: which of them depends on what else there is.
fn table(page: &mut String, found: &Found) {
    page.push_str("\n## Every command in every status\n\n| |");
    for asked in Asked::ALL {
        let _ = write!(page, " {} |", asked.name());
    }
    page.push_str("\n|---|");
    page.push_str(&"---|".repeat(Asked::ALL.len()));
    page.push('\n');
    for place in Place::ALL {
        let _ = write!(page, "| `{}` |", place.name());
        for asked in Asked::ALL {
            let results = found.results.get(&(place, asked));
            let texts = results.into_iter().flatten().map(|became| became.text());
            let _ = write!(page, " {} |", texts.collect::<Vec<_>>().join(", "));
        }
        page.push('\n');
    }
}

/// Which events a command may write, in the order in which types are listed everywhere.
fn events(page: &mut String, found: &Found) {
    page.push_str("\n## What is written\n\n");
    for asked in Asked::ALL {
        let written = found.events.get(&asked);
        let is_written = |name: &&&str| written.is_some_and(|written| written.contains(**name));
        let names: Vec<_> = EventKind::NAMES
            .iter()
            .filter(is_written)
            .map(|name| format!("`{name}`"))
            .collect();
        let _ = writeln!(page, "- *{}*: {}", asked.name(), names.join(", "));
    }
}
