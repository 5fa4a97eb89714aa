//! Triggers: made, changed, listed, deleted, and gone with what they left behind.

use refire_core::execution::TriggerKind;
use refire_core::id::{TriggerId, WebhookId};
use refire_core::trigger::{Entry, LateReason, Outcome, SkipReason, State};

use super::Lab;
use super::stage::{Stage, two_steps, workflow_id};
use super::trigger::{at, change, changing, due, firing, new_state, slot};
use crate::{
    ChangeTrigger, CreateTrigger, LIMIT_MAX, NewState, Part, PartOutcome, Prune, RequestFilter,
    RequestStatus, TriggerFilter,
};

pub async fn a_new_trigger_is_found_again(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.new_trigger(&workflow, TriggerKind::Webhook);
    assert_eq!(stage.create(hook.clone()).await, PartOutcome::Done);
    let row = stage.trigger(hook.id).await;
    assert_eq!((row.version, row.enabled), (1, true));
    assert_eq!((row.created_at, row.updated_at), (stage.now, stage.now));
    assert_eq!((&row.workflow, row.kind), (&hook.workflow, hook.kind));
    assert_eq!(row.settings, hook.settings);
    assert_eq!((&row.secrets, row.webhook), (&hook.secrets, hook.webhook));
    let found = stage.store.webhook(hook.webhook.unwrap()).await.unwrap();
    assert_eq!(found, Some(row));
    assert_eq!(stage.store.trigger_state(hook.id).await.unwrap(), None);
    let cron = stage.made(&workflow, TriggerKind::Cron).await;
    let state = stage.state(cron.id).await;
    assert_eq!(state, State { rev: 1, ..due(60) });
    assert_eq!((state.success_at, state.success_slot), (None, None));
    let nobody = TriggerId::from_bytes([1; 16]);
    assert_eq!(stage.store.trigger(nobody).await.unwrap(), None);
    let nowhere = WebhookId::from_bytes([1; 16]);
    assert_eq!(stage.store.webhook(nowhere).await.unwrap(), None);
    assert_eq!(stage.store.trigger_state(nobody).await.unwrap(), None);
}

pub async fn ids_and_addresses_are_taken_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.new_trigger(&workflow, TriggerKind::Webhook);
    let same_address = CreateTrigger {
        id: stage.trigger_id(),
        ..hook.clone()
    };
    let mut lost = hook.clone();
    lost.workflow = workflow_id("nobody-knows");
    let parts = [lost, hook.clone(), hook, same_address.clone()];
    let parts = parts.map(|create| Part::CreateTrigger(Box::new(create)));
    let outcomes = stage.commit(parts.into()).await;
    let expected = [
        PartOutcome::NoSuchWorkflow,
        PartOutcome::Done,
        PartOutcome::Conflict,
        PartOutcome::Conflict,
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(stage.store.trigger(same_address.id).await.unwrap(), None);
}

pub async fn a_change_needs_what_it_saw(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    stage.wait(10);
    let mut first = change(&row);
    first.settings = b"other".to_vec();
    first.secrets = Some(vec![9]);
    let (plan, rev) = (due(5), 1);
    first.state = Some(new_state(rev, plan));
    let again = changing(first.clone());
    let outcomes = stage.commit(vec![changing(first), again]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::TriggerMoved]);
    let changed = stage.trigger(row.id).await;
    assert_eq!((changed.version, &changed.settings[..]), (2, &b"other"[..]));
    assert_eq!(changed.secrets, Some(vec![9]));
    assert_eq!(changed.updated_at, stage.now);
    assert_eq!(changed.created_at, row.created_at);
    let state = stage.state(row.id).await;
    assert_eq!(state, State { rev: 2, ..plan });
    // The version fits, the state does not.
    let mut late = change(&changed);
    late.state = Some(new_state(1, plan));
    assert_eq!(
        stage.commit_one(changing(late)).await,
        PartOutcome::TriggerMoved
    );
    // One that says nothing about the state is seen by whoever plans all the same.
    let quiet = changing(change(&changed));
    assert_eq!(stage.commit_one(quiet).await, PartOutcome::Done);
    let state = stage.state(row.id).await;
    assert_eq!(state, State { rev: 3, ..plan });
    let mut nobody = change(&changed);
    nobody.id = TriggerId::from_bytes([1; 16]);
    assert_eq!(
        stage.commit_one(changing(nobody)).await,
        PartOutcome::NoSuchTrigger
    );
}

