//! The options of `refire bench`, and what they mean together.

use std::time::Duration;

use refire_core::duration;

use super::figure::{counted, grouped};
use super::load::EXECUTIONS_MAX;
use super::pace::End;
use super::payload;
use super::report::Settings;
use super::tally::Expected;
use crate::cli::prelude::*;

/// The shortest and the longest measurement.
const DURATION_MIN: Duration = Duration::from_millis(100);
const DURATION_MAX: Duration = Duration::from_secs(24 * 3_600);
const DURATION_DEFAULT: Duration = Duration::from_secs(10);
/// Before a measurement by time; one by count sends exactly its count.
const WARMUP_DEFAULT: Duration = Duration::from_secs(1);
/// After the load, for executions of a workflow that exists.
const DRAIN_DEFAULT: Duration = Duration::from_secs(30);
const SIZE_DEFAULT: usize = 500;
/// The largest body that a server can be told to take.
const SIZE_MAX: u64 = 8 * 1_024 * 1_024;

/// Options of `refire bench`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire bench                                      64 connections for 10 s, one http step each
  refire bench --rate 500 --duration 1m             latency at 500 requests/s, stalls included
  refire bench --requests 10000 --idempotency-keys  exactly 10000, each with its own key
  refire bench --admit-only --batch 100             only how much it accepts, nothing runs
  refire bench --workflow ping --input '{\"url\":\"http://10.0.0.7/ok\"}' --wait
  refire bench --format json --url https://refire.example.com --admit-only --yes

What it does:
  Without --workflow it creates a temporary workflow `refire_bench_…` with one http step that calls
  a service inside this tool, and deletes it afterwards. The server must be on this machine and be
  allowed to call it (refire serve --dev); otherwise only admission is measured, and it says so.
  At the end it waits for the last executions, with --workflow for up to 30 s (see --drain), and
  checks that every accepted one is there. Ctrl-C ends it early and still prints the results.

Exit codes:
  0  all requests were accepted, all executions found, none failed
  3  otherwise; the results say what went wrong")]
pub(crate) struct BenchArgs {
    /// How many connections to use at once
    #[arg(long, short, value_name = "N", default_value_t = 64)]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=10_000), allow_negative_numbers = true)]
    pub(super) connections: u32,
    /// How long to measure, e.g. 30s [default: 10s]
    #[arg(long, short, value_name = "DURATION", value_parser = measurable)]
    #[arg(conflicts_with = "requests", allow_hyphen_values = true)]
    duration: Option<Duration>,
    /// Send this many requests, instead of measuring for a time
    #[arg(long, short = 'n', value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u64).range(1..=1_000_000_000), allow_negative_numbers = true)]
    requests: Option<u64>,
    /// Send this many requests per second, however slow the server is; latency is measured from the
    /// planned time
    #[arg(long, short, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000_000), allow_negative_numbers = true)]
    pub(super) rate: Option<u32>,
    /// The size of each input in bytes [default: 500]
    #[arg(long, short, value_name = "BYTES", conflicts_with = "input")]
    #[arg(value_parser = clap::value_parser!(u64).range(2..=SIZE_MAX), allow_negative_numbers = true)]
    size: Option<u64>,
    /// The input to send: JSON, @file, or - for standard input
    #[arg(long, short, value_name = "JSON|@FILE|-", allow_hyphen_values = true)]
    input: Option<String>,
    /// Run this existing workflow; its steps really run
    #[arg(long, short, value_name = "ID")]
    pub(super) workflow: Option<String>,
    /// Measure only how executions are accepted; they run no steps
    #[arg(long, conflicts_with_all = ["workflow", "wait"])]
    pub(super) admit_only: bool,
    /// Let each request wait for its execution; latency includes that
    #[arg(long, conflicts_with = "batch")]
    pub(super) wait: bool,
    /// Start this many executions with each request, up to 1000
    #[arg(long, short, value_name = "N")]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=1_000), allow_negative_numbers = true)]
    pub(super) batch: Option<u32>,
    /// Send a different idempotency key with each execution
    #[arg(long, short = 'k')]
    pub(super) idempotency_keys: bool,
    /// Send load for this long before measuring, e.g. 5s [default: 1s, none with --requests]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    #[arg(allow_hyphen_values = true)]
    warmup: Option<Duration>,
    /// How long to wait for the last executions of --workflow after the load [default: 30s]
    #[arg(long, value_name = "DURATION", value_parser = duration::parse)]
    #[arg(requires = "workflow", allow_hyphen_values = true)]
    drain: Option<Duration>,
    /// Do not ask for confirmation, even for another machine or your own workflow
    #[arg(long, short)]
    pub(super) yes: bool,
}

/// A duration that can be measured.
fn measurable(text: &str) -> Result<Duration, String> {
    let time = duration::parse(text).map_err(|error| error.to_string())?;
    if (DURATION_MIN..=DURATION_MAX).contains(&time) {
        return Ok(time);
    }
    Err("must be between 100ms and 24h".to_owned())
}

impl BenchArgs {
    /// What each option alone cannot tell.
    pub(super) fn check(&self) -> Result<(), Usage> {
        let per_request = u64::from(self.batch.unwrap_or(1));
        let all = self.requests.unwrap_or(0).saturating_mul(per_request);
        if all <= EXECUTIONS_MAX {
            return Ok(());
        }
        let flags = match self.batch {
            Some(_) => "--requests times --batch is",
            None => "--requests is",
        };
        Err(Usage(format!(
            "{flags} {}; one run can make at most {} executions",
            counted(all, "execution"),
            grouped(EXECUTIONS_MAX)
        )))
    }

    /// When the measurement is over.
    pub(super) fn end(&self) -> End {
        match self.requests {
            Some(count) => End::Count(count),
            None => End::After(self.duration.unwrap_or(DURATION_DEFAULT)),
        }
    }

    /// How long the load goes on before it.
    pub(super) fn warmup(&self) -> Duration {
        let default = match self.requests {
            Some(_) => Duration::ZERO,
            None => WARMUP_DEFAULT,
        };
        self.warmup.unwrap_or(default)
    }

    /// How long the last executions of somebody's own workflow are waited for.
    pub(super) fn drain(&self) -> Duration {
        self.drain.unwrap_or(DRAIN_DEFAULT)
    }

    /// What a good answer looks like.
    pub(super) fn expected(&self) -> Expected {
        match (self.batch, self.wait) {
            (Some(_), _) => Expected::Batch,
            (None, true) => Expected::Ended,
            (None, false) => Expected::Accepted,
        }
    }

    /// What every execution gets.
    pub(super) fn input(&self) -> anyhow::Result<String> {
        match &self.input {
            Some(input) => Ok(input::read(input)?.as_str().to_owned()),
            None => {
                let size = self.size.and_then(|size| usize::try_from(size).ok());
                Ok(payload::input_of(size.unwrap_or(SIZE_DEFAULT)))
            }
        }
    }

    /// All of it, for the results.
    pub(super) fn settings(&self, input: &str) -> Settings {
        let (duration_ms, requests) = match self.end() {
            End::After(time) => (Some(millis(time)), None),
            End::Count(count) => (None, Some(count)),
        };
        Settings {
            connections: size(self.connections),
            rate: self.rate,
            duration_ms,
            requests,
            input_bytes: input.len(),
            batch: self.batch.map(size),
            idempotency_keys: self.idempotency_keys,
            wait: self.wait,
            warmup_ms: millis(self.warmup()),
        }
    }
}

/// A number of options as a size of things in memory.
pub(super) fn size(number: u32) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}
