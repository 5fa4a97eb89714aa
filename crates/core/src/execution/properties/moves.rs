//! Random small workflows, and random things done to their executions.

use std::time::Duration;

use proptest::prelude::*;

use crate::definition::Workflow;
use crate::execution::decide::tests::fixture::{
    Run, callback, cancel, cancel_and_undo, failure, json, lost, pause, resume, retry_now, step_id,
    stray, workflow,
};
use crate::execution::decide::tests::work::Row;
use crate::execution::{Command, Outcome, Said, StepState};
use crate::failure::ErrorClass;

const NAMES: [&str; 5] = ["a", "b", "c", "d", "e"];
const CLOCKS: [ErrorClass; 3] = [
    ErrorClass::TaskTimeout,
    ErrorClass::LockExpired,
    ErrorClass::HeartbeatMissed,
];
const FAILURES: [&str; 5] = ["503", "503", "429", "400", "read_timeout"];

/// A workflow as text, so that a failing case can be read.
#[derive(Debug, Clone)]
pub(super) struct Flow {
    head: String,
    steps: Vec<String>,
    pub(super) input: String,
    pub(super) begins: Begins,
}

/// How the execution comes about.
#[derive(Debug, Clone, Copy)]
pub(super) enum Begins {
    AtOnce,
    Later,
    /// It retries a dead letter.
    FromALetter,
}

impl Flow {
    pub(super) fn workflow(&self) -> Workflow {
        let steps: Vec<&str> = self.steps.iter().map(String::as_str).collect();
        workflow(&self.head, &steps)
    }

    pub(super) fn has_jitter(&self) -> bool {
        !self.head.contains("jitter: none")
    }

    pub(super) fn has_time_limit(&self) -> bool {
        self.head.contains("maxElapsed")
    }
}

/// One step: who it needs (one bit per earlier step), its condition, whether it can be undone, has
/// retries of its own, and what kind it and its undoing are.
fn any_step() -> impl Strategy<Value = (u8, &'static str, bool, (bool, [&'static str; 2]))> {
    let when = prop_oneof![
        6 => Just(""),
        1 => Just(", when: \"true\""),
        1 => Just(", when: \"false\""),
        1 => Just(", when: \"${input.go}\""),
    ];
    (
        any::<u8>(),
        when,
        prop::bool::weighted(0.4),
        (prop::bool::weighted(0.2), [any_kind(), any_kind()]),
    )
}

/// A call, a task for workers, or a call whose target calls back.
fn any_kind() -> impl Strategy<Value = &'static str> {
    prop_oneof![4 => Just(""), 3 => Just("~"), 3 => Just("^")]
}