pub async fn a_state_can_come_later(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Webhook).await;
    let plan = State {
        watched_from: Some(at(0)),
        ..due(9)
    };
    for (rev, expected) in [(1, PartOutcome::TriggerMoved), (0, PartOutcome::Done)] {
        let mut watched = change(&row);
        watched.state = Some(new_state(rev, plan));
        assert_eq!(stage.commit_one(changing(watched)).await, expected);
    }
    let state = stage.state(row.id).await;
    assert_eq!(state, State { rev: 1, ..plan });
}

/// A change of what stands there now that writes these slots down.
async fn noting(stage: &Stage, id: TriggerId, slots: Vec<Entry>, extends: bool) -> ChangeTrigger {
    let state = stage.store.trigger_state(id).await.unwrap();
    ChangeTrigger {
        state: Some(NewState {
            slots,
            extends,
            ..new_state(state.map_or(0, |state| state.rev), due(60))
        }),
        ..change(&stage.trigger(id).await)
    }
}

pub async fn a_change_writes_the_ledger(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let other = stage.made(&workflow, TriggerKind::Cron).await;
    let paused = |seconds| slot(seconds, Outcome::Skipped(SkipReason::Paused));
    let missed = |seconds| slot(seconds, Outcome::Skipped(SkipReason::Missed));
    let mut fire = stage.fire(row.id, due(60)).await;
    fire.slots = vec![paused(1)];
    stage.commit_one(firing(fire)).await;
    // It goes on with what a fire wrote, also where it disables the trigger.
    let mut first = noting(&stage, row.id, vec![paused(2), missed(3)], true).await;
    first.enabled = false;
    let mut moved = noting(&stage, row.id, vec![missed(99)], false).await;
    moved.version = 9;
    let mut late = first.clone();
    late.version += 1;
    let parts = [moved, first, late].map(changing);
    let outcomes = stage.commit(parts.into()).await;
    let expected = [
        PartOutcome::TriggerMoved,
        PartOutcome::Done,
        PartOutcome::TriggerMoved,
    ];
    assert_eq!(outcomes, expected);
    // Where it is not asked for, it makes a row of its own; so does an end of another kind.
    for (slots, extends) in [(vec![missed(4)], false), (vec![paused(5)], true)] {
        let next = noting(&stage, row.id, slots, extends).await;
        assert_eq!(stage.commit_one(changing(next)).await, PartOutcome::Done);
    }
    let longer = Entry {
        to: at(2),
        count: 2,
        at: at(2),
        ..paused(1)
    };
    let ledger = stage.ledger(row.id).await;
    let slots: Vec<Entry> = ledger.into_iter().map(|row| row.slot).collect();
    assert_eq!(slots, [paused(5), missed(4), missed(3), longer]);
    // A fire goes on with what a change wrote.
    let mut on = noting(&stage, row.id, Vec::new(), true).await;
    on.enabled = true;
    stage.commit_one(changing(on)).await;
    let mut fire = stage.fire(row.id, due(60)).await;
    (fire.slots, fire.extends) = (vec![paused(6)], true);
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
    let ledger = stage.ledger(row.id).await;
    assert_eq!((ledger.len(), ledger[0].slot.count), (4, 2));
    assert_eq!(stage.state(row.id).await.rev, 7);
    assert_eq!(stage.ledger(other.id).await, Vec::new());
}

