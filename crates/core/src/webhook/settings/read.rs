//! Settings out of the fields of a trigger.

use std::time::Duration;

use ipnet::IpNet;

use super::{
    Authentication, FILTERS_MAX, IDEMPOTENCY_PATHS_MAX, IDEMPOTENCY_WINDOW_DEFAULT,
    IDEMPOTENCY_WINDOW_MAX, IDEMPOTENCY_WINDOW_MIN, IP_ALLOW_MAX, PREFIX_BYTES_MAX, RATE_MAX,
    RateLimit, Settings, TOLERANCE_MAX, TOLERANCE_MIN,
};
use crate::definition::fields::{Field, Fields};
use crate::definition::keys::Known;
use crate::definition::source::Content;
use crate::definition::{Problem, Problems};
use crate::jsonpath::JsonPath;
use crate::webhook::challenge::Challenge;
use crate::webhook::filter::{self, Filter};
use crate::webhook::scheme::{
    Encoding, HeaderName, Mark, Method, Place, Scheme, TOLERANCE_DEFAULT, Window,
};
use crate::webhook::signed_text::SignedText;
use crate::webhook::source;

/// What only a webhook has.
pub(crate) const KEYS: &[Known] = &[
    Known::mistaken_for("authentication", &["auth"]),
    Known::mistaken_for("signature_header", &["header"]),
    Known::new("prefix"),
    Known::new("encoding"),
    Known::new("signed_text"),
    Known::new("timestamp_header"),
    Known::new("tolerance"),
    Known::with("filters", filter::KEYS),
    Known::mistaken_for("idempotency_paths", &["idempotency_path"]),
    Known::new("ignore_idempotency_header"),
    Known::new("idempotency_window"),
    Known::mistaken_for("ip_allow", &["ip_allowlist"]),
    Known::with("rate_limit", RATE_LIMIT),
    Known::new("challenge"),
];

const RATE_LIMIT: &[Known] = &[Known::new("per_second"), Known::new("burst")];

/// Those of them that say how the generic form signs.
const GENERIC: [&str; 4] = ["prefix", "encoding", "signed_text", "timestamp_header"];

pub(super) fn settings(fields: &Fields<'_>, problems: &mut Problems) -> Option<Settings> {
    let authentication = authentication(fields, problems);
    let challenge = challenge(fields, authentication.as_ref(), problems);
    let filters = list(fields, "filters", FILTERS_MAX, problems);
    let filters = filters.iter();
    let filters = filters.filter_map(|field| Filter::read(field, problems));
    let filters = filters.collect();
    let idempotency_paths = texts(
        fields,
        "idempotency_paths",
        IDEMPOTENCY_PATHS_MAX,
        |field, text, problems| field.keep(JsonPath::parse(text), problems),
        problems,
    );
    let ignore = fields.get("ignore_idempotency_header");
    let ignore = ignore.and_then(|field| field.bool(problems));
    let window = fields.get("idempotency_window").and_then(|field| {
        field.duration(IDEMPOTENCY_WINDOW_MIN..=IDEMPOTENCY_WINDOW_MAX, problems)
    });
    let ip_allow = texts(fields, "ip_allow", IP_ALLOW_MAX, network, problems);
    let rate_limit = fields.get("rate_limit");
    let rate_limit = rate_limit.and_then(|field| rate_limit_of(&field, problems));
    Some(Settings {
        authentication: authentication?,
        filters,
        idempotency_paths,
        ignore_idempotency_header: ignore.unwrap_or_default(),
        idempotency_window: window.unwrap_or(IDEMPOTENCY_WINDOW_DEFAULT),
        ip_allow,
        rate_limit,
        challenge,
    })
}

/// Says of a field that is there what is wrong with it.
fn refuse(fields: &Fields<'_>, name: &'static str, message: &str, problems: &mut Problems) {
    if let Some(field) = fields.get(name) {
        problems.push(field.problem(message));
    }
}

/// A string that something else reads.
fn parsed<T>(
    fields: &Fields<'_>,
    name: &'static str,
    read: impl FnOnce(&str) -> Result<T, String>,
    problems: &mut Problems,
) -> Option<T> {
    let field = fields.get(name)?;
    let text = field.text(problems)?;
    field.keep(read(text), problems)
}

