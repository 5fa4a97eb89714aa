//! How much may run at once, and how long what has ended is kept.

use std::ops::RangeInclusive;
use std::time::Duration;

use anyhow::{Context, bail};
use clap::Args;
use refire_core::definition::source::{Content, Node};
use refire_core::duration;
use refire_engine::Retention;
use refire_engine::limit::{HostLimit, Limits};

use super::at_least_one;

/// How often rules of alerts may be looked at.
const ALERTS_EVERY: RangeInclusive<Duration> = Duration::from_secs(1)..=Duration::from_secs(600);
/// How often they are unless told otherwise.
const ALERTS_EVERY_DEFAULT: Duration = Duration::from_secs(10);

/// The flags, and the same settings in the file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Args)]
pub(crate) struct Bounds {
    /// The most attempts at once [default: 256]
    #[arg(long, env = "REFIRE_MAX_ATTEMPTS", value_name = "COUNT")]
    pub(super) max_attempts: Option<u32>,
    /// The most attempts at once per target host [default: 128]
    #[arg(long, env = "REFIRE_MAX_ATTEMPTS_PER_HOST", value_name = "COUNT")]
    pub(super) max_attempts_per_host: Option<u32>,
    /// The most retries at once per workflow [default: 50]
    #[arg(long, env = "REFIRE_MAX_RETRIES_PER_WORKFLOW", value_name = "COUNT")]
    pub(super) max_retries_per_workflow: Option<u32>,
    /// The most retries at once per target host [default: 20]
    #[arg(long, env = "REFIRE_MAX_RETRIES_PER_HOST", value_name = "COUNT")]
    pub(super) max_retries_per_host: Option<u32>,
    /// Whether targets that fail are left alone for a while: on or off [default: on]
    #[arg(long, env = "REFIRE_BREAKERS", value_name = "ON|OFF")]
    pub(super) breakers: Option<String>,
    /// How long to keep completed executions, or `forever` [default: 30d]
    #[arg(long, env = "REFIRE_KEEP_COMPLETED", value_name = "TIME")]
    pub(super) keep_completed: Option<String>,
    /// How long to keep cancelled executions, or `forever` [default: 30d]
    #[arg(long, env = "REFIRE_KEEP_CANCELLED", value_name = "TIME")]
    pub(super) keep_cancelled: Option<String>,
    /// How long to keep failed executions, or `forever` [default: 90d]
    ///
    /// Executions with a pending dead letter are always kept.
    #[arg(long, env = "REFIRE_KEEP_FAILED", value_name = "TIME")]
    pub(super) keep_failed: Option<String>,
    /// How long to keep webhook requests in the log, or `forever` [default: 30d]
    ///
    /// Of refused requests, only the newest of each trigger are kept.
    #[arg(long, env = "REFIRE_KEEP_REQUESTS", value_name = "TIME")]
    pub(super) keep_requests: Option<String>,
    /// How often alert rules are looked at and statistics are written, 1s to 10m [default: 10s]
    #[arg(long, env = "REFIRE_ALERTS_EVERY", value_name = "TIME")]
    pub(super) alerts_every: Option<String>,
    /// Only in the file: limits of single hosts.
    #[arg(skip)]
    pub(super) hosts: Vec<(String, HostLimit)>,
}

/// How much may run at once.
pub(super) fn limits(said: &Bounds) -> anyhow::Result<Limits> {
    let mut limits = Limits {
        hosts: said.hosts.iter().cloned().collect(),
        ..Limits::default()
    };
    let Limits {
        attempts,
        attempts_per_host,
        retries_per_workflow,
        retries_per_host,
        ..
    } = &mut limits;
    for (name, said, limit) in [
        ("attempts", said.max_attempts, attempts),
        (
            "attempts-per-host",
            said.max_attempts_per_host,
            attempts_per_host,
        ),
        (
            "retries-per-workflow",
            said.max_retries_per_workflow,
            retries_per_workflow,
        ),
        (
            "retries-per-host",
            said.max_retries_per_host,
            retries_per_host,
        ),
    ] {
        *limit = at_least_one(&format!("max-{name}"), said.unwrap_or(*limit))?;
    }
    if let Some(said) = &said.breakers {
        limits.breakers = switch(said).context("--breakers")?;
    }
    Ok(limits)
}

/// Something is on or off.
fn switch(text: &str) -> anyhow::Result<bool> {
    match text.trim().to_ascii_lowercase().as_str() {
        "on" | "true" => Ok(true),
        "off" | "false" => Ok(false),
        _ => bail!("write on or off, not `{text}`"),
    }
}

/// How often rules of alerts are looked at.
pub(super) fn alerts_every(said: &Bounds) -> anyhow::Result<Duration> {
    let Some(text) = &said.alerts_every else {
        return Ok(ALERTS_EVERY_DEFAULT);
    };
    let every = duration::parse(text).context("--alerts-every")?;
    if !ALERTS_EVERY.contains(&every) {
        bail!("--alerts-every: `{text}` is not between 1s and 10m");
    }
    Ok(every)
}

/// How long ended executions are kept.
pub(super) fn retention(said: &Bounds) -> anyhow::Result<Retention> {
    let default = Retention::default();
    Ok(Retention {
        completed: keep("keep-completed", &said.keep_completed, default.completed)?,
        cancelled: keep("keep-cancelled", &said.keep_cancelled, default.cancelled)?,
        failed: keep("keep-failed", &said.keep_failed, default.failed)?,
        requests: keep("keep-requests", &said.keep_requests, default.requests)?,
        ..default
    })
}

