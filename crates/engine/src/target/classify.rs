//! From the client's errors to the classes that users see. The cause is found by its type in the
//! chain of sources; texts decide only where a library gives nothing else.
//!
//! No sentence here repeats a URL: the place is named by host and port.

use std::error::Error;
use std::fmt;
use std::io;
use std::time::Duration;

use hyper_util::client::legacy;
use refire_core::failure::{ErrorClass, Failure};
use url::Url;

use super::connect::TooSlow;
use super::guard::Refused;
use super::hints::HINTS_MAX;
use super::leftover::Answered;
use super::resolve::NoAddress;

/// Causes that are listed below a message.
const CAUSES_MAX: usize = 8;

/// hyper's words for bytes that came before any request; it has no other sign for them.
const UNASKED_BYTES: &str = "unexpected message";
/// How hyper calls a connection that ended between being chosen for a request and taking it. It
/// counts that as a mistake of its caller, which it is not: the target closed it.
const CONNECTION_GONE: &str = "dispatch task is gone";

/// Who is called, as shown in messages.
#[derive(Debug, Clone)]
pub(super) struct Place {
    host: String,
    port: Option<u16>,
}

impl Place {
    pub(super) fn of(url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default().to_owned();
        Self {
            host,
            port: url.port_or_known_default(),
        }
    }

    pub(super) fn host(&self) -> &str {
        &self.host
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.port {
            Some(port) => write!(f, "{}:{port}", self.host),
            None => f.write_str(&self.host),
        }
    }
}

/// Time ran out before a connection stood.
pub(super) fn connect_timeout(place: &Place, limit: Duration) -> Failure {
    let message = format!("no connection to {place} within {limit:?}");
    Failure::new(ErrorClass::ConnectTimeout, message)
}

/// Time ran out before the first line of an answer.
pub(super) fn answer_timeout(limit: Duration) -> Failure {
    Failure::new(
        ErrorClass::ReadTimeout,
        format!("no answer within {limit:?}"),
    )
}

/// Time ran out in the middle of an answer.
pub(super) fn body_timeout(limit: Duration) -> Failure {
    let message = format!("the answer was not complete within {limit:?}");
    Failure::new(ErrorClass::ReadTimeout, message)
}

/// Interim answers came without an end.
pub(super) fn too_many_hints(place: &Place) -> Failure {
    let message = format!("{place} sent more than {HINTS_MAX} interim answers and no real one");
    Failure::new(ErrorClass::InvalidResponse, message)
}

/// The call ended before there was an answer.
pub(super) fn unanswered(error: &legacy::Error, place: &Place, connect: Duration) -> Failure {
    if let Some(refused) = find::<Refused>(error) {
        // No causes: nothing below this can add to it, and it must not tell what listens there.
        return Failure::new(ErrorClass::AddressRefused, refused.to_string());
    }
    let failure = match class(error, error.is_connect()) {
        ErrorClass::ConnectTimeout => connect_timeout(place, connect),
        ErrorClass::ConnectionRefused if is_refusal(error) => {
            let message = format!("connection refused by {place}");
            Failure::new(ErrorClass::ConnectionRefused, message)
        }
        // Most probably more of the answer before. The next attempt has a connection of its own.
        ErrorClass::InvalidResponse if Answered::before(error) => {
            let message = format!("{place} sent more than its earlier answer on this connection");
            Failure::new(ErrorClass::ConnectionReset, message)
        }
        class => Failure::new(class, sentence(class, place)),
    };
    failure.with_causes(causes(error))
}

/// The call ended in the middle of the answer's body.
pub(super) fn broken_off(error: &hyper::Error, place: &Place) -> Failure {
    let class = class(error, false);
    let message = match class {
        ErrorClass::ConnectionReset => {
            format!("{place} closed the connection in the middle of its answer")
        }
        _ => sentence(class, place),
    };
    Failure::new(class, message).with_causes(causes(error))
}

