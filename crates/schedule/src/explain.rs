//! Schedules in words, for people who do not read expressions.
//!
//! What is said is first put into a shape without a language ([`Clock`], [`Dates`]), then each
//! language says it in its own order.

mod chinese;
mod clock;
mod dates;
mod english;

use std::fmt;
use std::time::Duration;

use jiff::Timestamp;
use jiff::civil::DateTime;

use self::clock::Clock;
use self::dates::Dates;
use crate::local::Local;
use crate::schedule::{Rule, Schedule};
use crate::slot::{SkipReason, Slot, SlotKind};
use crate::zone::floor;

/// How far ahead changes of the clock are looked for that touch the schedule.
const NOTES_AHEAD: Duration = Duration::from_secs(10 * 366 * 24 * 60 * 60);

/// Moments of `at` that are listed; of more, only the first and the last are said.
const MOMENTS_LISTED_MAX: usize = 6;

/// A language that schedules are explained in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Language {
    /// English.
    #[default]
    English,
    /// 繁體中文.
    TraditionalChinese,
}

impl Language {
    /// The language of a tag such as `zh-TW` or `en-GB`; English for those that are not known.
    #[must_use]
    pub fn of_tag(tag: &str) -> Self {
        let primary = tag.split(['-', '_']).next().unwrap_or_default();
        if primary.eq_ignore_ascii_case("zh") {
            Self::TraditionalChinese
        } else {
            Self::English
        }
    }
}

/// A schedule in words.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Explanation {
    /// When it fires, such as `At 02:30 every day (Europe/Warsaw)`.
    pub summary: String,
    /// What else is to know: the window, the jitter, changes of the clock. Whole sentences.
    pub notes: Vec<String>,
    language: Language,
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.summary)?;
        if self.notes.is_empty() {
            return Ok(());
        }
        match self.language {
            Language::English => write!(f, ". {}", self.notes.join(" ")),
            Language::TraditionalChinese => write!(f, "。{}", self.notes.concat()),
        }
    }
}

/// What is to be said, before any language.
enum Said {
    Repeats {
        clock: Clock,
        dates: Dates,
        /// Days that a month lacks are its last.
        clamped: bool,
    },
    Every {
        length: Duration,
        /// The moment it is counted from, if it was written.
        anchor: Option<DateTime>,
    },
    Moments(Vec<DateTime>),
}

/// How changes of the clock touch a schedule in the years to come.
#[derive(Default)]
struct Touched {
    gap: bool,
    repeat: bool,
}

impl Schedule {
    /// The schedule in words. Changes of the clock are mentioned if one in the ten years after
    /// `from` touches it.
    #[must_use]
    pub fn explain(&self, language: Language, from: Timestamp) -> Explanation {
        let said = self.said();
        let local = |at: Timestamp| self.zone().to_datetime(at);
        let (start, end) = (self.start().map(local), self.end().map(local));
        // An interval without any local time has no use for a zone.
        let zone = match said {
            Said::Every { anchor: None, .. } if end.is_none() => None,
            _ => Some(self.timezone()),
        };
        let touched = self.touched(from);
        let dst = self.dst();
        let (summary, notes) = match language {
            Language::English => (
                english::summary(&said, zone),
                [
                    english::window(start, end),
                    english::jitter(self.jitter()),
                    english::gap(touched.gap, dst.gap),
                    english::repeat(touched.repeat, dst.repeat),
                ],
            ),
            Language::TraditionalChinese => (
                chinese::summary(&said, zone),
                [
                    chinese::window(start, end),
                    chinese::jitter(self.jitter()),
                    chinese::gap(touched.gap, dst.gap),
                    chinese::repeat(touched.repeat, dst.repeat),
                ],
            ),
        };
        Explanation {
            summary,
            notes: notes.into_iter().flatten().collect(),
            language,
        }
    }

    fn said(&self) -> Said {
        match &self.rule {
            Rule::Local(Local { calendar, .. }) => Said::Repeats {
                clock: Clock::of(&calendar.times),
                dates: Dates::of(&calendar.days),
                clamped: calendar.days.of_month.clamp,
            },
            Rule::Interval(interval) => {
                // Nobody wrote the beginning of 1970.
                let anchor = Timestamp::from_millisecond(interval.anchor_ms).ok();
                let anchor = anchor.filter(|at| *at != Timestamp::UNIX_EPOCH);
                Said::Every {
                    length: Duration::from_millis(interval.every_ms.unsigned_abs()),
                    anchor: anchor.map(|at| self.zone().to_datetime(at)),
                }
            }
            Rule::Moments(moments) => {
                let slots = moments.between(Timestamp::MIN, Timestamp::MAX).iter();
                Said::Moments(slots.map(|slot| slot.local).collect())
            }
        }
    }

    fn touched(&self, from: Timestamp) -> Touched {
        match &self.rule {
            Rule::Local(local) => {
                let until = from.checked_add(NOTES_AHEAD).unwrap_or(Timestamp::MAX);
                let (gap, repeat) = local.touched(floor(from), floor(until));
                Touched { gap, repeat }
            }
            Rule::Interval(_) => Touched::default(),
            Rule::Moments(moments) => {
                let kinds = |kind: SlotKind| {
                    let mut slots = moments.between(Timestamp::MIN, Timestamp::MAX).iter();
                    slots.any(|slot: &Slot| slot.kind == kind)
                };
                let skipped = moments.skipped(Timestamp::MIN, Timestamp::MAX);
                let reasons = |reason: SkipReason| skipped.iter().any(|s| s.reason == reason);
                Touched {
                    gap: kinds(SlotKind::Moved) || reasons(SkipReason::Gap),
                    repeat: kinds(SlotKind::Repeated) || reasons(SkipReason::OtherPass),
                }
            }
        }
    }
}

impl Slot {
    /// What a change of the clock did to it; nothing is said of a usual one.
    #[must_use]
    pub fn note(&self, language: Language) -> Option<String> {
        let planned = self.planned.time();
        Some(match (self.kind, language) {
            (SlotKind::Normal, _) => return None,
            (SlotKind::Moved, Language::English) => {
                format!("{planned} does not exist on that day")
            }
            (SlotKind::Moved, Language::TraditionalChinese) => format!("當天沒有 {planned}"),
            (SlotKind::Repeated, Language::English) => "second occurrence of that hour".to_owned(),
            (SlotKind::Repeated, Language::TraditionalChinese) => "該小時第二次出現".to_owned(),
        })
    }
}

/// `09:00`, or `09:00:30` where there are seconds.
fn time(second: u32) -> String {
    let (hour, minute, second) = (second / 3600, second / 60 % 60, second % 60);
    if second == 0 {
        format!("{hour:02}:{minute:02}")
    } else {
        format!("{hour:02}:{minute:02}:{second:02}")
    }
}

/// `2026-11-15 09:30`, or with seconds where there are some.
fn date_time(at: DateTime) -> String {
    if at.second() == 0 {
        at.strftime("%Y-%m-%d %H:%M").to_string()
    } else {
        at.strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

#[cfg(test)]
mod tests;
