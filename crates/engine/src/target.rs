//! The outgoing HTTP call: what may be called, how, and what its answer or failure becomes.
//!
//! One [`HttpTarget`] serves the whole node. It makes exactly one request per call, unless the call
//! allows redirects: it resends nothing, uses no proxy, and connects only to addresses that
//! [`Guard`] checked. It never decides whether to try again; that is the policy's business.

mod answer;
mod classify;
mod connect;
mod guard;
mod hints;
mod http;
mod leftover;
mod network;
mod phase;
mod redact;
mod redirect;
mod request;
mod resolve;
mod retry_after;
mod room;
mod tether;
mod trust;
mod wire;

pub use guard::{ALLOW_SETTING, Allow, AllowError, Guard, Refused};
pub use http::{HttpAnswer, HttpSettings, HttpTarget, TargetError};
pub use network::Network;
pub use redact::Redactor;
pub use request::HttpRequest;
pub use resolve::{Found, Lookup, SystemLookup};
pub(crate) use room::Taken;
pub use tether::Tether;

pub(crate) use http::without_secrets;
