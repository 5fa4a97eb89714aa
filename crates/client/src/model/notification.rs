//! Channels, and messages to people.

use super::{ChannelLanguage, ChannelType, NoticeKind, NotificationPhase, NotificationStatus};

shapes! {
    /// A way to tell people.
    pub struct Channel {
        /// Its id, `chn_…`.
        pub id: String,
        /// What people call it.
        pub name: String,
        /// Where its messages go.
        #[serde(rename = "type")]
        pub channel_type: ChannelType,
        /// Whether anything is sent through it.
        pub enabled: bool,
        /// The language of its messages.
        pub language: ChannelLanguage,
        /// What it is told of; empty = everything.
        pub kinds: Vec<NoticeKind>,
        /// About which workflows, by name or by the beginning of names and `*`; empty = all.
        pub workflows: Vec<String>,
        /// The settings of its type; secrets are shown as `***`.
        pub config: serde_json::Value,
        /// Why nothing gets through: what its last message was given up for. Null while it works.
        pub broken: Option<ChannelBroken>,
        /// Counts its changes; send it as `If-Match` to change only what you have seen.
        pub version: u32,
        /// When it was made.
        pub created_at: String,
        /// When it was changed last.
        pub updated_at: String,
        /// What a new `webhook` channel signs with, if the server chose it. It is shown this once.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub secret: Option<String>,
    }

    /// Why nothing gets through a channel.
    pub struct ChannelBroken {
        /// The message that was given up.
        pub notification_id: String,
        /// What went wrong.
        pub error: String,
        /// Its code, such as `404`.
        pub code: Option<String>,
        /// When.
        pub since: String,
    }

    /// A message to people, and how far it is.
    pub struct Notification {
        /// Its id, `ntf_…`. The service that gets it sees it too.
        pub id: String,
        /// The channel.
        pub channel_id: String,
        /// The channel's name; null if it was removed.
        pub channel_name: Option<String>,
        /// Where it goes; null if the channel was removed.
        pub channel_type: Option<ChannelType>,
        /// What it is about.
        pub kind: NoticeKind,
        /// Which message of its group it is.
        pub phase: NotificationPhase,
        /// The workflow that it is about.
        pub workflow_id: Option<String>,
        /// What it is about, as people call it.
        pub subject: String,
        /// How many notices it tells of.
        pub count: u64,
        /// How many of them are new since the message before.
        pub increase: u64,
        /// The group that it is of.
        pub group_id: Option<String>,
        /// `accepted` means that the service took it: most services say nothing of what comes then.
        pub status: NotificationStatus,
        /// Attempts that have begun.
        pub attempts: u32,
        /// When the next one is due.
        pub next_attempt_at: Option<String>,
        /// What went wrong last.
        pub error: Option<String>,
        /// Its code, such as `429`.
        pub error_code: Option<String>,
        /// The message that it repeats.
        pub repeats: Option<String>,
        /// Who asked for it; null if nobody did.
        pub requested_by: Option<String>,
        /// The execution that sends it, with all attempts in its events.
        pub execution_id: String,
        /// When it was made.
        pub created_at: String,
        /// When something happened to it last.
        pub updated_at: String,
    }

    /// A message that was started.
    pub struct NotificationStarted {
        /// Its id, `ntf_…`.
        pub id: String,
    }

    /// What is shown of a message that is not sent.
    #[serde(deny_unknown_fields)]
    pub struct PreviewChannel {
        /// The channel: as it would be made, with any secrets.
        pub channel: serde_json::Value,
        /// Which message; `test` if nothing is said.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        pub phase: Option<NotificationPhase>,
    }

    /// What a service would be sent.
    pub struct ChannelPreview {
        /// The body of the call; null for mail.
        pub body: Option<serde_json::Value>,
        /// The subject of the mail.
        pub subject: Option<String>,
        /// The mail as text.
        pub text: Option<String>,
        /// The mail as HTML.
        pub html: Option<String>,
    }
}
