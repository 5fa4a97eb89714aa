//! Steps of plans: fired once, with the ledger and the execution, and told of its end.

use refire_core::execution::TriggerKind;
use refire_core::trigger::ledger::{BACKFILLS_KEPT, SKIPS_KEPT};
use refire_core::trigger::{Entry, LateReason, Outcome, SkipReason, State};

use super::Lab;
use super::stage::{Stage, two_steps};
use super::trigger::{admission, at, change, changing, due, end, firing, slot};
use crate::{LIMIT_MAX, OldExecutions, Part, PartOutcome, Prune, SlotFilter, SlotStatus};

pub async fn a_slot_is_fired_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let (run, fire) = stage.fire_at(row.id, &workflow, 60).await;
    let (late, again) = stage.fire_at(row.id, &workflow, 60).await;
    let neighbour = stage.made(&workflow, TriggerKind::Cron).await;
    let (other, beside) = stage.fire_at(neighbour.id, &workflow, 60).await;
    let (plan, slots) = (fire.state, fire.slots.clone());
    let parts = vec![firing(fire), firing(again.clone()), firing(beside)];
    let outcomes = stage.commit(parts).await;
    let expected = [
        PartOutcome::Done,
        PartOutcome::TriggerMoved,
        PartOutcome::Done,
    ];
    assert_eq!(outcomes, expected);
    assert_eq!(
        stage.commit_one(firing(again)).await,
        PartOutcome::TriggerMoved
    );
    let state = stage.state(row.id).await;
    assert_eq!(state, State { rev: 2, ..plan });
    let ledger = stage.ledger(row.id).await;
    assert_eq!(ledger.len(), 1);
    assert_eq!(ledger[0].slot, slots[0]);
    stage.check(&run).await;
    stage.check(&other).await;
    assert_eq!(stage.store.execution(late.id).await.unwrap(), None);
}

pub async fn a_fire_needs_what_it_saw(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let (run, fire) = stage.fire_at(row.id, &workflow, 60).await;
    let mut old = fire.clone();
    old.version = 9;
    let mut early = fire.clone();
    early.rev = 2;
    let mut unknown = fire.clone();
    unknown.trigger = stage.trigger_id();
    for wrong in [old, early, unknown] {
        let outcome = stage.commit_one(firing(wrong)).await;
        assert_eq!(outcome, PartOutcome::TriggerMoved);
    }
    stage.commit_one(changing(change(&row))).await;
    assert_eq!(
        stage.commit_one(firing(fire)).await,
        PartOutcome::TriggerMoved
    );
    assert_eq!(stage.store.execution(run.id).await.unwrap(), None);
    assert_eq!(stage.ledger(row.id).await, Vec::new());
}

pub async fn a_refused_execution_is_not_fired(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let (_, fire) = stage.fire_at(row.id, &workflow, 60).await;
    let mut stale = fire.clone();
    let admit = stale.admission.as_mut().unwrap();
    (admit.only_newest, admit.row.workflow_version) = (true, 9);
    let mut lost = fire.clone();
    lost.admission.as_mut().unwrap().row.workflow = super::stage::workflow_id("nobody-knows");
    let mut taken = fire.clone();
    let known = stage.admit(&workflow, "{}").await;
    taken.admission.as_mut().unwrap().row.id = known.id;
    let refusals = [
        (stale, PartOutcome::NotNewest),
        (lost, PartOutcome::NoSuchWorkflow),
        (taken, PartOutcome::Conflict),
    ];
    for (refused, expected) in refusals {
        assert_eq!(stage.commit_one(firing(refused)).await, expected);
        assert_eq!(stage.state(row.id).await.rev, 1);
        assert_eq!(stage.ledger(row.id).await, Vec::new());
    }
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
}

