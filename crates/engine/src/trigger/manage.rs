//! Making, changing and removing triggers.

use refire_core::definition::{Mark, Problem, Problems, WorkflowId};
use refire_core::id::{ExecutionId, TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{CatchUp, Draft, Kind, State, Trigger, Wish, changed, created, mended};
use refire_core::webhook::{Method, Secret, Secrets};
use refire_store::{
    ChangeTrigger, CreateTrigger, NewState, News, Part, PartOutcome, ReadError, TriggerRow,
};

use super::{Triggers, rows, secrets};
use crate::catalog::CatalogError;
use crate::commit::CommitFailure;
use crate::definitions::is_of_task;
use crate::entropy;
use crate::intake::IntakeError;
use crate::vault::VaultError;

/// Times a change is made again because somebody else was faster. A backfill moves its trigger with every
/// slot, and whoever wants to end it must come in between.
pub(super) const AGAIN_MAX: u32 = 100;

/// A trigger and where it stands.
#[derive(Debug, Clone)]
pub struct TriggerView {
    /// As it is stored.
    pub row: TriggerRow,
    /// As it works; or why it cannot, which a new version of the time zones may bring about.
    pub trigger: Result<Trigger, Problems>,
    /// Where it stands; none for a webhook that nobody watches.
    pub state: Option<State>,
    /// Why its secret cannot be opened, if it cannot: it takes no requests then.
    pub secret_problem: Option<String>,
    /// Until when the secret before the present one is good too.
    pub previous_secret_until: Option<Timestamp>,
    /// Whether its workflow was deleted, which has disabled it.
    pub workflow_deleted: bool,
}

/// A trigger that was made or changed.
#[derive(Debug, Clone)]
pub struct NewTrigger {
    /// What it is now.
    pub view: TriggerView,
    /// Its secret, if that is new: this is the only time that it is told.
    pub secret: Option<Secret>,
    /// Whether there was nothing to change: it is what it was.
    pub is_unchanged: bool,
}

/// Why something could not be done to a trigger.
#[derive(Debug, thiserror::Error)]
pub enum TriggerError {
    /// There is no such trigger, or it was deleted.
    #[error("there is no such trigger")]
    NotFound,
    /// There is no such workflow, or it was deleted.
    #[error("there is no workflow `{0}`")]
    NoSuchWorkflow(WorkflowId),
    /// What was asked for is not right.
    #[error("the trigger has {} problem(s)", .0.len())]
    Invalid(Problems),
    /// What it is asked for is not what this kind of trigger has.
    #[error("a trigger of type `{kind}` has no {what}")]
    Without {
        /// The kind.
        kind: &'static str,
        /// What it has not.
        what: &'static str,
    },
    /// There is no such request, or it was forgotten.
    #[error("there is no such request")]
    NoSuchRequest,
    /// Not all of the request was kept.
    #[error("the request was not kept completely, so it cannot be checked again")]
    NotKept,
    /// It belongs to a scheduled task, by which alone it changes.
    #[error("the trigger belongs to the scheduled task `{0}`: change or run that")]
    OfTask(WorkflowId),
    /// It is disabled.
    #[error("the trigger is disabled")]
    Disabled,
    /// Others kept changing it.
    #[error("the trigger is being changed by somebody else; nothing was written")]
    Contended,
    /// There is no key to seal secrets with.
    #[error("secrets cannot be stored: there is no master key")]
    NoMasterKey,
    /// A secret that was promised to be good for longer would end.
    #[error(
        "the previous secret is still valid until {until}, and a webhook has at most two: wait until \
         then, or end it now with end_previous (--end-previous)"
    )]
    PreviousSecret {
        /// Until when it is.
        until: Timestamp,
    },
    /// The sealed secrets of this trigger cannot be used.
    #[error("the secrets of {0} cannot be read")]
    Secrets(TriggerId),
    /// The sealed secrets cannot be opened.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The workflow could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
    /// What it was to start could not be started.
    #[error(transparent)]
    Start(#[from] IntakeError),
    /// The slots that are to be run again cannot be.
    #[error(transparent)]
    Backfill(#[from] refire_core::trigger::BackfillError),
    /// Some of the slots were run again, and then it could not go on.
    #[error("{} were started, then it failed: {because}", started.len())]
    Partly {
        /// The slots with their executions.
        started: Vec<(Timestamp, ExecutionId)>,
        /// Why not all of them.
        because: Box<TriggerError>,
    },
}

impl From<Problems> for TriggerError {
    fn from(problems: Problems) -> Self {
        Self::Invalid(problems)
    }
}

/// What is to become of the settings of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    /// Some of them change.
    Patch,
    /// All of them do.
    Replace,
}