fn sentence(class: ErrorClass, place: &Place) -> String {
    match class {
        ErrorClass::Dns => format!("the name {} could not be resolved", place.host),
        ErrorClass::Tls => format!("no secure connection to {place} could be made"),
        ErrorClass::ConnectionRefused => format!("{place} cannot be reached"),
        ErrorClass::ConnectionReset => {
            format!("{place} closed the connection before it answered")
        }
        ErrorClass::ReadTimeout => format!("{place} did not answer in time"),
        ErrorClass::InvalidResponse => format!("{place} did not answer with valid HTTP"),
        _ => format!("the request to {place} could not be made"),
    }
}

fn class(error: &(dyn Error + 'static), connecting: bool) -> ErrorClass {
    if find::<rustls::Error>(error).is_some() {
        return ErrorClass::Tls;
    }
    // Time comes before the name: a resolver that is too slow is a connection that is too slow.
    if is_late(error) {
        return match connecting {
            true => ErrorClass::ConnectTimeout,
            false => ErrorClass::ReadTimeout,
        };
    }
    if find::<NoAddress>(error).is_some() {
        return ErrorClass::Dns;
    }
    let of_hyper = chain(error).filter_map(|cause| cause.downcast_ref::<hyper::Error>());
    for cause in of_hyper {
        if cause.is_parse() || cause.to_string().contains(UNASKED_BYTES) {
            return ErrorClass::InvalidResponse;
        }
        if cause.is_incomplete_message() || cause.to_string().contains(CONNECTION_GONE) {
            return ErrorClass::ConnectionReset;
        }
        if cause.is_user() {
            return ErrorClass::Internal;
        }
    }
    let by_io = chain(error).filter_map(|cause| cause.downcast_ref::<io::Error>());
    let by_io = by_io.filter_map(|cause| class_of_io(cause.kind())).next();
    let otherwise = match connecting {
        true => ErrorClass::ConnectionRefused,
        false => ErrorClass::ConnectionReset,
    };
    by_io.unwrap_or(otherwise)
}

fn class_of_io(kind: io::ErrorKind) -> Option<ErrorClass> {
    Some(match kind {
        io::ErrorKind::ConnectionRefused
        | io::ErrorKind::HostUnreachable
        | io::ErrorKind::NetworkUnreachable
        | io::ErrorKind::NetworkDown
        | io::ErrorKind::AddrNotAvailable => ErrorClass::ConnectionRefused,
        io::ErrorKind::ConnectionReset
        | io::ErrorKind::ConnectionAborted
        | io::ErrorKind::NotConnected
        | io::ErrorKind::BrokenPipe
        | io::ErrorKind::UnexpectedEof => ErrorClass::ConnectionReset,
        // A chunk's length that is no number, a chunk that does not end.
        io::ErrorKind::InvalidData | io::ErrorKind::InvalidInput => ErrorClass::InvalidResponse,
        _ => return None,
    })
}

fn is_late(error: &(dyn Error + 'static)) -> bool {
    let late = |io: &io::Error| io.kind() == io::ErrorKind::TimedOut;
    find::<TooSlow>(error).is_some() || find::<io::Error>(error).is_some_and(late)
}

fn is_refusal(error: &(dyn Error + 'static)) -> bool {
    find::<io::Error>(error).is_some_and(|io| io.kind() == io::ErrorKind::ConnectionRefused)
}

/// The error and what lies below it, outermost first, each text once.
fn causes(error: &(dyn Error + 'static)) -> Vec<String> {
    let mut causes: Vec<String> = Vec::new();
    for cause in chain(error) {
        let text = cause.to_string();
        if !causes.contains(&text) {
            causes.push(text);
        }
    }
    causes.truncate(CAUSES_MAX);
    causes
}

fn find<'a, E: Error + 'static>(error: &'a (dyn Error + 'static)) -> Option<&'a E> {
    chain(error).find_map(|cause| cause.downcast_ref::<E>())
}

/// The error and all that is below it.
fn chain<'a>(error: &'a (dyn Error + 'static)) -> impl Iterator<Item = &'a (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| below(*cause))
}

/// An I/O error hides its payload from `source`, so it is asked for it directly.
fn below<'a>(cause: &'a (dyn Error + 'static)) -> Option<&'a (dyn Error + 'static)> {
    match cause
        .downcast_ref::<io::Error>()
        .and_then(io::Error::get_ref)
    {
        Some(payload) => Some(payload),
        None => cause.source(),
    }
}
