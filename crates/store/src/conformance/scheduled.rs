//! Scheduled tasks: made, changed and deleted with all that belongs to them, or not at all.

use refire_core::definition::Workflow;
use refire_core::execution::TriggerKind;
use refire_core::id::{ScheduledTaskId, TriggerId};
use refire_core::trigger::State;

use super::Lab;
use super::stage::{Stage, definition, two_steps};
use super::trigger::{change, due, new_state};
use crate::{
    CreateTrigger, LIMIT_MAX, Part, PartOutcome, PutScheduled, PutWorkflow, Scheduled,
    ScheduledFilter, ScheduledRow, ScheduledTrigger, TriggerFilter,
};

fn put(put: PutScheduled) -> Part {
    Part::PutScheduled(Box::new(put))
}

impl Stage {
    /// A task that is not made yet, and its workflow.
    fn new_task(&mut self) -> (Workflow, PutScheduled) {
        let id = ScheduledTaskId::from_bytes(*self.id().as_bytes());
        let (definition, workflow) = definition(&two_steps(&id.to_string()));
        let row = ScheduledRow {
            id,
            workflow: workflow.id.clone(),
            name: Some("odd\0name".to_owned()),
            task_type: "report".to_owned(),
            schedule_type: "daily".to_owned(),
            version: 1,
            key_hash: None,
            body_hash: [3; 8],
            request: b"{\"a\": 1}\0".to_vec(),
            created_at: self.now,
            updated_at: self.now,
            cancelled_at: None,
            deleted_at: None,
        };
        let create = CreateTrigger {
            id: row.trigger(),
            workflow: workflow.id.clone(),
            kind: TriggerKind::Schedule,
            enabled: true,
            settings: b"{}".to_vec(),
            secrets: None,
            webhook: None,
            state: Some(due(60)),
        };
        let put = PutScheduled {
            row,
            definition: Some(definition),
            trigger: ScheduledTrigger::Create(create),
            admission: None,
        };
        (workflow, put)
    }

    async fn scheduled(&self, id: ScheduledTaskId) -> Option<Scheduled> {
        self.store.scheduled_task(id).await.unwrap()
    }

    /// A change of a task that is there, which disables it.
    async fn pausing(&self, id: ScheduledTaskId) -> PutScheduled {
        let found = self.scheduled(id).await.unwrap();
        let mut paused = change(&found.trigger);
        paused.enabled = false;
        paused.state = Some(new_state(found.state.rev, found.state));
        PutScheduled {
            row: ScheduledRow {
                version: found.row.version + 1,
                ..found.row
            },
            definition: None,
            trigger: ScheduledTrigger::Change(paused),
            admission: None,
        }
    }
}

pub async fn a_task_is_made_with_all_that_belongs_to_it(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (workflow, mut new) = stage.new_task();
    let with = stage.plain_start("{}");
    let (run, admit) = stage.start(&workflow, with);
    new.admission = Some(Box::new(admit));
    assert_eq!(stage.commit_one(put(new.clone())).await, PartOutcome::Done);
    let found = stage.scheduled(new.row.id).await.unwrap();
    assert_eq!(found.row, new.row);
    assert_eq!(
        found.trigger.id,
        TriggerId::from_bytes(*new.row.id.as_bytes())
    );
    assert_eq!(found.state, State { rev: 1, ..due(60) });
    assert!(stage.store.execution(run.id).await.unwrap().is_some());
    let saved = stage.store.workflow(&workflow.id).await.unwrap().unwrap();
    assert_eq!((saved.version, saved.deleted_at), (1, None));
}

