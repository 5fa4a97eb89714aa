//! A client of a moody server: retries what is worth it, obeys `Retry-After`, and says what it does.
//!
//! `cargo run -p refire-retry --example fetch`

use std::cell::Cell;
use std::time::Duration;

use refire_retry::{Jitter, Policy, retry};

#[derive(Debug)]
struct Refused {
    status: u16,
    retry_after: Option<Duration>,
}

/// Stands in for a server: busy twice, then well.
async fn fetch(calls: &Cell<u32>) -> Result<&'static str, Refused> {
    calls.set(calls.get() + 1);
    match calls.get() {
        1 => Err(Refused {
            status: 503,
            retry_after: None,
        }),
        2 => Err(Refused {
            status: 429,
            retry_after: Some(Duration::from_millis(300)),
        }),
        _ => Ok("hello"),
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let policy = Policy::exponential(Duration::from_millis(50))
        .attempts(5)
        .max_elapsed(Duration::from_secs(10))
        .jitter(Jitter::Proportional(0.2));

    let calls = Cell::new(0);
    let result = retry(&policy, || fetch(&calls))
        .when(|error| matches!(error.status, 429 | 500 | 502 | 503 | 504))
        .adjust(|error, delay| Some(error.retry_after.map_or(delay, |asked| asked.max(delay))))
        .on_sleep(|sleep| {
            println!("attempt {} failed: {:?}", sleep.attempt, sleep.error);
            println!("  again in {:?}", sleep.delay);
        })
        .await;

    match result {
        Ok(body) => println!("got {body:?} after {} attempts", calls.get()),
        Err(error) => println!("{error}: {:?}", error.last),
    }
}
