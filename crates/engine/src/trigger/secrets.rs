//! The secrets of webhooks on their way into the store and out of it: always sealed there.

use refire_core::definition::{Mark, Problem, Problems};
use refire_core::id::TriggerId;
use refire_core::time::Timestamp;
use refire_core::trigger::{Kind, Trigger};
use refire_core::webhook::{Method, Previous, SECRET_RANDOM_BYTES, Secret, Secrets};
use refire_store::TriggerRow;
use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::TriggerError;
use crate::entropy::Entropy;
use crate::vault::{Belongs, Vault};

/// What the sealed bytes are for.
const PURPOSE: &str = "webhook secrets";

/// The form in which secrets are sealed. What is read is owned: a text with escapes in it cannot be
/// borrowed.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    current: T,
    #[serde(default = "Option::default", skip_serializing_if = "Option::is_none")]
    previous: Option<T>,
    /// When the previous one ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    until: Option<Timestamp>,
}

/// A secret that somebody chose, or a new one.
pub(super) fn choose(
    given: Option<&str>,
    place: Mark,
    method: Method,
    entropy: &dyn Entropy,
) -> Result<Secret, Problems> {
    match given {
        Some(text) => Secret::new(text, method).map_err(|problem| {
            let Mark { line, column } = place;
            let placed = Problem {
                line,
                column,
                ..problem
            };
            placed.into()
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

/// The same secrets sealed with the current master key, if it was the previous one that had sealed them.
pub(super) fn reseal(
    vault: Option<&Vault>,
    entropy: &dyn Entropy,
    trigger: TriggerId,
    sealed: &[u8],
) -> Result<Option<Vec<u8>>, TriggerError> {
    let vault = vault.ok_or(TriggerError::NoMasterKey)?;
    Ok(vault.reseal(entropy, belongs(&trigger), sealed)?)
}

/// The secrets of a webhook, opened.
pub(super) fn of(
    vault: Option<&Vault>,
    row: &TriggerRow,
    trigger: &Trigger,
) -> Result<Option<Secrets>, TriggerError> {
    match (&row.secrets, method(trigger)) {
        (Some(sealed), Some(method)) => open(vault, row.id, sealed, method).map(Some),
        _ => Ok(None),
    }
}

/// How a webhook knows its sender.
pub(super) fn method(trigger: &Trigger) -> Option<Method> {
    match &trigger.settings.kind {
        Kind::Webhook(settings) => Some(settings.authentication.method()),
        Kind::Cron(_) | Kind::Schedule(_) => None,
    }
}

/// The secrets of a trigger that has this method.
fn open(
    vault: Option<&Vault>,
    trigger: TriggerId,
    sealed: &[u8],
    method: Method,
) -> Result<Secrets, TriggerError> {
    let vault = vault.ok_or(TriggerError::NoMasterKey)?;
    let opened = vault.open(belongs(&trigger), sealed)?;
    let damaged = || TriggerError::Secrets(trigger);
    let kept: Kept<String> = serde_json::from_slice(&opened.secret).map_err(|_| damaged())?;
    let secret = |text: String| {
        let text = Zeroizing::new(text);
        Secret::new(&text, method).map_err(|_| damaged())
    };
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::entropy::SystemEntropy;
    use crate::vault::MasterKey;

    #[test]
    fn every_secret_comes_back_as_it_was() {
        let vault = Vault::new(MasterKey::new([7; 32]), None);
        let entropy = SystemEntropy::default();
        let trigger = TriggerId::from_bytes([1; 16]);
        for text in [
            "0123456789abcdef01234567",
            r#"it's "quoted" and has a \ in it"#,
            "schlüssel-schlüssel-schlüssel",
        ] {
            let secret = |text| Secret::new(text, Method::Hmac).unwrap();
            let both = Secrets {
                current: secret(text),
                previous: Some(Previous {
                    secret: secret(text),
                    until: Timestamp::from_millis(7),
                }),
            };
            let sealed = seal(Some(&vault), &entropy, trigger, &both).unwrap();
            let opened = open(Some(&vault), trigger, &sealed, Method::Hmac).unwrap();
            let previous = opened.previous.unwrap();
            assert_eq!(opened.current.reveal(), text);
            assert_eq!(previous.secret.reveal(), text);
            assert_eq!(previous.until, Timestamp::from_millis(7));
        }
    }
}
