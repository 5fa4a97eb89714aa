//! Which headers of a request are written down.
//!
//! For the log ([`shown`]): the names in their order, the values cut to a length, and secrets
//! replaced by [`REMOVED`]. Secret is what is called like one, what carries the signature or key of
//! this webhook, and every value that holds one of its secrets.
//!
//! For a later check of a refused request ([`pack`]): all of them as they came, because it may be the
//! very name of the header that was set wrong. They are to be sealed, for they hold what the log
//! leaves out.

use super::request::Headers;
use super::secret::Secrets;
use super::settings::{Authentication, Settings};

/// What stands in place of a secret.
pub const REMOVED: &str = "[removed]";
/// Headers of one request that are shown.
pub const HEADERS_SHOWN_MAX: usize = 64;
/// Bytes of one name that are shown.
pub const NAME_BYTES_MAX: usize = 128;
/// Bytes of one value that are shown.
pub const VALUE_BYTES_MAX: usize = 1024;
/// Bytes of all together that are shown.
pub const SHOWN_BYTES_MAX: usize = 8 * 1024;
/// Bytes that are packed; what a check reads comes first.
pub const PACKED_BYTES_MAX: usize = 16 * 1024;

/// Parts of names that carry something secret: rather one too many is hidden.
const SECRET_NAMES: [&str; 16] = [
    "auth",
    "cookie",
    "token",
    "secret",
    "password",
    "passwd",
    "signature",
    "hmac",
    "-key",
    "_key",
    "apikey",
    "session",
    "bearer",
    "jwt",
    "credential",
    "private",
];

/// Names that look like one of them and carry nothing secret.
const PLAIN_NAMES: [&str; 2] = ["idempotency-key", ":authority"];

/// Parts of names that a check may read, beside those of [`SECRET_NAMES`].
const CHECKED_NAMES: [&str; 6] = [
    "content-type",
    "content-encoding",
    "idempotency-key",
    "timestamp",
    "delivery",
    "-id",
];

/// The headers of a request as the log shows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shown {
    /// Name and value, in their order.
    pub headers: Vec<(String, String)>,
    /// How many did not fit.
    pub left_out: usize,
}

/// What the log shows.
#[must_use]
pub fn shown(settings: &Settings, secrets: Option<&Secrets>, headers: Headers<'_>) -> Shown {
    let mut shown = Shown {
        headers: Vec::with_capacity(headers.0.len().min(HEADERS_SHOWN_MAX)),
        left_out: 0,
    };
    let mut bytes = 0;
    for (name, value) in headers.0 {
        let hidden = carries(&settings.authentication, name)
            || is_called_secret(name)
            || holds_secret(secrets, value);
        let value = if hidden {
            REMOVED.to_owned()
        } else {
            cut(value)
        };
        bytes += name.len() + value.len();
        let fits = shown.headers.len() < HEADERS_SHOWN_MAX
            && name.len() <= NAME_BYTES_MAX
            && bytes <= SHOWN_BYTES_MAX;
        if fits {
            shown.headers.push(((*name).to_owned(), value));
        } else {
            shown.left_out += 1;
        }
    }
    shown
}

/// Whether a header carries the signature or key itself.
fn carries(authentication: &Authentication, name: &str) -> bool {
    match authentication {
        Authentication::None => false,
        Authentication::ApiKey { header } => header.as_str().eq_ignore_ascii_case(name),
        Authentication::Signed(scheme) => scheme.header.as_str().eq_ignore_ascii_case(name),
    }
}

fn is_called_secret(name: &str) -> bool {
    let is_plain = |plain: &&str| plain.eq_ignore_ascii_case(name);
    has_part(name, &SECRET_NAMES) && !PLAIN_NAMES.iter().any(is_plain)
}

/// Every header of every request is asked about, so this walks its name once and copies nothing.
fn has_part(name: &str, parts: &[&str]) -> bool {
    let name = name.as_bytes();
    (0..name.len()).any(|from| {
        let rest = &name[from..];
        let first = rest[0].to_ascii_lowercase();
        parts.iter().any(|part| {
            let part = part.as_bytes();
            part[0] == first
                && rest
                    .get(..part.len())
                    .is_some_and(|head| head.eq_ignore_ascii_case(part))
        })
    })
}

fn holds_secret(secrets: Option<&Secrets>, value: &[u8]) -> bool {
    let Some(secrets) = secrets else {
        return false;
    };
    secrets.texts().any(|secret| {
        value
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    })
}

fn cut(value: &[u8]) -> String {
    let head = &value[..value.len().min(VALUE_BYTES_MAX)];
    let mut text = String::from_utf8_lossy(head).into_owned();
    if value.len() > VALUE_BYTES_MAX {
        text.push('…');
    }
    text
}

/// All headers as bytes, to be sealed; as many as fit, those first that a check may read.
#[must_use]
pub fn pack(settings: Option<&Settings>, headers: Headers<'_>) -> Vec<u8> {
    let matters = |name: &str| {
        settings.is_some_and(|settings| carries(&settings.authentication, name))
            || has_part(name, &SECRET_NAMES)
            || has_part(name, &CHECKED_NAMES)
    };
    let (first, then): (Vec<_>, Vec<_>) = headers.0.iter().partition(|(name, _)| matters(name));
    let mut packed = Vec::new();
    for (name, value) in first.into_iter().chain(then) {
        let (Ok(name_length), Ok(value_length)) =
            (u16::try_from(name.len()), u16::try_from(value.len()))
        else {
            continue;
        };
        if packed.len() + 4 + name.len() + value.len() > PACKED_BYTES_MAX {
            continue;
        }
        packed.extend(name_length.to_be_bytes());
        packed.extend(name.as_bytes());
        packed.extend(value_length.to_be_bytes());
        packed.extend_from_slice(value);
    }
    packed
}

