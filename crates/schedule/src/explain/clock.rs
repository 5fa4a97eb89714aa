//! Times of the day in a shape that can be said: from sets of numbers to the pattern a reader sees.

use crate::times::Times;

/// Times that are listed one by one; with more, the pattern is said.
const LISTED_MAX: u64 = 6;

const HOURS: u32 = 24;
const MINUTES: u32 = 60;

/// The times of a day as they are said.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Clock {
    /// These, in seconds from midnight.
    Listed(Vec<u32>),
    /// Every so many seconds, all day.
    Seconds { every: u32 },
    /// Every so many minutes, all day; the first of an hour at this minute.
    Minutes { every: u32, first: u32 },
    /// Every hour at this minute, all day.
    Hourly { minute: u32 },
    /// Every so many minutes between two times.
    MinutesBetween { every: u32, from: u32, to: u32 },
    /// Every so many hours between two times.
    HoursBetween { every: u32, from: u32, to: u32 },
    /// Seconds (none if only second 0) of minutes of hours.
    Parts {
        seconds: Option<Numbers>,
        minutes: Numbers,
        hours: Numbers,
    },
}

/// Some numbers of a clock's hand.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Numbers {
    /// All of them.
    Every,
    /// From one to another.
    Range(u32, u32),
    /// These.
    Listed(Vec<u32>),
}

impl Clock {
    pub(crate) fn of(times: &Times) -> Self {
        let (hours, minutes, seconds) = match times {
            Times::List(times) => return Self::Listed(times.to_vec()),
            Times::Grid {
                hours,
                minutes,
                seconds,
            } => (
                numbers(u64::from(*hours)),
                numbers(*minutes),
                numbers(*seconds),
            ),
        };
        if times.count() <= LISTED_MAX {
            return Self::Listed(combined(&hours, &minutes, &seconds));
        }
        let all_day = hours.len() == HOURS as usize;
        if seconds != [0] {
            let all_hour = minutes.len() == MINUTES as usize;
            return match even(&seconds) {
                Some((0, every)) if all_day && all_hour => Self::Seconds { every },
                _ => Self::Parts {
                    seconds: Some(Numbers::of(seconds, MINUTES)),
                    minutes: Numbers::of(minutes, MINUTES),
                    hours: Numbers::of(hours, HOURS),
                },
            };
        }
        let time = |hour: u32, minute: u32| hour * 3600 + minute * 60;
        let (first_hour, last_hour) = (hours[0], hours[hours.len() - 1]);
        if let [minute] = minutes[..] {
            if all_day {
                return Self::Hourly { minute };
            }
            if let Some(every) = step(&hours) {
                return Self::HoursBetween {
                    every,
                    from: time(first_hour, minute),
                    to: time(last_hour, minute),
                };
            }
        }
        if let Some((first, every)) = even(&minutes) {
            if all_day {
                return Self::Minutes { every, first };
            }
            if first_hour == last_hour || step(&hours) == Some(1) {
                return Self::MinutesBetween {
                    every,
                    from: time(first_hour, first),
                    to: time(last_hour, minutes[minutes.len() - 1]),
                };
            }
        }
        Self::Parts {
            seconds: None,
            minutes: Numbers::of(minutes, MINUTES),
            hours: Numbers::of(hours, HOURS),
        }
    }
}

impl Numbers {
    fn of(numbers: Vec<u32>, size: u32) -> Self {
        if numbers.len() == size as usize {
            return Self::Every;
        }
        match numbers[..] {
            [from, _, .., to] if step(&numbers) == Some(1) => Self::Range(from, to),
            _ => Self::Listed(numbers),
        }
    }
}

/// The numbers of a set.
pub(crate) fn numbers(bits: u64) -> Vec<u32> {
    (0..64).filter(|number| bits >> number & 1 == 1).collect()
}

fn combined(hours: &[u32], minutes: &[u32], seconds: &[u32]) -> Vec<u32> {
    let mut times = Vec::new();
    for hour in hours {
        for minute in minutes {
            times.extend(
                seconds
                    .iter()
                    .map(|second| hour * 3600 + minute * 60 + second),
            );
        }
    }
    times
}

/// The distance between numbers that have all the same, if there are at least two.
pub(crate) fn step(numbers: &[u32]) -> Option<u32> {
    let [first, second, ..] = numbers else {
        return None;
    };
    let step = second - first;
    let even = numbers.windows(2).all(|two| two[1] - two[0] == step);
    even.then_some(step)
}

/// The first number and the distance, if the distance is kept from one hour or minute to the next.
fn even(numbers: &[u32]) -> Option<(u32, u32)> {
    let step = step(numbers)?;
    let kept = MINUTES.is_multiple_of(step) && numbers.len() as u32 == MINUTES / step;
    kept.then_some((numbers[0], step))
}
