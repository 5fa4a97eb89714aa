//! The HTTP API: from requests to the engine, and back.
//!
//! Handlers read strictly, ask the engine or the store, and show. They hold no state and decide
//! nothing; every change goes through the engine's commit. Errors are `problem` everywhere.

mod alert;
mod alert_rule;
mod auth;
mod backup;
mod batch;
mod body;
mod bulk;
mod callback;
mod channel;
mod console;
mod cursor;
mod description;
mod dlq;
mod docs;
mod etag;
mod execute;
mod execution;
mod gate;
mod id;
pub(crate) mod listen;
mod lock;
mod node;
mod notification;
mod observe;
mod origin;
mod overview;
mod page;
mod problem;
mod query;
mod ready;
mod replay;
mod retry;
mod scheduled;
mod search;
mod server;
mod session;
mod silence;
mod stats;
mod sub_path;
mod target;
mod task;
mod task_history;
mod trigger;
mod trouble;
mod version;
mod view;
mod webhook;
mod worker;
mod workflow;

use std::convert::Infallible;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use axum::extract::{FromRequestParts, Request};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use bytes::Bytes;
use http::header::CONTENT_TYPE;
use http::request::Parts;
use http::{Method, Uri};
use refire_engine::Engine;
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use auth::Actor;
pub(crate) use auth::AdminKey;
use body::Content;
use cursor::List;
use description::tagged;
pub(crate) use gate::Gate;
use id::Id;
pub(crate) use lock::{Lock, Look};
use origin::Origin;
use page::Window;
use problem::Problem;
use query::Params;
use ready::Readiness;
use session::Attempts;
pub(crate) use session::login_path;
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
    /// Whether `--dev` is on.
    dev: bool,
    /// Who has tried to log in.
    attempts: Attempts,
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
        dev: bool,
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
            dev,
            attempts: Attempts::default(),
            request_prefix,
            requests: AtomicU64::new(1),
        }))
    }
}

/// What a handler gives that shows something.
type Answer<T> = Result<Json<T>, Problem>;

impl FromRequestParts<App> for App {
    type Rejection = Infallible;

    async fn from_request_parts(_: &mut Parts, app: &App) -> Result<Self, Infallible> {
        Ok(app.clone())
    }
}

/// Every call, with its description.
fn routes(app: &App) -> OpenApiRouter<App> {
    let server = OpenApiRouter::new()
        .routes(routes!(server::livez))
        .routes(routes!(server::healthz))
        .routes(routes!(server::readyz))
        .routes(routes!(server::get_version))
        .routes(routes!(server::get_error_page))
        .route("/", get(server::home));
    let schema = OpenApiRouter::new().routes(routes!(server::get_workflow_schema));
    let webhook = OpenApiRouter::new().routes(routes!(webhook::receive_webhook));
    let callback = OpenApiRouter::new().routes(routes!(callback::call_back));
    let login = OpenApiRouter::new().routes(routes!(session::log_in));
    let mut all = OpenApiRouter::with_openapi(description::description())
        .merge(tagged("Server", server))
        .merge(tagged("Workflows", schema))
        .merge(tagged("Triggers", webhook))
        .merge(tagged("Callbacks", callback))
        .merge(tagged("Console", login))
        .merge(guarded_routes(app));
    description::complete(all.get_openapi_mut());
    all
}

