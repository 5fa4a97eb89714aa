//! Which days: of the month, of the week, in which months.
//!
//! Days of a month are bits of a word (bit 1 is the first), so that finding and counting them is
//! one instruction each.

use crate::civil::{Month, weekday};

/// Bits 1 to 31.
pub(crate) const EVERY_DAY: u32 = 0xffff_fffe;
/// Bits 1 to 12.
pub(crate) const EVERY_MONTH: u16 = 0x1ffe;
/// Bits 0 (Sunday) to 6.
pub(crate) const EVERY_WEEKDAY: u8 = 0x7f;

const SUNDAY: u32 = 0;
const SATURDAY: u32 = 6;

/// Days by their number in the month.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OfMonth {
    /// Bit n is day n.
    pub(crate) days: u32,
    /// A day that a month lacks is its last day.
    pub(crate) clamp: bool,
    /// The last day.
    pub(crate) last: bool,
    /// The last day from Monday to Friday.
    pub(crate) last_weekday: bool,
    /// Bit n is the day from Monday to Friday that is nearest to day n, in the same month.
    pub(crate) nearest_weekday: u32,
    /// Nothing is said about the day of the month.
    pub(crate) any: bool,
}

impl OfMonth {
    pub(crate) const ANY: Self = Self {
        days: EVERY_DAY,
        clamp: false,
        last: false,
        last_weekday: false,
        nearest_weekday: 0,
        any: true,
    };

    pub(crate) const NONE: Self = Self {
        days: 0,
        any: false,
        ..Self::ANY
    };
}

/// Days by their weekday.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct OfWeek {
    /// Bit 0 is Sunday.
    pub(crate) days: u8,
    /// The first, second, … fifth of a weekday in the month.
    pub(crate) nth: [u8; 5],
    /// The last of a weekday in the month.
    pub(crate) last: u8,
    /// Nothing is said about the weekday.
    pub(crate) any: bool,
}

impl OfWeek {
    pub(crate) const ANY: Self = Self {
        days: EVERY_WEEKDAY,
        nth: [0; 5],
        last: 0,
        any: true,
    };

    pub(crate) const NONE: Self = Self {
        days: 0,
        any: false,
        ..Self::ANY
    };
}

/// The days of a calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Days {
    /// Bit 1 is January.
    pub(crate) months: u16,
    pub(crate) of_month: OfMonth,
    pub(crate) of_week: OfWeek,
}

impl Days {
    pub(crate) const ALL: Self = Self {
        months: EVERY_MONTH,
        of_month: OfMonth::ANY,
        of_week: OfWeek::ANY,
    };

    /// The days within a month, as bits. Where both the day of the month and the weekday are
    /// said, either is enough.
    pub(crate) fn within(&self, month: Month) -> u32 {
        if self.months & (1 << month.month) == 0 {
            return 0;
        }
        let length = month.length();
        let all = EVERY_DAY >> (31 - length) & EVERY_DAY;
        match (self.of_month.any, self.of_week.any) {
            (true, true) => all,
            (false, true) => self.numbered(month, length, all),
            (true, false) => self.named(month, length, all),
            (false, false) => self.numbered(month, length, all) | self.named(month, length, all),
        }
    }

    fn numbered(&self, month: Month, length: u32, all: u32) -> u32 {
        let rule = &self.of_month;
        let mut days = rule.days & all;
        if rule.last || rule.clamp && rule.days & !all != 0 {
            days |= 1 << length;
        }
        if !rule.last_weekday && rule.nearest_weekday == 0 {
            return days;
        }
        let first = month.first_day();
        let weekday_of = |day: u32| weekday(first + i64::from(day) - 1);
        if rule.last_weekday {
            days |= match weekday_of(length) {
                SATURDAY => 1 << (length - 1),
                SUNDAY => 1 << (length - 2),
                _ => 1 << length,
            };
        }
        let mut near = rule.nearest_weekday & all;
        while near != 0 {
            let day = near.trailing_zeros();
            near &= near - 1;
            days |= match weekday_of(day) {
                SATURDAY if day == 1 => 1 << 3,
                SATURDAY => 1 << (day - 1),
                SUNDAY if day == length => 1 << (day - 2),
                SUNDAY => 1 << (day + 1),
                _ => 1 << day,
            };
        }
        days
    }

