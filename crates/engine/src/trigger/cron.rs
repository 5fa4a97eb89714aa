//! The loop that fires triggers.
//!
//! It sleeps until the first trigger is due, reads those that are, lets core plan one step of each and
//! commits the steps. The commit compares the trigger's version and its state's revision, so it does
//! not matter who looks, or how many do: a slot is fired once. The oldest node looks first. Each
//! younger one waits a second longer, so that a node which dies costs a second and not a lease, and
//! others read in vain only then. One that has been silent for half a lease is not waited for.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::Command;
use refire_core::id::{ExecutionId, NodeId, TriggerId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Fire, Plan, Trigger, plan};
use refire_store::{DueTrigger, NodeRow, Part, PartOutcome, ReadError};
use tokio::sync::oneshot;

use super::report::{Report, Said};
use super::rest::Rests;
use super::rows;
use crate::catalog::CatalogError;
use crate::clock::until;
use crate::commit::{Admitted, Cause, CommandError, CommitFailure, Request};
use crate::dispatch::Dispatcher;
use crate::intake::{Drafted, Intake, IntakeError};

/// Triggers that are read and fired together.
const CROWD_MAX: u32 = 500;
/// The first of a look are fewer, so that not all of them wait for the commit of a great many.
const CROWD_FIRST: u32 = 32;
/// How much larger each crowd may be than the one before it.
const CROWD_GROWS: u32 = 4;
/// How much longer each younger node waits.
const TURN: Duration = Duration::from_secs(1);
/// Nodes that wait longer than others; the rest wait as long as the last of them.
const TURNS_MAX: u32 = 10;
/// How old what is known of the other nodes may be.
const NODES_KNOWN_FOR: Duration = Duration::from_secs(1);
/// The longest sleep: the net below the bell.
const LOOK_EVERY: Duration = Duration::from_secs(10);
/// The same where other nodes change triggers too, and their news may be lost.
const SHARED_LOOK_EVERY: Duration = Duration::from_secs(1);
/// How long to wait after trouble with the store.
const TROUBLE_WAIT: Duration = Duration::from_secs(1);
/// How long a trigger waits whose workflow cannot be had.
const WITHOUT_WORKFLOW_WAIT: Duration = Duration::from_secs(60);

/// What the loop works with.
pub(crate) struct Cron {
    dispatcher: Arc<Dispatcher>,
    intake: Intake,
    rests: Rests,
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
pub(crate) async fn cron_loop(mut cron: Cron) {
    let dispatcher = &cron.dispatcher.clone();
    let mut turn = Turn::default();
    loop {
        let behind = turn.of(dispatcher).await;
        let looked = cron.look(behind).await.unwrap_or_else(|error| {
            tracing::error!(
                error = &error as &dyn std::error::Error,
                "looking for due triggers"
            );
            Looked::Trouble
        });
        let net = if dispatcher.store.is_shared() {
            SHARED_LOOK_EVERY
        } else {
            LOOK_EVERY
        };
        let wait = match looked {
            Looked::Until(None) => net,
            Looked::Until(Some(next)) => {
                until(dispatcher.clock.as_ref(), next.plus(behind)).min(net)
            }
            Looked::Trouble => TROUBLE_WAIT,
        };
        tokio::select! {
            biased;
            () = dispatcher.stopping.cancelled() => return,
            () = dispatcher.trigger_bell.notified() => {}
            () = dispatcher.clock.doze(wait) => {}
        }
    }
}

/// Whose turn it is.
#[derive(Default)]
struct Turn {
    known: Option<(Timestamp, Duration)>,
}

impl Turn {
    /// How long this node waits for older ones.
    async fn of(&mut self, dispatcher: &Dispatcher) -> Duration {
        if !dispatcher.store.is_shared() {
            return Duration::ZERO;
        }
        let now = dispatcher.clock.now();
        match self.known {
            Some((at, behind)) if now.since(at) < NODES_KNOWN_FOR => behind,
            _ => {
                let nodes = dispatcher.store.nodes().await.unwrap_or_default();
                let behind = TURN * older(&nodes, dispatcher.membership.id(), now);
                self.known = Some((now, behind));
                behind
            }
        }
    }
}

/// How many nodes look before this one. Who should have renewed its lease some time ago is not waited
/// for: most likely it is dead, and its row stays until the lease is over.
fn older(nodes: &[NodeRow], me: NodeId, now: Timestamp) -> u32 {
    let is_heard_of = |node: &&NodeRow| {
        let lease = node.expires_at.since(node.renewed_at);
        now.since(node.renewed_at) <= lease / 2
    };
    let older = nodes.iter().take_while(|node| node.id != me);
    let count = older.filter(is_heard_of).count();
    u32::try_from(count).unwrap_or(TURNS_MAX).min(TURNS_MAX)
}

impl Cron {
    pub(crate) fn new(dispatcher: Arc<Dispatcher>, intake: Intake) -> Self {
        Self {
            dispatcher,
            intake,
            rests: Rests::default(),
            said: Said::default(),
        }
    }

