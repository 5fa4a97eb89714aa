//! An operation that succeeds at once, under a policy, must not allocate: this counts.

use std::hint::black_box;
use std::pin::pin;
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use allocation_counter::measure;
use refire_retry::{Jitter, Policy, Stop, Wait, retry, retry_blocking, retry_mut};

fn policy() -> Policy {
    Policy::exponential(Duration::from_secs(1))
        .attempts(5)
        .max_elapsed(Duration::from_secs(60))
        .jitter(Jitter::Proportional(0.2))
}

#[test]
fn the_counter_counts() {
    assert!(measure(|| drop(black_box(Box::new(1)))).count_total > 0);
}

#[test]
fn blocking_success_does_not_allocate() {
    let limit = black_box(400_u32);
    let mut calls = 0;
    let counted = measure(|| {
        let result = retry_blocking(policy(), || Ok::<_, u32>(black_box(200)))
            .when(|code| *code > limit)
            .until(|value| *value < limit)
            .before(|_| calls += 1)
            .after(|_, _| ())
            .adjust(|_, delay| Some(delay))
            .on_sleep(|_| ())
            .call();
        assert!(result.is_ok());
    });
    assert_eq!((counted.count_total, calls), (0, 1));
}

#[test]
fn async_success_does_not_allocate() {
    let limit = black_box(400_u32);
    let counted = measure(|| {
        let run = retry(policy(), || async { Ok::<_, u32>(black_box(200)) })
            .when(|code| *code > limit)
            .until(|value| *value < limit);
        assert!(ready_at_once(run).is_ok());
    });
    assert_eq!(counted.count_total, 0);

    let mut state = 0;
    let counted = measure(|| {
        let operation = async || {
            state += black_box(1);
            Ok::<_, u32>(state)
        };
        assert!(ready_at_once(retry_mut(policy(), operation).run()).is_ok());
    });
    assert_eq!((counted.count_total, state), (0, 1));
}

/// Polls once, with no runtime whose own allocations would be counted.
fn ready_at_once<F: IntoFuture>(future: F) -> F::Output {
    let future = pin!(future.into_future());
    match future.poll(&mut Context::from_waker(Waker::noop())) {
        Poll::Ready(output) => output,
        Poll::Pending => panic!("an operation that succeeds at once has nothing to wait for"),
    }
}

#[test]
fn a_shared_plan_does_not_allocate_when_used() {
    let ms = Duration::from_millis;
    let wait =
        Wait::fixed(ms(1)).then_after(3, Policy::exponential(ms(5))) + Wait::random(ms(0)..=ms(5));
    let plan = wait.stop(Stop::attempts(9) & Stop::elapsed(ms(100)));
    let counted = measure(|| {
        assert!(
            retry_blocking(&plan, || Ok::<_, u32>(black_box(200)))
                .call()
                .is_ok()
        );
    });
    assert_eq!(counted.count_total, 0);
}
