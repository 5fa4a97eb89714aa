//! Every fire of seven years in eight zones, as it stands in `table/`: distances between fires,
//! equal ones counted together, so that each fire can be had back and a reader can follow them.
//!
//! `REFIRE_UPDATE=1` writes it anew with the slow walk.

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use jiff::Timestamp;
use jiff::tz::{TimeZone, TimeZoneDatabase};
use refire_schedule::{Dst, Schedule, ScheduleSettings, zone_data_version};

use crate::walk::{Clock, POLICIES, Policy, Reading, walk};

const FROM: &str = "2024-01-01T00:00:00Z";
const END: &str = "2031-01-01T00:00:00Z";

/// They name times of the day, so the policy decides about them.
const FIXED: [&str; 3] = ["30 2 * * *", "0 0 * * *", "30 1-3 * * *"];
/// They follow elapsed time.
const ELAPSED: [&str; 2] = ["*/15 * * * *", "0 */2 * * *"];

/// One line of the table.
#[derive(Debug, PartialEq, Eq)]
struct Case {
    expression: String,
    policy: Policy,
    fires: Vec<i64>,
}

fn second(text: &str) -> i64 {
    text.parse::<Timestamp>().unwrap().as_second()
}

fn path(zone: &str) -> PathBuf {
    let name = format!("{}.txt", zone.replace('/', "-"));
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("tests/fires/table")
        .join(name)
}

fn zone_named(name: &str) -> TimeZone {
    TimeZoneDatabase::bundled().get(name).unwrap()
}

/// The expressions of the table with their policies, in its order.
fn expressions() -> impl Iterator<Item = (&'static str, &'static [Policy])> {
    let fixed = FIXED.iter().map(|fixed| (*fixed, &POLICIES[..]));
    let elapsed = ELAPSED.iter().map(|elapsed| (*elapsed, &POLICIES[..1]));
    fixed.chain(elapsed)
}

fn walked(zone: &str, from: i64, end: i64) -> Vec<Case> {
    let clock = Clock::new(&zone_named(zone), from, end);
    let mut cases = Vec::new();
    for (expression, policies) in expressions() {
        let walked = walk(&clock, &Reading::new(expression), policies);
        cases.extend(policies.iter().zip(walked).map(|(policy, walked)| Case {
            expression: expression.to_owned(),
            policy: *policy,
            fires: walked.fires,
        }));
    }
    cases
}

fn written(zone: &str, cases: &[Case]) -> String {
    let mut text = format!(
        "# Every fire in {zone} from {FROM} up to {END}, by zone data {}.\n\
         # expression | gap/repeat | fires | the first | seconds to the next, x how often, (the same two)x how often\n",
        zone_data_version()
    );
    for case in cases {
        let first = Timestamp::from_second(case.fires[0]).unwrap();
        let Policy { gap, repeat } = case.policy;
        let count = case.fires.len();
        let expression = &case.expression;
        write!(text, "{expression} | {gap}/{repeat} | {count} | {first} |").unwrap();
        let distances: Vec<i64> = case.fires.windows(2).map(|two| two[1] - two[0]).collect();
        let equal = distances.chunk_by(|one, other| one == other);
        let runs: Vec<String> = equal
            .map(|equal| format!("{}x{}", equal[0], equal.len()))
            .collect();
        text.push_str(&pairs(&runs));
        text.push('\n');
    }
    text
}

/// The runs, with two that follow each other again and again written once.
fn pairs(runs: &[String]) -> String {
    let mut text = String::new();
    let mut rest = runs;
    while let [one, tail @ ..] = rest {
        let again = rest
            .chunks_exact(2)
            .take_while(|two| *two == &rest[..2])
            .count();
        if again > 1 {
            write!(text, " ({one} {})x{again}", tail[0]).unwrap();
            rest = &rest[2 * again..];
        } else {
            write!(text, " {one}").unwrap();
            rest = tail;
        }
    }
    text
}

