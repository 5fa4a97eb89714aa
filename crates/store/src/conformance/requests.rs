//! Requests to webhooks: what they start, and how those are kept that start nothing.

use refire_core::execution::TriggerKind;
use refire_core::id::{RequestId, TriggerId};

use super::Lab;
use super::stage::{Stage, two_steps};
use super::trigger::{admission, at, change, changing};
use crate::{
    IdempotencyClaim, LIMIT_MAX, Part, PartOutcome, Prune, RefusedRequests, RequestFilter,
    RequestRow, RequestStatus, RequestTally, TriggerRow, TriggerVersion,
};

fn version_of(row: &TriggerRow) -> Option<TriggerVersion> {
    Some(TriggerVersion {
        id: row.id,
        version: row.version,
    })
}

fn key_of(row: &TriggerRow, expires_in: u64) -> Option<IdempotencyClaim> {
    Some(IdempotencyClaim {
        scope: row.id.to_string(),
        key_hash: [7; 16],
        body_hash: [7; 8],
        expires_at: at(expires_in),
        over: None,
    })
}

async fn all(stage: &Stage, row: &TriggerRow) -> Vec<RequestRow> {
    let filter = RequestFilter::default();
    let listed = stage.store.requests(row.id, &filter, None, LIMIT_MAX);
    listed.await.unwrap()
}

pub async fn a_request_is_kept_with_its_execution(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let other = stage.made(&workflow, TriggerKind::Webhook).await;
    let mut request = stage.request(hook.id, RequestStatus::Triggered);
    (request.body, request.error) = (None, None);
    let mut started = Vec::new();
    let mut parts = Vec::new();
    for (row, keeps) in [(&hook, true), (&hook, false), (&other, false)] {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        (admit.trigger, admit.claim) = (version_of(row), key_of(row, 60));
        request.execution = Some(run.id);
        admit.request = keeps.then(|| Box::new(request.clone()));
        parts.push(admission(admit));
        started.push(run);
    }
    request.execution = Some(started[0].id);
    let outcomes = stage.commit(parts).await;
    let duplicate = PartOutcome::Duplicate {
        execution: started[0].id,
        body_differs: false,
    };
    assert_eq!(outcomes, [PartOutcome::Done, duplicate, PartOutcome::Done]);
    assert_eq!(all(&stage, &hook).await, [request.clone()]);
    assert_eq!(all(&stage, &other).await, []);
    let found = stage.store.request(request.id).await.unwrap();
    assert_eq!(found, Some(request));
    stage.check(&started[0]).await;
    // The key's time is over.
    stage.wait(60);
    let with = stage.plain_start("{}");
    let (_, mut admit) = stage.start(&workflow, with);
    (admit.trigger, admit.claim) = (version_of(&hook), key_of(&hook, 120));
    assert_eq!(stage.commit_one(admission(admit)).await, PartOutcome::Done);
}

pub async fn a_changed_trigger_starts_nothing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let with = stage.plain_start("{}");
    let (run, mut admit) = stage.start(&workflow, with);
    (admit.trigger, admit.claim) = (version_of(&hook), key_of(&hook, 60));
    admit.request = Some(Box::new(stage.request(hook.id, RequestStatus::Triggered)));
    let moved = PartOutcome::TriggerMoved;
    // Changed in the same batch, before.
    let parts = vec![changing(change(&hook)), admission(admit.clone())];
    assert_eq!(stage.commit(parts).await[1], moved);
    let mut off = change(&stage.trigger(hook.id).await);
    off.enabled = false;
    stage.commit_one(changing(off)).await;
    admit.trigger = version_of(&stage.trigger(hook.id).await);
    assert_eq!(stage.commit_one(admission(admit.clone())).await, moved);
    let mut on = change(&stage.trigger(hook.id).await);
    on.enabled = true;
    stage.commit_one(changing(on)).await;
    let row = stage.trigger(hook.id).await;
    admit.trigger = version_of(&row);
    let delete = Part::DeleteTrigger {
        id: hook.id,
        workflow: workflow.id.clone(),
    };
    let mut none = admit.clone();
    none.trigger = Some(TriggerVersion {
        id: stage.trigger_id(),
        version: 1,
    });
    assert_eq!(stage.commit_one(admission(none)).await, moved);
    stage.commit_one(delete).await;
    assert_eq!(stage.commit_one(admission(admit.clone())).await, moved);
    assert_eq!(all(&stage, &hook).await, []);
    assert_eq!(stage.store.execution(run.id).await.unwrap(), None);
    // The key was not taken by any of them.
    admit.trigger = None;
    assert_eq!(stage.commit_one(admission(admit)).await, PartOutcome::Done);
}

