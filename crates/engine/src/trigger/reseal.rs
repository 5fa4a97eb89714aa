//! After a change of the master key: what the previous key sealed is sealed with the current one, so
//! that the previous one can be dropped.

use refire_store::{ChangeTrigger, LIMIT_MAX, TriggerFilter, TriggerRow};

use super::{TriggerError, Triggers, secrets};
use crate::vault::Resealed;

/// Times a trigger is tried again because somebody changed it meanwhile.
const AGAIN_MAX: u32 = 5;

impl Triggers {
    /// Seals anew what the previous master key had sealed. Other nodes must know the current key by then.
    pub async fn reseal_secrets(&self) -> Result<Resealed, TriggerError> {
        let mut resealed = Resealed::default();
        let mut after = None;
        loop {
            let filter = TriggerFilter::default();
            let rows = self
                .context
                .store
                .triggers(&filter, after, LIMIT_MAX)
                .await?;
            let Some(last) = rows.last() else {
                return Ok(resealed);
            };
            after = Some(last.id);
            for row in rows {
                let id = row.id;
                match self.reseal(row).await {
                    Ok(is_new) => resealed.sealed += u64::from(is_new),
                    Err(TriggerError::Vault(error)) => {
                        tracing::warn!(trigger = %id, %error, "the secrets of a trigger do not open");
                        resealed.closed += 1;
                    }
                    // It was deleted meanwhile.
                    Err(TriggerError::NotFound | TriggerError::NoSuchWorkflow(_)) => {}
                    Err(error) => return Err(error),
                }
            }
        }
    }

    /// Whether the secrets of a trigger were sealed anew.
    async fn reseal(&self, mut row: TriggerRow) -> Result<bool, TriggerError> {
        for _ in 0..AGAIN_MAX {
            let Some(sealed) = &row.secrets else {
                return Ok(false);
            };
            let (vault, entropy) = (self.context.vault(), &*self.context.entropy);
            let anew = secrets::reseal(vault, entropy, row.id, sealed)?;
            let Some(anew) = anew else {
                return Ok(false);
            };
            let change = ChangeTrigger {
                id: row.id,
                workflow: row.workflow,
                version: row.version,
                enabled: row.enabled,
                settings: row.settings,
                secrets: Some(anew),
                state: None,
            };
            if self.commit_change(change).await?.is_some() {
                return Ok(true);
            }
            // Somebody changed the trigger meanwhile.
            row = self.row(row.id).await?;
        }
        Err(TriggerError::Contended)
    }
}
