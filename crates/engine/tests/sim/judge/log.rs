//! The promises about a log: one end and nothing after it, times that never go back, attempts
//! without gaps, and no more of them than the policy allows.

use refire_core::callback::CallbackStatus;
use refire_core::dead_letter::Reason;
use refire_core::execution::event::SkipReason;
use refire_core::execution::{Event, EventKind, StepState, StepStatus};

use super::Known;
use crate::mark::{Mark, Marks};
use crate::worker::NAMELESS;
use crate::world::Violation;

impl Known {
    /// Whether the event may come next.
    pub(super) fn follows(&mut self, event: &Event) -> Result<(), Violation> {
        if event.sequence != self.log.len() as u64 + 1 {
            let what = format!("event {} after {}", event.sequence, self.log.len());
            return Err(Violation::new("the log has no gaps", what));
        }
        if self.log.iter().any(Event::is_terminal) {
            let what = format!("{} after the end", event.kind.name());
            return Err(Violation::new("one end and nothing after it", what));
        }
        if self.log.last().is_some_and(|last| last.at > event.at) {
            return Err(Violation::new("times never go back", event.kind.name()));
        }
        if let EventKind::Unknown(_) = event.kind {
            return Err(Violation::new("every event can be read", event.kind.name()));
        }
        self.is_its_own(event)?;
        self.windows(event)?;
        if let EventKind::TimerFired(timer) = &event.kind
            && timer.early != (timer.fired_at < timer.due_at)
        {
            let what = format!("{} is before {}", timer.fired_at, timer.due_at);
            return Err(Violation::new(
                "no timer fires before its time, unless somebody says so",
                what,
            ));
        }
        self.attempts(event)
    }

    fn attempts(&mut self, event: &Event) -> Result<(), Violation> {
        let (Some(step), Some(attempt)) = (&event.step, event.attempt) else {
            return Ok(());
        };
        let current = self.state.step(step).map_or(0, |state| state.attempt);
        let expected = match event.kind {
            EventKind::StepScheduled(_)
            | EventKind::RetryScheduled(_)
            | EventKind::CompensationStarted(_) => current + 1,
            _ => current,
        };
        if let EventKind::StepLost(_) = event.kind {
            *self.lost.entry(step.to_string()).or_default() += 1;
        }
        if attempt != expected {
            let what = format!(
                "{} {step}#{attempt} where #{expected} is due",
                event.kind.name()
            );
            return Err(Violation::new("attempts have no gaps", what));
        }
        Ok(())
    }

    /// No step has more attempts than its policy and the losses explain.
    pub(super) fn within_policy(&self) -> Result<(), Violation> {
        let Some(event) = self.log.last() else {
            return Ok(());
        };
        let (Some(step), Some(origin)) = (&event.step, &self.state.origin) else {
            return Ok(());
        };
        let (Some((index, _)), Some(state)) =
            (self.workflow.step(step.as_ref()), self.state.step(step))
        else {
            return Ok(());
        };
        let rules = self.workflow.retry_for(index, origin.retry.as_ref());
        let retries = match origin.automatic_retries || state.undoes.is_some() {
            true => match self.task(step) {
                // A task says itself how often it is tried.
                Some((_, task)) => task.retries - 1,
                None => rules.policy.max_retries,
            },
            false => 0,
        };
        let lost = self.lost.get(step.as_str()).copied().unwrap_or(0);
        if state.attempt > retries + 1 + lost {
            let what = format!(
                "{step}#{} with {retries} retries and {lost} losses",
                state.attempt
            );
            return Err(Violation::new(
                "no more attempts than the policy allows",
                what,
            ));
        }
        Ok(())
    }