pub async fn a_ledger_begins_with_the_state(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Webhook).await;
    let late = |seconds| slot(seconds, Outcome::Late(LateReason::Behind));
    let slots = vec![late(1), late(2)];
    let mut refused = noting(&stage, row.id, slots.clone(), true).await;
    refused.state.as_mut().unwrap().rev = 1;
    let outcome = stage.commit_one(changing(refused)).await;
    assert_eq!(outcome, PartOutcome::TriggerMoved);
    assert_eq!(stage.ledger(row.id).await, Vec::new());
    let first = noting(&stage, row.id, slots, true).await;
    assert_eq!(stage.commit_one(changing(first)).await, PartOutcome::Done);
    let state = stage.state(row.id).await;
    assert_eq!(state, State { rev: 1, ..due(60) });
    let mut fire = stage.fire(row.id, due(60)).await;
    fire.slots = vec![late(3)];
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
    let ledger = stage.ledger(row.id).await;
    let nominal: Vec<_> = ledger.iter().map(|row| row.slot.nominal).collect();
    assert_eq!(nominal, [at(3), at(2), at(1)]);
}

/// What it writes counts as what fires write.
pub async fn a_change_cuts_the_ledger(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    // The state of the one is there before its ledger, that of the other comes with it.
    for kind in [TriggerKind::Cron, TriggerKind::Webhook] {
        let row = stage.made(&workflow, kind).await;
        let mut longest = 0;
        for round in 0..40_u64 {
            let slots = (0..20).map(|n| slot(round * 20 + n, Outcome::Late(LateReason::Behind)));
            let slots = slots.collect();
            let part = if round % 3 == 2 {
                let mut fire = stage.fire(row.id, due(60)).await;
                fire.slots = slots;
                firing(fire)
            } else {
                changing(noting(&stage, row.id, slots, false).await)
            };
            assert_eq!(stage.commit_one(part).await, PartOutcome::Done);
            let ledger = stage.ledger(row.id).await;
            longest = longest.max(ledger.len());
            assert!(
                ledger.len() >= 200.min((round as usize + 1) * 20),
                "{round}"
            );
            let newest = ledger.iter().map(|row| row.slot.nominal);
            let expected = (0..round * 20 + 20).rev().map(at);
            assert!(newest.eq(expected.take(ledger.len())), "without a gap");
        }
        assert!(longest < 300, "{longest} rows");
    }
}

pub async fn a_disabled_trigger_is_never_due(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    assert_eq!(stage.store.next_trigger_due().await.unwrap(), Some(at(60)));
    let mut off = change(&row);
    off.enabled = false;
    stage.commit_one(changing(off)).await;
    assert_eq!(stage.store.next_trigger_due().await.unwrap(), None);
    assert_eq!(stage.state(row.id).await.cursor, at(60));
    let mut still_off = change(&stage.trigger(row.id).await);
    let rev = stage.state(row.id).await.rev;
    still_off.state = Some(new_state(rev, due(1)));
    assert_eq!(
        stage.commit_one(changing(still_off)).await,
        PartOutcome::Done
    );
    let mut born_off = stage.new_trigger(&workflow, TriggerKind::Schedule);
    born_off.enabled = false;
    stage.create(born_off).await;
    assert_eq!(stage.store.next_trigger_due().await.unwrap(), None);
    let fire = stage.fire(row.id, due(2)).await;
    assert_eq!(
        stage.commit_one(firing(fire)).await,
        PartOutcome::TriggerMoved
    );
}

