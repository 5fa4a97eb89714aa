//! The judge: keeps a mirror of every log that became durable, and compares.
//!
//! It looks at the moment a commit is durable, at every start, at every call and at the end. It
//! knows the promises and nothing about how the engine keeps them.

mod account;
mod bulk;
mod call;
mod callback;
mod cycle;
mod fired;
mod lease;
mod log;
mod poll;
mod rows;
mod slot;
mod task;
mod task_row;
mod trigger;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use refire_core::definition::{ParseOptions, Workflow, WorkflowId};
use refire_core::execution::replay::replay;
use refire_core::execution::{Event, Execution, apply_to};
use refire_core::id::ExecutionId;
use refire_core::limit;
use refire_core::time::Timestamp;
use refire_store::model::{Image, Record};

use crate::mark::{Mark, Marks};
use crate::world::Violation;

pub(crate) use call::By;
pub(crate) use callback::Heard;
pub(crate) use poll::{LOOKS_EVERY, Patience, Poll, PollEnd, Sights, name_of};
pub(crate) use task::{Said, Saying, When};
pub(crate) use trigger::Writer;

/// Shown for executions that break a promise.
const EVENTS_SHOWN: usize = 30;

/// See the module.
#[derive(Default)]
pub(crate) struct Judge {
    known: BTreeMap<ExecutionId, Known>,
    workflows: BTreeMap<(WorkflowId, u32), Arc<Workflow>>,
    calls: call::Calls,
    leases: lease::Leases,
    lines: trigger::Lines,
    tasks: task::Tasks,
    callbacks: callback::Closed,
    cycles: cycle::Cycles,
    /// Whether one node has all tasks, and nothing holds it up: then there is an order.
    is_lone: bool,
}

/// An execution as its durable log tells it.
pub(crate) struct Known {
    pub(crate) log: Vec<Event>,
    pub(crate) state: Execution,
    pub(crate) workflow: Arc<Workflow>,
    /// When it last changed, in milliseconds that the process has lived.
    changed_ms: u64,
    /// Attempts of each step that died with a process.
    lost: BTreeMap<String, u32>,
    /// Attempts that were given back: another node may make them.
    given_back: BTreeSet<(String, u32)>,
    /// Until when attempts have waited that nobody called back for, since that was last looked at.
    windows_over: Vec<Timestamp>,
}

impl Judge {
    pub(crate) fn new(is_lone: bool) -> Self {
        Self {
            is_lone,
            ..Self::default()
        }
    }

    /// Looks at these executions; whatever is new must fit to what was seen before.
    pub(crate) fn look_at(
        &mut self,
        image: &Image,
        ids: &[ExecutionId],
        now_ms: u64,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        for id in ids {
            self.look_at_one(image, *id, now_ms, marks)?;
        }
        bulk::jobs(image, marks)
    }

    /// Looks at everything, as after a start.
    pub(crate) fn look_at_all(
        &mut self,
        image: &Image,
        now_ms: u64,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let gone = self
            .known
            .keys()
            .find(|id| !image.executions.contains_key(id));
        if let Some(id) = gone {
            return Err(Violation::new(
                "durable stays durable",
                format!("{id} is gone"),
            ));
        }
        self.follow_triggers(image, None, marks)?;
        for id in image.executions.keys() {
            self.look_at_one(image, *id, now_ms, marks)?;
        }
        self.follow_tasks(image, None, marks)?;
        self.cycles_are_counted(image)?;
        bulk::jobs(image, marks)?;
        rows::letters(image, &self.known)
    }

    fn look_at_one(
        &mut self,
        image: &Image,
        id: ExecutionId,
        now_ms: u64,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let Some(record) = image.executions.get(&id) else {
            // Refused, or on a disk that is not to be trusted.
            return match self.known.contains_key(&id) {
                true => Err(Violation::new(
                    "durable stays durable",
                    format!("{id} is gone"),
                )),
                false => Ok(()),
            };
        };
        let workflow = self.workflow(image, record)?;
        let known = self.known.entry(id).or_insert_with(|| Known {
            log: Vec::new(),
            state: Execution::empty(),
            workflow,
            changed_ms: now_ms,
            lost: BTreeMap::new(),
            given_back: BTreeSet::new(),
            windows_over: Vec::new(),
        });
        let before = known.log.len();
        known
            .read_on(image, id, marks)
            .and_then(|()| known.compare(record, marks))
            .and_then(|()| rows::work(image, id, known))
            .and_then(|()| task_row::rows(image, id, known))
            .and_then(|()| callback::rows(image, id, known, &mut self.callbacks))
            .and_then(|()| rows::letter(image, id, known))
            .map_err(|violation| known.explain(violation, id))?;
        if known.log.len() > before {
            known.changed_ms = now_ms;
            if known.state.status.is_terminal() {
                known
                    .replay()
                    .map_err(|violation| known.explain(violation, id))?;
            }
        }
        if before > 0 {
            return Ok(());
        }
        let known = &self.known[&id];
        self.cycles.add(image, id, known, &self.known, marks)
    }

