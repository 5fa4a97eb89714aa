//! What stands in one field: entries between commas, each a star, a number, a range, a step or one
//! of the day field's letters.

use super::field::Field;
use crate::nearest::nearest;
use crate::problem::Reason;

/// One entry of a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Item {
    /// `*`, `?` or `*/n`.
    Star { step: u8 },
    /// `a` (from = to), `a-b`, `a-b/n`, or `a/n`, which runs to the field's end.
    Range { from: u8, to: u8, step: u8 },
    /// `L`: the last day of the month.
    Last,
    /// `LW`: the last day of the month from Monday to Friday.
    LastWeekday,
    /// `15W`: the day from Monday to Friday nearest to that day.
    NearestWeekday { day: u8 },
    /// `5#2`: the second Friday of the month.
    Nth { weekday: u8, nth: u8 },
    /// `5L`: the last Friday of the month.
    LastOf { weekday: u8 },
}

/// The weeks in which a weekday can come in a month.
const NTH_MAX: u8 = 5;

/// Reads the text of a field.
pub(super) fn items(field: Field, text: &str) -> Result<Vec<Item>, Reason> {
    text.split(',').map(|entry| item(field, entry)).collect()
}

fn item(field: Field, entry: &str) -> Result<Item, Reason> {
    if entry.is_empty() {
        return Err(Reason::new("an entry of the list is empty"));
    }
    let upper = entry.to_ascii_uppercase();
    if let Some(item) = day_letters(field, entry, &upper)? {
        return Ok(item);
    }
    let (range, step) = match entry.split_once('/') {
        Some((range, step)) => (range, Some(self::step(field, step)?)),
        None => (entry, None),
    };
    if range == "*" || range == "?" && field.is_day() {
        return Ok(Item::Star {
            step: step.unwrap_or(1),
        });
    }
    if range == "?" {
        return Err(Reason::new(
            "`?` is only for the day of month and the day of week",
        ));
    }
    let (from, to) = match range.split_once('-') {
        Some((from, to)) => (number(field, from)?, range_end(field, to)?),
        None => {
            let from = number(field, range)?;
            (from, if step.is_some() { field.last() } else { from })
        }
    };
    if from > to {
        return Err(backwards(field, range, from, to));
    }
    Ok(Item::Range {
        from,
        to,
        step: step.unwrap_or(1),
    })
}

/// `L`, `LW`, `15W`, `5#2` and `5L`, if the entry is one of them.
fn day_letters(field: Field, entry: &str, upper: &str) -> Result<Option<Item>, Reason> {
    if let Some((weekday, nth)) = upper.split_once('#') {
        if field != Field::DayOfWeek {
            return Err(Reason::new("`#` is only for the day of week"));
        }
        let weekday = number(field, weekday)? % 7;
        if nth == "L" {
            return Ok(Some(Item::LastOf { weekday }));
        }
        return match nth.parse() {
            Ok(nth @ 1..=NTH_MAX) => Ok(Some(Item::Nth { weekday, nth })),
            _ => Err(Reason::new(format!(
                "`{entry}` names week `{nth}` of the month, which is not from 1 to {NTH_MAX}"
            ))),
        };
    }
    match field {
        Field::DayOfMonth if upper == "L" => Ok(Some(Item::Last)),
        Field::DayOfMonth if upper == "LW" || upper == "WL" => Ok(Some(Item::LastWeekday)),
        Field::DayOfMonth if upper.starts_with("L-") => Err(Reason::new(format!(
            "`{entry}` counts days back from the end of the month, which is not supported"
        ))
        .hint("`L` is the last day, `LW` the last one from Monday to Friday")),
        Field::DayOfMonth if upper.ends_with('W') => {
            let day = number(field, &upper[..upper.len() - 1])?;
            Ok(Some(Item::NearestWeekday { day }))
        }
        Field::DayOfWeek if upper == "L" => {
            Err(Reason::new("`L` needs a day of the week")
                .hint("`5L` is the last Friday of the month"))
        }
        Field::DayOfWeek if upper.ends_with('L') => {
            let weekday = number(field, &upper[..upper.len() - 1])? % 7;
            Ok(Some(Item::LastOf { weekday }))
        }
        _ if upper == "L" || upper == "LW" => Err(Reason::new(format!(
            "`{entry}` is only for the day of month"
        ))),
        _ => Ok(None),
    }
}

