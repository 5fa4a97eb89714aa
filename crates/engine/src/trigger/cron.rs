//! The loop that fires triggers.
//!
//! It sleeps until the first trigger is due, reads those that are, lets core plan one step of each and
//! commits the steps. The commit compares the trigger's version and its state's revision, so it does
//! not matter who looks, or how many do: a slot is fired once. A trigger of which nothing can be made,
//! whatever is damaged, rests for a while: it must not stand in the way of the others.

use std::error::Error;
use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::{Cancel, Command};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Fire, Plan, State, Trigger, plan};
use refire_store::{DueTrigger, NewNotice, Part, PartOutcome, ReadError, TriggerRow};

use super::backoff::Backoffs;
use super::report::{Report, Said};
use super::{Triggers, rows};
use crate::catalog::CatalogError;
use crate::clock::until;
use crate::commit::{Admitted, Cause, CommandError, CommitFailure};
use crate::context::Context;
use crate::intake::{Drafted, IntakeError};
use crate::notify;
use crate::turn::Turn;

/// Triggers that are read and fired together. They go with the admissions: in the lane of chores, which under
/// load gets one turn every 100 ms, a hundred thousand of them would fall behind faster than they catch up.
const CROWD_MAX: u32 = 500;
/// The first of a look are fewer, so that not all of them wait for the commit of a great many.
const CROWD_FIRST: u32 = 32;
/// How much larger each crowd may be than the one before it.
const CROWD_GROWS: u32 = 4;
/// The longest sleep: the net below the bell.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes change triggers too, and their news may be lost.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait after trouble with the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);
/// How long a trigger waits whose workflow cannot be had.
const WITHOUT_WORKFLOW_WAIT: Duration = Duration::from_secs(60);

/// What the loop works with.
struct Cron {
    context: Arc<Context>,
    backoffs: Backoffs,
    said: Said,
}

/// What became of a look at all that was due.
enum Looked {
    /// All of it is done; the next is due then.
    Until(Option<Timestamp>),
    /// Something could not be done now.
    Trouble,
}

/// Fires triggers until the node stops.
pub(super) async fn cron_loop(triggers: Arc<Triggers>) {
    let context = &triggers.context;
    let net = match context.store.is_shared() {
        true => SHARED_LOOK_EVERY,
        false => LOOK_EVERY,
    };
    let mut cron = Cron {
        context: Arc::clone(context),
        backoffs: Backoffs::default(),
        said: Said::default(),
    };
    let mut turn = Turn::default();
    loop {
        let behind = turn.of(context).await;
        let looked = cron.look(behind).await;
        cron.said.sum_up();
        let looked = looked.unwrap_or_else(|error| {
            tracing::error!(error = &error as &dyn Error, "looking for due triggers");
            Looked::Trouble
        });
        let wait = match looked {
            Looked::Until(None) => net,
            Looked::Until(Some(next)) => until(context.clock.as_ref(), next.plus(behind)).min(net),
            Looked::Trouble => TROUBLE_WAIT,
        };
        tokio::select! {
            biased;
            () = context.stopping.cancelled() => return,
            () = triggers.bell.notified() => {}
            () = context.clock.doze(wait) => {}
        }
    }
}

impl Cron {
    /// Fires all that has been due for so long.
    async fn look(&mut self, behind: Duration) -> Result<Looked, ReadError> {
        let context = Arc::clone(&self.context);
        let Context {
            store,
            clock,
            stopping,
            membership,
            ..
        } = context.as_ref();
        let mut crowd = CROWD_FIRST;
        loop {
            if stopping.is_cancelled() || !membership.is_member() {
                return Ok(Looked::Trouble);
            }
            let due = store.due_triggers(clock.now().minus(behind), crowd).await?;
            crowd = CROWD_MAX.min(crowd * CROWD_GROWS);
            if due.is_empty() {
                return Ok(Looked::Until(store.next_trigger_due().await?));
            }
            if !self.step_all(due).await {
                return Ok(Looked::Trouble);
            }
        }
    }

