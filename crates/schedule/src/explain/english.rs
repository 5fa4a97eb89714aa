//! English.

use std::time::Duration;

use jiff::civil::DateTime;

use super::clock::{Clock, Numbers, step};
use super::dates::{Dates, MonthDay, WeekDay};
use super::{MOMENTS_LISTED_MAX, Said, date_time, time};
use crate::dst::{Gap, Repeat};
use crate::length;

const WEEKDAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];

const MONTHS: [&str; 12] = [
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
];

const ORDINALS: [&str; 5] = ["first", "second", "third", "fourth", "fifth"];

pub(super) fn summary(said: &Said, zone: Option<&str>) -> String {
    let mut text = match said {
        Said::Repeats {
            clock,
            dates,
            clamped,
        } => repeats(clock, dates, *clamped),
        Said::Every { length, anchor } => {
            let mut text = format!("Every {}", spoken(*length, true));
            if let Some(anchor) = anchor {
                text.push_str(&format!(", counted from {}", date_time(*anchor)));
            }
            text
        }
        Said::Moments(moments) => self::moments(moments),
    };
    if let Some(zone) = zone {
        text.push_str(&format!(" ({zone})"));
    }
    text
}

pub(super) fn window(start: Option<DateTime>, end: Option<DateTime>) -> Option<String> {
    match (start.map(date_time), end.map(date_time)) {
        (Some(start), Some(end)) => Some(format!("Only from {start} until {end}.")),
        (Some(start), None) => Some(format!("Only from {start} on.")),
        (None, Some(end)) => Some(format!("Only until {end}.")),
        (None, None) => None,
    }
}

pub(super) fn jitter(window: Duration) -> Option<String> {
    (!window.is_zero()).then(|| {
        let window = spoken(window, false);
        format!("Starts are spread over {window} after the planned time.")
    })
}

pub(super) fn gap(touched: bool, gap: Gap) -> Option<String> {
    let what = match gap {
        Gap::NextValid => "it fires once, right after the gap",
        Gap::Skip => "it does not fire at that time on that day",
    };
    touched.then(|| format!("When the clocks go forward past a planned time, {what}."))
}

pub(super) fn repeat(touched: bool, repeat: Repeat) -> Option<String> {
    let what = match repeat {
        Repeat::First => "the first time only",
        Repeat::Last => "the second time only",
        Repeat::Both => "both times",
    };
    touched.then(|| {
        format!("When the clocks go back and a planned time comes twice, it fires {what}.")
    })
}

fn repeats(clock: &Clock, dates: &Dates, clamped: bool) -> String {
    let times = self::clock(clock);
    let days = self::dates(dates, clamped);
    if !dates.is_every_day() {
        // After a rhythm a comma keeps "on" from being read with it.
        let rhythm = !matches!(clock, Clock::Listed(_)) && days.starts_with(" on");
        let comma = if rhythm { "," } else { "" };
        return format!("{times}{comma}{days}");
    }
    match clock {
        Clock::Listed(_) | Clock::MinutesBetween { .. } | Clock::HoursBetween { .. } => {
            format!("{times} every day")
        }
        _ => times,
    }
}

fn clock(clock: &Clock) -> String {
    match clock {
        Clock::Listed(times) => format!("At {}", list(times.iter().map(|at| time(*at)), "and")),
        Clock::Seconds { every } => format!("Every {}", counted(u64::from(*every), "second")),
        Clock::Minutes { every, first: 0 } => {
            format!("Every {}", counted(u64::from(*every), "minute"))
        }
        Clock::Minutes { every, first } => {
            let every = counted(u64::from(*every), "minute");
            format!("Every {every}, from minute {first} of the hour")
        }
        Clock::Hourly { minute: 0 } => "Every hour on the hour".to_owned(),
        Clock::Hourly { minute } => format!("Every hour at minute {minute}"),
        Clock::MinutesBetween { every, from, to } => {
            let every = counted(u64::from(*every), "minute");
            format!("Every {every} from {} to {}", time(*from), time(*to))
        }
        Clock::HoursBetween { every, from, to } => {
            let every = counted(u64::from(*every), "hour");
            format!("Every {every} from {} to {}", time(*from), time(*to))
        }
        Clock::Parts {
            seconds,
            minutes,
            hours,
        } => {
            let hours = numbers(hours, "hour");
            let minutes = numbers(minutes, "minute");
            match seconds {
                None if minutes.starts_with("every") => format!("Every minute of {hours}"),
                None => format!("At {minutes} of {hours}"),
                Some(Numbers::Every) => format!("Every second of {minutes} of {hours}"),
                Some(seconds) => {
                    format!("At {} of {minutes} of {hours}", numbers(seconds, "second"))
                }
            }
        }
    }
}

fn numbers(numbers: &Numbers, unit: &str) -> String {
    match numbers {
        Numbers::Every => format!("every {unit}"),
        Numbers::Range(from, to) => format!("{unit}s {from} to {to}"),
        Numbers::Listed(numbers) if numbers.len() == 1 => format!("{unit} {}", numbers[0]),
        Numbers::Listed(numbers) => {
            format!(
                "{unit}s {}",
                list(numbers.iter().map(u32::to_string), "and")
            )
        }
    }
}

