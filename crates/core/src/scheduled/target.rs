//! What a task calls. Targets other than `http` are known, but not available in this version.

use std::time::Duration;

use super::object;
use crate::definition::fields::{Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::Content;
use crate::definition::{Problem, Problems};
use crate::json::Json;

/// How long the call may take if nobody says, in seconds.
const TIMEOUT_SECONDS_DEFAULT: u64 = 30;
/// The longest that somebody may say, in seconds.
const TIMEOUT_SECONDS_MAX: u64 = 300;

/// Ways to call something, and whether this version can do it.
const TRIGGER_TYPES: &[(&str, bool)] = &[
    ("http", true),
    ("lambda", false),
    ("sns", false),
    ("sqs", false),
    ("eventbridge", false),
];

const HTTP: &[Known] = &[
    Known::new("triggerType"),
    Known::new("url"),
    Known::new("method"),
    Known::new("headers"),
    TIMEOUT,
];

const TIMEOUT: Known = Known::new("triggerTimeoutSeconds");

/// Where a task is sent when its request does not say.
pub(super) struct Default<'a> {
    /// The address, where it was found.
    pub(super) url: Field<'a>,
}

/// What a task calls.
#[derive(Debug)]
pub(super) struct Target {
    pub(super) url: Said,
    pub(super) method: Option<Said>,
    pub(super) headers: Option<Said>,
    pub(super) timeout: Duration,
}

/// A value, and where it stands.
#[derive(Debug)]
pub(super) struct Said {
    pub(super) value: Json,
    pub(super) place: Problem,
}

impl Said {
    fn of(field: &Field<'_>) -> Self {
        Self {
            value: field.node.to_json(),
            place: field.problem(""),
        }
    }
}

impl Target {
    pub(super) fn read(
        fields: &Fields<'_>,
        executor: Option<&Field<'_>>,
        default: Option<Default<'_>>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let of_executor = executor.and_then(|executor| {
            let node = executor.node.get(TIMEOUT.name)?;
            let field = Field::new(format!("{}.{}", executor.path, TIMEOUT.name), node);
            seconds(&field, problems)
        });
        let Some(config) = fields.get("targetConfig") else {
            let Some(default) = default else {
                fields.required("targetConfig", problems);
                return None;
            };
            default.url.text(problems)?;
            return Some(Self {
                url: Said::of(&default.url),
                method: None,
                headers: None,
                timeout: timeout(of_executor),
            });
        };
        let config = object(config, problems)?;
        is_available(&config, problems)?;
        let config = config.fields(HTTP, problems)?;
        let own = config.get(TIMEOUT.name);
        let own = own.and_then(|field| seconds(&field, problems));
        if let Some(method) = config.get("method") {
            method.text(problems);
        }
        let url = config.required("url", problems)?;
        url.text(problems)?;
        Some(Self {
            url: Said::of(&url),
            method: config.get("method").as_ref().map(Said::of),
            headers: config.get("headers").as_ref().map(Said::of),
            timeout: timeout(own.or(of_executor)),
        })
    }
}

/// Refuses what this version cannot call. Nothing else is said about its settings.
fn is_available(config: &Field<'_>, problems: &mut Problems) -> Option<()> {
    let found = config.node.get("triggerType");
    let Some(node) = found.filter(|node| node.content != Content::Null) else {
        let path = format!("{}.triggerType", config.path);
        let problem = Problem::new(path, config.node.mark, "`triggerType` is required");
        problems.push(problem.with_hint("write `http`"));
        return None;
    };
    let field = Field::new(format!("{}.triggerType", config.path), node);
    if !field.exact_word(TRIGGER_TYPES, problems)? {
        let word = node.as_str().unwrap_or_default();
        let problem = field.problem(format!("`{word}` is not available in this version"));
        problems.push(problem.with_hint("use `http`"));
        return None;
    }
    Some(())
}

fn seconds(field: &Field<'_>, problems: &mut Problems) -> Option<u64> {
    field.whole(1..=TIMEOUT_SECONDS_MAX, problems)
}

fn timeout(seconds: Option<u64>) -> Duration {
    Duration::from_secs(seconds.unwrap_or(TIMEOUT_SECONDS_DEFAULT))
}
