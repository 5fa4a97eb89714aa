//! Beginnings, ends, and clocks that jump.

use super::*;

#[test]
fn a_trigger_has_nothing_to_do_with_the_time_before_it() {
    let world = tell(&hourly_settings(""), "01:00", &[("01:00", Look)]);
    assert_eq!(lines(&world), [""; 0]);
    assert_eq!(world.state.due_at, Some(moment("02:00")));
}

#[test]
fn looking_too_early_writes_nothing() {
    let world = tell(&hourly_settings(""), MIDNIGHT, &[]);
    let plan = plan(&world.trigger, &world.state, moment("00:30"));
    assert!(plan.is_empty(&world.state));
    assert_eq!(plan.state, world.state);
}

#[test]
fn a_clock_that_goes_back_fires_nothing_twice() {
    let story = [
        ("01:00", Look),
        ("03:00", Look),
        ("00:30", Look),
        ("01:00", Look),
        ("02:59", Look),
        ("03:00", Look),
        ("04:00", Look),
    ];
    assert_eq!(
        hourly(r#""misfire":"fire_all""#, &story),
        [
            "01:00 fired #1",
            "02:00 late missed #2",
            "03:00 fired #3",
            "04:00 fired #4"
        ]
    );
}

#[test]
fn moments_and_windows_come_to_an_end() {
    let settings =
        r#"{"trigger_type":"schedule","at":["2026-01-01T02:00:00Z","2026-01-01T01:00:00Z"]}"#;
    let mut world = tell(settings, MIDNIGHT, &[("01:00", Look)]);
    assert!(!world.trigger.is_finished(&world.state));
    assert_eq!(world.state.due_at, Some(moment("02:00")));
    world.look(moment("02:00"));
    assert!(world.trigger.is_finished(&world.state));
    assert_eq!(world.state.due_at, None);
    assert_eq!(lines(&world), ["01:00 fired #1", "02:00 fired #2"]);

    let window = hourly_settings(r#""start":"2026-01-01T03:00:00Z","end":"2026-01-01T04:00:00Z""#);
    let world = tell(
        &window,
        MIDNIGHT,
        &[("03:00", Look), ("04:00", Look), ("09:00", Look)],
    );
    assert_eq!(lines(&world), ["03:00 fired #1", "04:00 fired #2"]);
    assert!(world.trigger.is_finished(&world.state));
}

#[test]
fn a_buffered_last_slot_is_not_the_end() {
    let settings = r#"{"trigger_type":"schedule","overlap":"buffer_one",
        "at":["2026-01-01T01:00:00Z","2026-01-01T02:00:00Z"]}"#;
    let mut world = tell(settings, MIDNIGHT, &[("01:00", Look), ("02:00", Look)]);
    assert!(!world.trigger.is_finished(&world.state));
    assert_eq!(
        world.state.due_at, None,
        "only the end of the execution can make it due"
    );
    world.end(1, true, moment("02:30"));
    world.look(moment("02:30"));
    assert_eq!(lines(&world), ["01:00 fired #1", "02:00 late overlap #2"]);
    assert!(world.trigger.is_finished(&world.state));
}

#[test]
fn thirteen_hours_after_its_creation() {
    let now = moment("00:17:05");
    let source = r#"{"trigger_type":"schedule","every":"13h"}"#;
    let wish = crate::trigger::Wish::parse(source).unwrap();
    let draft = crate::trigger::Draft::create(&wish, now).unwrap();
    let world = World::new(trigger(draft.settings.text.as_str()), now);
    assert_eq!(world.state.due_at, Some(moment("13:17:05")));
}

#[test]
fn a_webhook_is_never_due() {
    let world = tell(
        r#"{"trigger_type":"webhook","authentication":"none"}"#,
        MIDNIGHT,
        &[("01:00", Look)],
    );
    assert_eq!((world.state.due_at, world.ledger.len()), (None, 0));
    assert!(!world.trigger.has_state() && !world.trigger.is_finished(&world.state));
}

#[test]
fn stored_settings_of_a_zone_that_vanished_are_a_named_problem() {
    let stored = hourly_settings(r#""timezone":"Atlantis/Capital""#);
    let id = crate::id::TriggerId::from_bytes([1; 16]);
    let workflow = crate::definition::WorkflowId::new("w").unwrap();
    let problems = Trigger::new(id, workflow, 3, true, &stored).unwrap_err();
    assert_eq!(problems.iter().next().unwrap().path, "timezone");
}

#[test]
fn the_ends_of_time_are_only_moments() {
    for settings in [
        hourly_settings(""),
        hourly_settings(r#""jitter":"24h","misfire":"fire_all","misfire_max":1000"#),
        r#"{"trigger_type":"schedule","every":"1s","anchor":"2026-01-01T00:00:00Z"}"#.to_owned(),
    ] {
        let trigger = trigger(&settings);
        let ends = [Timestamp::FIRST, Timestamp::from_micros(0), Timestamp::LAST];
        for from in ends {
            for now in ends {
                let mut world = World::new(trigger.clone(), from);
                world.step(now);
            }
        }
    }
}
