//! A schedule as it is written: texts, not yet understood.
//!
//! Exactly one of `cron`, `every`, `at`, `daily`, `weekly` and `monthly` says when; the rest
//! narrows or spreads it. Nothing is checked here beyond the kinds of values, so that
//! [`Schedule::new`](crate::Schedule::new) can name everything that is wrong at once.

use std::fmt;

use serde::de::{Error, SeqAccess, Visitor, value::SeqAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::dst::Dst;

/// What somebody wrote about when work is due.
///
/// ```
/// # use refire_schedule::{Schedule, ScheduleSettings};
/// let settings: ScheduleSettings = serde_json::from_str(
///     r#"{"weekly": {"dayOfWeek": ["MON", "FRI"], "time": "09:00"}, "timezone": "Europe/Warsaw"}"#,
/// )?;
/// let schedule = Schedule::new(&settings)?;
/// let slot = schedule.next("2026-11-16T08:00:00Z".parse()?).unwrap();
/// assert_eq!(slot.at.to_string(), "2026-11-20T08:00:00Z");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
pub struct ScheduleSettings {
    /// A cron expression.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cron: Option<String>,
    /// An interval of elapsed time, such as `13h`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub every: Option<Written>,
    /// A moment from which `every` counts in both directions; without one it is `start`, and
    /// without that the beginning of 1970 in UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub anchor: Option<String>,
    /// Moments, with an offset (`2026-11-15T09:30:00Z`) or in the schedule's zone without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<OneOrMany>,
    /// Times of every day.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub daily: Option<Daily>,
    /// Times of days of the week.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub weekly: Option<Weekly>,
    /// Times of days of the month.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub monthly: Option<Monthly>,
    /// An IANA name; UTC if nothing is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timezone: Option<String>,
    /// Nothing is due before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub start: Option<String>,
    /// Nothing is due after it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<String>,
    /// Slots start up to so much after their moment, spread evenly.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub jitter: Option<Written>,
    /// What becomes of local times that a change of the clock skips or repeats.
    #[serde(skip_serializing_if = "Dst::is_default")]
    pub dst: Dst,
}

impl ScheduleSettings {
    /// Those of a cron expression alone.
    #[must_use]
    pub fn cron(expression: impl Into<String>) -> Self {
        Self {
            cron: Some(expression.into()),
            ..Self::default()
        }
    }

    /// Those of an interval alone.
    #[must_use]
    pub fn every(length: impl Into<String>) -> Self {
        Self {
            every: Some(Written::Text(length.into())),
            ..Self::default()
        }
    }

    /// The same in a zone.
    #[must_use]
    pub fn timezone(mut self, name: impl Into<String>) -> Self {
        self.timezone = Some(name.into());
        self
    }

    /// The same with a policy for changes of the clock.
    #[must_use]
    pub fn dst(mut self, dst: Dst) -> Self {
        self.dst = dst;
        self
    }
}

/// Times of every day.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Daily {
    /// `09:00` or `09:00:30`, one or several.
    pub time: OneOrMany,
}

/// Times of days of the week.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Weekly {
    /// `MON`, `monday`, 0 to 6 from Sunday, or a range such as `MON-FRI`; one or several.
    #[serde(alias = "day_of_week")]
    pub day_of_week: OneOrMany,
    /// `09:00` or `09:00:30`, one or several.
    pub time: OneOrMany,
}

/// Times of days of the month.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub struct Monthly {
    /// 1 to 31, where a day that a month lacks is its last, a range such as `1-15`, or `last`; one or
    /// several.
    #[serde(alias = "day_of_month")]
    pub day_of_month: OneOrMany,
    /// `09:00` or `09:00:30`, one or several.
    pub time: OneOrMany,
}

/// A text or a whole number, kept as it was written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Written {
    /// A number.
    Number(u64),
    /// A text.
    Text(String),
}

impl fmt::Display for Written {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

impl From<&str> for Written {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl Serialize for Written {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Text(text) => serializer.serialize_str(text),
        }
    }
}

struct WrittenVisitor;

impl Visitor<'_> for WrittenVisitor {
    type Value = Written;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text or a whole number")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<Written, E> {
        Ok(Written::Number(number))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<Written, E> {
        Ok(Written::Text(number.to_string()))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Written, E> {
        Ok(Written::Text(text.to_owned()))
    }
}

impl<'de> Deserialize<'de> for Written {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(WrittenVisitor)
    }
}

/// One value, or a list of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OneOrMany(pub Vec<Written>);

impl<T: Into<Written>> FromIterator<T> for OneOrMany {
    fn from_iter<I: IntoIterator<Item = T>>(values: I) -> Self {
        Self(values.into_iter().map(Into::into).collect())
    }
}

impl Serialize for OneOrMany {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.0.as_slice() {
            [one] => one.serialize(serializer),
            many => many.serialize(serializer),
        }
    }
}

struct OneOrManyVisitor;

impl<'de> Visitor<'de> for OneOrManyVisitor {
    type Value = OneOrMany;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a text, a whole number or a list of them")
    }

    fn visit_u64<E: Error>(self, number: u64) -> Result<OneOrMany, E> {
        WrittenVisitor
            .visit_u64(number)
            .map(|one| OneOrMany(vec![one]))
    }

    fn visit_i64<E: Error>(self, number: i64) -> Result<OneOrMany, E> {
        WrittenVisitor
            .visit_i64(number)
            .map(|one| OneOrMany(vec![one]))
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<OneOrMany, E> {
        WrittenVisitor
            .visit_str(text)
            .map(|one| OneOrMany(vec![one]))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, values: A) -> Result<OneOrMany, A::Error> {
        Vec::deserialize(SeqAccessDeserializer::new(values)).map(OneOrMany)
    }
}

impl<'de> Deserialize<'de> for OneOrMany {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(OneOrManyVisitor)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_survive_being_stored() {
        for text in [
            r#"{"cron":"0 9 * * MON-FRI","timezone":"Europe/Warsaw","dst":{"gap":"skip","repeat":"both"}}"#,
            r#"{"every":"13h","anchor":"2026-01-01T00:00:00Z","jitter":30}"#,
            r#"{"at":["2026-11-15T09:30:00Z","2026-11-16T09:30"],"start":"2026-01-01","end":"2027-01-01"}"#,
            r#"{"daily":{"time":"09:00"}}"#,
            r#"{"weekly":{"dayOfWeek":["MON",5],"time":["09:00","17:30"]}}"#,
            r#"{"monthly":{"dayOfMonth":[1,15,"last"],"time":"09:00"}}"#,
        ] {
            let settings: ScheduleSettings = serde_json::from_str(text).unwrap();
            assert_eq!(serde_json::to_string(&settings).unwrap(), text);
        }
    }

    #[test]
    fn other_kinds_of_values_and_unknown_names_are_refused() {
        for (text, expected) in [
            (r#"{"corn":"* * * * *"}"#, "unknown field `corn`"),
            (r#"{"every":1.5}"#, "a text or a whole number"),
            (r#"{"every":{}}"#, "a text or a whole number"),
            (r#"{"at":[[]]}"#, "a text or a whole number"),
            (r#"{"at":null,"daily":{}}"#, "missing field `time`"),
            (
                r#"{"dst":{"gap":"leap"}}"#,
                "unknown variant `leap`, expected `next_valid` or `skip`",
            ),
            (
                r#"{"dst":{"repeat":"none"}}"#,
                "expected one of `first`, `last`, `both`",
            ),
        ] {
            let error = serde_json::from_str::<ScheduleSettings>(text).unwrap_err();
            assert!(error.to_string().contains(expected), "{text}: {error}");
        }
    }
}
