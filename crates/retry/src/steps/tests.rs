//! The steps, fed by hand: no operation runs and no time passes.

use std::cell::{Cell, RefCell};

use super::*;
use crate::error::Last;
use crate::operation::{Blocking, Until};
use crate::policy::Policy;
use crate::rules::{Adjust, After, Before, OnSleep, Timed, When};
use crate::stop::Stop;
use crate::wait::Wait;

type Outcome = Result<&'static str, u32>;
type Closure = fn() -> Outcome;

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A run that is told what each attempt gives and when it ends.
struct Fed<R> {
    steps: Steps<R>,
    start: Instant,
    now: Duration,
}

impl<R: Rules<&'static str, u32>> Fed<R> {
    fn new(plan: impl Into<Plan>, rules: R) -> Self {
        let steps = Steps::new(plan.into(), rules, Some(Seed::new(1)));
        Self {
            steps,
            start: Instant::now(),
            now: Duration::ZERO,
        }
    }

    fn attempt(&mut self, took: Duration, outcome: Outcome) -> Step<&'static str, u32> {
        self.feed(&mut Blocking((|| unreachable!()) as Closure), took, outcome)
    }

    fn feed<O: Operation<Value = &'static str, Error = u32>>(
        &mut self,
        operation: &mut O,
        took: Duration,
        outcome: Outcome,
    ) -> Step<&'static str, O::Last> {
        self.steps.begin(|| self.start + self.now);
        self.now += took;
        let step = self
            .steps
            .settle(operation, outcome, || self.start + self.now);
        if let Step::Sleep(delay) = &step {
            self.now += *delay;
        }
        step
    }
}

fn gave_up(attempts: u32, elapsed: Duration, reason: GaveUp) -> Step<&'static str, u32> {
    Step::GiveUp(RetryError {
        attempts,
        elapsed,
        reason,
        last: 503,
    })
}

#[test]
fn success_ends_it() {
    let mut run = Fed::new(Policy::default(), ());
    assert_eq!(run.attempt(ms(5), Ok("yes")), Step::Done("yes"));
}

#[test]
fn failures_sleep_by_the_policy_until_the_attempts_are_used_up() {
    let mut run = Fed::new(Policy::exponential(ms(100)).attempts(3), Timed);
    assert_eq!(run.attempt(ms(10), Err(503)), Step::Sleep(ms(100)));
    assert_eq!(run.attempt(ms(10), Err(503)), Step::Sleep(ms(200)));
    assert_eq!(
        run.attempt(ms(10), Err(503)),
        gave_up(3, ms(330), GaveUp::Attempts)
    );
}

#[test]
fn one_attempt_means_no_retry() {
    let mut run = Fed::new(Policy::fixed(ms(1)).attempts(1), ());
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(1, ms(0), GaveUp::Attempts)
    );
}

#[test]
fn the_time_limit_counts_attempts_and_the_wait_to_come() {
    let plan = Wait::fixed(ms(100)).stop(Stop::elapsed(ms(250)));
    let mut run = Fed::new(plan, ());
    assert_eq!(run.attempt(ms(20), Err(503)), Step::Sleep(ms(100)));
    // 140 ms in; another 100 ms still fits.
    assert_eq!(run.attempt(ms(20), Err(503)), Step::Sleep(ms(100)));
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(3, ms(240), GaveUp::Elapsed)
    );
}

#[test]
fn errors_that_are_not_retryable_end_it_at_once() {
    let mut run = Fed::new(Policy::fixed(ms(1)), ((), When(|code: &u32| *code != 503)));
    assert_eq!(run.attempt(ms(0), Err(500)), Step::Sleep(ms(1)));
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(2, ms(1), GaveUp::NotRetryable)
    );
}

#[test]
fn all_stacked_predicates_must_agree() {
    let rules = (
        When(|code: &u32| *code >= 500),
        When(|code: &u32| *code != 503),
    );
    let mut run = Fed::new(Policy::fixed(ms(1)), rules);
    assert_eq!(run.attempt(ms(0), Err(500)), Step::Sleep(ms(1)));
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(2, ms(1), GaveUp::NotRetryable)
    );
}

#[test]
fn values_can_be_turned_down() {
    let mut operation = Until {
        operation: Blocking((|| unreachable!()) as Closure),
        accept: |value: &&str| *value == "ready",
    };
    let mut run = Fed::new(Policy::fixed(ms(1)).attempts(2), ());
    assert_eq!(
        run.feed(&mut operation, ms(0), Ok("pending")),
        Step::Sleep(ms(1))
    );
    assert_eq!(
        run.feed(&mut operation, ms(0), Ok("ready")),
        Step::Done("ready")
    );

    let mut run = Fed::new(Policy::fixed(ms(1)).attempts(1), ());
    let Step::GiveUp(error) = run.feed(&mut operation, ms(0), Ok("pending")) else {
        panic!("one attempt was allowed");
    };
    assert_eq!(
        (error.reason, error.last),
        (GaveUp::Attempts, Last::Value("pending"))
    );
}

