//! The results in a few lines, for people.

use std::time::Duration;

use super::figure::{counted, grouped, latency, per_second};
use super::load::{EXECUTIONS_MAX, Early};
use super::report::{Executions, Left, QUANTILES, Quantiles, Report, Settings};
use crate::cli::prelude::*;

impl Report {
    /// All that a person wants to know.
    pub(super) fn text(&self) -> String {
        let mut text = self.head();
        text.push('\n');
        text.push_str(&self.counts());
        text.push('\n');
        text.push_str(&self.times());
        text.push_str(&self.check());
        text
    }

    fn head(&self) -> String {
        let Self { server, load, .. } = self;
        let mut words = vec![load.words()];
        words.push(format!("{}-byte inputs", grouped(load.input_bytes as u64)));
        if let Some(batch) = load.batch {
            words.push(format!("batches of {batch}"));
        }
        if load.idempotency_keys {
            words.push("idempotency keys".to_owned());
        }
        if load.wait {
            words.push("each answer waits for the end".to_owned());
        }
        match self.ended_early {
            None => {}
            Some(Early::Interrupted) => words.push(warning("ended early")),
            Some(Early::Enough) => words.push(warning(&format!(
                "ended after {} executions, the most that one run can make",
                grouped(EXECUTIONS_MAX)
            ))),
        }
        let workflow = match self.workflow.words {
            "" => clean(&self.workflow.id).into_owned(),
            words => words.to_owned(),
        };
        format!(
            "refire {} ({}) at {}\n{}\n{workflow}\n",
            clean(&server.version),
            clean(&server.store),
            server.url,
            words.join(", ")
        )
    }

    fn counts(&self) -> String {
        // The last column is empty, because a table gives the rest of the width to its last one.
        let mut grid = Grid::new(&["", "COUNT", "PER SECOND", ""])
            .right(1)
            .right(2);
        let mut row = |name: &str, count: u64, rate: Option<u64>| {
            let rate = rate.map(grouped).unwrap_or_default();
            grid.row(vec![cell(name), cell(grouped(count)), cell(&rate)]);
        };
        if self.load.batch.is_some() {
            let took = Duration::from_millis(self.duration_ms);
            let rate = per_second(self.requests.accepted, took);
            row("batches", self.requests.accepted, Some(rate));
        }
        let executions = &self.executions;
        row(
            "accepted",
            executions.accepted,
            Some(executions.accepted_per_second),
        );
        if let Some(completed) = executions.completed {
            row("completed", completed, executions.completed_per_second);
        }
        row("rejected", self.requests.rejected, None);
        row("unanswered", self.requests.unanswered, None);
        if self.requests.not_connected > 0 {
            row("not connected", self.requests.not_connected, None);
        }
        if self.requests.not_sent > 0 {
            row("not sent in time", self.requests.not_sent, None);
        }
        let mut text = grid.lines(0);
        for refused in &self.refusals {
            let (refusal, count) = (&refused.refusal, grouped(refused.count));
            let code = refusal.code.as_deref();
            let code = code.unwrap_or("not an answer of this API");
            let title = refusal.title.as_deref().unwrap_or_default();
            let line = format!("  {count} × {} {code} {title}", refusal.status);
            text.push_str(&bad(&clean(line.trim_end())));
            text.push('\n');
        }
        for trouble in &self.troubles {
            let line = format!("  {} × {}", grouped(trouble.count), trouble.what);
            text.push_str(&bad(&clean(&line)));
            text.push('\n');
        }
        text
    }

    fn times(&self) -> String {
        let heads = ["", "P50", "P90", "P95", "P99", "MAX", ""];
        let mut grid = Grid::new(&heads);
        for column in 1..=QUANTILES.len() {
            grid = grid.right(column);
        }
        let name = if self.load.wait {
            "request to end"
        } else {
            "request"
        };
        grid.row(self.latency_ms.request.cells(name));
        if let Some(execution) = &self.latency_ms.execution {
            grid.row(execution.cells(&self.executions.timed()));
        }
        grid.lines(0)
    }

    /// Whether the server kept its promise, in a line.
    fn check(&self) -> String {
        let Some(verified) = &self.verified else {
            return format!("\n{}\n", warning("not verified"));
        };
        let told = format!(
            "{} accepted{}, {} found on the server",
            grouped(verified.accepted),
            if self.load.warmup_ms > 0 {
                " with the warm-up"
            } else {
                ""
            },
            grouped(verified.found)
        );
        let mut lines = vec![match verified.missing {
            0 => good(&format!("✓ {told}")),
            missing => bad(&format!("✗ {told}: {} MISSING", grouped(missing))),
        }];
        let letters = format!(
            "of them became dead letters: refire dlq list --workflow {}",
            clean(&self.workflow.id)
        );
        let mut more = |count: u64, what: &str| {
            if count > 0 {
                lines.push(warning(&format!("  {} {what}", grouped(count))));
            }
        };
        more(verified.failed, "of them failed");
        more(verified.dead_letters, &letters);
        more(verified.open, "of them have not ended yet");
        more(verified.untold, "more exist whose answers were lost");
        more(self.not_ended, "did not end within the wait");
        format!("\n{}\n", lines.join("\n"))
    }

    /// What stays on the server, for people.
    pub(super) fn left(&self) -> String {
        let Left {
            workflow,
            because,
            executions,
            probes,
        } = &self.left;
        let mut kept = counted(*executions, "execution");
        if *probes > 0 {
            kept.push_str(", one of them a first try,");
        }
        kept.push_str(" stay in the server's history until its retention removes them");
        if self.verified.as_ref().is_some_and(|v| v.dead_letters > 0) {
            kept.push_str(", those with a dead letter only after it is resolved or deleted");
        }
        match (workflow, because) {
            (Some(id), because) => {
                let because = because.as_deref().unwrap_or("it could not be deleted");
                format!(
                    "{}\n{}",
                    warning(&format!("the workflow {id} is still there: {because}")),
                    dim(&format!(
                        "{kept}; delete it with: refire workflow delete {id}"
                    ))
                )
            }
            (None, _) => dim(&kept),
        }
    }
}

impl Executions {
    /// Whose times these are: those of a few must not pass for those of all.
    fn timed(&self) -> String {
        match self.completed {
            Some(completed) if completed < self.accepted => format!(
                "execution ({} completed of {})",
                grouped(completed),
                grouped(self.accepted)
            ),
            Some(_) | None => "execution".to_owned(),
        }
    }
}

impl Settings {
    /// `500 requests/s on 64 connections for 10s after 1s of warm-up`
    fn words(&self) -> String {
        let connections = counted(self.connections as u64, "connection");
        let mut words = match (self.rate, self.requests) {
            (Some(rate), None) => format!("{} requests/s on {connections}", grouped(rate.into())),
            (Some(rate), Some(requests)) => format!(
                "{} at {} per second on {connections}",
                counted(requests, "request"),
                grouped(rate.into())
            ),
            (None, Some(requests)) => {
                format!("{} on {connections}", counted(requests, "request"))
            }
            (None, None) => connections,
        };
        if let Some(time) = self.duration_ms {
            words.push_str(&format!(" for {}", span(time)));
        }
        if self.warmup_ms > 0 {
            words.push_str(&format!(" after {} of warm-up", span(self.warmup_ms)));
        }
        words
    }
}

impl Quantiles {
    fn cells(&self, name: &str) -> Vec<Cell> {
        let values = self.0.iter().map(|us| cell(latency(*us)));
        std::iter::once(cell(name)).chain(values).collect()
    }
}
