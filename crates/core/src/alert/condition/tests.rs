//! For whom rules hold.

use super::*;
use crate::id::TriggerId;

fn at(seconds: i64) -> Timestamp {
    Timestamp::from_millis(seconds * 1_000)
}

/// A moment in the middle of a minute.
const NOW_S: i64 = 6_030;

fn workflow(name: &str) -> WorkflowId {
    WorkflowId::new(name).unwrap()
}

fn minute(name: &str, minute: i64, minute_of: Minute) -> OfWorkflow {
    OfWorkflow {
        workflow: workflow(name),
        at: at(minute * 60),
        minute: minute_of,
    }
}

fn ended(completed: u64, failed: u64) -> Minute {
    Minute {
        completed,
        failed,
        dead_lettered: failed,
        ..Minute::default()
    }
}

/// Facts from minutes, for a rule.
fn counted(rule: &str, minutes: &[OfWorkflow]) -> Facts {
    let window = Rule::read(rule).unwrap().condition.window().unwrap();
    let mut sums: BTreeMap<&WorkflowId, Window> = BTreeMap::new();
    for one in minutes
        .iter()
        .filter(|it| is_within(it.at, window, at(NOW_S)))
    {
        sums.entry(&one.workflow).or_default().add(one);
    }
    let sums = sums.into_iter().map(|(workflow, window)| WindowSum {
        workflow: workflow.clone(),
        sum: window.sum,
        failed_at: window.failed_at,
        completed_at: window.completed_at,
    });
    Facts {
        windows: [(window, sums.collect())].into(),
        ..Facts::default()
    }
}

fn found(rule: &str, facts: &Facts) -> Vec<(String, i64)> {
    let rule = Rule::read(rule).unwrap();
    let found = findings(&rule, facts, at(NOW_S));
    found.into_iter().map(|it| (it.subject, it.value)).collect()
}

#[test]
fn a_share_counts_from_enough_executions_on() {
    let minutes = [
        minute("few", 100, ended(0, 9)),
        minute("half", 100, ended(5, 5)),
        minute("half", 95, ended(5, 5)),
        minute("all", 99, ended(0, 10)),
        minute("old", 80, ended(0, 100)),
        minute("good", 100, ended(90, 10)),
    ];
    let found = |rule: &str, minutes: &[OfWorkflow]| found(rule, &counted(rule, minutes));
    let rule = "{name: r, kind: failure_rate, window: 10m, above: 10, min_count: 10}";
    let both = [("all".to_owned(), 100_000), ("half".to_owned(), 50_000)];
    assert_eq!(found(rule, &minutes), both);
    let one = "{name: r, kind: failure_rate, window: 10m, above: 10, workflow: half}";
    assert_eq!(found(one, &minutes), both[1..]);
    let limit = "{name: r, kind: failure_rate, window: 10m, above: 50}";
    assert_eq!(found(limit, &minutes), both[..1]);
    // The minute that the window begins in is within it.
    let edge = "{name: r, kind: failure_rate, window: 5m, above: 10, min_count: 20}";
    assert_eq!(found(edge, &minutes), both[1..]);
}

#[test]
fn letters_and_missed_times_are_counted() {
    let missed = Minute {
        missed: 3,
        ..Minute::default()
    };
    let facts = [minute("a", 100, ended(0, 2)), minute("b", 100, missed)];
    let found = |rule: &str, minutes: &[OfWorkflow]| found(rule, &counted(rule, minutes));
    let letters = "{name: r, kind: dlq_growth, above: 1}";
    assert_eq!(found(letters, &facts), [("a".to_owned(), 2_000)]);
    let more = "{name: r, kind: dlq_growth, above: 2}";
    assert_eq!(found(more, &facts), []);
    let missed = "{name: r, kind: missed_slots}";
    assert_eq!(found(missed, &facts), [("b".to_owned(), 3_000)]);
}

#[test]
fn a_scheduled_task_has_failed_until_it_succeeds() {
    let task = ScheduledTaskId::from_bytes([3; 16]).to_string();
    let rule = "{name: r, kind: scheduled_task_failed}";
    let mut minutes = vec![minute(&task, 90, ended(0, 1)), minute("w", 90, ended(0, 1))];
    let found = |minutes: &[OfWorkflow]| found(rule, &counted(rule, minutes));
    assert_eq!(found(&minutes), [(task.clone(), 1_000)]);
    minutes.push(minute(&task, 89, ended(1, 0)));
    assert_eq!(found(&minutes).len(), 1);
    minutes.push(minute(&task, 91, ended(1, 0)));
    assert_eq!(found(&minutes), []);
}

#[test]
fn what_is_there_is_told_with_its_age() {
    let silent = |worker: &str, seen_s: i64, is_replaced| Silent {
        worker: worker.to_owned(),
        seen_at: at(seen_s),
        is_replaced,
    };
    let trigger = TriggerId::from_bytes([1; 16]);
    let facts = Facts {
        workers: vec![
            silent("a", NOW_S - 400, false),
            silent("b", NOW_S - 400, true),
            silent("c", NOW_S - 90_000, false),
        ],
        overdue: vec![Overdue {
            trigger,
            workflow: workflow("w"),
            since: at(NOW_S - 7),
        }],
        held: vec![
            LongHeld {
                workflow: workflow("w"),
                since: at(NOW_S - 61),
            },
            LongHeld {
                workflow: workflow("v"),
                since: at(NOW_S - 60),
            },
        ],
        breakers: vec![OpenBreaker {
            host: "h:80".to_owned(),
            since: at(NOW_S - 5),
        }],
        ..Facts::default()
    };
    let workers = "{name: r, kind: dead_workers}";
    assert_eq!(found(workers, &facts), [("a".to_owned(), 400_000)]);
    let dead_man = "{name: r, kind: dead_man, workflow: w}";
    assert_eq!(found(dead_man, &facts), [(trigger.to_string(), 7_000)]);
    assert_eq!(found("{name: r, kind: dead_man, workflow: v}", &facts), []);
    let long = "{name: r, kind: long_processing, after: 1m}";
    assert_eq!(found(long, &facts), [("w".to_owned(), 61_000)]);
    let breakers = "{name: r, kind: breaker_open}";
    assert_eq!(found(breakers, &facts), [("h:80".to_owned(), 5_000)]);
}

#[test]
fn of_very_many_the_worst_are_told() {
    let minutes = (0..300).map(|number| minute(&format!("w{number}"), 100, ended(0, number)));
    let (rule, minutes) = ("{name: r, kind: dlq_growth}", minutes.collect::<Vec<_>>());
    let all = found(rule, &counted(rule, &minutes));
    assert_eq!((all.len(), all[0].1), (SUBJECTS_MAX, 299_000));
}
