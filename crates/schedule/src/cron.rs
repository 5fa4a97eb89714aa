//! Cron expressions: from text to a calendar, or to a reason that names the field.
//!
//! Five fields (minute, hour, day of month, month, day of week) or six with seconds in front;
//! names, lists, ranges and steps; `L`, `LW` and `15W` in the day of month, `5#2` and `5L` in the
//! day of week; `@daily` and its kin; a zone in front as `TZ=` or `CRON_TZ=`.
//!
//! Where the day of month and the day of week are both said, either is enough. Said means anything
//! but a star alone: `*/2` is said.
//!
//! `a/n` runs from `a` to the end of the field. A step that is larger than its field is refused,
//! because it does not do what its writer hopes (`*/90` minutes would be every hour).
//!
//! # Why not a library
//!
//! Of the libraries that were tried, croner reads all of this and searches fast, but its rule for
//! daylight saving is built in: it cannot be chosen per schedule, and lists and ranges of hours
//! follow elapsed time in it, where here they name times of the day. Its messages do not name the
//! field either. So the expression is compiled to bits here and a zone is asked only at the end;
//! croner is what the tests compare with in zones that move no clock.

mod field;
mod item;

use std::fmt;
use std::str::FromStr;

use jiff::tz::TimeZone;

pub use self::field::Field;
use self::item::{Item, bits, is_any, is_star, items};
use crate::calendar::Calendar;
use crate::civil::DAY_S;
use crate::days::{Days, OfMonth, OfWeek};
use crate::problem::Reason;
use crate::times::Times;
use crate::zone;

/// The longest expression, in bytes.
pub const EXPRESSION_LENGTH_MAX: usize = 512;

/// The stretch that must hold at least one fire, in days from 1 January 2000: a hundred years have
/// every kind of month on every weekday.
const FIRES_WITHIN_DAYS: (i64, i64) = (10_957, 47_482);

/// The short forms and what they stand for.
const MACROS: [(&str, &str); 7] = [
    ("@yearly", "0 0 1 1 *"),
    ("@annually", "0 0 1 1 *"),
    ("@monthly", "0 0 1 * *"),
    ("@weekly", "0 0 * * 0"),
    ("@daily", "0 0 * * *"),
    ("@midnight", "0 0 * * *"),
    ("@hourly", "0 * * * *"),
];

/// Why a text is not a cron expression.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CronError {
    field: Option<Field>,
    reason: Reason,
}

impl CronError {
    fn whole(reason: Reason) -> Self {
        Self {
            field: None,
            reason,
        }
    }

    /// The field that is wrong; none if it is the whole.
    #[must_use]
    pub fn field(&self) -> Option<Field> {
        self.field
    }

    /// What would be right, if there is a likely answer.
    #[must_use]
    pub fn hint(&self) -> Option<&str> {
        self.reason.hint.as_deref()
    }

    /// The same as a reason that begins with the field.
    pub(crate) fn into_reason(self) -> Reason {
        let message = match self.field {
            Some(field) => format!("{field}: {}", self.reason.message),
            None => self.reason.message,
        };
        Reason {
            message,
            hint: self.reason.hint,
        }
    }
}

impl fmt::Display for CronError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(field) = self.field {
            write!(f, "{field}: ")?;
        }
        self.reason.fmt(f)
    }
}

impl std::error::Error for CronError {}

/// A cron expression that was understood.
#[derive(Debug, Clone)]
pub struct Cron {
    pub(crate) calendar: Calendar,
    pub(crate) zone: Option<TimeZone>,
    follows_elapsed_time: bool,
}

impl Cron {
    /// Reads an expression.
    ///
    /// # Errors
    /// When it is not one, or is one that never fires.
    pub fn parse(text: &str) -> Result<Self, CronError> {
        if text.len() > EXPRESSION_LENGTH_MAX {
            return Err(CronError::whole(Reason::new(format!(
                "the expression is longer than {EXPRESSION_LENGTH_MAX} bytes"
            ))));
        }
        let (zone, fields) = zone_in_front(text.trim())?;
        let fields = expand(fields)?;
        let items = read(fields)?;
        let calendar = calendar(&items);
        let (first, last) = FIRES_WITHIN_DAYS;
        if calendar.first(first * DAY_S, last * DAY_S).is_none() {
            return Err(never(fields));
        }
        Ok(Self {
            calendar,
            zone,
            follows_elapsed_time: is_star(&items[Field::Hour as usize]),
        })
    }

    /// The zone that stands in front of it.
    #[must_use]
    pub fn timezone(&self) -> Option<&str> {
        self.zone.as_ref().map(zone::name)
    }

    /// Whether it follows elapsed time when a clock is moved: with `*` or `*/n` as the hour it
    /// names no time of the day, so it fires whenever the clock shows what it says.
    #[must_use]
    pub fn follows_elapsed_time(&self) -> bool {
        self.follows_elapsed_time
    }
}

impl FromStr for Cron {
    type Err = CronError;

    fn from_str(text: &str) -> Result<Self, CronError> {
        Self::parse(text)
    }
}

