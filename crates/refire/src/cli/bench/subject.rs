//! The workflow that is put under load: one that exists, or one that is made and deleted again.

use std::time::Duration;

use anyhow::{Context as _, bail};
use refire_client::model::{ErrorInfo, Execution, ExecutionStatus};
use refire_client::{Client, Execute};
use refire_core::id::ExecutionId;
use serde_json::json;

use super::target::Target;
use crate::cli::prelude::*;

/// How long the first call may take that shows whether the server reaches the target.
const PROBE_WITHIN: Duration = Duration::from_secs(10);
/// In front of the names of throw-away workflows.
const PREFIX: &str = "refire_bench_";

/// What the workflow does.
pub(super) enum Kind {
    /// One `http` step, answered by this process.
    Call(Target),
    /// One step that is skipped: the commit that accepts an execution also ends it.
    Admission,
    /// Somebody's own.
    Existing,
}

/// The workflow under load.
pub(super) struct Subject {
    /// Its id.
    pub(super) id: String,
    pub(super) kind: Kind,
    /// Why only admission is measured though the whole was wanted.
    pub(super) fallback: Option<String>,
    /// Executions of it that were started before the load.
    pub(super) probes: Vec<ExecutionId>,
}

impl Subject {
    fn new(id: impl Into<String>, kind: Kind) -> Self {
        Self {
            id: id.into(),
            kind,
            fallback: None,
            probes: Vec::new(),
        }
    }

    /// One that exists.
    pub(super) async fn existing(client: &Client, id: &str) -> anyhow::Result<Self> {
        let workflow = client.workflow(id).await.context("--workflow")?;
        Ok(Self::new(workflow.workflow_id, Kind::Existing))
    }

    /// A new one whose executions end as soon as they are accepted.
    pub(super) async fn admission(client: &Client, suffix: &str) -> anyhow::Result<Self> {
        let id = format!("{PREFIX}{suffix}");
        client.apply_workflow(&id, &admission(&id), None).await?;
        Ok(Self::new(id, Kind::Admission))
    }

    /// A new one that calls this process; if the server cannot or may not do that, one that is
    /// only accepted.
    pub(super) async fn calling(client: &Client, suffix: &str) -> anyhow::Result<Self> {
        let id = format!("{PREFIX}{suffix}");
        let target = Target::start()?;
        client
            .apply_workflow(&id, &calling(&id, &target), None)
            .await?;
        let tried = Self::tried(client, &id, target).await;
        if tried.is_err() {
            // What this made must not stay because of what came after.
            let _ = client.delete_workflow(&id).await;
        }
        tried
    }

    async fn tried(client: &Client, id: &str, target: Target) -> anyhow::Result<Self> {
        let (probe, reached) = probe(client, id).await?;
        let (kind, fallback) = match reached {
            Ok(()) => (Kind::Call(target), None),
            Err(why) => {
                client.apply_workflow(id, &admission(id), None).await?;
                (Kind::Admission, Some(why))
            }
        };
        Ok(Self {
            fallback,
            probes: vec![probe],
            ..Self::new(id, kind)
        })
    }

    /// Whether this tool made it, and so deletes it.
    pub(super) fn is_own(&self) -> bool {
        !matches!(self.kind, Kind::Existing)
    }

    /// What it does, in a few words.
    pub(super) fn describe(&self) -> &'static str {
        match self.kind {
            Kind::Call(_) => "one http step, answered by this tool",
            Kind::Admission => "accepted only, no step runs",
            Kind::Existing => "",
        }
    }

    /// The same as one word for programs.
    pub(super) fn mode(&self) -> &'static str {
        match self.kind {
            Kind::Call(_) => "http_step",
            Kind::Admission => "admit_only",
            Kind::Existing => "workflow",
        }
    }
}

/// One execution from end to end: whether the server reaches the target, or why not.
async fn probe(client: &Client, id: &str) -> anyhow::Result<(ExecutionId, Result<(), String>)> {
    let execute = Execute::default();
    let started = client.execute_and_wait(id, &execute, PROBE_WITHIN).await?;
    let execution: Execution = match started {
        Ok(execution) if execution.status.is_over() => execution,
        Ok(_) | Err(_) => bail!(
            "the server did not finish a test execution within {} s; is it overloaded?",
            PROBE_WITHIN.as_secs()
        ),
    };
    let reached = match (execution.status, &execution.error) {
        (ExecutionStatus::Completed, _) => Ok(()),
        (_, Some(error)) => Err(unreached(error)),
        (status, None) => Err(format!("a first execution ended as {status}")),
    };
    Ok((execution.execution_id.parse()?, reached))
}

fn unreached(error: &ErrorInfo) -> String {
    if error.error_type == "address_refused" {
        return "the server is not allowed to call this machine (see --dev and \
                --allow-private-targets of `refire serve`)"
            .to_owned();
    }
    format!(
        "the server cannot call this tool: {}",
        clean(&error.message)
    )
}

/// One `http` step to the target. Nothing is retried and nothing becomes a dead letter, so that a
/// run that is broken off leaves nothing to clean up.
fn calling(id: &str, target: &Target) -> String {
    let step = json!({
        "id": "call",
        "type": "http",
        "config": {
            "method": "POST",
            "url": format!("http://{}/", target.address),
            "body": "${input}",
        },
    });
    definition(id, &step)
}

/// A step that is skipped: nothing is ever called.
fn admission(id: &str) -> String {
    let step = json!({
        "id": "nothing",
        "type": "http",
        "when": false,
        "config": { "url": "http://127.0.0.1/" },
    });
    definition(id, &step)
}

fn definition(id: &str, step: &serde_json::Value) -> String {
    json!({
        "id": id,
        "name": "Load test",
        "description": "Made by `refire bench`, which deletes it when it ends.",
        // Only a kind of failure that cannot happen here is retried, and only what is retried in
        // vain becomes a dead letter.
        "retry": { "maxRetries": 1, "retryOn": { "statuses": [599], "errors": ["tls"] } },
        "deadLetter": "exhausted",
        "steps": [step],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use refire_core::definition::{ParseOptions, Workflow};

    use super::*;

    #[test]
    fn the_definitions_are_valid() {
        let target = Target::start().unwrap();
        for text in [
            calling("refire_bench_1", &target),
            admission("refire_bench_1"),
        ] {
            let workflow = Workflow::parse(&text, &ParseOptions::default());
            assert!(workflow.is_ok(), "{text}: {workflow:?}");
        }
    }
}