pub async fn a_deleted_workflow_disables_its_triggers(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("orders")).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    let cron = stage.made(&orders, TriggerKind::Cron).await;
    let hook = stage.made(&orders, TriggerKind::Webhook).await;
    let other = stage.made(&refunds, TriggerKind::Cron).await;
    let overdue = State {
        watched_from: Some(at(0)),
        alarmed_at: Some(at(1)),
        ..due(9)
    };
    let mut watched = Vec::new();
    for of in [&orders, &refunds] {
        let mut create = stage.new_trigger(of, TriggerKind::Cron);
        create.state = Some(overdue);
        watched.push(create.id);
        stage.create(create).await;
    }
    stage.wait(3);
    let delete = Part::DeleteWorkflow {
        id: orders.id.clone(),
    };
    assert_eq!(stage.commit_one(delete).await, PartOutcome::Done);
    for row in [&cron, &hook] {
        let row = stage.trigger(row.id).await;
        assert_eq!((row.enabled, row.version), (false, 2));
        assert_eq!(row.updated_at, stage.now);
    }
    let state = stage.state(cron.id).await;
    assert_eq!((state.rev, state.due_at), (2, None));
    assert_eq!(stage.trigger(other.id).await, other);
    // Nobody waits for a success of what cannot start.
    let plan = stage.state(watched[0]).await;
    assert_eq!((plan.watched_from, plan.alarmed_at), (None, None));
    assert_eq!(stage.state(watched[1]).await, State { rev: 1, ..overdue });
    let mut on = change(&stage.trigger(cron.id).await);
    on.enabled = true;
    assert_eq!(
        stage.commit_one(changing(on)).await,
        PartOutcome::NoSuchWorkflow
    );
    let create = stage.new_trigger(&orders, TriggerKind::Cron);
    assert_eq!(stage.create(create).await, PartOutcome::NoSuchWorkflow);
    stage.save(&two_steps("orders")).await;
    assert!(!stage.trigger(cron.id).await.enabled, "it stays as it is");
}

pub async fn a_deleted_trigger_is_not_shown(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let hook = stage.made(&workflow, TriggerKind::Webhook).await;
    let cron = stage.made(&workflow, TriggerKind::Cron).await;
    for row in [&hook, &cron] {
        for expected in [PartOutcome::Done, PartOutcome::NoSuchTrigger] {
            let delete = Part::DeleteTrigger {
                id: row.id,
                workflow: workflow.id.clone(),
            };
            assert_eq!(stage.commit_one(delete).await, expected);
        }
        assert_eq!(stage.store.trigger(row.id).await.unwrap(), None);
        assert_eq!(stage.store.trigger_state(row.id).await.unwrap(), None);
        let outcome = stage.commit_one(changing(change(row))).await;
        assert_eq!(outcome, PartOutcome::NoSuchTrigger);
    }
    let address = hook.webhook.unwrap();
    assert_eq!(stage.store.webhook(address).await.unwrap(), None);
    let all = TriggerFilter::default();
    assert_eq!(stage.store.count_triggers(&all).await.unwrap(), 0);
    let listed = stage.store.triggers(&all, None, LIMIT_MAX).await.unwrap();
    assert_eq!(listed, Vec::new());
    let mut reuse = stage.new_trigger(&workflow, TriggerKind::Webhook);
    reuse.webhook = Some(address);
    assert_eq!(
        stage.create(reuse).await,
        PartOutcome::Conflict,
        "an address is never given twice"
    );
}

pub async fn filters_choose_triggers(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("orders")).await;
    let refunds = stage.save(&two_steps("refunds")).await;
    let kinds = [
        TriggerKind::Cron,
        TriggerKind::Schedule,
        TriggerKind::Webhook,
    ];
    let mut made = Vec::new();
    for n in 0..12 {
        let of = if n % 4 == 0 { &refunds } else { &orders };
        let mut create = stage.new_trigger(of, kinds[n % 3]);
        create.enabled = n % 2 == 0;
        if let Some(plan) = create.state.as_mut().filter(|_| n % 3 == 1) {
            plan.alarmed_at = plan.due_at;
        }
        let id = create.id;
        stage.create(create).await;
        made.push((stage.trigger(id).await, n % 3 == 1));
    }
    for workflow in [None, Some("orders"), Some("refunds"), Some("nobody-knows")] {
        for kinds in [&kinds[..0], &kinds[..1], &kinds[1..]] {
            for enabled in [None, Some(true), Some(false)] {
                for is_alarmed in [None, Some(true), Some(false)] {
                    let filter = TriggerFilter {
                        workflow: workflow.map(workflow_id),
                        kinds: kinds.to_vec(),
                        enabled,
                        is_alarmed,
                    };
                    chooses(&stage, &made, &filter).await;
                }
            }
        }
    }
    for (id, limit) in [
        ("orders", 9),
        ("refunds", 9),
        ("orders", 1),
        ("nobody-knows", 9),
    ] {
        let mut expected = Vec::new();
        let of = |row: &&crate::TriggerRow| row.workflow.as_str() == id && row.enabled;
        for row in made.iter().map(|(row, _)| row).filter(of) {
            expected.extend(
                stage
                    .store
                    .trigger_state(row.id)
                    .await
                    .unwrap()
                    .map(|_| row.id),
            );
        }
        expected.truncate(limit);
        let of = workflow_id(id);
        let found = stage.store.standing_triggers(&of, limit as u32);
        let found: Vec<_> = found.await.unwrap().iter().map(|due| due.row.id).collect();
        assert_eq!(found, expected, "{id} {limit}");
    }
}

