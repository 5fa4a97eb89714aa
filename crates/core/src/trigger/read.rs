//! From what was written to settings, or to everything that is wrong with it.

use std::time::Duration;

use refire_schedule::{Schedule, nearest};

use super::keys::{CRON, DEAD_MAN, HEAD, PLANNED, SCHEDULE, WEBHOOK};
use super::settings::{
    DESCRIPTION_CHARS_MAX, DeadMan, Draft, Kind, LENGTH_MAX, LENGTH_MIN, MISFIRE_MAX_DEFAULT,
    MISFIRE_MAX_LIMIT, MISFIRE_WINDOW_DEFAULT, Misfire, NAME_CHARS_MAX, Overlap, Settings,
};
use super::timing;
use super::written::Written;
use crate::definition::fields::{Elsewhere, Field, Fields};
use crate::definition::{Problem, Problems, RetrySettings};
use crate::json::Json;
use crate::webhook;

/// The kinds, by their words.
const KINDS: &[(&str, Word)] = &[
    ("cron", Word::Cron),
    ("schedule", Word::Schedule),
    ("webhook", Word::Webhook),
];

const OVERLAPS: &[(&str, Overlap)] = &[
    ("allow", Overlap::Allow),
    ("skip", Overlap::Skip),
    ("buffer_one", Overlap::BufferOne),
    ("cancel_previous", Overlap::CancelPrevious),
];

