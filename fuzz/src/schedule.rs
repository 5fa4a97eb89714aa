//! Schedules: any text is read or refused; what was read answers every question without
//! contradicting itself, and can be said in words.
//!
//! The first line is the expression, or settings as JSON; the second the time zone; the third the
//! second that is asked about.

use refire_schedule::jiff::Timestamp;
use refire_schedule::{Cron, Dst, Gap, Language, Repeat, Schedule, ScheduleSettings};

use super::first_line;

/// Slots that are walked over per input.
const SLOTS_MAX: usize = 20;

/// The policies that are asked for.
const POLICIES: [Dst; 3] = [
    Dst {
        gap: Gap::NextValid,
        repeat: Repeat::First,
    },
    Dst {
        gap: Gap::Skip,
        repeat: Repeat::Last,
    },
    Dst {
        gap: Gap::NextValid,
        repeat: Repeat::Both,
    },
];

/// Three lines; what is missing is empty.
pub fn run(data: &[u8]) {
    let Ok(text) = std::str::from_utf8(data) else {
        return;
    };
    let (written, rest) = first_line(text);
    let (zone, second) = first_line(rest);
    if let Err(error) = Cron::parse(written) {
        assert!(!error.to_string().is_empty());
    }
    let second: i64 = second.trim().parse().unwrap_or(1_772_950_000);
    let at = Timestamp::from_second(second).unwrap_or(Timestamp::UNIX_EPOCH);
    let settings = if written.starts_with('{') {
        serde_json::from_str(written).ok()
    } else {
        let mut settings = ScheduleSettings::cron(written);
        settings.timezone = (!zone.is_empty()).then(|| zone.to_owned());
        Some(settings)
    };
    for dst in POLICIES {
        let Some(settings) = settings.clone() else {
            return;
        };
        match Schedule::new(&settings.dst(dst)) {
            Ok(schedule) => ask(&schedule, at),
            Err(problems) => assert!(problems.iter().count() > 0),
        }
    }
}

fn ask(schedule: &Schedule, at: Timestamp) {
    let mut last = at;
    for slot in schedule.slots(at, Timestamp::MAX).take(SLOTS_MAX) {
        assert!(slot.at > last);
        assert_eq!(schedule.next(last), Some(slot));
        assert_eq!(schedule.count(last, slot.at), 1);
        if last > at {
            let previous = schedule.previous(slot.at).map(|slot| slot.at);
            assert_eq!(previous, Some(last));
        }
        last = slot.at;
    }
    for language in [Language::English, Language::TraditionalChinese] {
        assert!(!schedule.explain(language, at).to_string().is_empty());
    }
}
