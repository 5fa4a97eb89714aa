//! Slots that nobody looked at in time.

use super::*;

#[test]
fn a_slot_fires_on_time_late_or_not_at_all() {
    for (look, expected) in [
        ("00:59:59", &[][..]),
        ("01:00:00", &["01:00 fired #1"]),
        ("01:00:01", &["01:00 fired #1"]),
        ("01:00:02", &["01:00 late behind #1"]),
        ("01:01:00", &["01:00 late behind #1"]),
        ("01:01:01", &["01:00 late missed #1"]),
        (
            "02:30:00",
            &["01:00 skipped missed", "02:00 late missed #1"],
        ),
    ] {
        assert_eq!(hourly("", &[(look, Look)]), expected, "{look}");
    }
    let skip = r#""misfire":"skip""#;
    assert_eq!(hourly(skip, &[("01:01", Look)]), ["01:00 late behind #1"]);
    assert_eq!(
        hourly(skip, &[("01:01:01", Look)]),
        ["01:00 skipped missed"]
    );
}

#[test]
fn after_five_hours_without_a_node() {
    let story = [("01:00", Look), ("06:30", Look), ("07:00", Look)];
    for (policy, expected) in [
        (
            r#""misfire":"fire_once""#,
            &[
                "01:00 fired #1",
                "02:00–05:00 ×4 skipped missed",
                "06:00 late missed #2",
                "07:00 fired #3",
            ][..],
        ),
        (
            r#""misfire":"fire_all""#,
            &[
                "01:00 fired #1",
                "02:00 late missed #2",
                "03:00 late missed #3",
                "04:00 late missed #4",
                "05:00 late missed #5",
                "06:00 late missed #6",
                "07:00 fired #7",
            ],
        ),
        (
            r#""misfire":"fire_all","misfire_max":2"#,
            &[
                "01:00 fired #1",
                "02:00–04:00 ×3 skipped missed",
                "05:00 late missed #2",
                "06:00 late missed #3",
                "07:00 fired #4",
            ],
        ),
        (
            r#""misfire":"fire_all","misfire_window":"150m""#,
            &[
                "01:00 fired #1",
                "02:00–03:00 ×2 skipped missed",
                "04:00 late missed #2",
                "05:00 late missed #3",
                "06:00 late missed #4",
                "07:00 fired #5",
            ],
        ),
        (
            r#""misfire":"fire_once","misfire_window":"10m""#,
            &[
                "01:00 fired #1",
                "02:00–06:00 ×5 skipped missed",
                "07:00 fired #2",
            ],
        ),
        (
            r#""misfire":"skip""#,
            &[
                "01:00 fired #1",
                "02:00–06:00 ×5 skipped missed",
                "07:00 fired #2",
            ],
        ),
    ] {
        assert_eq!(hourly(policy, &story), expected, "{policy}");
    }
}

#[test]
fn what_is_due_with_something_missed_was_missed_too() {
    let story = [("03:00", Look), ("04:00", Look)];
    for (policy, expected) in [
        (
            r#""misfire":"fire_once""#,
            &[
                "01:00–02:00 ×2 skipped missed",
                "03:00 fired #1",
                "04:00 fired #2",
            ][..],
        ),
        (
            r#""misfire":"fire_all","misfire_max":2"#,
            &[
                "01:00 skipped missed",
                "02:00 late missed #1",
                "03:00 fired #2",
                "04:00 fired #3",
            ],
        ),
        (
            r#""misfire":"skip""#,
            &["01:00–03:00 ×3 skipped missed", "04:00 fired #1"],
        ),
    ] {
        assert_eq!(hourly(policy, &story), expected, "{policy}");
    }
}

/// The ledger of a trigger of every 20 seconds.
fn dense(more: &str, story: &[(&str, Happens)]) -> Vec<String> {
    let settings = format!(
        r#"{{"trigger_type":"schedule","every":"20s","anchor":"2026-01-01T00:00:00Z",{more}}}"#
    );
    lines(&tell(&settings, MIDNIGHT, story))
}

#[test]
fn the_last_minute_of_a_downtime_counts_as_well() {
    // Three minutes and a quarter without a node: nine slots.
    let story = [("00:03:15", Look), ("00:03:20", Look)];
    for (policy, expected) in [
        (
            r#""misfire":"skip""#,
            &["00:00:20–00:03 ×9 skipped missed", "00:03:20 fired #1"][..],
        ),
        (
            r#""misfire":"fire_once""#,
            &[
                "00:00:20–00:02:40 ×8 skipped missed",
                "00:03 late behind #1",
                "00:03:20 fired #2",
            ],
        ),
        (
            r#""misfire":"fire_all","misfire_max":4"#,
            &[
                "00:00:20–00:01:40 ×5 skipped missed",
                "00:02 late missed #1",
                "00:02:20 late behind #2",
                "00:02:40 late behind #3",
                "00:03 late behind #4",
                "00:03:20 fired #5",
            ],
        ),
        (
            r#""misfire":"fire_all","misfire_window":"30s""#,
            &[
                "00:00:20–00:02:40 ×8 skipped missed",
                "00:03 late behind #1",
                "00:03:20 fired #2",
            ],
        ),
    ] {
        assert_eq!(dense(policy, &story), expected, "{policy}");
    }
}

