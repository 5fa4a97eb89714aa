//! Who calls: an API key, or a session of the console, becomes an actor. Keys themselves are never kept, only
//! their hashes, and never logged.

use axum::extract::{FromRequestParts, Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use http::request::Parts;
use http::{HeaderMap, HeaderName, HeaderValue};
use refire_store::SessionRow;
use sha2::{Digest, Sha256};
use subtle::ConstantTimeEq;

use super::{App, Problem, session};
use crate::codes::{self, Code};

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
    pub(crate) fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    /// Takes the same time for every wrong key.
    pub(super) fn is(&self, presented: &[u8]) -> bool {
        let hash: [u8; 32] = Sha256::digest(presented).into();
        bool::from(hash.ct_eq(&self.0))
    }
}

/// The name of the admin key.
pub(super) const ADMIN: &str = "admin";

/// Who does it.
#[derive(Debug, Clone)]
pub(super) enum Actor {
    /// Whoever has the key of this name.
    Key(&'static str),
    /// Somebody in the console.
    Session(Box<SessionRow>),
}

impl Actor {
    pub(super) fn of_session(row: SessionRow) -> Self {
        Self::Session(Box::new(row))
    }

    /// The name of the key.
    pub(super) fn name(&self) -> String {
        match self {
            Self::Key(name) => (*name).to_owned(),
            Self::Session(row) => row.actor.clone(),
        }
    }

    /// The session in which it is done.
    pub(super) fn session(&self) -> Option<&SessionRow> {
        match self {
            Self::Key(_) => None,
            Self::Session(row) => Some(row),
        }
    }
}

impl FromRequestParts<App> for Actor {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Problem> {
        let actor = parts.extensions.get().cloned();
        actor.ok_or_else(|| Problem::internal("a call that nobody made"))
    }
}

/// Lets a request with a known key pass, and tells the handler whose it is.
pub(super) async fn authenticate(
    State(app): State<App>,
    mut request: Request,
    next: Next,
) -> Response {
    let actor = match presented(request.headers()) {
        Some(key) if app.lock.opens(key).await => Ok(Some(Actor::Key(ADMIN))),
        Some(_) => Err(unauthorized(
            &codes::UNAUTHORIZED,
            "the API key is not valid for this server",
        )),
        // Few calls come with a cookie: those with a key stay small.
        None => {
            let (method, path) = (request.method(), request.uri().path());
            Box::pin(session::by_cookie(&app, method, path, request.headers())).await
        }
    };
    match actor {
        Ok(Some(actor)) => {
            request.extensions_mut().insert(actor);
            next.run(request).await
        }
        Ok(None) => unauthorized(
            &codes::UNAUTHORIZED,
            "send the API key as `Authorization: Bearer <key>` or `X-API-Key: <key>`",
        )
        .into_response(),
        Err(problem) => problem.into_response(),
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

pub(super) fn unauthorized(code: &'static Code, detail: &str) -> Problem {
    Problem::new(code, detail).with_header(WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"))
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