/// Whatever a store remembers of a trigger because of its requests, it forgets with every change.
pub async fn a_trigger_that_started_something_may_change(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    for what in ["changed", "disabled", "deleted"] {
        let hook = stage.made(&workflow, TriggerKind::Webhook).await;
        let mut outcomes = Vec::new();
        for round in 0..3 {
            let with = stage.plain_start("{}");
            let (_, mut admit) = stage.start(&workflow, with);
            admit.trigger = version_of(&hook);
            outcomes.push(stage.commit_one(admission(admit)).await);
            if round == 1 {
                let mut change = change(&hook);
                change.enabled = what != "disabled";
                let part = match what {
                    "deleted" => Part::DeleteTrigger {
                        id: hook.id,
                        workflow: workflow.id.clone(),
                    },
                    _ => changing(change),
                };
                assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
            }
        }
        let (done, moved) = (PartOutcome::Done, PartOutcome::TriggerMoved);
        assert_eq!(outcomes, [done.clone(), done, moved], "{what}");
    }
}

pub async fn a_refused_request_can_be_run(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let refused = stage.request(hook.id, RequestStatus::AuthFailed);
    let log = Part::LogRequests(vec![refused.clone()]);
    assert_eq!(stage.commit_one(log).await, PartOutcome::Done);
    let found = stage.store.request(refused.id).await.unwrap();
    assert_eq!(found.as_ref(), Some(&refused));
    let listed = RequestRow {
        body: None,
        ..refused.clone()
    };
    assert_eq!(all(&stage, &hook).await, [listed]);
    let with = stage.plain_start("{}");
    let (run, mut admit) = stage.start(&workflow, with);
    let accepted = RequestRow {
        status: RequestStatus::Triggered,
        execution: Some(run.id),
        body: None,
        error: None,
        ..refused
    };
    admit.request = Some(Box::new(accepted.clone()));
    assert_eq!(stage.commit_one(admission(admit)).await, PartOutcome::Done);
    let only = std::slice::from_ref(&accepted);
    assert_eq!(all(&stage, &hook).await, only);
    // A refusal that is written down late does not go over what was started.
    let late = RequestRow {
        status: RequestStatus::Error,
        execution: None,
        ..accepted.clone()
    };
    let log = Part::LogRequests(vec![late]);
    assert_eq!(stage.commit_one(log).await, PartOutcome::Done);
    assert_eq!(all(&stage, &hook).await, [accepted]);
    let unknown = RequestId::from_bytes([1; 16]);
    assert_eq!(stage.store.request(unknown).await.unwrap(), None);
}

pub async fn a_refused_request_is_run_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let refused = stage.request(hook.id, RequestStatus::Filtered);
    stage
        .commit_one(Part::LogRequests(vec![refused.clone()]))
        .await;
    let mut parts = Vec::new();
    let mut runs = Vec::new();
    for _ in 0..3 {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        (admit.trigger, admit.claim) = (version_of(&hook), key_of(&hook, 60));
        admit.request = Some(Box::new(RequestRow {
            status: RequestStatus::Triggered,
            execution: Some(run.id),
            body: None,
            ..refused.clone()
        }));
        parts.push(admission(admit));
        runs.push(run);
    }
    let late = parts.pop().expect("three");
    let outcomes = stage.commit(parts).await;
    let duplicate = PartOutcome::Duplicate {
        execution: runs[0].id,
        body_differs: false,
    };
    assert_eq!(outcomes, [PartOutcome::Done, duplicate.clone()]);
    assert_eq!(stage.commit_one(late).await, duplicate);
    let row = stage.store.request(refused.id).await.unwrap().unwrap();
    assert_eq!(row.execution, Some(runs[0].id));
    assert_eq!(stage.store.execution(runs[1].id).await.unwrap(), None);
}

