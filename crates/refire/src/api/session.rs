//! Logging in to the console: a key or a one-time link becomes a session, which a cookie opens.
//!
//! The browser never keeps the key. A cookie is sent by itself, so a change that comes with one must show
//! that the console asked for it; and no cookie counts where programs call.

mod attempts;
mod cookie;
mod same_origin;

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::{RETRY_AFTER, SET_COOKIE};
use http::{HeaderMap, HeaderValue, Method, StatusCode};
use refire_client::model::{LogIn, Session, SessionLink};
use refire_core::session::SessionKind;
use refire_engine::Engine;
use refire_engine::session::{Made, Maker};
use refire_store::SessionRow;

use attempts::Address;
pub(super) use attempts::Attempts;

use super::auth::{self, ADMIN, AdminKey};
use super::problem::wrong;
use super::{Actor, Answer, App, Content, Origin, Params, Problem};
use crate::codes;

/// What the admin key may do.
const SCOPES: [&str; 1] = ["admin"];
/// Calls that programs make, where people's cookies do not count: fetching tasks locks them, though the
/// method says that it only reads.
const FOR_PROGRAMS: [&str; 2] = ["/api/external-tasks/poll", "/api/n8n/external-tasks/poll"];

/// Who has a cookie of ours; none if there is no cookie, or it does not count here.
pub(super) async fn by_cookie(
    app: &App,
    method: &Method,
    path: &str,
    headers: &HeaderMap,
) -> Result<Option<Actor>, Problem> {
    let is_for_programs = FOR_PROGRAMS.contains(&path);
    let secret = cookie::read(&app.outside, headers);
    let Some(secret) = secret.filter(|_| !is_for_programs) else {
        return Ok(None);
    };
    if !method.is_safe() {
        same_origin::require(&app.outside, headers)?;
    }
    let mut row = found(app, SessionKind::Session, secret)
        .await?
        .ok_or_else(|| {
            let detail = "the session has ended, or its key was changed; log in again";
            auth::unauthorized(&codes::SESSION_OVER, detail)
        })?;
    app.engine.sessions().keep(&mut row).await;
    Ok(Some(Actor::of_session(row)))
}

/// What a secret opens, as long as the key that it was made by is good.
async fn found(app: &App, kind: SessionKind, secret: &str) -> Result<Option<SessionRow>, Problem> {
    match app.engine.sessions().find(kind, secret).await? {
        Some(row) if app.lock.is_key(&row.key_hash).await => Ok(Some(row)),
        _ => Ok(None),
    }
}

/// Begins a session of the console with an API key or with the token of a one-time link.
///
/// The answer sets a cookie; it is the only one who knows the session. From one address, ten attempts in a minute
/// may fail.
#[utoipa::path(
    post,
    path = "/api/session",
    security(()),
    request_body(content = LogIn, example = json!({"key": "rf_…"})),
    responses(
        (status = 200, description = "Logged in; the cookie is in `Set-Cookie`", body = Session),
        (status = 401, description = "The key or the token is wrong, or the token was used"),
        (status = 403, description = "Another site asks for it"),
        (status = 429, description = "Too many attempts from this address failed; `Retry-After` says when to come back"),
    ),
)]
pub(super) async fn log_in(
    app: App,
    Address(address): Address,
    headers: HeaderMap,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    same_origin::refuse_foreign(&app.outside, &headers)?;
    let wish: LogIn = body.read()?;
    let attempt = app.attempts.begin(address).map_err(too_many)?;
    let made = match (&wish.key, &wish.token) {
        (Some(key), None) => with_key(&app, key).await?,
        (None, Some(token)) => with_link(&app, token).await?,
        _ => {
            attempt.forgive();
            return Err(one_of_two(&wish));
        }
    };
    attempt.forgive();
    tracing::info!(%address, actor = made.row.actor, "somebody has logged in to the console");
    let cookie = cookie::set(&app.outside, &made.secret)?;
    let session = shown(&app, &Actor::of_session(made.row));
    Ok(([(SET_COOKIE, cookie)], Json(session)).into_response())
}

async fn with_key(app: &App, key: &str) -> Result<Made, Problem> {
    if !app.lock.opens(key.trim().as_bytes()).await {
        let detail = "the API key is not valid for this server";
        return Err(auth::unauthorized(&codes::UNAUTHORIZED, detail));
    }
    Ok(app.engine.sessions().begin(admin(app)).await?)
}

