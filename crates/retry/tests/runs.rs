//! Whole runs through the public interface: the drivers, on tokio's paused time and on manual time.

use std::cell::{Cell, RefCell};
use std::future::IntoFuture;
use std::rc::Rc;
use std::time::Duration;

use refire_retry::{
    GaveUp, Jitter, Last, ManualTime, Policy, RetryBlockingExt, RetryExt, Seed, Stop, Wait, retry,
    retry_blocking, retry_mut,
};
use tokio::time::Instant;

const SECOND: Duration = Duration::from_secs(1);

fn secs(durations: &[Duration]) -> Vec<u64> {
    durations.iter().map(Duration::as_secs).collect()
}

/// Fails the first `failures` times.
fn flaky(failures: u32) -> impl FnMut() -> Result<u32, &'static str> {
    let mut calls = 0;
    move || {
        calls += 1;
        if calls > failures {
            Ok(calls)
        } else {
            Err("busy")
        }
    }
}

#[tokio::test(start_paused = true)]
async fn async_runs_sleep_on_tokio() {
    let start = Instant::now();
    let mut operation = flaky(3);
    let value = retry(Policy::exponential(SECOND), || {
        std::future::ready(operation())
    })
    .await;
    assert_eq!(value, Ok(4));
    assert_eq!(start.elapsed(), 7 * SECOND);
}

#[tokio::test(start_paused = true)]
async fn the_error_tells_attempts_time_and_cause() {
    let operation = || async {
        tokio::time::sleep(SECOND).await;
        Err::<(), _>("down")
    };
    let error = operation
        .retry(Policy::fixed(2 * SECOND).attempts(3))
        .timed()
        .await
        .unwrap_err();
    assert_eq!(
        (error.attempts, error.reason, error.last),
        (3, GaveUp::Attempts, "down")
    );
    assert_eq!(error.elapsed, 7 * SECOND);

    let error = operation
        .retry(Policy::fixed(2 * SECOND).attempts(3))
        .await
        .unwrap_err();
    assert_eq!(error.elapsed, 6 * SECOND, "from the first failure on");
}

#[tokio::test]
async fn no_driver_reads_the_clock_for_a_success_at_once() {
    let unread = || -> std::time::Instant { panic!("the clock was read") };
    let policy = Policy::default();
    let run = retry(&policy, || async { Ok::<_, String>(1) });
    assert_eq!(run.clock(unread).await, Ok(1));
    let run = retry_mut(&policy, async || Ok::<_, String>(1));
    assert_eq!(run.clock(unread).run().await, Ok(1));
    let run = retry_blocking(&policy, || Ok::<_, String>(1));
    assert_eq!(run.clock(unread).call(), Ok(1));
}

#[tokio::test(start_paused = true)]
async fn runs_can_be_spawned() {
    let run = retry(Policy::fixed(SECOND), async || Ok::<_, String>(1)).into_future();
    assert_eq!(tokio::spawn(run).await.unwrap(), Ok(1));

    let lending = tokio::spawn(async {
        let mut sent = Vec::new();
        let operation = async move || {
            sent.push(1);
            tokio::task::yield_now().await;
            if sent.len() < 3 {
                Err("busy")
            } else {
                Ok(sent.len())
            }
        };
        retry_mut(Policy::fixed(SECOND), operation)
            .when(|_| true)
            .run()
            .await
    });
    assert_eq!(lending.await.unwrap(), Ok(3));
}

#[tokio::test(start_paused = true)]
async fn state_that_cannot_leave_its_thread_is_fine() {
    let calls = Rc::new(Cell::new(0));
    let seen = RefCell::new(Vec::new());
    let result = retry(Policy::fixed(SECOND), || {
        let calls = Rc::clone(&calls);
        async move {
            calls.set(calls.get() + 1);
            Err::<(), _>(calls.get())
        }
    })
    .on_sleep(|sleep| seen.borrow_mut().push(*sleep.error.unwrap()))
    .await;
    assert_eq!(result.unwrap_err().last, 4);
    assert_eq!(seen.into_inner(), [1, 2, 3]);
}

#[tokio::test(start_paused = true)]
async fn dropping_a_run_cancels_it() {
    let calls = Cell::new(0);
    let run = retry(Policy::fixed(10 * SECOND), || {
        calls.set(calls.get() + 1);
        async { Err::<(), _>("down") }
    });
    assert!(
        tokio::time::timeout(15 * SECOND, run.into_future())
            .await
            .is_err()
    );
    tokio::time::sleep(100 * SECOND).await;
    assert_eq!(calls.get(), 2);
}

