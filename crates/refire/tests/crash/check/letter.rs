//! Dead letters: one per dead execution, and each retry one new execution that names its letter.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Evidence, Findings, Promise};
use crate::export::Exported;

pub(super) fn check(evidence: &Evidence, findings: &mut Findings) {
    let export = &evidence.export;
    let executions: HashMap<&str, &Exported> = export
        .executions
        .iter()
        .map(|one| (one.id.as_str(), one))
        .collect();
    let mut of_execution: HashMap<&str, Vec<&str>> = HashMap::new();
    for letter in &export.letters {
        let all = of_execution.entry(letter.execution.as_str()).or_default();
        all.push(&letter.id);
        match executions.get(letter.execution.as_str()) {
            Some(execution) if execution.status == "dlq" => {}
            other => {
                let status = other.map(|execution| execution.status.as_str());
                let what = format!("{} is of an execution that is {status:?}", letter.id);
                findings.of(Promise::LettersAddUp, &letter.execution, what);
            }
        }
        let resolution = letter
            .resolution
            .as_deref()
            .and_then(|id| executions.get(id));
        let is_resolved = export.executions.iter().any(|execution| {
            execution.retries.as_deref() == Some(letter.id.as_str())
                && execution.status == "completed"
        });
        let agrees = match letter.status.as_str() {
            "resolved" => {
                is_resolved && resolution.is_some_and(|execution| execution.status == "completed")
            }
            "pending" | "deleted" => {
                letter.resolution.is_none() && !(is_resolved && evidence.is_settled)
            }
            // While the retry runs.
            _ => !evidence.is_settled,
        };
        if !agrees {
            let status = resolution.map(|execution| execution.status.as_str());
            let what = format!(
                "{} is {}, its retry {:?} is {status:?}",
                letter.id, letter.status, letter.resolution
            );
            findings.of(Promise::LettersAddUp, &letter.execution, what);
        }
    }
    for execution in &export.executions {
        let letters = of_execution.get(execution.id.as_str());
        let wanted = execution.letter.as_deref();
        let agrees = match (execution.status.as_str(), letters, wanted) {
            ("dlq", Some(letters), Some(wanted)) => letters.as_slice() == [wanted],
            ("dlq", _, _) => false,
            (_, letters, wanted) => letters.is_none() && wanted.is_none(),
        };
        // Only the retry of a letter may fail without making another.
        if !agrees || (execution.status == "failed" && execution.retries.is_none()) {
            let what = format!("it is {} and has {letters:?}", execution.status);
            findings.of(Promise::LettersAddUp, &execution.id, what);
        }
    }
    retries(evidence, findings);
}

/// However often the button is pressed: as many new executions as answers that said so.
fn retries(evidence: &Evidence, findings: &mut Findings) {
    let mut made: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for execution in &evidence.export.executions {
        if let Some(letter) = &execution.retries {
            made.entry(letter).or_default().insert(&execution.id);
        }
    }
    let mut told: BTreeMap<&str, (BTreeSet<&str>, usize)> = BTreeMap::new();
    for retried in &evidence.retried {
        let (accepted, open) = told.entry(&retried.letter).or_default();
        match retried.answer.execution() {
            Some(execution) => {
                if !accepted.insert(execution) {
                    let what = format!("two presses were told the same execution {execution}");
                    findings.of(Promise::LettersAddUp, execution, what);
                }
            }
            None => *open += usize::from(retried.answer.is_open()),
        }
    }
    let letters: BTreeSet<&str> = made.keys().chain(told.keys()).copied().collect();
    for letter in letters {
        let made = made.remove(letter).unwrap_or_default();
        let (accepted, open) = told.remove(letter).unwrap_or_default();
        if !accepted.is_subset(&made) || made.len() > accepted.len() + open {
            let what = format!(
                "{letter} was retried as {made:?}, the answers said {accepted:?} and {open} are open"
            );
            findings.add(Promise::LettersAddUp, what);
        }
    }
}
