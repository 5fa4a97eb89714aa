//! The slow walk: looks at every minute of UTC, asks the zone what the clock shows, and decides with
//! nothing of the crate's own. It is what the crate is compared with, so it shares no code with it.

use jiff::Timestamp;
use jiff::tz::TimeZone;

/// Minutes to either side in which a local time may come again.
const TWIN_MINUTES: usize = 25 * 60;

/// What the wall clock of a zone shows at every minute of a range.
pub(crate) struct Clock {
    /// The first minute that may fire, in seconds since the epoch.
    pub(crate) from: i64,
    /// The first minute that no longer may.
    pub(crate) end: i64,
    /// Local seconds of each minute, from `TWIN_MINUTES` before `from` to as many after `end`.
    locals: Vec<i64>,
}

impl Clock {
    pub(crate) fn new(zone: &TimeZone, from: i64, end: i64) -> Self {
        let around = TWIN_MINUTES as i64 * 60;
        let locals = (from - around..end + around)
            .step_by(60)
            .map(|second| {
                let at = Timestamp::from_second(second).unwrap();
                second + i64::from(zone.to_offset(at).seconds())
            })
            .collect();
        Self { from, end, locals }
    }

    fn minutes(&self) -> impl Iterator<Item = (usize, i64)> {
        let minutes = (self.from..self.end).step_by(60);
        minutes
            .enumerate()
            .map(|(at, second)| (at + TWIN_MINUTES, second))
    }

    fn came_before(&self, at: usize) -> bool {
        self.locals[at - TWIN_MINUTES..at].contains(&self.locals[at])
    }

    fn comes_again(&self, at: usize) -> bool {
        self.locals[at + 1..at + TWIN_MINUTES].contains(&self.locals[at])
    }

    /// The local minutes that the clock jumped over right before this one.
    fn jumped_over(&self, at: usize) -> impl Iterator<Item = i64> + use<> {
        (self.locals[at - 1] + 60..self.locals[at]).step_by(60)
    }
}

/// An expression of five fields, each read entry by entry into a list of what fits.
pub(crate) struct Reading {
    minutes: Vec<bool>,
    hours: Vec<bool>,
    days: Vec<bool>,
    months: Vec<bool>,
    weekdays: Vec<bool>,
    any_day: bool,
    any_weekday: bool,
    elapsed: bool,
}

impl Reading {
    pub(crate) fn new(expression: &str) -> Self {
        let fields: Vec<&str> = expression.split(' ').collect();
        let [minute, hour, day, month, weekday] = fields[..] else {
            panic!("`{expression}` has not five fields");
        };
        let fits = |field: &str, from: u32, to: u32| -> Vec<bool> {
            (0..=to)
                .map(|number| number >= from && fits(field, number, from, to))
                .collect()
        };
        let mut weekdays = fits(weekday, 0, 7);
        weekdays[0] |= weekdays[7];
        Self {
            minutes: fits(minute, 0, 59),
            hours: fits(hour, 0, 23),
            days: fits(day, 1, 31),
            months: fits(month, 1, 12),
            weekdays,
            any_day: day == "*",
            any_weekday: weekday == "*",
            elapsed: hour.starts_with('*') && !hour.contains(','),
        }
    }

    /// Whether it names a local time.
    fn names(&self, local: i64) -> bool {
        let time = local.rem_euclid(86_400);
        let fits = self.minutes[(time / 60 % 60) as usize] && self.hours[(time / 3600) as usize];
        fits && time % 60 == 0 && self.names_day(local)
    }

    fn names_day(&self, local: i64) -> bool {
        let date = Timestamp::from_second(local)
            .unwrap()
            .to_zoned(TimeZone::UTC)
            .date();
        let day = self.days[date.day() as usize];
        let weekday = self.weekdays[date.weekday().to_sunday_zero_offset() as usize];
        let either = match (self.any_day, self.any_weekday) {
            (true, true) => true,
            (true, false) => weekday,
            (false, true) => day,
            (false, false) => day || weekday,
        };
        either && self.months[date.month() as usize]
    }

    /// Whether a list of hours and minutes is enough, without a look at the date.
    fn every_day(&self) -> bool {
        self.any_day && self.any_weekday && self.months[1..].iter().all(|fits| *fits)
    }
}

/// Whether a number fits one of the entries `*`, `*/n`, `a`, `a-b` and `a-b/n`.
fn fits(field: &str, number: u32, from: u32, to: u32) -> bool {
    field.split(',').any(|entry| {
        let (range, step) = entry.split_once('/').unwrap_or((entry, "1"));
        let (first, last) = match range.split_once('-') {
            _ if range == "*" => (from, to),
            Some((first, last)) => (first.parse().unwrap(), last.parse().unwrap()),
            None => (range.parse().unwrap(), range.parse().unwrap()),
        };
        let step: u32 = step.parse().unwrap();
        (first..=last).contains(&number) && (number - first).is_multiple_of(step)
    })
}

/// What happens at changes of the clock, by the names that people write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Policy {
    pub(crate) gap: &'static str,
    pub(crate) repeat: &'static str,
}

pub(crate) const POLICIES: [Policy; 6] = [
    policy("next_valid", "first"),
    policy("next_valid", "last"),
    policy("next_valid", "both"),
    policy("skip", "first"),
    policy("skip", "last"),
    policy("skip", "both"),
];

const fn policy(gap: &'static str, repeat: &'static str) -> Policy {
    Policy { gap, repeat }
}

/// Every fire, and the number of local times that were named but jumped over or not chosen.
#[derive(Default)]
pub(crate) struct Walked {
    pub(crate) fires: Vec<i64>,
    pub(crate) jumped_over: usize,
    pub(crate) other_pass: usize,
}

/// Walks over every minute of the clock, once for all policies.
pub(crate) fn walk(clock: &Clock, reading: &Reading, policies: &[Policy]) -> Vec<Walked> {
    let mut walked: Vec<Walked> = policies.iter().map(|_| Walked::default()).collect();
    let every_day = reading.every_day();
    for (at, second) in clock.minutes() {
        let local = clock.locals[at];
        let minute = local.rem_euclid(86_400) / 60;
        let shown = reading.minutes[(minute % 60) as usize]
            && reading.hours[(minute / 60) as usize]
            && (every_day || reading.names_day(local));
        if reading.elapsed {
            if shown {
                walked
                    .iter_mut()
                    .for_each(|walked| walked.fires.push(second));
            }
            continue;
        }
        let jumped = local > clock.locals[at - 1] + 60;
        if !shown && !jumped {
            continue;
        }
        let named = |local: &i64| reading.names(*local);
        let jumped_over = if jumped {
            clock.jumped_over(at).filter(named).count()
        } else {
            0
        };
        for (policy, walked) in policies.iter().zip(&mut walked) {
            let chosen = match policy.repeat {
                "first" => !clock.came_before(at),
                "last" => !clock.comes_again(at),
                _ => true,
            };
            walked.jumped_over += jumped_over;
            walked.other_pass += usize::from(shown && !chosen);
            if shown && chosen || jumped_over > 0 && policy.gap == "next_valid" {
                walked.fires.push(second);
            }
        }
    }
    walked
}