/// The days with the words that join them to the times.
fn dates(dates: &Dates, clamped: bool) -> String {
    let months = dates.months.as_deref().map(months);
    let of = months.as_deref().unwrap_or("the month");
    let in_months = months
        .as_ref()
        .map(|months| format!(" in {months}"))
        .unwrap_or_default();
    match (&dates.of_month, &dates.of_week) {
        (None, None) => format!(" every day{in_months}"),
        (Some(days), None) => format!(" on {}", month_days(days, of, clamped)),
        (None, Some(weekdays)) => match weekdays[..] {
            [WeekDay::Range(..)] => format!(", {}{in_months}", week_days(weekdays, of)),
            _ => {
                // Weekdays that are counted within the month have named it already.
                let named = weekdays.iter().all(|day| is_counted(*day));
                let in_months = if named { "" } else { in_months.as_str() };
                format!(" on {}{in_months}", week_days(weekdays, of))
            }
        },
        (Some(days), Some(weekdays)) => format!(
            " on {} or on {}{in_months}",
            month_days(days, of, clamped),
            week_days(weekdays, of)
        ),
    }
}

fn is_counted(day: WeekDay) -> bool {
    matches!(day, WeekDay::Nth(..) | WeekDay::Last(_))
}

fn month_days(days: &[MonthDay], of: &str, clamped: bool) -> String {
    let numbered: Vec<&MonthDay> = days
        .iter()
        .filter(|day| matches!(day, MonthDay::One(_) | MonthDay::Range(..)))
        .collect();
    let mut said = Vec::new();
    if !numbered.is_empty() {
        let text = list(
            numbered.iter().map(|day| match day {
                MonthDay::Range(from, to) => format!("{from} to {to}"),
                MonthDay::One(day) => day.to_string(),
                _ => String::new(),
            }),
            "and",
        );
        let one = matches!(numbered[..], [MonthDay::One(_)]);
        let days = if one { "day" } else { "days" };
        let shorter = clamped
            && numbered
                .iter()
                .any(|day| matches!(day, MonthDay::One(29..)));
        let shorter = if shorter {
            " (the last day where there is none)"
        } else {
            ""
        };
        said.push(format!("{days} {text} of {of}{shorter}"));
    }
    for day in days {
        match day {
            MonthDay::One(_) | MonthDay::Range(..) => {}
            MonthDay::Step { every } => {
                said.push(format!("every {} day of {of} from day 1", ordinal(*every)));
            }
            MonthDay::Last => said.push(format!("the last day of {of}")),
            MonthDay::LastWeekday => {
                said.push(format!("the last working day (Monday to Friday) of {of}"));
            }
            MonthDay::Nearest(day) => said.push(format!(
                "the working day (Monday to Friday) nearest to day {day} of {of}"
            )),
        }
    }
    list(said, "and")
}

fn week_days(days: &[WeekDay], of: &str) -> String {
    let name = |day: u32| WEEKDAYS[day as usize % 7];
    let said = days.iter().map(|day| match *day {
        WeekDay::One(day) => name(day).to_owned(),
        WeekDay::Range(from, to) => format!("{} to {}", name(from), name(to)),
        WeekDay::Nth(day, nth) => {
            let nth = ORDINALS[nth as usize - 1];
            format!("the {nth} {} of {of}", name(day))
        }
        WeekDay::Last(day) => format!("the last {} of {of}", name(day)),
    });
    list(said, "and")
}

fn months(months: &[u32]) -> String {
    let name = |month: u32| MONTHS[month as usize - 1];
    match months {
        [from, _, .., to] if step(months) == Some(1) => {
            format!("{} to {}", name(*from), name(*to))
        }
        _ => list(months.iter().map(|month| name(*month).to_owned()), "and"),
    }
}

fn moments(moments: &[DateTime]) -> String {
    match moments {
        [first, .., last] if moments.len() > MOMENTS_LISTED_MAX => format!(
            "At {} moments from {} to {}",
            moments.len(),
            date_time(*first),
            date_time(*last)
        ),
        _ => format!(
            "At {}",
            list(moments.iter().map(|at| date_time(*at)), "and")
        ),
    }
}

/// `13 hours`, `1 hour and 30 minutes`; `hour` alone after "every".
fn spoken(length: Duration, after_every: bool) -> String {
    let parts = length::parts(length);
    if let ([(1, unit)], true) = (&parts[..], after_every) {
        return name_of(unit).to_owned();
    }
    let said = parts.iter().map(|(number, unit)| {
        let plural = if *number == 1 { "" } else { "s" };
        format!("{number} {}{plural}", name_of(unit))
    });
    list(said, "and")
}

fn name_of(unit: &str) -> &'static str {
    match unit {
        "d" => "day",
        "h" => "hour",
        "m" => "minute",
        "s" => "second",
        _ => "millisecond",
    }
}

/// `2nd`, `3rd`, `11th`.
fn ordinal(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

/// `15 minutes`; `minute` alone for one.
fn counted(number: u64, unit: &str) -> String {
    if number == 1 {
        unit.to_owned()
    } else {
        format!("{number} {unit}s")
    }
}

/// `a`, `a and b`, `a, b and c`.
fn list(words: impl IntoIterator<Item = String>, joint: &str) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    let Some(last) = words.pop() else {
        return String::new();
    };
    if words.is_empty() {
        return last;
    }
    format!("{} {joint} {last}", words.join(", "))
}
