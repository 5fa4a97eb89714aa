//! Polls a job until it is done, blocking the thread: errors and unfinished answers are both retried.
//!
//! `cargo run -p refire-retry --example poll`

use std::time::Duration;

use refire_retry::{Last, Stop, Wait, retry_blocking};

#[derive(Debug, PartialEq)]
enum Job {
    Running { percent: u32 },
    Done,
}

/// Stands in for a job server, with a hiccup on the way.
fn job(calls: &mut u32) -> Result<Job, &'static str> {
    *calls += 1;
    match *calls {
        2 => Err("connection reset"),
        calls if calls < 6 => Ok(Job::Running {
            percent: calls * 20,
        }),
        _ => Ok(Job::Done),
    }
}

fn main() {
    // Ask often at first, then less; give up after ten seconds.
    let plan = Wait::fixed(Duration::from_millis(10))
        .then_after(3, Wait::fixed(Duration::from_millis(50)))
        .stop(Stop::elapsed(Duration::from_secs(10)));

    let mut calls = 0;
    let result = retry_blocking(&plan, || job(&mut calls))
        .until(|job| *job == Job::Done)
        .after(|attempt, result| println!("{:>2}. {result:?}", attempt.number))
        .call();

    match result {
        Ok(_) => println!("done"),
        Err(error) => match &error.last {
            Last::Value(job) => println!("{error}; it was still at {job:?}"),
            Last::Error(reason) => println!("{error}; it last said {reason}"),
        },
    }
}
