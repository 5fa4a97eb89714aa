//! Who calls: an API key becomes the name of an actor. Keys themselves are never kept, only their
//! hashes, and never logged.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{App, Problem};
use crate::codes;

const API_KEY: HeaderName = HeaderName::from_static("x-api-key");

/// The hash of a key that opens everything.
#[derive(Clone)]
pub(crate) struct AdminKey([u8; 32]);

impl AdminKey {
    /// Keeps only the hash.
    pub(crate) fn new(key: &str) -> Self {
        Self(Sha256::digest(key.as_bytes()).into())
    }

    /// A hash that was kept elsewhere; none if it has not the size of one.
    pub(crate) fn from_hash(hash: &[u8]) -> Option<Self> {
        hash.try_into().ok().map(Self)
    }

    /// The hash.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// Takes the same time for every wrong key.
    pub(super) fn is(&self, presented: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(presented).into();
        bool::from(hash.ct_eq(&self.0))
    }
}

/// Who does it: the name of the key.
#[derive(Debug, Clone, Copy)]
pub(super) struct Actor(&'static str);

impl Actor {
    pub(super) fn name(self) -> String {
        self.0.to_owned()
    }
}

impl FromRequestParts<App> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let actor = parts.extensions.get().copied();
        actor.ok_or_else(|| Problem::internal("a call that nobody made"))
    }
}

/// Lets a request with a known key pass, and tells the handler whose it is.
pub(super) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    match presented(request.headers()) {
        Some(key) if app.lock.opens(key).await => {
            request.extensions_mut().insert(Actor("admin"));
            next.run(request).await
        }
        Some(_) => unauthorized("the API key is not valid for this server"),
        None => {
            unauthorized("send the API key as `Authorization: Bearer <key>` or `X-API-Key: <key>`")
        }
    }
}

fn presented(headers: &HeaderMap) -> Option<&[u8]> {
    let bearer = headers.get(AUTHORIZATION).and_then(|value| {
        let (scheme, key) = value.as_bytes().split_at_checked("Bearer ".len())?;
        scheme
            .eq_ignore_ascii_case(b"Bearer ")
            .then(|| key.trim_ascii())
    });
    bearer.or_else(|| headers.get(API_KEY).map(HeaderValue::as_bytes))
}

fn unauthorized(detail: &str) -> Response {
    Problem::new(&codes::UNAUTHORIZED, detail)
        .with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
        .into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_comes_in_either_header() {
        let with = |name: &'static str, value: &'static str| {
            HeaderMap::from_iter([(
                HeaderName::from_static(name),
                HeaderValue::from_static(value),
            )])
        };
        let key = AdminKey::new("rf_k");
        for (name, value, expected) in [
            ("authorization", "Bearer rf_k", Some(true)),
            ("authorization", "bearer  rf_k ", Some(true)),
            ("authorization", "Bearer rf_x", Some(false)),
            ("authorization", "Basic rf_k", None),
            ("authorization", "rf_k", None),
            ("x-api-key", "rf_k", Some(true)),
            ("x-api-key", "", Some(false)),
        ] {
            let headers = with(name, value);
            assert_eq!(
                presented(&headers).map(|found| key.is(found)),
                expected,
                "{name}: {value}"
            );
        }
        assert_eq!(presented(&HeaderMap::new()), None);
    }
}
