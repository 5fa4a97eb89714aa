//! Reading retry settings from a definition, a trigger or a request.

use std::time::Duration;

use refire_retry::Strategy;
use refire_schedule::nearest;

use super::super::fields::{Field, Fields};
use super::super::keys;
use super::super::problem::Problems;
use super::super::source::{Content, Node};
use super::super::status::StatusRange;
use super::{JitterSetting, RetrySettings};
use crate::failure::ErrorClass;

/// The fewest and the most retries a policy may have.
const MAX_RETRIES: std::ops::RangeInclusive<u64> = 1..=10;

const INITIAL_DELAY_MS_MAX: u64 = 24 * 60 * 60 * 1_000;
const INITIAL_DELAY_MAX: Duration = Duration::from_millis(INITIAL_DELAY_MS_MAX);
const MAX_DELAY_MIN: Duration = Duration::from_millis(100);
const MAX_DELAY_MAX: Duration = Duration::from_secs(7 * 24 * 60 * 60);
const MAX_ELAPSED_MIN: Duration = Duration::from_secs(1);
const MAX_ELAPSED_MAX: Duration = Duration::from_secs(365 * 24 * 60 * 60);

pub(super) const STRATEGIES: &[(&str, Strategy)] = &[
    ("exponential", Strategy::Exponential),
    ("linear", Strategy::Linear),
    ("fixed", Strategy::Fixed),
];

/// The share that `proportional` takes when none is written.
const DEFAULT_RATIO: f64 = 0.2;

const JITTERS: &[(&str, JitterSetting)] = &[
    ("none", JitterSetting::None),
    ("proportional", JitterSetting::Proportional(DEFAULT_RATIO)),
    ("additive", JitterSetting::Additive),
    ("full", JitterSetting::Full),
    ("equal", JitterSetting::Equal),
    ("decorrelated", JitterSetting::Decorrelated),
];

/// Classes that have rules of their own and cannot be put into a list.
const NOT_LISTABLE: [ErrorClass; 9] = [
    ErrorClass::HttpStatus,
    ErrorClass::Worker,
    ErrorClass::TaskTimeout,
    ErrorClass::LockExpired,
    ErrorClass::HeartbeatMissed,
    ErrorClass::CallbackFailed,
    ErrorClass::NodeLost,
    ErrorClass::HistoryLimit,
    ErrorClass::Internal,
];

impl RetrySettings {
    /// Reads settings from YAML or JSON text.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn parse(source: &str) -> Result<Self, Problems> {
        Self::from_node(&Node::parse(source)?, "")
    }

    /// Reads settings from a node; `path` is the way to it, for messages.
    ///
    /// # Errors
    /// Everything that is wrong with them.
    pub fn from_node(node: &Node, path: &str) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        let settings = Self::read(&Field::new(path, node), &mut problems);
        if problems.is_empty() {
            Ok(settings)
        } else {
            Err(problems.sorted())
        }
    }

    pub(in super::super) fn read(field: &Field<'_>, problems: &mut Problems) -> Self {
        match &field.node.content {
            Content::Null => Self::default(),
            Content::Bool(enabled) => Self {
                enabled: Some(*enabled),
                ..Self::default()
            },
            Content::Number(_) => Self {
                enabled: Some(true),
                max_retries: count(field, problems),
                ..Self::default()
            },
            _ => match field.fields(keys::RETRY, problems) {
                Some(fields) => from_fields(&fields, problems),
                None => Self::default(),
            },
        }
    }
}

fn from_fields(fields: &Fields<'_>, problems: &mut Problems) -> RetrySettings {
    let max_retries = max_retries(fields, problems);
    let enabled = fields.get("enabled").and_then(|field| field.bool(problems));
    let mut settings = RetrySettings {
        // Who says how often means that there are retries.
        enabled: enabled.or_else(|| max_retries.map(|_| true)),
        max_retries,
        initial_delay: initial_delay(fields, problems),
        strategy: fields
            .get("strategy")
            .and_then(|field| field.word(STRATEGIES, problems)),
        multiplier: fields
            .get("multiplier")
            .and_then(|field| field.number(1.0..=10.0, problems)),
        max_delay: fields
            .get("maxDelay")
            .and_then(|field| field.duration(MAX_DELAY_MIN..=MAX_DELAY_MAX, problems)),
        max_elapsed: fields
            .get("maxElapsed")
            .and_then(|field| field.duration(MAX_ELAPSED_MIN..=MAX_ELAPSED_MAX, problems)),
        jitter: fields
            .get("jitter")
            .and_then(|field| jitter(&field, problems)),
        retry_statuses: None,
        retry_errors: None,
        fail_statuses: None,
    };
    lists(fields, &mut settings, problems);
    if let (Some(cap), Some(initial)) = (settings.max_delay, settings.initial_delay)
        && cap < initial
        && let Some(field) = fields.get("maxDelay")
    {
        problems.push(field.problem("`maxDelay` is shorter than `initialDelay`"));
    }
    settings
}

