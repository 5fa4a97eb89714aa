//! What the cases about triggers play with: triggers, steps of their plans, requests to them.

use std::time::Duration;

use refire_core::definition::Workflow;
use refire_core::execution::{Cancel, Command, TriggerKind};
use refire_core::id::{ExecutionId, RequestId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{End, Entry, Outcome, State};

use super::stage::{BEGINNING, Run, Stage};
use crate::{
    Admit, ChangeTrigger, CreateTrigger, Fire, LIMIT_MAX, NewState, Part, PartOutcome, RequestRow,
    RequestStatus, SlotFilter, SlotRow, TriggerEnd, TriggerRow,
};

/// So many seconds after the beginning.
pub(super) fn at(seconds: u64) -> Timestamp {
    BEGINNING.plus(Duration::from_secs(seconds))
}

/// A plan that is due then, and has handled all before.
pub(super) fn due(seconds: u64) -> State {
    State {
        cursor: at(seconds),
        due_at: Some(at(seconds)),
        ..State::default()
    }
}

/// A slot with this end.
pub(super) fn slot(seconds: u64, outcome: Outcome) -> Entry {
    Entry {
        nominal: at(seconds),
        to: at(seconds),
        count: 1,
        outcome,
        execution: None,
        at: at(seconds),
    }
}

/// A trigger that is told something else, and nothing about its state.
pub(super) fn change(row: &TriggerRow) -> ChangeTrigger {
    ChangeTrigger {
        id: row.id,
        workflow: row.workflow.clone(),
        version: row.version,
        enabled: row.enabled,
        settings: row.settings.clone(),
        secrets: row.secrets.clone(),
        state: None,
    }
}

/// A state that writes nothing down.
pub(super) fn new_state(rev: u64, state: State) -> NewState {
    NewState {
        rev,
        state,
        slots: Vec::new(),
        extends: false,
    }
}

pub(super) fn changing(change: ChangeTrigger) -> Part {
    Part::ChangeTrigger(Box::new(change))
}

pub(super) fn firing(fire: Fire) -> Part {
    Part::Fire(Box::new(fire))
}

pub(super) fn admission(admit: Admit) -> Part {
    Part::Admit(Box::new(admit))
}

/// The execution of a slot ends; which one, [`Stage::ending`] says.
pub(super) fn end(trigger: TriggerId, seconds: u64, success: bool) -> TriggerEnd {
    TriggerEnd {
        trigger,
        end: End {
            execution: ExecutionId::from_bytes([0; 16]),
            success,
            slot: Some(at(seconds)),
            at: at(seconds + 1),
        },
    }
}

impl Stage {
    pub(super) fn trigger_id(&mut self) -> TriggerId {
        TriggerId::from_bytes(*self.id().as_bytes())
    }

    /// A trigger that is not made yet.
    pub(super) fn new_trigger(&mut self, workflow: &Workflow, kind: TriggerKind) -> CreateTrigger {
        let id = self.trigger_id();
        let is_webhook = kind == TriggerKind::Webhook;
        CreateTrigger {
            id,
            workflow: workflow.id.clone(),
            kind,
            enabled: true,
            settings: format!("{{\"of\":\"{id}\"}}\0").into_bytes(),
            secrets: is_webhook.then(|| vec![0, 1, 2]),
            webhook: is_webhook.then(|| WebhookId::from_bytes(*self.id().as_bytes())),
            state: (!is_webhook).then(|| due(60)),
        }
    }

    pub(super) async fn create(&mut self, create: CreateTrigger) -> PartOutcome {
        self.commit_one(Part::CreateTrigger(Box::new(create))).await
    }

    /// A trigger that must be possible.
    pub(super) async fn made(&mut self, workflow: &Workflow, kind: TriggerKind) -> TriggerRow {
        let create = self.new_trigger(workflow, kind);
        let id = create.id;
        assert_eq!(self.create(create).await, PartOutcome::Done);
        self.trigger(id).await
    }

    pub(super) async fn trigger(&self, id: TriggerId) -> TriggerRow {
        self.store.trigger(id).await.unwrap().expect("it is there")
    }

    pub(super) async fn state(&self, id: TriggerId) -> State {
        let state = self.store.trigger_state(id).await.unwrap();
        state.expect("it has a state")
    }

    /// A step of a plan on what stands there now, without an execution.
    pub(super) async fn fire(&self, id: TriggerId, state: State) -> Fire {
        Fire {
            trigger: id,
            version: self.trigger(id).await.version,
            rev: self.state(id).await.rev,
            state,
            slots: Vec::new(),
            extends: false,
            by_hand: false,
            admission: None,
            notices: Vec::new(),
        }
    }

    /// A step of a plan that starts an execution for a slot.
    pub(super) async fn fire_at(
        &mut self,
        id: TriggerId,
        workflow: &Workflow,
        seconds: u64,
    ) -> (Run, Fire) {
        let with = self.plain_start("{}");
        let (run, admit) = self.start(workflow, with);
        let mut fire = self.fire(id, due(seconds + 60)).await;
        fire.state.cursor = at(seconds);
        fire.slots = vec![Entry {
            execution: Some(run.id),
            ..slot(seconds, Outcome::Fired)
        }];
        fire.admission = Some(Box::new(admit));
        (run, fire)
    }

    /// The execution is cancelled, which its trigger is told.
    pub(super) fn ending(&mut self, run: &mut Run, mut end: TriggerEnd) -> Part {
        end.end.execution = run.id;
        let cancel = Command::Cancel(Cancel::by(None));
        let mut advance = self.decide(run, cancel);
        advance.end = Some(end);
        Part::Advance(Box::new(advance))
    }

    /// The whole ledger, newest first.
    pub(super) async fn ledger(&self, id: TriggerId) -> Vec<SlotRow> {
        self.store
            .slots(id, &SlotFilter::default(), None, LIMIT_MAX)
            .await
            .unwrap()
    }

    /// A request that was refused.
    pub(super) fn request(&mut self, trigger: TriggerId, status: RequestStatus) -> RequestRow {
        RequestRow {
            id: RequestId::from_bytes(*self.id().as_bytes()),
            trigger,
            at: self.now,
            status,
            source: "192.0.2.1".to_owned(),
            headers: b"[[\"a\",\"\\u0000\"]]\0".to_vec(),
            body: Some(b"{\"n\": 1}\0".to_vec()),
            body_bytes: 70_000,
            execution: None,
            error: Some("no such\0field".to_owned()),
            is_test: false,
        }
    }
}
