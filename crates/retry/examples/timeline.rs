//! Shows what a policy will do, before it does it.
//!
//! `cargo run -p refire-retry --example timeline`

use refire_retry::{Jitter, Policy, Timeline};

fn show(title: &str, timeline: &Timeline) {
    println!("{title}");
    println!("  retry      wait   earliest     latest   starts at");
    for planned in &timeline.retries {
        println!(
            "  {:>5}  {:>7.1?}s  {:>8.1?}s  {:>8.1?}s  {:>9.1?}s",
            planned.retry,
            planned.delay.as_secs_f64(),
            planned.min.as_secs_f64(),
            planned.max.as_secs_f64(),
            planned.at.as_secs_f64(),
        );
    }
    println!(
        "  total {:?}, between {:?} and {:?}\n",
        timeline.total, timeline.total_min, timeline.total_max
    );
}

fn main() {
    let policy = Policy::default();
    show("The default", &policy.timeline());
    show(
        "With full jitter",
        &policy.clone().jitter(Jitter::Full).timeline(),
    );
    show(
        "With decorrelated jitter",
        &policy.jitter(Jitter::Decorrelated).timeline(),
    );
}
