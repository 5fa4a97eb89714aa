//! The checker: joins what clients saw, what the target saw and what the server says, and names
//! every promise that does not hold.

mod calls;
mod execution;
mod letter;
mod request;
mod task;
mod tests;

use std::collections::HashMap;
use std::fmt;

use refire_client::model::Task;

use crate::RETRIES_MAX;
use crate::client::Client;
use crate::export::{Export, Exported, export, tasks};
use crate::load::{ClientLog, Sent};
use crate::retry::Retried;
use crate::target::Call;
use crate::worker::Account;

/// Findings shown of each promise.
const SHOWN_MAX: usize = 5;

/// What the three sides say.
#[derive(Default)]
pub(crate) struct Evidence {
    pub(crate) sent: Vec<Sent>,
    /// Retries of dead letters that were asked for.
    pub(crate) retried: Vec<Retried>,
    pub(crate) calls: Vec<Call>,
    pub(crate) export: Export,
    /// What workers were handed and what they said.
    pub(crate) account: Account,
    /// The rows of tasks; empty where nobody looks at them.
    pub(crate) tasks: Vec<Task>,
    /// Retries that the policy of every step allows.
    pub(crate) retries_max: u32,
    /// Whether everything has had the time to end.
    pub(crate) is_settled: bool,
}

impl Evidence {
    /// All that can be had once everything has ended.
    pub(crate) async fn gather(
        client: &Client,
        log: &ClientLog,
        retried: Vec<Retried>,
        calls: Vec<Call>,
    ) -> Self {
        Self {
            sent: log.entries(),
            retried,
            calls,
            export: export(client).await,
            retries_max: RETRIES_MAX,
            is_settled: true,
            ..Self::default()
        }
    }

    /// The same where workers do the work: what they were handed is what was called.
    pub(crate) async fn of_workers(client: &Client, log: &ClientLog, account: Account) -> Self {
        let calls = account.calls();
        Self {
            account,
            tasks: tasks(client).await,
            ..Self::gather(client, log, Vec::new(), calls).await
        }
    }
}

/// The promises that are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Promise {
    OneExecutionPerAnswer,
    OneEnd,
    AttemptsWithoutGaps,
    ReplayIsIdentical,
    SameKeySameExecution,
    LettersAddUp,
    NothingIsStuck,
    CallsAreOfDurableWork,
    OneHolder,
    WordsAreRecorded,
    TasksAreTheirLogs,
}

/// A promise that does not hold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Finding {
    pub(crate) promise: Promise,
    pub(crate) what: String,
    /// The execution whose log tells more.
    pub(crate) execution: Option<String>,
}

/// Everything that was found.
#[derive(Debug, Default)]
pub(crate) struct Findings(Vec<Finding>);

impl Findings {
    fn add(&mut self, promise: Promise, what: impl Into<String>) {
        self.note(promise, None, what);
    }

    fn of(&mut self, promise: Promise, execution: &str, what: impl Into<String>) {
        self.note(promise, Some(execution.to_owned()), what);
    }

    fn note(&mut self, promise: Promise, execution: Option<String>, what: impl Into<String>) {
        let what = what.into();
        self.0.push(Finding {
            promise,
            what,
            execution,
        });
    }

    /// The promises that do not hold.
    fn promises(&self) -> Vec<Promise> {
        let mut promises: Vec<_> = self.0.iter().map(|finding| finding.promise).collect();
        promises.sort();
        promises.dedup();
        promises
    }
}

/// Checks all promises.
pub(crate) fn check(evidence: &Evidence) -> Findings {
    let mut findings = Findings::default();
    request::check(evidence, &mut findings);
    for execution in &evidence.export.executions {
        execution::check(execution, evidence, &mut findings);
    }
    letter::check(evidence, &mut findings);
    calls::check(evidence, &mut findings);
    task::check(evidence, &mut findings);
    findings
}

/// Fails the test with everything that was found, in words.
#[track_caller]
pub(crate) fn must_hold(evidence: &Evidence) {
    let findings = check(evidence);
    let report = Report {
        findings: &findings,
        evidence,
    };
    assert!(findings.0.is_empty(), "{report}");
}

struct Report<'a> {
    findings: &'a Findings,
    evidence: &'a Evidence,
}

impl fmt::Display for Report<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Evidence { sent, calls, .. } = self.evidence;
        let executions = &self.evidence.export.executions;
        writeln!(
            f,
            "{} findings in {} requests, {} executions, {} calls",
            self.findings.0.len(),
            sent.len(),
            executions.len(),
            calls.len()
        )?;
        let by_id: HashMap<&str, &Exported> = executions
            .iter()
            .map(|one| (one.id.as_str(), one))
            .collect();
        let mut shown: HashMap<Promise, usize> = HashMap::new();
        for finding in &self.findings.0 {
            let count = shown.entry(finding.promise).or_default();
            *count += 1;
            if *count > SHOWN_MAX {
                continue;
            }
            writeln!(f, "- {:?}: {}", finding.promise, finding.what)?;
            let of = finding.execution.as_deref().and_then(|id| by_id.get(id));
            if let Some(execution) = of {
                log(f, execution)?;
            }
        }
        for (promise, count) in shown.iter().filter(|(_, count)| **count > SHOWN_MAX) {
            writeln!(f, "- {promise:?}: {} more", count - SHOWN_MAX)?;
        }
        Ok(())
    }
}

fn log(f: &mut fmt::Formatter<'_>, execution: &Exported) -> fmt::Result {
    writeln!(f, "    {} {}", execution.id, execution.status)?;
    for entry in &execution.log {
        let step = entry.step.as_deref().unwrap_or_default();
        let attempt = entry.attempt.map(|attempt| format!("#{attempt}"));
        let attempt = attempt.unwrap_or_default();
        writeln!(
            f,
            "    {:>4} {} {} {step}{attempt}",
            entry.sequence, entry.at, entry.name
        )?;
    }
    Ok(())
}