pub async fn filters_choose_requests(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let other = stage.made(&workflow, TriggerKind::Webhook).await;
    let mut expected: Vec<RequestRow> = Vec::new();
    for n in 0..27 {
        stage.wait(1);
        let id = if n % 7 == 6 { other.id } else { hook.id };
        let mut request = stage.request(id, RequestStatus::ALL[n % 9]);
        request.is_test = n % 4 == 0;
        stage
            .commit_one(Part::LogRequests(vec![request.clone()]))
            .await;
        request.body = None;
        if id == hook.id {
            expected.insert(0, request);
        }
    }
    let some = vec![RequestStatus::Filtered, RequestStatus::IpRefused];
    let with_triggered = vec![RequestStatus::Triggered, RequestStatus::Error];
    for statuses in [vec![], some, with_triggered] {
        for is_test in [None, Some(true), Some(false)] {
            for (from, to) in [
                (None, None),
                (Some(5), None),
                (Some(5), Some(20)),
                (None, Some(9)),
            ] {
                let filter = RequestFilter {
                    statuses: statuses.clone(),
                    is_test,
                    from: from.map(at),
                    to: to.map(at),
                };
                let is_asked = |row: &&RequestRow| {
                    (statuses.is_empty() || statuses.contains(&row.status))
                        && is_test.is_none_or(|test| test == row.is_test)
                        && from.is_none_or(|from| row.at >= at(from))
                        && to.is_none_or(|to| row.at < at(to))
                };
                let expected: Vec<_> = expected.iter().filter(is_asked).cloned().collect();
                let mut found: Vec<RequestRow> = Vec::new();
                loop {
                    let before = found.last().map(|row| row.id);
                    let page = stage.store.requests(hook.id, &filter, before, 4);
                    let page = page.await.unwrap();
                    if page.is_empty() {
                        break;
                    }
                    found.extend(page);
                }
                assert_eq!(found, expected, "{filter:?}");
                for max in [3, 100] {
                    let found = stage.store.request_tally(hook.id, &filter, max);
                    let expected = tally(&expected[..expected.len().min(max as usize)]);
                    assert_eq!(found.await.unwrap(), expected, "{filter:?} {max}");
                }
            }
        }
    }
}

/// Requests by their status.
fn tally(requests: &[RequestRow]) -> Vec<RequestTally> {
    let mut found: Vec<RequestTally> = Vec::new();
    for status in RequestStatus::ALL {
        let of = |row: &&RequestRow| row.status == status;
        let times = requests.iter().filter(of).map(|row| row.at);
        let (oldest, newest) = (times.clone().min(), times.clone().max());
        found.extend(oldest.zip(newest).map(|(oldest, newest)| RequestTally {
            status,
            count: times.count() as u64,
            oldest,
            newest,
        }));
    }
    found.sort_by_key(|tally| tally.status.name());
    found
}