/// What needs a key. Calls of one subject stand together; each line is a path.
fn guarded_routes(app: &App) -> OpenApiRouter<App> {
    let workflows = OpenApiRouter::new()
        .routes(routes!(workflow::list::list_workflows))
        .routes(routes!(
            workflow::save_workflow,
            workflow::get_workflow,
            workflow::delete_workflow
        ))
        .routes(routes!(workflow::validate_workflow))
        .routes(routes!(version::list_workflow_versions))
        .routes(routes!(version::get_workflow_version))
        .routes(routes!(
            version::diff_workflow_versions,
            version::diff_workflow
        ));
    let executions = OpenApiRouter::new()
        .routes(routes!(execute::execute_workflow))
        .routes(routes!(batch::execute_workflow_batch))
        .routes(routes!(execution::list::list_executions))
        .routes(routes!(execution::list::count_executions))
        .routes(routes!(execution::get_execution))
        .routes(routes!(execution::list_events))
        .routes(routes!(execution::list_attempts))
        .routes(routes!(execution::cancel_execution))
        .routes(routes!(execution::pause_execution))
        .routes(routes!(execution::resume_execution))
        .routes(routes!(execution::retry_execution_now))
        .routes(routes!(execution::run_execution_again))
        .routes(routes!(execution::bulk::bulk_executions))
        .routes(routes!(replay::replay_execution));
    let retries = OpenApiRouter::new()
        .routes(routes!(retry::list_retries))
        .routes(routes!(retry::simulate_retries));
    let letters = OpenApiRouter::new()
        .routes(routes!(dlq::list_dead_letters))
        .routes(routes!(dlq::summarize_dead_letters))
        .routes(routes!(dlq::get_dead_letter, dlq::delete_dead_letter))
        .routes(routes!(dlq::retry_dead_letter))
        .routes(routes!(dlq::bulk::bulk_dead_letters));
    let bulk = OpenApiRouter::new()
        .routes(routes!(bulk::list_bulk_jobs))
        .routes(routes!(bulk::get_bulk_job))
        .routes(routes!(bulk::list_bulk_items))
        .routes(routes!(bulk::pause_bulk_job))
        .routes(routes!(bulk::resume_bulk_job))
        .routes(routes!(bulk::cancel_bulk_job));
    let sessions = OpenApiRouter::new()
        .routes(routes!(session::get_session, session::log_out))
        .routes(routes!(session::create_session_link));
    let server = OpenApiRouter::new()
        .routes(routes!(search::search))
        .routes(routes!(node::list_nodes))
        .routes(routes!(overview::get_overview))
        .routes(routes!(trouble::list_trouble))
        .routes(routes!(stats::get_minute_stats))
        .routes(routes!(backup::back_up));
    OpenApiRouter::new()
        .merge(tagged("Workflows", workflows))
        .merge(tagged("Executions", executions))
        .merge(tagged("Retries", retries))
        .merge(tagged("Dead letters", letters))
        .merge(tagged("Bulk jobs", bulk))
        .merge(tagged("Triggers", trigger_routes()))
        .merge(tagged("Targets", target_routes()))
        .merge(tagged("Tasks", task_routes()))
        .merge(tagged("Scheduled tasks", scheduled_routes()))
        .merge(tagged("Notifications", notification_routes()))
        .merge(tagged("Alerts", alert_routes()))
        .merge(tagged("Console", sessions))
        .merge(tagged("Server", server))
        // The same under the address that other systems know.
        .nest("/api/n8n/external-tasks", n8n_routes())
        .route_layer(axum::middleware::from_fn_with_state(
            app.clone(),
            auth::authenticate,
        ))
}

fn task_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(task::poll_tasks))
        .routes(routes!(task::list_tasks))
        .routes(routes!(task::summary::summarize_tasks))
        .routes(routes!(task::get_task))
        .routes(routes!(task::complete_task))
        .routes(routes!(task::fail_task))
        .routes(routes!(task::beat_task))
        .routes(routes!(task::extend_task))
        .routes(routes!(task::unlock_task))
        .routes(routes!(worker::list_workers))
        .routes(routes!(worker::remove_worker))
}

fn notification_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(channel::create_channel, channel::list_channels))
        .routes(routes!(channel::preview_channel))
        .routes(routes!(
            channel::get_channel,
            channel::change_channel,
            channel::delete_channel
        ))
        .routes(routes!(channel::test_channel))
        .routes(routes!(notification::list_notifications))
        .routes(routes!(notification::get_notification))
        .routes(routes!(notification::resend_notification))
}

fn target_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(target::list_targets))
        .routes(routes!(target::get_target))
        .routes(routes!(target::open_target))
        .routes(routes!(target::close_target))
        .routes(routes!(target::reset_target))
        .routes(routes!(target::probe_target))
}

