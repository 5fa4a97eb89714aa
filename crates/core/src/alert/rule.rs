//! A rule: what is watched, from when on it is bad, and who is told.

use std::ops::RangeInclusive;
use std::time::Duration;

use crate::definition::fields::{Elsewhere, Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::{Content, Mark, Node};
use crate::definition::{Problem, Problems, WorkflowId};
use crate::duration;
use crate::json::Json;
use crate::minute::MINUTE;

/// The longest name, in characters.
pub const NAME_CHARS_MAX: usize = 100;
/// Channels that a rule may name.
pub const CHANNELS_MAX: usize = 20;
/// How often people are reminded unless a rule says otherwise.
pub const REPEAT_DEFAULT: Duration = Duration::from_secs(4 * 60 * 60);

const DAY: Duration = Duration::from_secs(24 * 60 * 60);
const WINDOWS: RangeInclusive<Duration> = MINUTE..=DAY;
const HOLDS: RangeInclusive<Duration> = Duration::ZERO..=DAY;
const REPEATS: RangeInclusive<Duration> = MINUTE..=Duration::from_secs(30 * 24 * 60 * 60);
const AFTERS: RangeInclusive<Duration> = MINUTE..=Duration::from_secs(30 * 24 * 60 * 60);
const COUNTS: RangeInclusive<u64> = 0..=1_000_000_000;

const WINDOW_DEFAULT: Duration = Duration::from_secs(10 * 60);
const SCHEDULED_WINDOW_DEFAULT: Duration = Duration::from_secs(60 * 60);
const AFTER_DEFAULT: Duration = Duration::from_secs(60 * 60);
const MIN_COUNT_DEFAULT: u64 = 10;

/// What a rule watches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum RuleKind {
    /// Of the executions that ended, too many failed.
    FailureRate,
    /// Too many dead letters came.
    DlqGrowth,
    /// A worker was not heard of, and no other does its tasks.
    DeadWorkers,
    /// Planned times were left out because nobody looked.
    MissedSlots,
    /// An expected success of a trigger is missing.
    DeadMan,
    /// A scheduled task failed, and has not succeeded since.
    ScheduledTaskFailed,
    /// Tasks or callbacks take long.
    LongProcessing,
    /// Calls to a host are held back.
    BreakerOpen,
}

impl RuleKind {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::FailureRate,
        Self::DlqGrowth,
        Self::DeadWorkers,
        Self::MissedSlots,
        Self::DeadMan,
        Self::ScheduledTaskFailed,
        Self::LongProcessing,
        Self::BreakerOpen,
    ];

    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::FailureRate => "failure_rate",
            Self::DlqGrowth => "dlq_growth",
            Self::DeadWorkers => "dead_workers",
            Self::MissedSlots => "missed_slots",
            Self::DeadMan => "dead_man",
            Self::ScheduledTaskFailed => "scheduled_task_failed",
            Self::LongProcessing => "long_processing",
            Self::BreakerOpen => "breaker_open",
        }
    }

    /// The kind of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What its values are.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self {
            Self::FailureRate => Unit::Percent,
            Self::DlqGrowth | Self::MissedSlots | Self::ScheduledTaskFailed => Unit::Count,
            Self::DeadWorkers | Self::DeadMan | Self::LongProcessing | Self::BreakerOpen => {
                Unit::Seconds
            }
        }
    }

    /// Whether what it watches is counted by the minute, so that the past is known.
    #[must_use]
    pub const fn has_past(self) -> bool {
        matches!(
            self,
            Self::FailureRate | Self::DlqGrowth | Self::MissedSlots | Self::ScheduledTaskFailed
        )
    }

    fn keys(self) -> &'static [Known] {
        match self {
            Self::FailureRate => FAILURE_RATE,
            Self::DlqGrowth | Self::MissedSlots => COUNTED,
            Self::ScheduledTaskFailed => WINDOWED,
            Self::LongProcessing => LONG,
            Self::DeadMan => OF_WORKFLOW,
            Self::DeadWorkers | Self::BreakerOpen => PLAIN,
        }
    }
}

/// What a value is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A share of a hundred.
    Percent,
    /// How many.
    Count,
    /// For how long.
    Seconds,
}

