//! Which times of a day, in seconds from midnight on the wall clock.

/// The times of a day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Times {
    /// Every combination of these hours, minutes and seconds; bit n is the number n.
    Grid {
        hours: u32,
        minutes: u64,
        seconds: u64,
    },
    /// These, in order and each once.
    List(Box<[u32]>),
}

impl Times {
    /// The first at or after a time.
    pub(crate) fn first(&self, from: u32) -> Option<u32> {
        match self {
            Self::List(times) => times
                .get(times.partition_point(|time| *time < from))
                .copied(),
            Self::Grid {
                hours,
                minutes,
                seconds,
            } => {
                let (hour, minute, second) = parts(from);
                if has(u64::from(*hours), hour) {
                    if has(*minutes, minute)
                        && let Some(second) = at_least(*seconds, second)
                    {
                        return Some(time(hour, minute, second));
                    }
                    if let Some(minute) = at_least(*minutes, minute + 1) {
                        return Some(time(hour, minute, seconds.trailing_zeros()));
                    }
                }
                let hour = at_least(u64::from(*hours), hour + 1)?;
                Some(time(
                    hour,
                    minutes.trailing_zeros(),
                    seconds.trailing_zeros(),
                ))
            }
        }
    }

    /// The last at or before a time.
    pub(crate) fn last(&self, to: u32) -> Option<u32> {
        match self {
            Self::List(times) => {
                let after = times.partition_point(|time| *time <= to);
                after.checked_sub(1).map(|at| times[at])
            }
            Self::Grid {
                hours,
                minutes,
                seconds,
            } => {
                let (hour, minute, second) = parts(to);
                if has(u64::from(*hours), hour) {
                    if has(*minutes, minute)
                        && let Some(second) = below(*seconds, second + 1)
                    {
                        return Some(time(hour, minute, second));
                    }
                    if let Some(minute) = below(*minutes, minute) {
                        return Some(time(hour, minute, highest(*seconds)));
                    }
                }
                let hour = below(u64::from(*hours), hour)?;
                Some(time(hour, highest(*minutes), highest(*seconds)))
            }
        }
    }

    /// How many there are before a time.
    pub(crate) fn count_before(&self, end: u32) -> u64 {
        match self {
            Self::List(times) => times.partition_point(|time| *time < end) as u64,
            Self::Grid {
                hours,
                minutes,
                seconds,
            } => {
                let (hour, minute, second) = parts(end);
                let per_minute = u64::from(seconds.count_ones());
                let per_hour = u64::from(minutes.count_ones()) * per_minute;
                let mut count = count_below(u64::from(*hours), hour) * per_hour;
                if has(u64::from(*hours), hour) {
                    count += count_below(*minutes, minute) * per_minute;
                    if has(*minutes, minute) {
                        count += count_below(*seconds, second);
                    }
                }
                count
            }
        }
    }

    /// How many there are in a day.
    pub(crate) fn count(&self) -> u64 {
        match self {
            Self::List(times) => times.len() as u64,
            Self::Grid {
                hours,
                minutes,
                seconds,
            } => {
                u64::from(hours.count_ones())
                    * u64::from(minutes.count_ones())
                    * u64::from(seconds.count_ones())
            }
        }
    }
}

fn parts(time: u32) -> (u32, u32, u32) {
    (time / 3600, time / 60 % 60, time % 60)
}

fn time(hour: u32, minute: u32, second: u32) -> u32 {
    hour * 3600 + minute * 60 + second
}

fn has(bits: u64, number: u32) -> bool {
    bits >> number & 1 == 1
}

/// The smallest number of a set that is not below another; sets hold numbers below 64.
fn at_least(bits: u64, number: u32) -> Option<u32> {
    let left = bits >> number;
    (left != 0).then(|| number + left.trailing_zeros())
}

/// The largest number of a set that is below another.
fn below(bits: u64, number: u32) -> Option<u32> {
    let left = bits & !(u64::MAX << number);
    (left != 0).then(|| highest(left))
}

fn highest(bits: u64) -> u32 {
    63 - bits.leading_zeros()
}

fn count_below(bits: u64, number: u32) -> u64 {
    u64::from((bits & !(u64::MAX << number)).count_ones())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DAY: u32 = 86_400;

    fn listed(times: &Times) -> Vec<u32> {
        let mut found = Vec::new();
        let mut from = 0;
        while let Some(time) = times.first(from) {
            found.push(time);
            from = time + 1;
            if from == DAY {
                break;
            }
        }
        found
    }

    proptest! {
        #[test]
        fn a_grid_is_the_list_of_its_times(
            hours in 1..(1_u32 << 24),
            minutes in prop_oneof![1..(1_u64 << 60), Just(1)],
            seconds in prop_oneof![Just(1_u64), Just(1 << 59 | 1)],
            asked in 0..DAY,
        ) {
            let grid = Times::Grid { hours, minutes, seconds };
            let expected: Vec<u32> = (0..DAY)
                .filter(|t| has(u64::from(hours), t / 3600) && has(minutes, t / 60 % 60) && has(seconds, t % 60))
                .collect();
            let list = Times::List(expected.clone().into());
            prop_assert_eq!(&listed(&grid), &expected);
            for times in [&grid, &list] {
                prop_assert_eq!(times.count(), expected.len() as u64);
                prop_assert_eq!(times.first(asked), expected.iter().copied().find(|t| *t >= asked));
                prop_assert_eq!(times.last(asked), expected.iter().copied().rfind(|t| *t <= asked));
                prop_assert_eq!(times.count_before(asked), expected.iter().filter(|t| **t < asked).count() as u64);
            }
        }
    }
}
