//! The secrets of webhooks on their way into the store and out of it: always sealed there.

use refire_core::definition::{Mark, Problem, Problems};
use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use refire_core::webhook::{Method, Previous, SECRET_RANDOM_BYTES, Secret, Secrets};
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::TriggerError;
use crate::entropy::Entropy;
use crate::vault::{Belongs, Vault};

/// What the sealed bytes are for.
const PURPOSE: &str = "webhook secrets";

/// The form in which secrets are sealed.
#[derive(Serialize, Deserialize)]
struct Kept<'a> {
    current: &'a str,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    previous: Option<&'a str>,
    /// When the previous one ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

/// A secret that somebody chose, or a new one.
pub(super) fn choose(
    given: Option<&str>,
    method: Method,
    entropy: &dyn Entropy,
) -> Result<Secret, Problems> {
    match given {
        Some(text) => Secret::new(text, method).map_err(|problem| {
            let wrong = Problem::new(&*problem.field, Mark::START, &*problem.message);
            match &problem.hint {
                Some(hint) => wrong.with_hint(&**hint).into(),
                None => wrong.into(),
            }
        }),
        None => {
            let mut random = Zeroizing::new([0; SECRET_RANDOM_BYTES]);
            entropy.fill(random.as_mut());
            Ok(Secret::from_random(&random, method))
        }
    }
}

pub(super) fn seal(
    vault: Option<&Vault>,
    entropy: &dyn Entropy,
    trigger: TriggerId,
    secrets: &Secrets,
) -> Result<Vec<u8>, TriggerError> {
    let vault = vault.ok_or(TriggerError::NoMasterKey)?;
    let previous = secrets.previous.as_ref();
    let kept = Kept {
        current: secrets.current.reveal(),
        previous: previous.map(|previous| previous.secret.reveal()),
        until: previous.map(|previous| previous.until),
    };
    let plain = Zeroizing::new(serde_json::to_vec(&kept).unwrap_or_default());
    Ok(vault.seal(entropy, belongs(&trigger), &plain)?)
}

/// The secrets of a trigger that has this method.
pub(super) fn open(
    vault: Option<&Vault>,
    trigger: TriggerId,
    sealed: &[u8],
    method: Method,
) -> Result<Secrets, TriggerError> {
    let vault = vault.ok_or(TriggerError::NoMasterKey)?;
    let opened = vault.open(belongs(&trigger), sealed)?;
    let damaged = || TriggerError::Secrets(trigger);
    let kept: Kept<'_> = serde_json::from_slice(&opened.secret).map_err(|_| damaged())?;
    let secret = |text: &str| Secret::new(text, method).map_err(|_| damaged());
    let previous = match (kept.previous, kept.until) {
        (Some(text), Some(until)) => Some(Previous {
            secret: secret(text)?,
            until,
        }),
        _ => None,
    };
    Ok(Secrets {
        current: secret(kept.current)?,
        previous,
    })
}

fn belongs(trigger: &TriggerId) -> Belongs<'_> {
    Belongs {
        purpose: PURPOSE,
        owner: trigger.as_bytes(),
    }
}