/// `initialDelay`, or `baseDelayMs`, which counts milliseconds and not seconds.
fn initial_delay(fields: &Fields<'_>, problems: &mut Problems) -> Option<Duration> {
    let base = fields.get("baseDelayMs");
    let Some(initial) = fields.get("initialDelay") else {
        let millis = base?.whole(0..=INITIAL_DELAY_MS_MAX, problems)?;
        return Some(Duration::from_millis(millis));
    };
    if let Some(base) = base {
        let problem = base.problem("`initialDelay` says the same thing");
        problems.push(problem.with_hint("keep `initialDelay`"));
    }
    initial.duration(Duration::ZERO..=INITIAL_DELAY_MAX, problems)
}

fn max_retries(fields: &Fields<'_>, problems: &mut Problems) -> Option<u32> {
    let attempts_range = *MAX_RETRIES.start() + 1..=*MAX_RETRIES.end() + 1;
    match (fields.get("maxRetries"), fields.get("maxAttempts")) {
        (Some(retries), None) => count(&retries, problems),
        (None, Some(attempts)) => attempts
            .whole(attempts_range, problems)
            .map(|n| small(n - 1)),
        (Some(_), Some(attempts)) => {
            problems.push(
                attempts
                    .problem("`maxRetries` and `maxAttempts` say the same thing")
                    .with_hint("keep one of them; attempts = retries + 1"),
            );
            None
        }
        (None, None) => None,
    }
}

/// How many retries; none at all are written in another way.
fn count(field: &Field<'_>, problems: &mut Problems) -> Option<u32> {
    if matches!(&field.node.content, Content::Number(digits) if **digits == *"0") {
        let range = format!("{} to {}", MAX_RETRIES.start(), MAX_RETRIES.end());
        let problem = field.problem(format!("0 is not a whole number from {range}"));
        problems.push(problem.with_hint("for no retries, write `retry: false`"));
        return None;
    }
    field.whole(MAX_RETRIES, problems).map(small)
}

fn jitter(field: &Field<'_>, problems: &mut Problems) -> Option<JitterSetting> {
    match &field.node.content {
        Content::Bool(true) => Some(JitterSetting::Proportional(DEFAULT_RATIO)),
        Content::Bool(false) => Some(JitterSetting::None),
        Content::Mapping(_) => {
            let fields = field.fields(keys::JITTER, problems)?;
            let kind = fields.required("type", problems)?.word(JITTERS, problems)?;
            let Some(ratio) = fields.get("ratio") else {
                return Some(kind);
            };
            if !matches!(kind, JitterSetting::Proportional(_)) {
                problems.push(ratio.problem("`ratio` belongs to the type `proportional`"));
                return None;
            }
            ratio
                .number(0.0..=1.0, problems)
                .map(JitterSetting::Proportional)
        }
        _ => field.word(JITTERS, problems),
    }
}

/// `retryOn`, `failOn` and the older `retryable_errors`.
fn lists(fields: &Fields<'_>, settings: &mut RetrySettings, problems: &mut Problems) {
    if let Some(field) = fields.get("retryOn")
        && let Some(on) = field.fields(keys::RETRY_ON, problems)
    {
        settings.retry_statuses = on.get("statuses").map(|field| statuses(&field, problems));
        settings.retry_errors = on.get("errors").map(|field| errors(&field, problems));
    }
    if let Some(field) = fields.get("failOn")
        && let Some(on) = field.fields(keys::FAIL_ON, problems)
    {
        settings.fail_statuses = on.get("statuses").map(|field| statuses(&field, problems));
    }
    if let Some(field) = fields.get("retryableErrors") {
        if fields.get("retryOn").is_some() {
            problems.push(
                field
                    .problem("`retryOn` says the same thing")
                    .with_hint("keep `retryOn`"),
            );
        }
        settings.retry_statuses = Some(statuses(&field, problems));
    }
}

/// A list of statuses and ranges.
pub(in super::super) fn statuses(field: &Field<'_>, problems: &mut Problems) -> Vec<StatusRange> {
    let mut ranges = Vec::new();
    for item in field.items() {
        if let Some(text) = item.scalar(problems) {
            ranges.extend(item.keep(StatusRange::parse(text), problems));
        }
    }
    ranges
}

fn errors(field: &Field<'_>, problems: &mut Problems) -> Vec<ErrorClass> {
    let mut classes = Vec::new();
    for item in field.items() {
        let Some(text) = item.text(problems) else {
            continue;
        };
        let listable = |class: &ErrorClass| !NOT_LISTABLE.contains(class);
        match ErrorClass::from_name(&text.to_ascii_lowercase()).filter(listable) {
            Some(class) => classes.push(class),
            None => {
                let known: Vec<_> = ErrorClass::ALL
                    .into_iter()
                    .filter(listable)
                    .map(ErrorClass::name)
                    .collect();
                let near = nearest(text, known.iter().copied());
                let mut problem = item.problem(format!("\"{text}\" is not a kind of error"));
                problem = match near {
                    Some(_) => problem.suggesting(near),
                    None => problem.with_hint(format!("use one of {}", known.join(", "))),
                };
                problems.push(problem);
            }
        }
    }
    classes
}

/// Checked before to be small.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
