//! Requests to webhooks as the API shows them.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use refire_client::model::{self, Raw, RequestHeader, WebhookRequest};
use refire_core::json::Json;
use refire_core::webhook::body::{JSON_AS_FORM, is_json_as_form};
use refire_engine::Engine;
use refire_engine::trigger::LoggedHeaders;
use refire_store::{RequestRow, RequestStatus};

use super::{execution, raw};
use crate::api::Problem;

/// A request in a list: without headers and body.
pub(crate) fn listed(row: &RequestRow) -> WebhookRequest {
    WebhookRequest {
        id: row.id.to_string(),
        trigger_id: row.trigger.to_string(),
        received_at: row.at.to_string(),
        status: model::RequestStatus::from_name(row.status.name()),
        source_ip: row.source.clone(),
        test: row.is_test,
        execution_id: row.execution.map(|id| id.to_string()),
        error: row.error.clone(),
        body_bytes: row.body_bytes,
        headers: None,
        headers_left_out: None,
        body: None,
        body_encoding: None,
        note: None,
    }
}

/// A request with everything.
pub(crate) async fn full(engine: &Engine, row: &RequestRow) -> Result<WebhookRequest, Problem> {
    let logged = LoggedHeaders::read(row);
    let left_out = logged.as_ref().map(|logged| logged.left_out);
    let header = |(name, value)| RequestHeader { name, value };
    let shown = match &row.body {
        Some(bytes) => Some(body(bytes, bytes.len() as u64 == row.body_bytes)?),
        None => input(engine, row).await?.map(|input| (input, "json")),
    };
    // Of one that was refused, `error` says it.
    let is_odd = row.body.is_none()
        && shown.as_ref().is_some_and(|(input, _)| {
            Json::parse(input.get()).is_ok_and(|input| is_json_as_form(&input))
        });
    let (body, encoding) = shown.unzip();
    Ok(WebhookRequest {
        headers: logged.map(|logged| logged.headers.into_iter().map(header).collect()),
        headers_left_out: left_out.filter(|count| *count > 0),
        body,
        body_encoding: encoding.map(str::to_owned),
        note: is_odd.then(|| JSON_AS_FORM.to_owned()),
        ..listed(row)
    })
}

/// What a request started has its body as its input.
async fn input(engine: &Engine, row: &RequestRow) -> Result<Option<Raw>, Problem> {
    let Some(id) = row
        .execution
        .filter(|_| row.status == RequestStatus::Triggered)
    else {
        return Ok(None);
    };
    match engine.store().execution(id).await? {
        Some(stored) => Ok(execution::full(engine, &stored).await?.input),
        None => Ok(None),
    }
}

/// JSON as it is, else text, else base64. Text that is not whole may end within a character.
fn body(bytes: &[u8], is_whole: bool) -> Result<(Raw, &'static str), Problem> {
    if let Ok(json) = Json::from_bytes(bytes) {
        return Ok((raw(&json)?, "json"));
    }
    let text = match std::str::from_utf8(bytes) {
        Err(error) if !is_whole && error.error_len().is_none() => {
            std::str::from_utf8(&bytes[..error.valid_up_to()])
        }
        other => other,
    };
    let (text, encoding) = match text {
        Ok(text) => (text.to_owned(), "text"),
        Err(_) => (BASE64_STANDARD.encode(bytes), "base64"),
    };
    let text = serde_json::value::to_raw_value(&text).map_err(Problem::internal)?;
    Ok((text, encoding))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_is_shown_as_what_it_is() {
        for (bytes, expected, encoding) in [
            (&br#"{"n": 1.50}"#[..], r#"{"n": 1.50}"#, "json"),
            (b"{\"n\": ", r#""{\"n\": ""#, "text"),
            (b"\xff\xfe", r#""//4=""#, "base64"),
        ] {
            let (shown, how) = body(bytes, true).unwrap();
            assert_eq!((shown.get(), how), (expected, encoding));
        }
        let (shown, how) = body(b"[1, \xc3", false).unwrap();
        assert_eq!((shown.get(), how), (r#""[1, ""#, "text"));
    }
}