fn authentication(fields: &Fields<'_>, problems: &mut Problems) -> Option<Authentication> {
    let Some(field) = fields.get("authentication") else {
        let words = Method::ALL.map(Method::as_str).join(", ");
        let message = format!(
            "is missing; it says how requests are checked (\"none\" = not at all): one of {words}"
        );
        problems.push(Problem::new("authentication", fields.mark(), message));
        return None;
    };
    let words = Method::ALL.map(|method| (method.as_str(), method));
    let method = field.exact_word(&words, problems)?;
    if method != Method::Hmac {
        let message = format!("is only for \"hmac\", not for \"{method}\"");
        for name in GENERIC {
            refuse(fields, name, &message, problems);
        }
    }
    let header = parsed(fields, "signature_header", HeaderName::parse, problems);
    match method {
        Method::None => {
            for name in ["signature_header", "tolerance"] {
                let message = "has no effect where nothing is checked";
                refuse(fields, name, message, problems);
            }
            Some(Authentication::None)
        }
        Method::ApiKey => {
            no_tolerance(fields, method, problems);
            let header = header.unwrap_or_else(|| HeaderName::known("X-API-Key"));
            Some(Authentication::ApiKey { header })
        }
        Method::Hmac => {
            let scheme = generic(fields, header, problems);
            Some(Authentication::Signed(Box::new(scheme)))
        }
        preset => {
            let mut scheme = Scheme::preset(preset)?;
            known_header(fields, &scheme, header.as_ref(), problems);
            if scheme.window.is_none() {
                no_tolerance(fields, method, problems);
            } else if let Some(tolerance) = tolerance(fields, problems) {
                scheme.window = scheme.window.map(|window| Window {
                    tolerance,
                    ..window
                });
            }
            Some(Authentication::Signed(Box::new(scheme)))
        }
    }
}

fn tolerance(fields: &Fields<'_>, problems: &mut Problems) -> Option<Duration> {
    let field = fields.get("tolerance")?;
    field.duration(TOLERANCE_MIN..=TOLERANCE_MAX, problems)
}

fn no_tolerance(fields: &Fields<'_>, method: Method, problems: &mut Problems) {
    let message = format!("has no effect: \"{method}\" signs no time");
    refuse(fields, "tolerance", &message, problems);
}

/// A known sender has its own header; another name would never be found.
fn known_header(
    fields: &Fields<'_>,
    scheme: &Scheme,
    written: Option<&HeaderName>,
    problems: &mut Problems,
) {
    let known = scheme.header.as_str();
    if written.is_some_and(|name| !name.as_str().eq_ignore_ascii_case(known)) {
        let method = scheme.method;
        let message = format!("\"{method}\" always signs in {known}; leave it out");
        refuse(fields, "signature_header", &message, problems);
    }
}

fn prefix(text: &str) -> Result<Mark, String> {
    let printable = text.bytes().all(|byte| matches!(byte, b' '..=b'~'));
    match text.len() {
        // Signatures are separated by commas, and the space around each is taken off.
        ..=PREFIX_BYTES_MAX if printable && !text.contains(',') && !text.starts_with(' ') => {
            Ok(Mark::Exactly(text.into()))
        }
        ..=PREFIX_BYTES_MAX => {
            Err("must be printable ASCII without a comma or a space at its start".to_owned())
        }
        length => Err(format!(
            "has {length} bytes, at most {PREFIX_BYTES_MAX} are allowed"
        )),
    }
}

