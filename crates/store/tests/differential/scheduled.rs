//! What happens to scheduled tasks: made, changed, deleted, listed.

use refire_core::execution::TriggerKind;
use refire_core::id::ScheduledTaskId;
use refire_store::{
    ChangeTrigger, CreateTrigger, NewState, Part, PutScheduled, ScheduledFilter, ScheduledRow,
    ScheduledTrigger,
};

use crate::definition::{put, workflow_id};
use crate::history::History;

/// The tasks of a history; each has a workflow of its own.
const TASKS: [&str; 3] = ["task-one", "task-two", "task-three"];
const KINDS: [&str; 2] = ["report", "sync"];

fn id(place: usize) -> ScheduledTaskId {
    ScheduledTaskId::from_bytes([40 + u8::try_from(place).unwrap(); 16])
}

impl History {
    /// A task is made, changed or deleted, on what stands there or not.
    pub(crate) fn put_scheduled(&mut self) -> Part {
        let place = self.dice.small(3) as usize;
        let known = self.known.scheduled.get(&id(place)).cloned();
        let version = known.as_ref().map_or(0, |known| known.version);
        let key = [u8::try_from(self.dice.below(3)).unwrap(); 16];
        let (now, times) = (self.now, self.about_now(60));
        let row = ScheduledRow {
            id: id(place),
            workflow: workflow_id(TASKS[place]),
            name: self.dice.maybe("a\u{0}b".to_owned()),
            task_type: self.dice.pick(&KINDS).to_owned(),
            schedule_type: "daily".to_owned(),
            version: version + 1 + u32::from(self.dice.one_in(8)),
            key_hash: self.dice.maybe(key),
            body_hash: [2; 8],
            request: self.bytes(),
            created_at: now,
            updated_at: now,
            cancelled_at: self.dice.one_in(4).then_some(times),
            deleted_at: self.dice.one_in(6).then_some(times),
        };
        let is_new = known.is_none() && !self.dice.one_in(8);
        let trigger = match is_new {
            true => ScheduledTrigger::Create(self.trigger_of(&row)),
            false if self.dice.one_in(5) => ScheduledTrigger::Delete,
            false => ScheduledTrigger::Change(self.change_of(&row)),
        };
        let shape = self.dice.below(3);
        let definition = match put(TASKS[place], shape) {
            Part::PutWorkflow(definition) if is_new || self.dice.one_in(2) => Some(*definition),
            _ => None,
        };
        // What changes a task that was never made finds no workflow.
        let definition = definition.filter(|_| is_new || known.is_some());
        Part::PutScheduled(Box::new(PutScheduled {
            row,
            definition,
            trigger,
            admission: None,
        }))
    }

    fn trigger_of(&mut self, row: &ScheduledRow) -> CreateTrigger {
        CreateTrigger {
            id: row.trigger(),
            workflow: row.workflow.clone(),
            kind: TriggerKind::Schedule,
            enabled: !self.dice.one_in(4),
            settings: self.bytes(),
            secrets: None,
            webhook: None,
            state: Some(self.plan()),
        }
    }

    fn change_of(&mut self, row: &ScheduledRow) -> ChangeTrigger {
        let told = self.known.triggers.get(&row.trigger());
        let version = told.map_or(1, |told| told.row.version);
        let standing = self.known.trigger_states.get(&row.trigger());
        let rev = standing.map_or(0, |standing| standing.state.rev);
        ChangeTrigger {
            id: row.trigger(),
            workflow: row.workflow.clone(),
            version: version + u32::from(self.dice.one_in(8)),
            enabled: !self.dice.one_in(3),
            settings: self.bytes(),
            secrets: None,
            state: Some(NewState {
                rev: rev + u64::from(self.dice.one_in(8)),
                state: self.plan(),
                slots: Vec::new(),
                extends: false,
            }),
        }
    }

    /// Anything that tasks can be listed by.
    pub(crate) fn scheduled_filter(&mut self) -> ScheduledFilter {
        let kind = self.dice.pick(&KINDS).to_owned();
        let (active, finished) = (self.dice.one_in(2), self.dice.one_in(2));
        ScheduledFilter {
            task_type: self.dice.maybe(kind),
            schedule_type: None,
            is_active: self.dice.maybe(active),
            is_finished: self.dice.maybe(finished),
        }
    }

    pub(crate) fn any_scheduled(&mut self) -> ScheduledTaskId {
        id(self.dice.small(3) as usize)
    }
}