    /// One step of each; false if one could not be done now.
    async fn step_all(&mut self, due: Vec<DueTrigger>) -> bool {
        let mut starts = Vec::new();
        let mut writes = Vec::new();
        let mut replacements = Vec::new();
        let mut has_waiting = false;
        for due in due {
            match self.step(due).await {
                Ok(Step::Start(start)) => starts.push(*start),
                Ok(Step::Write(fire, report)) => writes.push((fire, report)),
                Ok(Step::Replace(replacement)) => replacements.push(*replacement),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn Error, "a trigger waits");
                    has_waiting = true;
                }
            }
        }
        let (started, written, replaced) = tokio::join!(
            self.start_all(starts),
            self.write_all(writes),
            self.replace_all(replacements)
        );
        let mut put_off = Vec::new();
        for done in [started, written, replaced] {
            has_waiting |= done.has_waiting;
            for report in &done.reports {
                self.said.say(report);
                let (workflow, missed) = report.missed();
                let now = self.context.now();
                self.context.tally.note(workflow, now, &missed);
            }
            done.in_order.iter().for_each(|id| self.backoffs.end(*id));
            put_off.extend(done.put_off);
        }
        for (look, _) in &mut put_off {
            let later = self.backoffs.next(look.trigger);
            look.state.due_at = Some(self.context.now().plus(later));
        }
        !has_waiting & !self.write_all(put_off).await.has_waiting
    }

    /// Starts executions.
    async fn start_all(&self, starts: Vec<Start>) -> Done {
        let mut done = Done::default();
        if starts.is_empty() {
            return done;
        }
        let (drafts, rest): (Vec<_>, Vec<_>) = starts
            .into_iter()
            .map(|start| (start.draft, (start.report, start.look_again)))
            .unzip();
        match self.context.commit_drafts(drafts).await {
            Ok(answers) => {
                for (answer, (report, look_again)) in answers.iter().zip(rest) {
                    done.take(answer, report, look_again);
                }
            }
            Err(failure) => {
                tracing::warn!(%failure, "triggers wait");
                done.has_waiting = true;
            }
        }
        done
    }

    /// Writes down what starts nothing.
    async fn write_all(&self, writes: Vec<Write>) -> Done {
        let written = writes
            .into_iter()
            .map(|(fire, report)| async { (self.context.write(Part::Fire(fire)).await, report) });
        let mut done = Done::default();
        for (outcome, report) in join_all(written).await {
            done.has_waiting |= outcome.is_none();
            let is_written = outcome == Some(PartOutcome::Done);
            done.reports.extend(report.filter(|_| is_written));
        }
        done
    }

    /// Cancels what is to be replaced, all at once. Each of these triggers is due until its slot is fired,
    /// and the next look finds nothing in its way. Where nothing can be cancelled, nothing is.
    async fn replace_all(&self, replacements: Vec<Replacement>) -> Done {
        let cancelled = replacements.into_iter().map(|replacement| async {
            let cancelled = self.cancel(&replacement).await;
            (replacement, cancelled)
        });
        let (mut starts, mut put_off, mut has_waiting) = (Vec::new(), Vec::new(), false);
        for (replacement, cancelled) in join_all(cancelled).await {
            match cancelled {
                Ok(Cancelled::LookAgain) => {}
                Ok(Cancelled::Nothing) => starts.push(replacement.start),
                Err(failure) if is_lasting(&failure) => {
                    let trigger = replacement.start.look_again.trigger;
                    tracing::error!(%trigger, %failure, "nothing can be cancelled; a trigger waits");
                    put_off.push((replacement.start.look_again, None));
                }
                Err(failure) => {
                    tracing::warn!(%failure, "a trigger waits");
                    has_waiting = true;
                }
            }
        }
        let mut done = self.start_all(starts).await;
        done.has_waiting |= has_waiting;
        done.put_off.extend(put_off);
        done
    }

    /// Plans a step.
    async fn step(&mut self, due: DueTrigger) -> Result<Step, IntakeError> {
        let now = self.context.now();
        let DueTrigger { row, state } = due;
        let trigger = match rows::trigger(&row) {
            Ok(trigger) => trigger,
            Err(problems) => {
                let trigger = row.id;
                tracing::error!(%trigger, %problems, "a stored trigger cannot be read; it starts nothing");
                return Ok(self.rest(&row, &state));
            }
        };
        let plan = plan(&trigger, &state, now);
        if plan.is_empty(&state) {
            let trigger = row.id;
            tracing::error!(%trigger, "a trigger is due, but there is nothing to do");
            return Ok(self.rest(&row, &state));
        }
        match plan.fire {
            Some(slot) => match self.start(&trigger, (&row, &state), plan, slot).await {
                // It would be due for ever, and keep the others from being on time.
                Err(IntakeError::Catalog(error)) if !is_passing(&error) => {
                    let trigger = row.id;
                    tracing::error!(%trigger, %error, "a trigger's workflow cannot be had; it waits");
                    let later = now.plus(WITHOUT_WORKFLOW_WAIT);
                    Ok(Step::Write(rows::look_again(&row, &state, later), None))
                }
                other => other,
            },
            None => {
                self.backoffs.end(row.id);
                let report = Report::of(&trigger, &plan);
                let mut fire = rows::fire(&trigger, state.rev, &plan);
                fire.notices = self.notices(&trigger, &plan);
                Ok(Step::Write(fire, report))
            }
        }
    }

    /// What people are to be told of a look. Whoever collects looks soon; if the look is refused, for nothing.
    fn notices(&self, trigger: &Trigger, plan: &Plan) -> Vec<NewNotice> {
        let notices = notify::of_plan(&self.context, trigger, &plan.entries);
        if !notices.is_empty() {
            self.context.notice_raised();
        }
        notices
    }

    /// Nothing can be made of it now.
    fn rest(&mut self, row: &TriggerRow, state: &State) -> Step {
        let later = self.context.now().plus(self.backoffs.next(row.id));
        Step::Write(rows::look_again(row, state, later), None)
    }

    async fn start(
        &self,
        trigger: &Trigger,
        (row, state): (&TriggerRow, &State),
        plan: Plan,
        slot: Fire,
    ) -> Result<Step, IntakeError> {
        let rev = state.rev;
        let submission =
            rows::submission(trigger, Some(slot.nominal), Some(plan.state.cycles), None);
        let draft = self.context.draft_always(submission).await?;
        let plan = plan.started_as(draft.id);
        let mut fire = rows::fire(trigger, rev, &plan);
        fire.notices = self.notices(trigger, &plan);
        let cause = Cause::Fire(fire);
        let start = Start {
            draft: draft.caused_by(cause),
            report: Report::of(trigger, &plan),
            look_again: rows::look_again(row, state, self.context.now()),
        };
        Ok(match plan.cancel {
            Some(previous) => Step::Replace(Box::new(Replacement { previous, start })),
            None => Step::Start(Box::new(start)),
        })
    }

    /// Cancels the execution of the slot before, if the trigger still is what it was planned by. If this
    /// node dies before the next is fired, another one fires it: it is due until then.
    async fn cancel(&self, replacement: &Replacement) -> Result<Cancelled, CommitFailure> {
        let refire_store::Fire {
            trigger,
            version,
            rev,
            ..
        } = *replacement.start.look_again;
        let id = replacement.previous;
        let store = &self.context.store;
        let row = store.trigger(trigger).await;
        let row = row.map_err(|error| CommitFailure::read(&error))?;
        let state = store.trigger_state(trigger).await;
        let state = state.map_err(|error| CommitFailure::read(&error))?;
        let is_same = row.is_some_and(|row| row.enabled && row.version == version)
            && state.is_some_and(|state| state.rev == rev);
        if !is_same {
            return Ok(Cancelled::LookAgain);
        }
        // Whatever the trigger was not told: what has ended is not waited for over and over.
        if let Ok(states) = store.states(&[id]).await
            && states
                .iter()
                .flatten()
                .all(|state| state.status.is_terminal())
        {
            return Ok(Cancelled::Nothing);
        }
        let command = Command::Cancel(Cancel::by(Some(trigger.to_string())));
        let asked = self.context.command(id, command, None, None).await?;
        match asked.answer().await {
            Ok(_) => Ok(Cancelled::LookAgain),
            Err(CommandError::Failed(CommitFailure::Damaged(what))) => {
                tracing::error!(%trigger, execution = %id, what, "an execution cannot be cancelled");
                Ok(Cancelled::Nothing)
            }
            Err(CommandError::Failed(failure)) => Err(failure),
            // It ended before, or is gone: it is in nobody's way.
            Err(CommandError::NotFound | CommandError::Refused(_) | CommandError::TaskMoved) => {
                Ok(Cancelled::Nothing)
            }
        }
    }
}

