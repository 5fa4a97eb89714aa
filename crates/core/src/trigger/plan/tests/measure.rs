//! What a step costs. The bounds are far above what it takes, for slow machines and unoptimised
//! builds; `--nocapture` shows the figures.

use std::time::Instant;

use super::*;

fn steps(settings: &str, every: Duration) -> f64 {
    const COUNT: u32 = 10_000;
    let mut world = World::new(trigger(settings), moment(MIDNIGHT));
    // A slot with jitter is planned up to a second later.
    let mut now = moment("00:00:01");
    let begin = Instant::now();
    for _ in 0..COUNT {
        now = now.plus(every);
        let plan = plan(&world.trigger, &world.state, now);
        assert!(plan.fire.is_some());
        world.state = plan.state;
    }
    begin.elapsed().as_secs_f64() * 1e6 / f64::from(COUNT)
}

#[test]
fn a_step_takes_microseconds() {
    let minutely =
        |more: &str| format!(r#"{{"trigger_type":"cron","cron_expression":"* * * * *"{more}}}"#);
    let minute = Duration::from_secs(60);
    for (name, settings) in [
        ("minutely in UTC", minutely("")),
        (
            "minutely in New York",
            minutely(r#","timezone":"America/New_York""#),
        ),
        ("minutely with jitter", minutely(r#","jitter":"1s""#)),
        (
            "minutely, watched",
            minutely(r#","dead_man":{"grace":"300d"}"#),
        ),
    ] {
        let micros = steps(&settings, minute);
        println!("{name}: {micros:.1} µs a step");
        assert!(micros < 1_000.0, "{name}: {micros:.1} µs");
    }
}

#[test]
fn ten_years_without_a_node_take_milliseconds() {
    for (more, rows) in [
        ("", 2),
        (r#","misfire":"skip""#, 1),
        (
            r#","misfire":"fire_all","misfire_max":1000,"misfire_window":"365d""#,
            1_001,
        ),
        (r#","timezone":"America/New_York""#, 2),
        (r#","timezone":"Africa/Casablanca","jitter":"50s""#, 2),
    ] {
        let settings = format!(r#"{{"trigger_type":"cron","cron_expression":"* * * * *"{more}}}"#);
        let mut world = World::new(trigger(&settings), at("2016-01-01T00:00:59Z"));
        let begin = Instant::now();
        world.look(at("2025-12-31T23:58:59.5Z"));
        let took = begin.elapsed();
        println!("ten years {more}: {took:?}, {} steps", world.state.rev);
        assert!(took < Duration::from_secs(2), "{took:?}");
        let missed = world.ledger.iter().map(|entry| entry.count).sum::<u64>();
        assert!((5_260_310..5_260_330).contains(&missed), "{missed}");
        assert!(
            (rows..=rows + 1).contains(&world.ledger.len()),
            "{:?}",
            lines(&world)
        );
    }
}