#[test]
fn a_minute_without_a_node_loses_nothing() {
    let policies = [
        r#""misfire":"skip""#,
        r#""misfire":"fire_once""#,
        r#""misfire":"fire_all","misfire_max":1"#,
    ];
    for policy in policies {
        assert_eq!(
            dense(policy, &[("00:01:20", Look)]),
            [
                "00:00:20 late behind #1",
                "00:00:40 late behind #2",
                "00:01 late behind #3",
                "00:01:20 fired #4"
            ],
            "{policy}"
        );
    }
}

#[test]
fn what_comes_due_while_it_catches_up_is_not_lost() {
    let settings = r#"{"trigger_type":"schedule","every":"20s","anchor":"2026-01-01T00:00:00Z",
        "misfire":"fire_all","misfire_max":2}"#;
    let mut world = World::new(trigger(settings), moment(MIDNIGHT));
    // Every step is slow: another slot is due by the next one.
    for now in ["00:03:15", "00:03:35", "00:03:55", "00:04:15", "00:04:15"] {
        assert!(world.step(moment(now)).is_some(), "{now}");
    }
    assert_eq!(
        lines(&world),
        [
            "00:00:20–00:02:20 ×7 skipped missed",
            "00:02:40 late behind #1",
            "00:03 late behind #2",
            "00:03:20 late behind #3",
            "00:03:40 late behind #4",
            "00:04 late behind #5",
        ]
    );
}

#[test]
fn with_jitter_what_is_not_yet_planned_is_not_missed() {
    let settings = hourly_settings(r#""jitter":"30m","misfire":"skip""#);
    let trigger = trigger(&settings);
    let planned = trigger.timeline().unwrap().planned(moment("03:00"));
    assert!(planned > moment("03:00"));
    let mut world = World::new(trigger, moment(MIDNIGHT));
    world.look(moment("03:00"));
    assert_eq!(lines(&world), ["01:00–02:00 ×2 skipped missed"]);
    world.look(planned);
    assert_eq!(
        lines(&world),
        ["01:00–02:00 ×2 skipped missed", "03:00 fired #1"]
    );
}

#[test]
fn jitter_makes_no_slot_too_old() {
    let settings = r#"{"trigger_type":"schedule","every":"12h","anchor":"2026-01-01T00:00:00Z",
        "jitter":"12h","misfire_window":"2m"}"#;
    let trigger = trigger(settings);
    let planned = trigger.timeline().unwrap().planned(moment("12:00"));
    assert!(planned > moment("12:02"));
    let minutes = |count: u64| planned.plus(Duration::from_secs(60 * count));
    for (now, expected) in [
        (minutes(2), "12:00 late missed #1"),
        (minutes(2).plus(MICROSECOND), "12:00 skipped missed"),
    ] {
        let mut world = World::new(trigger.clone(), moment(MIDNIGHT));
        world.look(now);
        assert_eq!(lines(&world), [expected]);
    }
}

#[test]
fn what_was_missed_twice_is_one_stretch() {
    let story = [("02:30", Look), ("04:30", Look)];
    assert_eq!(
        hourly(r#""misfire":"skip""#, &story),
        ["01:00–04:00 ×4 skipped missed"]
    );
}

#[test]
fn one_step_starts_one_execution_and_asks_for_the_next() {
    let settings = hourly_settings(r#""misfire":"fire_all""#);
    let mut world = World::new(trigger(&settings), moment(MIDNIGHT));
    let now = moment("03:30");
    for expected in ["01:00", "02:00", "03:00"] {
        assert!(world.state.due_at.is_some_and(|due| due <= now));
        assert!(world.step(now).is_some());
        assert_eq!(world.state.cursor, moment(expected));
    }
    assert_eq!(world.state.due_at, Some(moment("04:00")));
    assert_eq!(world.step(now), None);
}

#[test]
fn a_slot_is_late_by_its_planned_time() {
    let settings = hourly_settings(r#""jitter":"30m""#);
    let trigger = trigger(&settings);
    let planned = trigger.timeline().unwrap().planned(moment("01:00"));
    assert!(
        planned > moment("01:02"),
        "the jitter of this trigger puts it off"
    );
    let mut world = World::new(trigger, moment(MIDNIGHT));
    assert_eq!(world.state.due_at, Some(planned));
    world.look(planned.minus(MICROSECOND));
    assert_eq!(lines(&world), [""; 0]);
    world.look(planned);
    assert_eq!(lines(&world), ["01:00 fired #1"]);
}