/// What [`pack`] packed; `None` if it did not.
#[must_use]
pub fn unpack(mut packed: &[u8]) -> Option<Vec<(&str, &[u8])>> {
    let mut headers = Vec::new();
    while !packed.is_empty() {
        let name = std::str::from_utf8(piece(&mut packed)?).ok()?;
        headers.push((name, piece(&mut packed)?));
    }
    Some(headers)
}

fn piece<'a>(packed: &mut &'a [u8]) -> Option<&'a [u8]> {
    let (length, rest) = packed.split_first_chunk::<2>()?;
    let (piece, rest) = rest.split_at_checked(u16::from_be_bytes(*length).into())?;
    *packed = rest;
    Some(piece)
}

#[cfg(test)]
mod tests {
    use super::super::{Method, Previous, Secret};
    use super::*;
    use crate::time::Timestamp;

    const SECRET: &str = "canary-canary-canary-canary";
    const OLD: &str = "former-former-former-former";

    fn settings(text: &str) -> Settings {
        Settings::parse(text).unwrap()
    }

    fn bytes<'a>(headers: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a [u8])> {
        let pairs = headers.iter();
        pairs
            .map(|(name, value)| (*name, value.as_bytes()))
            .collect()
    }

    fn ask(written: &str, headers: &[(&str, &str)]) -> Shown {
        let secret = |text| Secret::new(text, Method::Hmac).unwrap();
        let secrets = Secrets {
            current: secret(SECRET),
            previous: Some(Previous {
                secret: secret(OLD),
                until: Timestamp::from_millis(0),
            }),
        };
        shown(&settings(written), Some(&secrets), Headers(&bytes(headers)))
    }

    #[test]
    fn secrets_are_removed() {
        let held = format!("x {SECRET} y");
        let table = [
            ("Host", "example.com", false),
            ("authorization", "Basic eA==", true),
            ("Cookie", "a=b", true),
            ("x-proof", "0011", true),
            ("X-Time", "17", false),
            ("X-Gitlab-Token", "t", true),
            ("X-API-Key", "k", true),
            ("X-Auth", "k", true),
            ("X-Access-Key", "k", true),
            ("x_access_key", "k", true),
            ("X-Session", "k", true),
            ("X-Passwd", "k", true),
            ("X-Bearer", "k", true),
            ("Idempotency-Key", "order-7", false),
            ("X-Hub-Signature", "sha1=1", true),
            ("X-Odd", &held, true),
            ("X-Old", OLD, true),
            ("User-Agent", "ü", false),
        ];
        let headers = table.map(|(name, value, _)| (name, value));
        let hmac = r#"{"authentication":"hmac","signature_header":"X-Proof"}"#;
        let shown = ask(hmac, &headers);
        assert_eq!(shown.left_out, 0);
        for ((name, value, hidden), (shown_name, shown_value)) in table.iter().zip(&shown.headers) {
            let expected = if *hidden { REMOVED } else { value };
            assert_eq!(
                (shown_name.as_str(), shown_value.as_str()),
                (*name, expected)
            );
        }
        assert_eq!(shown.headers.len(), table.len());
    }

    #[test]
    fn a_part_of_a_name_is_found_wherever_it_is() {
        for (name, is_found) in [
            ("token", true),
            ("Tokens", true),
            ("x-my-TOKEN", true),
            ("tokemoken", false),
            ("toke", false),
            ("", false),
            ("x-ttoken-id", true),
        ] {
            assert_eq!(has_part(name, &["cookie", "token"]), is_found, "{name}");
        }
    }

    #[test]
    fn what_is_shown_is_bounded() {
        let none = r#"{"authentication":"none"}"#;
        let long = "x".repeat(2_000);
        let many = ask(none, &vec![("a", long.as_str()); 100]);
        assert_eq!(many.headers.len(), 7);
        assert_eq!(many.left_out, 93);
        assert!(
            many.headers
                .iter()
                .all(|(_, value)| value.len() == 1024 + "…".len())
        );
        let small = ask(none, &[("a", "b"); 100]);
        assert_eq!(
            (small.headers.len(), small.left_out),
            (HEADERS_SHOWN_MAX, 36)
        );
    }

    #[test]
    fn what_is_packed_is_unpacked() {
        let written = settings(r#"{"authentication":"hmac","signature_header":"X-Proof"}"#);
        let long = "x".repeat(2_000);
        let mut headers = vec![("x-filler", long.as_str()); 20];
        headers.extend([
            ("X-Proof", "00"),
            ("x-proof", "01"),
            ("content-type", "application/json"),
            ("x-hub-signature-256", "sha256=0"),
        ]);
        let packed = pack(Some(&written), Headers(&bytes(&headers)));
        assert!(packed.len() <= PACKED_BYTES_MAX);
        let unpacked = unpack(&packed).unwrap();
        assert_eq!(unpacked[..4], bytes(&headers[20..]));
        assert_eq!(unpacked.len(), 4 + 8);
        assert_eq!(unpack(&[]), Some(Vec::new()));
        for length in 1..packed.len().min(20) {
            // A cut is noticed wherever it does not fall between two headers.
            if let Some(part) = unpack(&packed[..length]) {
                assert_eq!(part, unpacked[..part.len()]);
                assert_eq!(pack(Some(&written), Headers(&part)), packed[..length]);
            }
        }
    }
}