    fn named(&self, month: Month, length: u32, all: u32) -> u32 {
        let rule = &self.of_week;
        let first = weekday(month.first_day());
        // The weekdays in the order of this month's days: bit 0 is the weekday of its first.
        let turned = |days: u8| {
            let days = u64::from(days);
            ((days >> first) | (days << (7 - first))) & u64::from(EVERY_WEEKDAY)
        };
        let weeks = |week: u64| week | week << 7 | week << 14 | week << 21 | week << 28;
        let mut days = weeks(turned(rule.days)) << 1;
        for (nth, weekdays) in rule.nth.iter().enumerate() {
            days |= turned(*weekdays) << (1 + 7 * nth);
        }
        let last_seven = 0x7f_u64 << (length - 6);
        days |= weeks(turned(rule.last)) << 1 & last_seven;
        days as u32 & all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn days(bits: u32) -> Vec<u32> {
        (1..=31).filter(|day| bits & (1 << day) != 0).collect()
    }

    fn numbered(of_month: OfMonth, year: i64, month: u8) -> Vec<u32> {
        let rule = Days {
            of_month,
            ..Days::ALL
        };
        days(rule.within(Month { year, month }))
    }

    fn named(of_week: OfWeek, year: i64, month: u8) -> Vec<u32> {
        let rule = Days {
            of_week,
            ..Days::ALL
        };
        days(rule.within(Month { year, month }))
    }

    #[test]
    fn the_length_of_the_month_counts() {
        assert_eq!(numbered(OfMonth::ANY, 2023, 2).len(), 28);
        assert_eq!(numbered(OfMonth::ANY, 2024, 2).len(), 29);
        assert_eq!(numbered(OfMonth::ANY, 2026, 12).len(), 31);
        let thirty_first = OfMonth {
            days: 1 << 31,
            ..OfMonth::NONE
        };
        assert_eq!(numbered(thirty_first, 2026, 4), [0; 0]);
        let clamped = OfMonth {
            clamp: true,
            ..thirty_first
        };
        assert_eq!(numbered(clamped, 2026, 4), [30]);
        assert_eq!(numbered(clamped, 2026, 5), [31]);
    }

    #[test]
    fn weekdays_near_a_day_stay_in_the_month() {
        let near = |day: u32| OfMonth {
            nearest_weekday: 1 << day,
            ..OfMonth::NONE
        };
        // August 2026 begins on a Saturday and ends on a Monday; May ends on a Sunday.
        assert_eq!(numbered(near(1), 2026, 8), [3]);
        assert_eq!(numbered(near(15), 2026, 8), [14]);
        assert_eq!(numbered(near(16), 2026, 8), [17]);
        assert_eq!(numbered(near(31), 2026, 5), [29]);
        assert_eq!(numbered(near(31), 2026, 6), [0; 0]);
        let last = OfMonth {
            last_weekday: true,
            ..OfMonth::NONE
        };
        assert_eq!(numbered(last, 2026, 5), [29]);
        assert_eq!(numbered(last, 2026, 10), [30]);
        assert_eq!(numbered(last, 2026, 8), [31]);
    }

    #[test]
    fn weekdays_are_counted_within_the_month() {
        // November 2026 begins on a Sunday.
        let mondays = OfWeek {
            days: 1 << 1,
            ..OfWeek::NONE
        };
        assert_eq!(named(mondays, 2026, 11), [2, 9, 16, 23, 30]);
        let mut second_friday = OfWeek::NONE;
        second_friday.nth[1] = 1 << 5;
        assert_eq!(named(second_friday, 2026, 11), [13]);
        let mut fifth_friday = OfWeek::NONE;
        fifth_friday.nth[4] = 1 << 5;
        assert_eq!(named(fifth_friday, 2026, 11), [0; 0]);
        assert_eq!(named(fifth_friday, 2026, 10), [30]);
        let last_sunday = OfWeek {
            last: 1,
            ..OfWeek::NONE
        };
        assert_eq!(named(last_sunday, 2026, 11), [29]);
        assert_eq!(named(last_sunday, 2026, 2), [22]);
    }

    #[test]
    fn either_day_is_enough() {
        let rule = Days {
            months: EVERY_MONTH,
            of_month: OfMonth {
                days: 1 << 13,
                ..OfMonth::NONE
            },
            of_week: OfWeek {
                days: 1 << 5,
                ..OfWeek::NONE
            },
        };
        let november = Month {
            year: 2026,
            month: 11,
        };
        assert_eq!(days(rule.within(november)), [6, 13, 20, 27]);
        let january = Month {
            year: 2026,
            month: 1,
        };
        assert_eq!(days(rule.within(january)), [2, 9, 13, 16, 23, 30]);
    }
}
