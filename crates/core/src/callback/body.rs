//! What a target sends: the body of a callback, read strictly where it means something here, and kept as
//! it is otherwise; and how the target can be asked, which may have credentials in its headers.

use super::CallbackStatus;
use crate::failure::{ErrorClass, Failure};
use crate::json::{Json, Kind, Members, ObjectBuilder, Segment};
use crate::limit;

/// Bytes of what a target says about its progress; longer texts are cut.
pub const MESSAGE_BYTES_MAX: usize = 500;
/// Bytes of the other fields of a callback that is not the last one.
pub const EXTRA_BYTES_MAX: usize = 64 * 1024;
/// Bytes of a `queryConfig`.
pub const QUERY_BYTES_MAX: usize = 16 * 1024;

/// What stands where a header's value was.
const MASK: &str = "***";

/// A callback.
#[derive(Debug, Clone, PartialEq)]
pub struct Body {
    /// What the target says.
    pub status: CallbackStatus,
    /// 0 to 100.
    pub progress: Option<u8>,
    /// How far it is, in its words.
    pub message: Option<String>,
    /// How it can be asked, as it was sent. The other fields do not have it in the clear.
    pub query_config: Option<Json>,
    /// All of it, the header values of `queryConfig` masked.
    pub whole: Json,
    /// The fields that have no meaning here, as an object; none if there are none.
    pub extra: Option<Json>,
}

