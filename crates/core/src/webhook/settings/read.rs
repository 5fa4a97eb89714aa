//! Settings out of a JSON object.

use ipnet::IpNet;

use super::fields::{Fields, excerpt};
use super::{
    Authentication, FILTERS_MAX, IDEMPOTENCY_PATHS_MAX, IDEMPOTENCY_WINDOW_DEFAULT,
    IDEMPOTENCY_WINDOW_MAX, IDEMPOTENCY_WINDOW_MIN, IP_ALLOW_MAX, PREFIX_BYTES_MAX, RATE_MAX,
    RateLimit, Settings, TOLERANCE_MAX, TOLERANCE_MIN,
};
use crate::json::{Json, Kind};
use crate::jsonpath::JsonPath;
use crate::webhook::challenge::Challenge;
use crate::webhook::filter::Filter;
use crate::webhook::problem::{Problem, Problems};
use crate::webhook::scheme::{
    Encoding, HeaderName, Mark, Method, Place, Scheme, TOLERANCE_DEFAULT, Window,
};
use crate::webhook::signed_text::SignedText;
use crate::webhook::source;

pub(super) const KNOWN: [&str; 14] = [
    "authentication",
    "signature_header",
    "prefix",
    "encoding",
    "signed_text",
    "timestamp_header",
    "tolerance",
    "filters",
    "idempotency_paths",
    "ignore_idempotency_header",
    "idempotency_window",
    "ip_allow",
    "rate_limit",
    "challenge",
];

/// Those of them that say how the generic form signs.
const GENERIC: [&str; 4] = ["prefix", "encoding", "signed_text", "timestamp_header"];

pub(super) fn settings(json: &Json, others: &[&str]) -> Result<Settings, Problems> {
    let mut problems = Vec::new();
    let mut fields = Fields::of(json, String::new(), &KNOWN, others, &mut problems);
    let authentication = authentication(&mut fields);
    let challenge = challenge(&mut fields, authentication.as_ref());
    let filters = filters(&mut fields);
    let idempotency_paths = paths(&mut fields);
    let ignore_idempotency_header = fields.bool("ignore_idempotency_header").unwrap_or_default();
    let idempotency_window = fields
        .duration(
            "idempotency_window",
            IDEMPOTENCY_WINDOW_MIN,
            IDEMPOTENCY_WINDOW_MAX,
        )
        .unwrap_or(IDEMPOTENCY_WINDOW_DEFAULT);
    let ip_allow = networks(&mut fields);
    let rate_limit = rate_limit(&mut fields);
    match authentication {
        Some(authentication) if problems.is_empty() => Ok(Settings {
            authentication,
            filters,
            idempotency_paths,
            ignore_idempotency_header,
            idempotency_window,
            ip_allow,
            rate_limit,
            challenge,
        }),
        _ => Err(Problems(problems)),
    }
}

fn authentication(fields: &mut Fields<'_>) -> Option<Authentication> {
    if !fields.has("authentication") {
        let words = Method::ALL.map(Method::as_str).join(", ");
        let message = format!(
            "is missing; it says how requests are checked (\"none\" = not at all): one of {words}"
        );
        fields.problem("authentication", message);
        return None;
    }
    let words = Method::ALL.map(|method| (method.as_str(), method));
    let method = fields.word("authentication", &words)?;
    if method != Method::Hmac {
        for name in GENERIC
            .into_iter()
            .filter(|name| fields.has(name))
            .collect::<Vec<_>>()
        {
            fields.problem(name, format!("is only for \"hmac\", not for \"{method}\""));
        }
    }
    let header = fields.parsed("signature_header", HeaderName::parse);
    match method {
        Method::None => {
            for name in ["signature_header", "tolerance"] {
                if fields.has(name) {
                    fields.problem(name, "has no effect where nothing is checked");
                }
            }
            Some(Authentication::None)
        }
        Method::ApiKey => {
            no_tolerance(fields, method);
            let header = header.unwrap_or_else(|| HeaderName::known("X-API-Key"));
            Some(Authentication::ApiKey { header })
        }
        Method::Hmac => Some(Authentication::Signed(Box::new(generic(fields, header)))),
        preset => {
            let mut scheme = Scheme::preset(preset)?;
            known_header(fields, &scheme, header.as_ref());
            if scheme.window.is_none() {
                no_tolerance(fields, method);
            } else if let Some(tolerance) = tolerance(fields) {
                scheme.window = scheme.window.map(|window| Window {
                    tolerance,
                    ..window
                });
            }
            Some(Authentication::Signed(Box::new(scheme)))
        }
    }
}

fn tolerance(fields: &mut Fields<'_>) -> Option<std::time::Duration> {
    fields.duration("tolerance", TOLERANCE_MIN, TOLERANCE_MAX)
}

fn no_tolerance(fields: &mut Fields<'_>, method: Method) {
    if fields.has("tolerance") {
        let message = format!("has no effect: \"{method}\" signs no time");
        fields.problem("tolerance", message);
    }
}

/// A known sender has its own header; another name would never be found.
fn known_header(fields: &mut Fields<'_>, scheme: &Scheme, written: Option<&HeaderName>) {
    let known = scheme.header.as_str();
    if written.is_some_and(|name| !name.as_str().eq_ignore_ascii_case(known)) {
        let method = scheme.method;
        fields.problem(
            "signature_header",
            format!("\"{method}\" always signs in {known}; leave it out"),
        );
    }
}

