//! What stands in the way of a retry: the same rule refuses a retry and leaves it out of what is offered.

use std::fmt;

use super::{Reason, RetryFrom};
use crate::execution::{Execution, StepStatus};
use crate::limit;

/// Why a retry cannot work.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Obstacle {
    /// There is no workflow to run.
    WorkflowDeleted,
    /// Completed steps were undone, so there is nothing to go on from.
    Compensated,
    /// No step failed.
    NoFailedStep,
    /// What would be taken over fills a history.
    HistoryFull,
    /// It would go as before, as far as anybody can tell.
    SameAgain,
}

impl Obstacle {
    /// Whether it is certain. A retry with an edited input, or with targets that answer less than
    /// before, may succeed where only the same is expected.
    #[must_use]
    pub fn is_certain(self) -> bool {
        self != Self::SameAgain
    }
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::WorkflowDeleted => {
                "the workflow was deleted; save it again, then retry: the letter stays until then"
            }
            Self::Compensated => "completed steps were compensated; retry from the start",
            Self::NoFailedStep => "there is no failed step to go on from; retry from the start",
            Self::HistoryFull => {
                "the outputs of the completed steps fill a history by themselves (10 MiB), so no step \
                 could follow; save a definition with smaller outputs and retry from the start"
            }
            Self::SameAgain => {
                "the same definition would fill its history again (10 MiB); save one with smaller \
                 outputs first, or edit the input"
            }
        })
    }
}

/// What a retry is judged by.
#[derive(Debug, Clone, Copy)]
pub struct Case<'a> {
    /// Why the letter is there.
    pub reason: Reason,
    /// Whether one of the steps failed.
    pub has_failed_step: bool,
    /// The failed execution.
    pub failed: &'a Execution,
    /// The workflow's newest version; absent = it was deleted.
    pub newest: Option<u32>,
}

impl Case<'_> {
    /// What stands in the way of a retry from there.
    #[must_use]
    pub fn obstacle(&self, from: RetryFrom) -> Option<Obstacle> {
        let Some(newest) = self.newest else {
            return Some(Obstacle::WorkflowDeleted);
        };
        let is_full = kept_bytes(self.failed) >= limit::HISTORY_BYTES_MAX;
        match from {
            RetryFrom::Start => {
                let origin = self.failed.origin.as_ref();
                let is_same = origin.is_some_and(|origin| origin.workflow_version == newest);
                let is_limit = self.reason == Reason::HistoryLimit;
                (is_limit && is_full && is_same).then_some(Obstacle::SameAgain)
            }
            RetryFrom::FailedStep if self.failed.compensating.is_some() => {
                Some(Obstacle::Compensated)
            }
            RetryFrom::FailedStep if !self.has_failed_step => Some(Obstacle::NoFailedStep),
            RetryFrom::FailedStep => is_full.then_some(Obstacle::HistoryFull),
        }
    }
}

/// Bytes of an execution's input and of its completed steps' outputs.
fn kept_bytes(state: &Execution) -> u64 {
    let input = state.origin.as_ref().map_or(0, |origin| origin.input.len);
    let completed = state.steps.values();
    let completed = completed.filter(|step| step.status == StepStatus::Completed);
    let outputs = completed.filter_map(|step| Some(step.output?.len));
    outputs.fold(input, u64::saturating_add)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::definition::{ParseOptions, Workflow};
    use crate::execution::event::CompensationCause;
    use crate::execution::state::Compensating;
    use crate::execution::{Began, Command, Outcome, Report, Start, decide, start};
    use crate::id::ExecutionId;
    use crate::json::Json;
    use crate::time::Timestamp;

    const NOW: Timestamp = Timestamp::from_millis(1_800_000_000_000);

    /// An execution whose first step gave so many bytes.
    fn failed(bytes: usize) -> Execution {
        let text = "id: w\nsteps:\n  - {id: a, type: local, config: {task: t}}\n\
                    \x20 - {id: b, type: local, config: {task: t}}\n";
        let workflow = Workflow::parse(text, &ParseOptions::default()).unwrap();
        let id = ExecutionId::from_bytes([7; 16]);
        let begin = Start {
            workflow_version: 3,
            ..Start::plain(id, 1, Json::empty_object())
        };
        let begun = start(&workflow, begin, NOW);
        let report = Command::Report(Report {
            step: "a".parse().unwrap(),
            attempt: 1,
            began: Began::Called(NOW),
            duration_ms: 1,
            outcome: Outcome::Succeeded(Json::parse(format!("\"{}\"", "x".repeat(bytes))).unwrap()),
            mapped: None,
        });
        decide(&workflow, &begun.state, report, NOW).unwrap().state
    }

    #[test]
    fn only_what_can_work_has_nothing_in_its_way() {
        use Obstacle::{Compensated, HistoryFull, NoFailedStep, SameAgain, WorkflowDeleted};
        let (small, large) = (failed(10), failed(10 * 1024 * 1024));
        let mut undone = failed(10);
        undone.compensating = Some(Compensating {
            cause: CompensationCause::Failure,
            by: None,
            failed: false,
        });
        let limit = Reason::HistoryLimit;
        // reason, has a failed step, execution, newest version → from the start, from the step
        for (reason, has_failed_step, state, newest, expected) in [
            (Reason::Exhausted, true, &small, Some(3), (None, None)),
            (
                Reason::Exhausted,
                true,
                &small,
                None,
                (Some(WorkflowDeleted), Some(WorkflowDeleted)),
            ),
            (
                Reason::Exhausted,
                true,
                &undone,
                Some(3),
                (None, Some(Compensated)),
            ),
            (
                Reason::NonRetryable,
                false,
                &small,
                Some(3),
                (None, Some(NoFailedStep)),
            ),
            (
                limit,
                true,
                &large,
                Some(3),
                (Some(SameAgain), Some(HistoryFull)),
            ),
            (limit, true, &large, Some(4), (None, Some(HistoryFull))),
            (limit, true, &small, Some(3), (None, None)),
        ] {
            let case = Case {
                reason,
                has_failed_step,
                failed: state,
                newest,
            };
            let found = RetryFrom::ALL.map(|from| case.obstacle(from));
            assert_eq!((found[0], found[1]), expected, "{reason:?} {newest:?}");
        }
    }
}
