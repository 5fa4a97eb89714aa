//! What fires next, of all triggers.

use axum::Json;
use refire_client::model::{Page, TriggerType, UpcomingFire};
use refire_client::query::UpcomingQuery;
use refire_core::time::Timestamp;
use refire_engine::trigger::Coming;

use crate::api::page::LIMIT_DEFAULT;
use crate::api::{Answer, App, Params, page, view};

/// The next planned time of each enabled trigger, the soonest first.
#[utoipa::path(
    get,
    path = "/api/triggers/upcoming",
    params(UpcomingQuery),
    responses((status = 200, description = "One planned time of each trigger", body = Page<UpcomingFire>)),
)]
pub(crate) async fn list_upcoming(
    app: App,
    Params(query): Params<UpcomingQuery>,
) -> Answer<Page<UpcomingFire>> {
    let limit = query.limit.unwrap_or(LIMIT_DEFAULT);
    let coming = app.engine.triggers().coming(limit).await?;
    let now = app.engine.now();
    let items = coming.iter().filter_map(|coming| shown(coming, now));
    Ok(Json(page::whole(items.collect())))
}

fn shown(coming: &Coming, now: Timestamp) -> Option<UpcomingFire> {
    let Coming { trigger, next } = coming;
    let words = view::trigger::in_words(trigger.schedule.as_ref()?, now);
    Some(UpcomingFire {
        at: next.planned.to_string(),
        local: next.slot.to_string(),
        trigger_id: trigger.id.to_string(),
        name: trigger.settings.name.clone(),
        workflow_id: trigger.workflow.to_string(),
        trigger_type: TriggerType::from_name(trigger.settings.kind.name()),
        description: words.en,
        description_zh: words.zh_tw,
    })
}