/// What makes a store write it apart from the others.
pub async fn a_fire_with_a_key_is_whole(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let key = |scope: &str| crate::IdempotencyClaim {
        scope: scope.to_owned(),
        key_hash: [1; 16],
        body_hash: [0; 8],
        expires_at: at(9_999),
        over: None,
    };
    let (first, mut fire) = stage.fire_at(row.id, &workflow, 60).await;
    fire.admission.as_mut().unwrap().claim = Some(key("a"));
    let mut stale = fire.clone();
    stale.rev = 7;
    let outcomes = stage.commit(vec![firing(stale), firing(fire)]).await;
    assert_eq!(outcomes, [PartOutcome::TriggerMoved, PartOutcome::Done]);
    stage.check(&first).await;
    let (_, mut again) = stage.fire_at(row.id, &workflow, 120).await;
    again.admission.as_mut().unwrap().claim = Some(key("a"));
    let duplicate = PartOutcome::Duplicate {
        execution: first.id,
        body_differs: false,
    };
    assert_eq!(stage.commit_one(firing(again)).await, duplicate);
    assert_eq!(stage.state(row.id).await.rev, 2);
    assert_eq!(stage.ledger(row.id).await.len(), 1);
}

pub async fn stretches_become_one_row(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let missed = |from: u64, to: u64| Entry {
        to: at(to),
        count: to - from + 1,
        ..slot(from, Outcome::Skipped(SkipReason::Missed))
    };
    let steps = [
        // The first of a ledger has nothing to go on with.
        (vec![missed(1, 3)], 1),
        (vec![missed(4, 9)], 1),
        (vec![slot(10, Outcome::Skipped(SkipReason::Overlap))], 2),
        (vec![slot(11, Outcome::Skipped(SkipReason::Paused))], 3),
        (vec![slot(12, Outcome::Skipped(SkipReason::Paused))], 3),
        // Only the first of several goes on with what is there.
        (
            vec![
                slot(13, Outcome::Skipped(SkipReason::Paused)),
                missed(14, 15),
            ],
            4,
        ),
        (vec![slot(16, Outcome::Overdue)], 5),
    ];
    for (slots, rows) in steps {
        let mut fire = stage.fire(row.id, due(60)).await;
        (fire.slots, fire.extends) = (slots, true);
        assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
        assert_eq!(stage.ledger(row.id).await.len(), rows);
    }
    let ledger = stage.ledger(row.id).await;
    let (newest, oldest) = (&ledger[0].slot, &ledger[4].slot);
    assert_eq!(newest.outcome, Outcome::Overdue);
    assert_eq!((oldest.nominal, oldest.to), (at(1), at(9)));
    assert_eq!((oldest.count, oldest.at), (9, at(4)));
    // One that started something is not gone on with, nor does it go on.
    let (_, mut fire) = stage.fire_at(row.id, &workflow, 17).await;
    fire.slots[0].outcome = Outcome::Overdue;
    fire.extends = true;
    stage.commit_one(firing(fire)).await;
    let mut fire = stage.fire(row.id, due(60)).await;
    fire.slots = vec![slot(18, Outcome::Overdue)];
    fire.extends = true;
    stage.commit_one(firing(fire)).await;
    assert_eq!(stage.ledger(row.id).await.len(), 7);
}

pub async fn the_ledger_is_cut_now_and_then(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let mut longest = 0;
    for round in 0..70_u64 {
        let mut fire = stage.fire(row.id, due(60)).await;
        let slots = (0..7).map(|n| slot(round * 7 + n, Outcome::Late(LateReason::Behind)));
        fire.slots = slots.collect();
        assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
        let ledger = stage.ledger(row.id).await;
        longest = longest.max(ledger.len());
        assert!(ledger.len() >= 200.min((round as usize + 1) * 7), "{round}");
        let newest = ledger.iter().map(|row| row.slot.nominal);
        let expected = (0..round * 7 + 7).rev().map(at);
        assert!(newest.eq(expected.take(ledger.len())), "without a gap");
    }
    assert!(longest < 270, "{longest} rows");
}

