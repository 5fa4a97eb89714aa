//! The results as one document, for programs; `summary` shows the same to people.

use refire_client::model::Version;
use serde::{Serialize, Serializer};

use super::figure::per_second;
use super::load::{Early, Phase};
use super::subject::{Kind, Subject};
use super::tally::{Latencies, Refusal, Requests};
use super::verify::{Found, Verified};
use crate::cli::prelude::*;

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

/// Microseconds at each of [`QUANTILES`]; reported in milliseconds.
#[derive(Debug)]
pub(super) struct Quantiles(pub(super) [u64; 5]);

/// Shares that are not slower, by their names.
pub(super) const QUANTILES: [(&str, f64); 5] = [
    ("p50", 0.5),
    ("p90", 0.9),
    ("p95", 0.95),
    ("p99", 0.99),
    ("max", 1.0),
];

#[derive(Debug, Serialize)]
pub(super) struct Refused {
    #[serde(flatten)]
    pub(super) refusal: Refusal,
    pub(super) count: u64,
}

#[derive(Debug, Serialize)]
pub(super) struct Trouble {
    pub(super) what: String,
    pub(super) count: u64,
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

impl Report {
    /// The results of a run.
    pub(super) fn new(
        url: &str,
        version: Version,
        subject: &Subject,
        load: Settings,
        phase: &Phase,
        found: Option<&Found>,
        left: Left,
    ) -> Self {
        let Phase { tally, took, .. } = phase;
        let accepted = u64::try_from(tally.accepted.len()).unwrap_or(u64::MAX);
        // What ends as it is accepted says nothing about running.
        let ran = found.filter(|_| !matches!(subject.kind, Kind::Admission));
        let refusals = tally.refusals.iter().map(|(refusal, count)| Refused {
            refusal: refusal.clone(),
            count: *count,
        });
        let troubles = tally.troubles.iter().map(|(what, count)| Trouble {
            what: what.clone(),
            count: *count,
        });
        Self {
            server: Server {
                url: url.to_owned(),
                version: version.version,
                store: version.store,
                node_id: version.node_id,
            },
            workflow: Workflow {
                id: subject.id.clone(),
                mode: subject.mode(),
                fallback: subject.fallback.clone(),
                words: subject.describe(),
            },
            load,
            ended_early: phase.early,
            duration_ms: millis(*took),
            requests: tally.requests(phase.not_sent),
            executions: Executions {
                accepted,
                accepted_per_second: per_second(accepted, *took),
                completed: ran.map(|found| found.completed),
                completed_per_second: ran.map(|found| {
                    // Over the load's time, or over the time that completing them took if that was
                    // longer.
                    per_second(found.completed, found.completing.max(*took))
                }),
            },
            latency_ms: Times {
                request: Quantiles::of(&tally.latencies),
                execution: ran
                    .filter(|found| found.completed > 0)
                    .map(|found| Quantiles::of(&found.latencies)),
            },
            refusals: refusals.collect(),
            troubles: troubles.collect(),
            verified: found.map(|found| found.verified.clone()),
            left,
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
        Outcome::Failed.unless(clean && no_refusals && sound)
    }
}

impl Quantiles {
    fn of(latencies: &Latencies) -> Self {
        Self(QUANTILES.map(|(_, share)| latencies.at(share)))
    }
}

impl Serialize for Quantiles {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let names = QUANTILES.iter().map(|(name, _)| name);
        serializer.collect_map(names.zip(self.0.map(|us| us as f64 / 1_000.0)))
    }
}
