//! Time zones by their IANA names, and the stretches between two changes of the clock.
//!
//! The zone data is the one that is built in, unless the program chose another (`zone_data`): every
//! node must come to the same moments, and the table of fires that the tests compare with must not
//! depend on where they run.

use jiff::Timestamp;
use jiff::tz::{Offset, TimeZone};

use crate::nearest::nearest;
use crate::problem::Reason;
use crate::zone_data::zones;

/// The longest name that is looked up, in bytes; the longest that exists has 32.
const NAME_LENGTH_MAX: usize = 64;

/// The names of all zones, in the order of the alphabet.
#[must_use]
pub fn zone_names() -> Vec<String> {
    let mut names: Vec<String> = zones()
        .database
        .available()
        .map(|name| name.to_string())
        .collect();
    names.sort_unstable();
    names
}

/// All zones with what their clocks are ahead of UTC at a moment, in the order of the alphabet.
#[must_use]
pub fn zone_offsets(at: Timestamp) -> Vec<(String, Offset)> {
    let offset = |name: String| {
        let zone = find(&name).ok()?;
        Some((name, zone.to_offset(at)))
    };
    zone_names().into_iter().filter_map(offset).collect()
}

/// An offset as times have it, such as `+08:00`.
#[must_use]
pub fn offset_text(offset: Offset) -> String {
    let seconds = offset.seconds();
    let sign = if seconds < 0 { '-' } else { '+' };
    let minutes = seconds.unsigned_abs() / 60;
    format!("{sign}{:02}:{:02}", minutes / 60, minutes % 60)
}

/// A zone by its IANA name, in any case of letters.
pub(crate) fn find(name: &str) -> Result<TimeZone, Reason> {
    if name.trim().is_empty() {
        return Err(Reason::new("the time zone is empty").hint("write `UTC` or `Europe/Warsaw`"));
    }
    if name.len() > NAME_LENGTH_MAX {
        return Err(Reason::new("the time zone's name is too long"));
    }
    if name.eq_ignore_ascii_case("utc") {
        return Ok(TimeZone::UTC);
    }
    let unknown = || Reason::new(format!("`{name}` is not a time zone")).hint(advice(name));
    let zone = zones().database.get(name).map_err(|_| unknown())?;
    // A name such as `Etc/Unknown` is found, but is nobody's zone.
    if zone.is_unknown() {
        return Err(unknown());
    }
    Ok(zone)
}

/// The name of a zone as the zone data spells it.
pub(crate) fn name(zone: &TimeZone) -> &str {
    zone.iana_name().unwrap_or("UTC")
}

/// Abbreviations that people write, and zones in which clocks show them. Those that the zone data has
/// as names of their own, such as `EST`, are not here.
const ABBREVIATIONS: [(&str, &[&str]); 26] = [
    ("ACST", &["Australia/Adelaide"]),
    ("AEDT", &["Australia/Sydney"]),
    ("AEST", &["Australia/Sydney", "Australia/Brisbane"]),
    ("AKST", &["America/Anchorage"]),
    ("AST", &["America/Halifax", "Asia/Riyadh"]),
    ("AWST", &["Australia/Perth"]),
    ("BRT", &["America/Sao_Paulo"]),
    ("BST", &["Europe/London", "Asia/Dhaka"]),
    ("CDT", &["America/Chicago", "America/Havana"]),
    ("CEST", &["Europe/Berlin", "Europe/Warsaw"]),
    ("CST", &["Asia/Taipei", "America/Chicago", "Asia/Shanghai"]),
    ("EDT", &["America/New_York"]),
    ("EEST", &["Europe/Helsinki", "Europe/Athens"]),
    ("HKT", &["Asia/Hong_Kong"]),
    ("ICT", &["Asia/Bangkok", "Asia/Ho_Chi_Minh"]),
    ("IST", &["Asia/Kolkata", "Europe/Dublin", "Asia/Jerusalem"]),
    ("JST", &["Asia/Tokyo"]),
    ("KST", &["Asia/Seoul"]),
    ("MDT", &["America/Denver"]),
    ("MSK", &["Europe/Moscow"]),
    ("NZST", &["Pacific/Auckland"]),
    ("PDT", &["America/Los_Angeles"]),
    ("PST", &["America/Los_Angeles", "Asia/Manila"]),
    ("SGT", &["Asia/Singapore"]),
    ("WEST", &["Europe/Lisbon"]),
    ("WIB", &["Asia/Jakarta"]),
];