/// What is wrong with a body: the field (empty: the whole), and why.
pub type Wrong = (&'static str, String);

impl Body {
    /// Reads a body.
    ///
    /// # Errors
    /// Everything that is wrong with it.
    pub fn read(body: &Json) -> Result<Self, Vec<Wrong>> {
        if body.kind() != Kind::Object {
            return Err(vec![("", "a callback is a JSON object".to_owned())]);
        }
        let mut wrong = Vec::new();
        let status = status(member(body, "status").as_ref());
        let status = status.map_err(|why| wrong.push(("status", why))).ok();
        let progress = progress(member(body, "progress").as_ref(), &mut wrong);
        let message = message(member(body, "progressMessage").as_ref(), &mut wrong);
        let query_config = member(body, "queryConfig");
        if let Some(config) = &query_config {
            check_query(config, &mut wrong);
        }
        let extra = extra(body);
        let is_long = extra
            .as_ref()
            .is_some_and(|extra| extra.as_str().len() > EXTRA_BYTES_MAX);
        if is_long && status.is_some_and(|status| !status.is_final()) {
            let why = format!("the other fields have more than {EXTRA_BYTES_MAX} bytes together");
            wrong.push(("", why));
        }
        match status {
            Some(status) if wrong.is_empty() => Ok(Self {
                status,
                progress,
                message,
                whole: masked(body),
                query_config,
                extra: extra.filter(|_| !status.is_final()),
            }),
            _ => Err(wrong),
        }
    }

    /// The failure that a callback reports.
    #[must_use]
    pub fn failure(&self) -> Failure {
        let said = [
            "error",
            "errorMessage",
            "message",
            "progressMessage",
            "reason",
        ];
        let text = |name| {
            member(&self.whole, name)?
                .as_text()
                .map(|text| text.into_owned())
        };
        let nested = || {
            let error = member(&self.whole, "error")?;
            member(&error, "message")?
                .as_text()
                .map(|text| text.into_owned())
        };
        let is_said = |text: &String| !text.trim().is_empty();
        let said = said.into_iter().find_map(|name| text(name).filter(is_said));
        let said = said.or_else(|| nested().filter(is_said));
        let mut message = said.map_or_else(
            || "the target called back that it failed".to_owned(),
            |said| format!("the target called back that it failed: {said}"),
        );
        message.truncate(message.floor_char_boundary(limit::MESSAGE_BYTES_MAX));
        let whole = self.whole.as_str();
        let end = whole.floor_char_boundary(limit::RESPONSE_EXCERPT_BYTES_MAX);
        let mut failure = Failure::new(ErrorClass::CallbackFailed, message);
        failure.response = Some(whole[..end].to_owned());
        failure
    }
}

/// The last member of that name, which is the one that counts; none if it is null.
fn member(object: &Json, name: &str) -> Option<Json> {
    let found = object.members().filter(|(key, _)| key == name).last();
    let value = Json::parse(found?.1).ok()?;
    (!value.is_null()).then_some(value)
}

fn status(value: Option<&Json>) -> Result<CallbackStatus, String> {
    let words = "use one of processing, success, failed";
    let Some(value) = value else {
        return Err(format!("missing; {words}"));
    };
    let text = value.as_text();
    let found = CallbackStatus::SAID
        .into_iter()
        .find(|status| text.as_deref() == Some(status.name()));
    found.ok_or_else(|| match text.as_deref() {
        Some("pending") => {
            format!("a record is pending until its target calls back, and never again; {words}")
        }
        _ => format!("not a status; {words}"),
    })
}

fn progress(value: Option<&Json>, wrong: &mut Vec<Wrong>) -> Option<u8> {
    let value = value?;
    let number = value.as_str().trim().parse().ok();
    let progress = number.filter(|percent: &u8| *percent <= 100 && value.kind() == Kind::Number);
    if progress.is_none() {
        wrong.push(("progress", "a whole number from 0 to 100".to_owned()));
    }
    progress
}

fn message(value: Option<&Json>, wrong: &mut Vec<Wrong>) -> Option<String> {
    let value = value?;
    let Some(text) = value.as_text() else {
        wrong.push(("progressMessage", "a text".to_owned()));
        return None;
    };
    let end = text.floor_char_boundary(MESSAGE_BYTES_MAX);
    Some(text[..end].to_owned())
}

/// The fields that mean nothing here.
fn extra(body: &Json) -> Option<Json> {
    const OWN: [&str; 4] = ["status", "progress", "progressMessage", "queryConfig"];
    let mut object = ObjectBuilder::new();
    let mut is_any = false;
    for (key, value) in body
        .members()
        .filter(|(key, _)| !OWN.contains(&key.as_ref()))
    {
        object.push_raw(&key, value);
        is_any = true;
    }
    is_any.then(|| object.build())
}

/// Says what is wrong with a `queryConfig`: what is run on request later must be complete now.
fn check_query(config: &Json, wrong: &mut Vec<Wrong>) {
    let mut say = |field, why: &str| wrong.push((field, why.to_owned()));
    if config.as_str().len() > QUERY_BYTES_MAX {
        let why = format!("more than {QUERY_BYTES_MAX} bytes");
        return say("queryConfig", &why);
    }
    if config.kind() != Kind::Object {
        return say("queryConfig", "an object with `type` and `config`");
    }
    let kind = member(config, "type").filter(|kind| kind.kind() == Kind::String);
    let Some(kind) = kind else {
        return say("queryConfig.type", "missing; for example \"http\"");
    };
    let inner = member(config, "config").filter(|inner| inner.kind() == Kind::Object);
    let Some(inner) = inner else {
        return say("queryConfig.config", "missing; an object");
    };
    if kind.as_text().as_deref() != Some("http") {
        return;
    }
    let url = member(&inner, "url");
    let url = url.as_ref().and_then(Json::as_text).unwrap_or_default();
    if !(url.starts_with("http://") || url.starts_with("https://")) {
        say(
            "queryConfig.config.url",
            "an address with http:// or https://",
        );
    }
    if member(&inner, "method").is_some_and(|method| method.kind() != Kind::String) {
        say("queryConfig.config.method", "a text, for example \"GET\"");
    }
    if let Some(headers) = member(&inner, "headers") {
        let is_text = |(_, value): (_, &str)| value.starts_with('"');
        if headers.kind() != Kind::Object || !headers.members().all(is_text) {
            say("queryConfig.config.headers", "an object of texts");
        }
    }
    if let Some(timeout) = member(&inner, "timeout") {
        let seconds: Option<f64> = timeout.as_str().trim().parse().ok();
        if !seconds.is_some_and(|seconds| seconds > 0.0 && seconds <= 30.0) {
            say(
                "queryConfig.config.timeout",
                "seconds, more than 0 and at most 30",
            );
        }
    }
}

/// The `queryConfig` of a step's answer, if its body is an object with one that can be used.
#[must_use]
pub fn query_of_answer(answer: &Json) -> Option<Json> {
    let body = answer.at(&[Segment::Key("body".into())])?;
    let config = member(&body, "queryConfig")?;
    let mut wrong = Vec::new();
    check_query(&config, &mut wrong);
    wrong.is_empty().then_some(config)
}

/// A step's answer with the header values of its `queryConfig` masked; the same if it has none.
#[must_use]
pub fn masked_answer(answer: &Json) -> Json {
    let body = answer.at(&[Segment::Key("body".into())]);
    let has_any = body.is_some_and(|body| member(&body, "queryConfig").is_some());
    match has_any {
        true => replaced(
            answer.as_str(),
            &["body", "queryConfig", "config", "headers"],
        ),
        false => answer.clone(),
    }
}

/// A `queryConfig` as it may be shown.
#[must_use]
pub fn masked_query(config: &Json) -> Json {
    replaced(config.as_str(), &["config", "headers"])
}

fn masked(body: &Json) -> Json {
    match member(body, "queryConfig") {
        Some(_) => replaced(body.as_str(), &["queryConfig", "config", "headers"]),
        None => body.clone(),
    }
}

/// The value with everything below that place masked.
fn replaced(text: &str, path: &[&str]) -> Json {
    let plain = || Json::parse(text).unwrap_or_else(|_| Json::null());
    if plain().kind() != Kind::Object {
        return match path {
            // Whatever stands where headers belong is not shown.
            [] => Json::string(MASK),
            _ => plain(),
        };
    }
    let mut object = ObjectBuilder::new();
    for (key, value) in Members::of(text) {
        match path.split_first() {
            None => object.push(&key, &Json::string(MASK)),
            Some((name, rest)) if key == *name => object.push(&key, &replaced(value, rest)),
            Some(_) => object.push_raw(&key, value),
        }
    }
    object.build()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Body, Vec<&'static str>> {
        let body = Body::read(&Json::parse(text).unwrap());
        body.map_err(|wrong| wrong.into_iter().map(|(field, _)| field).collect())
    }

    #[test]
    fn every_wrong_field_is_named_at_once() {
        for (text, fields) in [
            ("[]", vec![""]),
            ("{}", vec!["status"]),
            (r#"{"status":"pending"}"#, vec!["status"]),
            (r#"{"status":"Success"}"#, vec!["status"]),
            (
                r#"{"status":1,"progress":101,"progressMessage":3}"#,
                vec!["status", "progress", "progressMessage"],
            ),
            (r#"{"status":"success","progress":-1}"#, vec!["progress"]),
            (r#"{"status":"success","progress":"50"}"#, vec!["progress"]),
            (r#"{"status":"success","progress":50.5}"#, vec!["progress"]),
            (
                r#"{"status":"failed","queryConfig":"x"}"#,
                vec!["queryConfig"],
            ),
            (
                r#"{"status":"failed","queryConfig":{}}"#,
                vec!["queryConfig.type"],
            ),
            (
                r#"{"status":"failed","queryConfig":{"type":"http"}}"#,
                vec!["queryConfig.config"],
            ),
            (
                r#"{"status":"failed","queryConfig":{"type":"http","config":{"url":"/x","method":1,"headers":{"a":1},"timeout":31}}}"#,
                vec![
                    "queryConfig.config.url",
                    "queryConfig.config.method",
                    "queryConfig.config.headers",
                    "queryConfig.config.timeout",
                ],
            ),
        ] {
            assert_eq!(read(text).unwrap_err(), fields, "{text}");
        }
        let long = "x".repeat(EXTRA_BYTES_MAX);
        assert_eq!(
            read(&format!(r#"{{"status":"processing","x":"{long}"}}"#)).unwrap_err(),
            [""]
        );
        assert!(read(&format!(r#"{{"status":"success","x":"{long}"}}"#)).is_ok());
    }

    #[test]
    fn other_fields_are_kept() {
        let body = read(
            r#"{"b":[1.50],"status":"processing","progress":65,"progressMessage":"ü","a":null}"#,
        )
        .unwrap();
        assert_eq!(
            (body.status, body.progress),
            (CallbackStatus::Processing, Some(65))
        );
        assert_eq!(body.message.as_deref(), Some("ü"));
        assert_eq!(body.extra.unwrap().as_str(), r#"{"b":[1.50],"a":null}"#);
        let body = read(r#"{ "status": "success", "result": {"n": 1.0} }"#).unwrap();
        assert_eq!(
            body.whole.as_str(),
            r#"{ "status": "success", "result": {"n": 1.0} }"#
        );
        assert_eq!(body.extra, None, "all of it is the output");
        let long = "ü".repeat(MESSAGE_BYTES_MAX);
        let body = read(&format!(
            r#"{{"status":"success","progressMessage":"{long}"}}"#
        ))
        .unwrap();
        assert_eq!(body.message.unwrap().len(), MESSAGE_BYTES_MAX);
    }

    #[test]
    fn credentials_are_not_shown() {
        let query = r#"{"type":"http","config":{"url":"https://x.example/","headers":{"A":"Bearer t","B":"u"}}}"#;
        let body = read(&format!(r#"{{"status":"success","queryConfig":{query}}}"#)).unwrap();
        assert_eq!(body.query_config.as_ref().unwrap().as_str(), query);
        let shown = r#"{"type":"http","config":{"url":"https://x.example/","headers":{"A":"***","B":"***"}}}"#;
        assert_eq!(
            body.whole.as_str(),
            format!(r#"{{"status":"success","queryConfig":{shown}}}"#)
        );
        let answer = Json::parse(format!(
            r#"{{"status":200,"body":{{"queryConfig":{query},"n":1}}}}"#
        ))
        .unwrap();
        assert_eq!(query_of_answer(&answer).unwrap().as_str(), query);
        assert_eq!(
            masked_answer(&answer).as_str(),
            format!(r#"{{"status":200,"body":{{"queryConfig":{shown},"n":1}}}}"#)
        );
        for other in [
            r#"{"status":200,"body":"queryConfig"}"#,
            r#"{"status":200,"body":{ "n": 1 }}"#,
        ] {
            let answer = Json::parse(other).unwrap();
            assert_eq!(masked_answer(&answer).as_str(), other);
            assert_eq!(query_of_answer(&answer), None);
        }
        let odd = Json::parse(r#"{"config":{"headers":["Bearer t"]}}"#).unwrap();
        assert_eq!(
            masked_query(&odd).as_str(),
            r#"{"config":{"headers":"***"}}"#
        );
    }

    #[test]
    fn a_failure_says_what_the_target_says() {
        for (text, says) in [
            (
                r#"{"status":"failed"}"#,
                "the target called back that it failed",
            ),
            (
                r#"{"status":"failed","error":"no room"}"#,
                "the target called back that it failed: no room",
            ),
            (
                r#"{"status":"failed","error":{"message":"no disk"}}"#,
                "the target called back that it failed: no disk",
            ),
            (
                r#"{"status":"failed","progressMessage":"half"}"#,
                "the target called back that it failed: half",
            ),
        ] {
            let failure = read(text).unwrap().failure();
            assert_eq!(failure.message, says);
            assert_eq!(failure.response.as_deref(), Some(text));
            assert!(failure.retryable);
        }
    }
}