    /// Fires all that has been due for so long.
    async fn look(&mut self, behind: Duration) -> Result<Looked, ReadError> {
        let dispatcher = self.dispatcher.clone();
        let Dispatcher {
            store,
            clock,
            stopping,
            membership,
            ..
        } = dispatcher.as_ref();
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
        let mut is_fine = true;
        for due in due {
            match self.step(due).await {
                Ok(Step::Start(start)) => starts.push(*start),
                Ok(Step::Write(fire, report)) => writes.push((fire, report)),
                Ok(Step::Replace(replacement)) => replacements.push(*replacement),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a trigger waits");
                    is_fine = false;
                }
            }
        }
        let (started, written, replaced) = tokio::join!(
            self.start_all(starts),
            self.write_all(writes),
            self.replace_all(replacements)
        );
        for done in [started, written, replaced] {
            is_fine &= done.is_fine;
            done.reports.iter().for_each(|report| self.said.say(report));
        }
        is_fine
    }

    /// Starts executions.
    async fn start_all(&self, starts: Vec<Start>) -> Done {
        let mut done = Done::nothing();
        if starts.is_empty() {
            return done;
        }
        let (drafts, reports): (Vec<_>, Vec<_>) = starts
            .into_iter()
            .map(|start| (start.draft, start.report))
            .unzip();
        match self.intake.commit_all(drafts).await {
            Ok(answers) => {
                for (answer, report) in answers.iter().zip(reports) {
                    done.is_fine &= is_settled(answer);
                    let is_written = matches!(answer, Ok(Admitted::New(_)));
                    done.reports.extend(report.filter(|_| is_written));
                }
            }
            Err(failure) => {
                tracing::warn!(%failure, "triggers wait");
                done.is_fine = false;
            }
        }
        done
    }