/// What to write instead of a name that is no zone's.
fn advice(name: &str) -> String {
    let name = name.trim();
    let abbreviated = ABBREVIATIONS
        .iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(name));
    if let Some((_, zones)) = abbreviated {
        let zones: Vec<String> = zones.iter().map(|zone| format!("`{zone}`")).collect();
        let zones = zones.join(", ");
        return format!("abbreviations are ambiguous: write a place, such as {zones}");
    }
    if let Some(advice) = offset_advice(name) {
        return advice;
    }
    match likely(name) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write an IANA name such as `Europe/Warsaw` or `UTC`".to_owned(),
    }
}

/// What to write instead of `UTC+8`, `GMT-5` or `+08:00`.
fn offset_advice(name: &str) -> Option<String> {
    let upper = name.to_ascii_uppercase();
    let bare = upper
        .strip_prefix("UTC")
        .or_else(|| upper.strip_prefix("GMT"))
        .unwrap_or(&upper)
        .trim_start();
    let is_east = match bare.chars().next()? {
        '+' => true,
        '-' => false,
        _ => return None,
    };
    let (hours, minutes) = match bare[1..].split_once(':') {
        Some((hours, minutes)) => (hours, minutes),
        None if bare.len() == "+0800".len() && bare.is_ascii() => bare[1..].split_at(2),
        None => (&bare[1..], "0"),
    };
    let number = |text: &str| text.parse::<u8>().ok().filter(|_| text.len() <= 2);
    let (hours, minutes) = (number(hours)?, number(minutes)?);
    let place = match (is_east, minutes) {
        (true, 0) => "`Asia/Taipei`",
        (false, 0) => "`America/New_York`",
        _ => "`Asia/Kolkata`",
    };
    let place = format!("write a place with that time, such as {place}");
    // The signs of these names are turned around: that is how POSIX counts.
    Some(match (is_east, hours, minutes) {
        (_, 0, 0) => "write `UTC`".to_owned(),
        (true, 1..=14, 0) => {
            format!("{place}; or `Etc/GMT-{hours}`, which is {hours} h ahead of UTC")
        }
        (false, 1..=12, 0) => {
            format!("{place}; or `Etc/GMT+{hours}`, which is {hours} h behind UTC")
        }
        _ => place,
    })
}

/// A zone whose city was written alone, or whose name is nearly the one that was written.
fn likely(name: &str) -> Option<String> {
    let names = zone_names();
    let spaced = name.trim().replace(' ', "_");
    let city = names.iter().find(|known| {
        let city = known.rsplit('/').next();
        city.is_some_and(|city| city.eq_ignore_ascii_case(&spaced))
    });
    if let Some(city) = city {
        return Some(city.clone());
    }
    let whole = nearest(&spaced, names.iter().map(String::as_str));
    let cities = || {
        let cities = names.iter().filter_map(|known| known.rsplit('/').next());
        let city = nearest(&spaced, cities)?;
        let ends = |known: &&String| known.rsplit('/').next() == Some(city);
        names.iter().find(ends).map(String::as_str)
    };
    whole.or_else(cities).map(str::to_owned)
}

/// A stretch of time during which the clock is not moved, in seconds since the epoch.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stretch {
    /// Its first second.
    pub(crate) start: i64,
    /// The first second that is no longer in it.
    pub(crate) end: i64,
    /// Local time less UTC before it began; the same as `offset` where nothing was before it.
    pub(crate) before: i64,
    /// Local time less UTC within it.
    pub(crate) offset: i64,
    /// Local time less UTC after its end; the same as `offset` where nothing follows.
    pub(crate) after: i64,
}