#[test]
fn an_error_can_adjust_the_delay_or_end_the_run() {
    let retry_after = Adjust(|code: &u32, delay: Duration| match code {
        429 => Some(delay.max(ms(900))),
        503 => None,
        _ => Some(delay),
    });
    let mut run = Fed::new(Policy::fixed(ms(100)).attempts(9), ((), retry_after));
    assert_eq!(run.attempt(ms(0), Err(500)), Step::Sleep(ms(100)));
    assert_eq!(run.attempt(ms(0), Err(429)), Step::Sleep(ms(900)));
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(3, ms(1_000), GaveUp::Adjusted)
    );
}

#[test]
fn an_adjusted_delay_is_still_held_to_the_time_limit() {
    let rules = Adjust(|_: &u32, _: Duration| Some(ms(600_000)));
    let mut run = Fed::new(Policy::fixed(ms(100)).max_elapsed(ms(1_000)), rules);
    assert_eq!(
        run.attempt(ms(0), Err(503)),
        gave_up(1, ms(0), GaveUp::Elapsed)
    );
}

#[test]
fn the_plan_goes_on_from_its_own_delay_not_the_adjusted_one() {
    let doubling = Wait::custom(|failed| {
        failed
            .previous
            .map_or_else(|| ms(100), |previous| previous * 2)
    });
    let rules = Adjust(|_: &u32, delay: Duration| Some(delay + ms(60_000)));
    let mut run = Fed::new(doubling.stop(Stop::never()), rules);
    assert_eq!(run.attempt(ms(0), Err(503)), Step::Sleep(ms(60_100)));
    assert_eq!(run.attempt(ms(0), Err(503)), Step::Sleep(ms(60_200)));
    assert_eq!(run.attempt(ms(0), Err(503)), Step::Sleep(ms(60_400)));
}

#[test]
fn the_last_failure_does_not_ask_for_an_adjustment() {
    let asked = Cell::new(0);
    let rules = Adjust(|_: &u32, delay: Duration| {
        asked.set(asked.get() + 1);
        Some(delay)
    });
    let mut run = Fed::new(Policy::fixed(ms(1)).attempts(2), rules);
    run.attempt(ms(0), Err(503));
    run.attempt(ms(0), Err(503));
    assert_eq!(asked.get(), 1);
}

#[test]
fn hooks_see_each_attempt_and_each_sleep() {
    let log = RefCell::new(Vec::new());
    let note = |line: String| log.borrow_mut().push(line);
    let before = Before(|a: &Attempt| note(format!("before {} at {:?}", a.number, a.elapsed)));
    let after = After(|a: &Attempt, result: &Outcome| {
        note(format!("after {} at {:?}: {result:?}", a.number, a.elapsed));
    });
    let sleep = OnSleep(|s: &Sleep<'_, &'static str, u32>| {
        note(format!(
            "sleep {:?} after {}: {:?}",
            s.delay, s.attempt, s.error
        ));
    });
    let mut run = Fed::new(Policy::fixed(ms(100)), (((), before), (after, sleep)));
    run.attempt(ms(10), Err(503));
    run.attempt(ms(10), Ok("yes"));
    assert_eq!(
        *log.borrow(),
        [
            "before 1 at 0ns",
            "after 1 at 10ms: Err(503)",
            "sleep 100ms after 1: Some(503)",
            "before 2 at 110ms",
            "after 2 at 120ms: Ok(\"yes\")",
        ]
    );
}

/// How often a run reads the clock whose attempts give `outcomes`, and how often that was before the
/// last of them ended.
fn readings<R>(plan: impl Into<Plan>, rules: R, outcomes: &[Outcome]) -> (u32, u32)
where
    R: Rules<&'static str, u32>,
{
    let reads = Cell::new(0);
    let now = || {
        reads.set(reads.get() + 1);
        Instant::now()
    };
    let mut operation = Blocking((|| unreachable!()) as Closure);
    let mut steps = Steps::new(plan.into(), rules, Some(Seed::new(1)));
    let mut before = 0;
    for outcome in outcomes {
        steps.begin(now);
        before = reads.get();
        let step = steps.settle(&mut operation, *outcome, now);
        assert_eq!(matches!(step, Step::Done(_)), outcome.is_ok());
    }
    (reads.get(), before)
}

#[test]
fn success_at_once_reads_no_clock() {
    let yes: &[Outcome] = &[Ok("yes")];
    let plain = Policy::default();
    assert_eq!(readings(&plain, (), yes), (0, 0));
    let rules = (
        When(|_: &u32| true),
        (
            Adjust(|_: &u32, delay| Some(delay)),
            OnSleep(|_: &Sleep<'_, &'static str, u32>| ()),
        ),
    );
    assert_eq!(readings(&plain, ((), rules), yes), (0, 0));
    let composed = Wait::fixed(ms(1)).then_after(3, Wait::linear(ms(5)).at_most(ms(9)))
        + Wait::random(ms(0)..=ms(50));
    let plan = composed.stop(Stop::attempts(3) & Stop::attempts(5));
    assert_eq!(readings(plan, (), yes), (0, 0));
}

