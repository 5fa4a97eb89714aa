//! The promises about calls: none before its commit, none for an attempt that is over, none before
//! its time, none twice in one life, the same key for the same work, and never more at once than
//! the limits allow.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use refire_core::definition::{StepId, WorkflowId};
use refire_core::execution::{Event, EventKind, Execution, StepState};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::limit::LOSSES_MAX;
use refire_core::time::Timestamp;
use refire_engine::limit::Limits;
use refire_store::model::Image;
use refire_store::{WorkKey, WorkRow};

use super::lease::is_owned;
use super::{Judge, Known};
use crate::mark::{Mark, Marks};
use crate::target::{Call, InFlight};
use crate::world::Violation;

/// How late an attempt may begin where nothing holds it up.
const LATE_MAX: Duration = Duration::from_millis(200);

/// How early an attempt may begin by the clock of a shared database, which the nodes can only
/// estimate.
const EARLY_MAX: Duration = Duration::from_millis(500);

/// Who makes a call.
pub(crate) struct By {
    pub(crate) life: u32,
    /// As which node.
    pub(crate) node: Option<NodeId>,
    /// From then on (milliseconds) it may not know what happened to the execution.
    pub(crate) knows_until_ms: u64,
    pub(crate) is_shared: bool,
    /// What its own clock shows.
    pub(crate) own_now: Timestamp,
}

/// The name of an attempt: execution, step and number.
type Attempt = (ExecutionId, String, u32);

/// What the targets have heard.
#[derive(Default)]
pub(super) struct Calls {
    /// By whom: a call that is repeated by another process, or by one that joined again, is a
    /// crash's doing.
    made: BTreeMap<Attempt, Vec<(u32, Option<NodeId>)>>,
    /// When those were made whose beginning was durable and that counted, as late as a clock says.
    begun: BTreeMap<Attempt, Timestamp>,
    /// The input that each key stood for.
    keys: BTreeMap<String, u64>,
    /// Processes killed, by the step that did it.
    killed: BTreeMap<(ExecutionId, String), u32>,
}

impl Calls {
    /// Whether an attempt is made by another node than the one before, and why.
    fn follows(&self, call: &Call, by: &By, known: &Known, marks: &mut Marks) {
        let (execution, step, attempt) = once_of(call);
        let before = self.made.get(&(execution, step, attempt - 1));
        let Some((_, node)) = before.and_then(|made| made.last()) else {
            return;
        };
        if *node == by.node {
            return;
        }
        marks.reach(match known.lost.contains_key(&call.step) {
            true => Mark::TakenOver,
            false => Mark::TimerFiredElsewhere,
        });
    }
}

/// The name of the attempt that a call makes.
fn once_of(call: &Call) -> Attempt {
    (call.execution, call.step.clone(), call.attempt)
}

