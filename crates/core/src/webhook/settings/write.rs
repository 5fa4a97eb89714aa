//! Settings as a JSON object: always the same fields in the same order.

use super::{Authentication, Settings};
use crate::duration;
use crate::json::{ArrayBuilder, Json, ObjectBuilder};
use crate::webhook::challenge::Challenge;
use crate::webhook::scheme::{Mark, Method, Place, Scheme};

pub(super) fn settings(settings: &Settings) -> Json {
    let method = settings.authentication.method();
    let mut object = ObjectBuilder::new().text("authentication", method.as_str());
    match &settings.authentication {
        Authentication::None => {}
        Authentication::ApiKey { header } => {
            object = object.text("signature_header", header.as_str());
        }
        Authentication::Signed(scheme) => object = signed(object, scheme),
    }
    if !settings.filters.is_empty() {
        let filters = settings
            .filters
            .iter()
            .map(crate::webhook::filter::Filter::to_json);
        object = object.json("filters", &array(filters));
    }
    if !settings.idempotency_paths.is_empty() {
        let paths = settings.idempotency_paths.iter();
        let paths = paths.map(|path| Json::string(path.as_str()));
        object = object.json("idempotency_paths", &array(paths));
    }
    if settings.ignore_idempotency_header {
        object = object.json("ignore_idempotency_header", &Json::trusted("true"));
    }
    let window = duration::format(settings.idempotency_window);
    object = object.text("idempotency_window", &window);
    if !settings.ip_allow.is_empty() {
        let networks = settings.ip_allow.iter();
        let networks = networks.map(|network| Json::string(&network.to_string()));
        object = object.json("ip_allow", &array(networks));
    }
    if let Some(limit) = settings.rate_limit {
        let limit = ObjectBuilder::new()
            .number("per_second", limit.per_second.into())
            .number("burst", limit.burst.into());
        object = object.json("rate_limit", &limit.build());
    }
    let usual = method != Method::Slack && settings.challenge == Challenge::None;
    if !usual {
        object = object.text("challenge", settings.challenge.as_str());
    }
    object.build()
}

fn signed(mut object: ObjectBuilder, scheme: &Scheme) -> ObjectBuilder {
    if scheme.method == Method::Hmac {
        object = object.text("signature_header", scheme.header.as_str());
        if let Mark::Exactly(prefix) = &scheme.mark {
            object = object.text("prefix", prefix);
        }
        object = object
            .text("encoding", scheme.encoding.as_str())
            .text("signed_text", &scheme.text.to_string());
    }
    let Some(window) = &scheme.window else {
        return object;
    };
    if let (Method::Hmac, Place::Header(name)) = (scheme.method, &window.place) {
        object = object.text("timestamp_header", name.as_str());
    }
    object.text("tolerance", &duration::format(window.tolerance))
}

fn array(values: impl Iterator<Item = Json>) -> Json {
    let mut array = ArrayBuilder::new();
    values.for_each(|value| array.push(&value));
    array.build()
}