impl Triggers {
    /// Makes a trigger of a workflow from JSON or YAML.
    pub async fn create(
        &self,
        workflow: &WorkflowId,
        source: &str,
    ) -> Result<NewTrigger, TriggerError> {
        let known = self.context.catalog.newest(workflow).await?;
        if known.is_none() {
            return Err(TriggerError::NoSuchWorkflow(workflow.clone()));
        }
        let now = self.context.now();
        let wish = Wish::parse(source)?;
        let draft = Draft::create(&wish, now)?;
        let id = TriggerId::from_bytes(entropy::fresh(&*self.context.entropy, now));
        let enabled = draft.enabled.unwrap_or(true);
        let settings = draft.settings.text.as_str();
        let trigger = Trigger::new(id, workflow.clone(), 1, enabled, settings)?;
        wish.to_come(&trigger, now)?;
        let secret = self.new_secret(&trigger, wish.secret(), wish.secret_place())?;
        let sealed = match &secret {
            Some(secret) => Some(self.seal(id, &Secrets::only(secret.clone()))?),
            None => None,
        };
        let webhook = matches!(trigger.settings.kind, Kind::Webhook(_)).then(|| {
            let mut random = [0; 16];
            self.context.entropy.fill(&mut random);
            WebhookId::from_bytes(random)
        });
        let state = trigger.has_state().then(|| created(&trigger, now));
        let create = CreateTrigger {
            id,
            workflow: workflow.clone(),
            kind: rows::kind(&trigger.settings.kind),
            enabled,
            settings: settings.as_bytes().to_vec(),
            secrets: sealed,
            webhook,
            state,
        };
        let part = Part::CreateTrigger(Box::new(create));
        match self.context.queue.part(part).await? {
            PartOutcome::Done => {}
            PartOutcome::NoSuchWorkflow => {
                return Err(TriggerError::NoSuchWorkflow(workflow.clone()));
            }
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        }
        self.context.announce(News::Trigger(id));
        let view = self.get(id).await?;
        Ok(NewTrigger {
            view,
            secret,
            is_unchanged: false,
        })
    }

    /// Changes a trigger by a JSON merge patch. When it is enabled again, `catch_up` says whether what
    /// was planned meanwhile is caught up with. One that cannot be read any more may be mended by it.
    pub async fn change(
        &self,
        id: TriggerId,
        patch: &str,
        catch_up: CatchUp,
    ) -> Result<NewTrigger, TriggerError> {
        self.edit(id, patch, Edit::Patch, catch_up).await
    }

    /// Gives a trigger new settings in place of all that it was told. Its kind, its address and, if its
    /// senders are known in the same way, its secret stay.
    pub async fn replace(
        &self,
        id: TriggerId,
        source: &str,
        catch_up: CatchUp,
    ) -> Result<NewTrigger, TriggerError> {
        self.edit(id, source, Edit::Replace, catch_up).await
    }

