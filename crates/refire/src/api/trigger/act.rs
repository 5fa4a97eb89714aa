//! What can be asked of a trigger: pause, go on, run now, a new secret.

use std::time::Duration;

use axum::Json;
use axum::response::Response;
use http::HeaderMap;
use refire_client::model::{Accepted, EnableTrigger, Input, RotateSecret, Trigger};
use refire_client::query::ChangeQuery;
use refire_core::duration;
use refire_core::id::TriggerId;
use refire_engine::trigger::{Rotation, SECRET_KEPT_FOR, SECRET_KEPT_MAX};

use super::{catch_up, find, shown};
use crate::api::execute::{accepted, idempotency_key, not_null, settle};
use crate::api::{Actor, Answer, App, Content, Id, Origin, Params, Problem, view};
use crate::codes;

/// Enables a trigger.
///
/// The times planned while it was disabled are skipped, or with `catch_up` started as `misfire` says.
/// `pause` in the answer has how many there were and how many are started.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/enable",
    params(ChangeQuery),
    request_body(content = EnableTrigger, description = "The same as a body; may be empty"),
    responses((status = 200, description = "The trigger, and what happens to the times of the pause", body = Trigger)),
)]
pub(crate) async fn enable_trigger(
    app: App,
    id: Id<TriggerId>,
    Params(query): Params<ChangeQuery>,
    origin: Origin,
    body: Content,
) -> Answer<Trigger> {
    let wish: EnableTrigger = body.read()?;
    let catch_up = catch_up(wish.catch_up.or(query.catch_up));
    let (enabled, pause) = id
        .outcome(app.engine.triggers().enable(id.known()?, catch_up))
        .await?;
    let mut trigger = view::trigger::trigger(&enabled, app.engine.now(), &origin)?;
    trigger.about.pause = Some(view::trigger::pause(&enabled, &pause));
    Ok(Json(trigger))
}

/// Disables a trigger: it starts nothing until it is enabled again.
#[utoipa::path(
    post,
    path = "/api/triggers/{id}/disable",
    responses((status = 200, description = "The trigger", body = Trigger)),
)]
pub(crate) async fn disable_trigger(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
    origin: Origin,
) -> Answer<Trigger> {
    let disabled = id
        .outcome(app.engine.triggers().disable(id.known()?))
        .await?;
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
    params(
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
        (status = 409, description = "The key was used with another input"),
    ),
)]
pub(crate) async fn run_trigger(
    app: App,
    actor: Actor,
    id: Id<TriggerId>,
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
    let (triggers, by) = (app.engine.triggers(), Some(actor.name()));
    let started = id
        .outcome(triggers.run(id.known()?, input, key, by))
        .await?;
    let started = settle(&started, &workflow)?;
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
    request_body(
        content = RotateSecret,
        description = "Everything is optional",
        example = json!({"keep_previous_for": "24h"}),
    ),
    responses(
        (status = 200, description = "The trigger with its new secret", body = Trigger),
        (status = 400, description = "The body or the secret is wrong"),
        (status = 409, description = "It has no secret, or the previous secret is still valid"),
        (status = 500, description = "Secrets cannot be stored or read"),
    ),
)]
pub(crate) async fn rotate_secret(
    app: App,
    id: Id<TriggerId>,
    _: Params<()>,
    origin: Origin,
    body: Content,
) -> Answer<Trigger> {
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
    let rotated = id
        .outcome(app.engine.triggers().rotate_secret(id.known()?, rotation))
        .await?;
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
