//! Sends one message: what the step of the server's own workflow does. It is the only place that sees the secrets of
//! channels; they leave it inside the call and nowhere else.

use std::sync::{Arc, Weak};
use std::time::Duration;

use refire_core::failure::{ErrorClass, Failure};
use refire_core::id::NotificationId;
use refire_core::json::Json;
use refire_core::notify::channel::{Channel, Target};
use refire_core::notify::{Occasion, Rendered, render, sign};
use refire_core::time::Timestamp;
use zeroize::Zeroizing;

use super::workflow::Input;
use super::{NotifyError, channel, mail, secrets};
use crate::context::Context;
use crate::step::local::{OwnFuture, TaskContext};
use crate::target::{HttpRequest, Redactor};

/// How long a service may take.
const TIMEOUT: Duration = Duration::from_secs(20);
/// What is read of its answer.
const ANSWER_BYTES_MAX: u64 = 64 * 1024;
/// The shortest wait that PagerDuty asks for after too many events.
const PAGERDUTY_WAIT: Duration = Duration::from_secs(60);

/// From now on the server does what its own workflow says.
pub(super) fn install(context: &Arc<Context>) {
    let weak: Weak<Context> = Arc::downgrade(context);
    let task = move |task: TaskContext, input: Json| -> OwnFuture {
        let weak = weak.clone();
        Box::pin(async move {
            let context = weak.upgrade().ok_or_else(|| later("the server stops"))?;
            send(&context, &task, &input).await
        })
    };
    // Nobody else sets it.
    let _ = context.clients.own.set(Arc::new(task));
}

/// A failure that is tried again.
pub(super) fn later(message: impl Into<String>) -> Failure {
    let mut failure = Failure::new(ErrorClass::Local, message);
    failure.retryable = true;
    failure
}

/// A failure that stays.
pub(super) fn never(message: impl Into<String>) -> Failure {
    let mut failure = later(message);
    failure.retryable = false;
    failure
}

async fn send(context: &Context, task: &TaskContext, input: &Json) -> Result<Json, Failure> {
    let input = Input::read(input).ok_or_else(|| never("the message cannot be read"))?;
    let rows = context.store.channels().await;
    let rows = rows.map_err(|error| later(error.to_string()))?;
    let row = rows.into_iter().find(|row| row.id == input.channel);
    let row = row.ok_or_else(|| never("the channel was removed").with_code("no_channel"))?;
    let channel = channel::read(&row).map_err(|error| never(error.to_string()))?;
    let secret = secrets::open(context, &row).map_err(|error| match error {
        NotifyError::Vault(_) | NotifyError::NoMasterKey => {
            never(format!("the channel's secret does not open: {error}")).with_code("secret")
        }
        other => later(other.to_string()),
    })?;
    let id = NotificationId::from_bytes(*task.execution.as_bytes());
    let message_id = input.repeats.unwrap_or(id);
    let now = context.now();
    let address = Some(context.address.as_str()).filter(|address| !address.is_empty());
    let occasion = Occasion {
        id: message_id,
        address,
        at: now,
    };
    let rendered = render(&channel, &input.message, occasion);
    let sending = Sending {
        context,
        channel: &channel,
        secret,
        id: message_id,
        now,
    };
    let answer = match rendered {
        Rendered::Json(body) => sending.post(body).await?,
        Rendered::Mail(mail) => sending.mail(mail).await?,
    };
    Json::parse(answer.to_string()).map_err(|error| later(error.to_string()))
}

/// A message on its way.
struct Sending<'a> {
    context: &'a Context,
    channel: &'a Channel,
    secret: Option<Zeroizing<String>>,
    id: NotificationId,
    now: Timestamp,
}

