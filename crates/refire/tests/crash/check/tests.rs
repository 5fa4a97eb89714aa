//! The checker itself is checked: it is content with a sound story, and each breach of a promise
//! planted into that story is named.

use std::time::Instant;

use refire_client::model::{Task, TaskStatus};
use refire_core::limit::LOSSES_MAX;
use refire_core::time::Timestamp;

use super::{Evidence, Promise, check};
use crate::client::Answer;
use crate::export::{Entry, Export, Exported, Letter};
use crate::load::{Plan, Sent};
use crate::retry::Retried;
use crate::target::{Call, Outcome};
use crate::worker::{Account, Handed, Said, Saying, Told};

fn entry(sequence: u64, name: &str, attempt: Option<u32>) -> Entry {
    let at = Timestamp::from_millis(i64::try_from(sequence).unwrap() * 1_000);
    Entry {
        sequence,
        name: name.to_owned(),
        step: attempt.map(|_| "first".to_owned()),
        attempt,
        at,
        due: at,
        node: None,
        holder: None,
        word: None,
    }
}

fn execution(id: &str, request: u64, status: &str, names: &[(&str, Option<u32>)]) -> Exported {
    let log = names.iter().zip(1..);
    Exported {
        id: id.to_owned(),
        status: status.to_owned(),
        retries: None,
        letter: None,
        request: Some(request),
        is_of_slot: false,
        log: log
            .map(|((name, attempt), sequence)| entry(sequence, name, *attempt))
            .collect(),
        replay: None,
    }
}

fn sent(request: u64, key: &str, answer: Answer) -> Sent {
    let plan = Plan {
        request,
        workflow: "one",
        key: Some(key.to_owned()),
        fate: None,
    };
    Sent {
        plan,
        sent_at: Instant::now(),
        answered_at: Instant::now(),
        answer,
    }
}

fn accepted(id: &str) -> Answer {
    Answer::Accepted {
        execution: id.to_owned(),
    }
}

fn refused(status: u16, code: &str) -> Answer {
    Answer::Refused {
        status,
        code: code.to_owned(),
        has_retry_after: false,
    }
}

fn call(execution: &str, request: u64, attempt: u32, second: i64, outcome: Outcome) -> Call {
    Call {
        key: format!("{execution}:first:1"),
        execution: execution.to_owned(),
        step: "first".to_owned(),
        attempt,
        request: Some(request),
        at: Timestamp::from_millis(second * 1_000),
        outcome,
    }
}

const DONE: &[(&str, Option<u32>)] = &[
    ("EXECUTION_STARTED", None),
    ("STEP_SCHEDULED", Some(1)),
    ("STEP_LOST", Some(1)),
    ("STEP_SCHEDULED", Some(2)),
    ("STEP_STARTED", Some(2)),
    ("STEP_COMPLETED", Some(2)),
    ("EXECUTION_COMPLETED", None),
];
const DEAD: &[(&str, Option<u32>)] = &[
    ("EXECUTION_STARTED", None),
    ("STEP_SCHEDULED", Some(1)),
    ("STEP_FAILED", Some(1)),
    ("RETRY_SCHEDULED", Some(2)),
    ("STEP_FAILED", Some(2)),
    ("DEAD_LETTERED", None),
    ("EXECUTION_FAILED", None),
];

/// A step that every node died of, and that is given up with the last of them.
fn given_up() -> Exported {
    let mut names = vec![("EXECUTION_STARTED", None)];
    for attempt in 1..=LOSSES_MAX {
        names.push(("STEP_SCHEDULED", Some(attempt)));
        names.push(("STEP_LOST", Some(attempt)));
    }
    names.push(("STEP_FAILED", Some(LOSSES_MAX)));
    names.push(("DEAD_LETTERED", None));
    names.push(("EXECUTION_FAILED", None));
    let mut given_up = execution("given-up", 6, "dlq", &names);
    given_up.letter = Some("last".to_owned());
    given_up
}