    /// Writes down what starts nothing.
    async fn write_all(&self, writes: Vec<Write>) -> Done {
        let written = writes
            .into_iter()
            .map(|(fire, report)| async { (self.dispatcher.part(Part::Fire(fire)).await, report) });
        let mut done = Done::nothing();
        for (outcome, report) in join_all(written).await {
            done.is_fine &= outcome.is_some();
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
        let (mut starts, mut is_fine) = (Vec::new(), true);
        for (replacement, cancelled) in join_all(cancelled).await {
            match cancelled {
                Ok(Cancelled::LookAgain) => {}
                Ok(Cancelled::Nothing) => starts.push(replacement.start),
                Err(failure) => {
                    tracing::warn!(%failure, "a trigger waits");
                    is_fine = false;
                }
            }
        }
        let mut done = self.start_all(starts).await;
        done.is_fine &= is_fine;
        done
    }

    /// Plans a step.
    async fn step(&mut self, due: DueTrigger) -> Result<Step, IntakeError> {
        let now = self.dispatcher.clock.now();
        let DueTrigger { row, state } = due;
        let trigger = match rows::trigger(&row) {
            Ok(trigger) => trigger,
            Err(problems) => {
                let trigger = row.id;
                tracing::error!(%trigger, %problems, "a stored trigger cannot be read; it starts nothing");
                let later = now.plus(self.rests.next(trigger));
                return Ok(Step::Write(rows::look_again(&row, &state, later), None));
            }
        };
        let before = rows::state(&state);
        let plan = plan(&trigger, &before, now);
        if plan.is_empty(&before) {
            let trigger = row.id;
            tracing::error!(%trigger, "a trigger is due, but there is nothing to do");
            let later = now.plus(self.rests.next(trigger));
            return Ok(Step::Write(rows::look_again(&row, &state, later), None));
        }
        self.rests.end(row.id);
        match plan.fire {
            Some(slot) => match self.start(&trigger, state.rev, plan, slot).await {
                // It would be due for ever, and keep the others from being on time.
                Err(IntakeError::Catalog(
                    error @ (CatalogError::Missing { .. } | CatalogError::Unreadable { .. }),
                )) => {
                    let trigger = row.id;
                    tracing::error!(%trigger, %error, "a trigger's workflow cannot be had; it waits");
                    let later = now.plus(WITHOUT_WORKFLOW_WAIT);
                    Ok(Step::Write(rows::look_again(&row, &state, later), None))
                }
                other => other,
            },
            None => {
                let report = Report::of(&trigger, &plan);
                Ok(Step::Write(rows::fire(&trigger, state.rev, &plan), report))
            }
        }
    }

    async fn start(
        &self,
        trigger: &Trigger,
        rev: u64,
        plan: Plan,
        slot: Fire,
    ) -> Result<Step, IntakeError> {
        let submission = rows::submission(trigger, Some(slot.nominal), None);
        let draft = self.intake.draft(submission).await?;
        let plan = plan.started_as(draft.id);
        let cause = Cause::Fire(rows::fire(trigger, rev, &plan));
        let start = Start {
            draft: draft.caused_by(cause),
            report: Report::of(trigger, &plan),
        };
        Ok(match plan.cancel {
            Some(previous) => Step::Replace(Box::new(Replacement {
                trigger: trigger.id,
                version: trigger.version,
                rev,
                previous,
                start,
            })),
            None => Step::Start(Box::new(start)),
        })
    }

    /// Cancels the execution of the slot before, if the trigger still is what it was planned by. If this
    /// node dies before the next is fired, another one fires it: it is due until then.
    async fn cancel(&self, replacement: &Replacement) -> Result<Cancelled, CommitFailure> {
        let Replacement {
            trigger,
            previous: id,
            ..
        } = *replacement;
        let store = &self.dispatcher.store;
        let row = store.trigger(trigger).await;
        let row = row.map_err(|error| CommitFailure::read(&error))?;
        let state = store.trigger_state(trigger).await;
        let state = state.map_err(|error| CommitFailure::read(&error))?;
        let is_same = row.is_some_and(|row| row.enabled && row.version == replacement.version)
            && state.is_some_and(|state| state.rev == replacement.rev);
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
        let (reply, answer) = oneshot::channel();
        let command = Command::Cancel {
            by: Some(trigger.to_string()),
            compensate: false,
        };
        let request = Request::Command {
            id,
            command: Box::new(command),
            known: None,
            reply: Some(reply),
            permit: None,
        };
        self.dispatcher.queue.result(request).await?;
        match answer.await {
            Ok(Ok(_)) => Ok(Cancelled::LookAgain),
            Ok(Err(CommandError::Failed(CommitFailure::Damaged(what)))) => {
                tracing::error!(%trigger, execution = %id, what, "an execution cannot be cancelled");
                Ok(Cancelled::Nothing)
            }
            Ok(Err(CommandError::Failed(failure))) => Err(failure),
            // It ended before, or is gone: it is in nobody's way.
            Ok(Err(CommandError::NotFound | CommandError::Refused(_))) => Ok(Cancelled::Nothing),
            Err(_) => Err(CommitFailure::Unknown),
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
    trigger: TriggerId,
    version: u32,
    rev: u64,
    /// The one to cancel.
    previous: ExecutionId,
    start: Start,
}

/// An execution, and what is worth saying when it is durable.
struct Start {
    draft: Drafted,
    report: Option<Report>,
}

/// What is written down, and what is worth saying then.
type Write = (Box<refire_store::Fire>, Option<Report>);

/// What became of several steps.
struct Done {
    /// Whether none of them waits.
    is_fine: bool,
    /// Of those that were written.
    reports: Vec<Report>,
}

impl Done {
    fn nothing() -> Self {
        Self {
            is_fine: true,
            reports: Vec::new(),
        }
    }
}

/// What became of the execution to cancel.
enum Cancelled {
    /// It has ended now, or the trigger was moved meanwhile: the next look finds another state.
    LookAgain,
    /// There was nothing to cancel: the state stays as it was, and the slot is fired by it.
    Nothing,
}

/// Whether the trigger is not due any more because of it. One that somebody else has moved is read
/// again, and so is one whose workflow was deleted: its triggers are disabled with it.
fn is_settled(answer: &Result<Admitted, CommitFailure>) -> bool {
    match answer {
        Ok(_) => true,
        Err(failure) => {
            tracing::warn!(%failure, "a slot waits");
            false
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn node(number: u8, renewed_s: i64) -> NodeRow {
        let renewed_at = Timestamp::from_millis(renewed_s * 1_000);
        NodeRow {
            id: NodeId::from_bytes([number; 16]),
            name: String::new(),
            address: String::new(),
            version: String::new(),
            started_at: Timestamp::from_millis(i64::from(number)),
            renewed_at,
            expires_at: renewed_at.plus(Duration::from_secs(15)),
            running: 0,
            holding: 0,
        }
    }

    #[test]
    fn a_node_waits_for_older_ones_that_were_heard_of_lately() {
        let now = Timestamp::from_millis(100_000);
        let turns = |nodes: &[NodeRow]| {
            let last = nodes.last().unwrap().id;
            older(nodes, last, now)
        };
        assert_eq!(turns(&[node(1, 100)]), 0);
        assert_eq!(turns(&[node(1, 95), node(2, 100)]), 1);
        assert_eq!(turns(&[node(1, 95), node(2, 93), node(3, 100)]), 2);
        // Renewals come each third of a lease.
        assert_eq!(turns(&[node(1, 92), node(2, 93), node(3, 100)]), 1);
        assert_eq!(turns(&[node(1, 86), node(2, 86), node(3, 100)]), 0);
        // Whatever a clock says: a time to come is heard of.
        assert_eq!(turns(&[node(1, 130), node(2, 100)]), 1);
        let crowd: Vec<NodeRow> = (0..30).map(|number| node(number, 99)).collect();
        assert_eq!(turns(&crowd), TURNS_MAX);
    }
}
