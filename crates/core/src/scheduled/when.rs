//! When a task is due: the schedule's own settings, read under the names of scheduled tasks.

use refire_schedule::{
    Daily, Monthly, OneOrMany, Schedule, ScheduleSettings, Weekly, Written, jiff,
};

use super::{DESCRIPTION_CHARS_MAX, Planned, limited};
use crate::definition::fields::{Elsewhere, Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::{Content, Node};
use crate::definition::{Problem, Problems};
use crate::json::Json;
use crate::time::Timestamp;
use crate::trigger::timing::{Place, list, renamed};

/// How long after its time a task that comes only once is still started, if nobody was there: as long as
/// a trigger allows.
const ONCE_MISFIRE_WINDOW: &str = "365d";

/// What kind of schedule a task has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum ScheduleType {
    /// Now, and not again.
    Immediate,
    /// At one moment.
    Once,
    /// At a time of every day.
    Daily,
    /// At a time of a day of the week.
    Weekly,
    /// At a time of a day of the month.
    Monthly,
    /// As a cron expression says.
    Cron,
}

impl ScheduleType {
    /// Every one.
    pub const ALL: [Self; 6] = [
        Self::Immediate,
        Self::Once,
        Self::Daily,
        Self::Weekly,
        Self::Monthly,
        Self::Cron,
    ];

    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Immediate => "immediate",
            Self::Once => "once",
            Self::Daily => "daily",
            Self::Weekly => "weekly",
            Self::Monthly => "monthly",
            Self::Cron => "cron",
        }
    }

    /// The one of that name.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|known| known.name() == name)
    }

    fn may_recur(self) -> bool {
        !matches!(self, Self::Immediate | Self::Once)
    }

    /// The keys of its `scheduleConfig`.
    fn keys(self) -> &'static [Known] {
        match self {
            Self::Immediate => IMMEDIATE,
            Self::Once => ONCE,
            Self::Daily => DAILY,
            Self::Weekly => WEEKLY,
            Self::Monthly => MONTHLY,
            Self::Cron => CRON,
        }
    }
}

const DESCRIPTION: Known = Known::new("description");
const TIMEZONE: Known = Known::new("timezone");
const TIME: Known = Known::new("time");
const IMMEDIATE: &[Known] = &[DESCRIPTION, TIMEZONE];
const ONCE: &[Known] = &[Known::new("executeAt"), DESCRIPTION, TIMEZONE];
const DAILY: &[Known] = &[TIME, DESCRIPTION, TIMEZONE];
const WEEKLY: &[Known] = &[Known::new("dayOfWeek"), TIME, DESCRIPTION, TIMEZONE];
const MONTHLY: &[Known] = &[Known::new("dayOfMonth"), TIME, DESCRIPTION, TIMEZONE];
const CRON: &[Known] = &[Known::new("cron"), DESCRIPTION, TIMEZONE];

/// Where else a key of `scheduleConfig` belongs.
const ELSEWHERE: &[Elsewhere] = &[
    Elsewhere {
        table: ONCE,
        place: "to the scheduleType `once`",
    },
    Elsewhere {
        table: WEEKLY,
        place: "to the scheduleType `weekly`",
    },
    Elsewhere {
        table: MONTHLY,
        place: "to the scheduleType `monthly`",
    },
    Elsewhere {
        table: CRON,
        place: "to the scheduleType `cron`",
    },
    Elsewhere {
        table: DAILY,
        place: "to the scheduleTypes `daily`, `weekly` and `monthly`",
    },
];

/// When a task is due.
pub(super) struct When {
    pub(super) schedule_type: ScheduleType,
    pub(super) is_recurring: bool,
    /// What the trigger is told, but for its input.
    pub(super) settings: Vec<(String, Json)>,
}

impl When {
    pub(super) fn read(
        fields: &Fields<'_>,
        planned: Planned<'_>,
        problems: &mut Problems,
    ) -> Option<Self> {
        let words = ScheduleType::ALL.map(|known| (known.name(), known));
        let schedule_type = fields
            .required("scheduleType", problems)
            .and_then(|field| field.exact_word(&words, problems));
        let recurring = fields.get("isRecurring");
        let said = recurring.as_ref().and_then(|field| field.bool(problems));
        if let Planned::From(now) = planned {
            check_end(fields, now, problems);
        }
        let schedule_type = schedule_type?;
        let is_recurring = said.unwrap_or_else(|| schedule_type.may_recur());
        if let Some(field) = recurring.filter(|_| is_recurring && !schedule_type.may_recur()) {
            let kind = schedule_type.name();
            let problem = field.problem(format!("a task of scheduleType `{kind}` does not recur"));
            problems.push(problem.with_hint("leave it out, or write false"));
        }
        let before = problems.len();
        let (timing, places) = timing(schedule_type, fields, problems);
        let schedule = match schedule_type {
            ScheduleType::Immediate => None,
            _ => compiled(&timing, &places, fields, problems),
        };
        if problems.len() > before {
            return None;
        }
        let settings = match planned {
            Planned::As(stored) => told_before(stored)?,
            Planned::From(now) => Wanted {
                schedule_type,
                is_recurring,
                fields,
                now,
            }
            .settings(timing, schedule.as_ref(), problems)?,
        };
        Some(Self {
            schedule_type,
            is_recurring,
            settings,
        })
    }
}

