//! Everything that can be asked of a store, asked of two: the answers must be equal.

use std::collections::BTreeSet;

use refire_core::dead_letter::LetterStatus;
use refire_core::definition::WorkflowId;
use refire_core::execution::{EventKind, Status};
use refire_core::id::{DlqId, ExecutionId, NodeId, RequestId, TriggerId};
use refire_core::time::Timestamp;
use refire_store::{
    COUNTED_MAX, EventFilter, ExecutionFilter, LIMIT_MAX, LetterFilter, LetterRow, OfWorkflow,
    RequestFilter, SlotFilter, Store, Stretch, Summary, TriggerFilter, WorkKey,
};

macro_rules! same {
    ($found:expr, $expected:expr, $question:ident($($argument:expr),*)) => {{
        let found = $found.$question($($argument),*).await.unwrap();
        let expected = $expected.$question($($argument),*).await.unwrap();
        assert_eq!(found, expected, "{}{:?}", stringify!($question), ($(&$argument,)*));
        expected
    }};
}

/// Asserts that two stores answer alike, whatever they are asked. Times are asked about around `now`.
pub(crate) async fn assert_equal(found: &dyn Store, expected: &dyn Store, now: Timestamp) {
    let listed = executions(found, expected).await;
    assert!(!listed.is_empty(), "nothing is compared with nothing");
    for summary in &listed {
        one_execution(found, expected, summary.id).await;
    }
    let mut ids: Vec<ExecutionId> = listed.iter().map(|summary| summary.id).collect();
    ids.push(ExecutionId::from_bytes([1; 16]));
    ids.push(listed[0].id);
    same!(found, expected, states(&ids));
    letters(found, expected, now).await;
    catalog(found, expected).await;
    work(found, expected, now).await;
    triggers(found, expected, now).await;
}

/// The payloads of a state do not count when states are compared; here they do.
async fn one_execution(found: &dyn Store, expected: &dyn Store, id: ExecutionId) {
    same!(found, expected, execution(id));
    same!(found, expected, load(id));
    let plain = EventFilter::default();
    let log = same!(found, expected, history(id, &plain, 0, LIMIT_MAX));
    same!(found, expected, history(id, &plain, 1, 2));
    same!(found, expected, history(id, &plain, 99, 2));
    for name in EventKind::NAMES {
        let named = EventFilter {
            names: vec![(*name).to_owned(), "no\0such".to_owned()],
            ..EventFilter::default()
        };
        same!(found, expected, history(id, &named, 0, 3));
    }
    for (attempt, step) in [(1, "a"), (2, "b"), (1, "nul \0")] {
        let of_step = EventFilter {
            attempt: Some(attempt),
            names: Vec::new(),
            step: Some(step.to_owned()),
        };
        same!(found, expected, history(id, &of_step, 0, LIMIT_MAX));
    }
    let mut sequences: Vec<u64> = log.iter().rev().map(|event| event.sequence).collect();
    sequences.extend([1, 99]);
    same!(found, expected, values(id, &sequences));
    same!(found, expected, load_values(id, &sequences));
    let states = [found.states(&[id]).await, expected.states(&[id]).await];
    let [a, b] = states.map(|states| {
        let state = states.unwrap().pop().flatten().expect("it is there");
        let kept = |sequence: &u64| state.payloads.get(*sequence).cloned();
        sequences.iter().map(kept).collect::<Vec<_>>()
    });
    assert_eq!(a, b, "the values at hand of {id}");
}

async fn executions(found: &dyn Store, expected: &dyn Store) -> Vec<Summary> {
    let all = ExecutionFilter::default();
    let everything = Stretch::new(None, LIMIT_MAX);
    let listed = same!(found, expected, executions(&all, &everything)).rows;
    let workflows = expected.workflows(None, LIMIT_MAX).await.unwrap();
    let mut of = vec![None];
    of.extend(workflows.into_iter().map(|workflow| Some(workflow.id)));
    of.push(Some("no-such".parse().unwrap()));
    let mut statuses: Vec<Vec<Status>> = Status::ALL.map(|status| vec![status]).to_vec();
    statuses.extend([
        Vec::new(),
        vec![Status::Pending, Status::Running, Status::Dlq],
    ]);
    let middle = listed.get(listed.len() / 2).map(|summary| summary.id);
    let some = Stretch::new(middle, 3);
    for workflow in of {
        for statuses in &statuses {
            for retried in [false, true] {
                let filter = ExecutionFilter {
                    workflows: workflow.iter().cloned().map(OfWorkflow::Named).collect(),
                    statuses: statuses.clone(),
                    retried,
                    ..ExecutionFilter::default()
                };
                same!(found, expected, executions(&filter, &everything));
                same!(found, expected, executions(&filter, &some));
                same!(found, expected, count_executions(&filter, COUNTED_MAX));
            }
        }
    }
    listed
}

