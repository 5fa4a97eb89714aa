//! Webhooks compiled to judge requests, kept at hand until they change, and how many requests each may
//! take.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use refire_core::id::{TriggerId, WebhookId};
use refire_core::time::Timestamp;
use refire_core::trigger::{Kind, Trigger};
use refire_core::webhook::{Secrets, Settings};
use refire_store::TriggerRow;

use super::{TriggerError, rows, secrets};
use crate::context::Context;
use crate::limit::Rate;
use crate::lock::Mutex;

/// Webhooks kept compiled; with more, all are compiled again when they are needed.
const KEPT_MAX: usize = 10_000;
/// How long a copy counts where other nodes change triggers too, and their news may be lost: what is
/// refused by an old one asks no store.
const KEPT_FOR: Duration = Duration::from_secs(2);
/// A webhook ready to judge requests.
pub(super) struct Ready {
    pub(super) trigger: Trigger,
    pub(super) settings: Settings,
    pub(super) secrets: Option<Secrets>,
    /// Shared with the copies before and after it.
    rates: Arc<Mutex<Rates>>,
    read_at: Timestamp,
}

/// How many requests came lately, by [`Who`]. Strangers, as far as they are known, count by themselves, so
/// that they do not use up what the sender may send.
type Rates = [Rate; 2];

/// Who sent a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Who {
    Sender,
    Stranger,
}

impl Ready {
    pub(super) fn new(context: &Context, row: &TriggerRow) -> Result<Self, TriggerError> {
        let trigger = rows::trigger(row)?;
        let Kind::Webhook(settings) = &trigger.settings.kind else {
            let kind = trigger.settings.kind.name();
            return Err(TriggerError::Without {
                kind,
                what: "requests",
            });
        };
        Ok(Self {
            settings: (**settings).clone(),
            secrets: secrets::of(context.vault(), row, &trigger)?,
            rates: Arc::default(),
            read_at: context.now(),
            trigger,
        })
    }

    /// After how long there is room for another one, if there is none now.
    pub(super) fn over_limit(&self, who: Who, now: Timestamp) -> Option<Duration> {
        let limit = self.settings.rate_limit?;
        let per = Duration::from_secs(1) * limit.burst / limit.per_second.max(1);
        let rate = &mut self.rates.lock()[who as usize];
        rate.take(limit.burst, per, now).err()
    }

    /// Why there was no room for another one.
    pub(super) fn too_many(&self, who: Who) -> String {
        let of = match who {
            Who::Sender => "",
            Who::Stranger => " from strangers",
        };
        let taken = self.settings.rate_limit.map_or_else(String::new, |limit| {
            let (burst, per_second) = (limit.burst, limit.per_second);
            format!("; this webhook accepts {burst} at once and then {per_second} per second")
        });
        format!("too many requests{of}{taken}; the body was not kept")
    }
}

/// Compiled webhooks.
#[derive(Default)]
pub(super) struct Compiled(Mutex<Known>);

#[derive(Default)]
struct Known {
    ready: HashMap<WebhookId, Arc<Ready>>,
    /// They outlive a change of the webhook; with too many, all begin anew.
    rates: HashMap<WebhookId, Arc<Mutex<Rates>>>,
    /// Grows with every change, so that what was read before one is not kept after it.
    changes: u64,
}

impl Compiled {
    /// A trigger was changed: what is known of it counts no longer.
    pub(super) fn forget(&self, trigger: TriggerId) {
        let mut known = self.0.lock();
        known.changes += 1;
        known.ready.retain(|_, ready| ready.trigger.id != trigger);
    }

    /// Anything may have changed.
    pub(super) fn forget_all(&self) {
        let mut known = self.0.lock();
        known.changes += 1;
        known.ready.clear();
    }

    /// An error tells the trigger, if it is known.
    pub(super) async fn get(
        &self,
        context: &Context,
        id: WebhookId,
    ) -> Result<Option<Arc<Ready>>, (Option<TriggerId>, TriggerError)> {
        let (before, changes) = {
            let known = self.0.lock();
            (known.ready.get(&id).cloned(), known.changes)
        };
        let is_old = |ready: &Ready| context.now().since(ready.read_at) >= KEPT_FOR;
        if let Some(ready) = &before
            && !(context.store.is_shared() && is_old(ready))
        {
            return Ok(before);
        }
        let trigger = before.as_ref().map(|ready| ready.trigger.id);
        let row = context.store.webhook(id).await;
        let Some(row) = row.map_err(|error| (trigger, error.into()))? else {
            return Ok(None);
        };
        let mut ready = Ready::new(context, &row).map_err(|error| (Some(row.id), error))?;
        let mut known = self.0.lock();
        if known.ready.len() >= KEPT_MAX {
            known.ready.clear();
        }
        if known.rates.len() >= KEPT_MAX {
            known.rates.clear();
        }
        if ready.settings.rate_limit.is_some() {
            ready.rates = Arc::clone(known.rates.entry(id).or_default());
        }
        let ready = Arc::new(ready);
        if known.changes == changes {
            known.ready.insert(id, Arc::clone(&ready));
        }
        Ok(Some(ready))
    }
}