    fn workflow(&mut self, image: &Image, record: &Record) -> Result<Arc<Workflow>, Violation> {
        let name = (record.row.workflow.clone(), record.row.workflow_version);
        if let Some(known) = self.workflows.get(&name) {
            return Ok(Arc::clone(known));
        }
        let definition = image.workflows.get(&name.0);
        let source = definition.and_then(|all| Some(&all.versions.get(&name.1)?.source));
        let source = source.ok_or_else(|| {
            Violation::new(
                "an execution keeps its definition",
                format!("{name:?} is gone"),
            )
        })?;
        let options = ParseOptions {
            expected_id: Some(name.0.as_ref()),
            local_tasks: None,
            stored: true,
        };
        let workflow = Workflow::parse(source, &options).expect("it was accepted");
        let workflow = Arc::new(workflow);
        self.workflows.insert(name, Arc::clone(&workflow));
        Ok(workflow)
    }

    pub(crate) fn known(&self, id: ExecutionId) -> Option<&Known> {
        self.known.get(&id)
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = (&ExecutionId, &Known)> {
        self.known.iter()
    }

    /// Derives every log again, at the end of a run.
    pub(crate) fn replay_all(&self) -> Result<(), Violation> {
        for (id, known) in &self.known {
            known
                .replay()
                .map_err(|violation| known.explain(violation, *id))?;
        }
        self.calls_are_recorded()
    }
}

impl Known {
    /// Folds the events that are new.
    fn read_on(
        &mut self,
        image: &Image,
        id: ExecutionId,
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let seen = self.log.len() as u64;
        for (_, row) in image.events.range((id, seen + 1)..=(id, u64::MAX)) {
            let event = Event::decode(row)
                .map_err(|error| Violation::new("every event can be read", error.to_string()))?;
            self.follows(&event)?;
            self.marks(&event, marks);
            apply_to(&mut self.state, &event);
            self.log.push(event);
            self.within_policy()?;
        }
        Ok(())
    }

    /// The row and the snapshot must say what the log says.
    fn compare(&self, record: &Record, marks: &mut Marks) -> Result<(), Violation> {
        const CHECK: &str = "the fold of the log is the stored state";
        let fail = |what: String| Err(Violation::new(CHECK, what));
        let (update, state) = (&record.row.update, &self.state);
        if update.version != self.log.len() as u64 {
            let (row, log) = (update.version, self.log.len());
            return fail(format!("the row has version {row}, the log {log} events"));
        }
        if update.status != state.status || update.updated_at != state.updated_at {
            let (row, log) = (update.status, state.status);
            return fail(format!("the row is {row}, the log says {log}"));
        }
        let (mut stored, version) = match &record.snapshot {
            Some(snapshot) => match serde_json::from_slice(&snapshot.bytes) {
                Ok(stored) => (stored, snapshot.version),
                Err(error) => return fail(format!("the snapshot cannot be read: {error}")),
            },
            // A young one is read from its few events, and so is a short one that ended.
            None if !state.status.is_terminal() || self.is_short() => (Execution::empty(), 0),
            None => return fail("it ended without a snapshot".to_owned()),
        };
        if stored.version != version || version > update.version {
            return fail(format!("the snapshot is of version {}", stored.version));
        }
        if version > 0 && version < update.version {
            marks.reach(Mark::SnapshotLeftOut);
        }
        for event in (self.log.iter()).skip(usize::try_from(version).unwrap_or(0)) {
            apply_to(&mut stored, event);
        }
        if stored != *state {
            return fail(format!("stored {stored:?}, folded {state:?}"));
        }
        Ok(())
    }

    /// Whether it has few events in all, with small values.
    fn is_short(&self) -> bool {
        self.log.len() as u64 <= limit::SNAPSHOT_EVENTS_MIN
            && self.state.history_bytes <= limit::SNAPSHOT_VALUES_MAX
    }

    /// Every decision must follow again from what came from outside.
    fn replay(&self) -> Result<(), Violation> {
        match replay(&self.workflow, &self.log).first_difference {
            None => Ok(()),
            Some(difference) => {
                let what = format!(
                    "{difference}: recorded {:?}, derived {:?}",
                    difference.recorded, difference.derived
                );
                Err(Violation::new("replay is identical", what))
            }
        }
    }

    /// Adds the log to what is said about it.
    fn explain(&self, mut violation: Violation, id: ExecutionId) -> Violation {
        use std::fmt::Write as _;
        let _ = write!(
            violation.what,
            "\n  {id}, the last of its {} events:",
            self.log.len()
        );
        let skip = self.log.len().saturating_sub(EVENTS_SHOWN);
        for event in self.log.iter().skip(skip) {
            let step = event
                .step
                .as_ref()
                .map_or_else(String::new, |step| format!(" {step}"));
            let attempt = event.attempt.map_or_else(String::new, |n| format!("#{n}"));
            let name = event.kind.name();
            let _ = write!(
                violation.what,
                "\n    {} {} {name}{step}{attempt}",
                event.sequence, event.at
            );
        }
        violation
    }
}
