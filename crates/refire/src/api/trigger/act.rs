//! What can be asked of a trigger: pause, go on, run now, a new secret.

use std::time::Duration;

use axum::Json;
use axum::extract::{Extension, Path, State};
use axum::response::Response;
use http::HeaderMap;
use refire_client::model::{Accepted, EnableTrigger, Input, RotateSecret, Trigger};
use refire_client::query::ChangeQuery;
use refire_core::duration;
use refire_engine::trigger::{Rotation, SECRET_KEPT_FOR, SECRET_KEPT_MAX};
use utoipa_axum::router::OpenApiRouter;
use utoipa_axum::routes;

use super::{catch_up, find, known_id, named, shown};
use crate::api::App;
use crate::api::auth::Actor;
use crate::api::body::Content;
use crate::api::execute::{accepted, idempotency_key, not_null, settle};
use crate::api::origin::Origin;
use crate::api::problem::Problem;
use crate::api::query::Params;
use crate::api::view;
use crate::codes;

pub(super) fn router() -> OpenApiRouter<App> {
    OpenApiRouter::new()
        .routes(routes!(enable))
        .routes(routes!(disable))
        .routes(routes!(run))
        .routes(routes!(rotate_secret))
}

/// Enables a trigger.
///
/// The times planned while it was disabled are skipped, or with `catch_up` started as `misfire` says.
/// `pause` in the answer has how many there were and how many are started.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/enable",
    operation_id = "enable_trigger",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ChangeQuery,
    ),
    request_body(content = EnableTrigger, description = "The same as a body; may be empty"),
    responses(
        (status = 200, description = "The trigger, and what happens to the times of the pause", body = Trigger),
        (status = 404, description = "There is none"),
    ),
)]
async fn enable(
    State(app): State<App>,
    Path(id): Path<String>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Result<Json<Trigger>, Problem> {
    let wish: EnableTrigger = body.read()?;
    let wanted = wish.catch_up.or(query.catch_up);
    let catch_up = catch_up(wanted.unwrap_or_default());
    let enabled = app.engine.triggers().enable(known_id(&id)?, catch_up).await;
    let (enabled, pause) = enabled.map_err(named(&id))?;
    let mut trigger = view::trigger::trigger(&enabled, app.engine.now(), &origin)?;
    trigger.about.pause = Some(view::trigger::pause(&enabled, &pause));
    Ok(Json(trigger))
}

/// Disables a trigger: it starts nothing until it is enabled again.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/disable",
    operation_id = "disable_trigger",
    tag = "Triggers",
    params(("id" = String, Path, description = "`trg_…`")),
    responses(
        (status = 200, description = "The trigger", body = Trigger),
        (status = 404, description = "There is none"),
    ),
)]
async fn disable(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
    origin: Origin,
) -> Result<Json<Trigger>, Problem> {
    let disabled = app.engine.triggers().disable(known_id(&id)?).await;
    let disabled = disabled.map_err(named(&id))?;
    let trigger = view::trigger::trigger(&disabled, app.engine.now(), &origin)?;
    Ok(Json(trigger))
}

/// Starts an execution now, as the trigger would. It is not in the ledger, since it is not a planned
/// time.
///
/// With an `Idempotency-Key`, a repeated request does not start a second execution: for 7 days it
/// gets the id of the first.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/run",
    operation_id = "run_trigger",
    tag = "Triggers",
    params(
        ("id" = String, Path, description = "`trg_…`"),
        ("Idempotency-Key" = Option<String>, Header, description = "The same key never starts a second execution through this trigger"),
    ),
    request_body(
        content = inline(Input),
        description = "Another input; an empty body means the trigger's own input",
        example = json!({"customer_id": 42}),
    ),
    responses(
        (status = 202, description = "It is saved and will run", body = Accepted,
            headers(("Location" = String, description = "The execution"), ("Idempotent-Replayed" = String, description = "true if the key was used before for this execution"))),
        (status = 400, description = "The body or the key is wrong"),
        (status = 404, description = "There is none"),
        (status = 409, description = "The key was used with another input"),
    ),
)]
async fn run(
    State(app): State<App>,
    Extension(actor): Extension<Actor>,
    Path(id): Path<String>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let input = match body.is_blank() {
        true => None,
        false => Some(not_null(body.json()?)?),
    };
    let key = idempotency_key(&headers)?;
    let workflow = find(&app, &id).await?.row.workflow;
    let by = Some(actor.name().to_owned());
    let started = app
        .engine
        .triggers()
        .run(known_id(&id)?, input, key, by)
        .await;
    let started = settle(&started.map_err(named(&id))?, &workflow)?;
    Ok(accepted(&app, started).await)
}

/// Gives a webhook a new secret, which is shown only once.
///
/// The old one stays valid for a day, or as long as `keep_previous_for` says (at most 90 days), so that the
/// sender can be told. While the secret before it is still valid (`previous_secret_until`), this is
/// refused, unless `end_previous` ends that one. With a `keep_previous_for` of `0s` both end.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/rotate-secret",
    operation_id = "rotate_secret",
    tag = "Triggers",
    params(("id" = String, Path, description = "`trg_…`")),
    request_body(
        content = RotateSecret,
        description = "Everything is optional",
        example = json!({"keep_previous_for": "24h"}),
    ),
    responses(
        (status = 200, description = "The trigger with its new secret", body = Trigger),
        (status = 400, description = "The body or the secret is wrong"),
        (status = 404, description = "There is none"),
        (status = 409, description = "It has no secret, or the previous secret is still valid"),
        (status = 500, description = "Secrets cannot be stored or read"),
    ),
)]
async fn rotate_secret(
    State(app): State<App>,
    Path(id): Path<String>,
    _: Params<()>,
    origin: Origin,
    body: Content,
) -> Result<Json<Trigger>, Problem> {
    let wish: RotateSecret = body.read()?;
    let kept = match wish.keep_previous_for.as_deref() {
        Some(text) => length(text)?,
        None => SECRET_KEPT_FOR,
    };
    let rotation = Rotation {
        secret: wish.secret.as_deref(),
        keep_previous_for: kept,
        end_previous: wish.end_previous,
    };
    let id_known = known_id(&id)?;
    let rotated = app
        .engine
        .triggers()
        .rotate_secret(id_known, rotation)
        .await
        .map_err(named(&id))?;
    Ok(Json(shown(&app, &origin, &rotated)?))
}

fn length(text: &str) -> Result<Duration, Problem> {
    let refuse =
        |message: String| Problem::field(&codes::INVALID_BODY, "keep_previous_for", message);
    match duration::parse(text) {
        Ok(length) if length <= SECRET_KEPT_MAX => Ok(length),
        Ok(_) => {
            let most = duration::plain(SECRET_KEPT_MAX);
            Err(refuse(format!("`{text}` is longer than {most}")))
        }
        Err(error) => Err(refuse(error.to_string())),
    }
}
