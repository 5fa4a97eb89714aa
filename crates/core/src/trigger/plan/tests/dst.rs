//! Nights in which the clock is moved.

use super::*;

fn night(settings: &str, from: &str, until: &str) -> Vec<String> {
    let mut world = World::new(trigger(settings), at(from));
    let until = at(until);
    while let Some(due) = world.state.due_at.filter(|due| *due <= until) {
        world.look(due);
    }
    lines(&world)
}

/// `30 2 * * *` in New York around 8 March 2026, when 02:00 becomes 03:00.
fn new_york(dst: &str) -> Vec<String> {
    let settings = format!(
        r#"{{"trigger_type":"cron","cron_expression":"30 2 * * *","timezone":"America/New_York","dst":{dst}}}"#
    );
    night(&settings, "2026-03-07T00:00:00Z", "2026-03-10T00:00:00Z")
}

#[test]
fn half_past_two_in_new_york_is_moved_or_left_out() {
    assert_eq!(
        new_york(r#"{"gap":"next_valid"}"#),
        [
            "2026-03-07T07:30 fired #1",
            "2026-03-08T07:00 fired #2",
            "2026-03-09T06:30 fired #3",
        ]
    );
    assert_eq!(
        new_york(r#"{"gap":"skip"}"#),
        [
            "2026-03-07T07:30 fired #1",
            "2026-03-08T07:00 skipped dst",
            "2026-03-09T06:30 fired #2",
        ]
    );
}

#[test]
fn a_night_that_nobody_looked_at_has_its_gap_too() {
    let settings = r#"{"trigger_type":"schedule","daily":{"time":["02:15","02:30"]},
        "timezone":"America/New_York","dst":{"gap":"skip"},"misfire":"skip"}"#;
    let mut world = World::new(trigger(settings), at("2026-03-07T00:00:00Z"));
    world.look(at("2026-03-10T00:00:00Z"));
    assert_eq!(
        lines(&world),
        [
            "2026-03-08T07:00 ×2 skipped dst",
            "2026-03-07T07:15–2026-03-09T06:30 ×4 skipped missed",
        ]
    );
}

/// A quarter past two on Lord Howe around 4 October 2026, when 02:00 becomes 02:30, and around
/// 5 April 2026, when 02:00 becomes 01:30.
#[test]
fn half_an_hour_on_lord_howe() {
    let at_time = |time: &str, dst: &str| {
        format!(
            r#"{{"trigger_type":"schedule","daily":{{"time":"{time}"}},"timezone":"Australia/Lord_Howe","dst":{dst}}}"#
        )
    };
    let spring = |dst| {
        let settings = at_time("02:15", dst);
        night(&settings, "2026-10-02T23:00:00Z", "2026-10-05T00:00:00Z")
    };
    assert_eq!(
        spring(r#"{"gap":"skip"}"#),
        ["2026-10-03T15:30 skipped dst", "2026-10-04T15:15 fired #1"]
    );
    assert_eq!(
        spring(r#"{}"#),
        ["2026-10-03T15:30 fired #1", "2026-10-04T15:15 fired #2"]
    );
    let autumn = |dst| {
        let settings = at_time("01:45", dst);
        night(&settings, "2026-04-04T00:00:00Z", "2026-04-05T00:00:00Z")
    };
    assert_eq!(
        autumn(r#"{"repeat":"first"}"#),
        ["2026-04-04T14:45 fired #1"]
    );
    assert_eq!(
        autumn(r#"{"repeat":"last"}"#),
        ["2026-04-04T15:15 fired #1"]
    );
    assert_eq!(
        autumn(r#"{"repeat":"both"}"#),
        ["2026-04-04T14:45 fired #1", "2026-04-04T15:15 fired #2"]
    );
}
