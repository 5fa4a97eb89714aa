//! Silences: times in which alerts are told to nobody.

use refire_core::alert::{SILENCES_MAX, Silence};
use refire_core::id::{AlertRuleId, SilenceId};
use refire_store::{Part, PartOutcome, ReadError, SilenceRow};

use super::{AlertError, Alerts};
use crate::commit::CommitFailure;
use crate::entropy::fresh;

/// A silence as core asks it.
pub(super) fn silence(row: &SilenceRow) -> Silence {
    Silence {
        rule: row.rule,
        subject: row.subject.clone(),
        starts_at: row.starts_at,
        ends_at: row.ends_at,
        comment: row.comment.clone(),
    }
}

impl Alerts {
    /// Silences, those that end last first, those that are over among them.
    pub async fn silences(&self) -> Result<Vec<SilenceRow>, ReadError> {
        self.context.store.silences().await
    }

    /// One silence.
    pub async fn silence(&self, id: SilenceId) -> Result<SilenceRow, AlertError> {
        let silences = self.silences().await?;
        let found = silences.into_iter().find(|row| row.id == id);
        found.ok_or(AlertError::NotFound)
    }

    /// Makes a silence.
    pub async fn create_silence(&self, text: &str, by: &str) -> Result<SilenceRow, AlertError> {
        self.context.is_open()?;
        let now = self.context.now();
        let read = self.read_silence(text).await?;
        let living = self.silences().await?;
        if living.iter().filter(|row| row.ends_at > now).count() >= SILENCES_MAX {
            return Err(AlertError::TooMany(SILENCES_MAX));
        }
        let id = SilenceId::from_bytes(fresh(self.context.entropy.as_ref(), now));
        let row = SilenceRow {
            id,
            rule: read.rule,
            subject: read.subject,
            starts_at: read.starts_at,
            ends_at: read.ends_at,
            comment: read.comment,
            created_by: by.to_owned(),
            created_at: now,
        };
        self.put_silence(row).await
    }

    /// Writes a silence anew: who made it and when stays.
    pub async fn replace_silence(
        &self,
        id: SilenceId,
        text: &str,
    ) -> Result<SilenceRow, AlertError> {
        self.context.is_open()?;
        let found = self.silence(id).await?;
        let read = self.read_silence(text).await?;
        let row = SilenceRow {
            rule: read.rule,
            subject: read.subject,
            starts_at: read.starts_at,
            ends_at: read.ends_at,
            comment: read.comment,
            ..found
        };
        self.put_silence(row).await
    }

    /// Ends a silence: what still fires is told with the next look.
    pub async fn remove_silence(&self, id: SilenceId) -> Result<(), AlertError> {
        self.context.is_open()?;
        match self.context.queue.part(Part::RemoveSilence { id }).await? {
            PartOutcome::Touched(true) => Ok(()),
            PartOutcome::Touched(false) => Err(AlertError::NotFound),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }

    async fn read_silence(&self, text: &str) -> Result<Silence, AlertError> {
        let rules = self.rules().await?;
        let named = |name: &str| -> Option<AlertRuleId> {
            let id = name.parse::<AlertRuleId>().ok();
            let is_named = |it: &&super::RuleView| Some(it.id) == id || it.rule.name == name;
            rules.iter().find(is_named).map(|it| it.id)
        };
        Ok(Silence::read(text, self.context.now(), named)?)
    }

    async fn put_silence(&self, row: SilenceRow) -> Result<SilenceRow, AlertError> {
        match self
            .context
            .queue
            .part(Part::PutSilence(row.clone()))
            .await?
        {
            PartOutcome::Done => Ok(row),
            other => Err(CommitFailure::unexpected("outcome", &other).into()),
        }
    }
}
