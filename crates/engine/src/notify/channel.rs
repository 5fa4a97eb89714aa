//! Channels: made, shown, changed, tried and removed.

use refire_core::definition::{Mark, Problem};
use refire_core::id::{ChannelId, NotificationId};
use refire_core::notify::channel::{GivenSecret, Target};
use refire_core::notify::{
    Channel, Message, Occasion, Phase, Rendered, WrittenChannel, patched, render,
};
use refire_core::webhook::{Method, SECRET_RANDOM_BYTES, Secret};
use refire_store::{CHANNELS_MAX, ChannelChange, ChannelRow, News, Part, PartOutcome};
use url::Host;
use zeroize::Zeroizing;

use super::delivery::Delivery;
use super::workflow::{self, Input};
use super::{Notifications, NotifyError, secrets};
use crate::commit::{Admitted, CommitFailure};
use crate::entropy;

/// Times a change is tried again because somebody else changed the channel meanwhile.
const AGAIN_MAX: u32 = 5;

/// A channel as people see it.
#[derive(Debug, Clone)]
pub struct Shown {
    /// Its row.
    pub row: ChannelRow,
    /// What it was told.
    pub channel: Channel,
    /// Its newest message that has ended, if that failed for good: nothing gets through.
    pub broken: Option<Delivery>,
}

/// A channel that was just made.
#[derive(Debug)]
pub struct Made {
    /// The channel.
    pub shown: Shown,
    /// What it signs with, if the server chose that: it is shown this once.
    pub secret: Option<Zeroizing<String>>,
}

impl Notifications {
    /// All channels, oldest first.
    pub async fn channels(&self) -> Result<Vec<Shown>, NotifyError> {
        let mut all = Vec::new();
        for row in self.context.store.channels().await? {
            all.push(self.shown(row).await?);
        }
        Ok(all)
    }

    /// One channel.
    pub async fn channel(&self, id: ChannelId) -> Result<Shown, NotifyError> {
        let row = self.row(id).await?;
        self.shown(row).await
    }

    pub(super) async fn row(&self, id: ChannelId) -> Result<ChannelRow, NotifyError> {
        let rows = self.context.store.channels().await?;
        let found = rows.into_iter().find(|row| row.id == id);
        found.ok_or(NotifyError::NoSuchChannel)
    }

    async fn shown(&self, row: ChannelRow) -> Result<Shown, NotifyError> {
        let channel = read(&row)?;
        let last = self.last_ended(row.id).await?;
        Ok(Shown {
            broken: last.filter(Delivery::has_failed),
            row,
            channel,
        })
    }

    /// Makes a channel.
    pub async fn create(&self, source: &str) -> Result<Made, NotifyError> {
        self.context.is_open()?;
        let written = WrittenChannel::read(source, None).map_err(NotifyError::Invalid)?;
        self.check_host(&written)?;
        let now = self.context.now();
        let id = ChannelId::from_bytes(entropy::fresh(&*self.context.entropy, now));
        let (secret, chosen) = match (&written.secret, &written.channel.target) {
            (GivenSecret::New(secret), _) => (Some(secret.clone()), None),
            (_, Target::Webhook(_)) => {
                let secret = self.random_secret();
                (Some(secret.clone()), Some(secret))
            }
            _ => (None, None),
        };
        let sealed = secret.map(|secret| secrets::seal(&self.context, id, &secret));
        let row = ChannelRow {
            id,
            version: 1,
            enabled: written.enabled,
            settings: written.channel.to_kept(),
            secrets: sealed.transpose()?,
            created_at: now,
            updated_at: now,
        };
        workflow::definition(&self.context).await?;
        if self.context.store.channels().await?.len() >= CHANNELS_MAX {
            return Err(NotifyError::TooMany);
        }
        if !self.put(row.clone()).await? {
            return Err(NotifyError::TooMany);
        }
        Ok(Made {
            shown: Shown {
                row,
                channel: written.channel,
                broken: None,
            },
            secret: chosen,
        })
    }

