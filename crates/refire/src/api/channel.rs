//! Channels: ways to tell people.

use axum::Json;
use axum::response::{IntoResponse, Response};
use http::header::LOCATION;
use http::{HeaderMap, HeaderValue, StatusCode};
use refire_client::model::{
    Channel, ChannelPreview, NotificationPhase, NotificationStarted, Page, PreviewChannel,
};
use refire_core::id::ChannelId;
use refire_core::notify::Rendered;

use super::etag::{self, Wanted};
use super::page::whole;
use super::{Actor, Answer, App, Content, Id, Params, Problem, view};
use crate::codes;

/// Makes a channel.
///
/// It is told of what `kinds` and `workflows` choose, from now on. The secret of a `webhook` channel is
/// chosen by the server unless one is given, and shown this once.
#[utoipa::path(
    post,
    path = "/api/channels",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"name": "ops", "type": "teams", "language": "en", "kinds": ["dead_letter.created", "dead_letter.resolved"], "config": {"url": "https://prod-1.westeurope.logic.azure.com/workflows/…", "envelope": "message"}})),
            (String = "application/yaml"),
        ),
        description = "The channel, in JSON or YAML",
    ),
    responses(
        (status = 201, description = "The channel", body = Channel, headers(("Location" = String, description = "The channel"))),
        (status = 400, description = "Every problem of the channel"),
        (status = 409, description = "There are as many channels as there may be"),
    ),
)]
pub(super) async fn create_channel(
    app: App,
    _: Params<()>,
    body: Content,
) -> Result<Response, Problem> {
    let made = app.engine.notifications().create(body.text()?).await?;
    let mut shown = view::notification::channel(&made.shown);
    shown.secret = made.secret.map(|secret| secret.to_string());
    let location = format!("/api/channels/{}", shown.id);
    let mut response = (StatusCode::CREATED, Json(shown)).into_response();
    if let Ok(location) = HeaderValue::from_str(&location) {
        response.headers_mut().insert(LOCATION, location);
    }
    etag::tag(response.headers_mut(), made.shown.row.version);
    Ok(response)
}

/// All channels, oldest first.
#[utoipa::path(
    get,
    path = "/api/channels",
    responses((status = 200, description = "The channels", body = Page<Channel>)),
)]
pub(super) async fn list_channels(app: App, _: Params<()>) -> Answer<Page<Channel>> {
    let channels = app.engine.notifications().channels().await?;
    let items = channels.iter().map(view::notification::channel);
    Ok(Json(whole(items.collect())))
}

/// A channel: what it is told of, where its messages go, and whether they get through.
#[utoipa::path(
    get,
    path = "/api/channels/{id}",
    responses((status = 200, description = "The channel", body = Channel, headers(("ETag" = String, description = "Its version, for `If-Match`")))),
)]
pub(super) async fn get_channel(
    app: App,
    id: Id<ChannelId>,
    _: Params<()>,
) -> Result<Response, Problem> {
    let shown = app.engine.notifications().channel(id.known()?);
    tagged(&id.outcome(shown).await?)
}

fn tagged(shown: &refire_engine::notify::Shown) -> Result<Response, Problem> {
    let mut response = Json(view::notification::channel(shown)).into_response();
    etag::tag(response.headers_mut(), shown.row.version);
    Ok(response)
}

/// Changes a channel by a JSON merge patch on what is shown of it.
///
/// `null` removes a field, and `***` keeps a secret. The result is checked as a whole. Messages that are on
/// their way go by the channel as it is when they are sent.
#[utoipa::path(
    patch,
    path = "/api/channels/{id}",
    params(("If-Match" = Option<String>, Header, description = "The version that is changed, such as `\"3\"`")),
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"enabled": false})),
            (String = "application/yaml"),
        ),
        description = "The fields to change",
    ),
    responses(
        (status = 200, description = "The channel as it is now", body = Channel),
        (status = 400, description = "Every problem of the result"),
        (status = 412, description = "It has another version"),
    ),
)]
pub(super) async fn change_channel(
    app: App,
    id: Id<ChannelId>,
    _: Params<()>,
    headers: HeaderMap,
    body: Content,
) -> Result<Response, Problem> {
    let version = match etag::wanted(&headers)? {
        Some(Wanted::Version(version)) => Some(version),
        Some(Wanted::Any) | None => None,
    };
    let notifications = app.engine.notifications();
    let changed = notifications.change(id.known()?, body.text()?, version);
    tagged(&id.outcome(changed).await?)
}

/// Removes a channel. Messages that are on their way are not sent any more.
#[utoipa::path(
    delete,
    path = "/api/channels/{id}",
    responses((status = 204, description = "Removed")),
)]
pub(super) async fn delete_channel(
    app: App,
    id: Id<ChannelId>,
    _: Params<()>,
) -> Result<StatusCode, Problem> {
    let deleted = app.engine.notifications().delete(id.known()?);
    id.outcome(deleted).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// Sends a test message through a channel, also while it is disabled.
///
/// What became of it is in `/api/notifications/{id}`. Teams says only that its workflow began: look there
/// whether the message is to be seen.
#[utoipa::path(
    post,
    path = "/api/channels/{id}/test",
    responses((status = 202, description = "It is being sent", body = NotificationStarted)),
)]
pub(super) async fn test_channel(
    app: App,
    actor: Actor,
    id: Id<ChannelId>,
    _: Params<()>,
) -> Result<(StatusCode, Json<NotificationStarted>), Problem> {
    let (notifications, by) = (app.engine.notifications(), actor.name());
    let started = notifications.test(id.known()?, &by);
    let started = id.outcome(started).await?;
    let shown = NotificationStarted {
        id: started.to_string(),
    };
    Ok((StatusCode::ACCEPTED, Json(shown)))
}

/// What a message through a channel would look like. Nothing is sent or written.
#[utoipa::path(
    post,
    path = "/api/channels/preview",
    request_body = PreviewChannel,
    responses(
        (status = 200, description = "What the service would be sent", body = ChannelPreview),
        (status = 400, description = "Every problem of the channel"),
    ),
)]
pub(super) async fn preview_channel(
    app: App,
    _: Params<()>,
    body: Content,
) -> Answer<ChannelPreview> {
    let preview: PreviewChannel = body.read()?;
    let phase = match preview.phase {
        None => refire_core::notify::Phase::Test,
        Some(phase) => view::notification::phase_of(phase).ok_or_else(|| {
            let message = format!(
                "there is no message `{}`",
                NotificationPhase::Unknown.name()
            );
            Problem::field(&codes::INVALID_BODY, "phase", message)
        })?,
    };
    let source = preview.channel.to_string();
    let rendered = app.engine.notifications().preview(&source, phase)?;
    Ok(Json(match rendered {
        Rendered::Json(text) => ChannelPreview {
            body: serde_json::from_str(&text).ok(),
            subject: None,
            text: None,
            html: None,
        },
        Rendered::Mail(mail) => ChannelPreview {
            body: None,
            subject: Some(mail.subject),
            text: Some(mail.text),
            html: Some(mail.html),
        },
    }))
}
