//! From what was written to what can be asked, or to everything that is wrong with it.

mod entry;

use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::{DateTime, Time};
use jiff::tz::{Disambiguation, TimeZone};

use crate::calendar::Calendar;
use crate::cron::Cron;
use crate::days::{Days, OfMonth, OfWeek};
use crate::dst::Dst;
use crate::interval::Interval;
use crate::length;
use crate::local::Local;
use crate::moments::Moments;
use crate::once;
use crate::problem::{Problem, Problems, Reason};
use crate::schedule::Rule;
use crate::settings::{OneOrMany, ScheduleSettings};
use crate::times::Times;
use crate::zone;

/// The shortest interval of `every`.
pub const INTERVAL_MIN: Duration = Duration::from_secs(1);
/// The longest window over which slots are spread.
pub const JITTER_MAX: Duration = Duration::from_secs(24 * 60 * 60);
/// The most moments that `at` may list.
pub const MOMENTS_MAX: usize = 1_000;
/// The most times of a day that `daily`, `weekly` and `monthly` may list.
pub const TIMES_MAX: usize = 288;

/// The forms, by the names of their fields.
const FORMS: &str = "`cron`, `every`, `at`, `daily`, `weekly` or `monthly`";

/// What settings come to.
pub(crate) struct Compiled {
    pub(crate) rule: Rule,
    pub(crate) zone: TimeZone,
    pub(crate) start: Option<Timestamp>,
    pub(crate) end: Option<Timestamp>,
    pub(crate) jitter: Duration,
}

/// Collects what is wrong while everything is read that can be.
struct Reader<'a> {
    settings: &'a ScheduleSettings,
    problems: Vec<Problem>,
}

pub(crate) fn compile(settings: &ScheduleSettings) -> Result<Compiled, Problems> {
    let mut reader = Reader {
        settings,
        problems: Vec::new(),
    };
    let compiled = reader.read();
    match compiled {
        Some(compiled) if reader.problems.is_empty() => Ok(compiled),
        _ => Err(Problems(reader.problems)),
    }
}

