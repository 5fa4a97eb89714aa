//! How failures are retried: what was written, and what it comes to.
//!
//! [`RetrySettings`] holds only what somebody wrote, so that settings of a step, a trigger and a
//! workflow can be laid over each other field by field; [`RetryRules`] is the result with every
//! gap filled. Delays are computed by `refire-retry`, never here.

mod read;

pub(super) use read::statuses as read_statuses;

use std::time::Duration;

use refire_retry::{Jitter, Policy, Strategy};
use serde::{Deserialize, Serialize};

use super::status::StatusRange;
use crate::failure::ErrorClass;

/// The statuses that are retried unless settings say otherwise.
pub const RETRY_STATUSES: [u16; 5] = [429, 500, 502, 503, 504];

/// The statuses that fail at once unless settings say otherwise.
pub const FAIL_STATUSES: [u16; 4] = [400, 401, 403, 404];

/// Retry settings as written; `None` = not said here.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct RetrySettings {
    /// Whether anything is retried at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub enabled: Option<bool>,
    /// Retries after the first attempt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_retries: Option<u32>,
    /// The delay before the first retry.
    #[serde(
        rename = "initial_delay_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub initial_delay: Option<Duration>,
    /// How the delay grows.
    #[serde(with = "strategy", skip_serializing_if = "Option::is_none")]
    pub strategy: Option<Strategy>,
    /// The factor of the exponential strategy.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub multiplier: Option<f64>,
    /// The longest delay.
    #[serde(
        rename = "max_delay_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_delay: Option<Duration>,
    /// No retry begins later than this after the first attempt.
    #[serde(
        rename = "max_elapsed_ms",
        with = "millis",
        skip_serializing_if = "Option::is_none"
    )]
    pub max_elapsed: Option<Duration>,
    /// How delays are spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<JitterSetting>,
    /// Statuses to retry, instead of the default ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_statuses: Option<Vec<StatusRange>>,
    /// Other errors to retry, instead of the default ones.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub retry_errors: Option<Vec<ErrorClass>>,
    /// Statuses that fail at once, whatever `retry_statuses` says.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_statuses: Option<Vec<StatusRange>>,
}

// Numbers that are read are finite, so equality is total.
impl Eq for RetrySettings {}

/// How delays are spread, as written.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum JitterSetting {
    /// Not at all.
    None,
    /// By plus or minus this share.
    Proportional(f64),
    /// Up to half the initial delay on top.
    Additive,
    /// Anywhere between nothing and the delay.
    Full,
    /// Anywhere between half the delay and the delay.
    Equal,
    /// Anywhere between the initial delay and three times the previous one.
    Decorrelated,
}

impl From<JitterSetting> for Jitter {
    fn from(setting: JitterSetting) -> Self {
        match setting {
            JitterSetting::None => Self::None,
            JitterSetting::Proportional(ratio) => Self::Proportional(ratio),
            JitterSetting::Additive => Self::Additive,
            JitterSetting::Full => Self::Full,
            JitterSetting::Equal => Self::Equal,
            JitterSetting::Decorrelated => Self::Decorrelated,
        }
    }
}

impl RetrySettings {
    /// Settings that retry nothing.
    #[must_use]
    pub fn disabled() -> Self {
        Self {
            enabled: Some(false),
            ..Self::default()
        }
    }