#[test]
fn the_clock_is_read_at_the_start_where_somebody_may_look_at_it() {
    let yes: &[Outcome] = &[Ok("yes")];
    let plain = Policy::default();
    assert_eq!(readings(&plain, Timed, yes), (2, 1), "asked for");
    let limited = plain.clone().max_elapsed(ms(10));
    assert_eq!(readings(limited, (), yes), (1, 1), "a time limit");
    let nested = (Stop::attempts(3) & Stop::elapsed(ms(9))) | Stop::attempts(9);
    let plan = Wait::fixed(ms(1)).stop(nested);
    assert_eq!(readings(plan, (), yes), (1, 1), "somewhere inside");
    let plan = Wait::fixed(ms(1)).stop(Stop::custom(|_, _| false));
    assert_eq!(readings(plan, (), yes), (1, 1), "a condition");
    let wait = Wait::fixed(ms(1)) + Wait::custom(|_| ms(1)).at_least(ms(1));
    let plan = wait.then_after(2, Wait::fixed(ms(1))).stop(Stop::never());
    assert_eq!(readings(plan, (), yes), (1, 1), "a wait");
    let before = Before(|_: &Attempt| ());
    assert_eq!(readings(&plain, ((), before), yes), (2, 1), "a hook");
    let after = After(|_: &Attempt, _: &Outcome| ());
    assert_eq!(readings(&plain, ((), after), yes), (2, 1), "another");
}

#[test]
fn each_failure_reads_the_clock_once() {
    let outcomes: &[Outcome] = &[Err(503), Err(503), Ok("yes")];
    let plain = Policy::default();
    assert_eq!(readings(&plain, (), outcomes), (2, 2));
    let limited = plain.max_elapsed(ms(100_000));
    assert_eq!(readings(limited, (), outcomes), (3, 3));
}

#[test]
fn a_run_that_is_not_timed_counts_from_the_first_failure() {
    let mut run = Fed::new(Policy::fixed(ms(100)).attempts(2), ());
    assert_eq!(run.attempt(ms(10), Err(503)), Step::Sleep(ms(100)));
    assert_eq!(
        run.attempt(ms(10), Err(503)),
        gave_up(2, ms(110), GaveUp::Attempts)
    );
    let mut run = Fed::new(Policy::fixed(ms(100)).attempts(1), ());
    assert_eq!(
        run.attempt(ms(10), Err(503)),
        gave_up(1, ms(0), GaveUp::Attempts)
    );
}

#[test]
fn a_time_limit_counts_from_the_start_without_being_asked() {
    let plan = Policy::fixed(ms(100)).attempts(9).max_elapsed(ms(250));
    let mut run = Fed::new(plan, ());
    assert_eq!(run.attempt(ms(149), Err(503)), Step::Sleep(ms(100)));
    assert_eq!(
        run.attempt(ms(10), Err(503)),
        gave_up(2, ms(259), GaveUp::Elapsed)
    );
    let stop = Stop::custom(|failed, _| failed.elapsed >= ms(20));
    let mut run = Fed::new(Wait::fixed(ms(1)).stop(stop), ());
    assert_eq!(
        run.attempt(ms(20), Err(503)),
        gave_up(1, ms(20), GaveUp::Custom)
    );
}

#[test]
fn no_dice_are_thrown_for_a_success() {
    let mut operation = Blocking((|| unreachable!()) as Closure);
    let mut steps = Steps::new(Policy::default().into(), (), None);
    steps.begin::<&str, u32>(Instant::now);
    let step = steps.settle(&mut operation, Ok("yes"), Instant::now);
    assert_eq!((step, steps.seed), (Step::Done("yes"), None));
}

#[test]
fn the_same_seed_gives_the_same_run() {
    let run = |seed| {
        let mut operation = Blocking((|| unreachable!()) as Closure);
        let mut steps = Steps::new(Policy::default().into(), (), Some(Seed::new(seed)));
        let start = Instant::now();
        (1..=5)
            .map(|_| {
                steps.begin::<&str, u32>(|| start);
                steps.settle(&mut operation, Err(503), || start)
            })
            .collect::<Vec<_>>()
    };
    assert_eq!(run(7), run(7));
    assert_ne!(run(7), run(8));
}

#[test]
fn a_clock_that_runs_backwards_does_no_harm() {
    let mut operation = Blocking((|| unreachable!()) as Closure);
    let mut steps = Steps::new(Policy::fixed(ms(1)).attempts(1).into(), (), None);
    let start = Instant::now() + ms(60_000);
    steps.begin::<&str, u32>(|| start);
    let step = steps.settle(&mut operation, Err(503), || start - ms(30_000));
    assert_eq!(step, gave_up(1, ms(0), GaveUp::Attempts));
}
