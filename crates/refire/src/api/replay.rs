//! Replay: derives every decision of an execution again. Starts nothing.

use axum::Json;
use refire_client::model::{ReplayRequest, ReplayResult};
use refire_core::id::ExecutionId;
use refire_core::json::{Json as Text, Kind};

use super::{Answer, App, Content, Id, Params, Problem, view};
use crate::codes;

/// Replays an execution and checks whether every decision comes out the same.
///
/// With a definition in the body it is the replay lab: the first event that would have been
/// different under that definition. Only decisions are compared: which steps run, in what order, what
/// is retried and when, and how it ends. Requests to targets are not recorded, so a changed URL, header
/// or body shows no difference.
#[utoipa::path(
    post,
    path = "/api/executions/{id}/replay",
    request_body(
        content = ReplayRequest,
        description = "Empty for the execution's own definition; the definition may also be an object, or the body itself",
    ),
    responses(
        (status = 200, description = "All decisions are identical, or the first difference", body = ReplayResult,
            example = json!({"identical": true, "events": 9, "first_difference": null})),
        (status = 400, description = "The definition is not valid"),
        (status = 404, description = "There is no such execution"),
    ),
)]
pub(super) async fn replay_execution(
    app: App,
    id: Id<ExecutionId>,
    _: Params<()>,
    body: Content,
) -> Answer<ReplayResult> {
    let definition = definition(&body)?;
    let (executions, known) = (app.engine.executions(), id.known()?);
    let replay = id
        .outcome(executions.replay(known, definition.as_deref()))
        .await?;
    Ok(Json(view::event::replayed(replay)?))
}

/// The definition that a body holds, if one.
fn definition(body: &Content) -> Result<Option<String>, Problem> {
    let text = body.text()?;
    if body.is_blank() {
        return Ok(None);
    }
    let Ok(json) = Text::parse(text) else {
        return Ok(Some(text.to_owned()));
    };
    if json.kind() != Kind::Object {
        let detail = "the body is neither {\"definition\": …} nor a definition";
        return Err(Problem::new(&codes::INVALID_BODY, detail));
    }
    let member = json.members().find(|(key, _)| key == "definition");
    match member {
        Some((_, value)) => {
            let value = Text::parse(value)?;
            match value.kind() {
                Kind::Null => Ok(None),
                Kind::String => Ok(value.as_text().map(std::borrow::Cow::into_owned)),
                _ => Ok(Some(value.as_str().to_owned())),
            }
        }
        None if json.members().next().is_none() => Ok(None),
        None => Ok(Some(text.to_owned())),
    }
}
