//! Dates as plain numbers: a day is counted from 1 January 1970, a local second from its midnight.
//!
//! Searching for the next fire is arithmetic on these, which allocates nothing and cannot fail;
//! jiff's types stand at the doors of the crate.

/// Seconds of a day on a clock that is not moved.
pub(crate) const DAY_S: i64 = 86_400;

/// Days from the first of March of year 0 to 1 January 1970.
const EPOCH_FROM_MARCH_0: i64 = 719_468;

/// Days in 400 years, after which the calendar repeats.
const ERA_DAYS: i64 = 146_097;

/// A month of a year.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Month {
    pub(crate) year: i64,
    /// From 1.
    pub(crate) month: u8,
}

impl Month {
    /// The month that a day is in, and which day of it that is, from 1.
    pub(crate) fn of(day: i64) -> (Self, u32) {
        let day = day + EPOCH_FROM_MARCH_0;
        let era = day.div_euclid(ERA_DAYS);
        let of_era = day.rem_euclid(ERA_DAYS);
        let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
        let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let from_march = (5 * of_year + 2) / 153;
        let day_of_month = of_year - (153 * from_march + 2) / 5 + 1;
        let month = if from_march < 10 {
            from_march + 3
        } else {
            from_march - 9
        };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        (
            Self {
                year,
                month: month as u8,
            },
            day_of_month as u32,
        )
    }

    /// Its first day.
    pub(crate) fn first_day(self) -> i64 {
        let month = i64::from(self.month);
        let year = self.year - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let from_march = if month > 2 { month - 3 } else { month + 9 };
        let of_year = (153 * from_march + 2) / 5;
        let of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + of_year;
        era * ERA_DAYS + of_era - EPOCH_FROM_MARCH_0
    }

    /// How many days it has.
    pub(crate) fn length(self) -> u32 {
        match self.month {
            4 | 6 | 9 | 11 => 30,
            2 if self.year % 4 == 0 && (self.year % 100 != 0 || self.year % 400 == 0) => 29,
            2 => 28,
            _ => 31,
        }
    }

    /// The one after it.
    pub(crate) fn next(self) -> Self {
        if self.month == 12 {
            Self {
                year: self.year + 1,
                month: 1,
            }
        } else {
            Self {
                month: self.month + 1,
                ..self
            }
        }
    }

    /// The one before it.
    pub(crate) fn previous(self) -> Self {
        if self.month == 1 {
            Self {
                year: self.year - 1,
                month: 12,
            }
        } else {
            Self {
                month: self.month - 1,
                ..self
            }
        }
    }
}

/// The weekday of a day; 0 is Sunday.
pub(crate) fn weekday(day: i64) -> u32 {
    // 1 January 1970 was a Thursday.
    (day + 4).rem_euclid(7) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_day_of_eight_centuries_is_what_jiff_says() {
        let mut date = jiff::civil::date(1600, 1, 1);
        let epoch = jiff::civil::date(1970, 1, 1);
        let mut day = i64::from((date - epoch).get_days());
        while date.year() < 2400 {
            let (month, of_month) = Month::of(day);
            let expected = (
                i64::from(date.year()),
                date.month() as u8,
                date.day() as u32,
            );
            assert_eq!((month.year, month.month, of_month), expected);
            assert_eq!(month.first_day() + i64::from(of_month) - 1, day);
            assert_eq!(month.length(), date.days_in_month() as u32);
            let sunday_zero = date.weekday().to_sunday_zero_offset() as u32;
            assert_eq!(weekday(day), sunday_zero, "{date}");
            assert_eq!(month.next().previous(), month);
            assert_eq!(
                month.next().first_day(),
                month.first_day() + i64::from(month.length())
            );
            date = date.tomorrow().unwrap();
            day += 1;
        }
    }
}
