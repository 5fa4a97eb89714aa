//! Telling people: channels, and the messages that are sent through them.
//!
//! | question | file |
//! |---|---|
//! | what is worth a notice | `raise` |
//! | whether anybody wants it | `wanted` |
//! | what becomes one message, and when | `collect`, `pace` |
//! | how a message is sent | `workflow`, `send`, `mail` |
//! | channels and their secrets | `channel`, `secrets` |
//! | what became of messages | `delivery` |
//!
//! A message is an execution of a workflow of the server's own: retries, leases and recovery are the engine's.

mod channel;
mod collect;
mod delivery;
mod mail;
mod pace;
mod raise;
mod secrets;
mod send;
mod wanted;
mod workflow;

use std::sync::Arc;

use refire_core::definition::Problems;
use refire_core::id::ChannelId;
use refire_store::{News, ReadError};
use tokio::sync::Notify;

use crate::catalog::CatalogError;
use crate::commit::CommitFailure;
use crate::context::{Context, Listener};
use crate::intake::IntakeError;
use crate::vault::VaultError;
use crate::vital::Vital;

pub use channel::{Made, Shown};
pub use delivery::{Delivery, DeliveryFilter};
pub(crate) use raise::{dead_letter, of_plan};
pub(crate) use wanted::Wanted;
pub(crate) use workflow::id as workflow_id;

/// Channels, and the messages that are sent through them.
pub struct Notifications {
    context: Arc<Context>,
    /// Rings when somebody else has written a notice, or channels have changed.
    bell: Notify,
}

/// Why something was not done.
#[derive(Debug, thiserror::Error)]
pub enum NotifyError {
    /// What was written is wrong.
    #[error("{0}")]
    Invalid(Problems),
    /// There is no such channel.
    #[error("there is no such channel")]
    NoSuchChannel,
    /// There is no such notification.
    #[error("there is no such notification")]
    NoSuchNotification,
    /// There are as many channels as there may be.
    #[error("there are as many channels as there may be")]
    TooMany,
    /// Somebody else changes the channel all the time.
    #[error("the channel is being changed")]
    Contended,
    /// There is no key to seal secrets with.
    #[error("secrets of channels are kept sealed, and this server has no master key")]
    NoMasterKey,
    /// A secret does not open, or cannot be sealed.
    #[error(transparent)]
    Vault(#[from] VaultError),
    /// What is kept of a channel cannot be read.
    #[error("what is kept of channel {0} cannot be read: {1}")]
    Damaged(ChannelId, String),
    /// The store did not answer.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The definition could not be had.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// It could not be committed.
    #[error(transparent)]
    Commit(#[from] CommitFailure),
    /// No message could be started.
    #[error(transparent)]
    Intake(#[from] IntakeError),
}

impl Notifications {
    pub(crate) fn open(context: &Arc<Context>, vital: &Vital) -> Arc<Self> {
        let notifications = Arc::new(Self {
            context: Arc::clone(context),
            bell: Notify::new(),
        });
        send::install(context);
        context.listen(&notifications);
        let collecting = collect::collect_loop(Arc::clone(&notifications));
        vital.spawn_until(&context.stopping, collecting);
        notifications
    }
}

impl Listener for Notifications {
    fn hear(&self, news: &News) {
        match news {
            News::Channel | News::Notice | News::Missed => self.bell.notify_one(),
            News::Work
            | News::Withdrawn(_)
            | News::Definition(_)
            | News::Trigger(_)
            | News::Task(_)
            | News::Breaker(_)
            | News::Due => {}
        }
    }
}