pub async fn refused_requests_are_counted_by_webhook(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    stage.made(&workflow, TriggerKind::Cron).await;
    let hooks = [
        stage.made(&workflow, TriggerKind::Webhook).await,
        stage.made(&workflow, TriggerKind::Webhook).await,
        stage.made(&workflow, TriggerKind::Webhook).await,
    ];
    for (hook, status, is_test) in [
        (0, RequestStatus::AuthFailed, false),
        (0, RequestStatus::Filtered, false),
        (1, RequestStatus::AuthFailed, true),
        (0, RequestStatus::AuthFailed, true),
        (2, RequestStatus::IpRefused, false),
        (0, RequestStatus::AuthFailed, false),
    ] {
        stage.wait(1);
        let mut request = stage.request(hooks[hook].id, status);
        request.is_test = is_test;
        stage.commit_one(Part::LogRequests(vec![request])).await;
    }
    let asked = [RequestStatus::AuthFailed, RequestStatus::IpRefused];
    for (since, max, limit, expected) in [
        (0, 9, 9, vec![(0, 2, 1), (2, 1, 5)]),
        (2, 9, 9, vec![(0, 1, 6), (2, 1, 5)]),
        (0, 1, 9, vec![(0, 1, 1), (2, 1, 5)]),
        (0, 9, 2, vec![(0, 2, 1)]),
        (7, 9, 9, vec![]),
    ] {
        let found = stage.store.refused_requests(&asked, at(since), max, limit);
        let expected: Vec<RefusedRequests> = expected
            .into_iter()
            .map(|(hook, count, since): (usize, _, _)| RefusedRequests {
                trigger: hooks[hook].id,
                workflow: workflow.id.clone(),
                count,
                since: at(since),
            })
            .collect();
        assert_eq!(found.await.unwrap(), expected, "{since} {max} {limit}");
    }
}

pub async fn a_ring_keeps_the_newest(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let other = stage.made(&workflow, TriggerKind::Webhook).await;
    let with = stage.plain_start("{}");
    let (run, mut admit) = stage.start(&workflow, with);
    let mut accepted = stage.request(hook.id, RequestStatus::Triggered);
    accepted.execution = Some(run.id);
    admit.request = Some(Box::new(accepted.clone()));
    stage.commit_one(admission(admit)).await;
    let beside = stage.request(other.id, RequestStatus::Error);
    stage
        .commit_one(Part::LogRequests(vec![beside.clone()]))
        .await;
    let mut sent = Vec::new();
    let filter = RequestFilter {
        statuses: vec![RequestStatus::Duplicate],
        ..RequestFilter::default()
    };
    for _ in 0..26 {
        let mut chunk = Vec::new();
        for _ in 0..50 {
            let mut request = stage.request(hook.id, RequestStatus::Duplicate);
            (request.body, request.execution) = (None, Some(run.id));
            sent.insert(0, request.id);
            chunk.push(request);
        }
        stage.commit_one(Part::LogRequests(chunk)).await;
        let newest = stage.store.requests(hook.id, &filter, None, LIMIT_MAX);
        let newest: Vec<_> = newest.await.unwrap().iter().map(|row| row.id).collect();
        assert!(newest.len() >= sent.len().min(1_000));
        assert_eq!(newest, sent[..newest.len()]);
        let oldest = newest.last().copied();
        let rest = stage.store.requests(hook.id, &filter, oldest, LIMIT_MAX);
        assert!(rest.await.unwrap().len() <= 100);
    }
    let kept = stage.store.request(accepted.id).await.unwrap();
    assert_eq!(kept, Some(accepted), "what started something stays");
    let kept = stage.store.request(beside.id).await.unwrap();
    assert_eq!(kept, Some(beside), "others' rings are theirs");
}

pub async fn rings_are_cut_apart(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut hooks = Vec::new();
    for _ in 0..3 {
        hooks.push(stage.made(&workflow, TriggerKind::Webhook).await);
    }
    // One crowd for all: the first two rings get too long, the third does not.
    for (crowd, kept) in [(700, [700, 700, 1]), (500, [1_000, 1_000, 2])] {
        let mut requests = Vec::new();
        for n in 0..crowd {
            let third = hooks.get(2).filter(|_| n == 0);
            for hook in hooks[..2].iter().chain(third) {
                let mut request = stage.request(hook.id, RequestStatus::Filtered);
                request.body = None;
                requests.push(request);
            }
        }
        stage.commit_one(Part::LogRequests(requests)).await;
        for (hook, kept) in hooks.iter().zip(kept) {
            let mut found = all(&stage, hook).await;
            while let Some(oldest) = found.last().map(|row| row.id) {
                let filter = RequestFilter::default();
                let page = stage
                    .store
                    .requests(hook.id, &filter, Some(oldest), LIMIT_MAX);
                let page = page.await.unwrap();
                if page.is_empty() {
                    break;
                }
                found.extend(page);
            }
            assert_eq!(found.len(), kept);
        }
    }
}