/// What went well does not push out what was missed, nor what of that was run after all.
pub async fn what_was_missed_is_kept_apart(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let backfilled = |n| slot(n, Outcome::Late(LateReason::Backfill));
    let missed = |n| slot(n, Outcome::Skipped(SkipReason::Missed));
    let fired = |n| slot(n, Outcome::Fired);
    let no_such_time = |n| slot(n, Outcome::Skipped(SkipReason::Dst));
    let mut first = 0;
    let rounds: [(u64, &dyn Fn(u64) -> Entry); 7] = [
        (3, &missed),
        (2, &backfilled),
        (600, &fired),
        (300, &no_such_time),
        (2_100, &backfilled),
        (90, &missed),
        (90, &missed),
    ];
    let mut counts = Vec::new();
    for (count, slot) in rounds {
        for begin in (first..first + count).step_by(30) {
            let mut fire = stage.fire(row.id, due(60)).await;
            let end = (begin + 30).min(first + count);
            fire.slots = (begin..end).map(slot).collect();
            assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
        }
        first += count;
        let of = async |outcome: Outcome| {
            let (mut seen, mut before) = (0_u64, None);
            loop {
                let filter = SlotFilter {
                    statuses: vec![outcome.status()],
                    ..SlotFilter::default()
                };
                let page = stage.store.slots(row.id, &filter, before, LIMIT_MAX);
                let page = page.await.unwrap();
                let is_meant = |row: &&crate::SlotRow| row.slot.outcome == outcome;
                seen += page.iter().filter(is_meant).count() as u64;
                before = page.last().map(|row| row.seq);
                if before.is_none() {
                    return seen;
                }
            }
        };
        counts.push((
            of(Outcome::Skipped(SkipReason::Missed)).await,
            of(Outcome::Late(LateReason::Backfill)).await,
            of(Outcome::Fired).await,
        ));
    }
    assert_eq!(counts[..2], [(3, 0, 0), (3, 2, 0)]);
    let (missed, run, kept) = counts[2];
    assert_eq!((missed, run), (3, 2), "nothing of it is pushed out");
    assert!((200..=280).contains(&kept), "{kept}");
    assert!(counts[3].2 < 100, "{counts:?}");
    let (missed, run, _) = counts[4];
    assert_eq!(missed, 3);
    assert!((BACKFILLS_KEPT..2_080).contains(&run), "{run}");
    let (missed, _, _) = counts[6];
    assert!((SKIPS_KEPT..183).contains(&missed), "{missed}");
}

pub async fn filters_choose_slots(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let other = stage.made(&workflow, TriggerKind::Cron).await;
    let mut expected = Vec::new();
    for n in 0..24_u64 {
        let outcome = Outcome::ALL[(n % 12) as usize];
        let slot = Entry {
            to: at(10 * n + 5),
            ..slot(10 * n, outcome)
        };
        expected.insert(0, slot);
        for id in [row.id, other.id] {
            let mut fire = stage.fire(id, due(60)).await;
            fire.slots = vec![slot];
            stage.commit_one(firing(fire)).await;
        }
    }
    let of = |statuses: &[SlotStatus], from: Option<u64>, to: Option<u64>| SlotFilter {
        statuses: statuses.to_vec(),
        from: from.map(at),
        to: to.map(at),
    };
    for filter in [
        of(&[], None, None),
        of(&[SlotStatus::Late, SlotStatus::Overdue], None, None),
        of(&[], Some(15), Some(40)),
        of(&[], Some(16), None),
        of(&[SlotStatus::Skipped], None, Some(101)),
        of(&[], Some(40), Some(40)),
    ] {
        let mut found: Vec<crate::SlotRow> = Vec::new();
        loop {
            let before = found.last().map(|row| row.seq);
            let page = stage.store.slots(row.id, &filter, before, 3);
            let page = page.await.unwrap();
            if page.is_empty() {
                break;
            }
            found.extend(page);
        }
        let is_asked = |slot: &&Entry| {
            let statuses = &filter.statuses;
            (statuses.is_empty() || statuses.contains(&slot.outcome.status()))
                && filter.from.is_none_or(|from| slot.to >= from)
                && filter.to.is_none_or(|to| slot.nominal < to)
        };
        let found: Vec<Entry> = found.into_iter().map(|row| row.slot).collect();
        assert_eq!(
            found.iter().collect::<Vec<_>>(),
            expected.iter().filter(is_asked).collect::<Vec<_>>()
        );
    }
    for (from, to, limit) in [
        (0, 999, 9),
        (15, 40, 9),
        (16, 41, 9),
        (20, 20, 9),
        (0, 99, 2),
    ] {
        let found = stage.store.slots_between(row.id, at(from), at(to), limit);
        let found: Vec<_> = found
            .await
            .unwrap()
            .into_iter()
            .map(|row| row.slot)
            .collect();
        let is_there = |slot: &&Entry| slot.to >= at(from) && slot.nominal < at(to);
        let oldest = expected.iter().rev().filter(is_there).take(limit as usize);
        assert_eq!(found, oldest.cloned().collect::<Vec<_>>(), "{from}..{to}");
    }
}