async fn with_link(app: &App, token: &str) -> Result<Made, Problem> {
    let over = || {
        let detail = "the link was used or is too old; `refire console` makes another";
        auth::unauthorized(&codes::LINK_OVER, detail)
    };
    let link = found(app, SessionKind::Link, token.trim()).await?;
    let made = app.engine.sessions().take(link.ok_or_else(over)?).await?;
    made.ok_or_else(over)
}

fn one_of_two(wish: &LogIn) -> Problem {
    let message = match wish.key.is_some() {
        true => "goes without token",
        false => "is missing; send key or token",
    };
    Problem::fields(&codes::INVALID_BODY, vec![wrong("key", message)])
}

fn too_many(wait: std::time::Duration) -> Problem {
    let seconds = wait.as_secs() + 1;
    let detail = format!("too many attempts from this address failed; try again in {seconds} s");
    Problem::new(&codes::TOO_MANY_LOGINS, detail)
        .with_header(RETRY_AFTER, HeaderValue::from(seconds))
}

/// Who has the key that opens now.
fn admin(app: &App) -> Maker {
    Maker {
        key_hash: app.lock.hash(),
        actor: ADMIN.to_owned(),
    }
}

/// Who calls, with a session or with a key.
#[utoipa::path(
    get,
    path = "/api/session",
    responses((status = 200, description = "Who, and where", body = Session)),
)]
pub(super) async fn get_session(app: App, actor: Actor, _: Params<()>) -> Answer<Session> {
    Ok(Json(shown(&app, &actor)))
}

fn shown(app: &App, actor: &Actor) -> Session {
    Session {
        actor: actor.name(),
        scopes: SCOPES.map(str::to_owned).to_vec(),
        expires_at: actor.session().map(|row| row.ends_at.to_string()),
        version: env!("CARGO_PKG_VERSION").to_owned(),
        node_id: app.engine.node().to_string(),
        dev: app.dev,
        public_url: app.outside.public_url.clone(),
        server_time: app.engine.now().to_string(),
    }
}

/// Ends the session that calls, in all tabs and on all nodes. A call with a key has none to end.
#[utoipa::path(
    delete,
    path = "/api/session",
    responses((status = 204, description = "It has ended")),
)]
pub(super) async fn log_out(app: App, actor: Actor, _: Params<()>) -> Result<Response, Problem> {
    if let Some(row) = actor.session() {
        app.engine.sessions().end(row.id).await?;
    }
    let cookie = cookie::remove(&app.outside);
    Ok((StatusCode::NO_CONTENT, [(SET_COOKIE, cookie)]).into_response())
}

/// Makes a link that logs in to the console by itself, once, within 15 minutes. Needs the key: a session that made
/// links could go on for ever, and after its end.
#[utoipa::path(
    post,
    path = "/api/session/links",
    responses((status = 201, description = "The link", body = SessionLink)),
)]
pub(super) async fn create_session_link(
    app: App,
    actor: Actor,
    origin: Origin,
    _: Params<()>,
) -> Result<Response, Problem> {
    if actor.session().is_some() {
        let detail = "links are made with the key: `refire console` does it";
        return Err(Problem::new(&codes::LINK_NEEDS_KEY, detail));
    }
    let maker = admin(&app);
    let made = app.engine.sessions().link(maker).await?;
    let link = SessionLink {
        url: origin.address(&path_of(&made)),
        expires_at: made.row.ends_at.to_string(),
    };
    Ok((StatusCode::CREATED, Json(link)).into_response())
}

/// A path that logs in with the key of this hash, for whoever starts the server; none if none can be made now.
pub(crate) async fn login_path(engine: &Engine, key: &AdminKey) -> Option<String> {
    let maker = Maker {
        key_hash: *key.as_bytes(),
        actor: ADMIN.to_owned(),
    };
    let made = engine.sessions().link(maker).await.ok();
    made.map(|made| path_of(&made))
}

/// Where a link leads to. Behind the `#`, where no proxy and no log sees it.
fn path_of(made: &Made) -> String {
    format!("/login#t={}", made.secret)
}