impl Unit {
    /// The word for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Percent => "percent",
            Self::Count => "count",
            Self::Seconds => "seconds",
        }
    }

    /// A value of so many thousandths, for people: `12.5 %`, `3`, `5m`.
    #[must_use]
    pub fn shown(self, thousandths: i64) -> String {
        let whole = thousandths.max(0).unsigned_abs() / 1_000;
        match self {
            Self::Percent => format!("{:.1} %", thousandths as f64 / 1_000.0),
            Self::Count => whole.to_string(),
            Self::Seconds => duration::format(Duration::from_secs(whole)),
        }
    }
}

/// When something is bad.
#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// See [`RuleKind::FailureRate`].
    FailureRate {
        /// How far back it looks.
        window: Duration,
        /// The share of failures, in percent, that is still good.
        above: f64,
        /// Executions that must have ended for it to mean something.
        min_count: u64,
    },
    /// See [`RuleKind::DlqGrowth`].
    DlqGrowth {
        /// How far back it looks.
        window: Duration,
        /// So many are still good.
        above: u64,
    },
    /// See [`RuleKind::DeadWorkers`].
    DeadWorkers,
    /// See [`RuleKind::MissedSlots`].
    MissedSlots {
        /// How far back it looks.
        window: Duration,
        /// So many are still good.
        above: u64,
    },
    /// See [`RuleKind::DeadMan`].
    DeadMan,
    /// See [`RuleKind::ScheduledTaskFailed`].
    ScheduledTaskFailed {
        /// How far back it looks.
        window: Duration,
    },
    /// See [`RuleKind::LongProcessing`].
    LongProcessing {
        /// So long is still good.
        after: Duration,
    },
    /// See [`RuleKind::BreakerOpen`].
    BreakerOpen,
}

impl Condition {
    /// What it watches.
    #[must_use]
    pub const fn kind(&self) -> RuleKind {
        match self {
            Self::FailureRate { .. } => RuleKind::FailureRate,
            Self::DlqGrowth { .. } => RuleKind::DlqGrowth,
            Self::DeadWorkers => RuleKind::DeadWorkers,
            Self::MissedSlots { .. } => RuleKind::MissedSlots,
            Self::DeadMan => RuleKind::DeadMan,
            Self::ScheduledTaskFailed { .. } => RuleKind::ScheduledTaskFailed,
            Self::LongProcessing { .. } => RuleKind::LongProcessing,
            Self::BreakerOpen => RuleKind::BreakerOpen,
        }
    }

    /// How far back it looks.
    #[must_use]
    pub const fn window(&self) -> Option<Duration> {
        match self {
            Self::FailureRate { window, .. }
            | Self::DlqGrowth { window, .. }
            | Self::MissedSlots { window, .. }
            | Self::ScheduledTaskFailed { window } => Some(*window),
            _ => None,
        }
    }

    /// What a value is compared with, in thousandths; none where being there is enough.
    #[must_use]
    pub fn threshold(&self) -> Option<i64> {
        match self {
            Self::FailureRate { above, .. } => Some((above * 1_000.0).round() as i64),
            Self::DlqGrowth { above, .. } | Self::MissedSlots { above, .. } => {
                Some(thousandths(*above))
            }
            Self::LongProcessing { after } => Some(thousandths(after.as_secs())),
            Self::DeadWorkers
            | Self::DeadMan
            | Self::ScheduledTaskFailed { .. }
            | Self::BreakerOpen => None,
        }
    }
}

/// Values are kept in thousandths, so that shares and counts are numbers of one kind.
#[must_use]
pub fn thousandths(count: u64) -> i64 {
    i64::try_from(count)
        .unwrap_or(i64::MAX)
        .saturating_mul(1_000)
}

/// See the module.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// What people call it; no two rules have the same name.
    pub name: String,
    /// When something is bad.
    pub condition: Condition,
    /// Only of this workflow.
    pub workflow: Option<WorkflowId>,
    /// For how long it must be bad.
    pub hold: Duration,
    /// Who is told, by name or id; empty = every channel that is enabled.
    pub channels: Vec<String>,
    /// How often people are reminded while it is bad.
    pub repeat: Duration,
    /// Whether it is looked at.
    pub enabled: bool,
    /// Its settings as they are stored: every field, in its documented order.
    pub text: Json,
}

const HEAD: [Known; 2] = [Known::new("name"), Known::mistaken_for("kind", &["type"])];
const TAIL: [Known; 4] = [
    Known::mistaken_for("for", &["duration", "hold"]),
    Known::mistaken_for("channels", &["channel", "notify"]),
    Known::new("repeat"),
    Known::new("enabled"),
];
const WORKFLOW: Known = Known::also("workflow", &["workflow_id", "workflowId"]);
const WINDOW: Known = Known::new("window");
const ABOVE: Known = Known::mistaken_for("above", &["threshold", "max"]);
const MIN_COUNT: Known = Known::new("min_count");
const AFTER: Known = Known::new("after");