fn generic(fields: &Fields<'_>, header: Option<HeaderName>, problems: &mut Problems) -> Scheme {
    let mut scheme = Scheme::generic();
    scheme.header = header.unwrap_or(scheme.header);
    if let Some(mark) = parsed(fields, "prefix", prefix, problems) {
        scheme.mark = mark;
    }
    let words = Encoding::ALL.map(|encoding| (encoding.as_str(), encoding));
    let encoding = fields.get("encoding");
    let encoding = encoding.and_then(|field| field.exact_word(&words, problems));
    scheme.encoding = encoding.unwrap_or(scheme.encoding);
    let text = parsed(fields, "signed_text", SignedText::parse, problems);
    let unread = fields.get("signed_text").is_some() && text.is_none();
    scheme.text = text.unwrap_or(scheme.text);
    let header = parsed(fields, "timestamp_header", HeaderName::parse, problems);
    let tolerance = tolerance(fields, problems);
    let mut wrong = |name, message| refuse(fields, name, message, problems);
    match (scheme.text.has_timestamp(), header) {
        (true, Some(header)) if header.as_str().eq_ignore_ascii_case(scheme.header.as_str()) => {
            wrong("timestamp_header", "is the header of the signature itself");
        }
        (true, Some(header)) => {
            scheme.window = Some(Window {
                place: Place::Header(header),
                tolerance: tolerance.unwrap_or(TOLERANCE_DEFAULT),
            });
        }
        (true, None) if fields.get("timestamp_header").is_none() => {
            let message = "is missing; `signed_text` holds `{timestamp}`";
            problems.push(Problem::new("timestamp_header", fields.mark(), message));
        }
        (false, Some(_)) if !unread => wrong(
            "timestamp_header",
            "has no effect: `signed_text` does not hold `{timestamp}`, so anybody could change the \
             time",
        ),
        (false, None) if !unread => {
            wrong("tolerance", "has no effect without `timestamp_header`");
        }
        _ => {}
    }
    scheme
}

fn challenge(
    fields: &Fields<'_>,
    authentication: Option<&Authentication>,
    problems: &mut Problems,
) -> Challenge {
    let words = Challenge::ALL.map(|challenge| (challenge.as_str(), challenge));
    let usual = match authentication.map(Authentication::method) {
        Some(Method::Slack) => Challenge::Slack,
        _ => Challenge::None,
    };
    let field = fields.get("challenge");
    let chosen = field.and_then(|field| field.exact_word(&words, problems));
    chosen.unwrap_or(usual)
}

/// The elements of a list that has no more than `max`; empty if there is none.
fn list<'a>(
    fields: &Fields<'a>,
    name: &'static str,
    max: usize,
    problems: &mut Problems,
) -> Vec<Field<'a>> {
    let Some(field) = fields.get(name) else {
        return Vec::new();
    };
    let message = match &field.node.content {
        Content::Sequence(items) if items.len() <= max => return field.items(),
        Content::Sequence(items) => {
            format!("has {} entries, at most {max} are allowed", items.len())
        }
        _ => format!("expected a list, found {}", field.node.kind()),
    };
    problems.push(field.problem(message));
    Vec::new()
}

/// A list of strings that something else reads.
fn texts<T>(
    fields: &Fields<'_>,
    name: &'static str,
    max: usize,
    read: impl Fn(&Field<'_>, &str, &mut Problems) -> Option<T>,
    problems: &mut Problems,
) -> Vec<T> {
    let entries = list(fields, name, max, problems);
    let entries = entries.iter();
    let values = entries.filter_map(|field| read(field, field.text(problems)?, problems));
    values.collect()
}

fn network(field: &Field<'_>, text: &str, problems: &mut Problems) -> Option<IpNet> {
    let read = source::network(text);
    let placed = |problem| Problem {
        path: field.path.clone(),
        line: field.node.mark.line,
        column: field.node.mark.column,
        ..problem
    };
    read.map_err(|problem| problems.push(placed(problem))).ok()
}

fn rate_limit_of(field: &Field<'_>, problems: &mut Problems) -> Option<RateLimit> {
    let (per_second, burst) = match &field.node.content {
        Content::Mapping(_) => {
            let fields = field.fields(RATE_LIMIT, problems)?;
            let burst = fields.get("burst");
            let burst = burst.and_then(|field| rate(&field, problems));
            let per_second = fields.required("per_second", problems)?;
            (rate(&per_second, problems)?, burst)
        }
        Content::Number(_) => (rate(field, problems)?, None),
        _ => {
            let message = format!(
                "expected a number or {{\"per_second\": 50, \"burst\": 100}}, found {}",
                field.node.kind()
            );
            problems.push(field.problem(message));
            return None;
        }
    };
    Some(RateLimit {
        per_second,
        burst: burst.unwrap_or(per_second),
    })
}

fn rate(field: &Field<'_>, problems: &mut Problems) -> Option<u32> {
    let number = field.whole(1..=RATE_MAX.into(), problems)?;
    number.try_into().ok()
}