fn read(zone: &str) -> Vec<Case> {
    let text = fs::read_to_string(path(zone)).unwrap();
    let made_with = format!("by zone data {}.", zone_data_version());
    assert!(
        text.lines().next().unwrap().ends_with(&made_with),
        "the table of {zone} was not made with the zone data that is built in ({}): \
         look at the changes that REFIRE_UPDATE=1 makes",
        zone_data_version()
    );
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(read_case).collect()
}

fn read_case(line: &str) -> Case {
    let parts: Vec<&str> = line.split('|').map(str::trim).collect();
    let [expression, policy, count, first, distances] = parts[..] else {
        panic!("not a line of the table: {line}");
    };
    let mut fires = vec![second(first)];
    let mut add = |run: &str| {
        let (distance, times) = run.split_once('x').unwrap();
        for _ in 0..times.parse::<usize>().unwrap() {
            fires.push(fires.last().unwrap() + distance.parse::<i64>().unwrap());
        }
    };
    let mut rest = distances;
    while !rest.is_empty() {
        let (run, tail) = match rest.strip_prefix('(') {
            Some(pair) => {
                let (two, tail) = pair.split_once(")x").unwrap();
                let (again, tail) = tail.split_once(' ').unwrap_or((tail, ""));
                for _ in 1..again.parse::<usize>().unwrap() {
                    two.split(' ').for_each(&mut add);
                }
                (two, tail)
            }
            None => rest.split_once(' ').unwrap_or((rest, "")),
        };
        run.split(' ').for_each(&mut add);
        rest = tail;
    }
    assert_eq!(fires.len().to_string(), count, "{line}");
    let named = |known: &&Policy| format!("{}/{}", known.gap, known.repeat) == policy;
    Case {
        expression: expression.to_owned(),
        policy: *POLICIES.iter().find(named).unwrap(),
        fires,
    }
}

pub(crate) fn dst(policy: Policy) -> Dst {
    serde_json::from_value(serde_json::json!({"gap": policy.gap, "repeat": policy.repeat})).unwrap()
}

fn schedule(zone: &str, case: &Case, policy: Policy) -> Schedule {
    let settings = ScheduleSettings::cron(&case.expression)
        .timezone(zone)
        .dst(dst(policy));
    Schedule::new(&settings).unwrap()
}

/// Shows the first difference instead of a hundred thousand numbers.
fn assert_same(zone: &str, case: &Case, way: &str, found: &[i64]) {
    let pairs = found.iter().zip(&case.fires);
    let at = pairs.take_while(|(found, fire)| found == fire).count();
    let text = |list: &[i64]| {
        let shown = list.get(at).map(|second| Timestamp::from_second(*second));
        format!("{shown:?}")
    };
    assert!(
        found == case.fires,
        "{zone} `{}` {:?}, {way}: fire {at} is {} and should be {}",
        case.expression,
        case.policy,
        text(found),
        text(&case.fires),
    );
}

/// Two days to either side of every change of the clock, found by looking at every hour.
fn around_changes(zone: &TimeZone) -> Vec<(i64, i64)> {
    const HOUR: i64 = 3600;
    const AROUND: i64 = 48 * HOUR;
    let offset = |second: i64| zone.to_offset(Timestamp::from_second(second).unwrap());
    let hours = (second(FROM)..second(END) - HOUR).step_by(HOUR as usize);
    let changes = hours.filter(|hour| offset(*hour) != offset(hour + HOUR));
    changes
        .map(|hour| (hour - AROUND, hour + AROUND))
        .chain([(second(FROM), second(FROM) + AROUND)])
        .collect()
}