pub async fn the_earliest_are_due_first(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    assert_eq!(stage.store.next_trigger_due().await.unwrap(), None);
    let mut made = Vec::new();
    for seconds in [50, 10, 30, 10, 20] {
        let mut create = stage.new_trigger(&workflow, TriggerKind::Cron);
        create.state = Some(due(seconds));
        made.push((at(seconds), create.id));
        stage.create(create).await;
    }
    stage.made(&workflow, TriggerKind::Webhook).await;
    made.sort();
    let mut other = change(&stage.trigger(made[1].1).await);
    (other.settings, other.secrets) = (b"other".to_vec(), Some(vec![7]));
    stage.commit_one(changing(other)).await;
    assert_eq!(stage.store.next_trigger_due().await.unwrap(), Some(at(10)));
    for (by, limit, count) in [(30, 9, 4), (30, 3, 3), (9, 9, 0), (99, 9, 5)] {
        let found = stage.store.due_triggers(at(by), limit).await.unwrap();
        let ids: Vec<_> = found.iter().map(|due| due.row.id).collect();
        let expected: Vec<_> = made.iter().take(count).map(|(_, id)| *id).collect();
        assert_eq!(ids, expected, "by {by}");
        for due in found {
            assert_eq!(due.row, stage.trigger(due.row.id).await);
            assert_eq!(due.state, stage.state(due.row.id).await);
        }
    }
    let mut fire = stage.fire(made[0].1, due(70)).await;
    fire.state.due_at = None;
    stage.commit_one(firing(fire)).await;
    let first = stage.store.due_triggers(at(99), 1).await.unwrap();
    assert_eq!(first[0].row.id, made[1].1);
    assert_eq!(
        (first[0].row.version, &first[0].row.settings[..]),
        (2, &b"other"[..])
    );
}

/// A trigger with a running execution, and what its plan says beside that.
async fn running(
    stage: &mut Stage,
    workflow: &refire_core::definition::Workflow,
    state: State,
) -> (crate::TriggerRow, super::stage::Run) {
    let row = stage.made(workflow, TriggerKind::Cron).await;
    let (run, mut fire) = stage.fire_at(row.id, workflow, 60).await;
    fire.state = State {
        running: Some(run.id),
        ..state
    };
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
    (row, run)
}

