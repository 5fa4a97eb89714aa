//! `external_task` steps: work that a worker outside fetches, does and reports.

use std::time::Duration;

use super::super::check::Owner;
use super::super::keys::Known;
use super::super::parse::tree;
use super::{Config, Settings, StepKind, StepType};
use crate::limit::PRIORITY_LAST;
use crate::template::{Reference, Tree};

/// How long an attempt may take, from when it may be fetched.
const TIMEOUT_DEFAULT: Duration = Duration::from_secs(600);
const TIMEOUT_MIN: Duration = Duration::from_secs(1);
const TIMEOUT_MAX: Duration = Duration::from_secs(30 * 24 * 60 * 60);

/// How long a worker holds a task without a word.
const LOCK_DEFAULT: Duration = Duration::from_secs(300);

const RETRIES_DEFAULT: u32 = 3;
const RETRIES_MAX: u64 = 100;

const INTERVAL_DEFAULT: Duration = Duration::from_secs(60);
const INTERVAL_MIN: Duration = Duration::from_secs(1);
const INTERVAL_MAX: Duration = Duration::from_secs(60 * 60);

const MISSED_DEFAULT: u32 = 2;
const MISSED_MAX: u64 = 100;

/// The longest name of a task type, in characters.
const TASK_TYPE_CHARS_MAX: usize = 100;

/// Work for a worker outside.
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalTask {
    /// What workers ask for.
    pub task_type: String,
    /// 1 (first) to 10 (last); the execution's if nothing is written.
    pub priority: Option<u8>,
    /// What the worker is given; the execution's input if nothing is written.
    pub input: Option<Tree>,
    /// How long one attempt may take, from when it may be fetched, whether somebody has it or not.
    pub timeout: Duration,
    /// How long a worker holds it without a heartbeat.
    pub lock_duration: Duration,
    /// Attempts in all.
    pub retries: u32,
    /// How often the worker must send a heartbeat, if it must.
    pub heartbeat: Option<Heartbeat>,
    /// Whether a worker must say by which lock it holds the task.
    pub require_lock_token: bool,
}

/// How often a worker must say that it is still there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heartbeat {
    /// Once in this time.
    pub interval: Duration,
    /// After so many missed ones the task is taken from it.
    pub max_missed: u32,
}

impl Heartbeat {
    /// How long a worker may be silent.
    #[must_use]
    pub fn silence_max(self) -> Duration {
        self.interval * self.max_missed
    }
}

impl ExternalTask {
    pub(super) const TYPE: StepType = StepType {
        name: "external_task",
        does: "waits for a worker outside to fetch a task and report its result",
        keys: &[
            Known::new("taskType"),
            Known::new("input"),
            Known::new("priority"),
            Known::new("timeout"),
            Known::new("lockDuration"),
            Known::new("retries"),
            Known::with("heartbeat", HEARTBEAT),
            Known::new("requireLockToken"),
            Known::new("outputMapping"),
        ],
        schema: SCHEMA,
        read: |config| read(config).map(StepKind::ExternalTask),
    };
}

const HEARTBEAT: &[Known] = &[Known::new("interval"), Known::new("maxMissed")];

impl Settings for ExternalTask {
    fn required(&self) -> Vec<&Reference> {
        self.input.iter().flat_map(Tree::required).collect()
    }
}

