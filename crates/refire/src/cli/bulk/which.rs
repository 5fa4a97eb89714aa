//! Options that say which dead letters a bulk job is about, and how it goes.

use refire_client::model::{LetterStatus, Raw};
use refire_client::query::{LetterQuery, Query};
use serde_json::{Map, Value};

use crate::cli::prelude::*;

/// Which dead letters, by what they have in common.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many at once")]
pub(crate) struct Which {
    /// All dead letters of this workflow
    #[arg(long, value_name = "ID")]
    workflow: Option<String>,
    /// With this kind of error, e.g. http_status or read_timeout; several are separated by commas
    #[arg(long, value_name = "TYPE", value_delimiter = ',')]
    error_type: Vec<String>,
    /// With this status; several are separated by commas
    #[arg(long, value_delimiter = ',')]
    status: Vec<LetterStatus>,
    /// That failed since this time (2026-11-15T09:30:00Z), day (from 0:00 UTC), or how long ago (24h)
    #[arg(long, value_name = "TIME")]
    since: Option<String>,
    /// That failed before this time
    #[arg(long, value_name = "TIME")]
    until: Option<String>,
    /// Whose error, workflow or step contains this text
    #[arg(long, value_name = "TEXT")]
    q: Option<String>,
    /// With this cause, as `refire dlq show` names it
    #[arg(long, value_name = "HEX")]
    fingerprint: Option<String>,
    /// Whose last call was to this host, such as api.example.com
    #[arg(long, value_name = "HOST")]
    target: Option<String>,
    /// Only failures of more than 30 days ago; --archived=all takes those, too
    #[arg(long, value_name = "WHICH", num_args = 0..=1, require_equals = true, default_missing_value = "true", value_parser = ["true", "false", "all"])]
    archived: Option<String>,
}

impl Which {
    /// As the list has it.
    fn query(&self, now: Timestamp) -> Result<LetterQuery, Usage> {
        let at = |option: &str, text: &Option<String>| {
            let text = text.as_deref();
            text.map(|text| moment(option, text, now)).transpose()
        };
        Ok(LetterQuery {
            workflow: self.workflow.clone(),
            error_type: self.error_type.clone(),
            status: self.status.clone(),
            from: at("--since", &self.since)?,
            to: at("--until", &self.until)?,
            q: self.q.clone(),
            fingerprint: self.fingerprint.clone(),
            target: self.target.clone(),
            archived: self.archived.clone(),
        })
    }

    /// Whether nothing is said.
    pub(crate) fn is_empty(&self) -> bool {
        self.query(Timestamp::from_millis(0))
            .is_ok_and(|query| query.is_empty())
    }

    /// As a job has it.
    pub(crate) fn filter(&self, now: Timestamp) -> anyhow::Result<Raw> {
        filter(&self.query(now)?)
    }
}

/// A query as the filter of a job.
pub(crate) fn filter(query: &impl Query) -> anyhow::Result<Raw> {
    let pairs = query.pairs().into_iter();
    let members: Map<String, Value> = pairs
        .map(|(name, text)| (name.to_owned(), Value::String(text)))
        .collect();
    Ok(serde_json::value::to_raw_value(&members)?)
}

/// How a job goes.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "Many at once")]
pub(crate) struct How {
    /// Only show how many there are, and what would become of ten of them
    #[arg(long)]
    pub(crate) dry_run: bool,
    /// How many a second at most, 1 to 10000 [default: 50]
    #[arg(long, value_name = "N")]
    pub(crate) rate: Option<u32>,
    /// Print the job's id and do not wait for its end
    #[arg(long)]
    pub(crate) detach: bool,
    /// Do not ask for confirmation
    #[arg(long, short)]
    pub(crate) yes: bool,
}
