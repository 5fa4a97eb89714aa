//! Successes that do not come.

use super::*;

#[test]
fn every_slot_must_succeed_within_its_grace() {
    let grace = r#""dead_man":{"grace":"10m"}"#;
    let in_time = [
        ("01:00", Look),
        ("01:09", Success(1)),
        ("01:10", Look),
        ("02:00", Look),
    ];
    assert_eq!(
        hourly(grace, &in_time),
        ["01:00 fired #1", "02:00 fired #2"]
    );
    let too_late = [
        ("01:00", Look),
        ("01:10", Look),
        ("01:20", Look),
        ("01:30", Success(1)),
        ("01:30", Look),
        ("02:00", Look),
    ];
    assert_eq!(
        hourly(grace, &too_late),
        [
            "01:00 fired #1",
            "01:00 overdue",
            "01:00 recovered",
            "02:00 fired #2"
        ]
    );
    let failed = [
        ("01:00", Look),
        ("01:01", Failure(1)),
        ("01:10", Look),
        ("02:00", Look),
        ("02:10", Look),
        ("02:11", Success(2)),
        ("02:11", Look),
    ];
    assert_eq!(
        hourly(grace, &failed),
        [
            "01:00 fired #1",
            "01:00 overdue",
            "02:00 fired #2",
            "02:00 recovered"
        ]
    );
}

#[test]
fn a_success_of_an_old_slot_does_not_end_the_alarm_of_a_newer_one() {
    let grace = r#""dead_man":{"grace":"10m"}"#;
    let story = [
        ("01:00", Look),
        ("01:10", Look),
        ("02:00", Look),
        ("02:20", Success(1)),
        ("02:20", Look),
        ("02:30", Success(2)),
        ("02:30", Look),
    ];
    assert_eq!(
        hourly(grace, &story),
        [
            "01:00 fired #1",
            "01:00 overdue",
            "02:00 fired #2",
            "02:00 recovered"
        ]
    );
}

#[test]
fn the_look_is_due_at_the_deadline_and_then_at_the_success() {
    let settings = hourly_settings(r#""dead_man":{"grace":"10m"}"#);
    let mut world = tell(&settings, MIDNIGHT, &[("01:00", Look)]);
    assert_eq!(world.state.due_at, Some(moment("01:10")));
    world.look(moment("01:10"));
    assert_eq!(world.state.due_at, Some(moment("01:10:01")));
    world.look(moment("01:10:01"));
    assert_eq!(world.state.due_at, Some(moment("02:00")));
    world.end(1, true, moment("01:15"));
    assert_eq!(world.state.due_at, Some(moment("01:15")));
    world.look(moment("01:15"));
    assert_eq!(world.state.due_at, Some(moment("02:00")));
}

#[test]
fn a_success_that_comes_while_its_absence_is_written_is_seen() {
    let settings = hourly_settings(r#""dead_man":{"grace":"10m"}"#);
    let mut world = tell(&settings, MIDNIGHT, &[("01:00", Look)]);
    let late = plan(&world.trigger, &world.state, moment("01:10"));
    let before = world.state.rev;
    world.end(1, true, moment("01:10"));
    assert_eq!(world.state.rev, before, "the plan is written all the same");
    // Nobody writes over a success.
    let state = State {
        success_at: world.state.success_at,
        success_slot: world.state.success_slot,
        ..late.state
    };
    world.write(Plan { state, ..late });
    world.look(moment("01:10:01"));
    assert_eq!(
        lines(&world),
        ["01:00 fired #1", "01:00 overdue", "01:00 recovered"]
    );
}

#[test]
fn any_success_will_do_within_a_length() {
    let within =
        r#"{"trigger_type":"webhook","authentication":"none","dead_man":{"success_within":"26h"}}"#;
    let second = "2026-01-02T02:00:00Z";
    let world = tell(within, MIDNIGHT, &[]);
    assert_eq!(world.state.due_at, Some(moment(second)));
    let story = [
        (second, Look),
        ("2026-01-02T05:00:00Z", Look),
        ("2026-01-02T06:00:00Z", Success(1)),
        ("2026-01-02T06:00:00Z", Look),
    ];
    let world = tell(within, MIDNIGHT, &story);
    assert_eq!(
        lines(&world),
        ["2026-01-02T02:00 overdue", "2026-01-02T06:00 recovered"]
    );
    assert_eq!(world.state.due_at, Some(moment("2026-01-03T08:00:00Z")));
}

#[test]
fn a_clock_that_goes_back_ends_no_alarm() {
    let grace = r#""dead_man":{"grace":"10m"}"#;
    let story = [
        ("01:00", Look),
        ("01:10", Look),
        ("01:05", Look),
        ("01:11", Look),
    ];
    assert_eq!(hourly(grace, &story), ["01:00 fired #1", "01:00 overdue"]);
}

#[test]
fn nothing_is_expected_before_the_window_and_after_the_last_success() {
    let settings = r#"{"trigger_type":"schedule","daily":{"time":"09:00"},"start":"2026-03-01","end":"2026-03-02T12:00",
        "dead_man":{"success_within":"36h"}}"#;
    let mut world = tell(settings, MIDNIGHT, &[]);
    assert_eq!(world.state.due_at, Some(at("2026-03-01T09:00:00Z")));
    world.look(at("2026-03-01T09:00:00Z"));
    world.end(1, true, at("2026-03-01T09:01:00Z"));
    world.look(at("2026-03-02T09:00:00Z"));
    world.end(2, true, at("2026-03-02T09:01:00Z"));
    world.look(at("2026-03-02T09:02:00Z"));
    assert_eq!(world.state.due_at, None);
    assert!(world.trigger.is_finished(&world.state));
}

#[test]
fn watching_begins_again_with_each_pause_and_each_change() {
    let grace = r#""dead_man":{"grace":"10m"}"#;
    let story = [
        ("01:00", Look),
        ("01:10", Look),
        ("01:20", Disable),
        ("04:30", Enable),
        ("04:30", Look),
        ("05:00", Look),
        ("05:01", Success(2)),
        ("05:20", Look),
    ];
    assert_eq!(
        hourly(grace, &story),
        [
            "01:00 fired #1",
            "01:00 overdue",
            "02:00–04:00 ×3 skipped paused",
            "05:00 fired #2",
        ]
    );
}