fn alert_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(alert::list_alerts))
        .routes(routes!(alert::get_alert))
        .routes(routes!(alert::acknowledge_alert))
        .routes(routes!(
            alert_rule::list_alert_rules,
            alert_rule::create_alert_rule
        ))
        .routes(routes!(alert_rule::preview_alert_rule))
        .routes(routes!(
            alert_rule::get_alert_rule,
            alert_rule::change_alert_rule,
            alert_rule::delete_alert_rule
        ))
        .routes(routes!(silence::list_silences, silence::create_silence))
        .routes(routes!(
            silence::get_silence,
            silence::replace_silence,
            silence::delete_silence
        ))
}

fn scheduled_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(scheduled::schedule_task))
        .routes(routes!(scheduled::list_scheduled_tasks))
        .routes(routes!(
            scheduled::get_scheduled_task,
            scheduled::change_scheduled_task,
            scheduled::delete_scheduled_task
        ))
        .routes(routes!(scheduled::pause_scheduled_task))
        .routes(routes!(scheduled::resume_scheduled_task))
        .routes(routes!(scheduled::cancel_scheduled_task))
        .routes(routes!(scheduled::run_scheduled_task))
        .routes(routes!(task_history::get_task_history))
        .routes(routes!(task_history::get_task_status))
}

/// Calls of workers that know another address; described once, under ours.
fn n8n_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .route("/poll", get(task::poll_tasks))
        .route("/", get(task::list_tasks))
        .route("/{id}", get(task::get_task))
        .route("/{id}/complete", post(task::complete_task))
        .route("/{id}/fail", post(task::fail_task))
        .route("/{id}/heartbeat", post(task::beat_task))
        .route("/{id}/extend", post(task::extend_task))
        .route("/{id}/unlock", post(task::unlock_task))
}

fn trigger_routes() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(
            trigger::create_trigger,
            trigger::list_workflow_triggers
        ))
        .routes(routes!(trigger::list_triggers))
        .routes(routes!(trigger::coming::list_upcoming))
        .routes(routes!(
            trigger::get_trigger,
            trigger::change_trigger,
            trigger::replace_trigger,
            trigger::delete_trigger
        ))
        .routes(routes!(trigger::act::enable_trigger))
        .routes(routes!(trigger::act::disable_trigger))
        .routes(routes!(trigger::act::run_trigger))
        .routes(routes!(trigger::act::rotate_secret))
        .routes(routes!(trigger::slots::list_next_slots))
        .routes(routes!(trigger::slots::list_slots))
        .routes(routes!(trigger::slots::backfill_trigger))
        .routes(routes!(trigger::requests::list_webhook_requests))
        .routes(routes!(trigger::requests::summarize_webhook_requests))
        .routes(routes!(trigger::recheck::recheck_webhook_requests))
        .routes(routes!(trigger::requests::get_webhook_request))
        .routes(routes!(trigger::requests::recheck_webhook_request))
        .routes(routes!(trigger::tester::test_webhook))
        .routes(routes!(trigger::preview::preview_schedule))
        .routes(routes!(trigger::preview::preview_webhook))
        .routes(routes!(trigger::preview::list_time_zones))
        .routes(routes!(trigger::history::get_cron_history))
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
        observe::observe(
            &self.app,
            &self.router,
            sub_path::within(&self.app, request),
        )
        .await
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
        .fallback(console::fallback)
        .method_not_allowed_fallback(wrong_method)
        .with_state(app.clone()))
}

fn no_route(uri: &Uri) -> Response {
    let detail = format!("there is nothing at {}", callback::shown(uri.path()));
    Problem::new(&codes::NO_ROUTE, detail).into_response()
}

async fn wrong_method(method: Method) -> Response {
    let detail = format!("{method} is not allowed here; the Allow header says what is");
    Problem::new(&codes::WRONG_METHOD, detail).into_response()
}

#[cfg(test)]
mod tests;