    async fn edit(
        &self,
        id: TriggerId,
        source: &str,
        edit: Edit,
        catch_up: CatchUp,
    ) -> Result<NewTrigger, TriggerError> {
        let wish = Wish::parse(source)?;
        for _ in 0..AGAIN_MAX {
            let found = self.get(id).await?;
            own(&found.row)?;
            let stood = found.state;
            let before = self.free(found).await?;
            let row = &before.row;
            let after = edited(row, &wish, edit, self.context.now())?;
            if is_replanned(&before, &after) {
                let now = self.context.now();
                wish.to_come(&after, now)?;
            }
            let is_other = self.needs_other_secret(&before, &after);
            let secret = if wish.secret().is_some() || is_other {
                self.new_secret(&after, wish.secret(), wish.secret_place())?
            } else {
                None
            };
            let is_same = row.settings == after.settings.text.as_str().as_bytes()
                && row.enabled == after.enabled
                && before.state == stood;
            if is_same && !is_other && secret.is_none() && before.trigger.is_ok() {
                return Ok(NewTrigger {
                    view: before,
                    secret: None,
                    is_unchanged: true,
                });
            }
            let sealed = match &secret {
                Some(secret) => Some(self.seal(id, &Secrets::only(secret.clone()))?),
                None if is_other => None,
                None => row.secrets.clone(),
            };
            let change = self.change_of(&before, &after, sealed, catch_up);
            if let Some(view) = self.commit_change(change).await? {
                return Ok(NewTrigger {
                    view,
                    secret,
                    is_unchanged: false,
                });
            }
        }
        Err(TriggerError::Contended)
    }

    /// Whether the secret of a trigger is of no use after a change: its senders are known in another way.
    fn needs_other_secret(&self, before: &TriggerView, after: &Trigger) -> bool {
        match &before.trigger {
            Ok(old) => secrets::method(old) != secrets::method(after),
            // How they were known cannot be read; what opens for the new way is kept.
            Err(_) => {
                let has_secret = secrets::method(after).is_some_and(Method::has_secret);
                !(has_secret
                    && matches!(
                        secrets::of(self.context.vault(), &before.row, after),
                        Ok(Some(_))
                    ))
            }
        }
    }

