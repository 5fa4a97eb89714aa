//! 繁體中文: the days come first, then the times.

use std::time::Duration;

use jiff::civil::DateTime;

use super::clock::{Clock, Numbers, step};
use super::dates::{Dates, MonthDay, WeekDay};
use super::{MOMENTS_LISTED_MAX, Said, date_time, time};
use crate::dst::{Gap, Repeat};
use crate::length;

const WEEKDAYS: [&str; 7] = ["週日", "週一", "週二", "週三", "週四", "週五", "週六"];

const ORDINALS: [&str; 5] = ["第一", "第二", "第三", "第四", "第五"];

pub(super) fn summary(said: &Said, zone: Option<&str>) -> String {
    let mut text = match said {
        Said::Repeats {
            clock,
            dates,
            clamped,
        } => repeats(clock, dates, *clamped),
        Said::Every { length, anchor } => {
            let every = match length::parts(*length)[..] {
                [(1, unit)] => format!("每{}", name_of(unit)),
                _ => format!("每 {}", spoken(*length)),
            };
            match anchor {
                Some(anchor) => format!("自 {} 起{every}", date_time(*anchor)),
                None => every,
            }
        }
        Said::Moments(moments) => self::moments(moments),
    };
    if let Some(zone) = zone {
        text.push_str(&format!("（{zone}）"));
    }
    text
}

pub(super) fn window(start: Option<DateTime>, end: Option<DateTime>) -> Option<String> {
    match (start.map(date_time), end.map(date_time)) {
        (Some(start), Some(end)) => Some(format!("有效期間為 {start} 至 {end}。")),
        (Some(start), None) => Some(format!("自 {start} 起有效。")),
        (None, Some(end)) => Some(format!("有效至 {end}。")),
        (None, None) => None,
    }
}

pub(super) fn jitter(window: Duration) -> Option<String> {
    (!window.is_zero()).then(|| format!("實際開始時間分散在預定時間後的 {}內。", spoken(window)))
}

pub(super) fn gap(touched: bool, gap: Gap) -> Option<String> {
    let what = match gap {
        Gap::NextValid => "於跳過之後立即觸發一次",
        Gap::Skip => "當天該時間不觸發",
    };
    touched.then(|| format!("時鐘撥快而跳過預定時間時，{what}。"))
}

pub(super) fn repeat(touched: bool, repeat: Repeat) -> Option<String> {
    let what = match repeat {
        Repeat::First => "只在第一次觸發",
        Repeat::Last => "只在第二次觸發",
        Repeat::Both => "兩次都觸發",
    };
    touched.then(|| format!("時鐘撥慢而預定時間出現兩次時，{what}。"))
}

fn repeats(clock: &Clock, dates: &Dates, clamped: bool) -> String {
    let days = self::dates(dates, clamped);
    let (range, times) = self::clock(clock);
    let space = if days.ends_with('）') { "" } else { " " };
    match range {
        // A time of the day needs its day; a rhythm does not.
        Some(range) => match times {
            Some(times) => format!("{days}{space}{range}，{times}"),
            None => format!("{days}{space}{range}"),
        },
        None if dates.is_every_day() => times.unwrap_or_default(),
        None => format!("{days}，{}", times.unwrap_or_default()),
    }
}

/// The times of the day, and the rhythm.
fn clock(clock: &Clock) -> (Option<String>, Option<String>) {
    let between = |from: u32, to: u32| Some(format!("{} 至 {}", time(from), time(to)));
    match clock {
        Clock::Listed(times) => (Some(list(times.iter().map(|at| time(*at)))), None),
        Clock::Seconds { every } => (None, Some(every_unit(*every, "秒"))),
        Clock::Minutes { every, first: 0 } => (None, Some(every_unit(*every, "分鐘"))),
        Clock::Minutes { every, first } => {
            let every = every_unit(*every, "分鐘");
            (None, Some(format!("每小時第 {first} 分起{every}")))
        }
        Clock::Hourly { minute: 0 } => (None, Some("每小時整點".to_owned())),
        Clock::Hourly { minute } => (None, Some(format!("每小時第 {minute} 分"))),
        Clock::MinutesBetween { every, from, to } => {
            (between(*from, *to), Some(every_unit(*every, "分鐘")))
        }
        Clock::HoursBetween { every, from, to } => {
            (between(*from, *to), Some(every_unit(*every, "小時")))
        }
        Clock::Parts {
            seconds,
            minutes,
            hours,
        } => (None, Some(parts(seconds.as_ref(), minutes, hours))),
    }
}

fn parts(seconds: Option<&Numbers>, minutes: &Numbers, hours: &Numbers) -> String {
    let hours = match hours {
        Numbers::Every => "每小時".to_owned(),
        hours => format!("{} 時", numbers(hours)),
    };
    let minutes = match minutes {
        Numbers::Every => "每分鐘".to_owned(),
        minutes => format!("第 {} 分", numbers(minutes)),
    };
    match seconds {
        None => format!("{hours}的{minutes}"),
        Some(Numbers::Every) => format!("{hours}的{minutes}，每秒"),
        Some(seconds) => format!("{hours}的{minutes}，第 {} 秒", numbers(seconds)),
    }
}

