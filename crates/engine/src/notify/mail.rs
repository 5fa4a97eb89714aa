//! Mail, through a relay. The relay's name is looked up here, and only an address that may be called is connected to.

use std::net::IpAddr;
use std::time::Duration;

use lettre::address::Envelope;
use lettre::message::header::{HeaderName, HeaderValue};
use lettre::message::{Mailbox, MessageBuilder, MultiPart};
use lettre::transport::smtp::authentication::Credentials;
use lettre::transport::smtp::client::{Certificate, Tls, TlsParameters};
use lettre::transport::smtp::{AsyncSmtpTransport, Error};
use lettre::{Address, AsyncTransport, Message, Tokio1Executor};
use refire_core::failure::Failure;
use refire_core::notify::Mail;
use refire_core::notify::channel::{Email, MailTls};

use super::send::{later, never};
use crate::target::{Guard, Lookup, SystemLookup};

/// How long the relay may take for one answer.
const ANSWERED_WITHIN: Duration = Duration::from_secs(15);

/// Sends a mail to all who get it. Whom the relay refuses for good does not keep the others from getting it.
pub(super) async fn send(
    guard: &Guard,
    relay: &Email,
    password: Option<&str>,
    mail: &Mail,
) -> Result<serde_json::Value, Failure> {
    let (message, from) = message(relay, mail)?;
    let address = address(guard, &relay.host).await?;
    let transport = transport(relay, password, address)?;
    let bytes = message.formatted();
    let (mut sent, mut refused) = (0u32, Vec::new());
    for recipient in &relay.to {
        let to: Address = recipient
            .parse()
            .map_err(|_| never("a recipient is no address"))?;
        let envelope = Envelope::new(Some(from.clone()), vec![to]);
        let envelope = envelope.map_err(|error| never(error.to_string()))?;
        match transport.send_raw(&envelope, &bytes).await {
            Ok(_) => sent += 1,
            Err(error) if is_about_recipient(&error) => refused.push(said(&error)),
            // Those before it have it; the same Message-ID tells their clients that it is the same mail.
            Err(error) => return Err(failure(&error)),
        }
    }
    match (sent, refused.first()) {
        (0, Some(refused)) => Err(
            never(format!("the relay refuses every recipient: {refused}")).with_code("smtp_550"),
        ),
        _ => Ok(serde_json::json!({"accepted": true, "sent": sent, "refused": refused.len()})),
    }
}

fn message(relay: &Email, mail: &Mail) -> Result<(Message, Address), Failure> {
    let wrong = |error: &dyn std::fmt::Display| never(format!("the mail cannot be made: {error}"));
    let from: Address = relay.from.parse().map_err(|error| wrong(&error))?;
    let domain = from.domain().to_owned();
    let mut builder: MessageBuilder = Message::builder()
        .from(Mailbox::new(Some("Refire".to_owned()), from.clone()))
        .subject(mail.subject.clone())
        .message_id(Some(format!("<{}@{domain}>", mail.message_id)))
        .raw_header(plain("Auto-Submitted", "auto-generated"));
    for to in &relay.to {
        let to: Address = to.parse().map_err(|error| wrong(&error))?;
        builder = builder.to(Mailbox::new(None, to));
    }
    if let Some(thread) = &mail.thread {
        builder = builder.references(format!("<{thread}@{domain}>"));
    }
    let both = MultiPart::alternative_plain_html(mail.text.clone(), mail.html.clone());
    let message = builder.multipart(both).map_err(|error| wrong(&error))?;
    Ok((message, from))
}

fn plain(name: &'static str, value: &str) -> HeaderValue {
    HeaderValue::new(HeaderName::new_from_ascii_str(name), value.to_owned())
}

/// An address of the relay that may be called.
async fn address(guard: &Guard, host: &str) -> Result<IpAddr, Failure> {
    let refused = |error: &dyn std::fmt::Display| {
        never(format!("the relay may not be called: {error}")).with_code("address_refused")
    };
    if let Ok(address) = host.parse::<IpAddr>() {
        guard.check(address).map_err(|error| refused(&error))?;
        return Ok(address);
    }
    let found = SystemLookup::default().lookup(host).await;
    let found =
        found.map_err(|error| later(format!("the relay's name has no address: {error}")))?;
    if found.is_empty() {
        return Err(later("the relay's name has no address"));
    }
    let kept = guard
        .filter(host, &found)
        .map_err(|error| refused(&error))?;
    kept.first()
        .copied()
        .ok_or_else(|| later("the relay's name has no address"))
}

fn transport(
    relay: &Email,
    password: Option<&str>,
    address: IpAddr,
) -> Result<AsyncSmtpTransport<Tokio1Executor>, Failure> {
    let parameters = || {
        let mut builder = TlsParameters::builder(relay.host.clone());
        if let Some(pem) = &relay.ca {
            let wrong = |error: Error| never(format!("`ca` is no certificate: {}", said(&error)));
            builder =
                builder.add_root_certificate(Certificate::from_pem(pem.as_bytes()).map_err(wrong)?);
        }
        builder.build_rustls().map_err(|error| never(said(&error)))
    };
    let tls = match relay.tls {
        MailTls::Starttls => Tls::Required(parameters()?),
        MailTls::Tls => Tls::Wrapper(parameters()?),
        MailTls::None => Tls::None,
    };
    let mut builder = AsyncSmtpTransport::<Tokio1Executor>::builder_dangerous(address.to_string())
        .port(relay.port)
        .tls(tls)
        .timeout(Some(ANSWERED_WITHIN));
    if let (Some(name), Some(password)) = (&relay.username, password) {
        builder = builder.credentials(Credentials::new(name.clone(), password.to_owned()));
    }
    Ok(builder.build())
}

/// Whether the relay refuses one recipient for good: bad mailbox, and not bad everything.
fn is_about_recipient(error: &Error) -> bool {
    error.is_permanent()
        && error
            .status()
            .is_some_and(|code| matches!(code.to_string().as_str(), "550" | "551" | "553"))
}

/// In words, with its causes.
fn said(error: &Error) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        text = format!("{text}: {cause}");
        source = cause.source();
    }
    text
}

fn failure(error: &Error) -> Failure {
    let words = said(error);
    // A certificate that is not trusted will not be in a minute either.
    let is_certificate = words.contains("ertificate");
    let code = error.status().map(|code| format!("smtp_{code}"));
    let failure = match error.is_permanent() || is_certificate {
        true => never(format!("the relay refuses it: {words}")),
        false => later(format!("the relay does not take it now: {words}")),
    };
    let code = code.unwrap_or_else(|| if is_certificate { "tls" } else { "smtp" }.to_owned());
    failure.with_code(code)
}