/// Whatever else is wrong: a window that is over.
fn check_end(fields: &Fields<'_>, now: Timestamp, problems: &mut Problems) {
    let Some(field) = fields.get("endTime") else {
        return;
    };
    let end = field.node.as_str().map(str::parse::<jiff::Timestamp>);
    if let Some(Ok(end)) = end
        && end.as_microsecond() <= now.as_micros()
    {
        problems.push(field.problem("is in the past, so nothing would be started"));
    }
}

/// The settings of a schedule, and where each of them was written.
fn timing(
    schedule_type: ScheduleType,
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> (ScheduleSettings, Vec<Place>) {
    let (mut timing, mut places) = (ScheduleSettings::default(), Vec::new());
    let config = match schedule_type {
        ScheduleType::Immediate => fields.get("scheduleConfig"),
        _ => fields.required("scheduleConfig", problems),
    };
    let keys = schedule_type.keys();
    if let Some(below) = config.and_then(|config| config.fields_or(keys, ELSEWHERE, problems)) {
        limited(&below, "description", DESCRIPTION_CHARS_MAX, problems);
        let mut reader = Reader {
            fields: &below,
            places: &mut places,
            problems,
        };
        timing.timezone = reader.text("timezone", "timezone");
        reader.when(schedule_type, &mut timing);
    }
    let mut reader = Reader {
        fields,
        places: &mut places,
        problems,
    };
    timing.start = reader.text("startTime", "start");
    timing.end = reader.text("endTime", "end");
    if schedule_type == ScheduleType::Immediate {
        for field in ["startTime", "endTime"]
            .map(|name| fields.get(name))
            .iter()
            .flatten()
        {
            let problem = field.problem("an immediate task starts at once");
            problems.push(problem.with_hint("leave it out, or use the scheduleType `once`"));
        }
    }
    (timing, places)
}

struct Reader<'a, 'f, 'p> {
    fields: &'a Fields<'f>,
    places: &'p mut Vec<Place>,
    problems: &'p mut Problems,
}

impl<'f> Reader<'_, 'f, '_> {
    fn place(&mut self, field: &'static str, found: &Field<'f>) {
        self.places.push(Place {
            field,
            path: found.path.clone(),
            mark: found.node.mark,
        });
    }

    fn text(&mut self, name: &'static str, field: &'static str) -> Option<String> {
        let found = self.fields.get(name)?;
        self.place(field, &found);
        found.text(self.problems).map(str::to_owned)
    }

    fn required_text(&mut self, name: &'static str, field: &'static str) -> Option<String> {
        self.fields.required(name, self.problems)?;
        self.text(name, field)
    }

    /// What says when, under the names of this type.
    fn when(&mut self, schedule_type: ScheduleType, timing: &mut ScheduleSettings) {
        match schedule_type {
            ScheduleType::Immediate => {}
            ScheduleType::Once => {
                let moment = self.required_text("executeAt", "at");
                timing.at = moment.map(|moment| OneOrMany(vec![Written::Text(moment)]));
            }
            ScheduleType::Cron => timing.cron = self.required_text("cron", "cron"),
            ScheduleType::Daily => {
                let time = self.list("time", "daily.time");
                timing.daily = time.map(|time| Daily { time });
            }
            ScheduleType::Weekly => {
                let day_of_week = self.list("dayOfWeek", "weekly.dayOfWeek");
                let time = self.list("time", "weekly.time");
                let both = day_of_week.zip(time);
                timing.weekly = both.map(|(day_of_week, time)| Weekly { day_of_week, time });
            }
            ScheduleType::Monthly => {
                let day_of_month = self.list("dayOfMonth", "monthly.dayOfMonth");
                let time = self.list("time", "monthly.time");
                let both = day_of_month.zip(time);
                timing.monthly = both.map(|(day_of_month, time)| Monthly { day_of_month, time });
            }
        }
    }

