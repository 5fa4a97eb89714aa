//! Tries every command in every state that small workflows can reach.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use crate::callback::Noted;
use crate::definition::{ParseOptions, StepId, Workflow};
use crate::execution::event::{EventKind, Lineage};
use crate::execution::state::StepState;
use crate::execution::{
    Began, Callback, Cancel, Command, Execution, Lost, Outcome, Refusal, Report, RetryNow, Said,
    Start, Status, decide, start,
};
use crate::failure::{ErrorClass, Failure};
use crate::id::{DlqId, ExecutionId};
use crate::json::Json;
use crate::limit;
use crate::time::Timestamp;

/// A row of the page: a status, or one of the two situations that share a status with others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Place {
    Pending,
    Retrying,
    /// Only tasks of workers are left.
    Waiting,
    /// A step has failed for good, others still run.
    Failing,
    /// Completed steps are being undone.
    Undoing,
    Paused,
    Completed,
    Failed,
    Dlq,
    Cancelled,
}

impl Place {
    pub(super) const ALL: [Self; 10] = [
        Self::Pending,
        Self::Retrying,
        Self::Waiting,
        Self::Failing,
        Self::Undoing,
        Self::Paused,
        Self::Completed,
        Self::Failed,
        Self::Dlq,
        Self::Cancelled,
    ];

    fn of(state: &Execution) -> Self {
        match state.status {
            Status::Paused => Self::Paused,
            Status::Completed => Self::Completed,
            Status::Failed => Self::Failed,
            Status::Dlq => Self::Dlq,
            Status::Cancelled => Self::Cancelled,
            _ if state.compensating.is_some() => Self::Undoing,
            _ if state.failing.is_some() => Self::Failing,
            Status::Retrying => Self::Retrying,
            Status::Waiting => Self::Waiting,
            Status::Pending | Status::Running => Self::Pending,
        }
    }
}

/// A column of the page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Asked {
    Success,
    Failure,
    FinalFailure,
    Lost,
    Retired,
    CalledBackAtIt,
    CalledBackDone,
    CalledBackFailed,
    WindowOver,
    Pause,
    Resume,
    RetryNow,
    Cancel,
    CancelAndUndo,
}

impl Asked {
    pub(super) const ALL: [Self; 14] = [
        Self::Success,
        Self::Failure,
        Self::FinalFailure,
        Self::Lost,
        Self::Retired,
        Self::CalledBackAtIt,
        Self::CalledBackDone,
        Self::CalledBackFailed,
        Self::WindowOver,
        Self::Pause,
        Self::Resume,
        Self::RetryNow,
        Self::Cancel,
        Self::CancelAndUndo,
    ];

