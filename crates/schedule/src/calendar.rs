//! Days and times together: the local seconds that a schedule names, before any zone is asked.

use crate::civil::{DAY_S, Month};
use crate::days::Days;
use crate::times::Times;

/// The last second of a day.
const DAY_END_S: u32 = 86_399;

/// Local times that repeat by the calendar. All of it is arithmetic on local seconds; what a
/// second is in a zone is decided elsewhere.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Calendar {
    pub(crate) days: Days,
    pub(crate) times: Times,
}

impl Calendar {
    /// The first at or after `from`, and not after `until`.
    pub(crate) fn first(&self, from: i64, until: i64) -> Option<i64> {
        if from > until {
            return None;
        }
        let (day, time) = split(from);
        let last_day = until.div_euclid(DAY_S);
        let found_day = self.first_day(day, last_day)?;
        let found = match self.times.first(if found_day == day { time } else { 0 }) {
            Some(time) => join(found_day, time),
            None => join(self.first_day(day + 1, last_day)?, self.times.first(0)?),
        };
        (found <= until).then_some(found)
    }

    /// The last at or before `to`, and not before `since`.
    pub(crate) fn last(&self, to: i64, since: i64) -> Option<i64> {
        if to < since {
            return None;
        }
        let (day, time) = split(to);
        let first_day = since.div_euclid(DAY_S);
        let found_day = self.last_day(day, first_day)?;
        let latest = if found_day == day { time } else { DAY_END_S };
        let found = match self.times.last(latest) {
            Some(time) => join(found_day, time),
            None => join(
                self.last_day(day - 1, first_day)?,
                self.times.last(DAY_END_S)?,
            ),
        };
        (found >= since).then_some(found)
    }

    /// How many there are from `from` up to but not including `end`.
    pub(crate) fn count(&self, from: i64, end: i64) -> u64 {
        if from >= end {
            return 0;
        }
        let (first_day, first_time) = split(from);
        let (end_day, end_time) = split(end);
        // Whole days from the first up to the last, less what lies before `from`, plus what lies
        // before `end` on its day.
        let mut count = self.count_days(first_day, end_day) * self.times.count();
        if self.is_day(end_day) {
            count += self.times.count_before(end_time);
        }
        if self.is_day(first_day) {
            count -= self.times.count_before(first_time);
        }
        count
    }

    fn is_day(&self, day: i64) -> bool {
        let (month, of_month) = Month::of(day);
        self.days.within(month) >> of_month & 1 == 1
    }

    /// The first day at or after one, and not after the last.
    fn first_day(&self, day: i64, last: i64) -> Option<i64> {
        let (mut month, of_month) = Month::of(day);
        let mut days = self.days.within(month) >> of_month << of_month;
        let mut first = day - i64::from(of_month) + 1;
        loop {
            if days != 0 {
                let found = first + i64::from(days.trailing_zeros()) - 1;
                return (found <= last).then_some(found);
            }
            first += i64::from(month.length());
            if first > last {
                return None;
            }
            month = month.next();
            days = self.days.within(month);
        }
    }

    /// The last day at or before one, and not before the first.
    fn last_day(&self, day: i64, first: i64) -> Option<i64> {
        let (mut month, of_month) = Month::of(day);
        let mut days = self.days.within(month) & (u32::MAX >> (31 - of_month));
        let mut month_first = day - i64::from(of_month) + 1;
        loop {
            if days != 0 {
                let found = month_first + i64::from(31 - days.leading_zeros()) - 1;
                return (found >= first).then_some(found);
            }
            if month_first <= first {
                return None;
            }
            month = month.previous();
            month_first -= i64::from(month.length());
            days = self.days.within(month);
        }
    }

    /// The days from one up to but not including another.
    fn count_days(&self, from: i64, end: i64) -> u64 {
        let (mut month, of_month) = Month::of(from);
        let mut days = self.days.within(month) >> of_month << of_month;
        let mut first = from - i64::from(of_month) + 1;
        let mut count = 0;
        loop {
            let next = first + i64::from(month.length());
            if next > end {
                // The end is within this month or is its first day.
                let kept = u32::try_from(end - first).unwrap_or(0);
                return count + u64::from((days & !(u32::MAX << kept << 1)).count_ones());
            }
            count += u64::from(days.count_ones());
            first = next;
            month = month.next();
            days = self.days.within(month);
        }
    }
}

/// The day and the second of the day.
fn split(local: i64) -> (i64, u32) {
    (local.div_euclid(DAY_S), local.rem_euclid(DAY_S) as u32)
}

fn join(day: i64, time: u32) -> i64 {
    day * DAY_S + i64::from(time)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::days::{EVERY_DAY, OfMonth, OfWeek};
    use proptest::prelude::*;

    fn calendars() -> impl Strategy<Value = Calendar> {
        let of_month =
            (any::<u32>(), any::<bool>(), any::<bool>()).prop_map(|(days, last, any)| {
                let named = OfMonth {
                    days: days & EVERY_DAY,
                    last,
                    ..OfMonth::NONE
                };
                if any { OfMonth::ANY } else { named }
            });
        let of_week = prop_oneof![
            Just(OfWeek::ANY),
            (0..128_u8).prop_map(|days| OfWeek {
                days,
                ..OfWeek::NONE
            })
        ];
        let times = prop::collection::btree_set(0..86_400_u32, 1..4);
        (of_month, of_week, times, 1..4096_u16).prop_map(|(of_month, of_week, times, months)| {
            Calendar {
                days: Days {
                    months: months << 1,
                    of_month,
                    of_week,
                },
                times: Times::List(times.into_iter().collect()),
            }
        })
    }

    proptest! {
        #[test]
        fn searching_and_counting_agree_with_looking_at_every_day(
            calendar in calendars(),
            from in 1_600_000_000..1_900_000_000_i64,
            span in prop_oneof![0..200_000_i64, 0..40_000_000_i64],
        ) {
            let until = from + span;
            let listed: Vec<i64> = (from.div_euclid(DAY_S)..=until.div_euclid(DAY_S))
                .filter(|day| calendar.is_day(*day))
                .flat_map(|day| match &calendar.times {
                    Times::List(times) => times.iter().map(|t| join(day, *t)).collect::<Vec<_>>(),
                    Times::Grid { .. } => Vec::new(),
                })
                .filter(|at| (from..=until).contains(at))
                .collect();
            prop_assert_eq!(calendar.first(from, until), listed.first().copied());
            prop_assert_eq!(calendar.last(until, from), listed.last().copied());
            prop_assert_eq!(calendar.count(from, until + 1), listed.len() as u64);
        }
    }
}