impl Judge {
    /// A call is about to be made.
    pub(crate) fn call(
        &mut self,
        image: &Image,
        call: &Call,
        (by, now): (&By, Timestamp),
        marks: &mut Marks,
    ) -> Result<(), Violation> {
        let name = format!("{}.{}#{}", call.execution, call.step, call.attempt);
        let Some(known) = self.known.get(&call.execution) else {
            return Err(Violation::new("no call before its commit", name));
        };
        let Some(step) = step_of(&known.state, &call.step) else {
            return Err(Violation::new("no call before its commit", name));
        };
        if call.attempt > step.attempt {
            return Err(Violation::new("no call before its commit", name));
        }
        // What changed at this very moment, or elsewhere not long ago, may not have come round yet.
        let is_fresh = known.changed_ms >= by.knows_until_ms;
        let is_live = step.is_live() && step.attempt == call.attempt;
        if !is_live && !is_fresh {
            let what = format!("{name} is called, but {:?} #{}", step.status, step.attempt);
            return Err(known.explain(
                Violation::new("no call for what is over", what),
                call.execution,
            ));
        }
        let early = if by.is_shared {
            EARLY_MAX
        } else {
            Duration::ZERO
        };
        if is_live && step.due_at.is_some_and(|due| due > now.plus(early)) {
            let what = format!("{name} is due at {:?}, it is {now}", step.due_at);
            return Err(Violation::new("no call before its time", what));
        }
        if is_live && step.due_at.is_some_and(|due| due > by.own_now) {
            let what = format!(
                "{name} is due at {:?}, by its node it is {}",
                step.due_at, by.own_now
            );
            return Err(Violation::new("no call before its time", what));
        }
        begun(image, call, known, is_fresh)?;
        let is_paused = known.state.paused_at.is_some();
        if is_live && is_paused && !is_fresh && row_of(image, call).is_none_or(|row| !row.begun) {
            let violation = Violation::new("nothing begins while it is paused", name);
            return Err(known.explain(violation, call.execution));
        }
        if by.is_shared {
            is_owned(image, call, by, is_fresh).map_err(|it| known.explain(it, call.execution))?;
        }
        let made = self.calls.made.entry(once_of(call)).or_default();
        if made.contains(&(by.life, by.node)) {
            return Err(Violation::new("no call twice in one life", name));
        }
        if by.is_shared && call.attempt > 1 {
            self.calls.follows(call, by, known, marks);
        }
        let row = row_of(image, call);
        if is_live && row.is_some_and(|row| row.begun && row.attempt == call.attempt) {
            let made_at = by.own_now.max(now).plus(early);
            self.calls.begun.entry(once_of(call)).or_insert(made_at);
        }
        let made = self.calls.made.entry(once_of(call)).or_default();
        let before: Vec<_> = made.iter().filter_map(|(_, node)| *node).collect();
        made.push((by.life, by.node));
        if by.is_shared {
            self.is_alone(image, call, &before, marks)?;
        }
        self.heard(call)
    }

    /// Whatever ended an execution, its log has the calls that were made before that was decided.
    pub(super) fn calls_are_recorded(&self) -> Result<(), Violation> {
        for ((id, step, attempt), made_at) in &self.calls.begun {
            let Some(known) = self.known.get(id) else {
                continue;
            };
            let of_step =
                |event: &&Event| event.step.as_ref().is_some_and(|it| it.as_str() == step);
            let is_it = |event: &Event| {
                matches!(
                    event.kind,
                    EventKind::StepStarted(_) | EventKind::StepLost(_)
                ) && event.attempt == Some(*attempt)
            };
            let mut all = known.log.iter().filter(of_step);
            let given_back = known.given_back.contains(&(step.clone(), *attempt));
            if given_back || !known.state.status.is_terminal() || all.any(is_it) {
                continue;
            }
            let dropped = |event: &&Event| matches!(event.kind, EventKind::StepSkipped(_));
            let dropped = known.log.iter().filter(of_step).find(dropped);
            // A cancel that undoes steps first aborts what runs.
            let undoes = |event: &&Event| matches!(event.kind, EventKind::CompensationStarted(_));
            let dropped = dropped.or_else(|| known.log.iter().find(undoes));
            let ended = dropped.or_else(|| known.log.last()).map(|event| event.at);
            if ended.is_some_and(|at| at > *made_at) {
                let violation = Violation::new(
                    "every call is in the log",
                    format!("{step}#{attempt} was called"),
                );
                return Err(known.explain(violation, *id));
            }
        }
        Ok(())
    }