    /// Changes a channel by a merge patch; `version`: only if it has that one.
    pub async fn change(
        &self,
        id: ChannelId,
        patch: &str,
        version: Option<u32>,
    ) -> Result<Shown, NotifyError> {
        self.context.is_open()?;
        for _ in 0..AGAIN_MAX {
            let row = self.row(id).await?;
            if version.is_some_and(|version| version != row.version) {
                return Err(NotifyError::Contended);
            }
            let known = read(&row)?;
            let shown = shown_text(&known, &row);
            let source = patched(&shown, patch).map_err(NotifyError::Invalid)?;
            let written =
                WrittenChannel::read(&source, Some(&known)).map_err(NotifyError::Invalid)?;
            self.check_host(&written)?;
            let secrets = match &written.secret {
                GivenSecret::New(secret) => Some(secrets::seal(&self.context, id, secret)?),
                GivenSecret::AsItWas => row.secrets.clone(),
                // Nobody can send without what signs.
                GivenSecret::None if matches!(known.target, Target::Webhook(_)) => {
                    row.secrets.clone()
                }
                GivenSecret::None => None,
            };
            let changed = ChannelRow {
                version: row.version + 1,
                enabled: written.enabled,
                settings: written.channel.to_kept(),
                secrets,
                updated_at: self.context.now(),
                ..row
            };
            if self.put(changed.clone()).await? {
                return self.shown(changed).await;
            }
        }
        Err(NotifyError::Contended)
    }

    /// Removes a channel. Messages on their way end without it.
    pub async fn delete(&self, id: ChannelId) -> Result<(), NotifyError> {
        self.context.is_open()?;
        match self.commit(ChannelChange::Delete { id }).await? {
            true => Ok(()),
            false => Err(NotifyError::NoSuchChannel),
        }
    }

    /// Sends a test message through a channel, also a disabled one.
    pub async fn test(&self, id: ChannelId, by: &str) -> Result<NotificationId, NotifyError> {
        self.context.is_open()?;
        self.row(id).await?;
        let message = Message::test(self.context.now());
        let input = Input {
            channel: id,
            message,
            repeats: None,
        };
        self.start(&input, by).await
    }

    /// Starts a message that somebody asks for.
    pub(super) async fn start(
        &self,
        input: &Input,
        by: &str,
    ) -> Result<NotificationId, NotifyError> {
        let definition = workflow::definition(&self.context).await?;
        let unwritten = || CommitFailure::Internal("a message cannot be written".to_owned());
        let submission = input.submission(by).ok_or_else(unwritten)?;
        let draft = self.context.draft_by(&definition, submission).await;
        match self.context.commit_draft(draft).await? {
            Admitted::New(state) => {
                let id = state.origin.as_ref().map(|origin| *origin.id.as_bytes());
                Ok(NotificationId::from_bytes(id.unwrap_or_default()))
            }
            other => Err(CommitFailure::unexpected("answer", &other).into()),
        }
    }

    /// What a message would look like, without sending it. The settings may be those of a channel that is not
    /// there yet.
    pub fn preview(&self, source: &str, phase: Phase) -> Result<Rendered, NotifyError> {
        let written = WrittenChannel::read(source, None).map_err(NotifyError::Invalid)?;
        let now = self.context.now();
        let message = Message::sample(phase, now);
        let address = Some(self.context.address.as_str()).filter(|address| !address.is_empty());
        let occasion = Occasion {
            id: NotificationId::from_bytes(entropy::fresh(&*self.context.entropy, now)),
            address,
            at: now,
        };
        Ok(render(&written.channel, &message, occasion))
    }

    fn random_secret(&self) -> Zeroizing<String> {
        let mut random = Zeroizing::new([0; SECRET_RANDOM_BYTES]);
        self.context.entropy.fill(random.as_mut());
        let secret = Secret::from_random(&random, Method::StandardWebhooks);
        Zeroizing::new(secret.reveal().to_owned())
    }