/// The zone of `TZ=` or `CRON_TZ=`, and what follows it.
fn zone_in_front(text: &str) -> Result<(Option<TimeZone>, &str), CronError> {
    let named = text
        .strip_prefix("CRON_TZ=")
        .or_else(|| text.strip_prefix("TZ="));
    let Some(named) = named else {
        return Ok((None, text));
    };
    let (name, rest) = named.split_once(char::is_whitespace).unwrap_or((named, ""));
    let zone = zone::find(name).map_err(CronError::whole)?;
    Ok((Some(zone), rest.trim_start()))
}

/// The expression that a short form stands for.
fn expand(text: &str) -> Result<&str, CronError> {
    if !text.starts_with('@') {
        return Ok(text);
    }
    let known = MACROS
        .iter()
        .find(|(name, _)| name.eq_ignore_ascii_case(text));
    if let Some((_, fields)) = known {
        return Ok(fields);
    }
    let word = text.split_whitespace().next().unwrap_or(text);
    let reason = match word.to_ascii_lowercase().as_str() {
        "@reboot" => Reason::new("`@reboot` is not supported: it depends on when a server starts")
            .hint("write when it is due, such as `@daily`"),
        "@every" => Reason::new("`@every` is an interval, not an expression")
            .hint("write `every` instead of `cron`, such as `every: 13h`"),
        _ => Reason::new(format!("`{word}` is not supported"))
            .hint("use one of @yearly, @annually, @monthly, @weekly, @daily, @midnight or @hourly"),
    };
    Err(CronError::whole(reason))
}

fn read(text: &str) -> Result<[Vec<Item>; 6], CronError> {
    let count = text.split_whitespace().count();
    let skipped = match count {
        0 => return Err(CronError::whole(wrong_count("the expression is empty"))),
        5 => 1,
        6 => 0,
        7 => {
            let reason = Reason::new("the expression has 7 fields; there is no field for years")
                .hint("use `start` and `end` instead");
            return Err(CronError::whole(reason));
        }
        1 => return Err(CronError::whole(wrong_count("the expression has 1 field"))),
        _ => {
            let said = format!("the expression has {count} fields");
            return Err(CronError::whole(wrong_count(&said)));
        }
    };
    let mut read: [Vec<Item>; 6] = Default::default();
    // Five fields are due at second 0 of the minute.
    read[0] = vec![Item::Range {
        from: 0,
        to: 0,
        step: 1,
    }];
    for (field, text) in Field::ORDER[skipped..].iter().zip(text.split_whitespace()) {
        read[*field as usize] = items(*field, text).map_err(|reason| CronError {
            field: Some(*field),
            reason: if skipped == 0 { of_six(reason) } else { reason },
        })?;
    }
    Ok(read)
}

/// Who writes six fields often means a year at the end, and is told of a field that was never meant.
fn of_six(reason: Reason) -> Reason {
    let six = "with six fields the first is seconds, and there is none for years";
    let hint = match &reason.hint {
        Some(hint) => format!("{hint}; {six}"),
        None => six.to_owned(),
    };
    reason.hint(hint)
}

fn wrong_count(said: &str) -> Reason {
    Reason::new(said)
        .hint("write 5: minute, hour, day of month, month, day of week; or 6 with seconds in front")
}

fn calendar(items: &[Vec<Item>; 6]) -> Calendar {
    let of = |field: Field| &items[field as usize];
    let set = |field: Field| bits(field, of(field));
    let mut of_month = OfMonth {
        days: set(Field::DayOfMonth) as u32,
        any: is_any(of(Field::DayOfMonth)),
        ..OfMonth::NONE
    };
    let mut of_week = OfWeek {
        days: set(Field::DayOfWeek) as u8,
        any: is_any(of(Field::DayOfWeek)),
        ..OfWeek::NONE
    };
    for item in items.iter().flatten() {
        match *item {
            Item::Last => of_month.last = true,
            Item::LastWeekday => of_month.last_weekday = true,
            Item::NearestWeekday { day } => of_month.nearest_weekday |= 1 << day,
            Item::Nth { weekday, nth } => of_week.nth[usize::from(nth) - 1] |= 1 << weekday,
            Item::LastOf { weekday } => of_week.last |= 1 << weekday,
            Item::Star { .. } | Item::Range { .. } => {}
        }
    }
    Calendar {
        days: Days {
            months: set(Field::Month) as u16,
            of_month,
            of_week,
        },
        times: Times::Grid {
            hours: set(Field::Hour) as u32,
            minutes: set(Field::Minute),
            seconds: set(Field::Second),
        },
    }
}

/// Only days that none of the months has can keep an expression from ever firing.
fn never(fields: &str) -> CronError {
    let mut from_the_end = fields.split_whitespace().rev().skip(1);
    let month = from_the_end.next().unwrap_or_default();
    let day = from_the_end.next().unwrap_or_default();
    CronError {
        field: Some(Field::DayOfMonth),
        reason: Reason::new(format!(
            "no month in `{month}` has a day `{day}`, so it never fires"
        )),
    }
}

#[cfg(test)]
mod tests;