    /// Removes a trigger. What it started stays.
    pub async fn delete(&self, id: TriggerId) -> Result<(), TriggerError> {
        let row = self.row(id).await?;
        own(&row)?;
        let workflow = row.workflow;
        let part = Part::DeleteTrigger { id, workflow };
        match self.context.queue.part(part).await? {
            PartOutcome::Done => {
                self.context.announce(News::Trigger(id));
                Ok(())
            }
            PartOutcome::NoSuchTrigger => Err(TriggerError::NotFound),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    /// One trigger.
    pub async fn get(&self, id: TriggerId) -> Result<TriggerView, TriggerError> {
        self.view(self.row(id).await?).await
    }

    /// A stored trigger with where it stands.
    pub async fn view(&self, row: TriggerRow) -> Result<TriggerView, TriggerError> {
        let state = self.context.store.trigger_state(row.id).await?;
        let trigger = rows::trigger(&row);
        let secrets = trigger.as_ref().ok();
        let secrets = secrets.map(|trigger| secrets::of(self.context.vault(), &row, trigger));
        let (secrets, secret_problem) = match secrets.transpose() {
            Ok(secrets) => (secrets.flatten(), None),
            Err(error) => (None, Some(error.to_string())),
        };
        // While it is enabled, its workflow is there.
        let workflow_deleted = !row.enabled && {
            let workflow = self.context.store.workflow(&row.workflow).await?;
            workflow.is_none_or(|workflow| workflow.deleted_at.is_some())
        };
        Ok(TriggerView {
            workflow_deleted,
            secret_problem,
            previous_secret_until: secrets.and_then(|both| both.previous_until(self.context.now())),
            state,
            trigger,
            row,
        })
    }

    /// Forgets the execution that the trigger waits for if nobody will ever tell of its end: it has ended,
    /// is gone, or cannot be read. So whoever changes a trigger that is stuck, or disables and enables it,
    /// sets it free.
    async fn free(&self, mut view: TriggerView) -> Result<TriggerView, TriggerError> {
        let Some(state) = &mut view.state else {
            return Ok(view);
        };
        if let Some(running) = state.running {
            let is_live = match self.context.store.execution(running).await {
                Ok(stored) => stored.is_some_and(|stored| !stored.state.status.is_terminal()),
                Err(ReadError::Corrupt { .. }) => false,
                Err(error) => return Err(error.into()),
            };
            state.running = state.running.filter(|_| is_live);
        }
        Ok(view)
    }

    pub(super) fn change_of(
        &self,
        before: &TriggerView,
        after: &Trigger,
        secrets: Option<Vec<u8>>,
        catch_up: CatchUp,
    ) -> ChangeTrigger {
        let now = self.context.now();
        // What is not watched any more is not overdue either.
        let has_state = after.has_state() || before.state.is_some();
        let state = has_state.then(|| match &before.state {
            Some(state) => {
                let plan = match &before.trigger {
                    Ok(old) => changed(old, after, state, now, catch_up),
                    Err(_) => mended(before.row.enabled, after, state, now),
                };
                rows::new_state(state.rev, &plan)
            }
            None => NewState {
                rev: 0,
                state: created(after, now),
                slots: Vec::new(),
                extends: false,
            },
        });
        ChangeTrigger {
            id: after.id,
            workflow: after.workflow.clone(),
            version: before.row.version,
            enabled: after.enabled,
            settings: after.settings.text.as_str().as_bytes().to_vec(),
            secrets,
            state,
        }
    }

    /// None: somebody else was faster.
    pub(super) async fn commit_change(
        &self,
        change: ChangeTrigger,
    ) -> Result<Option<TriggerView>, TriggerError> {
        let id = change.id;
        let workflow = change.workflow.clone();
        let part = Part::ChangeTrigger(Box::new(change));
        match self.context.queue.part(part).await? {
            PartOutcome::Done => {}
            PartOutcome::TriggerMoved => return Ok(None),
            PartOutcome::NoSuchTrigger => return Err(TriggerError::NotFound),
            PartOutcome::NoSuchWorkflow => return Err(TriggerError::NoSuchWorkflow(workflow)),
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        }
        self.context.announce(News::Trigger(id));
        Ok(Some(self.get(id).await?))
    }

    pub(super) async fn row(&self, id: TriggerId) -> Result<TriggerRow, TriggerError> {
        rows::read(&*self.context.store, id).await
    }

    pub(super) fn seal(&self, id: TriggerId, both: &Secrets) -> Result<Vec<u8>, TriggerError> {
        secrets::seal(self.context.vault(), &*self.context.entropy, id, both)
    }

    /// A secret for the trigger, if its kind has one.
    pub(super) fn new_secret(
        &self,
        trigger: &Trigger,
        given: Option<&str>,
        place: Mark,
    ) -> Result<Option<Secret>, TriggerError> {
        match secrets::method(trigger).filter(|method| method.has_secret()) {
            Some(method) => {
                let chosen = secrets::choose(given, place, method, &*self.context.entropy);
                Ok(Some(chosen?))
            }
            None if given.is_none() => Ok(None),
            None => {
                let message = "this trigger has no secret: no signature or key is checked";
                let problem = Problem::new("secret", place, message);
                Err(TriggerError::Invalid(problem.into()))
            }
        }
    }
}

/// Refuses the trigger of a scheduled task.
pub(super) fn own(row: &TriggerRow) -> Result<(), TriggerError> {
    match is_of_task(&row.workflow) {
        true => Err(TriggerError::OfTask(row.workflow.clone())),
        false => Ok(()),
    }
}

/// A trigger as a change makes it.
fn edited(row: &TriggerRow, wish: &Wish, edit: Edit, now: Timestamp) -> Result<Trigger, Problems> {
    let kind = row.kind.name();
    let draft = match edit {
        Edit::Patch => {
            let stored = String::from_utf8_lossy(&row.settings);
            Draft::patch(kind, &stored, wish, now)
        }
        Edit::Replace => Draft::replace(kind, wish, now),
    }?;
    let enabled = draft.enabled.unwrap_or(row.enabled);
    let settings = draft.settings.text.as_str();
    let workflow = row.workflow.clone();
    Trigger::new(row.id, workflow, row.version + 1, enabled, settings)
}

/// Whether a change moves planned times.
fn is_replanned(before: &TriggerView, after: &Trigger) -> bool {
    let same = |old: &Trigger| after.settings.plans_like(&old.settings);
    !before.trigger.as_ref().is_ok_and(same)
}