fn keep(
    name: &str,
    text: &Option<String>,
    default: Option<Duration>,
) -> anyhow::Result<Option<Duration>> {
    match text.as_deref() {
        None => Ok(default),
        Some("forever") => Ok(None),
        Some(text) => duration::parse(text)
            .map(Some)
            .with_context(|| format!("--{name}: write a time such as 30d, or `forever`")),
    }
}

/// Reads `hosts:` of the file: `api.example.com: { concurrency: 10, retries: 5, rate: { max: 50, per: 1s } }`.
pub(super) fn hosts(value: &Node) -> anyhow::Result<Vec<(String, HostLimit)>> {
    let Content::Mapping(members) = &value.content else {
        bail!(
            "expected a mapping of hosts to limits, found {}",
            value.kind()
        );
    };
    members
        .iter()
        .map(|(host, limits)| {
            let limit = host_limit(limits).with_context(|| host.text.to_string())?;
            Ok((host.text.to_ascii_lowercase(), limit))
        })
        .collect()
}

fn host_limit(value: &Node) -> anyhow::Result<HostLimit> {
    let Content::Mapping(members) = &value.content else {
        bail!(
            "expected limits such as {{ concurrency: 10 }}, found {}",
            value.kind()
        );
    };
    let mut limit = HostLimit::default();
    for (key, value) in members {
        match &*key.text {
            "concurrency" => limit.attempts = Some(count("concurrency", value)?),
            "retries" => limit.retries = Some(count("retries", value)?),
            "rate" => limit.rate = Some(rate(value)?),
            "breaker" => {
                let said = super::file::text(value)?;
                limit.breaker = Some(switch(&said).context("breaker")?);
            }
            other => bail!("`{other}` is not a limit; use concurrency, retries, rate or breaker"),
        }
    }
    Ok(limit)
}

fn rate(value: &Node) -> anyhow::Result<(u32, Duration)> {
    let (Some(max), Some(per)) = (value.get("max"), value.get("per")) else {
        bail!("rate: expected {{ max: 50, per: 1s }}");
    };
    let per = duration::parse(&super::file::text(per)?).context("rate.per")?;
    if per.is_zero() {
        bail!("rate.per: must be longer than 0s");
    }
    Ok((count("rate.max", max)?, per))
}

fn count(name: &str, value: &Node) -> anyhow::Result<u32> {
    at_least_one(
        name,
        super::file::number(value).with_context(|| name.to_owned())?,
    )
}

#[cfg(test)]
mod tests {
    use super::super::ServeArgs;
    use super::super::file::{over, parse};
    use super::*;

    #[test]
    fn hosts_have_limits_of_their_own() {
        let text = "hosts:\n  API.example.com: { concurrency: 10, rate: { max: 50, per: 1s } }\n  \
                    \"10.0.0.7:8080\": { retries: 2, breaker: off }\nkeep_completed: forever\nkeep_failed: 7d\n\
                    keep_requests: 2d\n";
        let file = parse(text).unwrap().said.bounds;
        let limits = limits(&file).unwrap();
        let api = limits.hosts["api.example.com"];
        assert_eq!(api.attempts, Some(10));
        assert_eq!(api.rate, Some((50, Duration::from_secs(1))));
        assert_eq!(limits.hosts["10.0.0.7:8080"].retries, Some(2));
        assert_eq!(limits.hosts["10.0.0.7:8080"].breaker, Some(false));
        assert!(limits.breakers);
        let kept = retention(&file).unwrap();
        assert_eq!(kept.completed, None);
        assert_eq!(kept.failed, Some(Duration::from_secs(7 * 86_400)));
        assert_eq!(kept.requests, Some(Duration::from_secs(2 * 86_400)));
        assert_eq!(kept.cancelled, Retention::default().cancelled);
    }

    #[test]
    fn wrong_limits_name_the_host_and_the_limit() {
        for (text, expected) in [
            ("hosts: { a: { concurrency: 0 } }", "concurrency"),
            ("hosts: { a: { speed: 3 } }", "`speed` is not a limit"),
            ("hosts: { a: { breaker: maybe } }", "write on or off"),
            ("hosts: { a: { rate: 5 } }", "expected { max: 50, per: 1s }"),
            ("hosts: [a]", "expected a mapping of hosts"),
        ] {
            let error = format!("{:#}", parse(text).unwrap_err());
            assert!(error.contains(expected), "{error}");
        }
        let flags = Bounds {
            keep_requests: Some("7d".to_owned()),
            ..Bounds::default()
        };
        let flags = ServeArgs {
            bounds: flags,
            ..ServeArgs::default()
        };
        let both = over(flags, parse("keep_requests: 2d").unwrap().said);
        let kept = retention(&both.bounds).unwrap();
        assert_eq!(kept.requests, Some(Duration::from_secs(7 * 86_400)));
        let flags = Bounds {
            keep_failed: Some("soon".to_owned()),
            ..Bounds::default()
        };
        let error = format!("{:#}", retention(&flags).unwrap_err());
        assert!(error.contains("--keep-failed"), "{error}");
    }
}
