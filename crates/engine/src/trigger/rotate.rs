//! A new secret for a webhook. The old one is good for a while, so that its sender can be told.

use std::time::Duration;

use refire_core::definition::Mark;
use refire_core::id::TriggerId;
use refire_core::trigger::{CatchUp, Trigger};
use refire_core::webhook::{Previous, Secrets};

use super::manage::AGAIN_MAX;
use super::{NewTrigger, TriggerError, Triggers, secrets};

/// How long the old secret of a webhook is good for after a change, unless somebody says otherwise.
pub const SECRET_KEPT_FOR: Duration = Duration::from_secs(24 * 3_600);
/// The longest that can be said.
pub const SECRET_KEPT_MAX: Duration = Duration::from_secs(90 * 24 * 3_600);

/// What a secret is replaced by.
#[derive(Debug, Clone, Copy)]
pub struct Rotation<'a> {
    /// The new one; made if absent.
    pub secret: Option<&'a str>,
    /// How long the present one is good for after that. If that is no time at all, it is not trusted any
    /// more, and the one before it ends, too.
    pub keep_previous_for: Duration,
    /// Whether the one before the present one may end now, if it is still good.
    pub end_previous: bool,
}

impl Default for Rotation<'_> {
    fn default() -> Self {
        Self {
            secret: None,
            keep_previous_for: SECRET_KEPT_FOR,
            end_previous: false,
        }
    }
}

impl Triggers {
    /// Gives a webhook a new secret. A webhook has two at most: while the one before the present one is
    /// still good, somebody must say that it may end, or that both end at once.
    pub async fn rotate_secret(
        &self,
        id: TriggerId,
        rotation: Rotation<'_>,
    ) -> Result<NewTrigger, TriggerError> {
        let kept_for = rotation.keep_previous_for.min(SECRET_KEPT_MAX);
        for _ in 0..AGAIN_MAX {
            let before = self.get(id).await?;
            let trigger = before.trigger.clone()?;
            let secret = self.new_secret(&trigger, rotation.secret, Mark::NOWHERE)?;
            let secret = secret.ok_or({
                let kind = trigger.settings.kind.name();
                TriggerError::Without {
                    kind,
                    what: "secret with this authentication",
                }
            })?;
            let old = match secrets::of(self.context.vault(), &before.row, &trigger) {
                // What no key opens any more cannot be kept, and a new secret is what mends that.
                Err(TriggerError::Vault(_) | TriggerError::Secrets(_)) => None,
                old => old?,
            };
            let now = self.context.now();
            let may_end = rotation.end_previous || kept_for.is_zero();
            if !may_end && let Some(until) = old.as_ref().and_then(|old| old.previous_until(now)) {
                return Err(TriggerError::PreviousSecret { until });
            }
            let both = Secrets {
                current: secret.clone(),
                previous: old.filter(|_| !kept_for.is_zero()).map(|old| Previous {
                    secret: old.current,
                    until: now.plus(kept_for),
                }),
            };
            let sealed = Some(self.seal(id, &both)?);
            let after = Trigger {
                version: trigger.version + 1,
                ..trigger.clone()
            };
            let change = self.change_of(&before, &after, sealed, CatchUp::No);
            if let Some(view) = self.commit_change(change).await? {
                return Ok(NewTrigger {
                    view,
                    secret: Some(secret),
                    is_unchanged: false,
                });
            }
        }
        Err(TriggerError::Contended)
    }
}