    /// Whether nothing is said.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// These settings where they say something, else those of `below`.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        Self {
            enabled: self.enabled.or(below.enabled),
            max_retries: self.max_retries.or(below.max_retries),
            initial_delay: self.initial_delay.or(below.initial_delay),
            strategy: self.strategy.or(below.strategy),
            multiplier: self.multiplier.or(below.multiplier),
            max_delay: self.max_delay.or(below.max_delay),
            max_elapsed: self.max_elapsed.or(below.max_elapsed),
            jitter: self.jitter.or(below.jitter),
            retry_statuses: self
                .retry_statuses
                .clone()
                .or_else(|| below.retry_statuses.clone()),
            retry_errors: self
                .retry_errors
                .clone()
                .or_else(|| below.retry_errors.clone()),
            fail_statuses: self
                .fail_statuses
                .clone()
                .or_else(|| below.fail_statuses.clone()),
        }
    }

    /// The rules they come to, gaps filled with the defaults.
    #[must_use]
    pub fn rules(&self) -> RetryRules {
        let enabled = self.enabled.unwrap_or(true);
        let default = Policy::default();
        let max_retries = self.max_retries.unwrap_or(default.max_retries);
        let policy = Policy {
            max_retries: if enabled { max_retries } else { 0 },
            initial: self.initial_delay.unwrap_or(default.initial),
            strategy: self.strategy.unwrap_or(default.strategy),
            multiplier: self.multiplier.unwrap_or(default.multiplier),
            max_delay: self.max_delay.or(default.max_delay),
            max_elapsed: self.max_elapsed.or(default.max_elapsed),
            jitter: self.jitter.map_or(default.jitter, Jitter::from),
            min_delay: default.min_delay,
        };
        let retry_statuses = self
            .retry_statuses
            .clone()
            .unwrap_or_else(|| all(&RETRY_STATUSES));
        // The default list of failures gives way to statuses that somebody asked to retry.
        let fail_statuses = self.fail_statuses.clone().unwrap_or_else(|| {
            let asked = |status: u16| retry_statuses.iter().any(|range| range.contains(status));
            FAIL_STATUSES
                .into_iter()
                .filter(|s| !asked(*s))
                .map(StatusRange::one)
                .collect()
        });
        let retry_errors = self.retry_errors.clone().unwrap_or_else(default_errors);
        RetryRules {
            enabled,
            policy,
            retry_statuses,
            fail_statuses,
            retry_errors,
        }
    }
}

/// Network errors and the errors of `local` steps.
fn default_errors() -> Vec<ErrorClass> {
    let mut classes = ErrorClass::RETRYABLE_BY_DEFAULT.to_vec();
    if !classes.contains(&ErrorClass::Local) {
        classes.push(ErrorClass::Local);
    }
    classes
}

fn all(statuses: &[u16]) -> Vec<StatusRange> {
    statuses.iter().copied().map(StatusRange::one).collect()
}

/// What decides about a retry.
#[derive(Debug, Clone, PartialEq)]
pub struct RetryRules {
    /// Whether anything is retried; when not, the policy has no retries.
    pub enabled: bool,
    /// How often and after which delay.
    pub policy: Policy,
    /// Statuses that may be retried.
    pub retry_statuses: Vec<StatusRange>,
    /// Statuses that fail at once, also when they are in the other list.
    pub fail_statuses: Vec<StatusRange>,
    /// Errors other than statuses that may be retried.
    pub retry_errors: Vec<ErrorClass>,
}

impl RetryRules {
    /// Whether a failure of this class is of a kind that may be retried. Whether retries are
    /// enabled and left is the policy's question.
    #[must_use]
    pub fn is_retryable(&self, class: ErrorClass, status: Option<u16>) -> bool {
        if class != ErrorClass::HttpStatus {
            return self.retry_errors.contains(&class);
        }
        let within = |list: &[StatusRange], status| list.iter().any(|range| range.contains(status));
        status.is_some_and(|status| {
            !within(&self.fail_statuses, status) && within(&self.retry_statuses, status)
        })
    }
}

impl Default for RetryRules {
    fn default() -> Self {
        RetrySettings::default().rules()
    }
}

/// Durations in storage are whole milliseconds.
mod millis {
    use std::time::Duration;

    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    #[expect(
        clippy::ref_option,
        reason = "serde's `with` passes a reference to the field"
    )]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Duration>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let ms = |duration: Duration| u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
        value.map(ms).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Duration>, D::Error> {
        Ok(Option::<u64>::deserialize(deserializer)?.map(Duration::from_millis))
    }
}

/// Strategies in storage are their names.
mod strategy {
    use refire_retry::Strategy;
    use serde::de::Error as _;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    use super::read::STRATEGIES;

    #[expect(
        clippy::ref_option,
        reason = "serde's `with` passes a reference to the field"
    )]
    pub(super) fn serialize<S: Serializer>(
        value: &Option<Strategy>,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        let name = value.and_then(|value| STRATEGIES.iter().find(|(_, known)| *known == value));
        name.map(|(name, _)| *name).serialize(serializer)
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        deserializer: D,
    ) -> Result<Option<Strategy>, D::Error> {
        let Some(name) = Option::<String>::deserialize(deserializer)? else {
            return Ok(None);
        };
        match STRATEGIES.iter().find(|(known, _)| *known == name) {
            Some((_, strategy)) => Ok(Some(*strategy)),
            None => Err(D::Error::custom(format!("unknown strategy `{name}`"))),
        }
    }
}

#[cfg(test)]
mod tests;