pub async fn a_refused_task_leaves_nothing(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (_, mut first) = stage.new_task();
    first.row.key_hash = Some([9; 16]);
    let (other, mut same_key) = stage.new_task();
    same_key.row.key_hash = Some([9; 16]);
    let (unmade, mut changed) = stage.new_task();
    changed.row.version = 2;
    let parts = [
        first.clone(),
        first.clone(),
        same_key.clone(),
        changed.clone(),
    ];
    let outcomes = stage.commit(parts.map(put).into()).await;
    let moved = PartOutcome::TriggerMoved;
    assert_eq!(
        outcomes,
        [PartOutcome::Done, moved.clone(), moved.clone(), moved]
    );
    for (workflow, put) in [(&other, &same_key), (&unmade, &changed)] {
        assert_eq!(stage.scheduled(put.row.id).await, None);
        assert_eq!(stage.store.workflow(&workflow.id).await.unwrap(), None);
        assert_eq!(stage.store.trigger(put.row.trigger()).await.unwrap(), None);
    }
    let found = stage.store.scheduled_task_by_key([9; 16]).await.unwrap();
    assert_eq!(found.unwrap().row.id, first.row.id);
    assert_eq!(
        stage.store.scheduled_task_by_key([8; 16]).await.unwrap(),
        None
    );
}

pub async fn a_change_of_a_task_needs_what_it_saw(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (_, new) = stage.new_task();
    let id = new.row.id;
    assert_eq!(stage.commit_one(put(new.clone())).await, PartOutcome::Done);
    stage.wait(10);
    let mut renamed = stage.pausing(id).await;
    renamed.row.name = Some("other".to_owned());
    let definition = new.definition.clone().unwrap();
    renamed.definition = Some(PutWorkflow {
        content_hash: [2; 32],
        ..definition
    });
    let outcomes = stage.commit(vec![put(renamed.clone()), put(renamed)]).await;
    assert_eq!(outcomes, [PartOutcome::Done, PartOutcome::TriggerMoved]);
    let found = stage.scheduled(id).await.unwrap();
    assert_eq!(
        (found.row.version, found.row.name.as_deref()),
        (2, Some("other"))
    );
    assert_eq!(
        (found.row.created_at, found.row.updated_at),
        (new.row.created_at, stage.now)
    );
    assert_eq!((found.trigger.enabled, found.state.due_at), (false, None));
    let workflow = stage
        .store
        .workflow(&new.row.workflow)
        .await
        .unwrap()
        .unwrap();
    assert_eq!(workflow.version, 2);
    // The row fits, the trigger does not: nothing of it is written.
    let mut late = stage.pausing(id).await;
    if let ScheduledTrigger::Change(change) = &mut late.trigger {
        change.version += 1;
    }
    late.row.name = None;
    assert_eq!(stage.commit_one(put(late)).await, PartOutcome::TriggerMoved);
    assert_eq!(stage.scheduled(id).await.unwrap(), found);
}

pub async fn a_deleted_task_is_hidden(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (workflow, mut new) = stage.new_task();
    let id = new.row.id;
    new.row.key_hash = Some([5; 16]);
    assert_eq!(stage.commit_one(put(new)).await, PartOutcome::Done);
    let mut gone = stage.pausing(id).await;
    (gone.row.deleted_at, gone.row.cancelled_at) = (Some(stage.now), Some(stage.now));
    gone.trigger = ScheduledTrigger::Delete;
    assert_eq!(stage.commit_one(put(gone)).await, PartOutcome::Done);
    assert_eq!(stage.scheduled(id).await, None);
    assert_eq!(
        stage.store.scheduled_task_by_key([5; 16]).await.unwrap(),
        None
    );
    let all = ScheduledFilter::default();
    let listed = stage
        .store
        .scheduled_tasks(&all, None, LIMIT_MAX)
        .await
        .unwrap();
    assert_eq!(listed, []);
    let workflows = stage.store.workflows(None, LIMIT_MAX).await.unwrap();
    assert_eq!(workflows, [], "{} stays out of the list", workflow.id);
}