const MISFIRES: &[(&str, Misfire)] = &[
    ("fire_once", Misfire::FireOnce),
    ("fire_all", Misfire::FireAll),
    ("skip", Misfire::Skip),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Word {
    Cron,
    Schedule,
    Webhook,
}

/// Reads stored settings, and makes the schedule of what they say.
pub(super) fn read(stored: &str) -> Result<(Draft, Option<Schedule>), Problems> {
    read_written(&Written::stored(stored)?)
}

pub(super) fn read_written(written: &Written) -> Result<(Draft, Option<Schedule>), Problems> {
    let mut problems = Problems::new();
    let read = draft(written, &mut problems);
    match read {
        Some(read) if problems.is_empty() => Ok(read),
        _ => Err(problems.sorted()),
    }
}

fn draft(written: &Written, problems: &mut Problems) -> Option<(Draft, Option<Schedule>)> {
    let word = kind(written, problems)?;
    let of = |table, place| Elsewhere { table, place };
    let cron = of(CRON, "to triggers of type `cron`");
    let schedule = of(SCHEDULE, "to triggers of type `schedule`");
    let webhook = of(WEBHOOK, "to triggers of type `webhook`");
    let planned = of(PLANNED, "to triggers of type `cron` and `schedule`");
    let (table, elsewhere) = match word {
        Word::Cron => (CRON, vec![schedule, webhook]),
        Word::Schedule => (SCHEDULE, vec![cron, webhook]),
        Word::Webhook => (WEBHOOK, vec![planned, cron, schedule]),
    };
    let fields = Field::new("", &written.node).fields_or(table, &elsewhere, problems)?;
    let timing = match word {
        Word::Webhook => None,
        Word::Cron => timing::read(&fields, true, problems),
        Word::Schedule => timing::read(&fields, false, problems),
    };
    let name = limited(&fields, "name", NAME_CHARS_MAX, problems);
    let description = limited(&fields, "description", DESCRIPTION_CHARS_MAX, problems);
    let enabled = fields.get("enabled").and_then(|field| field.bool(problems));
    let retry = retry(&fields, problems);
    let dead_man = fields
        .get("dead_man")
        .and_then(|field| dead_man(&field, word, problems));
    let policies = Policies::read(&fields, problems);
    let (kind, schedule) = match (word, timing) {
        (Word::Webhook, _) => {
            if let Some(secret) = fields.any("secret") {
                problems.push(secret.problem("a secret is kept apart from the settings"));
            }
            let settings = webhook::Settings::read(&fields, problems)?;
            (Kind::Webhook(Box::new(settings)), None)
        }
        (Word::Cron, Some((timing, schedule))) => (Kind::Cron(Box::new(timing)), Some(schedule)),
        (Word::Schedule, Some((timing, schedule))) => {
            (Kind::Schedule(Box::new(timing)), Some(schedule))
        }
        (_, None) => return None,
    };
    let settings = Settings {
        name,
        description,
        kind,
        input: written.input.clone().unwrap_or_else(Json::empty_object),
        retry,
        overlap: policies.overlap,
        misfire: policies.misfire,
        misfire_max: policies.misfire_max,
        misfire_window: policies.misfire_window,
        dead_man,
        text: written.text(),
    };
    Some((Draft { settings, enabled }, schedule))
}

/// What a trigger is: nothing else can be read without it.
fn kind(written: &Written, problems: &mut Problems) -> Option<Word> {
    let is_kind = |key: &str| HEAD[0].is(key);
    let found = written.members().iter().find(|(key, _)| is_kind(&key.text));
    let Some((key, node)) = found else {
        let message = "`trigger_type` is required";
        let problem = Problem::new("trigger_type", written.node.mark, message);
        let slip = written
            .members()
            .iter()
            .find(|(key, _)| nearest(&key.text, ["trigger_type"]).is_some());
        problems.push(match slip {
            Some((slip, _)) => problem.with_hint(format!("is \"{}\" a typo?", slip.text)),
            None => problem.with_hint("write `cron`, `schedule` or `webhook`"),
        });
        return None;
    };
    Field::new(&*key.text, node).word(KINDS, problems)
}

fn limited(
    fields: &Fields<'_>,
    name: &'static str,
    chars_max: usize,
    problems: &mut Problems,
) -> Option<String> {
    let field = fields.get(name)?;
    let text = field.text(problems)?;
    if text.chars().count() > chars_max {
        problems.push(field.problem(format!("longer than {chars_max} characters")));
    }
    Some(text.to_owned())
}

fn retry(fields: &Fields<'_>, problems: &mut Problems) -> RetrySettings {
    let Some(field) = fields.get("retry") else {
        return RetrySettings::default();
    };
    match RetrySettings::from_node(field.node, &field.path) {
        Ok(retry) => retry,
        Err(wrong) => {
            wrong.into_iter().for_each(|problem| problems.push(problem));
            RetrySettings::default()
        }
    }
}

struct Policies {
    overlap: Overlap,
    misfire: Misfire,
    misfire_max: u64,
    misfire_window: Duration,
}

impl Policies {
    fn read(fields: &Fields<'_>, problems: &mut Problems) -> Self {
        let overlap = fields
            .get("overlap")
            .and_then(|field| field.word(OVERLAPS, problems));
        let misfire = fields
            .get("misfire")
            .and_then(|field| field.word(MISFIRES, problems));
        let misfire_max = fields
            .get("misfire_max")
            .and_then(|field| field.whole(1..=MISFIRE_MAX_LIMIT, problems));
        let misfire_window = fields
            .get("misfire_window")
            .and_then(|field| field.duration(LENGTH_MIN..=LENGTH_MAX, problems));
        Self {
            overlap: overlap.unwrap_or_default(),
            misfire: misfire.unwrap_or_default(),
            misfire_max: misfire_max.unwrap_or(MISFIRE_MAX_DEFAULT),
            misfire_window: misfire_window.unwrap_or(MISFIRE_WINDOW_DEFAULT),
        }
    }
}

fn dead_man(field: &Field<'_>, word: Word, problems: &mut Problems) -> Option<DeadMan> {
    let fields = field.fields(DEAD_MAN, problems)?;
    let length = |field: Field<'_>, problems: &mut Problems| {
        field.duration(LENGTH_MIN..=LENGTH_MAX, problems)
    };
    match (fields.get("grace"), fields.get("success_within")) {
        (Some(grace), None) if word == Word::Webhook => {
            let problem = grace.problem("a webhook has no planned times");
            problems.push(problem.with_hint("write `success_within`"));
            None
        }
        (Some(grace), None) => length(grace, problems).map(DeadMan::Grace),
        (None, Some(within)) => length(within, problems).map(DeadMan::SuccessWithin),
        (Some(_), Some(within)) => {
            problems.push(within.problem("`grace` is already set; use one of the two"));
            None
        }
        (None, None) => {
            let problem = field.problem("no time limit is given");
            problems.push(problem.with_hint("write `grace` or `success_within`"));
            None
        }
    }
}
