//! The results as one document, for programs; `summary` shows the same to people.

use std::time::Duration;

use refire_client::model::Version;
use serde::Serialize;

use super::figure::per_second;
use super::load::{Early, Phase};
use super::subject::{Kind, Subject};
use super::tally::Latencies;
use super::verify::Found;
use crate::cli::moment::millis;
use crate::cli::outcome::Outcome;

/// Everything that was measured.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) server: Server,
    pub(super) workflow: Workflow,
    pub(super) load: Settings,
    /// Why it ended before its end: `interrupted` or `enough` executions.
    pub(super) ended_early: Option<Early>,
    /// From the first measured request to the last answer.
    pub(super) duration_ms: u64,
    pub(super) requests: Requests,
    pub(super) executions: Executions,
    pub(super) latency_ms: Times,
    pub(super) refusals: Vec<Refused>,
    pub(super) troubles: Vec<Trouble>,
    /// Null when the check could not be made.
    pub(super) verified: Option<Verified>,
    pub(super) left: Left,
    #[serde(skip)]
    pub(super) not_ended: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Server {
    pub(super) url: String,
    pub(super) version: String,
    pub(super) store: String,
    pub(super) node_id: String,
}

#[derive(Debug, Serialize)]
pub(super) struct Workflow {
    pub(super) id: String,
    /// `http_step`, `admit_only` or `workflow`
    pub(super) mode: &'static str,
    /// Why only admission was measured though more was asked for.
    pub(super) fallback: Option<String>,
    #[serde(skip)]
    pub(super) words: &'static str,
}

/// What was asked for.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Settings {
    pub(super) connections: usize,
    /// Requests per second; null in a closed loop.
    pub(super) rate: Option<u32>,
    /// How long; null when requests were counted instead.
    pub(super) duration_ms: Option<u64>,
    pub(super) requests: Option<u64>,
    pub(super) input_bytes: usize,
    /// Executions per request; null for one without a list.
    pub(super) batch: Option<usize>,
    pub(super) idempotency_keys: bool,
    pub(super) wait: bool,
    pub(super) warmup_ms: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Requests {
    pub(super) sent: u64,
    pub(super) accepted: u64,
    pub(super) rejected: u64,
    /// Sent, but never answered.
    pub(super) unanswered: u64,
    /// There was no connection; nothing was sent.
    pub(super) not_connected: u64,
    /// Planned, but no connection was free for ten seconds after the end.
    pub(super) not_sent: u64,
}

/// Executions of the measured time.
#[derive(Debug, Serialize)]
pub(super) struct Executions {
    pub(super) accepted: u64,
    pub(super) accepted_per_second: u64,
    /// Null when there was nothing to complete, or when it could not be found out.
    pub(super) completed: Option<u64>,
    pub(super) completed_per_second: Option<u64>,
}

#[derive(Debug, Serialize)]
pub(super) struct Times {
    /// Of requests that were answered with 2xx; in an open loop from their planned time.
    pub(super) request: Quantiles,
    /// From acceptance to completion by the server's clock.
    pub(super) execution: Option<Quantiles>,
}

#[derive(Debug, Serialize)]
pub(super) struct Quantiles {
    pub(super) p50: f64,
    pub(super) p90: f64,
    pub(super) p95: f64,
    pub(super) p99: f64,
    pub(super) max: f64,
    #[serde(skip)]
    pub(super) us: [u64; 5],
}

#[derive(Debug, Serialize)]
pub(super) struct Refused {
    pub(super) status: u16,
    pub(super) code: Option<String>,
    pub(super) title: Option<String>,
    pub(super) retry_after: bool,
    pub(super) count: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    pub(super) what: String,
    pub(super) count: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Verified {
    /// Accepted in the whole run, warm-up included.
    pub(super) accepted: u64,
    pub(super) found: u64,
    pub(super) missing: u64,
    /// Executions whose answers were lost.
    pub(super) untold: u64,
    pub(super) failed: u64,
    /// How many of the failed became dead letters.
    pub(super) dead_letters: u64,
    pub(super) open: u64,
}

/// What stays on the server.
#[derive(Debug, Default, Serialize)]
pub(super) struct Left {
    /// The throw-away workflow, if it could not be deleted.
    pub(super) workflow: Option<String>,
    /// Why not.
    pub(super) because: Option<String>,
    /// Executions that the run made.
    pub(super) executions: u64,
    /// How many of them were made before the load, to see whether the server reaches this tool.
    pub(super) probes: u64,
}

/// What a report is made of.
pub(super) struct Parts<'a> {
    pub(super) url: &'a str,
    pub(super) version: Version,
    pub(super) subject: &'a Subject,
    pub(super) settings: Settings,
    pub(super) phase: &'a Phase,
    pub(super) found: Option<&'a Found>,
    pub(super) left: Left,
}

