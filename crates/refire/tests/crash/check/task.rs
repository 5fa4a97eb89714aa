//! Tasks: one worker has one at a time, what a worker was told is what is recorded, and rows are what the
//! logs say.

use std::collections::{BTreeMap, HashMap};
use std::time::Duration;

use refire_client::model::TaskStatus;

use super::{Evidence, Findings, Promise};
use crate::export::{Entry, Exported};
use crate::worker::{Handed, Said, Saying, Told};

/// How far the clocks of two nodes are apart while they are measured on a busy machine.
const CLOCKS_APART: Duration = Duration::from_millis(500);

/// An execution and one of its steps.
type Place<'a> = (&'a str, &'a str);

pub(super) fn check(evidence: &Evidence, findings: &mut Findings) {
    let (handed, said) = (evidence.account.handed(), evidence.account.said());
    let executions: HashMap<&str, &Exported> = evidence
        .export
        .executions
        .iter()
        .map(|one| (one.id.as_str(), one))
        .collect();
    let by_lock: HashMap<(&str, &str), &Handed> = handed
        .iter()
        .map(|one| ((one.task.as_str(), one.token.as_str()), one))
        .collect();
    words(&said, &by_lock, &executions, findings);
    let mut of_place: HashMap<Place<'_>, Vec<&Handed>> = HashMap::new();
    for one in &handed {
        let place = (one.execution.as_str(), one.step.as_str());
        of_place.entry(place).or_default().push(one);
    }
    for execution in &evidence.export.executions {
        for step in tasks_of(execution) {
            let handed = of_place.remove(&(execution.id.as_str(), step));
            holders(
                execution,
                step,
                &handed.unwrap_or_default(),
                &said,
                findings,
            );
        }
    }
    for (place, handed) in of_place {
        let what = format!(
            "{place:?} is no task, and was handed to {}",
            handed[0].worker
        );
        findings.add(Promise::CallsAreOfDurableWork, what);
    }
    rows(evidence, &executions, findings);
}

/// The steps of an execution that are tasks.
fn tasks_of(execution: &Exported) -> impl Iterator<Item = &str> {
    let created = execution.log.iter();
    created
        .filter(|entry| entry.name == "EXTERNAL_TASK_CREATED")
        .filter_map(|entry| entry.step.as_deref())
}

/// What the log says of a step's attempts.
fn of_step<'a>(execution: &'a Exported, step: &str) -> impl Iterator<Item = &'a Entry> {
    let step = step.to_owned();
    let log = execution.log.iter();
    log.filter(move |entry| entry.step.as_ref() == Some(&step) && entry.attempt.is_some())
}

/// What was taken is recorded once, as the end of the attempt that its lock was for; what was refused is
/// not; and nothing is recorded that nobody said.
fn words(
    said: &[Said],
    by_lock: &HashMap<(&str, &str), &Handed>,
    executions: &HashMap<&str, &Exported>,
    findings: &mut Findings,
) {
    let mut by_word: BTreeMap<&str, Vec<&Said>> = BTreeMap::new();
    for one in said {
        by_word.entry(&one.word).or_default().push(one);
    }
    let mut recorded: HashMap<&str, Vec<(&str, &Entry)>> = HashMap::new();
    for execution in executions.values() {
        for entry in &execution.log {
            if let Some(word) = &entry.word {
                let places = recorded.entry(word).or_default();
                places.push((&execution.id, entry));
            }
        }
    }
    for (word, all) in &by_word {
        let found = recorded.remove(word).unwrap_or_default();
        let name = match all[0].saying {
            Saying::Complete => "STEP_COMPLETED",
            Saying::Fail { .. } => "STEP_FAILED",
            Saying::Unlock | Saying::Heartbeat | Saying::Extend { .. } => continue,
        };
        let Some(handed) = by_lock.get(&(all[0].task.as_str(), all[0].token.as_str())) else {
            if all.iter().any(|said| said.told == Told::Taken) || !found.is_empty() {
                let what = format!("{:?} was taken by a lock that nobody had", all[0]);
                findings.add(Promise::WordsAreRecorded, what);
            }
            continue;
        };
        let taken = all.iter().position(|said| said.told == Told::Taken);
        let is_open = all.iter().any(|said| said.told == Told::Open);
        let is_there = |(execution, entry): &&(&str, &Entry)| {
            let is_end = entry.name == name && entry.attempt == Some(handed.attempt);
            is_end && *execution == handed.execution && entry.step.as_ref() == Some(&handed.step)
        };
        let sound = found.len() == found.iter().filter(is_there).count()
            && match (taken, is_open) {
                (Some(_), _) => found.len() == 1,
                (None, true) => found.len() <= 1,
                (None, false) => found.is_empty(),
            };
        // Whoever did it is told so for ever.
        let later = taken.map_or(&[][..], |taken| &all[taken..]);
        let is_denied = later.iter().any(|said| {
            said.saying == Saying::Complete && matches!(said.told, Told::Refused(404 | 409))
        });
        if !sound || is_denied {
            let told: Vec<Told> = all.iter().map(|said| said.told).collect();
            let what = format!("{handed:?} said {name} with {word}, was told {told:?}: {found:?}");
            findings.of(Promise::WordsAreRecorded, &handed.execution, what);
        }
    }
    for (word, found) in recorded {
        let what = format!("nobody said {word}, and it is recorded");
        findings.of(Promise::WordsAreRecorded, found[0].0, what);
    }
}

