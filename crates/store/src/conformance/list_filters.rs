//! Lists of executions by everything that can be asked of them.

use refire_core::definition::Workflow;
use refire_core::execution::{Command, Status, Trigger, TriggerKind};
use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::{ExecutionId, TriggerId};
use refire_core::trace::Trace;

use super::Lab;
use super::lists::{cast, ids, list};
use super::stage::{Run, Stage, http, two_steps, workflow_id};
use crate::{ExecutionFilter, IdempotencyClaim, OfWorkflow, Part, PartOutcome};

async fn found(stage: &Stage, filter: ExecutionFilter) -> Vec<ExecutionId> {
    let found = ids(&list(stage, &filter).await);
    let counted = stage.store.count_executions(&filter, 100).await.unwrap();
    assert_eq!(counted.total(), found.len() as u64, "{filter:?}");
    assert!(counted.is_exact && counted.searched_to.is_none());
    found
}

/// Admits an execution that a trigger has started.
async fn started(stage: &mut Stage, workflow: &Workflow, trigger: Trigger) -> Run {
    let mut with = stage.plain_start("{}");
    with.trigger = trigger;
    let (run, admit) = stage.start(workflow, with);
    let outcome = stage.commit_one(Part::Admit(Box::new(admit))).await;
    assert_eq!(outcome, PartOutcome::Done);
    run
}

fn by(kind: TriggerKind, id: Option<TriggerId>) -> Trigger {
    Trigger {
        kind,
        id: id.map(|id| id.to_string()),
        ..Trigger::manual(None)
    }
}

pub async fn workflows_are_named_or_begun(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut of = Vec::new();
    for name in ["order", "order_a", "order_b", "orde", "Order_a", "refund"] {
        let workflow = stage.save(&two_steps(name)).await;
        of.push((name, stage.admit(&workflow, "{}").await.id));
    }
    of.reverse();
    let named = |name: &str| OfWorkflow::Named(workflow_id(name));
    let begun = |text: &str| OfWorkflow::Beginning(text.to_owned());
    for (asked, expected) in [
        (vec![named("order")], vec!["order"]),
        (
            vec![named("refund"), named("order")],
            vec!["refund", "order"],
        ),
        (vec![begun("order")], vec!["order_b", "order_a", "order"]),
        (vec![begun("order_")], vec!["order_b", "order_a"]),
        (
            vec![begun("order_"), named("refund")],
            vec!["refund", "order_b", "order_a"],
        ),
        (vec![begun("")], of.iter().map(|(name, _)| *name).collect()),
        (vec![begun("z"), named("nobody-knows")], vec![]),
    ] {
        let expected: Vec<ExecutionId> = (of.iter())
            .filter(|(name, _)| expected.contains(name))
            .map(|(_, id)| *id)
            .collect();
        for statuses in [
            vec![],
            vec![Status::Pending],
            vec![Status::Pending, Status::Completed],
        ] {
            let filter = ExecutionFilter {
                workflows: asked.clone(),
                statuses,
                ..ExecutionFilter::default()
            };
            assert_eq!(found(&stage, filter.clone()).await, expected, "{filter:?}");
        }
    }
}

/// More workflows than have a path of their own.
const CROWD: usize = 20;