impl Report {
    /// The results of a run.
    pub(super) fn new(parts: Parts<'_>) -> Self {
        let Phase { tally, took, .. } = parts.phase;
        let accepted = u64::try_from(tally.accepted.len()).unwrap_or(u64::MAX);
        let found = parts.found;
        // What ends as it is accepted says nothing about running.
        let ran = found.filter(|_| !matches!(parts.subject.kind, Kind::Admission));
        let refusals = tally.refusals.iter().map(|(refusal, count)| Refused {
            status: refusal.status,
            code: refusal.code.clone(),
            title: refusal.title.clone(),
            retry_after: refusal.retry_after,
            count: *count,
        });
        let troubles = tally.troubles.iter().map(|(what, count)| Trouble {
            what: what.clone(),
            count: *count,
        });
        Self {
            server: Server {
                url: parts.url.to_owned(),
                version: parts.version.version,
                store: parts.version.store,
                node_id: parts.version.node_id,
            },
            workflow: Workflow {
                id: parts.subject.id.clone(),
                mode: parts.subject.mode(),
                fallback: parts.subject.fallback.clone(),
                words: parts.subject.describe(),
            },
            load: parts.settings,
            ended_early: parts.phase.early,
            duration_ms: millis(*took),
            requests: Requests {
                sent: tally.sent,
                accepted: tally.fine,
                rejected: tally.refused,
                unanswered: tally.unanswered(),
                not_connected: tally.not_connected,
                not_sent: parts.phase.not_sent,
            },
            executions: Executions {
                accepted,
                accepted_per_second: per_second(accepted, *took),
                completed: ran.map(|found| found.completed),
                completed_per_second: ran.map(|found| completed_per_second(found, *took)),
            },
            latency_ms: Times {
                request: Quantiles::of(&tally.latencies),
                execution: ran
                    .filter(|found| found.completed > 0)
                    .map(|found| Quantiles::of(&found.latencies)),
            },
            refusals: refusals.collect(),
            troubles: troubles.collect(),
            verified: found.map(Verified::of),
            left: parts.left,
            not_ended: tally.not_ended,
        }
    }

    /// A script must be able to tell a clean run from one that met errors.
    pub(super) fn outcome(&self) -> Outcome {
        let requests = &self.requests;
        let clean = requests.accepted == requests.sent && requests.not_sent == 0;
        let no_refusals = self.refusals.is_empty();
        let sound = self.verified.as_ref().is_some_and(|verified| {
            verified.missing == 0 && verified.untold == 0 && verified.failed == 0
        });
        if clean && no_refusals && sound {
            Outcome::Done
        } else {
            Outcome::Failed
        }
    }
}

/// Completed executions in a second: over the load's time, or over the time that completing them
/// took if that was longer.
fn completed_per_second(found: &Found, took: Duration) -> u64 {
    per_second(found.completed, found.completing.max(took))
}

impl Verified {
    fn of(found: &Found) -> Self {
        Self {
            accepted: found.accepted,
            found: found.found,
            missing: found.missing(),
            untold: found.untold,
            failed: found.failed(),
            dead_letters: found.dead_letters(),
            open: found.open(),
        }
    }
}

impl Quantiles {
    fn of(latencies: &Latencies) -> Self {
        let [p50, p90, p95, p99] = [0.5, 0.9, 0.95, 0.99].map(|share| latencies.at(share));
        let us = [p50, p90, p95, p99, latencies.max()];
        let [p50, p90, p95, p99, max] = us.map(|us| us as f64 / 1_000.0);
        Self {
            p50,
            p90,
            p95,
            p99,
            max,
            us,
        }
    }
}
