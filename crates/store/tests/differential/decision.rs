//! Core's decisions as parts of a batch.

use refire_core::definition::Workflow;
use refire_core::execution::{Decision, Effect, Event, Execution, StepStatus, Work};
use refire_core::id::{ExecutionId, NodeId};
use refire_core::task::TaskStatus;
use refire_store::{
    Admit, Advance, ExecutionRow, RowUpdate, SettleLetter, TaskChange, TaskHolder, WorkChange,
    WorkRow,
};

/// How the rows of a decision look where the decision leaves it open.
pub(crate) struct Looks {
    pub(crate) has_snapshot: bool,
    /// Who has the work already, and whether it has begun.
    pub(crate) owner: Option<(NodeId, bool)>,
    /// Who has waited for its tasks.
    pub(crate) worker: Option<TaskHolder>,
}

/// A decision on an execution that exists.
pub(crate) fn advance(
    id: ExecutionId,
    expected_version: u64,
    (workflow, decision): (&Workflow, &Decision),
    looks: &Looks,
) -> Advance {
    let now = decision.state.updated_at;
    let mut advance = Advance {
        id,
        expected_version,
        begun: None,
        seen: None,
        update: update(&decision.state, looks.has_snapshot),
        events: decision.events.iter().map(Event::encode).collect(),
        work: Vec::new(),
        tasks: Vec::new(),
        callbacks: Vec::new(),
        new_letter: None,
        settle: None,
        end: None,
        notices: Vec::new(),
    };
    for effect in &decision.effects {
        if let Some(mut change) = TaskChange::of(effect, workflow, &decision.state, now) {
            if let TaskChange::Put { row, .. } = &mut change
                && let Some(worker) = &looks.worker
                && row.status == TaskStatus::Pending
                && row.available_at <= now
            {
                row.lock(worker, now);
            }
            advance.tasks.push(change);
        }
        let change = match effect {
            Effect::Schedule(work) => WorkChange::Put(row(id, &decision.state, work, looks)),
            Effect::Restore(work) | Effect::Hasten(work) => {
                WorkChange::Restore(row(id, &decision.state, work, looks))
            }
            Effect::Withdraw { step } => WorkChange::Remove {
                step: step.to_string(),
            },
            Effect::Offer(_)
            | Effect::OfferNow(_)
            | Effect::OfferAgain { .. }
            | Effect::Retire { .. }
            | Effect::Close { .. } => continue,
            Effect::Callback { .. } => continue,
            Effect::Hold => WorkChange::RemoveUnbegun,
            Effect::Abort => WorkChange::RemoveAll,
            Effect::DeadLetter(letter) => {
                advance.new_letter = Some(letter.clone());
                continue;
            }
            Effect::SettleLetter { letter, resolved } => {
                advance.settle = Some(SettleLetter {
                    id: *letter,
                    resolved: *resolved,
                    execution: id,
                });
                continue;
            }
        };
        advance.work.push(change);
    }
    advance
}

/// The first decision of an execution.
pub(crate) fn admit(
    id: ExecutionId,
    (workflow, decision): (&Workflow, &Decision),
    looks: &Looks,
) -> Admit {
    let advance = advance(id, 0, (workflow, decision), looks);
    let origin = decision.state.origin.clone().unwrap();
    Admit {
        row: ExecutionRow {
            id,
            workflow: origin.workflow,
            workflow_version: origin.workflow_version,
            trigger: origin.trigger.kind.name(),
            trigger_id: origin.trigger.object(),
            priority: origin.priority,
            created_at: origin.created_at,
            parent: origin.lineage.parent,
            root: origin.lineage.root,
            update: advance.update,
        },
        events: advance.events,
        work: advance.work,
        tasks: advance.tasks,
        claim: None,
        letter: None,
        only_newest: false,
        trigger: None,
        request: None,
        new_letter: advance.new_letter,
        settle: advance.settle,
        end: None,
        bulk: None,
        notices: Vec::new(),
    }
}

fn row(id: ExecutionId, state: &Execution, work: &Work, looks: &Looks) -> WorkRow {
    let origin = state.origin.as_ref().unwrap();
    // Nobody holds what waits for a later time.
    let owner = looks.owner.filter(|_| work.due_at.is_none());
    WorkRow {
        execution: id,
        step: work.step.to_string(),
        attempt: work.attempt,
        is_retry: work.is_retry,
        workflow: origin.workflow.clone(),
        priority: origin.priority,
        due_at: work.due_at,
        limit_key: origin.limit_key.clone(),
        owner: owner.map(|(node, _)| node),
        begun: owner.is_some_and(|(_, begun)| begun),
        begun_at: owner.and_then(|(_, begun)| begun.then_some(state.updated_at)),
    }
}

fn update(state: &Execution, has_snapshot: bool) -> RowUpdate {
    let failed_last = state.failed_last.as_ref().and_then(|step| state.step(step));
    RowUpdate {
        version: state.version,
        status: state.status,
        compensating: state.compensating.is_some() && !state.status.is_terminal(),
        updated_at: state.updated_at,
        retry_count: failed_last.map_or(0, |step| step.attempt.saturating_sub(1)),
        next_retry_at: failed_last
            .filter(|step| step.status == StepStatus::Retrying)
            .and_then(|step| step.due_at),
        snapshot: has_snapshot.then(|| serde_json::to_vec(state).unwrap()),
    }
}