pub async fn an_end_clears_what_was_waited_for(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (row, mut run) = running(&mut stage, &workflow, due(120)).await;
    // Another execution of the same trigger does not clear it.
    let mut other = stage.admit(&workflow, "{}").await;
    let ending = stage.ending(&mut other, end(row.id, 30, true));
    assert_eq!(stage.commit_one(ending).await, PartOutcome::Done);
    let state = stage.state(row.id).await;
    assert_eq!((state.rev, state.running), (2, Some(run.id)));
    assert_eq!(state.success_at, Some(at(31)));
    assert_eq!(state.success_slot, Some(at(30)));
    let ending = stage.ending(&mut run, end(row.id, 60, false));
    stage.commit_one(ending).await;
    let expected = State {
        rev: 3,
        running: None,
        ..state
    };
    assert_eq!(
        stage.state(row.id).await,
        expected,
        "a failure is no success, and nothing waits"
    );
    stage.check(&run).await;
}

pub async fn an_end_wakes_what_waits(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let buffered = State {
        buffered: Some(at(90)),
        ..due(999)
    };
    let alarmed = State {
        alarmed_at: Some(at(1)),
        due_at: None,
        ..due(999)
    };
    let early = State {
        buffered: Some(at(90)),
        ..due(2)
    };
    stage.wait(5);
    // The revision grows by one for what was waited for, and by one if the look is due earlier.
    for (plan, success, due_at, rev) in [
        (buffered, false, Some(at(5)), 4),
        (alarmed, true, Some(at(5)), 4),
        (alarmed, false, None, 3),
        (early, true, Some(at(2)), 3),
    ] {
        let (row, mut run) = running(&mut stage, &workflow, plan).await;
        let ending = stage.ending(&mut run, end(row.id, 60, success));
        stage.commit_one(ending).await;
        let state = stage.state(row.id).await;
        assert_eq!((state.running, state.due_at), (None, due_at));
        assert_eq!((state.buffered, state.rev), (plan.buffered, rev));
    }
    // Not if it is disabled, and not if it is gone.
    let (row, mut run) = running(&mut stage, &workflow, buffered).await;
    let mut off = change(&row);
    off.enabled = false;
    stage.commit_one(changing(off)).await;
    let ending = stage.ending(&mut run, end(row.id, 60, true));
    assert_eq!(stage.commit_one(ending).await, PartOutcome::Done);
    let state = stage.state(row.id).await;
    assert_eq!((state.running, state.due_at), (None, None));
    let (row, mut run) = running(&mut stage, &workflow, buffered).await;
    let delete = Part::DeleteTrigger {
        id: row.id,
        workflow: workflow.id.clone(),
    };
    let ending = stage.ending(&mut run, end(row.id, 60, true));
    let outcomes = stage.commit(vec![delete, ending]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::Done]);
    stage.check(&run).await;
}

/// Ends that come all the time keep nobody from changing the trigger, and a change takes no success back.
pub async fn a_success_is_in_nobodys_way(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let mut told = change(&row);
    told.state = Some(super::trigger::new_state(1, due(300)));
    let (fired, fire) = stage.fire_at(row.id, &workflow, 60).await;
    let mut other = stage.admit(&workflow, "{}").await;
    let ending = stage.ending(&mut other, end(row.id, 30, true));
    stage.commit_one(ending).await;
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
    stage.check(&fired).await;
    let mut another = stage.admit(&workflow, "{}").await;
    let ending = stage.ending(&mut another, end(row.id, 40, true));
    stage.commit_one(ending).await;
    told.state = Some(super::trigger::new_state(2, due(300)));
    assert_eq!(stage.commit_one(changing(told)).await, PartOutcome::Done);
    let expected = State {
        rev: 3,
        success_at: Some(at(41)),
        success_slot: Some(at(40)),
        ..due(300)
    };
    assert_eq!(stage.state(row.id).await, expected);
}