pub(super) fn any_flow() -> impl Strategy<Value = Flow> {
    let retry = (
        1u32..4,
        prop::sample::select(vec![
            "none",
            "proportional",
            "full",
            "equal",
            "decorrelated",
        ]),
        prop::sample::select(vec![
            "",
            ", maxElapsed: 9s",
            ", strategy: fixed",
            ", maxDelay: 3s",
        ]),
    );
    let top = prop::sample::select(vec!["", "deadLetter: exhausted", "output: \"${input.go}\""]);
    let input = prop::sample::select(vec![r#"{"go":true}"#, r#"{"go":false}"#, "{}"]);
    let begins = prop_oneof![
        4 => Just(Begins::AtOnce),
        1 => Just(Begins::Later),
        1 => Just(Begins::FromALetter),
    ];
    (
        prop::collection::vec(any_step(), 1..=NAMES.len()),
        retry,
        top,
        input,
        begins,
    )
        .prop_map(|(drafts, (max, jitter, more), top, input, begins)| {
            let mut steps = Vec::new();
            for (at, (needs, when, undo, (own_retry, kinds))) in drafts.iter().enumerate() {
                let needs: Vec<&str> = (0..at)
                    .filter(|bit| needs & (1 << bit) != 0)
                    .map(|bit| NAMES[bit])
                    .collect();
                let id = NAMES[at];
                let [kind, undo_kind] = kinds;
                let mut step = format!("{id}{kind} | needs: [{}]{when}", needs.join(", "));
                if *undo {
                    step += &format!(", compensate: undo_{id}");
                    steps.push(format!("undo_{id}{undo_kind}"));
                }
                if *own_retry {
                    step += ", retry: {maxRetries: 1}";
                }
                steps.push(step);
            }
            let head = format!("{top}\nretry: {{maxRetries: {max}, jitter: {jitter}{more}}}");
            Flow {
                head,
                steps,
                input: input.to_owned(),
                begins,
            }
        })
}

/// Something done to an execution. A number picks a step.
#[derive(Debug, Clone)]
pub(super) enum Move {
    Begin(usize),
    Ok(usize),
    Fail(usize, usize),
    Lose(usize),
    LoseUnbegun(usize),
    /// A clock of a worker's task runs out.
    Expire(usize, usize),
    /// The clock looks after the tasks of failing executions.
    Retire,
    /// A target calls back about a step's live attempt, or the one before it.
    CallBack(usize, u32, usize),
    /// A call comes back whose target was faster.
    Answer(usize, Option<usize>),
    /// The clock looks after the windows that are over.
    Window,
    Pause,
    Resume,
    RetryNow,
    Cancel {
        undo: bool,
    },
    /// A report that nobody who follows the rules would send.
    Stray(usize, u32, bool),
    StrayLoss(usize, u32, bool),
    Wait(u64),
    /// The clock is set back.
    Back(u64),
}

pub(super) fn any_moves() -> impl Strategy<Value = Vec<Move>> {
    let step = || 0usize..10;
    let one = prop_oneof![
        4 => step().prop_map(Move::Begin),
        6 => step().prop_map(Move::Ok),
        6 => (step(), 0..FAILURES.len()).prop_map(|(step, what)| Move::Fail(step, what)),
        2 => step().prop_map(Move::Lose),
        1 => step().prop_map(Move::LoseUnbegun),
        2 => (step(), 0..CLOCKS.len()).prop_map(|(step, what)| Move::Expire(step, what)),
        2 => Just(Move::Retire),
        6 => (step(), 0u32..4, 0usize..3).prop_map(|(s, n, said)| Move::CallBack(s, n, said)),
        3 => (step(), prop::option::of(0..FAILURES.len())).prop_map(|(s, f)| Move::Answer(s, f)),
        1 => Just(Move::Window),
        2 => Just(Move::Pause),
        3 => Just(Move::Resume),
        2 => Just(Move::RetryNow),
        1 => any::<bool>().prop_map(|undo| Move::Cancel { undo }),
        1 => (step(), 0u32..4, any::<bool>()).prop_map(|(s, n, ok)| Move::Stray(s, n, ok)),
        1 => (step(), 0u32..4, any::<bool>()).prop_map(|(s, n, b)| Move::StrayLoss(s, n, b)),
        2 => (0u64..10_000).prop_map(Move::Wait),
        1 => (0u64..10_000).prop_map(Move::Back),
    ];
    prop::collection::vec(one, 0..40)
}

fn outcome(ok: bool) -> Outcome {
    if ok {
        Outcome::Succeeded(json("{}"))
    } else {
        Outcome::Failed(failure("503"))
    }
}

/// The name that a number picks: any step of the workflow.
fn name(run: &Run, pick: usize) -> String {
    run.workflow.steps[pick % run.workflow.steps.len()]
        .id
        .to_string()
}

/// The step with work that a number picks.
fn busy(run: &Run, pick: usize) -> Option<String> {
    one_of(run, pick, Row::is_open)
}

fn one_of(run: &Run, pick: usize, is_meant: impl Fn(&Row) -> bool) -> Option<String> {
    let rows: Vec<_> = run
        .work
        .rows()
        .filter(|row| is_meant(row))
        .map(|row| row.work.step.to_string())
        .collect();
    (!rows.is_empty()).then(|| rows[pick % rows.len()].clone())
}

/// Does it all; refusals are fine, the run's own checks are the test.
pub(super) fn play(run: &mut Run, moves: &[Move]) {
    for step in moves {
        play_one(run, step);
    }
}

fn play_one(run: &mut Run, step: &Move) {
    match *step {
        Move::Begin(pick) => {
            if let Some(step) = busy(run, pick) {
                run.begin(&step);
            }
        }
        Move::Ok(pick) => {
            if let Some(step) = busy(run, pick) {
                run.ok(&step, r#"{"x":[1,2]}"#);
            }
        }
        Move::Fail(pick, what) => {
            if let Some(step) = busy(run, pick) {
                run.fail(&step, FAILURES[what]);
            }
        }
        Move::Lose(pick) => {
            if let Some(step) = one_of(run, pick, |row| row.task.is_none()) {
                run.lost(&step);
            }
        }
        Move::LoseUnbegun(pick) => {
            if let Some(step) = one_of(run, pick, |row| row.task.is_none()) {
                let attempt = run.work.get(&step).map_or(0, |row| row.work.attempt);
                run.send(lost(&step, attempt, false));
            }
        }
        Move::Expire(pick, clock) => {
            // A task that nobody has is only out of time.
            let is_meant = |row: &Row| row.task.is_some() && (clock == 0 || row.begun.is_some());
            if let Some(step) = one_of(run, pick, is_meant) {
                run.expire(&step, CLOCKS[clock]);
            }
        }
        Move::Retire => retire(run),
        Move::CallBack(pick, before, said) => call_back(run, &name(run, pick), before, said),
        Move::Answer(pick, failed) => {
            let waits = |step: &StepState| step.awaited.as_ref().is_some_and(|it| !it.is_answered);
            if let Some(step) = waiting(run, pick, waits) {
                let outcome = failed.map_or_else(
                    || outcome(true),
                    |what| Outcome::Failed(failure(FAILURES[what])),
                );
                run.answer(&step, outcome);
            }
        }
        Move::Window => windows(run),
        Move::Pause => drop(run.attempt(pause())),
        Move::Resume => drop(run.attempt(resume())),
        Move::RetryNow => drop(run.attempt(retry_now())),
        Move::Cancel { undo } => {
            drop(run.attempt(if undo { cancel_and_undo() } else { cancel() }));
        }
        Move::Stray(pick, attempt, ok) => {
            drop(run.attempt(stray(&name(run, pick), attempt, outcome(ok))));
        }
        Move::StrayLoss(pick, attempt, begun) => {
            drop(run.attempt(lost(&name(run, pick), attempt, begun)));
        }
        Move::Wait(ms) => {
            run.wait(ms);
        }
        Move::Back(ms) => run.now = run.now.minus(Duration::from_millis(ms)),
    }
}

/// A target says something about the attempt that is live, or about one before it.
fn call_back(run: &mut Run, step: &str, before: u32, said: usize) {
    let Some(state) = run.state.step(&step_id(step)) else {
        return;
    };
    // Mostly the live one.
    let attempt = state.attempt.saturating_sub(before / 3);
    let began = run.work.get(step).and_then(|row| row.begun);
    let said = match said {
        0 => Said::Processing,
        1 => Said::Success(json(r#"{"x":[3]}"#)),
        _ => Said::Failed(failure("callback_failed")),
    };
    drop(run.attempt(callback(step, attempt, began, said)));
}

/// The step that a number picks of those that wait so.
fn waiting(run: &Run, pick: usize, is_meant: impl Fn(&StepState) -> bool) -> Option<String> {
    let steps = run.state.steps.iter();
    let steps: Vec<_> = steps.filter(|(_, step)| is_meant(step)).collect();
    (!steps.is_empty()).then(|| steps[pick % steps.len()].0.to_string())
}

/// Ends every wait for a callback.
fn windows(run: &mut Run) {
    while let Some(step) = waiting(run, 0, |step| step.awaited.is_some()) {
        run.window_over(&step);
    }
}

/// Ends every task that is retired.
fn retire(run: &mut Run) {
    while let Some(step) = one_of(run, 0, Row::is_retired) {
        run.retired(&step);
    }
}

/// Resumes and lets every piece of work succeed until nothing is left.
pub(super) fn finish(run: &mut Run) {
    if run.state.paused_at.is_some() {
        run.resume();
    }
    // Each round ends one attempt of one step, normal or undoing, so it cannot take longer.
    for _ in 0..2 * run.workflow.steps.len() {
        retire(run);
        windows(run);
        let Some(step) = busy(run, 0) else { return };
        run.ok(&step, "{}");
        windows(run);
    }
}

/// One of each, about a step that every workflow has.
pub(super) fn every_command() -> Vec<Command> {
    let mut all = vec![pause(), resume(), retry_now(), cancel(), cancel_and_undo()];
    for attempt in [0, 1, 2, u32::MAX] {
        all.push(stray("a", attempt, outcome(true)));
        all.push(stray("a", attempt, outcome(false)));
        all.push(lost("a", attempt, true));
        all.push(callback("a", attempt, None, Said::Processing));
        all.push(callback("a", attempt, None, Said::Success(json("1"))));
        let step = step_id("a");
        all.push(Command::WindowOver { step, attempt });
    }
    all
}
