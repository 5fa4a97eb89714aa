//! The loop that fires triggers.
//!
//! It sleeps until the first trigger is due, reads those that are, lets core plan one step of each and
//! commits the steps. The commit compares the trigger's version and its state's revision, so it does
//! not matter who looks, or how many do: a slot is fired once. The oldest node looks first. Each
//! younger one waits a second longer, so that a node which dies costs a second and not a lease, and
//! others read in vain only then.

use std::sync::Arc;
use std::time::Duration;

use futures_util::future::join_all;
use refire_core::execution::Command;
use refire_core::id::ExecutionId;
use refire_core::time::Timestamp;
use refire_core::trigger::{Fire, Plan, Trigger, plan};
use refire_store::{DueTrigger, Part, ReadError};
use tokio::sync::oneshot;

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
/// How long a trigger rests that cannot be read, or of which nothing came although it was due.
const REST: Duration = Duration::from_secs(3_600);

/// How long a trigger waits whose workflow cannot be had.
const WITHOUT_WORKFLOW_WAIT: Duration = Duration::from_secs(60);

/// What the loop works with.
pub(crate) struct Cron {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) intake: Intake,
}

/// What became of a look at all that was due.
enum Looked {
    /// All of it is done; the next is due then.
    Until(Option<Timestamp>),
    /// Something could not be done now.
    Trouble,
}

/// Fires triggers until the node stops.
pub(crate) async fn cron_loop(cron: Cron) {
    let dispatcher = &cron.dispatcher;
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
                let me = dispatcher.membership.id();
                let older = nodes.iter().take_while(|node| node.id != me).count();
                let older = u32::try_from(older).unwrap_or(TURNS_MAX).min(TURNS_MAX);
                let behind = TURN * older;
                self.known = Some((now, behind));
                behind
            }
        }
    }
}

impl Cron {
    /// Fires all that has been due for so long.
    async fn look(&self, behind: Duration) -> Result<Looked, ReadError> {
        let Dispatcher {
            store,
            clock,
            stopping,
            membership,
            ..
        } = self.dispatcher.as_ref();
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
    async fn step_all(&self, due: Vec<DueTrigger>) -> bool {
        let mut drafts = Vec::new();
        let mut parts = Vec::new();
        let mut is_fine = true;
        for due in due {
            match self.step(due).await {
                Ok(Step::Start(draft)) => drafts.push(*draft),
                Ok(Step::Write(fire)) => parts.push(self.dispatcher.part(Part::Fire(fire))),
                Err(error) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a trigger waits");
                    is_fine = false;
                }
            }
        }
        let started = async {
            match drafts.is_empty() {
                true => Ok(Vec::new()),
                false => self.intake.commit_all(drafts).await,
            }
        };
        let (started, written) = tokio::join!(started, join_all(parts));
        is_fine &= written.iter().all(Option::is_some);
        match started {
            Ok(answers) => is_fine && answers.iter().all(is_settled),
            Err(failure) => {
                tracing::warn!(%failure, "triggers wait");
                false
            }
        }
    }

    /// Plans a step.
    async fn step(&self, due: DueTrigger) -> Result<Step, IntakeError> {
        let now = self.dispatcher.clock.now();
        let rest = now.plus(REST);
        let DueTrigger { row, state } = due;
        let trigger = match rows::trigger(&row) {
            Ok(trigger) => trigger,
            Err(problems) => {
                let trigger = row.id;
                tracing::error!(%trigger, %problems, "a stored trigger cannot be read; it starts nothing");
                return Ok(Step::Write(rows::look_again(&row, &state, rest)));
            }
        };
        let before = rows::state(&state);
        let plan = plan(&trigger, &before, now);
        if plan.is_empty(&before) {
            let trigger = row.id;
            tracing::error!(%trigger, "a trigger is due, but there is nothing to do");
            return Ok(Step::Write(rows::look_again(&row, &state, rest)));
        }
        if let Some(previous) = plan.cancel {
            self.cancel(previous, &trigger).await?;
        }
        match plan.fire {
            Some(slot) => match self.start(&trigger, state.rev, plan, slot).await {
                // It would be due for ever, and keep the others from being on time.
                Err(IntakeError::Catalog(
                    error @ (CatalogError::Missing { .. } | CatalogError::Unreadable { .. }),
                )) => {
                    let trigger = row.id;
                    tracing::error!(%trigger, %error, "a trigger's workflow cannot be had; it waits");
                    let later = now.plus(WITHOUT_WORKFLOW_WAIT);
                    Ok(Step::Write(rows::look_again(&row, &state, later)))
                }
                other => other,
            },
            None => Ok(Step::Write(rows::fire(&trigger, state.rev, &plan))),
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
        Ok(Step::Start(Box::new(draft.caused_by(cause))))
    }

    /// Cancels the execution of the slot before. If this node dies before the next is fired, another
    /// one fires it: it is due until then.
    async fn cancel(&self, id: ExecutionId, trigger: &Trigger) -> Result<(), CommitFailure> {
        let (reply, answer) = oneshot::channel();
        let command = Command::Cancel {
            by: Some(trigger.id.to_string()),
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
            Ok(Err(CommandError::Failed(failure))) => Err(failure),
            // Cancelled now, ended before, or gone: it is in nobody's way.
            Ok(_) => Ok(()),
            Err(_) => Err(CommitFailure::Unknown),
        }
    }
}

/// What a plan comes to.
enum Step {
    /// An execution.
    Start(Box<Drafted>),
    /// Only what is written down.
    Write(Box<refire_store::Fire>),
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
