//! Messages to people: what became of them, and sending one again.

use std::collections::HashMap;

use axum::Json;
use http::StatusCode;
use refire_client::model::{Notification, NotificationStarted, Page};
use refire_client::query::{NotificationQuery, Paging};
use refire_core::id::{ChannelId, NotificationId};
use refire_engine::notify::{DeliveryFilter, Shown};

use super::{Actor, Answer, App, Id, List, Params, Problem, Window, view};

/// Messages to people, newest first. They are kept for seven days.
#[utoipa::path(
    get,
    path = "/api/notifications",
    params(NotificationQuery, Paging),
    responses(
        (status = 200, description = "A page of messages", body = Page<Notification>),
        (status = 400, description = "A parameter is wrong"),
    ),
)]
pub(super) async fn list_notifications(
    app: App,
    Params((query, paging)): Params<(NotificationQuery, Paging)>,
) -> Answer<Page<Notification>> {
    let channel = query.channel.as_deref().map(str::parse::<ChannelId>);
    let filter = DeliveryFilter {
        channel: channel.clone().and_then(Result::ok),
        statuses: query
            .status
            .iter()
            .flat_map(|status| view::notification::statuses(*status))
            .collect(),
    };
    let window = Window::new(List::Notifications, &filter, &paging)?;
    if matches!(channel, Some(Err(_))) {
        // What is no id is of no channel.
        return Ok(Json(window.page(Vec::new(), |_: &Notification| {
            NotificationId::from_bytes([0; 16])
        })));
    }
    let notifications = app.engine.notifications();
    let (found, searched) = notifications
        .deliveries(&filter, window.behind, window.rows)
        .await?;
    let page = window.page(found, |delivery| delivery.id);
    let mut page = window.going_on(page, searched);
    let names = names(&app).await?;
    let items = std::mem::take(&mut page.items);
    let items = items
        .iter()
        .map(|delivery| view::notification::notification(delivery, &names));
    Ok(Json(page.with(items.collect())))
}

/// The channels that there are.
async fn names(app: &App) -> Result<HashMap<ChannelId, Shown>, Problem> {
    let channels = app.engine.notifications().channels().await?;
    Ok(channels
        .into_iter()
        .map(|shown| (shown.row.id, shown))
        .collect())
}

/// A message: what it is about, and how far it is.
#[utoipa::path(
    get,
    path = "/api/notifications/{id}",
    responses((status = 200, description = "The message", body = Notification)),
)]
pub(super) async fn get_notification(
    app: App,
    id: Id<NotificationId>,
    _: Params<()>,
) -> Answer<Notification> {
    let delivery = app.engine.notifications().delivery(id.known()?);
    let delivery = id.outcome(delivery).await?;
    Ok(Json(view::notification::notification(
        &delivery,
        &names(&app).await?,
    )))
}

/// Sends a message once more. Whoever gets it sees the id of the first one.
#[utoipa::path(
    post,
    path = "/api/notifications/{id}/resend",
    responses((status = 202, description = "It is being sent", body = NotificationStarted)),
)]
pub(super) async fn resend_notification(
    app: App,
    actor: Actor,
    id: Id<NotificationId>,
    _: Params<()>,
) -> Result<(StatusCode, Json<NotificationStarted>), Problem> {
    let (notifications, by) = (app.engine.notifications(), actor.name());
    let started = notifications.resend(id.known()?, &by);
    let started = id.outcome(started).await?;
    let shown = NotificationStarted {
        id: started.to_string(),
    };
    Ok((StatusCode::ACCEPTED, Json(shown)))
}
