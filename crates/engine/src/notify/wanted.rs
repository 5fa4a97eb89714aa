//! What any channel wants, at hand: parts that raise notices ask, and write none that nobody waits for.

use std::sync::Arc;

use refire_core::definition::WorkflowId;
use refire_core::notify::{Channel, Choice, NoticeKind};
use refire_store::{ChannelRow, ReadError, Store};
use tokio::sync::Notify;

use crate::lock::Mutex;

/// What a channel is told; nothing if it cannot be read, which is in the log when it is used.
fn choice(row: &ChannelRow) -> Option<Choice> {
    Some(Channel::kept(&row.settings).ok()?.choice())
}

/// See the module.
#[derive(Default)]
pub(crate) struct Wanted {
    choices: Mutex<Arc<[Choice]>>,
    /// Rings when a notice was written here.
    bell: Notify,
}

impl Wanted {
    /// As the store has it.
    pub(crate) async fn load(store: &dyn Store) -> Result<Self, ReadError> {
        let wanted = Self::default();
        wanted.learn(&store.channels().await?);
        Ok(wanted)
    }

    /// Whether a channel that is enabled wants such a notice. It is a moment behind when a channel has just
    /// been changed elsewhere.
    pub(crate) fn wants(&self, kind: NoticeKind, workflow: Option<&WorkflowId>) -> bool {
        let choices = Arc::clone(&self.choices.lock());
        choices.iter().any(|choice| choice.wants(kind, workflow))
    }

    /// The channels are these now.
    pub(crate) fn learn(&self, channels: &[ChannelRow]) {
        let enabled = channels.iter().filter(|row| row.enabled);
        *self.choices.lock() = enabled.filter_map(choice).collect();
    }

    /// A notice was written: whoever collects looks soon.
    pub(crate) fn ring(&self) {
        self.bell.notify_one();
    }

    /// Waits until a notice is written here.
    pub(crate) async fn rung(&self) {
        self.bell.notified().await;
    }
}
