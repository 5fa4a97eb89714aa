//! Requests against executions: a 2xx has exactly one, a certain refusal none, an open answer at
//! most one; and a key has one for ever.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use super::{Evidence, Findings, Promise};
use crate::load::Sent;

pub(super) fn check(evidence: &Evidence, findings: &mut Findings) {
    let mut made: HashMap<u64, Vec<&str>> = HashMap::new();
    for execution in &evidence.export.executions {
        // Triggers have ledgers of their own.
        if execution.retries.is_some() || execution.is_of_slot {
            continue;
        }
        match execution.request {
            Some(request) => made.entry(request).or_default().push(&execution.id),
            None => findings.of(
                Promise::OneExecutionPerAnswer,
                &execution.id,
                "an execution that nobody asked for",
            ),
        }
    }
    let mut asked: BTreeMap<u64, Vec<&Sent>> = BTreeMap::new();
    for sent in &evidence.sent {
        asked.entry(sent.plan.request).or_default().push(sent);
    }
    for (request, all) in &asked {
        let made = made.remove(request).unwrap_or_default();
        one_request(*request, all, &made, findings);
    }
    for (request, executions) in made {
        let what = format!("request {request} was never sent and has {executions:?}");
        findings.of(Promise::OneExecutionPerAnswer, executions[0], what);
    }
    keys(evidence, findings);
    for sent in &evidence.sent {
        if let Some(500) = sent.answer.status()
            && !sent.answer.is_outcome_unknown()
        {
            let what = format!("request {} got {:?}", sent.plan.request, sent.answer);
            findings.add(Promise::OneExecutionPerAnswer, what);
        }
    }
}

fn one_request(request: u64, all: &[&Sent], made: &[&str], findings: &mut Findings) {
    let accepted: BTreeSet<&str> = all
        .iter()
        .filter_map(|sent| sent.answer.execution())
        .collect();
    let is_open = all.iter().any(|sent| sent.answer.is_open());
    let wrong = if !accepted.is_empty() {
        let exactly_it = made.len() == 1 && accepted.iter().all(|id| made[0] == *id);
        (!exactly_it).then_some("was accepted and must have exactly the execution it was told")
    } else if is_open {
        (made.len() > 1).then_some("is open and may have one execution")
    } else {
        (!made.is_empty()).then_some("was refused and must have none")
    };
    if let Some(wrong) = wrong {
        let answers: Vec<_> = all.iter().map(|sent| &sent.answer).collect();
        let what = format!("request {request} {wrong}: it has {made:?}, answers {answers:?}");
        findings.note(
            Promise::OneExecutionPerAnswer,
            made.first().map(|id| (*id).to_owned()),
            what,
        );
    }
}

/// All answers to one key name one execution.
fn keys(evidence: &Evidence, findings: &mut Findings) {
    let mut by_key: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
    for sent in &evidence.sent {
        if let (Some(key), Some(execution)) = (&sent.plan.key, sent.answer.execution()) {
            by_key.entry(key).or_default().insert(execution);
        }
    }
    for (key, executions) in by_key {
        if executions.len() > 1 {
            let what = format!("key {key} was given to {executions:?}");
            findings.add(Promise::SameKeySameExecution, what);
        }
    }
}