    /// Where nothing holds it up, an attempt begins when it is due: no wake-up is lost.
    pub(crate) fn is_on_time(
        &self,
        call: &Call,
        life_began: Timestamp,
        now: Timestamp,
    ) -> Result<(), Violation> {
        let Some(known) = self.known.get(&call.execution) else {
            return Ok(());
        };
        let of_step = |event: &&Event| event.step.as_ref().is_some_and(|s| s.as_str() == call.step);
        let scheduled = known.log.iter().rev().find(|event| {
            let made = matches!(
                event.kind,
                EventKind::StepScheduled(_)
                    | EventKind::RetryScheduled(_)
                    | EventKind::CompensationStarted(_)
            );
            of_step(event) && made && event.attempt == Some(call.attempt)
        });
        let due = step_of(&known.state, &call.step).and_then(|step| step.due_at);
        // A call may cross with a cancel, which has made the step forget when it was due.
        let origin = known.state.origin.as_ref();
        let ready = [
            Some(life_began),
            scheduled.map(|event| event.at),
            due,
            origin.and_then(|origin| origin.delay_until),
            scheduled.and_then(|event| match &event.kind {
                EventKind::RetryScheduled(retry) => Some(retry.due_at),
                _ => None,
            }),
            known.state.resumed_at,
        ];
        let ready = ready.into_iter().flatten().max().unwrap_or(now);
        if now.since(ready) > LATE_MAX {
            let what = format!(
                "{}#{} could begin at {ready}, it is {now}",
                call.step, call.attempt
            );
            let violation = Violation::new("work begins on time", what);
            return Err(known.explain(violation, call.execution));
        }
        Ok(())
    }

    /// A target has heard a call.
    pub(crate) fn heard(&mut self, call: &Call) -> Result<(), Violation> {
        const CHECK: &str = "the same key for the same work";
        let origin = self
            .known
            .get(&call.execution)
            .and_then(|known| known.state.origin.as_ref());
        let Some(origin) = origin else {
            return Ok(());
        };
        let (root, generation) = (origin.lineage.root, origin.lineage.generation);
        let expected = format!("{root}:{}:{generation}", call.step);
        if call.key != expected {
            let what = format!("{} instead of {expected}", call.key);
            return Err(Violation::new(CHECK, what));
        }
        let input = self.calls.keys.entry(expected).or_insert(origin.input.hash);
        if *input != origin.input.hash {
            let what = format!("{} stands for two inputs", call.key);
            return Err(Violation::new(CHECK, what));
        }
        Ok(())
    }

    /// A step takes the process down. It may do so only so often.
    pub(crate) fn killed_by(&mut self, call: &Call) -> Result<(), Violation> {
        let step = (call.execution, call.step.clone());
        let times = self.calls.killed.entry(step).or_default();
        *times += 1;
        if *times > LOSSES_MAX {
            let what = format!("{}.{} killed {times} processes", call.execution, call.step);
            return Err(Violation::new("a deadly step is given up", what));
        }
        Ok(())
    }

    /// Whether the call's attempt still counts.
    pub(crate) fn is_live(&self, call: &Call) -> bool {
        let state = self.known.get(&call.execution).map(|known| &known.state);
        state
            .and_then(|state| step_of(state, &call.step))
            .is_some_and(|step| step.is_live() && step.attempt == call.attempt)
    }

    /// Whether no later attempt than the call's has been scheduled.
    pub(super) fn is_newest(&self, call: &Call) -> bool {
        let state = self.known.get(&call.execution).map(|known| &known.state);
        state
            .and_then(|state| step_of(state, &call.step))
            .is_none_or(|step| step.attempt == call.attempt)
    }

    /// Whether an attempt was recorded as lost.
    pub(crate) fn was_lost(&self, id: ExecutionId, step: &str, attempt: u32) -> bool {
        let is_it = |event: &Event| {
            matches!(event.kind, EventKind::StepLost(_))
                && event.attempt == Some(attempt)
                && event.step.as_ref().is_some_and(|it| it.as_str() == step)
        };
        let known = self.known.get(&id);
        known.is_some_and(|known| known.log.iter().any(is_it))
    }