/// Request 1 is done after a loss, 2 is dead and was retried, 3 was refused, 4 and 5 got no certain
/// answer, 6 was given up.
fn sound() -> Evidence {
    let mut dead = execution("dead", 2, "dlq", DEAD);
    dead.letter = Some("letter".to_owned());
    let mut again = execution("again", 2, "completed", DONE);
    again.retries = Some("letter".to_owned());
    Evidence {
        sent: vec![
            sent(1, "a", accepted("done")),
            sent(1, "a", accepted("done")),
            sent(2, "b", accepted("dead")),
            sent(3, "c", refused(503, "RF0026")),
            sent(4, "d", Answer::None("reset".to_owned())),
            sent(5, "e", refused(500, "RF0024")),
            sent(6, "f", accepted("given-up")),
        ],
        retried: [accepted("again"), refused(409, "RF0018")]
            .map(|answer| Retried {
                letter: "letter".to_owned(),
                answer,
            })
            .to_vec(),
        calls: vec![
            call("done", 1, 1, 2, Outcome::Hung),
            call("done", 1, 2, 5, Outcome::Good),
            call("dead", 2, 1, 2, Outcome::Bad),
            call("again", 2, 2, 2, Outcome::Good),
        ],
        export: Export {
            executions: vec![
                execution("done", 1, "completed", DONE),
                dead,
                given_up(),
                again,
            ],
            letters: vec![
                Letter {
                    id: "letter".to_owned(),
                    execution: "dead".to_owned(),
                    status: "resolved".to_owned(),
                    resolution: Some("again".to_owned()),
                },
                Letter {
                    id: "last".to_owned(),
                    execution: "given-up".to_owned(),
                    status: "pending".to_owned(),
                    resolution: None,
                },
            ],
        },
        retries_max: 1,
        is_settled: true,
        ..Evidence::default()
    }
}

#[test]
fn a_sound_story_has_no_findings() {
    let findings = check(&sound());
    assert!(findings.0.is_empty(), "{findings:#?}");
}

