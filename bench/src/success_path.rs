//! What a retry policy costs around a call that succeeds, beside other libraries: nanoseconds and
//! allocations per call.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::{Duration, Instant};

use backon::{BlockingRetryable as _, ExponentialBuilder, Retryable as _};
use refire_retry::{Policy, retry, retry_blocking};
use tokio_retry2::strategy::ExponentialBackoff;

use crate::line::{Goal, Line};
use crate::sample::Repeats;

const REPEATS: usize = 7;
/// Calls of one repeat.
const CALLS: u32 = 1_000_000;
/// Calls whose allocations are counted.
const COUNTED: u64 = 1_000;
/// The delay before the first retry, and the number of retries, of every library's policy.
const FIRST_DELAY: Duration = Duration::from_secs(1);
const RETRIES: u32 = 4;

/// A way to make a call that succeeds.
struct Way {
    library: &'static str,
    style: &'static str,
    call: Box<dyn Fn(u32) -> u32>,
}

fn way(library: &'static str, style: &'static str, call: impl Fn(u32) -> u32 + 'static) -> Way {
    Way {
        library,
        style,
        call: Box::new(call),
    }
}

/// The number itself where it came through, as every call here does.
fn value<E>(result: Result<u32, E>) -> u32 {
    result.unwrap_or(u32::MAX)
}

fn ways() -> Vec<Way> {
    let ours = Policy::exponential(FIRST_DELAY).max_retries(RETRIES);
    let theirs = ExponentialBuilder::new()
        .with_min_delay(FIRST_DELAY)
        .with_max_times(RETRIES as usize);
    let (ours_blocking, theirs_blocking) = (ours.clone(), theirs);
    vec![
        way("none", "blocking", |n| value(succeed(n))),
        // What it takes to know, when all attempts have failed, how long they took.
        way("none+clock", "blocking", |n| {
            black_box(Instant::now());
            value(succeed(n))
        }),
        way("refire-retry", "blocking", move |n| {
            value(retry_blocking(&ours_blocking, || succeed(n)).call())
        }),
        way("backon", "blocking", move |n| {
            value((|| succeed(n)).retry(theirs_blocking).call())
        }),
        way("none", "async", |n| value(at_once(async { succeed(n) }))),
        way("refire-retry", "async", move |n| {
            value(at_once(
                retry(&ours, || async move { succeed(n) }).into_future(),
            ))
        }),
        way("backon", "async", move |n| {
            value(at_once((|| async move { succeed(n) }).retry(theirs)))
        }),
        way("tokio-retry2", "async", |n| {
            let backoff = ExponentialBackoff::from_millis(2)
                .factor(500)
                .take(RETRIES as usize);
            value(at_once(tokio_retry2::Retry::spawn(
                backoff,
                || async move { succeed(n).map_err(tokio_retry2::RetryError::transient) },
            )))
        }),
    ]
}

#[inline(never)]
fn succeed(n: u32) -> Result<u32, u8> {
    Ok(black_box(n))
}

/// Polls once, with no runtime whose own costs would be counted.
fn at_once<F: Future>(future: F) -> F::Output {
    let future = pin!(future);
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => unreachable!("a call that succeeds at once has nothing to wait for"),
    }
}

/// Prints `retry` for every library. `count` gives the allocations made while it runs something.
pub fn report(count: impl Fn(&mut dyn FnMut()) -> u64) {
    let ways = ways();
    let mut figures = vec![Repeats::default(); ways.len()];
    for _ in 0..REPEATS {
        for (way, figure) in ways.iter().zip(&mut figures) {
            figure.add(nanoseconds(way));
        }
    }
    for (way, figure) in ways.iter().zip(&figures) {
        let allocations = count(&mut || {
            for n in 0..COUNTED {
                black_box((way.call)(black_box(n as u32)));
            }
        });
        let mut line = Line::new("retry", way.library)
            .word("style", way.style)
            .figure("ns_per_call", figure)
            .figure(
                "allocations_per_call",
                &(allocations as f64 / COUNTED as f64).into(),
            );
        if way.library == "refire-retry" {
            let others = ways.iter().zip(&figures).filter(|(other, _)| {
                other.style == way.style
                    && !other.library.starts_with("none")
                    && other.library != way.library
            });
            let fastest = others
                .map(|(_, figure)| figure.median())
                .fold(f64::INFINITY, f64::min);
            line = line
                .figure("ratio_to_fastest", &(figure.median() / fastest).into())
                .goal("ratio_to_fastest", Goal::Below(1.05))
                .goal("allocations_per_call", Goal::Below(0.001));
        }
        line.print();
    }
}

fn nanoseconds(way: &Way) -> f64 {
    let began = Instant::now();
    for n in 0..CALLS {
        black_box((way.call)(black_box(n)));
    }
    began.elapsed().as_nanos() as f64 / f64::from(CALLS)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_makes_the_call() {
        for way in ways() {
            assert_eq!((way.call)(42), 42, "{} {}", way.library, way.style);
        }
    }
}