fn read(mut config: Config<'_, '_>) -> Option<ExternalTask> {
    let input = config.templates("input", Owner::Shown(config.step));
    let Config {
        fields: config,
        problems,
        ..
    } = config;
    let task_type = config.required("taskType", problems).and_then(|field| {
        let text = field.text(problems)?;
        field.keep(check_task_type(text), problems)?;
        Some(text.to_owned())
    });
    let input = input.and_then(|field| tree(&field, problems));
    let priorities = 1..=u64::from(PRIORITY_LAST);
    let priority = config
        .get("priority")
        .and_then(|field| field.whole(priorities, problems));
    let timeout = config
        .get("timeout")
        .and_then(|field| field.duration(TIMEOUT_MIN..=TIMEOUT_MAX, problems))
        .unwrap_or(TIMEOUT_DEFAULT);
    let lock = config.get("lockDuration").and_then(|field| {
        let lock = field.duration(TIMEOUT_MIN..=TIMEOUT_MAX, problems)?;
        if lock > timeout {
            let problem = field.problem("`lockDuration` is longer than `timeout`");
            problems.push(problem.with_hint(
                "a lock ends with the attempt at the latest; make `timeout` longer or the lock shorter",
            ));
        }
        Some(lock)
    });
    let retries = config
        .get("retries")
        .and_then(|field| field.whole(1..=RETRIES_MAX, problems));
    let heartbeat = config.get("heartbeat").and_then(|field| {
        let fields = field.fields(HEARTBEAT, problems)?;
        let interval = fields
            .get("interval")
            .and_then(|field| field.duration(INTERVAL_MIN..=INTERVAL_MAX, problems));
        let missed = fields
            .get("maxMissed")
            .and_then(|field| field.whole(1..=MISSED_MAX, problems));
        Some(Heartbeat {
            interval: interval.unwrap_or(INTERVAL_DEFAULT),
            max_missed: missed.map_or(MISSED_DEFAULT, small),
        })
    });
    let token = config
        .get("requireLockToken")
        .and_then(|field| field.bool(problems));
    Some(ExternalTask {
        task_type: task_type?,
        priority: priority.and_then(|priority| u8::try_from(priority).ok()),
        input,
        timeout,
        lock_duration: lock.unwrap_or_else(|| LOCK_DEFAULT.min(timeout)),
        retries: retries.map_or(RETRIES_DEFAULT, small),
        heartbeat,
        require_lock_token: token.unwrap_or_default(),
    })
}

/// Whether a text can be a task type. Workers ask for types, so one is known before anything runs.
///
/// # Errors
/// What is wrong with it, in words.
pub fn check_task_type(text: &str) -> Result<(), &'static str> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._:/-".contains(c);
    if text.contains("${") {
        Err("a task type is a plain name, it takes no `${…}`")
    } else if text.is_empty() || text.len() > TASK_TYPE_CHARS_MAX || !text.chars().all(is_plain) {
        Err("a task type has 1 to 100 letters, digits or `.`, `_`, `:`, `/`, `-`")
    } else {
        Ok(())
    }
}

/// Checked before to be small.
fn small(number: u64) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}

const SCHEMA: &str = r##"{
      "type": "object",
      "required": ["taskType"],
      "properties": {
        "taskType": {
          "type": "string",
          "pattern": "^[A-Za-z0-9._:/-]{1,100}$",
          "description": "The name that workers ask for.",
          "examples": ["n8n-jira-create-ticket"]
        },
        "input": { "description": "What the worker is given, with `${…}` in its strings, but no secrets. Default: the execution's input." },
        "priority": { "type": "integer", "minimum": 1, "maximum": 10, "description": "1 (first) to 10 (last). Default: the execution's priority." },
        "timeout": { "$ref": "#/$defs/duration", "default": "600s", "description": "How long one attempt may take from when it may be fetched, 1s to 30d." },
        "lockDuration": { "$ref": "#/$defs/duration", "default": "300s", "description": "How long a worker holds the task without a heartbeat; at most `timeout`." },
        "retries": { "type": "integer", "minimum": 1, "maximum": 100, "default": 3, "description": "Attempts in all; the delays between them are those of `retry`." },
        "heartbeat": {
          "type": "object",
          "description": "How often a worker must say that it is still there. Without it, only the lock counts.",
          "properties": {
            "interval": { "$ref": "#/$defs/duration", "default": "60s", "description": "Once in this time, 1s to 1h." },
            "maxMissed": { "type": "integer", "minimum": 1, "maximum": 100, "default": 2, "description": "After so many missed ones the task is taken from the worker." },
            "max_missed": { "$ref": "#/$defs/external_task/properties/heartbeat/properties/maxMissed" }
          },
          "additionalProperties": false
        },
        "requireLockToken": { "type": "boolean", "default": false, "description": "Whether a worker must send the token of its lock." },
        "outputMapping": { "$ref": "#/$defs/outputMapping" },
        "task_type": { "$ref": "#/$defs/external_task/properties/taskType" },
        "lock_duration": { "$ref": "#/$defs/external_task/properties/lockDuration" },
        "require_lock_token": { "$ref": "#/$defs/external_task/properties/requireLockToken" },
        "output_mapping": { "$ref": "#/$defs/external_task/properties/outputMapping" }
      },
      "additionalProperties": false
    }"##;