fn numbers(numbers: &Numbers) -> String {
    match numbers {
        Numbers::Every => String::new(),
        Numbers::Range(from, to) => format!("{from} 至 {to}"),
        Numbers::Listed(numbers) => list(numbers.iter().map(u32::to_string)),
    }
}

fn dates(dates: &Dates, clamped: bool) -> String {
    let months = dates.months.as_deref().map(months);
    let in_months = months.as_deref().unwrap_or_default();
    // What is counted within a month begins with the month.
    let monthly = match months.as_deref() {
        Some(months) => months.to_owned(),
        None => "每月".to_owned(),
    };
    match (&dates.of_month, &dates.of_week) {
        (None, None) => format!("{in_months}每天"),
        (Some(days), None) => month_days(days, &monthly, clamped),
        (None, Some(days)) => week_days(days, in_months, &monthly),
        (Some(days), Some(weekdays)) => format!(
            "{}或{}",
            month_days(days, &monthly, clamped),
            week_days(weekdays, in_months, &monthly)
        ),
    }
}

fn month_days(days: &[MonthDay], monthly: &str, clamped: bool) -> String {
    let said = days.iter().map(|day| match day {
        MonthDay::One(day) => format!(" {day} 日"),
        MonthDay::Range(from, to) => format!(" {from} 日至 {to} 日"),
        MonthDay::Step { every } => format!(" 1 日起每 {every} 天"),
        MonthDay::Last => "最後一天".to_owned(),
        MonthDay::LastWeekday => "最後一個工作日（週一至週五）".to_owned(),
        MonthDay::Nearest(day) => format!("最接近 {day} 日的工作日（週一至週五）"),
    });
    let shorter = clamped && days.iter().any(|day| matches!(day, MonthDay::One(29..)));
    let shorter = if shorter {
        "（該月沒有這一天時為最後一天）"
    } else {
        ""
    };
    format!("{monthly}{}{shorter}", list(said).replace("、 ", "、"))
}

fn week_days(days: &[WeekDay], in_months: &str, monthly: &str) -> String {
    let name = |day: u32| WEEKDAYS[day as usize % 7];
    let is_plain = |day: &&WeekDay| matches!(day, WeekDay::One(_) | WeekDay::Range(..));
    let plain: Vec<String> = days
        .iter()
        .filter(is_plain)
        .map(|day| match *day {
            WeekDay::Range(from, to) => format!("{}至{}", name(from), name(to)),
            WeekDay::One(day) | WeekDay::Nth(day, _) | WeekDay::Last(day) => name(day).to_owned(),
        })
        .collect();
    let counted: Vec<String> = days
        .iter()
        .filter_map(|day| match *day {
            WeekDay::Nth(day, nth) => {
                Some(format!("{}個{}", ORDINALS[nth as usize - 1], name(day)))
            }
            WeekDay::Last(day) => Some(format!("最後一個{}", name(day))),
            WeekDay::One(_) | WeekDay::Range(..) => None,
        })
        .collect();
    let mut said = Vec::new();
    if !plain.is_empty() {
        said.push(format!("{in_months}每{}", list(plain)));
    }
    if !counted.is_empty() {
        said.push(format!("{monthly}{}", list(counted)));
    }
    said.join("和")
}

fn months(months: &[u32]) -> String {
    match months {
        [from, _, .., to] if step(months) == Some(1) => format!("每年 {from} 月至 {to} 月的"),
        [month] => format!("每年 {month} 月"),
        _ => {
            let said = months.iter().map(|month| format!("{month} 月"));
            format!("每年 {}的", list(said))
        }
    }
}

fn moments(moments: &[DateTime]) -> String {
    match moments {
        [first, .., last] if moments.len() > MOMENTS_LISTED_MAX => format!(
            "{} 至 {} 之間的 {} 個時間點",
            date_time(*first),
            date_time(*last),
            moments.len()
        ),
        _ => list(moments.iter().map(|at| date_time(*at))),
    }
}

fn spoken(length: Duration) -> String {
    let parts = length::parts(length);
    let said: Vec<String> = parts
        .iter()
        .map(|(number, unit)| format!("{number} {}", name_of(unit)))
        .collect();
    said.join(" ")
}

fn name_of(unit: &str) -> &'static str {
    match unit {
        "d" => "天",
        "h" => "小時",
        "m" => "分鐘",
        "s" => "秒",
        _ => "毫秒",
    }
}

/// `每 15 分鐘`; `每分鐘` for one.
fn every_unit(number: u32, unit: &str) -> String {
    if number == 1 {
        format!("每{unit}")
    } else {
        format!("每 {number} {unit}")
    }
}

/// `甲`, `甲和乙`, `甲、乙和丙`.
fn list(words: impl IntoIterator<Item = String>) -> String {
    let mut words: Vec<String> = words.into_iter().collect();
    let Some(last) = words.pop() else {
        return String::new();
    };
    if words.is_empty() {
        return last;
    }
    // Numbers stand apart from the characters around them, words do not.
    let spaced = |text: &str| text.starts_with(|first: char| first.is_ascii_digit());
    let before = words
        .last()
        .is_some_and(|word| word.ends_with(|c: char| c.is_ascii_digit()));
    let left = if before { " " } else { "" };
    let right = if spaced(&last) { " " } else { "" };
    format!("{}{left}和{right}{last}", words.join("、"))
}