const PLAIN: &[Known] = &[HEAD[0], HEAD[1], TAIL[0], TAIL[1], TAIL[2], TAIL[3]];
const OF_WORKFLOW: &[Known] = &[
    HEAD[0], HEAD[1], WORKFLOW, TAIL[0], TAIL[1], TAIL[2], TAIL[3],
];
const WINDOWED: &[Known] = &[
    HEAD[0], HEAD[1], WORKFLOW, WINDOW, TAIL[0], TAIL[1], TAIL[2], TAIL[3],
];
const COUNTED: &[Known] = &[
    HEAD[0], HEAD[1], WORKFLOW, WINDOW, ABOVE, TAIL[0], TAIL[1], TAIL[2], TAIL[3],
];
const FAILURE_RATE: &[Known] = &[
    HEAD[0], HEAD[1], WORKFLOW, WINDOW, ABOVE, MIN_COUNT, TAIL[0], TAIL[1], TAIL[2], TAIL[3],
];
const LONG: &[Known] = &[
    HEAD[0], HEAD[1], WORKFLOW, AFTER, TAIL[0], TAIL[1], TAIL[2], TAIL[3],
];

impl Rule {
    /// Reads settings in JSON or YAML.
    ///
    /// # Errors
    /// Everything that is wrong with them, in the order of the text.
    pub fn read(source: &str) -> Result<Self, Problems> {
        Self::from_node(&Node::parse(source)?)
    }

    /// Reads settings that a change was laid over: nobody has that text, so nothing in it has a place.
    ///
    /// # Errors
    /// Everything that is wrong with the change, or with the result.
    pub fn patched(stored: &str, patch: &str) -> Result<Self, Problems> {
        let (stored, patch) = (Node::parse(stored)?, Node::parse(patch)?);
        if !matches!(patch.content, Content::Mapping(_)) {
            let message = format!("expected an object, found {}", patch.kind());
            return Err(Problem::new("", patch.mark, message).into());
        }
        let patch = renamed(patch);
        let merged = stored.merged(patch, |key| key == "channels").to_json();
        Self::read(merged.as_str()).map_err(|problems| {
            let mut all = Problems::new();
            for problem in problems {
                all.push(Problem {
                    line: Mark::NOWHERE.line,
                    column: Mark::NOWHERE.column,
                    ..problem
                });
            }
            all
        })
    }

    fn from_node(node: &Node) -> Result<Self, Problems> {
        let mut problems = Problems::new();
        match read(node, &mut problems) {
            Some(rule) if problems.is_empty() => Ok(rule),
            _ => Err(problems.sorted()),
        }
    }

    /// What it watches.
    #[must_use]
    pub const fn kind(&self) -> RuleKind {
        self.condition.kind()
    }
}

/// The other spelling of a key is the same key.
fn renamed(mut patch: Node) -> Node {
    if let Content::Mapping(members) = &mut patch.content {
        for (key, _) in members {
            if WORKFLOW.is(&key.text) {
                key.text = WORKFLOW.name.into();
            }
        }
    }
    patch
}

fn read(node: &Node, problems: &mut Problems) -> Option<Rule> {
    let whole = Field::new("", node);
    let kind = kind(node, problems)?;
    let everything = [
        Elsewhere {
            table: FAILURE_RATE,
            place: "to rules that count executions",
        },
        Elsewhere {
            table: LONG,
            place: "to rules of kind `long_processing`",
        },
    ];
    let fields = whole.fields_or(kind.keys(), &everything, problems)?;
    let name = name(&fields, problems);
    let workflow = fields.get("workflow").and_then(|field| {
        let text = field.text(problems)?;
        field.keep(WorkflowId::new(text), problems)
    });
    let condition = condition(kind, &fields, problems);
    let hold = length(&fields, "for", HOLDS, Duration::ZERO, problems);
    let repeat = length(&fields, "repeat", REPEATS, REPEAT_DEFAULT, problems);
    let channels = channels(&fields, problems);
    let enabled = fields.get("enabled").map(|field| field.bool(problems));
    let mut rule = Rule {
        name: name?,
        condition: condition?,
        workflow,
        hold: hold?,
        channels,
        repeat: repeat?,
        enabled: enabled.unwrap_or(Some(true))?,
        text: Json::empty_object(),
    };
    rule.text = super::text::text(&rule);
    Some(rule)
}