    /// With this call in flight no limit may be exceeded.
    pub(crate) fn limits(
        &self,
        in_flight: &InFlight,
        call: &Call,
        limits: &Limits,
    ) -> Result<(), Violation> {
        let fail = |what: String| Err(Violation::new("limits are never exceeded", what));
        let count = |test: &dyn Fn(&Call) -> bool| {
            let own = in_flight.of(call.life).filter(|other| test(other));
            u32::try_from(own.count()).unwrap_or(u32::MAX)
        };
        let all = count(&|_| true);
        if all > limits.attempts {
            return fail(format!("{all} attempts, {} allowed", limits.attempts));
        }
        let is_retry = |other: &Call| other.attempt > 1;
        if let Some(host) = &call.host {
            let here = |other: &Call| other.host.as_ref() == Some(host);
            let (all, retries) = (count(&here), count(&|other| here(other) && is_retry(other)));
            if all > limits.attempts_per_host {
                return fail(format!("{all} attempts at {host}"));
            }
            if is_retry(call) && retries > limits.retries_per_host {
                return fail(format!("{retries} retries at {host}"));
            }
        }
        let Some(known) = self.known.get(&call.execution) else {
            return Ok(());
        };
        let workflow = &known.workflow.id;
        let retries = count(&|other| is_retry(other) && self.of(other, workflow).is_some());
        if is_retry(call) && retries > limits.retries_per_workflow {
            return fail(format!("{retries} retries of {workflow}"));
        }
        self.concurrency(in_flight, call.life, known).or_else(fail)
    }

    /// The call's execution, if it is one of this workflow.
    fn of(&self, call: &Call, workflow: &WorkflowId) -> Option<&Known> {
        let known = self.known.get(&call.execution)?;
        (known.workflow.id == *workflow).then_some(known)
    }

    /// The workflow's own limits count executions. Versions side by side may have different ones:
    /// the widest holds for all of them.
    fn concurrency(&self, in_flight: &InFlight, life: u32, known: &Known) -> Result<(), String> {
        let id = &known.workflow.id;
        let versions = || {
            self.workflows
                .iter()
                .filter(|(name, _)| name.0 == known.workflow.id)
        };
        let widest = |limit: &dyn Fn(&refire_core::definition::Concurrency) -> Option<u32>| {
            let all: Option<Vec<u32>> = versions().map(|(_, w)| limit(&w.concurrency)).collect();
            all.and_then(|all| all.into_iter().max())
        };
        let running = |key: Option<&String>| {
            let calls = in_flight.of(life).filter(|other| {
                let other = self
                    .of(other, id)
                    .and_then(|known| known.state.origin.as_ref());
                other.is_some_and(|origin| key.is_none() || origin.limit_key.as_ref() == key)
            });
            calls
                .map(|call| call.execution)
                .collect::<BTreeSet<_>>()
                .len()
        };
        if let Some(max) = widest(&|limit| limit.max)
            && running(None) > max as usize
        {
            return Err(format!(
                "{} executions of {id}, {max} allowed",
                running(None)
            ));
        }
        let key = known
            .state
            .origin
            .as_ref()
            .and_then(|origin| origin.limit_key.as_ref());
        if let (Some(max), Some(key)) = (widest(&|limit| limit.max_per_key), key)
            && running(Some(key)) > max as usize
        {
            let running = running(Some(key));
            return Err(format!(
                "{running} executions of {id} for {key}, {max} allowed"
            ));
        }
        Ok(())
    }
}

/// A task of the program may kill it: that its attempt has begun must be durable before it begins,
/// or it could never be given up.
fn begun(image: &Image, call: &Call, known: &Known, is_fresh: bool) -> Result<(), Violation> {
    if call.host.is_some() || is_fresh {
        return Ok(());
    }
    let row = row_of(image, call);
    if row.is_some_and(|row| row.begun && row.attempt == call.attempt) {
        return Ok(());
    }
    let what = format!("{}#{} runs, its row is {row:?}", call.step, call.attempt);
    let violation = Violation::new("a task begins after its beginning is durable", what);
    Err(known.explain(violation, call.execution))
}

pub(super) fn row_of<'a>(image: &'a Image, call: &Call) -> Option<&'a WorkRow> {
    let key = WorkKey {
        execution: call.execution,
        step: call.step.clone(),
    };
    image.work.get(&key).map(|row| &**row)
}

pub(super) fn step_of<'a>(state: &'a Execution, step: &str) -> Option<&'a StepState> {
    state.step(&StepId::new(step).ok()?)
}
