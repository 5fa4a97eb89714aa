//! Settings that are not saved yet: when a schedule would fire, and what a webhook makes of a sample.

use std::net::{IpAddr, Ipv4Addr};

use axum::Json;
use refire_client::model::{
    JudgedCondition, Page, PreviewWebhook, PreviewedSlot, PreviewedWebhook, Raw, SchedulePreview,
    TestWebhook, TimeZone,
};
use refire_core::definition::{self, Problems};
use refire_core::id::TriggerId;
use refire_core::json;
use refire_core::time::Timestamp;
use refire_core::trigger::{Kind, Preview};
use refire_core::webhook::filter::{Filter, Verdict};
use refire_core::webhook::{Headers, Settings, preview};
use refire_engine::trigger::{CONTENT_TYPE_DEFAULT, TriggerError};
use refire_schedule::{Language, Slot, jiff, offset_text, zone_offsets};
use serde_json::value::{RawValue, to_raw_value};

use super::{find, tester};
use crate::api::problem::wrong;
use crate::api::{Answer, App, Content, Id, Params, Problem, page};
use crate::codes;

/// The longest value that is shown whole, in bytes; fifty conditions may all find the whole body.
const FOUND_BYTES_MAX: usize = 4096;
/// Characters that are shown of a longer one.
const FOUND_CHARS: usize = 200;

/// When a schedule would fire that is not saved yet, and what it means in words.
///
/// The body has the settings of a `cron` or `schedule` trigger as they are sent to create it, in JSON or
/// YAML, and beside them `count` (1 to 100, default 10) and `from` (a time; default now). What saving
/// would refuse is refused here, too.
#[utoipa::path(
    post,
    path = "/api/schedule/preview",
    request_body(
        content(
            (serde_json::Value = "application/json", example = json!({"trigger_type": "cron", "cron_expression": "0 9 * * MON", "timezone": "Asia/Taipei", "count": 3})),
            (String = "application/yaml"),
        ),
        description = "The settings of a trigger, `count` and `from`",
    ),
    responses(
        (status = 200, description = "When it would fire", body = SchedulePreview),
        (status = 400, description = "Every problem of the settings"),
    ),
)]
pub(crate) async fn preview_schedule(
    app: App,
    _: Params<()>,
    body: Content,
) -> Answer<SchedulePreview> {
    let now = app.engine.now();
    let preview = Preview::parse(body.text()?, now).map_err(TriggerError::Invalid)?;
    let schedule = &preview.schedule;
    let moment = |at: Timestamp| jiff::Timestamp::from_microsecond(at.as_micros());
    let from = moment(preview.from).unwrap_or_default();
    let english = schedule.explain(Language::English, from);
    let chinese = schedule.explain(Language::TraditionalChinese, from);
    let offset = schedule.zone().to_offset(moment(now).unwrap_or_default());
    Ok(Json(SchedulePreview {
        description: english.summary,
        description_zh: chinese.summary,
        next: preview.slots().iter().map(previewed).collect(),
        notes: english.notes,
        notes_zh: chinese.notes,
        timezone: schedule.timezone().to_owned(),
        offset: offset_text(offset),
    }))
}

fn previewed(slot: &Slot) -> PreviewedSlot {
    PreviewedSlot {
        at: Timestamp::from_micros(slot.at.as_microsecond()).to_string(),
        local: slot.to_string(),
        offset: offset_text(slot.offset),
        note: slot.note(Language::English),
        note_zh: slot.note(Language::TraditionalChinese),
    }
}

/// All time zones by name, with what their clocks are ahead of UTC now.
#[utoipa::path(
    get,
    path = "/api/time-zones",
    responses((status = 200, description = "All time zones", body = Page<TimeZone>)),
)]
pub(crate) async fn list_time_zones(app: App, _: Params<()>) -> Answer<Page<TimeZone>> {
    let now = jiff::Timestamp::from_microsecond(app.engine.now().as_micros()).unwrap_or_default();
    let zone = |(name, offset): (String, jiff::tz::Offset)| TimeZone {
        name,
        offset: offset_text(offset),
        offset_minutes: offset.seconds() / 60,
    };
    let items = zone_offsets(now).into_iter().map(zone).collect();
    Ok(Json(page::whole(items)))
}