pub async fn workflows_of_tasks_are_not_listed(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let orders = stage.save(&two_steps("orders")).await;
    let own = stage.made(&orders, TriggerKind::Cron).await;
    let (workflow, new) = stage.new_task();
    assert_eq!(stage.commit_one(put(new.clone())).await, PartOutcome::Done);
    let listed = stage.store.workflows(None, LIMIT_MAX).await.unwrap();
    let names: Vec<_> = listed.into_iter().map(|row| row.id).collect();
    assert_eq!(names, [orders.id]);
    let all = TriggerFilter::default();
    let triggers = stage.store.triggers(&all, None, LIMIT_MAX).await.unwrap();
    assert_eq!(triggers, [own]);
    assert_eq!(stage.store.count_triggers(&all).await.unwrap(), 1);
    let of_task = TriggerFilter {
        workflow: Some(workflow.id),
        ..TriggerFilter::default()
    };
    let triggers = stage
        .store
        .triggers(&of_task, None, LIMIT_MAX)
        .await
        .unwrap();
    assert_eq!(triggers.len(), 1);
}

pub async fn filters_choose_tasks(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let mut ids = Vec::new();
    for (kind, schedule, due_at) in [
        ("report", "daily", Some(60)),
        ("sync", "once", Some(60)),
        ("report", "once", None),
        ("custom", "daily", Some(60)),
    ] {
        let (_, mut new) = stage.new_task();
        new.row.task_type = kind.to_owned();
        new.row.schedule_type = schedule.to_owned();
        if let ScheduledTrigger::Create(create) = &mut new.trigger {
            let state = due(due_at.unwrap_or(60));
            create.state = Some(State {
                due_at: state.due_at.filter(|_| due_at.is_some()),
                ..state
            });
        }
        ids.push(new.row.id);
        assert_eq!(stage.commit_one(put(new)).await, PartOutcome::Done);
    }
    let pause = stage.pausing(ids[3]).await;
    assert_eq!(stage.commit_one(put(pause)).await, PartOutcome::Done);
    let none = ScheduledFilter::default;
    let only = |set: fn(&mut ScheduledFilter)| {
        let mut filter = none();
        set(&mut filter);
        filter
    };
    let table = [
        (none(), vec![3, 2, 1, 0]),
        (only(|it| it.task_type = Some("report".into())), vec![2, 0]),
        (
            only(|it| it.schedule_type = Some("once".into())),
            vec![2, 1],
        ),
        (only(|it| it.is_active = Some(true)), vec![2, 1, 0]),
        (only(|it| it.is_active = Some(false)), vec![3]),
        (only(|it| it.is_finished = Some(true)), vec![2]),
        (only(|it| it.is_finished = Some(false)), vec![3, 1, 0]),
    ];
    for (filter, expected) in table {
        let expected: Vec<_> = expected
            .into_iter()
            .map(|place: usize| ids[place])
            .collect();
        let found = stage
            .store
            .scheduled_tasks(&filter, None, LIMIT_MAX)
            .await
            .unwrap();
        let found: Vec<_> = found.into_iter().map(|task| task.row.id).collect();
        assert_eq!(found, expected, "{filter:?}");
    }
    let page = stage
        .store
        .scheduled_tasks(&none(), Some(ids[2]), 1)
        .await
        .unwrap();
    assert_eq!(page[0].row.id, ids[1]);
}

pub async fn a_paused_task_can_be_run_by_hand(lab: &dyn Lab) {
    let mut stage = Stage::open(lab).await;
    let (workflow, new) = stage.new_task();
    let trigger = new.row.trigger();
    assert_eq!(stage.commit_one(put(new.clone())).await, PartOutcome::Done);
    let pause = stage.pausing(new.row.id).await;
    assert_eq!(stage.commit_one(put(pause)).await, PartOutcome::Done);
    for (by_hand, expected) in [
        (false, PartOutcome::TriggerMoved),
        (true, PartOutcome::Done),
    ] {
        let (run, mut fire) = stage.fire_at(trigger, &workflow, 10).await;
        fire.by_hand = by_hand;
        fire.state.cycles = 1;
        fire.slots.clear();
        let part = super::trigger::firing(fire);
        assert_eq!(stage.commit_one(part).await, expected);
        let is_there = stage.store.execution(run.id).await.unwrap().is_some();
        assert_eq!(is_there, by_hand);
    }
    let state = stage.state(trigger).await;
    assert_eq!((state.cycles, state.due_at), (1, None), "it stays paused");
}
