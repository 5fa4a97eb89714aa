//! Disabling, enabling and changing.

use super::super::super::fixture::trigger;
use super::*;
use crate::trigger::change::{changed, mended};

#[test]
fn a_pause_is_one_stretch_or_is_caught_up_with() {
    let pause = |end| {
        [
            ("01:00", Look),
            ("01:30", Disable),
            ("03:00", Look),
            ("05:30", end),
            ("05:30", Look),
            ("06:00", Look),
        ]
    };
    assert_eq!(
        hourly("", &pause(Enable)),
        [
            "01:00 fired #1",
            "02:00–05:00 ×4 skipped paused",
            "06:00 fired #2"
        ]
    );
    assert_eq!(
        hourly("", &pause(EnableAndCatchUp)),
        [
            "01:00 fired #1",
            "02:00–04:00 ×3 skipped missed",
            "05:00 late missed #2",
            "06:00 fired #3",
        ]
    );
    assert_eq!(
        hourly(r#""misfire":"skip""#, &pause(EnableAndCatchUp)),
        [
            "01:00 fired #1",
            "02:00–05:00 ×4 skipped missed",
            "06:00 fired #2"
        ]
    );
}

#[test]
fn a_pause_of_seconds_that_is_caught_up_with_was_missed_as_well() {
    let story = [
        ("01:00", Look),
        ("01:30", Disable),
        ("02:00:05", EnableAndCatchUp),
        ("02:00:05", Look),
    ];
    for (policy, expected) in [
        (
            r#""misfire":"skip""#,
            &["01:00 fired #1", "02:00 skipped missed"][..],
        ),
        ("", &["01:00 fired #1", "02:00 late behind #2"]),
    ] {
        assert_eq!(hourly(policy, &story), expected, "{policy}");
    }
}

#[test]
fn what_was_owed_before_the_pause_was_missed() {
    let story = [
        ("01:00", Look),
        ("03:30", Disable),
        ("05:30", Enable),
        ("06:00", Look),
    ];
    assert_eq!(
        hourly("", &story),
        [
            "01:00 fired #1",
            "02:00–03:00 ×2 skipped missed",
            "04:00–05:00 ×2 skipped paused",
            "06:00 fired #2",
        ]
    );
}

#[test]
fn a_disabled_trigger_is_never_due_and_gives_up_what_it_buffered() {
    let settings = hourly_settings(r#""overlap":"buffer_one","dead_man":{"grace":"5m"}"#);
    let story = [("01:00", Look), ("02:00", Look), ("02:10", Disable)];
    let mut world = tell(&settings, MIDNIGHT, &story);
    assert_eq!(world.state.due_at, None);
    world.end(1, true, moment("02:20"));
    assert_eq!((world.state.due_at, world.state.running), (None, None));
    world.look(moment("09:00"));
    assert_eq!(
        lines(&world),
        ["01:00 fired #1", "01:00 overdue", "02:00 skipped paused"]
    );
}

#[test]
fn enabling_twice_or_without_a_slot_between_writes_no_stretch() {
    let story = [
        ("01:30", Disable),
        ("01:40", Enable),
        ("01:40", Enable),
        ("02:00", Look),
    ];
    assert_eq!(
        hourly("", &story),
        ["01:00 skipped missed", "02:00 fired #1"]
    );
}

#[test]
fn a_new_schedule_begins_when_it_is_written() {
    let old = hourly_settings("");
    let mut world = tell(&old, MIDNIGHT, &[("01:00", Look)]);
    let after = trigger(r#"{"trigger_type":"cron","cron_expression":"15 * * * *"}"#);
    let now = moment("03:20");
    let plan = changed(&world.trigger, &after, &world.state, now, CatchUp::No);
    assert_eq!((plan.fire, plan.state.cursor), (None, now));
    world.write(plan);
    world.trigger = after;
    assert_eq!(world.state.due_at, Some(moment("04:15")));
    world.look(moment("04:15"));
    assert_eq!(
        lines(&world),
        [
            "01:00 fired #1",
            "02:00–03:00 ×2 skipped missed",
            "04:15 fired #2"
        ]
    );
}

#[test]
fn a_change_that_moves_no_slot_loses_none() {
    let mut world = tell(&hourly_settings(""), MIDNIGHT, &[]);
    let after = trigger(&hourly_settings(r#""misfire":"fire_all""#));
    let now = moment("02:30");
    let plan = changed(&world.trigger, &after, &world.state, now, CatchUp::No);
    assert_eq!(plan.entries, []);
    world.write(plan);
    world.trigger = after;
    world.look(now);
    assert_eq!(
        lines(&world),
        ["01:00 late missed #1", "02:00 late missed #2"]
    );
}

#[test]
fn a_schedule_that_changes_during_a_pause_leaves_the_pause_behind() {
    let mut world = tell(&hourly_settings(""), MIDNIGHT, &[("00:30", Disable)]);
    let mut after = trigger(r#"{"trigger_type":"cron","cron_expression":"15 * * * *"}"#);
    after.enabled = false;
    let plan = changed(
        &world.trigger,
        &after,
        &world.state,
        moment("02:30"),
        CatchUp::No,
    );
    world.write(plan);
    world.trigger = after;
    world.enable(moment("04:30"), CatchUp::No);
    world.look(moment("05:15"));
    assert_eq!(
        lines(&world),
        ["01:00–04:15 ×4 skipped paused", "05:15 fired #1"]
    );
}

#[test]
fn without_buffering_nothing_stays_buffered() {
    let settings = hourly_settings(r#""overlap":"buffer_one""#);
    let mut world = tell(&settings, MIDNIGHT, &[("01:00", Look), ("02:00", Look)]);
    assert_eq!(world.state.buffered, Some(moment("02:00")));
    let after = trigger(&hourly_settings(r#""overlap":"skip""#));
    let plan = changed(
        &world.trigger,
        &after,
        &world.state,
        moment("02:10"),
        CatchUp::No,
    );
    world.write(plan);
    assert_eq!(world.state.buffered, None);
    assert_eq!(lines(&world), ["01:00 fired #1", "02:00 skipped overlap"]);
}

#[test]
fn a_mended_trigger_begins_now_and_says_what_it_missed() {
    let mut world = tell(&hourly_settings(""), MIDNIGHT, &[("01:00", Look)]);
    let after = trigger(r#"{"trigger_type":"cron","cron_expression":"30 * * * *"}"#);
    let now = moment("04:00");
    let plan = mended(true, &after, &world.state, now);
    assert_eq!((plan.fire, plan.state.cursor), (None, now));
    world.write(plan);
    world.trigger = after;
    world.look(moment("04:30"));
    assert_eq!(
        lines(&world),
        [
            "01:00 fired #1",
            "01:30–03:30 ×3 skipped missed",
            "04:30 fired #2"
        ]
    );
}