impl Reader<'_> {
    fn read(&mut self) -> Option<Compiled> {
        let settings = self.settings;
        self.one_form();
        let cron = settings.cron.as_deref().map(|text| {
            self.keep(
                "cron",
                Cron::parse(text).map_err(|error| error.into_reason()),
            )
        });
        let zone = self.zone(cron.as_ref().and_then(Option::as_ref));
        // Without a zone the local times are still read, for what is wrong with them.
        let local = zone.clone().unwrap_or(TimeZone::UTC);
        let start = self.moment("start", settings.start.as_deref(), &local);
        let end = self.moment("end", settings.end.as_deref(), &local);
        if let (Some(start), Some(end)) = (start, end)
            && end < start
        {
            self.refuse("end", Reason::new("the end is before the start"));
        }
        let jitter = self.jitter();
        let rule = match cron {
            Some(cron) => cron.map(|cron| cron_rule(cron, &local, settings.dst)),
            None => self.rule(&local, start),
        };
        Some(Compiled {
            rule: rule?,
            zone: zone?,
            start,
            end,
            jitter,
        })
    }

    fn refuse(&mut self, field: impl Into<String>, reason: Reason) {
        self.problems.push(Problem::new(field, reason));
    }

    fn keep<T>(&mut self, field: impl Into<String>, read: Result<T, Reason>) -> Option<T> {
        read.map_err(|reason| self.refuse(field, reason)).ok()
    }

    fn one_form(&mut self) {
        let settings = self.settings;
        let forms = [
            ("cron", settings.cron.is_some()),
            ("every", settings.every.is_some()),
            ("at", settings.at.is_some()),
            ("daily", settings.daily.is_some()),
            ("weekly", settings.weekly.is_some()),
            ("monthly", settings.monthly.is_some()),
        ];
        let said: Vec<&str> = forms
            .iter()
            .filter(|(_, said)| *said)
            .map(|(name, _)| *name)
            .collect();
        match said.as_slice() {
            [_] => {}
            [] => self.refuse(
                "",
                Reason::new("nothing says when it is due").hint(format!("write {FORMS}")),
            ),
            [first, others @ ..] => {
                for other in others {
                    let reason = Reason::new(format!("`{first}` already says when"));
                    self.refuse(*other, reason.hint(format!("write one of {FORMS}")));
                }
            }
        }
        if settings.anchor.is_some() && settings.every.is_none() {
            self.refuse("anchor", Reason::new("only `every` counts from an anchor"));
        }
    }

    fn zone(&mut self, cron: Option<&Cron>) -> Option<TimeZone> {
        let in_front = cron.and_then(|cron| cron.zone.clone());
        let Some(name) = self.settings.timezone.as_deref() else {
            return Some(in_front.unwrap_or(TimeZone::UTC));
        };
        let zone = self.keep("timezone", zone::find(name))?;
        if let Some(in_front) = in_front
            && zone::name(&in_front) != zone::name(&zone)
        {
            let said = format!(
                "the expression has the time zone `{}`, but `timezone` is `{}`",
                zone::name(&in_front),
                zone::name(&zone)
            );
            self.refuse(
                "timezone",
                Reason::new(said).hint("set it in one place only"),
            );
        }
        Some(zone)
    }

    fn moment(&mut self, field: &str, text: Option<&str>, zone: &TimeZone) -> Option<Timestamp> {
        match self.keep(field, once::parse(text?))? {
            once::Once::Moment(at) => Some(at),
            once::Once::Local(local) => self.keep(field, in_zone(local, zone)),
        }
    }

    fn jitter(&mut self) -> Duration {
        let Some(written) = &self.settings.jitter else {
            return Duration::ZERO;
        };
        let Some(jitter) = self.keep("jitter", length::parse(&written.to_string())) else {
            return Duration::ZERO;
        };
        if jitter > JITTER_MAX {
            self.refuse("jitter", Reason::new("the window is longer than a day"));
        }
        jitter
    }

    /// The rule of every form but `cron`.
    fn rule(&mut self, zone: &TimeZone, start: Option<Timestamp>) -> Option<Rule> {
        let settings = self.settings;
        if settings.every.is_some() {
            return self.interval(zone, start);
        }
        if let Some(at) = &settings.at {
            return self.moments(at, zone);
        }
        let (days, at, field) = if let Some(daily) = &settings.daily {
            (Some(Days::ALL), &daily.time, "daily.time")
        } else if let Some(weekly) = &settings.weekly {
            (
                self.weekdays(&weekly.day_of_week),
                &weekly.time,
                "weekly.time",
            )
        } else {
            let monthly = settings.monthly.as_ref()?;
            (
                self.month_days(&monthly.day_of_month),
                &monthly.time,
                "monthly.time",
            )
        };
        let times = self.times(field, at);
        Some(Rule::Local(Local {
            calendar: Calendar {
                days: days?,
                times: times?,
            },
            zone: zone.clone(),
            policy: Some(settings.dst),
        }))
    }

    fn interval(&mut self, zone: &TimeZone, start: Option<Timestamp>) -> Option<Rule> {
        let settings = self.settings;
        let anchor = self.moment("anchor", settings.anchor.as_deref(), zone);
        let written = settings.every.as_ref()?.to_string();
        let every = self.keep("every", length::parse(&written))?;
        if every < INTERVAL_MIN {
            let reason = Reason::new(format!("`{written}` is shorter than a second"));
            self.refuse("every", reason);
            return None;
        }
        let anchor = anchor.or(start).unwrap_or(Timestamp::UNIX_EPOCH);
        Some(Rule::Interval(Interval {
            every_ms: i64::try_from(every.as_millis()).ok()?,
            anchor_ms: anchor.as_millisecond(),
        }))
    }

    fn moments(&mut self, at: &OneOrMany, zone: &TimeZone) -> Option<Rule> {
        if self.is_bad_list("at", at, MOMENTS_MAX) {
            return None;
        }
        let mut slots = Vec::new();
        let mut skipped = Vec::new();
        for (index, written) in at.0.iter().enumerate() {
            if let Some(once) = self.keep(
                entry_name("at", at, index),
                once::parse(&written.to_string()),
            ) {
                once.place(zone, self.settings.dst, &mut slots, &mut skipped);
            }
        }
        if slots.is_empty() && self.problems.is_empty() {
            let said = "none of these local times exists, and such times are skipped";
            self.refuse("at", Reason::new(said).hint("write `gap: next_valid`"));
        }
        Some(Rule::Moments(Moments::new(slots, skipped)))
    }

    fn weekdays(&mut self, days: &OneOrMany) -> Option<Days> {
        if self.is_bad_list("weekly.dayOfWeek", days, 7) {
            return None;
        }
        let mut of_week = OfWeek::NONE;
        for (index, written) in days.0.iter().enumerate() {
            let field = entry_name("weekly.dayOfWeek", days, index);
            if let Some(weekdays) = self.keep(field, entry::weekdays(&written.to_string())) {
                of_week.days |= weekdays;
            }
        }
        Some(Days {
            of_week,
            ..Days::ALL
        })
    }

    fn month_days(&mut self, days: &OneOrMany) -> Option<Days> {
        if self.is_bad_list("monthly.dayOfMonth", days, 32) {
            return None;
        }
        let mut of_month = OfMonth {
            clamp: true,
            ..OfMonth::NONE
        };
        for (index, written) in days.0.iter().enumerate() {
            let text = written.to_string();
            if text.eq_ignore_ascii_case("last") {
                of_month.last = true;
                continue;
            }
            let field = entry_name("monthly.dayOfMonth", days, index);
            if let Some(days) = self.keep(field, entry::month_days(&text)) {
                of_month.days |= days;
            }
        }
        Some(Days {
            of_month,
            ..Days::ALL
        })
    }

    fn times(&mut self, field: &str, at: &OneOrMany) -> Option<Times> {
        if self.is_bad_list(field, at, TIMES_MAX) {
            return None;
        }
        let mut times = Vec::new();
        for (index, written) in at.0.iter().enumerate() {
            let read = entry::time_of_day(&written.to_string());
            if let Some(time) = self.keep(entry_name(field, at, index), read) {
                times.push(seconds(time));
            }
        }
        times.sort_unstable();
        times.dedup();
        Some(Times::List(times.into()))
    }

    /// Whether a list is empty or too long; then it has been said.
    fn is_bad_list(&mut self, field: &str, list: &OneOrMany, max: usize) -> bool {
        let reason = match list.0.len() {
            0 => Reason::new("the list is empty"),
            length if length > max => Reason::new(format!(
                "the list has {length} entries; at most {max} are allowed"
            )),
            _ => return false,
        };
        self.refuse(field, reason);
        true
    }
}

fn cron_rule(cron: Cron, zone: &TimeZone, dst: Dst) -> Rule {
    let policy = (!cron.follows_elapsed_time()).then_some(dst);
    Rule::Local(Local {
        calendar: cron.calendar,
        zone: zone.clone(),
        policy,
    })
}

/// The name of an entry; a list of one may have been written without the list.
fn entry_name(field: &str, list: &OneOrMany, index: usize) -> String {
    if list.0.len() == 1 {
        field.to_owned()
    } else {
        format!("{field}[{index}]")
    }
}

/// A bound in local time: in a gap the moment after it, in a repeat the first.
fn in_zone(local: DateTime, zone: &TimeZone) -> Result<Timestamp, Reason> {
    zone.to_ambiguous_timestamp(local)
        .disambiguate(Disambiguation::Compatible)
        .map_err(|_| Reason::new(format!("{local} is outside of the calendar")))
}

fn seconds(time: Time) -> u32 {
    let part = |number: i8| u32::try_from(number).unwrap_or(0);
    part(time.hour()) * 3600 + part(time.minute()) * 60 + part(time.second())
}

#[cfg(test)]
mod tests;