impl Sending<'_> {
    fn secret(&self) -> Result<&str, Failure> {
        let secret = self.secret.as_ref().map(|secret| secret.as_str());
        secret.ok_or_else(|| never("the channel has no secret").with_code("secret"))
    }

    async fn post(&self, body: String) -> Result<serde_json::Value, Failure> {
        let mut headers = vec![("Content-Type".to_owned(), "application/json".to_owned())];
        let mut body = Zeroizing::new(body.into_bytes());
        let url = match &self.channel.target {
            Target::Teams(_) | Target::Slack(_) => self.secret()?.to_owned(),
            Target::Webhook(to) => {
                let signed = sign(self.secret()?, self.id, self.now, &body);
                headers.extend(signed.map_err(never)?);
                to.url.clone()
            }
            Target::PagerDuty(to) => {
                body = with_routing_key(&body, self.secret()?)?;
                to.url.clone()
            }
            Target::Email(_) => return Err(never("mail goes another way")),
        };
        let request = HttpRequest {
            method: "POST".to_owned(),
            url,
            headers,
            body: Some(body.to_vec()),
            timeout: TIMEOUT,
            expected: Vec::new(),
            max_response_bytes: ANSWER_BYTES_MAX,
            follow_redirects: 0,
            redact: self.redactor(),
            now: self.now,
        };
        let answer = self.context.clients.http.call(request).await;
        let answer = answer.map_err(|failure| self.judged(failure))?;
        self.accepted(answer.output.as_str())
    }

    /// The secret, and what of a secret address tells as much.
    fn redactor(&self) -> Redactor {
        let mut needles: Vec<Zeroizing<String>> = self.secret.iter().cloned().collect();
        if let (Target::Teams(_) | Target::Slack(_), Some(secret)) =
            (&self.channel.target, &self.secret)
            && let Ok(url) = url::Url::parse(secret)
        {
            needles.push(Zeroizing::new(url.path().to_owned()));
            needles.extend(url.query().map(|query| Zeroizing::new(query.to_owned())));
        }
        Redactor::new(needles.iter().map(|needle| needle.as_str()))
    }

    /// Whether a failure may be tried again: too many, their trouble, or the way there. What the service will
    /// refuse again is not.
    fn judged(&self, failure: Failure) -> Failure {
        let status = failure
            .code
            .as_deref()
            .and_then(|code| code.parse::<u16>().ok());
        let is_gone = match failure.class {
            ErrorClass::HttpStatus => status.is_some_and(|status| {
                (400..500).contains(&status) && !matches!(status, 408 | 425 | 429)
            }),
            ErrorClass::AddressRefused
            | ErrorClass::InvalidUrl
            | ErrorClass::Redirect
            | ErrorClass::Tls => true,
            _ => false,
        };
        let mut retry_after_ms = failure.retry_after_ms;
        if matches!(self.channel.target, Target::PagerDuty(_)) && status == Some(429) {
            let least = u64::try_from(PAGERDUTY_WAIT.as_millis()).unwrap_or(u64::MAX);
            retry_after_ms = Some(retry_after_ms.unwrap_or(least).max(least));
        }
        let code = failure
            .code
            .clone()
            .unwrap_or_else(|| failure.class.name().to_owned());
        Failure {
            class: ErrorClass::Local,
            code: Some(code),
            retryable: !is_gone,
            retry_after_ms,
            ..failure
        }
    }

    /// What the service said. Slack says `ok`, or it did not take it.
    fn accepted(&self, output: &str) -> Result<serde_json::Value, Failure> {
        let output: serde_json::Value = serde_json::from_str(output).unwrap_or_default();
        if let Target::Slack(_) = self.channel.target
            && output["body"]
                .as_str()
                .is_some_and(|body| body.trim() != "ok")
        {
            return Err(later("Slack did not say `ok`"));
        }
        Ok(serde_json::json!({"accepted": true, "status": output["status"]}))
    }

    async fn mail(&self, mail: refire_core::notify::Mail) -> Result<serde_json::Value, Failure> {
        let Target::Email(relay) = &self.channel.target else {
            return Err(never("this is no mail"));
        };
        let password = self.secret.as_ref().map(|secret| secret.as_str());
        let sent = mail::send(&self.context.clients.guard, relay, password, &mail);
        let sent = tokio::time::timeout(2 * TIMEOUT, sent).await;
        let sent = sent.unwrap_or_else(|_| Err(later("the relay did not answer in time")));
        sent.map_err(|failure| crate::target::without_secrets(failure, &self.redactor()))
    }
}

/// The key stands in the body.
fn with_routing_key(body: &[u8], key: &str) -> Result<Zeroizing<Vec<u8>>, Failure> {
    let mut event: serde_json::Value =
        serde_json::from_slice(body).map_err(|error| never(error.to_string()))?;
    event["routing_key"] = key.into();
    Ok(Zeroizing::new(event.to_string().into_bytes()))
}