    /// The commands it stands for in this state: about every live step, or about one that is
    /// not live where there is none, as a late result would be.
    fn commands(self, state: &Execution, now: Timestamp) -> Vec<Command> {
        let of_attempt = |make: &dyn Fn(StepId, u32) -> Command| {
            let all = || state.steps.iter();
            let live: Vec<Command> = all()
                .filter(|(_, step)| step.is_live())
                .map(|(id, step)| make(id.clone(), step.attempt))
                .collect();
            if live.is_empty() {
                let late = all().take(1);
                late.map(|(id, step)| make(id.clone(), step.attempt))
                    .collect()
            } else {
                live
            }
        };
        let report = |outcome: Outcome| {
            of_attempt(&|step, attempt| {
                let outcome = outcome.clone();
                let is_task = state.step(&step).is_some_and(StepState::is_task);
                let worker = None;
                let began = match is_task {
                    true => Began::Fetched { worker, at: now },
                    false => Began::Called(now),
                };
                Command::Report(Report {
                    step,
                    attempt,
                    began,
                    duration_ms: 0,
                    outcome,
                    mapped: None,
                })
            })
        };
        let callback = |said: Said| {
            of_attempt(&|step, attempt| {
                let said = said.clone();
                Command::Callback(Callback {
                    step,
                    attempt,
                    began: Some(now),
                    said,
                    mapped: None,
                    noted: Noted::default(),
                })
            })
        };
        let failure = |class| Outcome::Failed(Failure::new(class, "failed"));
        match self {
            Self::Success => report(Outcome::Succeeded(Json::null())),
            Self::Failure => report(failure(ErrorClass::ReadTimeout)),
            Self::FinalFailure => report(failure(ErrorClass::Tls)),
            Self::Lost => of_attempt(&|step, attempt| {
                Command::Lost(Lost {
                    step,
                    attempt,
                    node: None,
                    begun: true,
                })
            }),
            Self::Retired => of_attempt(&|step, attempt| Command::Retired { step, attempt }),
            Self::CalledBackAtIt => callback(Said::Processing),
            Self::CalledBackDone => callback(Said::Success(Json::null())),
            Self::CalledBackFailed => {
                let failure = Failure::new(ErrorClass::CallbackFailed, "failed");
                callback(Said::Failed(failure))
            }
            Self::WindowOver => of_attempt(&|step, attempt| Command::WindowOver { step, attempt }),
            Self::Pause => vec![Command::Pause { by: None }],
            Self::Resume => vec![Command::Resume { by: None }],
            Self::RetryNow => vec![Command::RetryNow(RetryNow::default())],
            Self::Cancel => vec![Command::Cancel(Cancel::by(None))],
            Self::CancelAndUndo => vec![Command::Cancel(Cancel {
                compensate: true,
                ..Cancel::by(None)
            })],
        }
    }
}

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Became {
    /// The execution is there now.
    Place(Place),
    /// It was so already.
    Unchanged,
    /// It is over.
    RefusedEnded,
    /// The attempt is not the live one.
    RefusedNotLive,
    /// The target has said so already.
    RefusedRepeated,
    /// There is nothing to resume.
    RefusedNotPaused,
    /// No retry waits.
    RefusedNotRetrying,
    /// It must be resumed first.
    RefusedPaused,
    /// Undoing is not interrupted.
    RefusedUndoing,
    /// The log is not one of this build.
    RefusedUnreadable,
}

impl From<Refusal> for Became {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Ended(_) => Self::RefusedEnded,
            Refusal::NotLive { .. } => Self::RefusedNotLive,
            Refusal::Repeated { .. } => Self::RefusedRepeated,
            Refusal::NotPaused => Self::RefusedNotPaused,
            Refusal::NotRetrying => Self::RefusedNotRetrying,
            Refusal::Paused => Self::RefusedPaused,
            Refusal::Compensating => Self::RefusedUndoing,
            Refusal::UnknownRules(_) | Refusal::MissingPayload(_) | Refusal::TooHeavy => {
                Self::RefusedUnreadable
            }
        }
    }
}

/// Everything that was found out.
#[derive(Debug, Default)]
pub(super) struct Found {
    /// Where an execution is after its first commit.
    pub(super) starts: BTreeSet<Place>,
    pub(super) results: BTreeMap<(Place, Asked), BTreeSet<Became>>,
    /// The types of event that a command may write.
    pub(super) events: BTreeMap<Asked, BTreeSet<&'static str>>,
}

/// A small workflow, and how many losses of a step are told apart in it. `T` stands for a task
/// with one retry, `F` for one without, `W` for a worker's, `C` for a call whose target calls back, `A`
/// and `B` for whole steps.
struct Sample {
    definition: &'static str,
    losses: u32,
}

/// Workflows that together reach every place: a step alone, in a line, beside others, with
/// something to undo, with conditions, and without dead letters. Only where few steps are live
/// at once is every loss followed: elsewhere that would only make the search longer.
const SAMPLES: [Sample; 13] = [
    Sample {
        definition: "[A]",
        losses: limit::LOSSES_MAX,
    },
    Sample {
        definition: "[A, B]",
        losses: 0,
    },
    Sample {
        definition: "[A], deadLetter: exhausted",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, compensate: u, T}, B, {id: u, T}]",
        losses: limit::LOSSES_MAX,
    },
    Sample {
        definition: "[{id: a, compensate: u, T}, {id: b, compensate: v, T}, {id: c, T}, \
                     {id: u, T}, {id: v, T}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, compensate: u, F}, {id: b, needs: [a], F}, {id: c, needs: [a], F}, \
                     {id: d, needs: [a], F}, {id: u, F}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, needs: [], T}, {id: b, needs: [], T}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, W}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, needs: [], compensate: u, W}, {id: b, needs: [], F}, {id: u, W}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, C}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, needs: [], compensate: u, C}, {id: b, needs: [], F}, {id: u, C}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, when: 'false', T}]",
        losses: 0,
    },
    Sample {
        definition: "[{id: a, when: '${input.absent}', T}]",
        losses: 0,
    },
];