pub async fn several_ends_in_one_batch(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (row, mut run) = running(&mut stage, &workflow, due(120)).await;
    let mut others = Vec::new();
    for _ in 0..3 {
        others.push(stage.admit(&workflow, "{}").await);
    }
    let [first, second, third] = &mut others[..] else {
        panic!("three");
    };
    let mut refused = stage.ending(&mut third.clone(), end(row.id, 500, true));
    if let Part::Advance(advance) = &mut refused {
        advance.expected_version = 99;
    }
    let parts = vec![
        stage.ending(first, end(row.id, 40, true)),
        refused,
        stage.ending(&mut run, end(row.id, 60, false)),
        stage.ending(second, end(row.id, 50, true)),
    ];
    let outcomes = stage.commit(parts).await;
    let done = PartOutcome::Done;
    assert_eq!(
        outcomes,
        [done.clone(), PartOutcome::Conflict, done.clone(), done]
    );
    let state = stage.state(row.id).await;
    let expected = State {
        rev: 3,
        success_at: Some(at(51)),
        success_slot: Some(at(50)),
        ..due(120)
    };
    assert_eq!(state, expected);
    // What comes late does not take it back.
    let ending = stage.ending(third, end(row.id, 10, true));
    stage.commit_one(ending).await;
    assert_eq!(stage.state(row.id).await.success_at, Some(at(51)));
}

pub async fn ends_and_fires_meet_in_order(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (row, mut run) = running(&mut stage, &workflow, due(120)).await;
    // Decided before the end was known.
    let (_, late) = stage.fire_at(row.id, &workflow, 120).await;
    let ending = stage.ending(&mut run, end(row.id, 60, true));
    let outcomes = stage.commit(vec![ending, firing(late)]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::TriggerMoved]);
    // First the fire, then the end of what it started, at once.
    let (mut next, mut fire) = stage.fire_at(row.id, &workflow, 120).await;
    fire.state.running = Some(next.id);
    let ending = stage.ending(&mut next, end(row.id, 120, true));
    let outcomes = stage.commit(vec![firing(fire), ending]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::Done]);
    let state = stage.state(row.id).await;
    assert_eq!((state.rev, state.running), (5, None));
    assert_eq!(state.success_slot, Some(at(120)));
    stage.check(&next).await;
}

pub async fn an_execution_may_end_at_once(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let row = stage.made(&workflow, TriggerKind::Cron).await;
    let (run, mut fire) = stage.fire_at(row.id, &workflow, 60).await;
    let mut told = end(row.id, 60, true);
    (told.end.execution, told.end.slot) = (run.id, None);
    fire.state.running = Some(run.id);
    fire.admission.as_mut().unwrap().end = Some(told);
    assert_eq!(stage.commit_one(firing(fire)).await, PartOutcome::Done);
    let state = stage.state(row.id).await;
    assert_eq!((state.rev, state.running), (3, None));
    assert_eq!((state.success_at, state.success_slot), (Some(at(61)), None));
    let with = stage.plain_start("{}");
    let (_, mut admit) = stage.start(&workflow, with);
    admit.end = Some(end(row.id, 70, true));
    stage.commit_one(admission(admit)).await;
    assert_eq!(stage.state(row.id).await.success_slot, Some(at(70)));
}

pub async fn pruning_executions_leaves_the_ledger(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let workflow = stage.save(&two_steps("orders")).await;
    let (row, mut run) = running(&mut stage, &workflow, due(120)).await;
    let ending = stage.ending(&mut run, end(row.id, 60, true));
    stage.commit_one(ending).await;
    stage.wait(1_000);
    let prune = Part::Prune(Prune::Executions(OldExecutions {
        statuses: refire_core::execution::Status::ALL.to_vec(),
        before: stage.now,
        workflow: None,
        after: None,
        limit: LIMIT_MAX,
    }));
    stage.commit_one(prune).await;
    assert_eq!(stage.store.execution(run.id).await.unwrap(), None);
    let ledger = stage.ledger(row.id).await;
    assert_eq!(ledger[0].slot.execution, Some(run.id));
    let none = stage.store.summaries(&[run.id]).await.unwrap();
    assert_eq!(none, [None]);
}