/// How many numbers `*` stands for.
fn size(field: Field) -> u8 {
    field.last() - field.bounds().0 + 1
}

fn step(field: Field, text: &str) -> Result<u8, Reason> {
    let number = digits(text).ok_or_else(|| {
        Reason::new(format!("the step `{text}` is not a number")).hint("write for example `*/5`")
    })?;
    match u8::try_from(number) {
        Ok(0) => Err(Reason::new("a step must be at least 1")),
        Ok(step) if step <= size(field) => Ok(step),
        _ => Err(Reason::new(format!(
            "a step of {number} is larger than the field, which has {} numbers",
            size(field)
        ))
        .hint(
            "for an interval that is not part of an hour or day, use `every`, such as `every: 90m`",
        )),
    }
}

/// The end of a range: Sunday ends a week there.
fn range_end(field: Field, text: &str) -> Result<u8, Reason> {
    let number = number(field, text)?;
    let sunday = field == Field::DayOfWeek && text.eq_ignore_ascii_case(field.words()[0]);
    Ok(if sunday { 7 } else { number })
}

/// A number, or one of the field's words.
fn number(field: Field, text: &str) -> Result<u8, Reason> {
    let (min, max) = field.bounds();
    let words = field.words();
    if let Some(at) = words
        .iter()
        .position(|word| word.eq_ignore_ascii_case(text))
    {
        return Ok(min + at as u8);
    }
    let Some(number) = digits(text) else {
        return Err(not_a_number(field, text));
    };
    match u8::try_from(number) {
        Ok(number) if (min..=max).contains(&number) => Ok(number),
        _ => Err(Reason::new(format!(
            "{text} is not from {min} to {}",
            if field == Field::DayOfWeek {
                "6 (or 7 for Sunday)".to_owned()
            } else {
                max.to_string()
            }
        ))),
    }
}

fn not_a_number(field: Field, text: &str) -> Reason {
    let words = field.words();
    let reason = match words {
        _ if text.is_empty() => Reason::new("a number is missing"),
        [first, .., last] => Reason::new(format!(
            "`{text}` is neither a number nor a name from {first} to {last}"
        )),
        _ => Reason::new(format!("`{text}` is not a number")),
    };
    let beginning = text.get(..3).unwrap_or("");
    let begins = |word: &&&str| word.eq_ignore_ascii_case(beginning);
    let near = words.iter().find(begins).copied();
    match near.or_else(|| nearest(text, words.iter().copied())) {
        Some(word) => reason.hint(format!("did you mean `{word}`?")),
        None => reason,
    }
}

/// A number of plain digits; one that is absurdly large stays a number.
fn digits(text: &str) -> Option<u64> {
    let plain = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().unwrap_or(u64::MAX))
}

fn backwards(field: Field, range: &str, from: u8, to: u8) -> Reason {
    let (min, _) = field.bounds();
    let last = field.last();
    let reason = Reason::new(format!("the range {range} runs backwards"));
    if from > last {
        return reason.hint(format!("write `{min}-{to}`"));
    }
    reason.hint(format!("write `{from}-{last},{min}-{to}`"))
}

/// The numbers of the entries as bits; letters are not numbers.
pub(super) fn bits(field: Field, items: &[Item]) -> u64 {
    let mut bits = 0;
    for item in items {
        let (from, to, step) = match *item {
            Item::Star { step } => (field.bounds().0, field.last(), step),
            Item::Range { from, to, step } => (from, to, step),
            _ => continue,
        };
        for number in (from..=to).step_by(usize::from(step)) {
            let number = if field == Field::DayOfWeek {
                number % 7
            } else {
                number
            };
            bits |= 1 << number;
        }
    }
    bits
}

/// Whether nothing is said: a star alone.
pub(super) fn is_any(items: &[Item]) -> bool {
    matches!(items, [Item::Star { step: 1 }])
}

/// Whether it is a star, with or without a step.
pub(super) fn is_star(items: &[Item]) -> bool {
    matches!(items, [Item::Star { .. }])
}
