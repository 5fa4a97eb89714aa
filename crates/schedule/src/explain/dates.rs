//! Days in a shape that can be said.

use super::clock::{numbers, step};
use crate::days::{Days, EVERY_MONTH, OfMonth, OfWeek};

/// The days of the longest month.
const DAYS_MAX: u32 = 31;

/// The days as they are said; either list is enough if both are there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Dates {
    /// None if nothing is said about them.
    pub(crate) of_month: Option<Vec<MonthDay>>,
    pub(crate) of_week: Option<Vec<WeekDay>>,
    /// From 1; none if it is every month.
    pub(crate) months: Option<Vec<u32>>,
}

/// A part of what is said about days of the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum MonthDay {
    One(u32),
    Range(u32, u32),
    /// Every so many days from the first on.
    Step {
        every: u32,
    },
    Last,
    LastWeekday,
    Nearest(u32),
}

/// A part of what is said about weekdays; 0 is Sunday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum WeekDay {
    One(u32),
    Range(u32, u32),
    Nth(u32, u32),
    Last(u32),
}

impl Dates {
    pub(crate) fn of(days: &Days) -> Self {
        let every_month = days.months == EVERY_MONTH;
        Self {
            of_month: (!days.of_month.any).then(|| month_days(&days.of_month)),
            of_week: (!days.of_week.any).then(|| week_days(&days.of_week)),
            months: (!every_month).then(|| numbers(u64::from(days.months))),
        }
    }

    /// Whether it is every day.
    pub(crate) fn is_every_day(&self) -> bool {
        self.of_month.is_none() && self.of_week.is_none() && self.months.is_none()
    }
}

fn month_days(rule: &OfMonth) -> Vec<MonthDay> {
    let days = numbers(u64::from(rule.days));
    let mut said = match (step(&days), &days[..]) {
        // To the end of the month, as `*/2` is.
        (Some(every @ 2..), [1, _, .., last]) if last + every > DAYS_MAX => {
            vec![MonthDay::Step { every }]
        }
        _ => runs(&days),
    };
    let near = numbers(u64::from(rule.nearest_weekday));
    said.extend(near.into_iter().map(MonthDay::Nearest));
    said.extend(rule.last_weekday.then_some(MonthDay::LastWeekday));
    said.extend(rule.last.then_some(MonthDay::Last));
    said
}

/// Three and more in a row are a range.
fn runs(days: &[u32]) -> Vec<MonthDay> {
    let rows = days.chunk_by(|one, next| next - one == 1);
    let said = rows.flat_map(|row| match row {
        [from, _, .., to] if row.len() > 2 => vec![MonthDay::Range(*from, *to)],
        _ => row.iter().map(|day| MonthDay::One(*day)).collect(),
    });
    said.collect()
}

fn week_days(rule: &OfWeek) -> Vec<WeekDay> {
    let mut said = plain_weekdays(rule.days);
    for (nth, weekdays) in (1..).zip(rule.nth) {
        let weekdays = numbers(u64::from(weekdays));
        said.extend(weekdays.into_iter().map(|day| WeekDay::Nth(day, nth)));
    }
    let last = numbers(u64::from(rule.last));
    said.extend(last.into_iter().map(WeekDay::Last));
    said
}

/// Weekdays from Monday on, three or more in a row as a range.
fn plain_weekdays(bits: u8) -> Vec<WeekDay> {
    let from_monday: Vec<u32> = (1..=7).filter(|day| bits >> (day % 7) & 1 == 1).collect();
    match from_monday[..] {
        [from, _, .., to] if step(&from_monday) == Some(1) && from_monday.len() > 2 => {
            vec![WeekDay::Range(from, to % 7)]
        }
        _ => from_monday
            .into_iter()
            .map(|day| WeekDay::One(day % 7))
            .collect(),
    }
}