/// Waits between two commands: none, so that timers stay ahead, and longer than any timer.
const WAITS: [Duration; 2] = [Duration::ZERO, Duration::from_secs(48 * 3_600)];

pub(super) fn explore() -> Found {
    let mut found = Found::default();
    for sample in SAMPLES {
        let source = format!("{{id: w, steps: {}}}", sample.definition)
            .replace(
                'C',
                "type: http, config: {url: 'http://x'}, callback: {}, \
                 retry: {maxRetries: 1, jitter: none}",
            )
            .replace('A', "{id: a, T}")
            .replace('B', "{id: b, T}")
            .replace(
                'T',
                "type: local, config: {task: t}, retry: {maxRetries: 1, jitter: none}",
            )
            .replace('F', "type: local, config: {task: t}, retry: false")
            .replace(
                'W',
                "type: external_task, config: {taskType: t, retries: 2}",
            );
        let workflow = Workflow::parse(&source, &ParseOptions::default())
            .expect("these definitions never change without the test that reads them");
        for wait in WAITS {
            for letter in [None, Some(DlqId::from_bytes([2; 16]))] {
                let start = start(&workflow, first(letter), Timestamp::default());
                follow((&workflow, &sample), start.state, wait, &mut found);
            }
        }
    }
    found
}

fn first(letter: Option<DlqId>) -> Start {
    let id = ExecutionId::from_bytes([1; 16]);
    Start {
        lineage: Lineage {
            letter,
            ..Lineage::first(id)
        },
        automatic_retries: letter.is_none(),
        ..Start::plain(id, 0, Json::empty_object())
    }
}

/// Follows every command from every state until no new state comes up.
fn follow(
    (workflow, sample): (&Workflow, &Sample),
    begun: Execution,
    wait: Duration,
    found: &mut Found,
) {
    found.starts.insert(Place::of(&begun));
    let mut seen = BTreeSet::from([signature(&begun, sample)]);
    let mut open = vec![begun];
    while let Some(state) = open.pop() {
        let now = state.updated_at.plus(wait);
        for asked in Asked::ALL {
            for command in asked.commands(&state, now) {
                let (became, next) = attempt(workflow, &state, command, now, (asked, found));
                found
                    .results
                    .entry((Place::of(&state), asked))
                    .or_default()
                    .insert(became);
                open.extend(next.filter(|next| seen.insert(signature(next, sample))));
            }
        }
    }
}

fn attempt(
    workflow: &Workflow,
    state: &Execution,
    command: Command,
    now: Timestamp,
    (asked, found): (Asked, &mut Found),
) -> (Became, Option<Execution>) {
    match decide(workflow, state, command, now) {
        Err(refusal) => (refusal.into(), None),
        Ok(decision) if decision.events.is_empty() => (Became::Unchanged, None),
        Ok(decision) => {
            let written = found.events.entry(asked).or_default();
            for event in &decision.events {
                let name = event.kind.name();
                written.extend(EventKind::NAMES.iter().find(|known| **known == name));
            }
            (
                Became::Place(Place::of(&decision.state)),
                Some(decision.state),
            )
        }
    }
}

/// What tells one state from another here: not its times, numbers and sizes.
fn signature(state: &Execution, sample: &Sample) -> String {
    let steps: Vec<_> = state
        .steps
        .iter()
        .map(|(id, step)| {
            (
                id,
                step.status,
                step.failures,
                step.losses.min(sample.losses),
                (step.awaited.as_ref()).map(|awaited| (awaited.status, awaited.is_answered)),
            )
        })
        .collect();
    let failing = state
        .failing
        .as_ref()
        .map(|failing| (&failing.step, failing.reason));
    let undoing = state
        .compensating
        .as_ref()
        .map(|undoing| (undoing.cause, undoing.failed));
    format!("{:?} {steps:?} {failing:?} {undoing:?}", state.status)
}