/// A breach, and the promise that it breaks.
type Breach = (&'static str, Promise, fn(&mut Evidence));

const BREACHES: &[Breach] = &[
    (
        "an accepted request has no execution",
        Promise::OneExecutionPerAnswer,
        |story| story.sent.push(sent(9, "z", accepted("gone"))),
    ),
    (
        "an accepted request has two",
        Promise::OneExecutionPerAnswer,
        |story| {
            let second = execution("second", 1, "completed", DONE);
            story.export.executions.push(second);
        },
    ),
    (
        "a refused request has one",
        Promise::OneExecutionPerAnswer,
        |story| story.sent[2].answer = refused(503, "RF0025"),
    ),
    (
        "an open request has two",
        Promise::OneExecutionPerAnswer,
        |story| {
            for id in ["x", "y"] {
                let one = execution(id, 4, "completed", DONE);
                story.export.executions.push(one);
            }
        },
    ),
    (
        "a request nobody sent has one",
        Promise::OneExecutionPerAnswer,
        |story| story.export.executions[0].request = Some(77),
    ),
    (
        "an internal error",
        Promise::OneExecutionPerAnswer,
        |story| story.sent[3].answer = refused(500, "RF0023"),
    ),
    (
        "one key, two executions",
        Promise::SameKeySameExecution,
        |story| story.sent[2].plan.key = Some("a".to_owned()),
    ),
    ("two ends", Promise::OneEnd, |story| {
        let log = &mut story.export.executions[0].log;
        log.push(entry(8, "EXECUTION_CANCELLED", None));
    }),
    ("an event after the end", Promise::OneEnd, |story| {
        let log = &mut story.export.executions[0].log;
        log.push(entry(8, "STEP_STARTED", None));
    }),
    ("a status that is not the end's", Promise::OneEnd, |story| {
        story.export.executions[0].status = "cancelled".to_owned();
    }),
    (
        "an attempt is missing",
        Promise::AttemptsWithoutGaps,
        |story| {
            let log = &mut story.export.executions[0].log;
            log[3].attempt = Some(3);
        },
    ),
    (
        "one attempt too many",
        Promise::AttemptsWithoutGaps,
        |story| story.retries_max = 0,
    ),
    (
        "a lost attempt came to something",
        Promise::AttemptsWithoutGaps,
        |story| story.export.executions[0].log[4] = entry(5, "STEP_LOST", Some(2)),
    ),
    (
        "an attempt ended twice",
        Promise::AttemptsWithoutGaps,
        |story| story.export.executions[0].log[4].name = "STEP_FAILED".to_owned(),
    ),
    (
        "given up after fewer losses",
        Promise::AttemptsWithoutGaps,
        |story| {
            let log = &mut story.export.executions[2].log;
            let first = log.iter_mut().find(|entry| entry.name == "STEP_LOST");
            first.unwrap().name = "STEP_FAILED".to_owned();
        },
    ),
    (
        "given up, and tried again",
        Promise::AttemptsWithoutGaps,
        |story| {
            let log = &mut story.export.executions[2].log;
            let end = log.len();
            log[end - 2] = entry(end as u64 - 1, "STEP_SCHEDULED", Some(LOSSES_MAX + 1));
        },
    ),
    (
        "lost after it had failed",
        Promise::AttemptsWithoutGaps,
        |story| {
            let log = &mut story.export.executions[2].log;
            let failed = log.len() - 3;
            log[failed].name = "STEP_LOST".to_owned();
            log[failed - 1].name = "STEP_FAILED".to_owned();
        },
    ),
    ("another replay", Promise::ReplayIsIdentical, |story| {
        story.export.executions[0].replay = Some("it differs".to_owned())
    }),
    ("a gap in the log", Promise::ReplayIsIdentical, |story| {
        story.export.executions[0].log.remove(4);
    }),
    (
        "a dead execution without a letter",
        Promise::LettersAddUp,
        |story| story.export.letters.clear(),
    ),
    (
        "a letter of a living execution",
        Promise::LettersAddUp,
        |story| story.export.letters[0].execution = "done".to_owned(),
    ),
    ("a retry that is lost", Promise::LettersAddUp, |story| {
        story.export.executions.pop();
        story.calls.pop();
    }),
    ("a retry made twice", Promise::LettersAddUp, |story| {
        let mut second = story.export.executions[3].clone();
        second.id = "second".to_owned();
        story.export.executions.push(second);
        story.calls.push(call("second", 2, 2, 2, Outcome::Good));
    }),
    (
        "a letter that does not know of its retry",
        Promise::LettersAddUp,
        |story| story.export.letters[0].status = "pending".to_owned(),
    ),
    ("an open execution", Promise::NothingIsStuck, |story| {
        let one = &mut story.export.executions[0];
        one.status = "running".to_owned();
        one.log.truncate(5);
    }),
    (
        "a call for work that is not there",
        Promise::CallsAreOfDurableWork,
        |story| story.calls.push(call("ghost", 1, 1, 1, Outcome::Good)),
    ),
    (
        "a call with another name",
        Promise::CallsAreOfDurableWork,
        |story| story.calls[0].key = "other".to_owned(),
    ),
    (
        "a call with another input",
        Promise::CallsAreOfDurableWork,
        |story| story.calls[0].request = Some(2),
    ),
    (
        "done without an answer",
        Promise::CallsAreOfDurableWork,
        |story| story.calls[1].outcome = Outcome::Bad,
    ),
    (
        "called again after it was done",
        Promise::CallsAreOfDurableWork,
        |story| story.calls.push(call("done", 1, 2, 60, Outcome::Good)),
    ),
];

/// A task that worker `w1` lost by its lock, and that `w2` did after it had given it back once.
fn sound_task() -> Evidence {
    let mut done = execution(
        "task",
        7,
        "completed",
        &[
            ("EXECUTION_STARTED", None),
            ("STEP_SCHEDULED", Some(1)),
            ("EXTERNAL_TASK_CREATED", Some(1)),
            ("EXTERNAL_TASK_LOCKED", Some(1)),
            ("STEP_FAILED", Some(1)),
            ("RETRY_SCHEDULED", Some(2)),
            ("EXTERNAL_TASK_LOCKED", Some(2)),
            ("STEP_COMPLETED", Some(2)),
            ("EXECUTION_COMPLETED", None),
        ],
    );
    let holder = |worker: &str, second: i64| {
        let at = Timestamp::from_millis(second * 1_000);
        Some((Some(worker.to_owned()), at))
    };
    done.log[3].holder = holder("w1", 4);
    done.log[6].holder = holder("w2", 7);
    done.log[7].word = Some("done".to_owned());
    let account = Account::default();
    account.add_handed(handed("one", "w1", 1, 4));
    account.add_handed(handed("two", "w2", 2, 6));
    account.add_said(said("two", Saying::Unlock, "back", Told::Taken));
    account.add_handed(handed("three", "w2", 2, 7));
    account.add_said(said("three", Saying::Complete, "done", Told::Open));
    account.add_said(said("three", Saying::Complete, "done", Told::Taken));
    account.add_said(said("one", Saying::Complete, "late", Told::Refused(409)));
    let mut story = Evidence {
        calls: account.calls(),
        account,
        tasks: vec![row()],
        retries_max: 1,
        is_settled: true,
        ..Evidence::default()
    };
    story.sent.push(sent(7, "g", accepted("task")));
    story.export.executions.push(done);
    story
}

fn row() -> Task {
    let row = serde_json::json!({
        "id": "xt_1", "executionId": "task", "workflowInstanceId": "task", "workflowId": "one",
        "stepId": "first", "taskType": "work", "priority": 5, "lockDurationSeconds": 1,
        "availableAt": "", "timeoutAt": "", "status": "COMPLETED", "retryCount": 1, "maxRetries": 2,
        "createdAt": "", "updatedAt": "", "version": 1,
    });
    serde_json::from_value(row).unwrap()
}

fn handed(token: &str, worker: &str, attempt: u32, second: i64) -> Handed {
    let locked_at = Timestamp::from_millis(second * 1_000);
    Handed {
        task: "xt_1".to_owned(),
        execution: "task".to_owned(),
        step: "first".to_owned(),
        attempt,
        token: token.to_owned(),
        worker: worker.to_owned(),
        locked_at,
        lock_until: locked_at,
        request: Some(7),
    }
}

fn said(token: &str, saying: Saying, word: &str, told: Told) -> Said {
    Said {
        task: "xt_1".to_owned(),
        token: token.to_owned(),
        saying,
        word: word.to_owned(),
        told,
    }
}

const BREACHES_OF_TASKS: &[Breach] = &[
    (
        "a word that was taken is not there",
        Promise::WordsAreRecorded,
        |story| story.export.executions[0].log[7].word = None,
    ),
    (
        "a word that was refused is there",
        Promise::WordsAreRecorded,
        |story| story.export.executions[0].log[4].word = Some("late".to_owned()),
    ),
    (
        "a word is the end of another attempt",
        Promise::WordsAreRecorded,
        |story| {
            story
                .account
                .add_said(said("one", Saying::Complete, "lost", Told::Taken))
        },
    ),
    (
        "somebody who did it is told that he did not",
        Promise::WordsAreRecorded,
        |story| {
            let again = said("three", Saying::Complete, "done", Told::Refused(409));
            story.account.add_said(again);
        },
    ),
    (
        "nobody said what is recorded",
        Promise::WordsAreRecorded,
        |story| story.export.executions[0].log[4].word = Some("whose".to_owned()),
    ),
    (
        "a lock that nobody had is taken",
        Promise::WordsAreRecorded,
        |story| {
            story
                .account
                .add_said(said("forged", Saying::Complete, "forged", Told::Taken))
        },
    ),
    ("two have the same attempt", Promise::OneHolder, |story| {
        story.account.add_handed(handed("four", "w3", 1, 4));
    }),
    (
        "a lock begins before the attempt before it has ended",
        Promise::OneHolder,
        |story| story.export.executions[0].log[4].at = Timestamp::from_millis(6_500),
    ),
    (
        "a task is handed out before the attempt before it has ended",
        Promise::OneHolder,
        |story| story.account.add_handed(handed("four", "w3", 2, 4)),
    ),
    ("another worker is recorded", Promise::OneHolder, |story| {
        story.export.executions[0].log[6].holder.as_mut().unwrap().0 = None
    }),
    ("a row is gone", Promise::TasksAreTheirLogs, |story| {
        story.tasks.clear();
    }),
    ("a row too many", Promise::TasksAreTheirLogs, |story| {
        story.tasks.push(row());
    }),
    (
        "a row says something else",
        Promise::TasksAreTheirLogs,
        |story| story.tasks[0].status = TaskStatus::Locked,
    ),
];

#[test]
fn a_sound_story_of_a_task_has_no_findings() {
    let findings = check(&sound_task());
    assert!(findings.0.is_empty(), "{findings:#?}");
}

#[test]
fn every_breach_about_tasks_is_named() {
    for (name, promise, breach) in BREACHES_OF_TASKS {
        let mut story = sound_task();
        breach(&mut story);
        let found = check(&story).promises();
        assert!(found.contains(promise), "{name}: {found:?}");
    }
}

#[test]
fn every_breach_is_named() {
    for (breach, promise, plant) in BREACHES {
        let mut story = sound();
        plant(&mut story);
        let promises = check(&story).promises();
        assert!(promises.contains(promise), "{breach}: {promises:?}");
    }
}