impl Stretch {
    /// The stretch that a second is in. Changes that leave the clock as it is (of the zone's
    /// abbreviation, say) do not divide it.
    pub(crate) fn around(zone: &TimeZone, second: i64) -> Self {
        let at = moment(second);
        let offset = i64::from(zone.to_offset(at).seconds());
        let next = zone
            .following(at)
            .map(|change| {
                (
                    change.timestamp().as_second(),
                    i64::from(change.offset().seconds()),
                )
            })
            .find(|(_, after)| *after != offset);
        let previous = zone
            .preceding(moment(second + 1))
            .map(|change| {
                let start = change.timestamp().as_second();
                let before = zone.to_offset(moment(start - 1)).seconds();
                (start, i64::from(before))
            })
            .find(|(_, before)| *before != offset);
        let (end, after) = next.unwrap_or((i64::MAX, offset));
        let (start, before) = previous.unwrap_or((i64::MIN, offset));
        Self {
            start,
            end,
            before,
            offset,
            after,
        }
    }

    /// How far the clock was moved forward when it began: the local times that do not exist.
    pub(crate) fn gap(&self) -> i64 {
        (self.offset - self.before).max(0)
    }

    /// How far the clock was moved back when it began: the local times that were there before.
    pub(crate) fn repeated(&self) -> i64 {
        (self.before - self.offset).max(0)
    }

    /// How far the clock is moved back when it ends: the local times that come once more.
    pub(crate) fn will_repeat(&self) -> i64 {
        (self.offset - self.after).max(0)
    }
}

/// A whole second as a moment; the ends of the calendar for what lies beyond them.
pub(crate) fn moment(second: i64) -> Timestamp {
    let end = if second < 0 {
        Timestamp::MIN
    } else {
        Timestamp::MAX
    };
    Timestamp::from_second(second).unwrap_or(end)
}