/// A lock begins after the attempt before it has ended, the same attempt goes to another worker only if
/// it was given back, and what is recorded of a worker is what it was handed.
fn holders(
    execution: &Exported,
    step: &str,
    handed: &[&Handed],
    said: &[Said],
    findings: &mut Findings,
) {
    let mut wrong = Vec::new();
    let end = |attempt: u32| {
        let mut ends = of_step(execution, step).filter(move |entry| {
            let is_end = matches!(entry.name.as_str(), "STEP_COMPLETED" | "STEP_FAILED");
            is_end && entry.attempt == Some(attempt)
        });
        ends.next()
    };
    for entry in of_step(execution, step).filter(|entry| entry.holder.is_some()) {
        let (Some(attempt), Some((worker, locked_at))) = (entry.attempt, &entry.holder) else {
            continue;
        };
        if end(attempt - 1).is_some_and(|end| end.at > *locked_at) {
            wrong.push(format!("attempt {attempt} was locked at {locked_at}"));
        }
        let of_word = end(attempt).and_then(|end| end.word.as_ref());
        let of_word = of_word.and_then(|word| said.iter().find(|said| said.word == *word));
        let holder = of_word.and_then(|said| handed.iter().find(|one| one.token == said.token));
        if let Some(holder) = holder
            && (worker.as_ref(), *locked_at) != (Some(&holder.worker), holder.locked_at)
        {
            wrong.push(format!("{holder:?} is recorded as {worker:?}, {locked_at}"));
        }
    }
    for (index, one) in handed.iter().enumerate() {
        let before = end(one.attempt - 1);
        if one.attempt > 1 && before.is_none_or(|end| end.at > one.locked_at) {
            wrong.push(format!("{one:?} before the attempt before it had ended"));
        }
        if end(one.attempt).is_some_and(|end| end.at.plus(CLOCKS_APART) < one.locked_at) {
            wrong.push(format!("{one:?} after its attempt had ended"));
        }
        let is_back = said.iter().any(|said| {
            said.token == one.token
                && said.task == one.task
                && said.saying == Saying::Unlock
                && !matches!(said.told, Told::Refused(_))
        });
        let other = handed[index + 1..]
            .iter()
            .find(|other| other.attempt == one.attempt);
        if let Some(other) = other
            && !is_back
        {
            wrong.push(format!("{one:?} had it when {other:?} got it"));
        }
    }
    for what in wrong {
        findings.of(
            Promise::OneHolder,
            &execution.id,
            format!("step {step}: {what}"),
        );
    }
}

/// Every task that was made has a row, and the row says what became of it.
fn rows(evidence: &Evidence, executions: &HashMap<&str, &Exported>, findings: &mut Findings) {
    if evidence.tasks.is_empty() && evidence.account.handed().is_empty() {
        return;
    }
    let mut made: BTreeMap<Place<'_>, u32> = BTreeMap::new();
    for execution in &evidence.export.executions {
        for step in tasks_of(execution) {
            *made.entry((&execution.id, step)).or_default() += 1;
        }
    }
    for task in &evidence.tasks {
        let place = (task.execution_id.as_str(), task.step_id.as_str());
        let Some(execution) = executions
            .get(place.0)
            .filter(|_| made.remove(&place) == Some(1))
        else {
            let what = format!("{} was not made once by its execution", task.id);
            findings.add(Promise::TasksAreTheirLogs, what);
            continue;
        };
        let last = of_step(execution, place.1)
            .last()
            .map(|entry| entry.name.as_str());
        let agrees = match task.status {
            TaskStatus::Completed => last == Some("STEP_COMPLETED"),
            TaskStatus::Failed => last == Some("STEP_FAILED"),
            TaskStatus::Cancelled => !matches!(last, Some("STEP_COMPLETED" | "STEP_FAILED")),
            TaskStatus::Pending | TaskStatus::Locked => {
                !evidence.is_settled && !matches!(last, Some("STEP_COMPLETED"))
            }
            TaskStatus::Unknown => false,
        };
        if !agrees {
            let what = format!(
                "{} is {:?}, its log's last word {last:?}",
                task.id, task.status
            );
            findings.of(Promise::TasksAreTheirLogs, place.0, what);
        }
    }
    for ((execution, step), _) in made {
        let what = format!("the task of step {step} has no row");
        findings.of(Promise::TasksAreTheirLogs, execution, what);
    }
}
