//! What a part is about: all that whoever writes it must know of it beforehand, said once.

use std::collections::HashSet;

use refire_core::dead_letter::Letter;
use refire_core::definition::WorkflowId;
use refire_core::execution::EventRow;
use refire_core::id::{ExecutionId, TriggerId};

use super::{Admit, Claim, Part, TriggerEnd, Want, WorkChange};

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct About<'a> {
    /// See [`Part::asks_first`].
    pub(crate) asks_first: bool,
    /// The workflow whose lock it needs where several nodes share the store, and whether alone.
    pub(crate) lock: Option<(&'a WorkflowId, bool)>,
    /// The trigger whose state it moves on.
    pub(crate) trigger: Option<TriggerId>,
    /// What another trigger, or the same one, is told.
    pub(crate) end: Option<TriggerEnd>,
    /// The execution that it makes or moves on, with one of the events that it writes.
    pub(crate) execution: Option<(ExecutionId, Option<&'a EventRow>)>,
    /// What it changes of that one's work.
    pub(crate) work: &'a [WorkChange],
    /// The letter that it makes.
    pub(crate) letter: Option<&'a Letter>,
    /// What it claims.
    pub(crate) wants: &'a [Want],
}

impl<'a> About<'a> {
    /// Asks first, and is alone with a workflow.
    fn alone(workflow: &'a WorkflowId) -> Self {
        Self {
            asks_first: true,
            lock: Some((workflow, true)),
            ..Self::default()
        }
    }

    /// The workflows that it names.
    pub(crate) fn workflows(&self) -> impl Iterator<Item = &'a WorkflowId> + use<'a> {
        let of_work = self.work.iter().filter_map(|change| match change {
            WorkChange::Put(row) | WorkChange::Restore(row) => Some(&row.workflow),
            WorkChange::Remove { .. } | WorkChange::RemoveUnbegun | WorkChange::RemoveAll => None,
        });
        let locked = self.lock.map(|(workflow, _)| workflow).into_iter();
        let of_letter = self.letter.map(|letter| &letter.workflow);
        let of_wants = self.wants.iter().map(|want| &want.workflow);
        locked.chain(of_work).chain(of_letter).chain(of_wants)
    }
}

impl Part {
    pub(crate) fn about(&self) -> About<'_> {
        match self {
            Self::Admit(admit) => admit.about(admit.has_letters() || !admit.notices.is_empty()),
            Self::Fire(fire) => {
                // What else may refuse the execution is not asked for when the trigger is fired.
                let asks_first = |admit: &Admit| {
                    admit.has_letters()
                        || admit.claim.is_some()
                        || admit.trigger.is_some()
                        || !admit.notices.is_empty()
                };
                let admission = fire.admission.as_deref();
                let admission = admission.map(|admit| admit.about(asks_first(admit)));
                let admission = admission.unwrap_or_default();
                About {
                    trigger: Some(fire.trigger),
                    asks_first: admission.asks_first || !fire.notices.is_empty(),
                    ..admission
                }
            }
            Self::Advance(advance) => About {
                asks_first: advance.settle.is_some() || !advance.callbacks.is_empty(),
                end: advance.end,
                execution: Some((advance.id, advance.events.last())),
                work: &advance.work,
                letter: advance.new_letter.as_deref(),
                ..About::default()
            },
            Self::Claim(claim) => About {
                asks_first: !claim.is_plain(),
                wants: &claim.wants,
                ..About::default()
            },
            Self::ClaimTimers(_)
            | Self::Begin(_)
            | Self::Release(_)
            | Self::LockTasks(_)
            | Self::TouchTask(_) => About::default(),
            Self::TouchCallback(_)
            | Self::SeeWorkers(_)
            | Self::ForgetWorker { .. }
            | Self::ChangeSession(_)
            | Self::ChangeBreaker(_)
            | Self::AddMinutes(_)
            | Self::ChangeAlerts(_)
            | Self::ChangeAlertRule(_)
            | Self::PutSilence(_)
            | Self::RemoveSilence { .. }
            | Self::DeleteLetter { .. }
            | Self::ChangeChannel(_)
            | Self::LogRequests(_)
            | Self::Bulk(_)
            | Self::Prune(_) => About {
                asks_first: true,
                ..About::default()
            },
            Self::PutWorkflow(put) => About::alone(&put.id),
            Self::DeleteWorkflow { id } => About::alone(id),
            Self::CreateTrigger(create) => About::alone(&create.workflow),
            Self::ChangeTrigger(change) => About {
                trigger: Some(change.id),
                ..About::alone(&change.workflow)
            },
            Self::PutScheduled(put) => put.about(),
            Self::MoveGroups(moved) => {
                let admission = moved.admission.as_deref();
                About {
                    asks_first: true,
                    ..admission.map(|admit| admit.about(true)).unwrap_or_default()
                }
            }
            Self::DeleteTrigger { id, workflow } => About {
                trigger: Some(*id),
                ..About::alone(workflow)
            },
        }
    }

    /// Whether a database that is asked over a connection must be asked before this can be written, so
    /// that its transaction takes several ways there and back. Others had better not be in its batch.
    #[must_use]
    pub fn asks_first(&self) -> bool {
        self.about().asks_first
    }
}

impl Admit {
    /// Whether it has to do with dead letters or bulk jobs.
    fn has_letters(&self) -> bool {
        self.letter.is_some()
            || self.settle.is_some()
            || self.new_letter.is_some()
            || self.bulk.is_some()
    }

    pub(super) fn about(&self, asks_first: bool) -> About<'_> {
        About {
            asks_first,
            lock: Some((&self.row.workflow, false)),
            end: self.end,
            execution: Some((self.row.id, self.events.first())),
            work: &self.work,
            letter: self.new_letter.as_deref(),
            ..About::default()
        }
    }
}

impl Claim {
    /// Whether one statement can make it: no workflow twice, no bounds, and as many retries as rows.
    fn is_plain(&self) -> bool {
        let mut seen = HashSet::new();
        self.wants.iter().all(|want| {
            seen.insert(&want.workflow) && want.bounds.is_none() && want.retries_up_to >= want.up_to
        })
    }
}
