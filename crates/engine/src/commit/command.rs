//! Commands on their way to the committer, and what it says to them.
//!
//! The committer searches no large payloads, since all commits would wait. A decision that needs to is
//! worked out here, on the state that the committer saw, and handed in with that state's version; if the
//! execution has moved on meanwhile, once more.

use std::sync::Arc;

use refire_core::execution::{Command, Decision, Execution, decide};
use refire_core::id::ExecutionId;
use refire_store::SeenTask;
use tokio::sync::oneshot;

use super::lane::Overloaded;
use super::request::{CommandError, CommitFailure, Decided, Request, Unsettled};
use crate::context::Context;
use crate::limit::Permit;

/// A command that was sent.
pub(crate) struct Asked<'a> {
    context: &'a Context,
    id: ExecutionId,
    permit: Option<Arc<Permit>>,
    seen: Option<SeenTask>,
    answer: oneshot::Receiver<Result<Arc<Execution>, Unsettled>>,
}

impl Context {
    /// Sends a command. `known` is the state as the sender knows it; `permit` the slot of the attempt
    /// that the command ends.
    pub(crate) async fn command(
        &self,
        id: ExecutionId,
        command: Command,
        known: Option<Arc<Execution>>,
        permit: Option<Arc<Permit>>,
    ) -> Result<Asked<'_>, Overloaded> {
        self.send_command(id, command, known, (permit, None)).await
    }

    /// The same about a task, as it was seen.
    pub(crate) async fn command_on(
        &self,
        id: ExecutionId,
        command: Command,
        seen: SeenTask,
    ) -> Result<Asked<'_>, Overloaded> {
        self.send_command(id, command, None, (None, Some(seen)))
            .await
    }

    async fn send_command(
        &self,
        id: ExecutionId,
        command: Command,
        known: Option<Arc<Execution>>,
        (permit, seen): (Option<Arc<Permit>>, Option<SeenTask>),
    ) -> Result<Asked<'_>, Overloaded> {
        let answer = self
            .put_command(id, command, (known, None), (permit.clone(), seen))
            .await?;
        Ok(Asked {
            context: self,
            id,
            permit,
            seen,
            answer,
        })
    }

    async fn put_command(
        &self,
        id: ExecutionId,
        command: Command,
        (known, decided): (Option<Arc<Execution>>, Option<Box<Decided>>),
        (permit, seen): (Option<Arc<Permit>>, Option<SeenTask>),
    ) -> Result<oneshot::Receiver<Result<Arc<Execution>, Unsettled>>, Overloaded> {
        let (reply, answer) = oneshot::channel();
        let request = Request::Command {
            id,
            command: Box::new(command),
            known,
            decided,
            reply: Some(reply),
            permit,
            seen,
        };
        self.queue.result(request).await?;
        Ok(answer)
    }

    /// What the command leads to, on a state with all of its values.
    async fn decide_aside(
        &self,
        id: ExecutionId,
        mut state: Arc<Execution>,
        command: Command,
    ) -> Result<Decision, CommandError> {
        let origin = state.origin.as_ref().ok_or(CommandError::NotFound)?;
        let workflow = self.catalog.of(origin).await;
        let workflow = workflow.map_err(CommitFailure::catalog)?;
        // What waits for its turn does not hold its values meanwhile.
        let turn = self.aside.turn().await;
        let missing = state.missing_values();
        if !missing.is_empty() {
            let values = self.store.values(id, &missing).await;
            let values = values.map_err(|error| CommitFailure::read(&error))?;
            let payloads = &mut Arc::make_mut(&mut state).payloads;
            for (sequence, value) in values {
                payloads.insert(sequence, value);
            }
        }
        let now = self.clock.now();
        let work = move || decide(&workflow, &state, command, now);
        let decided = turn.run(work).await;
        // What needs no value was refused by the committer, so this is about a value that is gone.
        decided.map_err(|refusal| CommitFailure::Damaged(refusal.to_string()).into())
    }
}

impl Asked<'_> {
    /// What became of it, when that is durable.
    pub(crate) async fn answer(self) -> Result<Arc<Execution>, CommandError> {
        let Self {
            context,
            id,
            permit,
            seen,
            mut answer,
        } = self;
        loop {
            let (state, command) = match answer.await {
                Ok(Ok(state)) => return Ok(state),
                Ok(Err(Unsettled::Not(error))) => return Err(error),
                Ok(Err(Unsettled::TooHeavy(state, command))) => (state, *command),
                // The committer died in the middle, and what it wrote is not known.
                Err(_) => return Err(CommitFailure::Unknown.into()),
            };
            let version = state.version;
            let known = Arc::clone(&state);
            let decision = context.decide_aside(id, state, command.clone()).await?;
            let decided = Some(Box::new(Decided { version, decision }));
            answer = context
                .put_command(id, command, (Some(known), decided), (permit.clone(), seen))
                .await
                .map_err(CommitFailure::from)?;
        }
    }
}
