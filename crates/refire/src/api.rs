//! The HTTP API: from requests to the engine, and back.
//!
//! Handlers read strictly, ask the engine or the store, and show. They hold no state and decide
//! nothing; every change goes through the engine's commit. Errors are `problem` everywhere.

mod auth;
mod backup;
mod batch;
mod body;
mod cursor;
mod description;
mod dlq;
mod docs;
mod execute;
mod execution;
mod gate;
pub(crate) mod listen;
mod lock;
mod node;
mod observe;
mod origin;
mod page;
mod problem;
mod query;
mod ready;
mod replay;
mod retry;
mod server;
mod trigger;
mod version;
mod view;
mod webhook;
mod workflow;

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::Router;
use axum::extract::Request;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::{Method, Uri};
use refire_engine::Engine;
use utoipa_axum::router::OpenApiRouter;

pub(crate) use auth::AdminKey;
pub(crate) use gate::Gate;
pub(crate) use lock::{Lock, Look};
use problem::Problem;
use ready::Readiness;
use tokio::sync::Semaphore;

use crate::codes;
use crate::config::Outside;

/// Bodies beyond the limit that are read at once.
const OVERSIZED_MAX: usize = 2;

/// What every handler may use.
#[derive(Clone)]
pub(crate) struct App(Arc<Inner>);

pub(crate) struct Inner {
    pub(crate) engine: Arc<Engine>,
    pub(crate) lock: Arc<Lock>,
    pub(crate) gate: Gate,
    /// Whether the database answers.
    readiness: Readiness,
    /// The largest body, in bytes.
    pub(crate) body_bytes_max: usize,
    /// Room for bodies that are too large and are read all the same, to be kept: strangers may send them,
    /// too, and only the whole body tells.
    oversized: Semaphore,
    /// How the server is seen from outside.
    outside: Outside,
    /// Where backups go, and nowhere else.
    backup_dir: PathBuf,
    /// In front of every request id, so that ids of two runs of the server differ.
    request_prefix: String,
    requests: AtomicU64,
}

impl std::ops::Deref for App {
    type Target = Inner;

    fn deref(&self) -> &Inner {
        &self.0
    }
}

impl App {
    pub(crate) fn new(
        engine: Arc<Engine>,
        lock: impl Into<Lock>,
        body_bytes_max: usize,
        outside: Outside,
        backup_dir: PathBuf,
    ) -> Self {
        let node = engine.node().to_string();
        let request_prefix = node
            .get(node.len().saturating_sub(8)..)
            .unwrap_or_default()
            .to_owned();
        Self(Arc::new(Inner {
            engine,
            lock: Arc::new(lock.into()),
            gate: Gate::default(),
            readiness: Readiness::default(),
            body_bytes_max,
            oversized: Semaphore::new(OVERSIZED_MAX),
            outside,
            backup_dir,
            request_prefix,
            requests: AtomicU64::new(1),
        }))
    }
}

/// The routes, and their description as JSON.
fn routes(app: &App) -> OpenApiRouter<App> {
    let guarded = OpenApiRouter::new()
        .merge(workflow::router())
        .merge(version::router())
        .merge(execute::router())
        .merge(batch::router())
        .merge(execution::router())
        .merge(replay::router())
        .merge(retry::router())
        .merge(dlq::router())
        .merge(trigger::router())
        .merge(node::router())
        .merge(backup::router())
        .route_layer(axum::middleware::from_fn_with_state(
            app.clone(),
            auth::authenticate,
        ));
    let mut all = OpenApiRouter::with_openapi(description::description())
        .merge(server::open_router())
        .merge(webhook::router())
        .merge(guarded);
    description::complete(all.get_openapi_mut());
    all
}

/// The whole server: every route, and what happens around each request.
#[derive(Clone)]
pub(crate) struct Api {
    app: App,
    router: Router,
}

impl Api {
    pub(crate) fn new(app: &App) -> anyhow::Result<Self> {
        Ok(Self {
            app: app.clone(),
            router: router(app)?,
        })
    }

    /// Answers a request, whatever it is.
    pub(crate) async fn answer(&self, request: Request) -> Response {
        observe::observe(&self.app, &self.router, request).await
    }
}

fn router(app: &App) -> anyhow::Result<Router> {
    let (router, document) = routes(app).split_for_parts();
    // Shared by all answers: anybody may ask for it, and need not read what was asked for.
    let document = Bytes::from(document.to_pretty_json()?);
    let openapi = get(move || async move {
        ([(CONTENT_TYPE, "application/json")], document.clone()).into_response()
    });
    Ok(router
        .route("/openapi.json", openapi)
        .merge(docs::router())
        .fallback(|uri: Uri| async move { no_route(&uri) })
        .method_not_allowed_fallback(wrong_method)
        .with_state(app.clone()))
}

fn no_route(uri: &Uri) -> Response {
    let detail = format!("there is nothing at {}", uri.path());
    Problem::new(&codes::NO_ROUTE, detail).into_response()
}

async fn wrong_method(method: Method) -> Response {
    let detail = format!("{method} is not allowed here; the Allow header says what is");
    Problem::new(&codes::WRONG_METHOD, detail).into_response()
}

#[cfg(test)]
mod tests;
