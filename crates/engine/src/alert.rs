//! Alerts: rules, what became of them, silences.
//!
//! | | |
//! |---|---|
//! | `rules.rs` | rules are made, changed and removed |
//! | `silences.rs` | silences |
//! | `look.rs` | what is found now is compared with what was known, and people are told |
//! | `facts.rs` | what rules ask for is read |
//! | `preview.rs` | what a rule would say |
//!
//! Rules are always looked at, also where there is no channel: then what fires is shown and told to nobody,
//! and is told as soon as there is a channel that wants it.

mod facts;
mod look;
mod notice;
mod preview;
mod rules;
mod silences;

use std::sync::Arc;

use refire_core::definition::Problems;
use refire_core::id::AlertId;
use refire_store::{AlertChange, AlertFilter, AlertRow, Part, PartOutcome, ReadError};

pub(crate) use facts::{overdue, silent};
pub use preview::Previewed;
pub use rules::RuleView;

use crate::commit::CommitFailure;
use crate::context::Context;
use crate::vital::Vital;

/// How often a change is tried again because others were faster.
const AGAIN_MAX: u32 = 10;

/// See the module.
pub struct Alerts {
    context: Arc<Context>,
}

/// Why something about alerts was not done.
#[derive(Debug, thiserror::Error)]
pub enum AlertError {
    /// There is no such rule, alert or silence.
    #[error("there is none")]
    NotFound,
    /// It cannot be read.
    #[error(transparent)]
    Invalid(#[from] Problems),
    /// Another rule has the name.
    #[error("another rule is called \"{0}\"")]
    NameTaken(String),
    /// There are as many as there may be.
    #[error("there are {0} already")]
    TooMany(usize),
    /// It has another version.
    #[error("it has version {0}")]
    Changed(u32),
    /// It is over.
    #[error("the alert is over")]
    Over,
    /// Others kept changing it.
    #[error("others keep changing it")]
    Contended,
    /// It could not be committed.
    #[error(transparent)]
    Failed(#[from] CommitFailure),
    /// The store could not be read.
    #[error(transparent)]
    Read(#[from] ReadError),
}

impl Alerts {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        vital.spawn(look::look_loop(Arc::clone(context)));
        Arc::new(Self {
            context: Arc::clone(context),
        })
    }

    /// Alerts before this one, the newest first.
    pub async fn list(
        &self,
        filter: &AlertFilter,
        before: Option<AlertId>,
        limit: u32,
    ) -> Result<Vec<AlertRow>, ReadError> {
        self.context.store.alerts(filter, before, limit).await
    }

    /// One alert.
    pub async fn get(&self, id: AlertId) -> Result<AlertRow, AlertError> {
        let found = self.context.store.alert(id).await?;
        found.ok_or(AlertError::NotFound)
    }

    /// Somebody is at it: nobody is reminded any more. Again: fine.
    pub async fn acknowledge(&self, id: AlertId, by: &str) -> Result<AlertRow, AlertError> {
        self.context.is_open()?;
        for _ in 0..AGAIN_MAX {
            let found = self.get(id).await?;
            if found.alert.acked.is_some() {
                return Ok(found);
            }
            if found.alert.phase == refire_core::alert::Phase::Resolved {
                return Err(AlertError::Over);
            }
            let mut row = found.clone();
            row.rev += 1;
            row.alert.acked = Some((self.context.now(), by.to_owned()));
            let change = AlertChange {
                rule: row.rule,
                subject: row.subject.clone(),
                seen: found.rev,
                to: Some(row.clone()),
                notices: Vec::new(),
            };
            match self
                .context
                .queue
                .part(Part::ChangeAlerts(vec![change]))
                .await?
            {
                PartOutcome::Changed(changed) if changed == [true] => return Ok(row),
                PartOutcome::Changed(_) => {}
                other => return Err(CommitFailure::unexpected("outcome", &other).into()),
            }
        }
        Err(AlertError::Contended)
    }
}