#[tokio::test]
async fn manual_time_needs_no_timer() {
    let time = ManualTime::new();
    let error = retry(Policy::fixed(SECOND * 3_600).attempts(24), || async {
        Err::<(), _>("no")
    })
    .sleeper(time.clone())
    .clock(time.clone())
    .await
    .unwrap_err();
    assert_eq!(error.elapsed, 23 * 3_600 * SECOND);
    assert_eq!(time.elapsed(), error.elapsed);
}

#[test]
fn blocking_runs_sleep_on_the_thread() {
    let start = std::time::Instant::now();
    let ms = Duration::from_millis;
    assert_eq!(flaky(2).retry_blocking(Policy::fixed(ms(5))).call(), Ok(3));
    assert!(start.elapsed() >= ms(10));
}

/// Makes a policy's run fail throughout, and gives the waits.
fn waits(policy: &Policy) -> (u32, Vec<u64>) {
    let time = ManualTime::new();
    let error = retry_blocking(policy, || Err::<(), _>("no"))
        .sleeper(time.clone())
        .clock(time.clone())
        .call()
        .expect_err("the operation always fails");
    (error.attempts, secs(&time.sleeps()))
}

#[test]
fn well_known_policies() {
    let publish = Policy::exponential(SECOND)
        .attempts(5)
        .max_delay(16 * SECOND);
    assert_eq!(waits(&publish), (5, vec![1, 2, 4, 8]));

    let connect = Policy::fixed(10 * SECOND).attempts(90);
    assert_eq!(waits(&connect), (90, vec![10; 89]));

    let download = Policy::exponential(SECOND)
        .attempts(3)
        .max_delay(8 * SECOND);
    assert_eq!(waits(&download), (3, vec![1, 2]));
}

#[test]
fn a_slow_operation_uses_up_the_time_limit() {
    let time = ManualTime::new();
    let plan = Wait::fixed(SECOND).stop(Stop::attempts(100) | Stop::elapsed(10 * SECOND));
    let error = retry_blocking(&plan, || {
        time.advance(3 * SECOND);
        Err::<(), _>("slow")
    })
    .sleeper(time.clone())
    .clock(time.clone())
    .call()
    .unwrap_err();
    // Attempts end at 3, 7 and 11 s; the third starts at 8 s, within the limit.
    assert_eq!((error.attempts, error.reason), (3, GaveUp::Elapsed));
    assert_eq!(error.elapsed, 11 * SECOND);
}

#[test]
fn polling_until_ready_with_errors_and_values_mixed() {
    let mut answers = [Ok("pending"), Err("hiccup"), Ok("pending"), Ok("ready")].into_iter();
    let mut sleeps = Vec::new();
    let result = retry_blocking(Policy::fixed(Duration::ZERO), || answers.next().unwrap())
        .on_sleep(|sleep| sleeps.push((sleep.value.copied(), sleep.error.copied())))
        .when(|error| *error == "hiccup")
        .until(|state| *state == "ready")
        .call();
    assert_eq!(result, Ok("ready"));
    let pending = (Some("pending"), None);
    assert_eq!(sleeps, [pending, (None, Some("hiccup")), pending]);
}

#[test]
fn a_value_never_accepted_comes_back() {
    let error = retry_blocking(Policy::fixed(Duration::ZERO), || Ok::<_, String>(7))
        .until(|value| *value > 10)
        .call()
        .unwrap_err();
    assert_eq!((error.attempts, error.last), (4, Last::Value(7)));
}

#[test]
fn seeds_make_jitter_repeatable() {
    let sleeps = |seed: Option<u64>| {
        let time = ManualTime::new();
        let run = retry_blocking(Policy::default().jitter(Jitter::Full), || Err::<(), _>(()))
            .sleeper(time.clone());
        let run = match seed {
            Some(seed) => run.seed(Seed::new(seed)),
            None => run,
        };
        assert!(run.call().is_err());
        time.sleeps()
    };
    assert_eq!(sleeps(Some(1)), sleeps(Some(1)));
    assert_ne!(sleeps(Some(1)), sleeps(Some(2)));
    assert_ne!(sleeps(None), sleeps(None));
}