/// What the settings of a webhook make of a request: its conditions, and the name it would be known by.
///
/// The settings need not be saved. Signatures and addresses are not checked, and nothing is sent or
/// written.
#[utoipa::path(
    post,
    path = "/api/webhook/preview",
    request_body(
        content = PreviewWebhook,
        example = json!({"settings": {"authentication": "hmac", "filters": [{"json_path": "$.event_type", "operator": "equals", "value": "incident.created"}]}, "body": {"event_type": "incident.created"}}),
    ),
    responses(
        (status = 200, description = "Every condition with what it found", body = PreviewedWebhook),
        (status = 400, description = "Every problem of the settings, or of the request"),
        (status = 404, description = "There is no such trigger"),
        (status = 409, description = "It is not a webhook"),
    ),
)]
pub(crate) async fn preview_webhook(
    app: App,
    _: Params<()>,
    body: Content,
) -> Answer<PreviewedWebhook> {
    let wish: PreviewWebhook = body.read()?;
    let settings = settings(&app, &wish).await?;
    let sample = TestWebhook {
        body: wish.body,
        body_text: wish.body_text,
        content_type: wish.content_type,
        headers: wish.headers,
        ..TestWebhook::default()
    };
    let (sample, _) = tester::sample(sample, IpAddr::V4(Ipv4Addr::UNSPECIFIED))?;
    let content_type = sample.content_type.as_deref();
    let content_type = content_type.unwrap_or(CONTENT_TYPE_DEFAULT);
    let own = sample.headers.iter();
    let own = own.map(|(name, value)| (name.as_str(), value.as_bytes()));
    let is_said = own
        .clone()
        .any(|(name, _)| name.eq_ignore_ascii_case("content-type"));
    let mut headers: Vec<(&str, &[u8])> = own.collect();
    if !is_said {
        headers.push(("content-type", content_type.as_bytes()));
    }
    let found = preview(&settings, Headers(&headers), &sample.body);
    let conditions = settings.filters.iter().zip(&found.verdicts);
    Ok(Json(PreviewedWebhook {
        passed: found.passed(),
        conditions: conditions.map(judged).collect::<Result<_, _>>()?,
        key_from: found.key.as_ref().map(|key| key.from.to_owned()),
        idempotency_key: found.key.map(|key| key.text),
        error: found.refused,
    }))
}

/// The settings that are given, or those of the trigger that is named.
async fn settings(app: &App, wish: &PreviewWebhook) -> Result<Settings, Problem> {
    let missing = |field| wrong(field, "is missing: whose conditions are to be judged?");
    match (&wish.settings, &wish.trigger_id) {
        (Some(given), _) => Settings::parse(given.get()).map_err(|found| within(&found)),
        (None, Some(trigger)) => saved(app, trigger).await,
        (None, None) => {
            let errors = vec![missing("settings")];
            Err(Problem::fields(&codes::INVALID_BODY, errors))
        }
    }
}

/// Problems of settings that stand inside of a body: their lines would be those of another text.
fn within(found: &Problems) -> Problem {
    let named = |problem: &definition::Problem| {
        let path = match problem.path.as_str() {
            "" => "settings".to_owned(),
            path => format!("settings.{path}"),
        };
        refire_client::model::FieldProblem {
            hint: problem.hint.clone(),
            ..wrong(&path, problem.message.clone())
        }
    };
    let errors = found.iter().map(named).collect();
    Problem::fields(&codes::INVALID_TRIGGER, errors)
}

async fn saved(app: &App, trigger: &str) -> Result<Settings, Problem> {
    let id = Id::<TriggerId>::new(trigger.to_owned());
    let trigger = find(app, &id).await?.trigger;
    match trigger.map_err(TriggerError::Invalid)?.settings.kind {
        Kind::Webhook(settings) => Ok(*settings),
        other => Err(TriggerError::Without {
            kind: other.name(),
            what: "conditions",
        }
        .into()),
    }
}

fn judged((filter, verdict): (&Filter, &Verdict)) -> Result<JudgedCondition, Problem> {
    let whole = |value: &json::Json| RawValue::from_string(value.as_str().to_owned());
    let value = filter.value().map(whole).transpose();
    let found = verdict.found.as_ref().map(shown).transpose();
    let unfulfilled = verdict.outcome.as_ref().err();
    Ok(JudgedCondition {
        json_path: filter.path().to_owned(),
        operator: filter.operator().as_str().to_owned(),
        value: value.map_err(Problem::internal)?,
        found: found.map_err(Problem::internal)?,
        passed: unfulfilled.is_none(),
        error: unfulfilled.map(|unfulfilled| unfulfilled.why.clone()),
    })
}

/// A value as it is; of a long one a text with its beginning.
fn shown(value: &json::Json) -> Result<Raw, serde_json::Error> {
    if value.as_str().len() <= FOUND_BYTES_MAX {
        return RawValue::from_string(value.as_str().to_owned());
    }
    let beginning: String = value.as_str().chars().take(FOUND_CHARS).collect();
    to_raw_value(&format!("{beginning}…"))
}
