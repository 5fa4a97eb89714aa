//! The secrets of channels on their way into the store and out of it: always sealed there.

use refire_core::id::ChannelId;
use refire_store::{ChannelChange, ChannelRow, Part, PartOutcome};
use zeroize::Zeroizing;

use super::{Notifications, NotifyError};
use crate::commit::CommitFailure;
use crate::context::Context;
use crate::vault::{Belongs, Resealed, VaultError};

/// What the sealed bytes are for.
const PURPOSE: &str = "channel";

/// Times a channel is tried again because somebody changed it meanwhile.
const AGAIN_MAX: u32 = 5;

fn belongs(id: &ChannelId) -> Belongs<'_> {
    Belongs {
        purpose: PURPOSE,
        owner: id.as_bytes(),
    }
}

pub(super) fn seal(context: &Context, id: ChannelId, secret: &str) -> Result<Vec<u8>, NotifyError> {
    let vault = context.vault().ok_or(NotifyError::NoMasterKey)?;
    let entropy = &*context.entropy;
    Ok(vault.seal(entropy, belongs(&id), secret.as_bytes())?)
}

/// The secret of a channel, if it has one.
pub(super) fn open(
    context: &Context,
    row: &ChannelRow,
) -> Result<Option<Zeroizing<String>>, NotifyError> {
    let Some(sealed) = &row.secrets else {
        return Ok(None);
    };
    let vault = context.vault().ok_or(NotifyError::NoMasterKey)?;
    let opened = vault.open(belongs(&row.id), sealed)?;
    let text = String::from_utf8(opened.secret.to_vec()).map_err(|_| VaultError::Damaged)?;
    Ok(Some(Zeroizing::new(text)))
}

impl Notifications {
    /// Seals anew what the previous master key had sealed. Other nodes must know the current key by then.
    pub async fn reseal_secrets(&self) -> Result<Resealed, NotifyError> {
        let mut resealed = Resealed::default();
        for row in self.context.store.channels().await? {
            let id = row.id;
            match self.reseal(row).await {
                Ok(is_new) => resealed.sealed += u64::from(is_new),
                Err(NotifyError::Vault(error)) => {
                    tracing::warn!(channel = %id, %error, "the secret of a channel does not open");
                    resealed.closed += 1;
                }
                // It was removed meanwhile.
                Err(NotifyError::NoSuchChannel) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(resealed)
    }

    /// Whether the secret of a channel was sealed anew.
    async fn reseal(&self, mut row: ChannelRow) -> Result<bool, NotifyError> {
        for _ in 0..AGAIN_MAX {
            let Some(sealed) = &row.secrets else {
                return Ok(false);
            };
            let vault = self.context.vault().ok_or(NotifyError::NoMasterKey)?;
            let opened = vault.open(belongs(&row.id), sealed)?;
            if !opened.stale {
                return Ok(false);
            }
            let entropy = &*self.context.entropy;
            let anew = vault.seal(entropy, belongs(&row.id), &opened.secret)?;
            let change = ChannelChange::Put(ChannelRow {
                version: row.version + 1,
                secrets: Some(anew),
                ..row.clone()
            });
            let part = Part::ChangeChannel(Box::new(change));
            match self.context.queue.part(part).await? {
                PartOutcome::Touched(true) => return Ok(true),
                PartOutcome::Touched(false) => row = self.row(row.id).await?,
                other => return Err(CommitFailure::unexpected("outcome", &other).into()),
            }
        }
        Err(NotifyError::Contended)
    }
}