/// What a plan comes to.
enum Step {
    /// An execution.
    Start(Box<Start>),
    /// Only what is written down.
    Write(Box<refire_store::Fire>, Option<Report>),
    /// An execution in place of another one.
    Replace(Box<Replacement>),
}

/// An execution in place of another one. Its workflow can be had, so that it will start.
struct Replacement {
    /// The one to cancel.
    previous: ExecutionId,
    start: Start,
}

/// An execution, and what is worth saying when it is durable.
struct Start {
    draft: Drafted,
    report: Option<Report>,
    /// What is written instead if it can never be.
    look_again: Box<refire_store::Fire>,
}

/// What is written down, and what is worth saying then.
type Write = (Box<refire_store::Fire>, Option<Report>);

/// What became of several steps.
#[derive(Default)]
struct Done {
    /// Whether one of them could not be done now.
    has_waiting: bool,
    /// Of those that were written.
    reports: Vec<Report>,
    /// Triggers whose step was written.
    in_order: Vec<TriggerId>,
    /// Steps of triggers that rest, in place of those that cannot be written.
    put_off: Vec<Write>,
}

impl Done {
    /// A start was answered. One whose trigger somebody else has moved is read again, and so is one whose
    /// workflow was deleted: its triggers are disabled with it.
    fn take(
        &mut self,
        answer: &Result<Admitted, CommitFailure>,
        report: Option<Report>,
        look_again: Box<refire_store::Fire>,
    ) {
        let trigger = look_again.trigger;
        match answer {
            Ok(Admitted::New(_)) => {
                self.reports.extend(report);
                self.in_order.push(trigger);
            }
            Ok(_) | Err(CommitFailure::Gone) => {}
            Err(failure) if is_lasting(failure) => {
                tracing::error!(%trigger, %failure, "a slot cannot be started; its trigger waits");
                self.put_off.push((look_again, None));
            }
            Err(failure) => {
                tracing::warn!(%trigger, %failure, "a slot waits");
                self.has_waiting = true;
            }
        }
    }
}

/// Whether it will be the same the next time, until somebody mends what is damaged.
fn is_lasting(failure: &CommitFailure) -> bool {
    matches!(
        failure,
        CommitFailure::Damaged(_) | CommitFailure::Unstorable(_) | CommitFailure::Internal(_)
    )
}

/// Whether a definition may be had the next time it is asked for: the store is away. What is damaged or
/// missing stays so until somebody mends it.
fn is_passing(error: &CatalogError) -> bool {
    matches!(error, CatalogError::Read(ReadError::Unavailable(_)))
}

/// What became of the execution to cancel.
enum Cancelled {
    /// It has ended now, or the trigger was moved meanwhile: the next look finds another state.
    LookAgain,
    /// There was nothing to cancel: the state stays as it was, and the slot is fired by it.
    Nothing,
}