fn kind(node: &Node, problems: &mut Problems) -> Option<RuleKind> {
    let whole = Field::new("", node);
    if !matches!(node.content, Content::Mapping(_)) {
        problems.push(whole.problem(format!(
            "a rule is a mapping with `kind`, not {}",
            node.kind()
        )));
        return None;
    }
    let words = RuleKind::ALL.map(|kind| (kind.name(), kind));
    match node
        .get("kind")
        .filter(|kind| kind.content != Content::Null)
    {
        Some(kind) => Field::new("kind", kind).word(&words, problems),
        None => {
            let known: Vec<_> = words.iter().map(|(word, _)| *word).collect();
            let problem = Problem::new("kind", node.mark, "`kind` is required");
            problems.push(problem.with_hint(format!("write one of {}", known.join(", "))));
            None
        }
    }
}

fn name(fields: &Fields<'_>, problems: &mut Problems) -> Option<String> {
    let field = fields.required("name", problems)?;
    let text = field.text(problems)?.trim();
    if text.is_empty() {
        problems.push(field.problem("the name is empty"));
        return None;
    }
    if text.chars().count() > NAME_CHARS_MAX {
        problems.push(field.problem(format!("longer than {NAME_CHARS_MAX} characters")));
        return None;
    }
    if text.chars().any(char::is_control) {
        problems.push(field.problem("a name has no control characters"));
        return None;
    }
    Some(text.to_owned())
}

fn length(
    fields: &Fields<'_>,
    name: &'static str,
    range: RangeInclusive<Duration>,
    default: Duration,
    problems: &mut Problems,
) -> Option<Duration> {
    match fields.get(name) {
        Some(field) => field.duration(range, problems),
        None => Some(default),
    }
}

fn condition(kind: RuleKind, fields: &Fields<'_>, problems: &mut Problems) -> Option<Condition> {
    let mut window = |default| length(fields, "window", WINDOWS, default, problems);
    Some(match kind {
        RuleKind::FailureRate => {
            let window = window(WINDOW_DEFAULT);
            let above = fields.required("above", problems);
            let above = above.and_then(|field| field.number(0.0..=100.0, problems));
            let min_count = match fields.get("min_count") {
                Some(field) => field.whole(1..=*COUNTS.end(), problems),
                None => Some(MIN_COUNT_DEFAULT),
            };
            Condition::FailureRate {
                window: window?,
                above: above?,
                min_count: min_count?,
            }
        }
        RuleKind::DlqGrowth | RuleKind::MissedSlots => {
            let window = window(WINDOW_DEFAULT);
            let above = match fields.get("above") {
                Some(field) => field.whole(COUNTS, problems),
                None => Some(0),
            };
            let (window, above) = (window?, above?);
            match kind {
                RuleKind::DlqGrowth => Condition::DlqGrowth { window, above },
                _ => Condition::MissedSlots { window, above },
            }
        }
        RuleKind::ScheduledTaskFailed => Condition::ScheduledTaskFailed {
            window: window(SCHEDULED_WINDOW_DEFAULT)?,
        },
        RuleKind::LongProcessing => Condition::LongProcessing {
            after: length(fields, "after", AFTERS, AFTER_DEFAULT, problems)?,
        },
        RuleKind::DeadWorkers => Condition::DeadWorkers,
        RuleKind::DeadMan => Condition::DeadMan,
        RuleKind::BreakerOpen => Condition::BreakerOpen,
    })
}

fn channels(fields: &Fields<'_>, problems: &mut Problems) -> Vec<String> {
    let Some(field) = fields.get("channels") else {
        return Vec::new();
    };
    let items = field.items();
    if items.len() > CHANNELS_MAX {
        problems.push(field.problem(format!("more than {CHANNELS_MAX} channels")));
    }
    let mut names: Vec<String> = Vec::new();
    for item in items {
        let Some(text) = item.text(problems) else {
            continue;
        };
        match text.trim() {
            "" => problems.push(item.problem("the name of a channel is empty")),
            text if names.iter().any(|name| name == text) => {
                problems.push(item.problem(format!("\"{text}\" stands here twice")));
            }
            text => names.push(text.to_owned()),
        }
    }
    names
}

#[cfg(test)]
mod tests;
