//! The target's side: only durable work is called, always under one name, and never again once it
//! is recorded as done.

use std::collections::{BTreeSet, HashMap};

use refire_core::time::Timestamp;

use super::{Evidence, Findings, Promise};
use crate::export::Exported;
use crate::target::{Call, Outcome};

/// How late a call may be noted by a target that had no processor.
const NOTED_LATE_MAX_US: i64 = 1_000_000;

/// An execution and one of its steps.
type Place<'a> = (&'a str, &'a str);

pub(super) fn check(evidence: &Evidence, findings: &mut Findings) {
    let executions: HashMap<&str, &Exported> = evidence
        .export
        .executions
        .iter()
        .map(|one| (one.id.as_str(), one))
        .collect();
    let mut calls: HashMap<Place<'_>, Vec<&Call>> = HashMap::new();
    for call in &evidence.calls {
        let Some(execution) = executions.get(call.execution.as_str()) else {
            let what = format!("the target was called for work that is not there: {call:?}");
            findings.add(Promise::CallsAreOfDurableWork, what);
            continue;
        };
        if call.request != execution.request {
            let what = format!("the target was called with another input: {call:?}");
            findings.of(Promise::CallsAreOfDurableWork, &execution.id, what);
        }
        let place = (call.execution.as_str(), call.step.as_str());
        calls.entry(place).or_default().push(call);
    }
    for execution in &evidence.export.executions {
        completed(execution, &calls, findings);
    }
    for ((execution, step), calls) in &calls {
        let keys: BTreeSet<&str> = calls.iter().map(|call| call.key.as_str()).collect();
        if keys.len() != 1 {
            let what = format!("step {step} was called as {keys:?}");
            findings.of(Promise::CallsAreOfDurableWork, execution, what);
        }
    }
}

/// What is recorded as done was answered, and nobody asked again afterwards.
fn completed(
    execution: &Exported,
    calls: &HashMap<Place<'_>, Vec<&Call>>,
    findings: &mut Findings,
) {
    let planned: BTreeSet<(&str, u32)> = execution
        .log
        .iter()
        .filter(|entry| entry.name == "STEP_SCHEDULED" || entry.name == "RETRY_SCHEDULED")
        .filter_map(|entry| Some((entry.step.as_deref()?, entry.attempt?)))
        .collect();
    for entry in &execution.log {
        let (Some(step), Some(attempt)) = (&entry.step, entry.attempt) else {
            continue;
        };
        // A retry from the failed step takes over what was done before.
        if entry.name != "STEP_COMPLETED" || !planned.contains(&(step, attempt)) {
            continue;
        }
        let calls = calls.get(&(execution.id.as_str(), step.as_str()));
        let calls = calls.map(Vec::as_slice).unwrap_or_default();
        let answered = |call: &&&Call| call.attempt == attempt && call.outcome == Outcome::Good;
        if !calls.iter().any(|call| answered(&call)) {
            let what = format!("step {step} is done, but attempt {attempt} was never answered so");
            findings.of(Promise::CallsAreOfDurableWork, &execution.id, what);
        }
        let latest = Timestamp::from_micros(entry.at.as_micros() + NOTED_LATE_MAX_US);
        if let Some(call) = calls.iter().find(|call| call.at > latest) {
            let what = format!("step {step} was called again after it was done: {call:?}");
            findings.of(Promise::CallsAreOfDurableWork, &execution.id, what);
        }
    }
}
