//! Channels: ways to tell people, as they are written, checked and kept. A secret never stands in what is kept
//! here: it is given apart, and whoever keeps it seals it.

use serde::{Deserialize, Serialize};
use zeroize::Zeroizing;

use super::choice::{Choice, WorkflowPattern};
use super::kind::NoticeKind;

/// What is shown in the place of a secret, and means "as it was" where it is written.
pub const HIDDEN: &str = "***";

/// A channel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Channel {
    /// What people call it.
    pub name: String,
    /// The language of its messages.
    pub language: Language,
    /// What it is told of; empty = everything.
    pub kinds: Vec<NoticeKind>,
    /// About which workflows; empty = all.
    pub workflows: Vec<WorkflowPattern>,
    /// Where its messages go.
    #[serde(flatten)]
    pub target: Target,
}

/// A language that messages are written in.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Language {
    /// English.
    #[default]
    #[serde(rename = "en")]
    English,
    /// Traditional Chinese.
    #[serde(rename = "zh-TW")]
    Chinese,
}

/// Where messages go, without secrets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "type", content = "config", rename_all = "lowercase")]
pub enum Target {
    /// Microsoft Teams, through a workflow there.
    Teams(Teams),
    /// Slack, through an incoming webhook.
    Slack(Slack),
    /// Mail, through a relay.
    Email(Email),
    /// Anybody's service, by Standard Webhooks.
    Webhook(Webhook),
    /// PagerDuty, through its Events API.
    PagerDuty(PagerDuty),
}

/// See [`Target::Teams`]. The address is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Teams {
    /// The host of the address.
    pub host: String,
    /// What the workflow expects.
    pub envelope: Envelope,
}

/// What a workflow in Teams expects.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Envelope {
    /// A message with the card attached.
    #[default]
    Message,
    /// The card alone.
    Card,
}

/// See [`Target::Slack`]. The address is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slack {
    /// The host of the address.
    pub host: String,
}

/// See [`Target::Email`]. The password is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Email {
    /// The relay.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is protected.
    pub tls: MailTls,
    /// Who logs in, if anybody does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub username: Option<String>,
    /// Who sends.
    pub from: String,
    /// Who gets it.
    pub to: Vec<String>,
    /// Certificates (PEM) that are trusted besides the system's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ca: Option<String>,
}

/// How a connection to a relay is protected.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailTls {
    /// It begins in plain text and must then be protected.
    #[default]
    Starttls,
    /// From the first byte.
    Tls,
    /// Not at all.
    None,
}

impl MailTls {
    /// The port that is usual for it.
    #[must_use]
    pub fn port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

/// See [`Target::Webhook`]. What it signs with is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Webhook {
    /// The address.
    pub url: String,
}

/// See [`Target::PagerDuty`]. The routing key is a secret.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PagerDuty {
    /// The address of the Events API.
    pub url: String,
    /// How bad everything is.
    pub severity: Severity,
}

/// How bad something is, in PagerDuty's words.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// The worst.
    Critical,
    /// Usual.
    #[default]
    Error,
    /// Less.
    Warning,
    /// The least.
    Info,
}

impl Severity {
    /// As it is sent.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Critical => "critical",
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Info => "info",
        }
    }
}

impl Target {
    /// As it is written.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        match self {
            Self::Teams(_) => "teams",
            Self::Slack(_) => "slack",
            Self::Email(_) => "email",
            Self::Webhook(_) => "webhook",
            Self::PagerDuty(_) => "pagerduty",
        }
    }

    /// The member of its settings that is a secret.
    #[must_use]
    pub fn secret_name(&self) -> &'static str {
        match self {
            Self::Teams(_) | Self::Slack(_) => "url",
            Self::Email(_) => "password",
            Self::Webhook(_) => "secret",
            Self::PagerDuty(_) => "routing_key",
        }
    }

    /// Whether each group always has a message of its own.
    #[must_use]
    pub fn is_per_group(&self) -> bool {
        matches!(self, Self::PagerDuty(_))
    }
}

impl Channel {
    /// A channel as it was kept.
    ///
    /// # Errors
    /// When it cannot be read, which a newer program may have written.
    pub fn kept(settings: &[u8]) -> Result<Self, serde_json::Error> {
        serde_json::from_slice(settings)
    }

    /// As it is kept.
    #[must_use]
    pub fn to_kept(&self) -> Vec<u8> {
        // Plain structs: this cannot fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    /// What it is told.
    #[must_use]
    pub fn choice(&self) -> Choice {
        Choice {
            kinds: self.kinds.clone(),
            workflows: self.workflows.clone(),
        }
    }
}

/// What was written in the place of a secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GivenSecret {
    /// This one.
    New(Zeroizing<String>),
    /// The one that is there.
    AsItWas,
    /// None.
    None,
}