/// The last whole second that is not after a moment.
pub(crate) fn floor(at: Timestamp) -> i64 {
    at.as_second() - i64::from(at.subsec_nanosecond() < 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(name: &str) -> String {
        find(name).unwrap_err().to_string()
    }

    #[test]
    fn names_are_found_in_any_case_and_slips_are_answered() {
        assert_eq!(name(&find("europe/warsaw").unwrap()), "Europe/Warsaw");
        assert_eq!(name(&find("utc").unwrap()), "UTC");
        assert!(hint("Warsaw").contains("did you mean `Europe/Warsaw`?"));
        assert!(hint("New York").contains("did you mean `America/New_York`?"));
        assert!(hint("Europe/Warsav").contains("did you mean `Europe/Warsaw`?"));
        assert!(hint("Taipai").contains("did you mean `Asia/Taipei`?"));
        assert!(hint("Mars/Olympus").contains("an IANA name such as"));
        assert!(hint("").contains("is empty"));
        assert!(hint("Etc/Unknown").contains("not a time zone"));
        assert!(hint(&"x".repeat(100_000)).contains("too long"));
    }

    #[test]
    fn abbreviations_and_offsets_are_answered_with_places() {
        for (name, expected) in [
            ("CST", "such as `Asia/Taipei`, `America/Chicago`"),
            ("pst", "abbreviations are ambiguous"),
            ("UTC+8", "or `Etc/GMT-8`, which is 8 h ahead of UTC"),
            ("+08:00", "or `Etc/GMT-8`, "),
            ("+0800", "or `Etc/GMT-8`, "),
            ("GMT-05:00", "or `Etc/GMT+5`, which is 5 h behind UTC"),
            ("UTC +8", "or `Etc/GMT-8`, "),
            ("+05:30", "such as `Asia/Kolkata`"),
            ("+99", "write a place with that time"),
            ("UTC+0", "write `UTC`"),
        ] {
            assert!(hint(name).contains(expected), "{name}: {}", hint(name));
        }
        assert!(!hint("+05:30").contains("Etc/"), "{}", hint("+05:30"));
        for odd in ["+", "-", "UTC+", "+é", "+1é1", "+123:00", "+08:00:00"] {
            assert!(find(odd).is_err(), "{odd}");
        }
    }

    /// An abbreviation that is a name of its own would never be answered, and a place that is not known
    /// would help nobody.
    #[test]
    fn abbreviations_are_no_names_and_their_places_are() {
        for (abbreviation, places) in ABBREVIATIONS {
            assert!(find(abbreviation).is_err(), "{abbreviation}");
            for place in places {
                assert_eq!(name(&find(place).unwrap()), *place);
            }
        }
        for hours in 1..=14 {
            assert!(find(&format!("Etc/GMT-{hours}")).is_ok(), "{hours}");
        }
        for hours in 1..=12 {
            assert!(find(&format!("Etc/GMT+{hours}")).is_ok(), "{hours}");
        }
    }

    #[test]
    fn every_name_is_found_again() {
        let names = zone_names();
        assert!(names.len() > 400 && names.is_sorted(), "{}", names.len());
        for known in &names {
            assert_eq!(name(&find(known).unwrap()), known);
        }
        assert!(crate::zone_data_version().starts_with("20"));
    }

    #[test]
    fn offsets_are_those_of_the_moment() {
        let at = |text: &str| zone_offsets(text.parse().unwrap());
        let said = |offsets: &[(String, Offset)], zone: &str| {
            let found = offsets.iter().find(|(name, _)| name == zone).unwrap();
            offset_text(found.1)
        };
        let (winter, summer) = (at("2026-01-01T00:00:00Z"), at("2026-07-01T00:00:00Z"));
        assert_eq!(winter.len(), zone_names().len());
        for (zone, in_winter, in_summer) in [
            ("UTC", "+00:00", "+00:00"),
            ("Asia/Taipei", "+08:00", "+08:00"),
            ("America/New_York", "-05:00", "-04:00"),
            ("Asia/Kolkata", "+05:30", "+05:30"),
            ("America/St_Johns", "-03:30", "-02:30"),
        ] {
            let found = (said(&winter, zone), said(&summer, zone));
            assert_eq!(
                found,
                (in_winter.to_owned(), in_summer.to_owned()),
                "{zone}"
            );
        }
    }

    #[test]
    fn a_stretch_knows_both_its_ends() {
        let zone = find("America/New_York").unwrap();
        let july: Timestamp = "2026-07-01T00:00:00Z".parse().unwrap();
        let summer = Stretch::around(&zone, july.as_second());
        let second = |text: &str| text.parse::<Timestamp>().unwrap().as_second();
        assert_eq!(summer.start, second("2026-03-08T07:00:00Z"));
        assert_eq!(summer.end, second("2026-11-01T06:00:00Z"));
        assert_eq!((summer.before, summer.offset), (-5 * 3600, -4 * 3600));
        assert_eq!((summer.gap(), summer.repeated()), (3600, 0));
        assert_eq!(summer.will_repeat(), 3600);
        assert_eq!(Stretch::around(&zone, summer.start), summer);
        assert_eq!(Stretch::around(&zone, summer.end - 1), summer);
        assert_eq!(Stretch::around(&zone, summer.end).start, summer.end);
    }

    #[test]
    fn a_change_of_name_alone_divides_nothing() {
        // Jordan made its summer time the only time in October 2022.
        let zone = find("Asia/Amman").unwrap();
        let at: Timestamp = "2026-01-01T00:00:00Z".parse().unwrap();
        let stretch = Stretch::around(&zone, at.as_second());
        let began: Timestamp = "2022-02-24T22:00:00Z".parse().unwrap();
        assert_eq!(stretch.start, began.as_second());
        assert_eq!((stretch.end, stretch.after), (i64::MAX, stretch.offset));
    }

    #[test]
    fn seconds_before_the_epoch_round_down() {
        let at = Timestamp::from_nanosecond(-1).unwrap();
        assert_eq!(floor(at), -1);
        assert_eq!(floor(Timestamp::UNIX_EPOCH), 0);
        assert_eq!(moment(i64::MAX), Timestamp::MAX);
        assert_eq!(moment(i64::MIN), Timestamp::MIN);
    }
}
