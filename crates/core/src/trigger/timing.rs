//! Reading when a trigger is due. What the fields mean is the schedule's business; here they are
//! taken over as they were written, and its complaints are given the names that the user wrote.

use refire_schedule::{
    Daily, Dst, Gap, Monthly, OneOrMany, Repeat, Schedule, ScheduleSettings, Weekly, Written,
};

use super::keys::{DAILY, DST, MONTHLY, WEEKLY};
use crate::definition::fields::{Field, Fields};
use crate::definition::source::{Content, Mark};
use crate::definition::{Problem, Problems};

const GAPS: &[(&str, Gap)] = &[("next_valid", Gap::NextValid), ("skip", Gap::Skip)];

const REPEATS: &[(&str, Repeat)] = &[
    ("first", Repeat::First),
    ("last", Repeat::Last),
    ("both", Repeat::Both),
];

/// The forms of a trigger of type `schedule`.
const FORMS: [&str; 5] = ["every", "at", "daily", "weekly", "monthly"];

/// Where a field of the schedule stands in what was written.
pub(crate) struct Place {
    /// The schedule's name for it.
    pub(crate) field: &'static str,
    pub(crate) path: String,
    pub(crate) mark: Mark,
}

struct Reader<'a, 'p> {
    fields: &'a Fields<'a>,
    places: Vec<Place>,
    problems: &'p mut Problems,
}

/// The settings of a schedule and the schedule, unless something is wrong with either.
pub(super) fn read(
    fields: &Fields<'_>,
    is_cron: bool,
    problems: &mut Problems,
) -> Option<(ScheduleSettings, Schedule)> {
    if is_cron {
        fields.required("cron_expression", problems)?;
    } else if FORMS.iter().all(|form| fields.get(form).is_none()) {
        let message = "nothing says when it fires";
        let problem = Problem::new("", fields.mark(), message);
        problems.push(problem.with_hint("write `every`, `at`, `daily`, `weekly` or `monthly`"));
    }
    let mut reader = Reader {
        fields,
        places: Vec::new(),
        problems,
    };
    let settings = ScheduleSettings {
        cron: reader.text("cron_expression", "cron"),
        every: reader.written("every"),
        anchor: reader.text("anchor", "anchor"),
        at: reader.list("at"),
        daily: reader.daily(),
        weekly: reader.weekly(),
        monthly: reader.monthly(),
        timezone: reader.text("timezone", "timezone"),
        start: reader.text("start", "start"),
        end: reader.text("end", "end"),
        jitter: reader.written("jitter"),
        dst: reader.dst(),
    };
    match Schedule::new(&settings) {
        Ok(schedule) => Some((settings, schedule)),
        Err(wrong) => {
            let places = reader.places;
            for problem in wrong {
                // What says when was asked for above, with the names of this kind.
                if !problem.field.is_empty() {
                    problems.push(renamed(problem, &places, fields.mark()));
                }
            }
            None
        }
    }
}

/// A complaint of the schedule under the name that the user wrote.
pub(crate) fn renamed(problem: refire_schedule::Problem, places: &[Place], whole: Mark) -> Problem {
    let place = places
        .iter()
        .filter(|place| problem.field.starts_with(place.field))
        .max_by_key(|place| place.field.len());
    let (path, mark) = match place {
        Some(place) => {
            let rest = &problem.field[place.field.len()..];
            (format!("{}{rest}", place.path), place.mark)
        }
        None => (problem.field, whole),
    };
    let named = Problem::new(path, mark, problem.message);
    match problem.hint {
        Some(hint) => named.with_hint(hint),
        None => named,
    }
}

impl Reader<'_, '_> {
    fn text(&mut self, name: &'static str, field: &'static str) -> Option<String> {
        let found = self.fields.get(name)?;
        self.place(field, &found);
        found.text(self.problems).map(str::to_owned)
    }

    fn written(&mut self, name: &'static str) -> Option<Written> {
        let found = self.fields.get(name)?;
        self.place(name, &found);
        written(&found, self.problems)
    }

    fn list(&mut self, name: &'static str) -> Option<OneOrMany> {
        let found = self.fields.get(name)?;
        self.place(name, &found);
        list(&found, self.problems)
    }

    fn daily(&mut self) -> Option<Daily> {
        let found = self.fields.get("daily")?;
        self.place("daily", &found);
        let below = found.fields(DAILY, self.problems)?;
        Some(Daily {
            time: self.below(&below, "time", "daily.time")?,
        })
    }

    fn weekly(&mut self) -> Option<Weekly> {
        let found = self.fields.get("weekly")?;
        self.place("weekly", &found);
        let below = found.fields(WEEKLY, self.problems)?;
        let day_of_week = self.below(&below, "dayOfWeek", "weekly.dayOfWeek");
        let time = self.below(&below, "time", "weekly.time");
        Some(Weekly {
            day_of_week: day_of_week?,
            time: time?,
        })
    }

    fn monthly(&mut self) -> Option<Monthly> {
        let found = self.fields.get("monthly")?;
        self.place("monthly", &found);
        let below = found.fields(MONTHLY, self.problems)?;
        let day_of_month = self.below(&below, "dayOfMonth", "monthly.dayOfMonth");
        let time = self.below(&below, "time", "monthly.time");
        Some(Monthly {
            day_of_month: day_of_month?,
            time: time?,
        })
    }

    fn dst(&mut self) -> Dst {
        let found = self.fields.get("dst");
        let Some(below) = found.and_then(|field| field.fields(DST, self.problems)) else {
            return Dst::default();
        };
        let gap = below
            .get("gap")
            .and_then(|field| field.word(GAPS, self.problems));
        let repeat = below
            .get("repeat")
            .and_then(|field| field.word(REPEATS, self.problems));
        Dst {
            gap: gap.unwrap_or_default(),
            repeat: repeat.unwrap_or_default(),
        }
    }

    fn below(
        &mut self,
        fields: &Fields<'_>,
        name: &'static str,
        field: &'static str,
    ) -> Option<OneOrMany> {
        let found = fields.required(name, self.problems)?;
        self.place(field, &found);
        list(&found, self.problems)
    }

    fn place(&mut self, field: &'static str, found: &Field<'_>) {
        self.places.push(Place {
            field,
            path: found.path.clone(),
            mark: found.node.mark,
        });
    }
}

/// One value or a list of them; none if one of them is of another kind, after all were looked at.
pub(crate) fn list(field: &Field<'_>, problems: &mut Problems) -> Option<OneOrMany> {
    let items = field.items();
    let read: Vec<_> = items.iter().map(|item| written(item, problems)).collect();
    read.into_iter().collect::<Option<Vec<_>>>().map(OneOrMany)
}

/// A text or a number, as it was written.
fn written(field: &Field<'_>, problems: &mut Problems) -> Option<Written> {
    match &field.node.content {
        Content::String(text) => Some(Written::Text(text.to_string())),
        Content::Number(digits) => Some(match digits.parse() {
            Ok(number) => Written::Number(number),
            Err(_) => Written::Text(digits.to_string()),
        }),
        _ => {
            let message = format!("expected a text or a number, found {}", field.node.kind());
            problems.push(field.problem(message));
            None
        }
    }
}
