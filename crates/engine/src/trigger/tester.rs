//! Trying a webhook: a request as its sender would make it, signed with the live secret, which goes the
//! way of every other. The secret is told to nobody; where it is itself what is sent, it is left out
//! of what is told.

use std::net::IpAddr;
use std::time::Duration;

use refire_core::id::{RequestId, TriggerId};
use refire_core::webhook::headers::REMOVED;
use refire_core::webhook::{Authentication, sign};
use refire_store::TriggerRow;

use super::TriggerError;
use super::compiled::Ready;
use super::webhook::{Incoming, Received, Webhooks};

/// What a request says of its body unless somebody says otherwise.
pub const CONTENT_TYPE_DEFAULT: &str = "application/json";

/// Headers as they are sent.
type SentHeaders = Vec<(String, Vec<u8>)>;

/// A request that somebody wants to see signed.
#[derive(Debug, Clone)]
pub struct Sample {
    /// Its body.
    pub body: Vec<u8>,
    /// What it is said to be.
    pub content_type: Option<String>,
    /// Further headers; one takes the place of what would be sent under its name.
    pub headers: Vec<(String, String)>,
    /// Where it is said to come from.
    pub source: IpAddr,
}

/// A request as it is sent.
#[derive(Debug, Clone)]
pub struct SignedSample {
    /// Its headers as they may be told: a key itself is not among them.
    pub headers: Vec<(String, String)>,
    /// The header in which that key stands, if the sender is known by one.
    pub key_header: Option<String>,
    /// How long its signature counts; none if its time is not looked at.
    pub valid_for: Option<Duration>,
}

/// What became of a sample.
#[derive(Debug, Clone)]
pub struct Tested {
    /// Under which id the log has it.
    pub request: RequestId,
    /// What became of it.
    pub received: Received,
    /// What was sent.
    pub sent: SignedSample,
}

impl Webhooks {
    /// Signs a request as the sender of this webhook would, and does nothing with it.
    pub async fn sign_sample(
        &self,
        trigger: TriggerId,
        sample: &Sample,
    ) -> Result<SignedSample, TriggerError> {
        let row = self.row_of_trigger(trigger).await?;
        let (sent, _) = self.signed(&row, self.new_request(), sample)?;
        Ok(sent)
    }

    /// Signs a request and takes it as if it had come from outside. The log has it as a test.
    pub async fn test(&self, trigger: TriggerId, sample: Sample) -> Result<Tested, TriggerError> {
        let row = self.row_of_trigger(trigger).await?;
        let request = self.new_request();
        let (sent, headers) = self.signed(&row, request, &sample)?;
        let webhook = row.webhook.ok_or(TriggerError::NotFound)?;
        let incoming = Incoming {
            source: sample.source,
            query: String::new(),
            headers,
            body: sample.body,
            unread: None,
            is_test: true,
        };
        let received = self.receive_as(request, webhook, &incoming).await?;
        // Whoever is told the id may ask for it at once.
        self.flush().await;
        Ok(Tested {
            request,
            received,
            sent,
        })
    }

    /// What is told of the request, and the headers that are sent.
    fn signed(
        &self,
        row: &TriggerRow,
        id: RequestId,
        sample: &Sample,
    ) -> Result<(SignedSample, SentHeaders), TriggerError> {
        let ready = Ready::new(&self.context, row)?;
        let authentication = &ready.settings.authentication;
        let secret = ready.secrets.as_ref().map(|secrets| &secrets.current);
        let signature = sign(
            authentication,
            secret,
            &id.to_string(),
            self.context.now(),
            &sample.body,
        );
        let content_type = sample.content_type.as_deref();
        let content_type = content_type.unwrap_or(CONTENT_TYPE_DEFAULT).to_owned();
        let mut headers = vec![("Content-Type".to_owned(), content_type)];
        headers.extend(signature);
        headers.retain(|(name, _)| !sample.headers.iter().any(|(own, _)| is_same(own, name)));
        let key_header = match authentication {
            Authentication::ApiKey { header } => Some(header.to_string()),
            Authentication::None | Authentication::Signed(_) => None,
        };
        let key_header = key_header.filter(|key| headers.iter().any(|(name, _)| name == key));
        headers.extend(sample.headers.iter().cloned());
        let text = secret.map(|secret| secret.reveal());
        let told = |(name, value): &(String, String)| {
            let value = text.map_or_else(|| value.clone(), |text| value.replace(text, REMOVED));
            (name.clone(), value)
        };
        let sent = SignedSample {
            headers: headers.iter().map(told).collect(),
            key_header,
            valid_for: authentication.tolerance(),
        };
        let bytes = |(name, value): (String, String)| (name, value.into_bytes());
        Ok((sent, headers.into_iter().map(bytes).collect()))
    }
}

fn is_same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}