pub async fn a_ring_has_a_weight(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let body = vec![b'x'; 1024 * 1024];
    for n in 1..=20_usize {
        let mut request = stage.request(hook.id, RequestStatus::TooLarge);
        (request.headers, request.error) = (Vec::new(), None);
        request.body = Some(body.clone());
        stage.commit_one(Part::LogRequests(vec![request])).await;
        let kept = all(&stage, &hook).await.len();
        // Cut to sixteen when there would be more than seventeen.
        let expected = if n <= 17 { n } else { 16 + (n - 18) % 2 };
        assert_eq!(kept, expected, "of {n}");
    }
}

pub async fn old_requests_go(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let mut ids = Vec::new();
    for _ in 0..6 {
        stage.wait(1);
        let request = stage.request(hook.id, RequestStatus::Filtered);
        ids.insert(0, request.id);
        stage.commit_one(Part::LogRequests(vec![request])).await;
    }
    for removed in [3, 1, 0] {
        let prune = Prune::Requests {
            before: at(5),
            limit: 3,
        };
        let outcome = stage.commit_one(Part::Prune(prune)).await;
        let next = None;
        assert_eq!(outcome, PartOutcome::Pruned { removed, next });
    }
    let left: Vec<_> = all(&stage, &hook).await.iter().map(|row| row.id).collect();
    assert_eq!(left, ids[..2]);
}

pub async fn of_what_was_accepted_the_newest_stay(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut hooks = Vec::new();
    for _ in 0..3 {
        hooks.push(stage.made(&workflow, TriggerKind::Webhook).await);
    }
    stage.made(&workflow, TriggerKind::Cron).await;
    // The second has two requests, the third none.
    let mut first = Vec::new();
    for number in 0..7 {
        stage.wait(1);
        let status = match number {
            2 => RequestStatus::Filtered,
            _ => RequestStatus::Triggered,
        };
        let request = stage.request(hooks[0].id, status);
        first.push(request.id);
        stage.commit_one(Part::LogRequests(vec![request])).await;
        if number < 2 {
            let other = stage.request(hooks[1].id, RequestStatus::Triggered);
            stage.commit_one(Part::LogRequests(vec![other])).await;
        }
    }
    let ids: Vec<TriggerId> = hooks.iter().map(|hook| hook.id).collect();
    let beyond = stage.store.requests_beyond(3, None, 10).await.unwrap();
    assert_eq!(
        beyond,
        [(ids[0], Some(first[3])), (ids[1], None), (ids[2], None)]
    );
    let beyond = stage.store.requests_beyond(0, Some(ids[0]), 1).await;
    let beyond = beyond.unwrap();
    assert!(
        matches!(beyond[..], [(id, Some(_))] if id == ids[1]),
        "{beyond:?}"
    );
    for removed in [2, 1, 0] {
        let prune = Prune::RequestsOf {
            trigger: ids[0],
            up_to: first[3],
            limit: 2,
        };
        let outcome = stage.commit_one(Part::Prune(prune)).await;
        let next = None;
        assert_eq!(outcome, PartOutcome::Pruned { removed, next });
    }
    let left: Vec<_> = all(&stage, &hooks[0]).await;
    let left: Vec<_> = left.iter().map(|row| row.id).collect();
    // What was refused has a ring of its own.
    assert_eq!(left, [first[6], first[5], first[4], first[2]]);
    assert_eq!(all(&stage, &hooks[1]).await.len(), 2);
}