async fn letters(found: &dyn Store, expected: &dyn Store, now: Timestamp) {
    let none = None::<DlqId>;
    let all = LetterFilter::default();
    let listed = same!(found, expected, letters(&all, none, LIMIT_MAX));
    for letter in &listed {
        same!(found, expected, letter(letter.id));
        same!(found, expected, letter_retries(letter.id, LIMIT_MAX));
    }
    same!(found, expected, letter(DlqId::from_bytes([1; 16])));
    let middle = listed.get(listed.len() / 2);
    for filter in letter_filters(middle, now) {
        same!(found, expected, letters(&filter, none, LIMIT_MAX));
        same!(
            found,
            expected,
            letters(&filter, middle.map(|letter| letter.id), 2)
        );
        same!(found, expected, letter_summary(&filter));
    }
}

fn letter_filters(some: Option<&LetterRow>, now: Timestamp) -> Vec<LetterFilter> {
    let all = LetterFilter::default;
    let mut filters = vec![all()];
    for status in LetterStatus::ALL {
        filters.push(LetterFilter {
            statuses: vec![status],
            ..all()
        });
    }
    for text in ["UNGÜLTIG", "410", "a", "100%_", "no-such", "\0"] {
        filters.push(LetterFilter {
            text: Some(text.to_owned()),
            ..all()
        });
    }
    for error_types in [&["HttpStatus"][..], &["no\0such"], &["http_status", "tls"]] {
        filters.push(LetterFilter {
            error_types: error_types.iter().map(|name| (*name).to_owned()).collect(),
            ..all()
        });
    }
    let at = some.map_or(now, |letter| letter.failed_at);
    filters.push(LetterFilter {
        from: Some(at),
        ..all()
    });
    filters.push(LetterFilter {
        to: Some(at),
        ..all()
    });
    if let Some(letter) = some {
        filters.push(LetterFilter {
            workflow: Some(letter.workflow.clone()),
            error_types: vec![letter.failure.class.name().to_owned()],
            fingerprint: Some(letter.fingerprint),
            ..all()
        });
        filters.push(LetterFilter {
            workflow: Some(letter.workflow.clone()),
            error_types: vec![letter.failure.class.name().to_owned()],
            statuses: vec![letter.state.status],
            ..all()
        });
        filters.push(LetterFilter {
            workflow: Some(letter.workflow.clone()),
            ..all()
        });
    }
    filters
}

async fn catalog(found: &dyn Store, expected: &dyn Store) {
    let listed = same!(found, expected, workflows(None::<&WorkflowId>, LIMIT_MAX));
    same!(
        found,
        expected,
        workflows(listed.first().map(|row| &row.id), 1)
    );
    for workflow in &listed {
        let id = &workflow.id;
        same!(found, expected, workflow(id));
        let versions = same!(found, expected, versions(id));
        for version in &versions {
            same!(found, expected, version(id, version.version));
        }
        same!(found, expected, version(id, 99));
        same!(found, expected, open_counts(Some(id)));
    }
    same!(found, expected, open_counts(None::<&WorkflowId>));
}

async fn triggers(found: &dyn Store, expected: &dyn Store, now: Timestamp) {
    let (all, every) = (TriggerFilter::default(), RequestFilter::default());
    let none = None::<TriggerId>;
    let listed = same!(found, expected, triggers(&all, none, LIMIT_MAX));
    assert!(!listed.is_empty(), "nothing is compared with nothing");
    for row in &listed {
        let id = row.id;
        same!(found, expected, trigger_state(id));
        same!(
            found,
            expected,
            slots(id, &SlotFilter::default(), None::<u64>, LIMIT_MAX)
        );
        let first = None::<RequestId>;
        let requests = same!(found, expected, requests(id, &every, first, LIMIT_MAX));
        for request in requests {
            same!(found, expected, request(request.id));
        }
    }
    let day = std::time::Duration::from_secs(24 * 3_600);
    same!(found, expected, due_triggers(now.plus(day), LIMIT_MAX));
    same!(found, expected, next_trigger_due());
}

async fn work(found: &dyn Store, expected: &dyn Store, now: Timestamp) {
    let day = std::time::Duration::from_secs(24 * 3_600);
    for at in [now.minus(day), now, now.plus(day)] {
        same!(found, expected, ready_workflows(at));
    }
    let owned = same!(found, expected, orphans(None::<&WorkKey>, LIMIT_MAX));
    let first = owned.first().map(|row| row.key());
    same!(found, expected, orphans(first.as_ref(), 2));
    let owners: BTreeSet<NodeId> = owned.iter().filter_map(|row| row.owner).collect();
    for node in owners {
        for at in [now.minus(day), now, now.plus(day)] {
            same!(found, expected, owned_due(node, at, first.as_ref(), 2));
            let all = None::<&WorkKey>;
            same!(found, expected, owned_due(node, at, all, LIMIT_MAX));
        }
    }
}