    fn list(&mut self, name: &'static str, field: &'static str) -> Option<OneOrMany> {
        let found = self.fields.required(name, self.problems)?;
        self.place(field, &found);
        list(&found, self.problems)
    }
}

fn compiled(
    timing: &ScheduleSettings,
    places: &[Place],
    fields: &Fields<'_>,
    problems: &mut Problems,
) -> Option<Schedule> {
    match Schedule::new(timing) {
        Ok(schedule) => Some(schedule),
        Err(wrong) => {
            // What says when was asked for above, with the names of this type.
            for problem in wrong
                .into_iter()
                .filter(|problem| !problem.field.is_empty())
            {
                problems.push(renamed(problem, places, fields.mark()));
            }
            None
        }
    }
}

/// What a schedule is asked for.
struct Wanted<'a, 'f> {
    schedule_type: ScheduleType,
    is_recurring: bool,
    fields: &'a Fields<'f>,
    now: Timestamp,
}

impl Wanted<'_, '_> {
    /// What the trigger is told, unless nothing would ever be started.
    fn settings(
        &self,
        timing: ScheduleSettings,
        schedule: Option<&Schedule>,
        problems: &mut Problems,
    ) -> Option<Vec<(String, Json)>> {
        let now = jiff::Timestamp::from_microsecond(self.now.as_micros()).ok()?;
        let Some(schedule) = schedule else {
            // Nothing is planned; the first execution comes with the task.
            return Some(at(&self.now.to_string()));
        };
        let Some(next) = schedule.next(now) else {
            if let Some(problem) = self.nothing_to_come(timing, schedule, now) {
                problems.push(problem);
            }
            return None;
        };
        if self.schedule_type != ScheduleType::Once && !self.is_recurring {
            return Some(at(&next.at.to_string()));
        }
        let mut said = told(&timing);
        if self.schedule_type == ScheduleType::Once {
            said.push((
                "misfire_window".to_owned(),
                Json::string(ONCE_MISFIRE_WINDOW),
            ));
        }
        Some(said)
    }

    fn nothing_to_come(
        &self,
        timing: ScheduleSettings,
        schedule: &Schedule,
        now: jiff::Timestamp,
    ) -> Option<Problem> {
        if let Some(end) = self.fields.get("endTime") {
            if schedule.end().is_some_and(|end| end <= now) {
                // That was said already, unless the time is a local one.
                let is_local = end.node.as_str()?.parse::<jiff::Timestamp>().is_err();
                let message = "is in the past, so nothing would be started";
                return is_local.then(|| end.problem(message));
            }
            let endless = Schedule::new(&ScheduleSettings {
                end: None,
                ..timing
            });
            if let Some(next) = endless.ok().and_then(|endless| endless.next(now)) {
                return Some(end.problem(format!(
                    "is before the next planned time ({}), so nothing would be started",
                    next.at
                )));
            }
        }
        let (key, message) = match self.schedule_type {
            ScheduleType::Once => ("executeAt", "is in the past, so nothing would be started"),
            _ => (
                "cron",
                "has no planned times left, so nothing would be started",
            ),
        };
        let config = self.fields.get("scheduleConfig");
        let below = config.as_ref().and_then(|config| config.node.get(key));
        let mark = below.map_or_else(|| self.fields.mark(), |node| node.mark);
        Some(Problem::new(format!("scheduleConfig.{key}"), mark, message))
    }
}

/// One moment.
fn at(moment: &str) -> Vec<(String, Json)> {
    let said = [
        ("trigger_type", Json::string("schedule")),
        ("at", Json::string(moment)),
        ("misfire_window", Json::string(ONCE_MISFIRE_WINDOW)),
    ];
    said.map(|(key, value)| (key.to_owned(), value)).into()
}

/// What the trigger is told of a schedule.
fn told(timing: &ScheduleSettings) -> Vec<(String, Json)> {
    let kind = match timing.cron {
        Some(_) => "cron",
        None => "schedule",
    };
    let mut said = vec![("trigger_type".to_owned(), Json::string(kind))];
    // Texts and numbers under the names that triggers have, too: this cannot fail.
    let written = serde_json::to_string(timing).unwrap_or_default();
    said.extend(told_before(&written).into_iter().flatten());
    said
}

/// What the trigger was told before, but for its input.
fn told_before(stored: &str) -> Option<Vec<(String, Json)>> {
    let node = Node::parse(stored).ok()?;
    let Content::Mapping(members) = &node.content else {
        return None;
    };
    let kept = members.iter().filter(|(key, _)| &*key.text != "input");
    Some(
        kept.map(|(key, node)| (key.text.to_string(), node.to_json()))
            .collect(),
    )
}