pub async fn a_trigger_lists_what_it_started(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let triggers = [1, 2].map(|n| TriggerId::from_bytes([n; 16]));
    let mut all: Vec<(Option<TriggerId>, TriggerKind, ExecutionId)> = Vec::new();
    for n in 0..CROWD {
        let workflow = stage.save(&two_steps(&format!("w{n}"))).await;
        let kind = [TriggerKind::Manual, TriggerKind::Webhook, TriggerKind::Cron][n % 3];
        let trigger = [None, Some(triggers[n % 2]), Some(triggers[n % 2])][n % 3];
        let run = started(&mut stage, &workflow, by(kind, trigger)).await;
        all.push((trigger, kind, run.id));
    }
    all.reverse();
    for trigger in triggers {
        let mine = all.iter().filter(|(of, ..)| *of == Some(trigger));
        let expected: Vec<_> = mine.map(|(_, _, id)| *id).collect();
        let filter = ExecutionFilter {
            trigger: Some(trigger),
            ..ExecutionFilter::default()
        };
        assert!(expected.len() > 1);
        assert_eq!(found(&stage, filter).await, expected);
    }
    for asked in [
        vec![TriggerKind::Manual],
        vec![TriggerKind::Cron, TriggerKind::Webhook],
        vec![TriggerKind::Amqp],
    ] {
        let mine = all.iter().filter(|(_, kind, _)| asked.contains(kind));
        let expected: Vec<_> = mine.map(|(_, _, id)| *id).collect();
        let filter = ExecutionFilter {
            workflows: vec![OfWorkflow::Beginning("w".to_owned())],
            trigger_kinds: asked,
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter).await, expected);
    }
}

pub async fn times_are_those_of_the_ids(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut all = Vec::new();
    for _ in 0..5 {
        let run = stage.admit(&workflow, "{}").await;
        all.push((stage.now, run.id));
        stage.wait(60);
    }
    all.reverse();
    for statuses in [vec![], vec![Status::Pending], vec![Status::Dlq]] {
        for (newer, _) in &all {
            for (older, _) in &all {
                let is_in = |at| *older <= at && at < *newer && !statuses.contains(&Status::Dlq);
                let expected = all.iter().filter(|(at, _)| is_in(*at));
                let expected: Vec<_> = expected.map(|(_, id)| *id).collect();
                let filter = ExecutionFilter {
                    statuses: statuses.clone(),
                    from: Some(*older),
                    to: Some(*newer),
                    ..ExecutionFilter::default()
                };
                assert_eq!(found(&stage, filter).await, expected);
            }
        }
    }
}

pub async fn versions_and_ids_choose(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let cast = cast(&mut stage, "orders").await;
    let mut everyone: Vec<_> = cast.iter().map(|(_, run)| run.id).collect();
    everyone.reverse();
    for (version, expected) in [(1, everyone.clone()), (2, Vec::new())] {
        let filter = ExecutionFilter {
            version: Some(version),
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter).await, expected);
    }
    let nobody = ExecutionId::from_bytes([9; 16]);
    for (asked, statuses, expected) in [
        (vec![], vec![], vec![]),
        (vec![nobody], vec![], vec![]),
        (
            vec![everyone[4], nobody, everyone[1], everyone[4]],
            vec![],
            vec![everyone[1], everyone[4]],
        ),
        (everyone.clone(), vec![], everyone.clone()),
        (everyone.clone(), vec![Status::Running], vec![cast[0].1.id]),
    ] {
        let filter = ExecutionFilter {
            ids: Some(asked),
            statuses,
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter.clone()).await, expected, "{filter:?}");
    }
}

pub async fn errors_are_found(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    stage.snapshot_every = 3;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut of = Vec::new();
    for failure in [
        http("503"),
        http("404"),
        Failure::new(ErrorClass::Dns, "no such host"),
        Failure::new(ErrorClass::Tls, "an old certificate"),
    ] {
        let class = failure.class.name().to_owned();
        let mut run = stage.admit(&workflow, "{}").await;
        stage.fail(&mut run, "a", failure).await;
        of.push((class, run));
    }
    // What has come right is not found, though it failed once; nor what has been paused before it began.
    let mut recovered = stage.admit(&workflow, "{}").await;
    stage.fail(&mut recovered, "a", http("503")).await;
    stage.succeed(&mut recovered, "a", "1").await;
    let mut paused = stage.admit(&workflow, "{}").await;
    stage.send(&mut paused, Command::Pause { by: None }).await;
    of.reverse();
    for asked in [vec!["http_status"], vec!["dns", "tls"], vec!["whim"]] {
        let mine = of
            .iter()
            .filter(|(class, _)| asked.contains(&class.as_str()));
        let expected: Vec<_> = mine.map(|(_, run)| run.id).collect();
        let filter = ExecutionFilter {
            error_types: asked.iter().map(|name| (*name).to_owned()).collect(),
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter.clone()).await, expected, "{filter:?}");
        let filter = ExecutionFilter {
            statuses: vec![Status::Completed],
            ..filter
        };
        assert_eq!(found(&stage, filter).await, []);
    }
}