    /// An inside address is refused when it is written; a name that leads to one when it is called.
    fn check_host(&self, written: &WrittenChannel) -> Result<(), NotifyError> {
        let (path, host) = match &written.channel.target {
            Target::Teams(teams) => ("config.url", teams.host.clone()),
            Target::Slack(slack) => ("config.url", slack.host.clone()),
            Target::Email(email) => ("config.host", email.host.clone()),
            Target::Webhook(to) => ("config.url", host_of(&to.url)),
            Target::PagerDuty(to) => ("config.url", host_of(&to.url)),
        };
        let name = match host.rsplit_once(':') {
            Some((name, port))
                if port.bytes().all(|byte| byte.is_ascii_digit()) && !name.contains(':') =>
            {
                name
            }
            _ => host.as_str(),
        };
        let name = name.trim_start_matches('[').trim_end_matches(']');
        let checked = match name.parse::<std::net::IpAddr>() {
            Ok(std::net::IpAddr::V4(v4)) => self.context.clients.guard.check_host(&Host::Ipv4(v4)),
            Ok(std::net::IpAddr::V6(v6)) => self.context.clients.guard.check_host(&Host::Ipv6(v6)),
            Err(_) => self.context.clients.guard.check_host(&Host::Domain(name)),
        };
        checked.map_err(|refused| {
            let problem = Problem::new(path, Mark::NOWHERE, refused.to_string());
            NotifyError::Invalid(problem.into())
        })
    }

    async fn put(&self, row: ChannelRow) -> Result<bool, NotifyError> {
        self.commit(ChannelChange::Put(row)).await
    }

    async fn commit(&self, change: ChannelChange) -> Result<bool, NotifyError> {
        let part = Part::ChangeChannel(Box::new(change));
        let is_done = match self.context.queue.part(part).await? {
            PartOutcome::Touched(is_done) => is_done,
            other => return Err(CommitFailure::unexpected("outcome", &other).into()),
        };
        if is_done {
            // Those who raise notices here know it before anybody is answered.
            self.context
                .notices
                .learn(&self.context.store.channels().await?);
            self.context.announce(News::Channel);
        }
        Ok(is_done)
    }
}

pub(super) fn read(row: &ChannelRow) -> Result<Channel, NotifyError> {
    Channel::kept(&row.settings).map_err(|error| NotifyError::Damaged(row.id, error.to_string()))
}

fn host_of(url: &str) -> String {
    let url = url::Url::parse(url).ok();
    let host = url.as_ref().and_then(url::Url::host_str);
    host.unwrap_or_default().to_owned()
}

/// A channel as a change is laid over it: as people see it.
fn shown_text(channel: &Channel, row: &ChannelRow) -> String {
    let mut value = serde_json::to_value(channel).unwrap_or_default();
    value["enabled"] = row.enabled.into();
    let secret = channel.target.secret_name();
    if let Some(config) = value["config"].as_object_mut() {
        if secret == "url" {
            // Of a secret address this much is known apart, and is not written.
            config.remove("host");
        }
        if row.secrets.is_some() {
            config.insert(secret.to_owned(), refire_core::notify::HIDDEN.into());
        }
    }
    value.to_string()
}

impl Shown {
    /// Its settings as people see them, with `***` in the place of secrets.
    #[must_use]
    pub fn config(&self) -> serde_json::Value {
        let text = shown_text(&self.channel, &self.row);
        let value: serde_json::Value = serde_json::from_str(&text).unwrap_or_default();
        let mut config = value["config"].clone();
        let host = match &self.channel.target {
            Target::Teams(teams) => Some(&teams.host),
            Target::Slack(slack) => Some(&slack.host),
            _ => None,
        };
        if let (Some(host), Some(config)) = (host, config.as_object_mut()) {
            config.insert("host".to_owned(), host.as_str().into());
        }
        config
    }
}
