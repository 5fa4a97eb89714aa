//! One execution's log: one end and nothing after it, attempts without gaps, a replay that comes
//! out the same.

use std::collections::BTreeMap;

use refire_core::limit::LOSSES_MAX;

use super::{Evidence, Findings, Promise};
use crate::export::{Entry, Exported};

/// The events that end a log.
const ENDS: [&str; 3] = [
    "EXECUTION_COMPLETED",
    "EXECUTION_FAILED",
    "EXECUTION_CANCELLED",
];

pub(super) fn check(execution: &Exported, evidence: &Evidence, findings: &mut Findings) {
    order(execution, findings);
    end(execution, evidence, findings);
    attempts(execution, evidence.retries_max, findings);
    if let Some(wrong) = &execution.replay {
        findings.of(Promise::ReplayIsIdentical, &execution.id, wrong.clone());
    }
}

/// Numbers without gaps, times that never go back.
fn order(execution: &Exported, findings: &mut Findings) {
    for (index, entry) in execution.log.iter().enumerate() {
        if entry.sequence != index as u64 + 1 {
            let what = format!("event {} stands at place {}", entry.sequence, index + 1);
            findings.of(Promise::ReplayIsIdentical, &execution.id, what);
        }
    }
    for pair in execution.log.windows(2) {
        if pair[1].at < pair[0].at {
            let what = format!("event {} is earlier than the one before", pair[1].sequence);
            findings.of(Promise::ReplayIsIdentical, &execution.id, what);
        }
    }
}

fn end(execution: &Exported, evidence: &Evidence, findings: &mut Findings) {
    let is_end = |entry: &Entry| ENDS.contains(&entry.name.as_str());
    let ends: Vec<&Entry> = execution.log.iter().filter(|entry| is_end(entry)).collect();
    let is_ended = matches!(
        execution.status.as_str(),
        "completed" | "failed" | "dlq" | "cancelled"
    );
    if ends.len() != usize::from(is_ended) {
        let what = format!(
            "its status is {}, its ends are {}",
            execution.status,
            ends.len()
        );
        findings.of(Promise::OneEnd, &execution.id, what);
    }
    if let Some(end) = ends.first() {
        if end.sequence != execution.log.len() as u64 {
            findings.of(
                Promise::OneEnd,
                &execution.id,
                "there are events after its end",
            );
        }
        let agrees = match execution.status.as_str() {
            "completed" => end.name == ENDS[0],
            "failed" | "dlq" => end.name == ENDS[1],
            "cancelled" => end.name == ENDS[2],
            _ => false,
        };
        if !agrees {
            let what = format!("its status is {}, its end {}", execution.status, end.name);
            findings.of(Promise::OneEnd, &execution.id, what);
        }
    }
    if evidence.is_settled && !is_ended {
        let what = format!("it is {} still", execution.status);
        findings.of(Promise::NothingIsStuck, &execution.id, what);
    }
}

/// What a step's attempts came to.
#[derive(Default)]
struct Attempts {
    planned: Vec<u32>,
    /// How each ended, in the order of the log.
    ended: BTreeMap<u32, Vec<&'static str>>,
}

/// Done.
const COMPLETED: &str = "STEP_COMPLETED";
/// Failed, by its own result or because too many were lost.
const FAILED: &str = "STEP_FAILED";
/// Died with its server.
const LOST: &str = "STEP_LOST";

fn attempts(execution: &Exported, retries_max: u32, findings: &mut Findings) {
    let mut steps: BTreeMap<&str, Attempts> = BTreeMap::new();
    for entry in &execution.log {
        let (Some(step), Some(attempt)) = (&entry.step, entry.attempt) else {
            continue;
        };
        let attempts = steps.entry(step).or_default();
        let name = entry.name.as_str();
        if let Some(end) = [COMPLETED, FAILED, LOST].iter().find(|end| **end == name) {
            attempts.ended.entry(attempt).or_default().push(end);
        } else if name == "STEP_SCHEDULED" || name == "RETRY_SCHEDULED" {
            attempts.planned.push(attempt);
        }
    }
    // A retry of a dead letter makes no retries of its own.
    let retries_max = if execution.retries.is_some() {
        0
    } else {
        retries_max
    };
    for (step, attempts) in steps {
        for wrong in attempts.wrong(retries_max) {
            let what = format!("step {step}: {wrong}");
            findings.of(Promise::AttemptsWithoutGaps, &execution.id, what);
        }
    }
}

impl Attempts {
    fn wrong(&self, retries_max: u32) -> Vec<String> {
        let count = u32::try_from(self.planned.len()).unwrap();
        let lost = self.ended.values().filter(|ends| ends[0] == LOST).count();
        let lost = u32::try_from(lost).unwrap();
        let mut wrong = Vec::new();
        if !self.planned.iter().copied().eq(1..=count) {
            wrong.push(format!("its attempts are {:?}", self.planned));
        }
        if count > retries_max + 1 + lost {
            wrong.push(format!("{count} attempts, {lost} of them lost"));
        }
        for (attempt, ends) in &self.ended {
            let is_sound = match ends[..] {
                [_] => true,
                // One loss too many: the step is given up with the attempt, and none before.
                [LOST, FAILED] => *attempt == count && lost >= LOSSES_MAX,
                _ => false,
            };
            if !is_sound {
                wrong.push(format!("attempt {attempt} ended as {ends:?}"));
            }
        }
        let ended: Vec<u32> = self.ended.keys().copied().collect();
        let without_gaps = |last: u32| ended.iter().copied().eq(1..=last);
        if !without_gaps(count) && !without_gaps(count.saturating_sub(1)) {
            wrong.push(format!("of {count} attempts these ended: {ended:?}"));
        }
        wrong
    }
}