pub async fn texts_are_found_in_names_and_errors(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("Orders_100")).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    let plain = stage.admit(&orders, "{}").await;
    let mut done = stage.admit(&orders, "{}").await;
    stage.succeed(&mut done, "a", "1").await;
    stage.succeed(&mut done, "b", "1").await;
    let mut failed = stage.admit(&refunds, "{}").await;
    let failure = Failure::new(ErrorClass::Dns, "100% of \u{dc}BER_ are gone").with_code("E\u{0}7");
    stage.fail(&mut failed, "a", failure).await;
    let dead = stage.dead_letter(&refunds, "404").await;
    for (text, expected) in [
        ("ORDERS", vec![done.id, plain.id]),
        ("refund", vec![dead.id, failed.id]),
        ("s_1", vec![done.id, plain.id]),
        ("100", vec![failed.id, done.id, plain.id]),
        ("100%", vec![failed.id]),
        ("\u{fc}ber_", vec![failed.id]),
        ("e\u{0}7", vec![failed.id]),
        ("404", vec![dead.id]),
        ("nothing", vec![]),
    ] {
        let filter = ExecutionFilter {
            text: Some(text.to_owned()),
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter.clone()).await, expected, "{text}");
        let filter = ExecutionFilter {
            statuses: vec![Status::Completed],
            ..filter
        };
        let completed: Vec<_> = expected.into_iter().filter(|id| *id == done.id).collect();
        assert_eq!(found(&stage, filter).await, completed, "{text}");
    }
}

pub async fn a_trace_is_found(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let text = "4bf92f3577b34da6a3ce929d0e0e4736";
    let mut with = stage.plain_start("{}");
    let parent = format!("00-{text}-00f067aa0ba902b7-01");
    with.trace = Trace::read([parent.as_bytes()].into_iter(), std::iter::empty());
    assert!(with.trace.is_some());
    let (theirs, admit) = stage.start(&workflow, with);
    stage.commit_one(Part::Admit(Box::new(admit))).await;
    let ours = stage.admit(&workflow, "{}").await;
    let own: String = ours
        .id
        .as_bytes()
        .iter()
        .map(|byte| format!("{byte:02x}"))
        .collect();
    for (trace, expected) in [(text, theirs.id), (own.as_str(), ours.id)] {
        let filter = ExecutionFilter {
            trace: Some(trace.to_owned()),
            ..ExecutionFilter::default()
        };
        assert_eq!(found(&stage, filter).await, [expected]);
    }
}

pub async fn keys_find_their_executions(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let mut of = Vec::new();
    for (scope, key) in [
        ("orders", 1),
        ("orders", 2),
        ("trg_x", 1),
        ("trg_x run", 3),
        ("z", 1),
    ] {
        let with = stage.plain_start("{}");
        let (run, mut admit) = stage.start(&workflow, with);
        admit.claim = Some(IdempotencyClaim {
            scope: scope.to_owned(),
            key_hash: [key; 16],
            body_hash: [7; 8],
            expires_at: stage.now,
            over: None,
        });
        stage.commit_one(Part::Admit(Box::new(admit))).await;
        of.push((key, run.id));
    }
    for key in 0..5 {
        let expected = of.iter().filter(|(used, _)| *used == key);
        let expected: Vec<_> = expected.map(|(_, id)| *id).collect();
        let found = stage.store.executions_by_key([key; 16]).await.unwrap();
        assert_eq!(found, expected, "{key}");
    }
}