#[test]
fn the_table_is_what_the_slow_walk_finds() {
    for zone in ZONES {
        let whole = (second(FROM), second(END));
        if std::env::var_os("REFIRE_UPDATE").is_some() {
            let cases = walked(zone, whole.0, whole.1);
            // The tests beside this one must not see half a table.
            let unfinished = path(zone).with_extension("new");
            fs::write(&unfinished, written(zone, &cases)).unwrap();
            fs::rename(unfinished, path(zone)).unwrap();
        }
        // The whole takes minutes without optimisation; elsewhere every day is like the next.
        let ranges = if std::env::var_os("REFIRE_TEST_LONG").is_some() {
            vec![whole]
        } else {
            around_changes(&zone_named(zone))
        };
        let table = read(zone);
        for (from, end) in ranges {
            for (case, expected) in table.iter().zip(walked(zone, from, end)) {
                assert_eq!(case.expression, expected.expression);
                let within = |fire: &&i64| (from..end).contains(*fire);
                let fires: Vec<i64> = case.fires.iter().filter(within).copied().collect();
                assert_same(zone, &expected, "table", &fires);
            }
        }
    }
}

fn every_fire_is_found(zone: &str) {
    let after = Timestamp::from_second(second(FROM) - 1).unwrap();
    let until = Timestamp::from_second(second(END) - 1).unwrap();
    let table = read(zone);
    let expected: usize = expressions().map(|(_, policies)| policies.len()).sum();
    assert_eq!(table.len(), expected, "{zone}");
    for case in table {
        let schedule = schedule(zone, &case, case.policy);
        let mut found = Vec::new();
        let mut at = after;
        while let Some(slot) = schedule.next(at).filter(|slot| slot.at <= until) {
            assert!(slot.at > at);
            at = slot.at;
            found.push(at.as_second());
        }
        assert_same(zone, &case, "next", &found);
        let forward = schedule.slots(after, until);
        let forward: Vec<i64> = forward.map(|slot| slot.at.as_second()).collect();
        assert_same(zone, &case, "slots", &forward);
        let back = schedule.slots(after, until).rev();
        let mut back: Vec<i64> = back.map(|slot| slot.at.as_second()).collect();
        back.reverse();
        assert_same(zone, &case, "slots from the end", &back);
        assert_eq!(schedule.count(after, until), case.fires.len() as u64);
    }
}

/// One test per zone, so that they run beside each other.
macro_rules! every_fire_is_found_in {
    ($($name:ident: $zone:literal,)*) => {
        const ZONES: &[&str] = &[$($zone),*];
        $(
            #[test]
            fn $name() {
                every_fire_is_found($zone);
            }
        )*
    };
}

every_fire_is_found_in! {
    every_fire_is_found_in_new_york: "America/New_York",
    every_fire_is_found_in_warsaw: "Europe/Warsaw",
    every_fire_is_found_in_santiago: "America/Santiago",
    every_fire_is_found_in_sydney: "Australia/Sydney",
    every_fire_is_found_in_lord_howe: "Australia/Lord_Howe",
    every_fire_is_found_in_amman: "Asia/Amman",
    every_fire_is_found_in_casablanca: "Africa/Casablanca",
    every_fire_is_found_in_cairo: "Africa/Cairo",
}

#[test]
fn what_follows_elapsed_time_is_the_same_for_every_policy() {
    let after = Timestamp::from_second(second(FROM) - 1).unwrap();
    let until = Timestamp::from_second(second(END) - 1).unwrap();
    for zone in ZONES {
        for case in read(zone) {
            if !ELAPSED.contains(&case.expression.as_str()) {
                continue;
            }
            for policy in POLICIES {
                let schedule = schedule(zone, &case, policy);
                let slots = schedule.slots(after, until);
                let found: Vec<i64> = slots.map(|slot| slot.at.as_second()).collect();
                assert_same(zone, &case, "slots", &found);
                assert!(schedule.skipped(after, until).is_empty());
            }
        }
    }
}

#[test]
fn the_table_has_days_on_which_the_policy_matters() {
    // Were the zones' changes missed, all policies would give the same fires.
    for zone in ZONES.iter().filter(|zone| **zone != "Asia/Amman") {
        let table = read(zone);
        let different = FIXED.iter().any(|expression| {
            let same = table.iter().filter(|case| case.expression == *expression);
            let counts: BTreeSet<usize> = same.map(|case| case.fires.len()).collect();
            counts.len() > 1
        });
        assert!(different, "{zone}");
    }
}
