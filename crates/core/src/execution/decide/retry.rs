//! Whether a failed attempt is tried again, and when.

use std::time::Duration;

use refire_retry::Seed;

use super::draft::Draft;
use crate::dead_letter::Reason;
use crate::definition::{RetryRules, StepId};
use crate::execution::state::StepState;
use crate::failure::{ErrorClass, Failure};
use crate::limit;
use crate::time::Timestamp;

/// What follows a failed attempt.
pub(super) enum Verdict {
    /// Try again then.
    Again { backoff_ms: u64, due_at: Timestamp },
    /// That was the last attempt.
    Final(Reason),
}

impl Draft<'_> {
    /// The rules for a step of this execution.
    pub(super) fn rules(&self, index: usize) -> RetryRules {
        let over = self
            .state
            .origin
            .as_ref()
            .and_then(|origin| origin.retry.as_ref());
        self.workflow.retry_for(index, over)
    }

    /// Retries made and allowed of a step, as dead letters and lists show them.
    pub(super) fn retries_of(&self, step: Option<&StepId>) -> (u32, u32) {
        let Some((id, (index, _))) =
            step.and_then(|id| Some((id, self.workflow.step(id.as_ref())?)))
        else {
            return (0, 0);
        };
        let state = self.state.step(id);
        let made = state.map_or(0, StepState::retries);
        let is_compensation = state.is_some_and(|state| state.undoes.is_some());
        (made, self.max_retries(index, is_compensation))
    }

    fn max_retries(&self, index: usize, is_compensation: bool) -> u32 {
        let rules = self.rules(index);
        let automatic = self
            .state
            .origin
            .as_ref()
            .is_none_or(|origin| origin.automatic_retries);
        if !(automatic || is_compensation) {
            return 0;
        }
        // A task says itself how often it is tried; the policy only gives the delays.
        let task = self.workflow.steps.get(index);
        match task.and_then(|step| step.kind.external_task()) {
            Some(task) => task.retries.saturating_sub(1),
            None if rules.enabled => rules.policy.max_retries,
            None => 0,
        }
    }

    /// Attempts that a step may have in all, losses aside.
    pub(super) fn attempts_max(&self, index: usize, is_compensation: bool) -> u32 {
        self.max_retries(index, is_compensation).saturating_add(1)
    }

    /// Judges a failure of the step's live attempt.
    pub(super) fn judge(
        &self,
        (index, id, step): (usize, &StepId, &StepState),
        failure: &Failure,
    ) -> Verdict {
        if !failure.retryable {
            return Verdict::Final(Reason::NonRetryable);
        }
        if self.history_is_full() {
            return Verdict::Final(Reason::HistoryLimit);
        }
        let made = step.failures;
        let is_compensation = step.undoes.is_some();
        let going_down = self.state.failing.is_some() && !is_compensation;
        if made >= self.max_retries(index, is_compensation) || going_down {
            return Verdict::Final(out_of_attempts(failure.class));
        }
        let rules = self.rules(index);
        let backoff = self.backoff(&rules, id, step, made + 1);
        let asked = Duration::from_millis(
            failure
                .retry_after_ms
                .unwrap_or(0)
                .min(limit::RETRY_AFTER_MS_MAX),
        );
        let wait = backoff.max(asked);
        if let Some(limit) = rules.policy.max_elapsed
            && !step.is_task()
            && self.elapsed(id).saturating_add(wait) > limit
        {
            return Verdict::Final(Reason::Exhausted);
        }
        self.after(wait)
    }

    /// The wait before retry `n` of a step, drawn from the execution's seed, step and attempt.
    pub(super) fn backoff(
        &self,
        rules: &RetryRules,
        id: &StepId,
        step: &StepState,
        n: u32,
    ) -> Duration {
        let seed = self.state.origin.as_ref().map_or(0, |origin| origin.seed);
        #[cfg(feature = "planted")]
        let seed = seed ^ crate::planted::roll();
        let draw = Seed::new(seed)
            .mix(id.as_ref().as_bytes())
            .mix_u64(u64::from(step.attempt))
            .draw();
        let previous = step.backoff_ms.map(Duration::from_millis);
        rules.policy.delay(n, previous, draw)
    }

    pub(super) fn after(&self, wait: Duration) -> Verdict {
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        // A policy without a cap can grow past every calendar; such a moment could be written but
        // not read again.
        let backoff_ms = wait_ms.min(limit::RETRY_WAIT_MS_MAX);
        let due_at = self.now.plus(Duration::from_millis(backoff_ms));
        Verdict::Again { backoff_ms, due_at }
    }

    /// Time since the step's first attempt began, without the time the execution was paused.
    /// Waiting for its turn does not use up a step's time.
    fn elapsed(&self, id: &StepId) -> Duration {
        let Some(step) = self.state.step(id) else {
            return Duration::ZERO;
        };
        let from = step.started_at.unwrap_or(step.scheduled_at);
        let paused_ms = self.state.paused_ms_until(self.now);
        let paused = Duration::from_millis(paused_ms.saturating_sub(step.paused_ms_before));
        self.now.since(from).saturating_sub(paused)
    }
}

/// Why there is no further attempt: a task's clocks are reasons of their own.
fn out_of_attempts(last: ErrorClass) -> Reason {
    match last {
        ErrorClass::TaskTimeout => Reason::Timeout,
        ErrorClass::LockExpired => Reason::LockExpired,
        ErrorClass::HeartbeatMissed => Reason::HeartbeatMissed,
        _ => Reason::Exhausted,
    }
}

/// The failure as the policy sees it: whether this kind is retried at all.
pub(super) fn classify(mut failure: Failure, rules: &RetryRules) -> Failure {
    let status = match failure.class {
        ErrorClass::HttpStatus => failure.code.as_deref().and_then(|code| code.parse().ok()),
        _ => None,
    };
    // A task of the program itself knows best; what it marks stays marked.
    let says_itself = failure.class.speaks_for_itself();
    if !says_itself && (failure.class != ErrorClass::Local || failure.retryable) {
        failure.retryable = rules.is_retryable(failure.class, status);
    }
    failure
}
