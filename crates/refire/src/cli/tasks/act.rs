//! `refire tasks unlock`, `complete` and `fail`: stepping in for a worker.

use refire_client::model::{FailTask, Task};
use refire_core::duration;

use crate::cli::prelude::*;

/// The lock that is meant.
#[derive(Debug, Args)]
struct Lock {
    /// The token of the lock, if the step has requireLockToken
    #[arg(long, value_name = "TOKEN")]
    lock_token: Option<String>,
}

/// Options of `tasks unlock`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire tasks unlock xt_01j9x8w7v6t5s4r3q2p1n0m9k8001
  refire workers remove n8n-worker-1        takes all tasks of a worker")]
pub(crate) struct UnlockArgs {
    /// The task (xt_…)
    id: String,
    #[command(flatten)]
    lock: Lock,
}

/// Options of `tasks complete`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire tasks complete xt_01j9x8w7v6t5s4r3q2p1n0m9k8001 --output '{\"result\": {\"ticketId\": \"OPS-42\"}}'
  refire tasks complete xt_01j9x8w7v6t5s4r3q2p1n0m9k8001 --output @result.json
  refire tasks complete xt_01j9x8w7v6t5s4r3q2p1n0m9k8001        with null as its output")]
pub(crate) struct CompleteArgs {
    /// The task (xt_…)
    id: String,
    /// The output: JSON, @FILE, or - for standard input
    #[arg(long, value_name = "JSON", default_value = "null")]
    output: String,
    #[command(flatten)]
    lock: Lock,
}

/// Options of `tasks fail`.
#[derive(Debug, Args)]
#[command(after_help = "\
Examples:
  refire tasks fail xt_01j9x8w7v6t5s4r3q2p1n0m9k8001 --message \"the project is gone\" --no-retry
  refire tasks fail xt_01j9x8w7v6t5s4r3q2p1n0m9k8001 --message \"try again later\" --retry-after 10m")]
pub(crate) struct FailArgs {
    /// The task (xt_…)
    id: String,
    /// What went wrong
    #[arg(long, value_name = "TEXT")]
    message: String,
    /// Another attempt would not help
    #[arg(long, conflicts_with = "retry_after")]
    no_retry: bool,
    /// The next attempt waits so long at least, such as 10m (at most 1h)
    #[arg(long, value_name = "TIME")]
    retry_after: Option<String>,
    #[command(flatten)]
    lock: Lock,
}

/// Gives a task back.
pub(super) async fn unlock(session: &Session, args: &UnlockArgs) -> anyhow::Result<Outcome> {
    let (client, id) = (session.client()?, ids::task(&args.id)?);
    client
        .unlock_task(id, args.lock.lock_token.as_deref())
        .await?;
    let task = client.task(id).await?;
    done(
        session,
        &task,
        "is free again: the next worker that asks gets it",
    )
}

/// Completes a task.
pub(super) async fn complete(session: &Session, args: &CompleteArgs) -> anyhow::Result<Outcome> {
    let id = ids::task(&args.id)?;
    let output = input::raw(&input::read(&args.output)?)?;
    let (client, token) = (session.client()?, args.lock.lock_token.as_deref());
    client.complete_task(id, token, &output).await?;
    let task = client.task(id).await?;
    done(session, &task, "is completed: its execution goes on")
}

/// Fails a task.
pub(super) async fn fail(session: &Session, args: &FailArgs) -> anyhow::Result<Outcome> {
    let id = ids::task(&args.id)?;
    let wait = args.retry_after.as_deref().map(duration::parse).transpose();
    let wait = wait.map_err(|error| Usage(format!("--retry-after: {error}")))?;
    let failed = FailTask {
        message: args.message.clone(),
        retryable: args.no_retry.then_some(false),
        retry_after_seconds: wait.map(|wait| millis(wait).div_ceil(1_000)),
        ..FailTask::default()
    };
    let (client, token) = (session.client()?, args.lock.lock_token.as_deref());
    client.fail_task(id, token, &failed).await?;
    let task = client.task(id).await?;
    let said = format!(
        "has failed {} of {} attempts",
        task.retry_count, task.max_retries
    );
    done(session, &task, &said)
}

/// Says what became of a task.
fn done(session: &Session, task: &Task, said: &str) -> anyhow::Result<Outcome> {
    session.answer(task, || {
        let next = command(&format!("refire executions show {}", task.execution_id));
        format!(
            "{}  {}\n{} {said}; see {next}\n",
            task.id,
            status(task.status.name()),
            task.id
        )
    })
}
