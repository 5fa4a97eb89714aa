//! Slots that are due while the execution before them runs.

use super::*;

#[test]
fn an_execution_of_four_hours_on_an_hourly_trigger() {
    let story = [
        ("01:00", Look),
        ("02:00", Look),
        ("03:00", Look),
        ("04:00", Look),
        ("04:30", Success(1)),
        ("04:30", Look),
        ("05:00", Look),
    ];
    for (policy, expected) in [
        (
            "allow",
            &[
                "01:00 fired #1",
                "02:00 fired #2",
                "03:00 fired #3",
                "04:00 fired #4",
                "05:00 fired #5",
            ][..],
        ),
        (
            "skip",
            &[
                "01:00 fired #1",
                "02:00–04:00 ×3 skipped overlap",
                "05:00 fired #2",
            ],
        ),
        (
            // The fourth waits, and at 05:00 it runs.
            "buffer_one",
            &[
                "01:00 fired #1",
                "02:00–03:00 ×2 skipped overlap",
                "04:00 late overlap #2",
            ],
        ),
        (
            "cancel_previous",
            &[
                "01:00 fired #1",
                "02:00 fired #2",
                "03:00 fired #3",
                "04:00 fired #4",
                "05:00 fired #5",
            ],
        ),
    ] {
        let settings = hourly_settings(&format!(r#""overlap":"{policy}""#));
        let world = tell(&settings, MIDNIGHT, &story);
        assert_eq!(lines(&world), expected, "{policy}");
        let cancelled = if policy == "cancel_previous" { 4 } else { 0 };
        assert_eq!(world.cancelled.len(), cancelled, "{policy}");
        let buffered = (policy == "buffer_one").then(|| moment("05:00"));
        assert_eq!(world.state.buffered, buffered, "{policy}");
        assert_eq!(world.state.running.is_some(), policy != "allow", "{policy}");
    }
}

#[test]
fn a_failure_ends_an_overlap_as_well() {
    let story = [("01:00", Look), ("01:30", Failure(1)), ("02:00", Look)];
    let expected = ["01:00 fired #1", "02:00 fired #2"];
    assert_eq!(hourly(r#""overlap":"skip""#, &story), expected);
    assert_eq!(hourly(r#""overlap":"buffer_one""#, &story), expected);
    let world = tell(
        &hourly_settings(r#""overlap":"cancel_previous""#),
        MIDNIGHT,
        &story,
    );
    assert_eq!(lines(&world), expected);
    assert!(
        world.cancelled.is_empty(),
        "what has ended is not cancelled"
    );
}

#[test]
fn the_end_of_an_execution_that_was_cancelled_changes_nothing() {
    let story = [("01:00", Look), ("02:00", Look), ("02:01", Failure(1))];
    let world = tell(
        &hourly_settings(r#""overlap":"cancel_previous""#),
        MIDNIGHT,
        &story,
    );
    let second = super::super::super::fixture::execution(2);
    assert_eq!(world.state.running, Some(second));
}

#[test]
fn a_node_that_was_away_while_an_execution_ran() {
    let story = [
        ("01:00", Look),
        ("04:30", Look),
        ("05:00:30", Success(1)),
        ("05:00:30", Look),
    ];
    assert_eq!(
        hourly(r#""overlap":"skip""#, &story),
        [
            "01:00 fired #1",
            "02:00–03:00 ×2 skipped missed",
            "04:00 skipped overlap",
            "05:00 late behind #2",
        ]
    );
    let world = tell(
        &hourly_settings(r#""overlap":"buffer_one""#),
        MIDNIGHT,
        &story,
    );
    assert_eq!(
        lines(&world),
        [
            "01:00 fired #1",
            "02:00–03:00 ×2 skipped missed",
            "04:00 late overlap #2",
        ]
    );
    assert_eq!(
        world.state.buffered,
        Some(moment("05:00")),
        "now the next one waits"
    );
}

#[test]
fn a_buffered_slot_is_due_when_the_execution_ends_and_not_before() {
    let settings = hourly_settings(r#""overlap":"buffer_one""#);
    let mut world = tell(&settings, MIDNIGHT, &[("01:00", Look), ("02:00", Look)]);
    assert_eq!(world.state.due_at, Some(moment("03:00")));
    world.end(1, true, moment("02:20"));
    assert_eq!(world.state.due_at, Some(moment("02:20")));
    world.look(moment("02:20"));
    assert_eq!(world.state.due_at, Some(moment("03:00")));
    assert_eq!(lines(&world), ["01:00 fired #1", "02:00 late overlap #2"]);
}

#[test]
fn catching_up_with_one_at_a_time() {
    let story = [("03:30", Look), ("03:40", Success(1)), ("03:40", Look)];
    let world = tell(
        &hourly_settings(r#""overlap":"buffer_one","misfire":"fire_all""#),
        MIDNIGHT,
        &story,
    );
    assert_eq!(
        lines(&world),
        [
            "01:00 late missed #1",
            "02:00 skipped overlap",
            "03:00 late overlap #2"
        ]
    );
}

#[test]
fn what_waits_is_given_up_only_for_a_newer_one() {
    let settings = r#""overlap":"buffer_one","misfire":"skip""#;
    // Nobody looked at 03:00 and 04:00, and they are not caught up with: 02:00 still waits.
    let before = [("01:00", Look), ("02:00", Look), ("04:30", Look)];
    let fired = [("04:40", Success(1)), ("04:40", Look)];
    assert_eq!(
        hourly(settings, &[&before[..], &fired].concat()),
        [
            "01:00 fired #1",
            "03:00–04:00 ×2 skipped missed",
            "02:00 late overlap #2"
        ]
    );
    // Given up later, it is in no stretch: newer ones are in the ledger already.
    let given_up = [("05:00", Look), ("06:00", Look), ("07:00", Look)];
    assert_eq!(
        hourly(settings, &[&before[..], &given_up].concat()),
        [
            "01:00 fired #1",
            "03:00–04:00 ×2 skipped missed",
            "02:00 skipped dropped",
            "05:00–06:00 ×2 skipped overlap"
        ]
    );
    // What was missed on both sides of one that waits are two stretches.
    let both = [
        ("01:00", Look),
        ("03:30", Look),
        ("04:00", Look),
        ("06:30", Look),
        ("07:30", Look),
    ];
    assert_eq!(
        hourly(settings, &both),
        [
            "01:00 fired #1",
            "02:00–03:00 ×2 skipped missed",
            "05:00–07:00 ×3 skipped missed"
        ]
    );
    let paused = [("04:40", Disable), ("06:30", Enable)];
    assert_eq!(
        hourly(settings, &[&before[..], &paused].concat()),
        [
            "01:00 fired #1",
            "03:00–04:00 ×2 skipped missed",
            "02:00 skipped dropped",
            "05:00–06:00 ×2 skipped paused"
        ]
    );
}

#[test]
fn what_catches_up_is_due_when_it_was_looked_at() {
    let settings = hourly_settings(r#""misfire":"fire_all""#);
    let mut world = World::new(trigger(&settings), moment(MIDNIGHT));
    for _ in 0..2 {
        assert!(world.step(moment("03:30")).is_some());
        assert_eq!(
            world.state.due_at,
            Some(moment("03:30")),
            "behind all that have been due for longer"
        );
    }
    world.step(moment("03:30"));
    assert_eq!(world.state.due_at, Some(moment("04:00")));
}