fn generic(fields: &mut Fields<'_>, header: Option<HeaderName>) -> Scheme {
    let mut scheme = Scheme::generic();
    scheme.header = header.unwrap_or(scheme.header);
    let prefix = |text: &str| {
        let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
        match text.len() {
            // Signatures are separated by commas, and the space around each is taken off.
            ..=PREFIX_BYTES_MAX if printable && !text.contains(',') && !text.starts_with(' ') => {
                Ok(text.into())
            }
            ..=PREFIX_BYTES_MAX => {
                Err("must be printable ASCII without a comma or a space at its start".to_owned())
            }
            length => Err(format!(
                "has {length} bytes, at most {PREFIX_BYTES_MAX} are allowed"
            )),
        }
    };
    if let Some(prefix) = fields.parsed("prefix", prefix) {
        scheme.mark = Mark::Exactly(prefix);
    }
    let words = Encoding::ALL.map(|encoding| (encoding.as_str(), encoding));
    scheme.encoding = fields.word("encoding", &words).unwrap_or(scheme.encoding);
    let text = fields.parsed("signed_text", SignedText::parse);
    let unread = fields.has("signed_text") && text.is_none();
    scheme.text = text.unwrap_or(scheme.text);
    let header = fields.parsed("timestamp_header", HeaderName::parse);
    let tolerance = tolerance(fields);
    match (scheme.text.has_timestamp(), header) {
        (true, Some(header)) if header.as_str().eq_ignore_ascii_case(scheme.header.as_str()) => {
            fields.problem("timestamp_header", "is the header of the signature itself");
        }
        (true, Some(header)) => {
            scheme.window = Some(Window {
                place: Place::Header(header),
                tolerance: tolerance.unwrap_or(TOLERANCE_DEFAULT),
            });
        }
        (true, None) if !fields.has("timestamp_header") => {
            let message = "is missing; `signed_text` holds `{timestamp}`";
            fields.problem("timestamp_header", message);
        }
        (false, Some(_)) if !unread => {
            let message = "has no effect: `signed_text` does not hold `{timestamp}`, so anybody \
                           could change the time";
            fields.problem("timestamp_header", message);
        }
        (false, None) if fields.has("tolerance") && !unread => {
            fields.problem("tolerance", "has no effect without `timestamp_header`");
        }
        _ => {}
    }
    scheme
}

fn challenge(fields: &mut Fields<'_>, authentication: Option<&Authentication>) -> Challenge {
    let words = Challenge::ALL.map(|challenge| (challenge.as_str(), challenge));
    let usual = match authentication.map(Authentication::method) {
        Some(Method::Slack) => Challenge::Slack,
        _ => Challenge::None,
    };
    fields.word("challenge", &words).unwrap_or(usual)
}

fn filters(fields: &mut Fields<'_>) -> Vec<Filter> {
    let written = fields.list("filters", FILTERS_MAX);
    let read = written.iter().enumerate().filter_map(|(index, json)| {
        Filter::read(json, format!("filters[{index}]."), fields.problems())
    });
    read.collect()
}

fn paths(fields: &mut Fields<'_>) -> Vec<JsonPath> {
    texts(fields, "idempotency_paths", IDEMPOTENCY_PATHS_MAX, |text| {
        JsonPath::parse(text).map_err(|error| Problem::new("", error.to_string()))
    })
}

fn networks(fields: &mut Fields<'_>) -> Vec<IpNet> {
    texts(fields, "ip_allow", IP_ALLOW_MAX, source::network)
}

/// A list of strings that something else reads.
fn texts<T>(
    fields: &mut Fields<'_>,
    name: &str,
    max: usize,
    read: impl Fn(&str) -> Result<T, Problem>,
) -> Vec<T> {
    let mut values = Vec::new();
    for (index, entry) in fields.list(name, max).iter().enumerate() {
        let value = match entry.as_text() {
            Some(text) => read(&text),
            None => Err(Problem::new("", "must be a string")),
        };
        match value {
            Ok(value) => values.push(value),
            Err(problem) => fields.problems().push(Problem {
                field: format!("{name}[{index}]"),
                ..problem
            }),
        }
    }
    values
}

fn rate_limit(fields: &mut Fields<'_>) -> Option<RateLimit> {
    let value = fields.value("rate_limit")?;
    match value.kind() {
        Kind::Number => {
            let per_second = rate(fields.problems(), "rate_limit", &value)?;
            Some(RateLimit {
                per_second,
                burst: per_second,
            })
        }
        Kind::Object => {
            let known = ["per_second", "burst"];
            let prefix = "rate_limit.".to_owned();
            let mut inner = Fields::of(&value, prefix, &known, &[], fields.problems());
            let mut number = |name: &str| {
                let value = inner.value(name)?;
                rate(inner.problems(), &format!("rate_limit.{name}"), &value)
            };
            let (per_second, burst) = (number("per_second"), number("burst"));
            if !inner.has("per_second") {
                inner.problem("per_second", "is missing");
            }
            let per_second = per_second?;
            Some(RateLimit {
                per_second,
                burst: burst.unwrap_or(per_second),
            })
        }
        _ => {
            let message = format!(
                "{} is neither a number nor {{\"per_second\": 50, \"burst\": 100}}",
                excerpt(value.as_str())
            );
            fields.problem("rate_limit", message);
            None
        }
    }
}

fn rate(problems: &mut Vec<Problem>, field: &str, value: &Json) -> Option<u32> {
    match value.as_str().parse::<u32>() {
        Ok(number @ 1..=RATE_MAX) => Some(number),
        _ => {
            let message = format!(
                "{} is not a whole number from 1 to {RATE_MAX}",
                excerpt(value.as_str())
            );
            problems.push(Problem::new(field, message));
            None
        }
    }
}