/// Triggers, and whether a success of each is missing.
async fn chooses(stage: &Stage, made: &[(crate::TriggerRow, bool)], filter: &TriggerFilter) {
    let is_chosen = |(row, is_alarmed): &&(crate::TriggerRow, bool)| {
        let of = filter.workflow.as_ref();
        of.is_none_or(|of| row.workflow == *of)
            && (filter.kinds.is_empty() || filter.kinds.contains(&row.kind))
            && filter.enabled.is_none_or(|enabled| row.enabled == enabled)
            && filter.is_alarmed.is_none_or(|asked| asked == *is_alarmed)
    };
    let expected: Vec<_> = made
        .iter()
        .filter(is_chosen)
        .map(|(row, _)| row.clone())
        .collect();
    let count = stage.store.count_triggers(filter).await.unwrap();
    assert_eq!(count, expected.len() as u64, "{filter:?}");
    let mut found = Vec::new();
    loop {
        let after = found.last().map(|row: &crate::TriggerRow| row.id);
        let page = stage.store.triggers(filter, after, 2).await.unwrap();
        if page.is_empty() {
            break;
        }
        found.extend(page);
    }
    assert_eq!(found, expected, "{filter:?}");
}

pub async fn what_a_deleted_trigger_left_goes_later(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let gone = stage.made(&workflow, TriggerKind::Cron).await;
    let kept = stage.made(&workflow, TriggerKind::Cron).await;
    for row in [&gone, &kept] {
        let mut fire = stage.fire(row.id, due(60)).await;
        fire.slots = vec![slot(1, Outcome::Skipped(SkipReason::Paused)); 4];
        stage.commit_one(firing(fire)).await;
        let request = stage.request(row.id, RequestStatus::Filtered);
        stage.commit_one(Part::LogRequests(vec![request])).await;
    }
    let delete = Part::DeleteTrigger {
        id: gone.id,
        workflow: workflow.id.clone(),
    };
    stage.commit_one(delete).await;
    assert_eq!(stage.ledger(gone.id).await.len(), 4, "for a while");
    let prune = |before, limit| Part::Prune(Prune::Triggers { before, limit });
    let pruned = |removed| PartOutcome::Pruned {
        removed,
        next: None,
    };
    let early = stage.commit_one(prune(stage.now, 9)).await;
    assert_eq!(early, pruned(0), "deleted at that very moment");
    for removed in [3, 3, 0] {
        let outcome = stage.commit_one(prune(at(1), 3)).await;
        assert_eq!(outcome, pruned(removed));
    }
    assert_eq!(stage.ledger(gone.id).await, Vec::new());
    assert_eq!(stage.ledger(kept.id).await.len(), 4);
    let all = RequestFilter::default();
    for (row, count) in [(&gone, 0), (&kept, 1)] {
        let left = stage.store.requests(row.id, &all, None, 9).await.unwrap();
        assert_eq!(left.len(), count);
    }
}