    /// What is worth noting about an event that is about to be folded.
    pub(super) fn marks(&self, event: &Event, marks: &mut Marks) {
        let state = &self.state;
        let live = || state.steps.values().filter(|step| step.is_live());
        let waits = |step: &StepState| step.status == StepStatus::Retrying;
        match &event.kind {
            EventKind::StepLost(_) => marks.reach(Mark::AttemptLost),
            EventKind::DeadLettered(letter) if letter.reason == Reason::NodeLost => {
                marks.reach(Mark::NodeLost);
            }
            EventKind::CallbackReceived(received) if received.early => {
                marks.reach(Mark::CalledBackEarly);
            }
            EventKind::CallAnswered(_) => marks.reach(Mark::AnsweredAfterWord),
            EventKind::StepCompleted(_) if self.window_over(event).is_some() => {
                marks.reach(Mark::WindowOver);
            }
            EventKind::StepFailed(failed) => {
                let step = event.step.as_ref().and_then(|step| state.step(step));
                let awaited = step.and_then(|step| step.awaited.as_ref());
                if awaited.is_some_and(|it| it.status == CallbackStatus::Processing) {
                    marks.reach(Mark::RefusedAfterWord);
                }
                if failed.error.retry_after_ms.is_some() && failed.last.is_none() {
                    marks.reach(Mark::RetryAfter);
                }
                let others = live().count() > 1;
                if failed.last.is_some() && others {
                    marks.reach(Mark::FailedBesideRunning);
                }
            }
            EventKind::StepSkipped(skipped) if skipped.because == SkipReason::Failing => {
                marks.reach(Mark::RetryDropped);
            }
            EventKind::StepStarted(_) if state.paused_at.is_some() => {
                marks.reach(Mark::ResultWhilePaused);
            }
            EventKind::ExecutionPaused(_) if live().any(|step| waits(step)) => {
                marks.reach(Mark::PausedInRetryWait);
            }
            EventKind::ExecutionResumed(_) => {
                let due = |step: &StepState| {
                    let since = state.paused_at;
                    step.due_at
                        .is_some_and(|due| due <= event.at && Some(due) > since)
                };
                if live().any(|step| due(step)) {
                    marks.reach(Mark::DueWhilePaused);
                }
            }
            EventKind::CompensationCompleted(_) => marks.reach(Mark::Compensated),
            EventKind::CompensationFailed(_) => marks.reach(Mark::CompensationFailed),
            EventKind::ExecutionCancelled(_) if state.compensating.is_some() => {
                marks.reach(Mark::CancelledWithCompensation);
            }
            EventKind::ExecutionCompleted(_) | EventKind::ExecutionFailed(_) => {
                let retried = state
                    .origin
                    .as_ref()
                    .is_some_and(|o| o.lineage.letter.is_some());
                let well = matches!(event.kind, EventKind::ExecutionCompleted(_));
                match (retried, well) {
                    (true, true) => marks.reach(Mark::LetterResolved),
                    (true, false) => marks.reach(Mark::LetterPendingAgain),
                    (false, _) => {}
                }
            }
            _ => {}
        }
    }

    /// A result is recorded as that of the attempt which it is of.
    fn is_its_own(&self, event: &Event) -> Result<(), Violation> {
        let output = match &event.kind {
            EventKind::StepCompleted(done) if done.carried_from.is_none() => done.output.as_ref(),
            EventKind::CompensationCompleted(done) => done.output.as_ref(),
            _ => None,
        };
        let (Some(output), Some(step), Some(attempt)) = (output, &event.step, event.attempt) else {
            return Ok(());
        };
        let output_of = format!("\"attempt\":{attempt}}}");
        // Nobody called back, and the call was not answered.
        if output.is_null() && self.window_over(event).is_some() {
            return Ok(());
        }
        // Whoever does not say by which lock it has a task speaks for any attempt.
        if output.as_str().contains(&output_of) || output.as_str().contains(NAMELESS) {
            return Ok(());
        }
        let what = format!(
            "{step}#{attempt} ended with {output}",
            output = output.as_str()
        );
        Err(Violation::new("a result is of its own attempt", what))
    }
}
